// Package datagen is the source that makes rows up: random values or sequences, at a rate.
package datagen

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"runnel/connectors"
	"runnel/types"
)

var (
	rate        = connectors.Option{Key: "rows-per-second", Kind: connectors.LongOption, Default: "10000", Doc: "Rows per second of the whole source."}
	rows        = connectors.Option{Key: "number-of-rows", Kind: connectors.LongOption, Doc: "Total number of rows; the source is bounded then."}
	parallelism = connectors.Option{Key: "scan.parallelism", Kind: connectors.IntOption, Doc: "Parallelism of the source."}
	kind        = connectors.Option{Key: "fields.#.kind", Kind: connectors.StringOption, Fields: true, Default: "random", Doc: "random, or sequence: start, start+1, .. end."}
	minimum     = connectors.Option{Key: "fields.#.min", Fields: true, Doc: "Least random value."}
	maximum     = connectors.Option{Key: "fields.#.max", Fields: true, Doc: "Greatest random value."}
	maxPast     = connectors.Option{Key: "fields.#.max-past", Kind: connectors.DurationOption, Fields: true, Default: "0 ms", Doc: "How far random timestamps may lie in the past."}
	length      = connectors.Option{Key: "fields.#.length", Kind: connectors.IntOption, Fields: true, Doc: "Length of random text, bytes and collections."}
	varLen      = connectors.Option{Key: "fields.#.var-len", Kind: connectors.BoolOption, Fields: true, Default: "false", Doc: "Random length up to fields.#.length."}
	seqStart    = connectors.Option{Key: "fields.#.start", Kind: connectors.LongOption, Fields: true, Doc: "First value of a sequence."}
	seqEnd      = connectors.Option{Key: "fields.#.end", Kind: connectors.LongOption, Fields: true, Doc: "Last value of a sequence."}
	nullRate    = connectors.Option{Key: "fields.#.null-rate", Kind: connectors.FloatOption, Fields: true, Default: "0", Doc: "Share of NULLs, 0 to 1."}
)

// Connector gives the connector's table row.
func Connector() connectors.Connector {
	return connectors.Connector{
		Name:    "datagen",
		Doc:     "A source of made-up rows: random values or sequences, at a given rate.",
		Options: []connectors.Option{rate, rows, parallelism, kind, minimum, maximum, maxPast, length, varLen, seqStart, seqEnd, nullRate},
		Limits:  func(*connectors.Table) bool { return true },
		Source:  plan,
	}
}

func plan(r connectors.ScanRequest) (*connectors.Source, error) {
	o := r.Table.Options
	perSecond, err := o.Int(rate)
	if err != nil {
		return nil, err
	}
	if perSecond <= 0 {
		return nil, fmt.Errorf("Invalid value for option '%s': %d rows per second; give a positive number", rate.Key, perSecond)
	}
	degree, err := o.Int(parallelism)
	if err != nil {
		return nil, err
	}
	limit, bounded, err := total(r.Table)
	if err != nil {
		return nil, err
	}
	if r.Limit > 0 && (!bounded || r.Limit < limit) {
		limit, bounded = r.Limit, true
	}
	// Every column is checked, the delivered ones or not, so that a mistake shows whatever the query reads.
	for _, f := range r.Table.Physical() {
		if _, err := newGenerator(f, o); err != nil {
			return nil, err
		}
	}
	g := &source{fields: r.Fields(), options: o, rate: perSecond, limit: limit, bounded: bounded}
	return &connectors.Source{
		Mode:        types.InsertOnly,
		Bounded:     bounded,
		Parallelism: int(degree),
		Enumerate: func(env connectors.Env) (connectors.Enumerator, error) {
			return enumerator{of: max(env.Of, 1)}, nil
		},
		Read: g.read,
	}, nil
}

// total gives the number of rows of a bounded source: number-of-rows or its shortest sequence, whatever is less.
func total(t *connectors.Table) (int64, bool, error) {
	limit, bounded := int64(0), false
	take := func(n int64) {
		if n = max(n, 0); !bounded || n < limit {
			limit, bounded = n, true
		}
	}
	if _, ok := t.Options[rows.Key]; ok {
		n, err := t.Options.Int(rows)
		if err != nil {
			return 0, false, err
		}
		take(n)
	}
	for _, f := range t.Physical() {
		first, last, ok, err := sequence(f, t.Options)
		if err != nil {
			return 0, false, err
		}
		if ok {
			take(last - first + 1)
		}
	}
	return limit, bounded, nil
}

type source struct {
	fields  []types.Field
	options connectors.Options
	rate    int64
	limit   int64
	bounded bool
}

// enumerator gives one split for every subtask of the first run; a rescaled job deals the same splits anew.
type enumerator struct{ of int }

func (e enumerator) Discover(_ context.Context, first bool) ([]connectors.Split, error) {
	if !first {
		return nil, nil
	}
	splits := make([]connectors.Split, e.of)
	for i := range splits {
		splits[i] = position{index: int64(i), of: int64(e.of)}.split()
	}
	return splits, nil
}

func (enumerator) Interval() time.Duration { return 0 }
func (enumerator) Close() error            { return nil }

// position is the state of a split: it makes the rows index, index+of, index+2*of, .. of the source and has made the
// first of them.
type position struct{ index, of, made int64 }

const positionVersion = 1

func (p position) split() connectors.Split {
	b := []byte{positionVersion}
	for _, v := range [...]int64{p.index, p.of, p.made} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return connectors.Split{ID: strconv.FormatInt(p.index, 10) + "/" + strconv.FormatInt(p.of, 10), State: b}
}

func parsePosition(s connectors.Split) (position, error) {
	bad := func(why string) (position, error) {
		return position{}, fmt.Errorf("datagen split %s: %s", s.ID, why)
	}
	if len(s.State) == 0 {
		return bad("empty state")
	}
	if s.State[0] != positionVersion {
		return bad(fmt.Sprintf("unknown state version %d", s.State[0]))
	}
	var v [3]int64
	rest := s.State[1:]
	for i := range v {
		u, n := binary.Uvarint(rest)
		if n <= 0 || u > 1<<62 {
			return bad("damaged state")
		}
		v[i], rest = int64(u), rest[n:]
	}
	if v[1] == 0 || v[0] >= v[1] {
		return bad("damaged state")
	}
	return position{v[0], v[1], v[2]}, nil
}
