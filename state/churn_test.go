package state

import (
	"fmt"
	"testing"

	"runnel/types"
)

// churn is state in which the newest keys are there, and some that stay for ever; the rest is gone.
type churn struct {
	keyed  *Keyed
	table  *Table
	log    *Log
	slices *Slices
	col    *types.Column
	rows   []Row
	next   uint64
}

const (
	churnKeys = 40
	staying   = 1 << 40 // and up: keys that stay
	stayKeys  = 2000
)

func newChurn(t *testing.T, from *Restored) *churn {
	t.Helper()
	c := &churn{keyed: NewKeyed(Config{Operator: "Test", Groups: all, Restore: from}), col: types.NewColumn(types.Of(types.BigInt), 1)}
	c.col.AppendInt(7)
	var err error
	if c.table, err = c.keyed.Table(Descriptor{Format: 1, Name: "t"}, TableSpec{Values: []Value{{}, {Kind: Bytes}, {Kind: Set}}}); err != nil {
		t.Fatal(err)
	}
	if c.slices, err = c.keyed.Slices(Descriptor{Format: 1, Name: "s"}, SlicesSpec{Values: Words(1)}); err != nil {
		t.Fatal(err)
	}
	if c.log, err = c.keyed.Log(Descriptor{Format: 1, Name: "l"}, LogSpec{Columns: []types.Type{types.Of(types.BigInt)}, Side: 1}); err != nil {
		t.Fatal(err)
	}
	return c
}

// stay adds the keys that stay.
func (c *churn) stay() {
	for i := range uint64(stayKeys) {
		c.add(staying + i)
	}
	c.rows = nil
}

// key makes keys that all lie in one key group, the worst case for a map.
func (c *churn) key(i uint64) Key {
	k := testKey(i)
	k.Group = 5
	return k
}

func (c *churn) add(i uint64) {
	k := c.key(i)
	m := c.table.Of(5)
	r, _ := m.Upsert(k)
	m.Touch(r)[0] = i
	m.PutBytes(r, 1, fmt.Sprint("text ", i))
	m.Collection(2).Add(r, []uint64{i % 3})
	sl := c.slices.Open(1)
	r, _ = sl.Upsert(k)
	sl.Touch(r)[0] = i
	row := c.log.Append(k, int64(i), []*types.Column{c.col}, 0)
	c.log.Touch(row)[0] = i
	c.rows = append(c.rows, row)
}

func (c *churn) step() {
	i := c.next
	c.next++
	c.add(i)
	if i < churnKeys {
		return
	}
	m, sl := c.table.Of(5), c.slices.Open(1)
	old := c.key(i - churnKeys)
	m.Delete(m.Find(old))
	sl.Delete(sl.Find(old))
	c.log.Delete(c.rows[0])
	c.rows = c.rows[1:]
}

// check compares with what should be there after next steps.
func (c *churn) check(t *testing.T, next uint64) {
	t.Helper()
	m, sl := c.table.Of(5), c.slices.Open(1)
	n := int(min(next, churnKeys)) + stayKeys
	if m.Len() != n || sl.Len() != n || c.log.Len() != n {
		t.Fatalf("%d, %d and %d records, want %d", m.Len(), sl.Len(), c.log.Len(), n)
	}
	for j := range uint64(n) {
		i := staying + j
		if j >= stayKeys {
			i = next - 1 - (j - stayKeys)
		}
		k := c.key(i)
		r, s, row := m.Find(k), sl.Find(k), c.log.Newest(k)
		if r == 0 || s == 0 || row == 0 {
			t.Fatalf("key %d is missing: %d %d %d", i, r, s, row)
		}
		text, _ := m.Bytes(r, 1)
		if m.Get(r)[0] != i || text != fmt.Sprint("text ", i) || m.Collection(2).Find(r, []uint64{i % 3}) == 0 ||
			sl.Get(s)[0] != i || c.log.Side(row)[0] != i {
			t.Fatalf("key %d is wrong", i)
		}
	}
}

// TestChurn: without checkpoints, memory does not grow; with them, what changed too often to be listed is stored whole,
// also after checkpoints that did not complete.
func TestChurn(t *testing.T) {
	c := newChurn(t, nil)
	c.stay()
	for range rounds(50000) {
		c.step()
	}
	c.check(t, c.next)
	if size := c.keyed.Size(); size > 4<<20 {
		t.Errorf("%d bytes", size)
	}
	if n := len(c.log.snap.dirty); n > c.log.Len()+minDirty {
		t.Errorf("%d rows are listed as dirty", n)
	}
	sink := newBlobs()
	var completed int64
	for id := int64(1); id <= 20; id++ {
		for range []int{10, 300, 7000}[id%3] {
			c.step()
		}
		at := c.next
		c.keyed.Freeze(Freeze{Checkpoint: id, Completed: completed, Savepoint: id%7 == 0})
		for done, n := false, 0; !done; n++ {
			var err error
			if done, err = c.keyed.Drain(100, sink); err != nil {
				t.Fatal(err)
			}
			for range []int{2, 60}[id&1] {
				c.step()
			}
			if id%5 == 0 && n == 3 {
				break
			}
		}
		if id%5 == 0 {
			c.keyed.Abort()
			continue
		}
		restored := newChurn(t, restoredFrom(RestoredSubtask{SubtaskState{Groups: all, States: c.keyed.Snapshot()}, sink}))
		restored.check(t, at)
		if id%7 != 0 && id%4 != 0 {
			completed = id
		}
	}
	c.check(t, c.next)
	if size := c.keyed.Size(); size > 6<<20 {
		t.Errorf("%d bytes after checkpoints", size)
	}
}
