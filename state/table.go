package state

import (
	"time"

	"runnel/types"
)

// TableSpec is the form of a table's records.
type TableSpec struct {
	Values []Value
	TTL    time.Duration // since the last write, in processing time; 0: for ever
}

// Table is a keyed state: one Map per key group.
type Table struct {
	desc   Descriptor
	lay    *layout
	first  int32
	groups []*Map // nil until first used
	find   Finder
	walk   tableWalk
	sweep  tableSweep
	onLoad func(*Map) error // told of every map that was restored
}

// Table registers a table, and restores it if the Keyed was made to restore.
func (k *Keyed) Table(d Descriptor, spec TableSpec) (*Table, error) {
	t := k.newTable(d, spec)
	t.desc.Kind, t.desc.Layout = "table", layoutText(spec.Values)
	if err := k.register(t); err != nil {
		return nil, err
	}
	return t, nil
}

func (k *Keyed) newTable(d Descriptor, spec TableSpec) *Table {
	return &Table{desc: d, lay: newLayout(spec.Values, spec.TTL, k.clock, true), first: k.groups.First,
		groups: make([]*Map, k.groups.Len())}
}

// Of gives the map of a key group, which must be one of the subtask's.
func (t *Table) Of(group int32) *Map {
	if m := t.groups[group-t.first]; m != nil {
		return m
	}
	return t.newGroup(group)
}

func (t *Table) newGroup(group int32) *Map {
	m := newMap(t.lay)
	m.freeze = t.lay.freeze
	m.unit = &unit{freeze: t.lay.freeze, spread: int(group)}
	t.groups[group-t.first] = m
	return m
}

// Each calls f for the map of every key group that has one, in order.
func (t *Table) Each(f func(group int32, m *Map)) {
	for i, m := range t.groups {
		if m != nil {
			f(t.first+int32(i), m)
		}
	}
}

// Len is the number of records.
func (t *Table) Len() int { return t.lay.live }

// Stage loads what the lookups of a batch of keys will need. It pays from some hundred thousand keys on and costs little
// below; see Finder.
func (t *Table) Stage(hashes []uint64, groups []int32) {
	var maps [findRows]*Map
	for len(groups) > 0 {
		n := min(len(groups), findRows)
		for i, g := range groups[:n] {
			maps[i] = t.groups[g-t.first]
		}
		t.find.stage(maps[:n], hashes, types.All(n))
		hashes, groups = hashes[n:], groups[n:]
	}
}

// tableSweep is where the search for expired records stands.
type tableSweep struct {
	group int
	at    uint32
	moves uint32 // of the map, when at was a record of it
}

// Sweep looks at up to max records of a table with a TTL and deletes those that have expired. Operators call it now and
// then so that keys that never come again go away.
func (t *Table) Sweep(max int) {
	if t.lay.ttl == 0 {
		return
	}
	for range len(t.groups) {
		if t.sweep.group >= len(t.groups) {
			t.sweep.group = 0
		}
		m := t.groups[t.sweep.group]
		if m != nil {
			if t.sweep.moves != m.moves {
				t.sweep.at, t.sweep.moves = 0, m.moves
			}
			for ; m.recs.has(t.sweep.at); t.sweep.at = m.next(t.sweep.at) {
				if max--; max < 0 {
					return
				}
				if o := t.sweep.at; m.alive(o) && m.expired(o) {
					m.Delete(Ref(o + 1))
				}
			}
		}
		t.sweep.group, t.sweep.at = t.sweep.group+1, 0
	}
}

func (t *Table) descriptor() *Descriptor { return &t.desc }
func (t *Table) layouts(f func(*layout)) { t.lay.each(f) }
func (t *Table) frozen(Freeze)           { t.walk = tableWalk{records: int64(t.Len())} }
func (t *Table) size() int64 {
	n := int64(8 * len(t.groups))
	for _, m := range t.groups {
		if m != nil {
			n += int64(m.Memory())
		}
	}
	return n
}
