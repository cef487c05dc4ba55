package op

import (
	"fmt"
	"time"

	"runnel/connectors/lookup"
	"runnel/expr"
	"runnel/types"
)

// LookupJoining is what a lookup join does. Rows: the input's columns, then those of the table.
type LookupJoining struct {
	In, Out []types.Field
	Outer   bool
	Keys    []LookupKey
	Cond    expr.Expr // over the operator's own columns; nil for none
	Async   *AsyncLookup
	Upsert  *UpsertKey
	TTL     time.Duration
	// Table opens the table. It is asked by the operator's clock.
	Table func(ctx *Context) (*lookup.Table, error)
}

// LookupKey is a column of the table that has to be equal to a column of the input, or to a constant where Left is -1.
type LookupKey struct {
	types.Field
	Left  int
	Const types.Datum
}

// LookupJoin joins every row with the rows of an outside table that have its key now; they have the row's kind. It waits for
// them, so that nothing is under way at a barrier.
type LookupJoin struct {
	single
	lookupWork
	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// NewLookupJoin makes the operator: LookupJoin, AsyncLookupJoin or KeyedLookupJoin.
func NewLookupJoin(spec LookupJoining) Operator {
	w := lookupWork{spec: spec}
	switch {
	case spec.Upsert != nil:
		return &KeyedLookupJoin{lookupWork: w}
	case spec.Async != nil:
		return &AsyncLookupJoin{lookupWork: w}
	}
	return &LookupJoin{lookupWork: w}
}

// Open opens the table.
func (j *LookupJoin) Open(ctx *Context) error {
	j.ctx = ctx
	j.rowsOf, j.markOf = j.apply, func(ms int64) error { j.out.mark(ms); return nil }
	return j.open(ctx)
}

// Process joins the rows of a batch.
func (j *LookupJoin) Process(_ int, b *types.Batch) error {
	if err := b.Segments(j.rowsOf, j.markOf); err != nil {
		return err
	}
	return j.out.flush()
}

// Close closes the table.
func (j *LookupJoin) Close() error { return j.close() }

func (j *LookupJoin) apply(b *types.Batch) error {
	q, err := j.ask(b)
	if err != nil {
		return err
	}
	answers, err := j.lookup(q.keys)
	if err != nil {
		return err
	}
	for n, i := range q.rows {
		var a lookup.Answer
		if q.key[n] >= 0 {
			a = answers[q.key[n]]
		}
		if err := j.give(b, i, b.Kind(i), a); err != nil {
			return err
		}
	}
	return j.failed(q, b)
}

// lookupWork is what lookup joins share: questions, and pairs of rows and answers.
type lookupWork struct {
	spec  LookupJoining
	lctx  *Context
	asks  *lookup.Table
	only  expr.Filter // what the condition asks of the input's row alone: without it no key is asked for
	cond  expr.Filter
	cand  *types.Batch // a row with its answer, waiting for the condition
	sel   []int32
	codec *types.RowCodec
	asked map[string]int32
	buf   []byte
	out   output
}

// lookupQuestion is what the live rows of a batch ask: row rows[n] asks for key[n] of keys, -1 for none.
type lookupQuestion struct {
	rows   []int32
	key    []int32
	keys   *types.Batch
	failed *types.RowError // of the row behind rows
}

func (w *lookupWork) open(ctx *Context) (err error) {
	w.lctx, w.out = ctx, newOutput(ctx.Out, w.spec.Out)
	ts := make([]types.Type, len(w.spec.Keys))
	for i, k := range w.spec.Keys {
		ts[i] = k.Type.Optional()
	}
	w.codec, w.asked = types.NewRowCodec(ts), map[string]int32{}
	if w.asks, err = w.spec.Table(ctx); err != nil {
		return err
	}
	if w.spec.Cond == nil {
		return nil
	}
	n := len(w.spec.In)
	var only []expr.Expr
	for _, c := range expr.Conjuncts(w.spec.Cond) {
		if refs := expr.Refs(c); len(refs) > 0 && refs[len(refs)-1] < n {
			only = append(only, c)
		}
	}
	if len(only) > 0 {
		if w.only, err = expr.CompileFilter(expr.NewAnd(only...), w.spec.In, ctx.Env); err != nil {
			return fmt.Errorf("condition %s: %w", w.spec.Cond, err)
		}
	}
	w.cand = types.NewBatch(w.spec.Out)
	if w.cond, err = expr.CompileFilter(w.spec.Cond, w.spec.Out, ctx.Env); err != nil {
		return fmt.Errorf("condition %s: %w", w.spec.Cond, err)
	}
	return nil
}

func (w *lookupWork) close() error {
	if w.asks == nil {
		return nil
	}
	return w.asks.Close()
}

// lookup waits for answers.
func (w *lookupWork) lookup(keys *types.Batch) ([]lookup.Answer, error) {
	if keys.Len == 0 {
		return nil, nil
	}
	return w.asks.Lookup(w.lctx.Ctx, keys)
}

// ask makes the question of a batch: each key once, none with a NULL.
func (w *lookupWork) ask(b *types.Batch) (q lookupQuestion, err error) {
	sel := b.Live()
	passed := sel
	if w.only != nil {
		if passed, err = w.only(b, sel, nil); err != nil {
			if q.failed, err = rowError(err); err != nil {
				return q, err
			}
			sel = before(sel, q.failed.Row)
			passed = before(passed, q.failed.Row)
		}
	}
	q.keys = &types.Batch{Cols: make([]*types.Column, len(w.spec.Keys))}
	for i, k := range w.spec.Keys {
		q.keys.Cols[i] = types.NewColumn(k.Type, len(passed))
	}
	q.rows, q.key = sel, make([]int32, len(sel))
	clear(w.asked)
	for n, i := range sel {
		q.key[n] = -1
		if len(passed) == 0 || passed[0] != i {
			continue
		}
		passed = passed[1:]
		q.key[n] = w.key(q.keys, b, i)
	}
	return q, nil
}

// key adds the key of a row, if it is new, and gives its number; -1 for a key with a NULL.
func (w *lookupWork) key(keys, b *types.Batch, i int32) int32 {
	for n, k := range w.spec.Keys {
		switch {
		case k.Left < 0:
			keys.Cols[n].Append(k.Const)
		case b.Cols[k.Left].Null(i):
			keys.Truncate(keys.Len)
			return -1
		default:
			keys.Cols[n].AppendFrom(b.Cols[k.Left], i)
		}
	}
	w.buf = w.codec.Append(w.buf[:0], keys.Cols, int32(keys.Len))
	if at, ok := w.asked[string(w.buf)]; ok {
		keys.Truncate(keys.Len)
		return at
	}
	w.asked[string(w.buf)] = int32(keys.Len)
	keys.Push(types.Insert)
	return int32(keys.Len) - 1
}

// failed is the error of the row behind those of a question, nil if there is none.
func (w *lookupWork) failed(q lookupQuestion, b *types.Batch) error {
	if q.failed == nil {
		return nil
	}
	if err := w.out.flush(); err != nil {
		return err
	}
	return dataError(w.lctx, q.failed, w.spec.In, b)
}

// give puts a row out with those rows of its answer that fulfil the condition.
func (w *lookupWork) give(b *types.Batch, i int32, kind types.RowKind, a lookup.Answer) error {
	if a.From < a.To && w.cond != nil {
		var err error
		if a, err = w.fulfilling(b, i, a); err != nil {
			return err
		}
	}
	return w.pairs(b, i, kind, a)
}

// pairs puts a row out with its answer, or padded.
func (w *lookupWork) pairs(b *types.Batch, i int32, kind types.RowKind, a lookup.Answer) error {
	n := len(w.spec.In)
	for r := a.From; r < a.To; r++ {
		for k, col := range w.out.Cols[:n] {
			col.AppendFrom(b.Cols[k], i)
		}
		for k, col := range w.out.Cols[n:] {
			col.AppendFrom(a.Rows.Cols[k], r)
		}
		if err := w.out.pushed(kind); err != nil {
			return err
		}
	}
	if a.From < a.To || !w.spec.Outer {
		return nil
	}
	for k, col := range w.out.Cols {
		if k < n {
			col.AppendFrom(b.Cols[k], i)
		} else {
			col.AppendNull()
		}
	}
	return w.out.pushed(kind)
}

// fulfilling gives those rows of an answer that fulfil the condition together with a row.
func (w *lookupWork) fulfilling(b *types.Batch, i int32, a lookup.Answer) (lookup.Answer, error) {
	n := len(w.spec.In)
	w.cand.Reset()
	for r := a.From; r < a.To; r++ {
		for k, col := range w.cand.Cols[:n] {
			col.AppendFrom(b.Cols[k], i)
		}
		for k, col := range w.cand.Cols[n:] {
			col.AppendFrom(a.Rows.Cols[k], r)
		}
		w.cand.Push(types.Insert)
	}
	var err error
	if w.sel, err = w.cond(w.cand, types.All(w.cand.Len), w.sel[:0]); err != nil {
		failed, other := rowError(err)
		if other != nil {
			return a, other
		}
		if err := w.out.flush(); err != nil {
			return a, err
		}
		return a, dataError(w.lctx, failed, w.spec.Out, w.cand)
	}
	if len(w.sel) == w.cand.Len {
		return a, nil
	}
	some := &types.Batch{Cols: make([]*types.Column, len(w.spec.Out)-n), Len: len(w.sel)}
	for k := range some.Cols {
		some.Cols[k] = types.NewColumn(w.spec.Out[n+k].Type, len(w.sel))
		some.Cols[k].Gather(w.cand.Cols[n+k], w.sel, w.cand.Len)
	}
	return lookup.Answer{Rows: some, To: int32(some.Len)}, nil
}
