package filesystem

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// lookup plans lookups in the files of a bounded table. They are read once, at the first question.
func (f files) lookup(r connectors.LookupRequest) (connectors.Lookup, error) {
	columns := append(slices.Clone(r.Columns), r.Keys...)
	t := &table{fields: connectors.ScanRequest{Table: r.Table, Columns: columns}.Fields(), width: len(r.Columns)}
	var once []int // a scan delivers no column twice
	for _, c := range columns {
		i := slices.Index(once, c)
		if i < 0 {
			i, once = len(once), append(once, c)
		}
		t.from = append(t.from, i)
	}
	var err error
	if t.source, err = f.source(connectors.ScanRequest{Table: r.Table, Columns: once}); err != nil {
		return nil, err
	}
	var keys []types.Type
	for i := range r.Keys {
		t.keys = append(t.keys, t.width+i)
		keys = append(keys, t.fields[t.width+i].Type)
	}
	t.codec = types.NewKeyCodec(keys)
	return t, nil
}

// table holds the rows of all files: the columns asked for, then the keys.
type table struct {
	source *connectors.Source
	fields []types.Field
	from   []int // by field: the column of the source
	width  int   // columns without the keys
	keys   []int
	codec  *types.KeyCodec

	mu    sync.Mutex
	rows  *types.Batch // nil before the first question
	byKey map[string][]int32
}

func (t *table) Lookup(ctx context.Context, keys *types.Batch) (*types.Batch, []int32, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rows == nil {
		if err := t.load(ctx); err != nil {
			return nil, nil, err
		}
	}
	out := types.NewBatch(t.fields[:t.width])
	var of []int32
	all := make([]int, len(t.keys))
	for i := range all {
		all[i] = i
	}
	var buf []byte
	for n := range keys.Rows() {
		buf = keyBytes(buf[:0], t.codec.Append(nil, keys.Cols, all, keys.Row(n)))
		for _, i := range t.byKey[string(buf)] {
			for c, col := range out.Cols {
				col.AppendFrom(t.rows.Cols[c], i)
			}
			out.Push(types.Insert)
			of = append(of, int32(n))
		}
	}
	return out, of, nil
}

// load reads the files.
func (t *table) load(ctx context.Context) error {
	rows, byKey := types.NewBatch(t.fields), map[string][]int32{}
	err := t.Scan(ctx, func(b *types.Batch) error {
		for k := range b.Rows() {
			i := b.Row(k)
			if slices.ContainsFunc(t.keys, func(c int) bool { return b.Cols[c].Null(i) }) {
				continue // is equal to nothing
			}
			key := string(keyBytes(nil, t.codec.Append(nil, b.Cols, t.keys, i)))
			byKey[key] = append(byKey[key], int32(rows.Len))
			rows.AppendRow(b, i, types.Insert)
		}
		return nil
	})
	if err == nil {
		t.rows, t.byKey = rows, byKey
	}
	return err
}

// Scan gives all rows of the files as they are now.
func (t *table) Scan(ctx context.Context, rows func(*types.Batch) error) error {
	env := connectors.Env{Zone: time.UTC, Of: 1, Now: time.Now}
	enum, err := t.source.Enumerate(env)
	if err != nil {
		return err
	}
	defer enum.Close()
	splits, err := enum.Discover(ctx, true)
	if err != nil {
		return err
	}
	r, err := t.source.Read(env, func() {})
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.Assign(splits); err != nil {
		return err
	}
	for {
		p, err := r.Poll()
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if p.Rows != nil {
			view := *p.Rows
			view.Cols = make([]*types.Column, len(t.from))
			for i, c := range t.from {
				view.Cols[i] = p.Rows.Cols[c]
			}
			if err := rows(&view); err != nil {
				return err
			}
		}
		if !p.More {
			return nil
		}
	}
}

func keyBytes(dst []byte, words []uint64) []byte {
	for _, w := range words {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}

func (*table) Close() error { return nil }
