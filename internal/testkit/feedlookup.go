package testkit

import (
	"context"
	"fmt"
	"sync"

	"runnel/connectors"
	"runnel/types"
)

// lookup plans a lookup in all rows of a table.
func (f *Feed) lookup(r connectors.LookupRequest) (connectors.Lookup, error) {
	data, err := f.decode(r.Table.Physical(), f.tables[tableName(r.Table)], types.InsertOnly)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", r.Table.Name, err)
	}
	misses, err := r.Table.Options.Int(feedMisses)
	return &feedLookup{request: r, data: data, misses: misses, asked: map[string]int64{}}, err
}

type feedLookup struct {
	request connectors.LookupRequest
	data    *types.Batch
	misses  int64

	mu    sync.Mutex
	asked map[string]int64 // how often, by key
}

// Lookup finds the rows by trying them all.
func (l *feedLookup) Lookup(_ context.Context, keys *types.Batch) (*types.Batch, []int32, error) {
	out := types.NewBatch(l.fields(l.request.Columns))
	var of []int32
	for k := range keys.Rows() {
		i := keys.Row(k)
		if l.missed(keys, i) {
			continue
		}
		for row := range int32(l.data.Len) {
			if !l.matches(keys, i, row) {
				continue
			}
			l.copy(out, l.request.Columns, row)
			of = append(of, int32(k))
		}
	}
	return out, of, nil
}

// missed counts a question, and reports whether it is to find nothing.
func (l *feedLookup) missed(keys *types.Batch, i int32) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	var key []byte
	for _, c := range keys.Cols {
		key = append(types.AppendShown(key, c, i, nil), 0)
	}
	l.asked[string(key)]++
	return l.asked[string(key)] <= l.misses
}

func (l *feedLookup) matches(keys *types.Batch, i, row int32) bool {
	for j, c := range l.request.Keys {
		if !types.EqualCells(keys.Cols[j], i, l.data.Cols[c], row) {
			return false
		}
	}
	return true
}

// Scan gives all rows.
func (l *feedLookup) Scan(_ context.Context, rows func(*types.Batch) error) error {
	cols := append(append([]int(nil), l.request.Columns...), l.request.Keys...)
	out := types.NewBatch(l.fields(cols))
	for row := range int32(l.data.Len) {
		l.copy(out, cols, row)
	}
	return rows(out)
}

func (l *feedLookup) copy(out *types.Batch, cols []int, row int32) {
	for j, c := range cols {
		out.Cols[j].AppendFrom(l.data.Cols[c], row)
	}
	out.Push(types.Insert)
}

func (l *feedLookup) fields(cols []int) []types.Field {
	all := l.request.Table.Physical()
	fs := make([]types.Field, len(cols))
	for j, c := range cols {
		fs[j] = all[c]
	}
	return fs
}

// Close has nothing to release.
func (l *feedLookup) Close() error { return nil }
