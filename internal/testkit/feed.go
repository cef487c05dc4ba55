package testkit

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"runnel/connectors"
	"runnel/connectors/lookup"
	"runnel/types"
)

// Feed gives the rows of a script to the tables of connector 'rows'. Rows are numbered through the whole script; readers
// give those below a limit, which the test moves, so that what runs between two moves has seen exactly the rows before
// them. It is safe for use by several goroutines.
type Feed struct {
	tables map[string][]feedRow
	total  int
	whole  bool // every table is one split
	json   connectors.Format

	mu      sync.Mutex
	limit   int
	over    bool // readers end behind their last row
	crash   bool // the next poll fails, once
	read    bool // rows have been given
	readers map[*feedReader]bool
	changed chan struct{} // closed and made anew when a reader has moved
}

type feedRow struct {
	change Change
	number int
}

// errCrash is the failure that a test injects.
var errCrash = errors.New("injected failure of the source")

var (
	feedMode   = connectors.Option{Key: "changelog-mode", Default: "I", Doc: "The kinds of rows: I, UB, UA, D, with commas."}
	feedMisses = connectors.Option{Key: "lookup-misses", Kind: connectors.IntOption, Default: "0", Doc: "How often a key finds nothing before it finds its rows."}
	feedSplits = connectors.Option{Key: "splits", Kind: connectors.IntOption, Default: "2", Doc: "The number of splits when a test runs in parallel."}
	feedColumn = connectors.Option{Key: "split-by", Doc: "Rows with one value of this column are a split of their own, also in the plain run."}
)

// NewFeed takes the rows of the steps. whole makes one split of each table.
func NewFeed(steps []Step, whole bool, formats []connectors.Format) *Feed {
	f := &Feed{tables: map[string][]feedRow{}, whole: whole, readers: map[*feedReader]bool{}, changed: make(chan struct{})}
	for _, st := range steps {
		if st.Rows == nil {
			continue
		}
		for _, c := range st.Rows.Changes {
			f.tables[st.Rows.Table] = append(f.tables[st.Rows.Table], feedRow{c, f.total})
			f.total++
		}
	}
	for _, x := range formats {
		if x.Name == "json" {
			f.json = x
		}
	}
	return f
}

// Release lets readers give the rows below limit.
func (f *Feed) Release(limit int) { f.move(func() { f.limit = limit }) }

// Finish lets readers give everything and end.
func (f *Feed) Finish() { f.move(func() { f.limit, f.over = math.MaxInt, true }) }

// Read reports whether any row has been given.
func (f *Feed) Read() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.read
}

// Crash makes a reader fail.
func (f *Feed) Crash() { f.move(func() { f.crash = true }) }

func (f *Feed) move(change func()) {
	f.mu.Lock()
	change()
	var wake []func()
	for r := range f.readers {
		wake = append(wake, r.wake)
	}
	f.mu.Unlock()
	for _, w := range wake {
		w()
	}
}

// tell wakes who waits for readers. f.mu is held.
func (f *Feed) tell() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// Await waits until the readers have every split and have given all rows below the limit, or done is closed. All readers
// of the job must have been opened.
func (f *Feed) Await(ctx context.Context, done <-chan struct{}) error {
	for {
		f.mu.Lock()
		behind, changed := f.behind(), f.changed
		f.mu.Unlock()
		if !behind {
			return nil
		}
		select {
		case <-changed:
		case <-done:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (f *Feed) behind() bool {
	dealt := map[*feedSource]int{}
	for r := range f.readers {
		dealt[r.source] += len(r.splits)
		for _, s := range r.splits {
			if rows := r.source.rows[s.index]; s.next < len(rows) && rows[s.next].number < f.limit {
				return true
			}
		}
	}
	for src, n := range dealt {
		if n < len(src.rows) {
			return true
		}
	}
	return false
}

// Connectors gives the table rows of the connectors 'rows' and 'rows-per-split'. The second makes watermarks of its splits.
func (f *Feed) Connectors() []connectors.Connector {
	c := connectors.Connector{
		Name: "rows", Doc: "Rows of a logic test.", Options: append([]connectors.Option{feedMode, feedSplits, feedColumn, feedMisses}, lookup.Options...),
		Source: f.plan, Lookup: f.lookup,
	}
	pushed := c
	pushed.Name, pushed.WatermarkPushdown = "rows-per-split", true
	return []connectors.Connector{c, pushed}
}

// feedSource is a planned scan.
type feedSource struct {
	f       *Feed
	columns []int
	fields  []types.Field // all columns of the table
	rows    [][]feedRow   // by split
	data    []*types.Batch
}

func (f *Feed) plan(r connectors.ScanRequest) (*connectors.Source, error) {
	mode, err := parseMode(r.Table.Options.Get(feedMode))
	if err != nil {
		return nil, err
	}
	splits, err := r.Table.Options.Int(feedSplits)
	if err != nil || splits < 1 {
		return nil, fmt.Errorf("option '%s': %d, %w", feedSplits.Key, splits, err)
	}
	if f.whole || mode != types.InsertOnly && len(r.Table.PrimaryKey) == 0 {
		splits = 1 // a row and its retraction stay in order
	}
	s := &feedSource{f: f, columns: r.Columns, rows: make([][]feedRow, splits)}
	s.fields = r.Table.Physical()
	by := slices.IndexFunc(s.fields, func(x types.Field) bool { return x.Name == r.Table.Options.Get(feedColumn) })
	if by >= 0 {
		s.rows = nil
	}
	values := map[string]int{}
	if len(s.fields) != len(r.Table.Columns) {
		return nil, errors.New("connector 'rows' has no metadata columns")
	}
	for i, row := range f.tables[tableName(r.Table)] {
		if len(row.change.Cells) != len(s.fields) {
			return nil, fmt.Errorf("row %s of table %s: %d columns, want %d", row.change, r.Table.Name, len(row.change.Cells), len(s.fields))
		}
		k := i % int(splits)
		if len(r.Table.PrimaryKey) > 0 {
			k = s.keySplit(r.Table.PrimaryKey, row.change)
		}
		if by >= 0 {
			var known bool
			if k, known = values[row.change.Cells[by]]; !known {
				k = len(s.rows)
				values[row.change.Cells[by]], s.rows = k, append(s.rows, nil)
			}
		}
		s.rows[k] = append(s.rows[k], row)
	}
	s.data = make([]*types.Batch, len(s.rows))
	for k := range s.rows {
		if s.data[k], err = f.decode(s.fields, s.rows[k], mode); err != nil {
			return nil, fmt.Errorf("table %s: %w", r.Table.Name, err)
		}
	}
	return &connectors.Source{
		Mode: mode, Bounded: true,
		Enumerate: func(connectors.Env) (connectors.Enumerator, error) { return feedEnumerator{s}, nil },
		Read: func(env connectors.Env, wake func()) (connectors.Reader, error) {
			fields := make([]types.Field, len(r.Columns))
			for i, c := range r.Columns {
				fields[i] = s.fields[c]
			}
			rd := &feedReader{source: s, wake: wake, most: types.BatchRows, out: types.NewBatch(fields)}
			if env.MaxRows > 0 {
				rd.most = env.MaxRows
			}
			f.mu.Lock()
			f.readers[rd] = true
			f.mu.Unlock()
			return rd, nil
		},
	}, nil
}

// tableName is the last part of the path.
func tableName(t *connectors.Table) string { return t.Name[strings.LastIndexByte(t.Name, '.')+1:] }

func (s *feedSource) keySplit(key []string, c Change) int {
	h := fnv.New32a()
	for i, f := range s.fields {
		if slices.Contains(key, f.Name) {
			h.Write([]byte(c.Cells[i] + "\x00"))
		}
	}
	return int(h.Sum32()>>16) % len(s.rows)
}

func parseMode(text string) (m types.ChangelogMode, err error) {
	for word := range strings.SplitSeq(text, ",") {
		k, ok := map[string]types.RowKind{"I": types.Insert, "UB": types.UpdateBefore, "UA": types.UpdateAfter, "D": types.Delete}[strings.TrimSpace(word)]
		if !ok {
			return 0, fmt.Errorf("option '%s': %q is none of I, UB, UA, D", feedMode.Key, word)
		}
		m |= types.ModeOf(k)
	}
	return m, nil
}

// decode turns texts into columns. A cell goes through the json format as JSON text does, so every type is there.
func (f *Feed) decode(fields []types.Field, rows []feedRow, mode types.ChangelogMode) (*types.Batch, error) {
	plain := make([]types.Field, len(fields))
	for i, x := range fields {
		plain[i] = types.Field{Name: x.Name, Type: x.Type.Optional()}
	}
	d, err := f.json.Decoder(connectors.FormatRequest{Fields: plain, Options: connectors.Options{}, Zone: time.UTC})
	if err != nil {
		return nil, err
	}
	b := types.NewBatch(plain)
	kinds := make([]types.RowKind, len(rows))
	for i, r := range rows {
		kinds[i] = kindOf(r.change.Kind)
		if !mode.Has(kinds[i]) {
			return nil, fmt.Errorf("row %s: the table's changelog-mode is %s", r.change, mode)
		}
		if err := d.Decode(jsonRow(fields, r.change), b); err != nil {
			return nil, fmt.Errorf("row %s: %w", r.change, err)
		}
	}
	b.Kinds = kinds
	return b, nil
}

func kindOf(s string) types.RowKind {
	for k := types.Insert; k < types.Delete; k++ {
		if k.String() == s {
			return k
		}
	}
	return types.Delete
}

// jsonRow is the row as a JSON object.
func jsonRow(fields []types.Field, c Change) []byte {
	var b strings.Builder
	for i, f := range fields {
		b.WriteByte("{,"[min(i, 1)])
		name, _ := json.Marshal(f.Name)
		b.Write(name)
		b.WriteByte(':')
		switch cell := c.Cells[i]; {
		case cell == null:
			b.WriteString("null")
		case f.Type.Kind == types.Array, f.Type.Kind == types.Map, f.Type.Kind == types.Row, f.Type.Kind == types.Multiset:
			b.WriteString(cell)
		default:
			switch f.Type.Kind {
			case types.Timestamp:
				cell = strings.Replace(cell, "T", " ", 1)
			case types.TimestampLTZ:
				cell = strings.TrimSuffix(strings.Replace(cell, "T", " ", 1), "Z") + "Z"
			}
			text, _ := json.Marshal(cell)
			b.Write(text)
		}
	}
	b.WriteByte('}')
	return []byte(b.String())
}

type feedEnumerator struct{ s *feedSource }

func (e feedEnumerator) Discover(context.Context, bool) ([]connectors.Split, error) {
	splits := make([]connectors.Split, len(e.s.rows))
	for i := range splits {
		splits[i] = (&feedSplit{index: i}).encode()
	}
	return splits, nil
}

func (feedEnumerator) Interval() time.Duration { return 0 }
func (feedEnumerator) Close() error            { return nil }

// feedSplit is a split in reading.
type feedSplit struct{ index, next int }

func (s *feedSplit) id() string { return fmt.Sprintf("rows-%d", s.index) }

func (s *feedSplit) encode() connectors.Split {
	b := binary.AppendUvarint([]byte{1}, uint64(s.index))
	return connectors.Split{ID: s.id(), State: binary.AppendUvarint(b, uint64(s.next))}
}

func decodeSplit(s connectors.Split) (*feedSplit, error) {
	if len(s.State) < 3 || s.State[0] != 1 {
		return nil, fmt.Errorf("split %s: unknown state", s.ID)
	}
	index, n := binary.Uvarint(s.State[1:])
	next, m := binary.Uvarint(s.State[1+max(n, 0):])
	if n <= 0 || m <= 0 {
		return nil, fmt.Errorf("split %s: damaged state", s.ID)
	}
	return &feedSplit{int(index), int(next)}, nil
}

// feedReader gives the rows of its splits, which take turns.
type feedReader struct {
	source *feedSource
	wake   func()
	most   int
	out    *types.Batch
	splits []*feedSplit
}

func (r *feedReader) Assign(splits []connectors.Split) error {
	f := r.source.f
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range splits {
		p, err := decodeSplit(s)
		if err != nil {
			return err
		}
		r.splits = append(r.splits, p)
	}
	f.tell()
	return nil
}

func (r *feedReader) Poll() (connectors.Polled, error) {
	f := r.source.f
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.crash {
		f.crash = false
		return connectors.Polled{}, errCrash
	}
	for k, s := range r.splits {
		rows := r.source.rows[s.index]
		end := s.next
		for end < len(rows) && end-s.next < r.most && rows[end].number < f.limit {
			end++
		}
		ended := f.over && end == len(rows)
		if end == s.next && !ended {
			continue
		}
		p := connectors.Polled{Split: s.id(), Ended: ended, More: true}
		if end > s.next {
			f.read = true
			p.Rows = r.fill(r.source.data[s.index], s.next, end)
		}
		s.next = end
		r.splits = slices.Delete(r.splits, k, k+1)
		if !ended {
			r.splits = append(r.splits, s)
		}
		f.tell()
		return p, nil
	}
	return connectors.Polled{}, nil
}

// fill copies rows from..to of a split.
func (r *feedReader) fill(src *types.Batch, from, to int) *types.Batch {
	r.out.Reset()
	for i := from; i < to; i++ {
		for j, c := range r.source.columns {
			r.out.Cols[j].AppendFrom(src.Cols[c], int32(i))
		}
		r.out.Push(src.Kinds[i])
	}
	return r.out
}

func (r *feedReader) Snapshot() ([]connectors.Split, error) {
	splits := make([]connectors.Split, len(r.splits))
	for i, s := range r.splits {
		splits[i] = s.encode()
	}
	return splits, nil
}

func (r *feedReader) Close() error {
	f := r.source.f
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.readers, r)
	f.tell()
	return nil
}
