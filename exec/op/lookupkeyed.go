package op

import (
	"runnel/connectors/lookup"
	"runnel/state"
	"runnel/types"
)

// UpsertKey is a key of an updating input by which a KeyedLookupJoin remembers.
type UpsertKey struct{ Columns []int }

// KeyedLookupJoin is a LookupJoin that remembers what it found for a row, so that the row's retraction takes back just that,
// whatever the table holds by then.
type KeyedLookupJoin struct {
	single
	lookupWork
	keys  batchKeys
	right rowBytes
	table *state.Table
	found *types.Batch // remembered rows

	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// Open opens the table and registers the state.
func (j *KeyedLookupJoin) Open(ctx *Context) error {
	j.ctx = ctx
	j.rowsOf, j.markOf = j.apply, func(ms int64) error { j.out.mark(ms); return nil }
	if err := j.open(ctx); err != nil {
		return err
	}
	key, table := j.spec.Upsert.Columns, j.spec.Out[len(j.spec.In):]
	j.keys = newBatchKeys(j.spec.In, key, ctx.MaxParallelism)
	j.right, j.found = newRowBytes(table), types.NewBatch(table)
	d := state.Descriptor{Format: types.RowCodecVersion, Name: "found", Key: keyColumns(j.spec.In, key), Values: rowInfos(table)}
	var err error
	j.table, err = ctx.State.Table(d, state.TableSpec{TTL: j.spec.TTL, Values: []state.Value{{Kind: state.Bytes}}})
	return err
}

// Process joins the rows of a batch.
func (j *KeyedLookupJoin) Process(_ int, b *types.Batch) error {
	if j.spec.TTL > 0 {
		j.ctx.State.StartBatch()
		j.table.Sweep(sweepRows)
	}
	if err := b.Segments(j.rowsOf, j.markOf); err != nil {
		return err
	}
	return j.out.flush()
}

// Close closes the table that is looked up.
func (j *KeyedLookupJoin) Close() error { return j.close() }

func (j *KeyedLookupJoin) apply(b *types.Batch) error {
	coming := types.Batch{Len: b.Len, Kinds: b.Kinds, Cols: b.Cols, Sel: []int32{}}
	for _, i := range b.Live() {
		if !b.Kind(i).Retract() {
			coming.Sel = append(coming.Sel, i)
		}
	}
	q, err := j.ask(&coming)
	if err != nil {
		return err
	}
	answers, err := j.lookup(q.keys)
	if err != nil {
		return err
	}
	j.keys.encode(b)
	n := 0
	for k, i := range b.Live() {
		if q.failed != nil && i >= q.failed.Row {
			break
		}
		if b.Kind(i).Retract() {
			err = j.takeBack(b, k, i)
		} else {
			var a lookup.Answer
			if at := q.key[n]; at >= 0 {
				a = answers[at]
			}
			n++
			err = j.remember(b, k, i, a)
		}
		if err != nil {
			return err
		}
	}
	return j.failed(q, b)
}

// remember gives a row with its answer and keeps that.
func (j *KeyedLookupJoin) remember(b *types.Batch, k int, i int32, a lookup.Answer) error {
	var err error
	if a.From < a.To && j.cond != nil {
		if a, err = j.fulfilling(b, i, a); err != nil {
			return err
		}
	}
	var rows []byte
	for r := a.From; r < a.To; r++ {
		rows = j.right.codec.Append(rows, a.Rows.Cols, r)
	}
	m := j.table.Of(j.keys.group[k])
	r, _ := m.Upsert(j.keys.at(k))
	m.PutBytes(r, 0, string(rows))
	return j.pairs(b, i, b.Kind(i), a)
}

// takeBack gives a row with what was found for it. Where that has been forgotten the row had no partner.
func (j *KeyedLookupJoin) takeBack(b *types.Batch, k int, i int32) error {
	m := j.table.Of(j.keys.group[k])
	r := m.Find(j.keys.at(k))
	j.found.Reset()
	if r != 0 {
		kept, _ := m.Bytes(r, 0)
		for rest := []byte(kept); len(rest) > 0; {
			var err error
			if rest, err = j.right.codec.Decode(rest, j.found.Cols); err != nil {
				return err
			}
			j.found.Push(types.Insert)
		}
		m.Delete(r)
	}
	return j.pairs(b, i, b.Kind(i), lookup.Answer{Rows: j.found, To: int32(j.found.Len)})
}
