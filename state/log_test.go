package state

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"runnel/types"
)

var logColumns = []types.Type{types.Of(types.BigInt), types.String(), types.DecimalOf(30, 2), types.Of(types.Double), types.ArrayOf(types.Of(types.Int))}

// logRow is a row of the model.
type logRow struct {
	key  uint64
	time int64
	id   int64
	text string
	side [2]uint64
	name Row // in the log under test
}

func (r *logRow) columns() []*types.Column {
	cols := make([]*types.Column, len(logColumns))
	for i, t := range logColumns {
		cols[i] = types.NewColumn(t, 1)
	}
	cols[0].AppendInt(r.id)
	if r.text == "" {
		cols[1].AppendNull()
	} else {
		cols[1].AppendStr(r.text)
	}
	cols[2].AppendWide(types.Int128{Hi: r.id, Lo: uint64(r.time)})
	cols[3].AppendFloat(float64(r.id) / 2)
	cols[4].AppendAny(&types.List{Elems: []types.Datum{types.IntDatum(r.id % 7), types.NullDatum()}})
	return cols
}

func (r *logRow) String() string {
	return fmt.Sprintf("%d@%d %d %q %v", r.key, r.time, r.id, r.text, r.side)
}

// rowString prints a row of a log the same way.
func rowString(l *Log, key uint64, r Row) string {
	cols := make([]*types.Column, len(logColumns))
	for i, t := range logColumns {
		cols[i] = types.NewColumn(t, 1)
	}
	l.Emit(r, cols)
	text := cols[1].At(0).S
	id := cols[0].Int[0]
	if w := cols[2].Wide[0]; w.Hi != id || w.Lo != uint64(l.Time(r)) || cols[3].Flt[0] != float64(id)/2 {
		return "wrong columns"
	}
	if e := cols[4].Any[0].(*types.List).Elems; len(e) != 2 || e[0].I != id%7 || !e[1].Null {
		return "wrong list"
	}
	var side [2]uint64
	copy(side[:], l.Side(r))
	return fmt.Sprintf("%d@%d %d %q %v", key, l.Time(r), id, text, side)
}

// logModel is what a log should hold, rows by age.
type logModel struct {
	rows  []*logRow
	bound int64 // rows at or below may be gone
	id    int64
}

func (m *logModel) clone() *logModel {
	c := &logModel{bound: m.bound, id: m.id}
	for _, r := range m.rows {
		n := *r
		c.rows = append(c.rows, &n)
	}
	return c
}

// check compares the rows above the bound, key by key, newest first. sameAge is false after a restore that mixed
// subtasks: the order of rows of one key is kept even then, as a key has one subtask.
func (m *logModel) check(t *testing.T, l *Log, keep Range) {
	t.Helper()
	byKey := map[uint64][]string{}
	for i := len(m.rows) - 1; i >= 0; i-- {
		if r := m.rows[i]; r.time > m.bound {
			byKey[r.key] = append(byKey[r.key], r.String())
		}
	}
	for key := range uint64(logKeys) {
		k := testKey(key)
		if !keep.Has(k.Group) {
			continue
		}
		var got []string
		for r := l.Newest(k); r != 0; r = l.Prev(r) {
			if l.Time(r) > m.bound {
				got = append(got, rowString(l, key, r))
			}
		}
		if !slices.Equal(got, byKey[key]) {
			t.Fatalf("key %d:\n got %s\nwant %s", key, strings.Join(got, "\n     "), strings.Join(byKey[key], "\n     "))
		}
	}
}

const logKeys = 150

// logStep does one random operation. now is about where event time stands.
func logStep(rnd *rand.Rand, l *Log, m *logModel, ordered bool) {
	if l.spec.Timeless {
		m.bound = -1
	}
	switch op := rnd.IntN(20); {
	case op < 14:
		m.id++
		r := &logRow{key: uint64(rnd.IntN(logKeys)), time: m.id/2 + int64(rnd.IntN(200)), id: m.id}
		if rnd.IntN(5) > 0 {
			r.text = fmt.Sprint("text ", m.id)
		}
		if rnd.IntN(400) == 0 {
			r.time += 1 << 40 // far in the future
		}
		if l.spec.Timeless {
			r.time = 0
		}
		r.name = l.Append(testKey(r.key), r.time, r.columns(), 0)
		m.rows = append(m.rows, r)
	case op < 17 && len(m.rows) > 0:
		i := rnd.IntN(len(m.rows))
		if r := m.rows[i]; r.time > m.bound {
			v := l.Touch(r.name)
			v[rnd.IntN(2)]++
			copy(r.side[:], v)
		}
	case op < 18 && len(m.rows) > 0:
		i := rnd.IntN(len(m.rows))
		if r := m.rows[i]; r.time > m.bound {
			l.Delete(r.name)
			m.rows = slices.Delete(m.rows, i, i+1)
		}
	case rnd.IntN(40) == 0 && l.spec.Timeless: // what cannot leave in time is deleted
		half := len(m.rows) / 2
		for _, r := range m.rows[:half] {
			l.Delete(r.name)
		}
		m.rows = slices.Delete(m.rows, 0, half)
	case rnd.IntN(40) == 0:
		m.bound = max(m.bound, m.id/2-int64(rnd.IntN(300)))
		m.advance(l, ordered)
	}
}

// advance moves the bound and drops the rows at or below it.
func (m *logModel) advance(l *Log, ordered bool) {
	var gone []*logRow
	m.rows = slices.DeleteFunc(m.rows, func(r *logRow) bool {
		if r.time <= m.bound {
			gone = append(gone, r)
			return true
		}
		return false
	})
	if !ordered {
		l.Clean(m.bound)
		return
	}
	slices.SortStableFunc(gone, func(a, b *logRow) int { return cmp.Compare(a.time, b.time) })
	i := 0
	l.Leave(m.bound, func(r Row) {
		if i >= len(gone) {
			panic("too many rows leave")
		}
		if got := rowString(l, gone[i].key, r); got != gone[i].String() {
			panic(fmt.Sprintf("leaves %s, want %s", got, gone[i]))
		}
		i++
	})
	if i != len(gone) {
		panic(fmt.Sprintf("%d rows leave, want %d", i, len(gone)))
	}
}

func logSpecs() map[string]LogSpec {
	return map[string]LogSpec{
		"plain":    {Columns: logColumns, Side: 2},
		"span":     {Columns: logColumns, Side: 2, Span: 100},
		"ordered":  {Columns: logColumns, Side: 2, Ordered: true},
		"timeless": {Columns: logColumns, Side: 2, Timeless: true},
	}
}

func TestLogAgainstModel(t *testing.T) {
	for name, spec := range logSpecs() {
		t.Run(name, func(t *testing.T) {
			rnd := newRand(t)
			k := NewKeyed(Config{Operator: "Test", Groups: all})
			l, err := k.Log(Descriptor{Format: 1, Name: "l"}, spec)
			if err != nil {
				t.Fatal(err)
			}
			m := &logModel{}
			for i := range rounds(40000) {
				logStep(rnd, l, m, spec.Ordered)
				if i%4000 == 0 {
					m.check(t, l, all)
				}
			}
			m.check(t, l, all)
			if held := l.Len(); spec.Ordered && held != len(m.rows) || held < len(m.rows) {
				t.Fatalf("%d rows, want %d", held, len(m.rows))
			}
		})
	}
}

func TestLogSnapshots(t *testing.T) {
	for name, spec := range logSpecs() {
		t.Run(name, func(t *testing.T) {
			rnd := newRand(t)
			k := NewKeyed(Config{Operator: "Test", Groups: all})
			l, err := k.Log(Descriptor{Format: 1, Name: "l"}, spec)
			if err != nil {
				t.Fatal(err)
			}
			m, sink := &logModel{}, newBlobs()
			var completed int64
			for id := int64(1); id <= int64(rounds(20)); id++ {
				for range rnd.IntN(3000) {
					logStep(rnd, l, m, spec.Ordered)
				}
				frozen := m.clone()
				save := rnd.IntN(5) == 0
				k.Freeze(Freeze{Checkpoint: id, Completed: completed, Savepoint: save})
				stop := rnd.IntN(4) == 0
				for done := false; !done; {
					if done, err = k.Drain(1+rnd.IntN(100), sink); err != nil {
						t.Fatal(err)
					}
					for range rnd.IntN(60) {
						logStep(rnd, l, m, spec.Ordered)
					}
					if stop && rnd.IntN(8) == 0 {
						break
					}
				}
				if stop {
					k.Abort()
					continue
				}
				checkLogRestored(t, spec, k.Snapshot(), sink, frozen)
				if !save && rnd.IntN(4) > 0 {
					completed = id
				}
			}
		})
	}
}

func checkLogRestored(t *testing.T, spec LogSpec, handles []StateHandle, from BlobReader, want *logModel) {
	t.Helper()
	subs := []RestoredSubtask{{SubtaskState{Groups: all, States: handles}, from}}
	for _, p := range []int{3, 2, 1} {
		var next []RestoredSubtask
		for i := range p {
			g := RangeOf(i, p, testGroups)
			k := NewKeyed(Config{Operator: "Test", Groups: g, Restore: restoredFrom(subs...)})
			l, err := k.Log(Descriptor{Format: 1, Name: "l"}, spec)
			if err != nil {
				t.Fatal(err)
			}
			want.check(t, l, g)
			sink := newBlobs()
			k.Freeze(Freeze{Checkpoint: 1})
			if done, err := k.Drain(1<<30, sink); err != nil || !done {
				t.Fatal(done, err)
			}
			next = append(next, RestoredSubtask{SubtaskState{Subtask: i, Groups: g, States: k.Snapshot()}, sink})
		}
		subs = next
	}
}

// TestLogFarFuture: rows dated far in the future leave the memory of what is behind them free.
func TestLogFarFuture(t *testing.T) {
	k := NewKeyed(Config{Operator: "Test", Groups: all})
	l, err := k.Log(Descriptor{Format: 1, Name: "l"}, LogSpec{Columns: logColumns[:1]})
	if err != nil {
		t.Fatal(err)
	}
	col := types.NewColumn(logColumns[0], 1)
	col.AppendInt(1)
	var far []Row
	for i := range 400_000 {
		at := int64(i)
		if i%10_000 == 0 {
			at = 1 << 50
		}
		r := l.Append(testKey(uint64(i%5000)), at, []*types.Column{col}, 0)
		if at == 1<<50 {
			far = append(far, r)
		}
		if i%1000 == 0 {
			l.Clean(int64(i) - 5000)
		}
	}
	if n := l.Len(); n > 20_000 {
		t.Errorf("%d rows are held", n)
	}
	if b := k.Size(); b > 8<<20 {
		t.Errorf("%d bytes are held", b)
	}
	for _, r := range far {
		if l.rec(r) == nil || l.Time(r) != 1<<50 {
			t.Fatal("a row of the future is gone")
		}
	}
}

func TestLogTTL(t *testing.T) {
	var now int64
	k := NewKeyed(Config{Operator: "Test", Groups: all, Clock: func() int64 { return now }})
	l, err := k.Log(Descriptor{Format: 1, Name: "l"}, LogSpec{Columns: logColumns[:1], Side: 1, TTL: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	col := types.NewColumn(logColumns[0], 1)
	col.AppendInt(1)
	key := testKey(1)
	var rows []Row
	for now = 0; now < 10; now++ {
		k.StartBatch()
		rows = append(rows, l.Append(key, 0, []*types.Column{col}, 0))
	}
	now = 11
	k.StartBatch()
	l.Touch(rows[2])[0] = 1
	now = 15 // 0, 1, 3, 4, 5 have expired
	k.StartBatch()
	var got []Row
	for r := l.Newest(key); r != 0; r = l.Prev(r) {
		got = append(got, r)
	}
	if want := []Row{rows[9], rows[8], rows[7], rows[6], rows[2]}; !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	l.Sweep(1000)
	if l.Len() != 5 {
		t.Fatalf("%d rows after the sweep", l.Len())
	}
	now = 100
	k.StartBatch()
	l.Sweep(1000)
	if l.Len() != 0 || l.Newest(key) != 0 {
		t.Fatal("rows are left")
	}
}
