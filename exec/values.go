package exec

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"runnel/connectors"
	"runnel/expr"
	"runnel/plan"
	"runnel/types"
)

// valuesSource makes a source of constant rows: one split, whose position is the number of rows given.
func valuesSource(n *plan.Values, a *attempt) (*connectors.Source, error) {
	return &connectors.Source{
		Mode: types.InsertOnly, Bounded: true,
		Enumerate: func(connectors.Env) (connectors.Enumerator, error) { return valuesSplit{}, nil },
		Read: func(env connectors.Env, _ func()) (connectors.Reader, error) {
			xe := &expr.Env{Zone: env.Zone, Now: env.Now, QueryStart: a.job.started, Batch: a.graph.plan.Batch, LegacyCast: a.cfg.LegacyCast,
				Watermark: func() int64 { return types.MinWatermark }}
			return &valuesReader{node: n, env: xe, out: types.NewBatch(n.Fields)}, nil
		},
	}, nil
}

// valuesSplit finds the one split.
type valuesSplit struct{}

// Discover gives the split.
func (valuesSplit) Discover(context.Context, bool) ([]connectors.Split, error) {
	return []connectors.Split{{ID: "values"}}, nil
}

// Interval says that there will be no other.
func (valuesSplit) Interval() time.Duration { return 0 }

// Close does nothing.
func (valuesSplit) Close() error { return nil }

type valuesReader struct {
	node *plan.Values
	env  *expr.Env
	out  *types.Batch
	at   int
	on   bool
}

// Assign starts at the split's position.
func (r *valuesReader) Assign(splits []connectors.Split) error {
	r.on = true
	if s := splits[0].State; len(s) > 0 {
		n, w := binary.Uvarint(s)
		if w <= 0 || n > uint64(len(r.node.Rows)) {
			return errors.New("position of constant rows: unknown form")
		}
		r.at = int(n)
	}
	return nil
}

// Poll evaluates rows. Those before a failing one are given first.
func (r *valuesReader) Poll() (connectors.Polled, error) {
	if !r.on {
		return connectors.Polled{}, nil
	}
	r.out.Reset()
	for r.at < len(r.node.Rows) && !r.out.Full() {
		for i, e := range r.node.Rows[r.at] {
			v, err := expr.Evaluate(e, r.env)
			if err != nil {
				r.out.Truncate(r.out.Len)
				if r.out.Len > 0 {
					return connectors.Polled{Split: "values", Rows: r.out, More: true}, nil
				}
				return connectors.Polled{}, err
			}
			r.out.Cols[i].Append(v)
		}
		r.out.Push(types.Insert)
		r.at++
	}
	ended := r.at == len(r.node.Rows)
	r.on = !ended
	return connectors.Polled{Split: "values", Rows: r.out, Ended: ended, More: !ended}, nil
}

// Snapshot gives the position.
func (r *valuesReader) Snapshot() ([]connectors.Split, error) {
	if !r.on {
		return nil, nil
	}
	return []connectors.Split{{ID: "values", State: binary.AppendUvarint(nil, uint64(r.at))}}, nil
}

// Close does nothing.
func (r *valuesReader) Close() error { return nil }
