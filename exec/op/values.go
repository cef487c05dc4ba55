package op

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"runnel/connectors"
	"runnel/expr"
	"runnel/types"
)

// NewValues makes the source of VALUES: rows of expressions, which are evaluated when the source starts. It has one
// split, so its rows come out once and in order, whatever the parallelism; its position is the number of rows given.
func NewValues(name string, fields []types.Field, rows [][]expr.Expr, env *expr.Env) *connectors.Source {
	return &connectors.Source{
		Mode:      types.InsertOnly,
		Bounded:   true,
		Enumerate: func(connectors.Env) (connectors.Enumerator, error) { return valuesEnumerator{}, nil },
		Read: func(connectors.Env, func()) (connectors.Reader, error) {
			return &valuesReader{name: name, fields: fields, rows: rows, env: env}, nil
		},
	}
}

const valuesSplit = "values"

type valuesEnumerator struct{}

func (valuesEnumerator) Discover(context.Context, bool) ([]connectors.Split, error) {
	return []connectors.Split{{ID: valuesSplit, State: valuesState(0)}}, nil
}

func (valuesEnumerator) Interval() time.Duration { return 0 }

func (valuesEnumerator) Close() error { return nil }

func valuesState(at int) []byte { return binary.AppendUvarint([]byte{1}, uint64(at)) }

// valuesReader gives the rows from at on.
type valuesReader struct {
	name   string
	fields []types.Field
	rows   [][]expr.Expr
	env    *expr.Env
	at     int
	active bool
	out    *types.Batch
}

var errValuesState = errors.New("position in VALUES: unknown form")

func (v *valuesReader) Assign(splits []connectors.Split) error {
	for _, s := range splits {
		if len(s.State) == 0 || s.State[0] != 1 {
			return errValuesState
		}
		at, n := binary.Uvarint(s.State[1:])
		if n <= 0 || at > uint64(len(v.rows)) {
			return errValuesState
		}
		v.at, v.active = int(at), true
	}
	return nil
}

func (v *valuesReader) Poll() (connectors.Polled, error) {
	if !v.active {
		return connectors.Polled{}, nil
	}
	if v.out == nil {
		v.out = types.NewBatch(v.fields)
	}
	v.out.Reset()
	var failed error
	for v.at < len(v.rows) && !v.out.Full() {
		if failed = v.appendRow(v.rows[v.at]); failed != nil {
			v.out.Truncate(v.out.Len)
			break
		}
		v.out.Push(types.Insert)
		v.at++
	}
	if failed != nil && v.out.Len == 0 {
		return connectors.Polled{}, failed
	}
	v.active = v.at < len(v.rows)
	return connectors.Polled{Split: valuesSplit, Rows: v.out, Ended: !v.active, More: v.active}, nil
}

func (v *valuesReader) appendRow(row []expr.Expr) error {
	for j, e := range row {
		if c, ok := e.(*expr.Const); ok {
			v.out.Cols[j].Append(c.Value)
			continue
		}
		eval, err := expr.Compile(e, nil, v.env)
		if err != nil {
			return fmt.Errorf("expression %s: %w", e, err)
		}
		one := types.Batch{Len: 1}
		col, err := eval(&one, types.All(1))
		if err != nil {
			if failed, other := rowError(err); other == nil {
				return dataError(&Context{Name: v.name, Env: v.env}, failed, nil, &one)
			}
			return err
		}
		v.out.Cols[j].AppendFrom(col, 0)
	}
	return nil
}

func (v *valuesReader) Snapshot() ([]connectors.Split, error) {
	if !v.active {
		return nil, nil
	}
	return []connectors.Split{{ID: valuesSplit, State: valuesState(v.at)}}, nil
}

func (v *valuesReader) Close() error { return nil }
