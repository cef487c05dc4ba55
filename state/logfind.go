package state

import "runnel/types"

// logFinder is the Finder of a log.
type logFinder struct {
	slots [findRows]uint64 // by key: what is in its slot, or in the one where it belongs (0)
	at    [findRows]uint32 // and which one it is
	size  [findRows]int    // of so many
	rows  [findRows]Row    // the newest row of each key; 0: none
	heads [findRows]uint64
	names [findRows]Row
	none  uint64 // stays 0
	// The first byte of no row.
	packed byte
	warm   uint64
}

// FindRows is the number of keys that Newests and AppendAll take at a time.
const FindRows = findRows

// Stage loads what Newest and Append of a batch of keys will need, see Finder.
func (l *Log) Stage(hashes []uint64, groups []int32) {
	for len(groups) > 0 {
		n := min(len(groups), findRows)
		if n >= minStage {
			l.stage(nil, hashes[:n], groups[:n], 0)
		}
		hashes, groups = hashes[n:], groups[n:]
	}
}

// Newests gives what Newest gives for the keys from..from+len(rows) of k, at most FindRows of them.
func (l *Log) Newests(k *types.Keys, groups []int32, from int, rows []Row) {
	groups, hashes := groups[from:from+len(rows)], k.Hash[from:from+len(rows)]
	if len(rows) < minStage {
		for i := range rows {
			rows[i] = l.Newest(Key{k.Key(from + i), hashes[i], groups[i]})
		}
		return
	}
	l.stage(k, hashes, groups, from)
	for i, r := range l.finder.rows[:len(rows)] {
		rows[i] = l.alive(r)
	}
}

// AppendAll is Append for some rows of cols, at most FindRows, with the keys from.. of k and as many times (nil: 0). Those are left
// out for which skip is true (nil: none).
func (l *Log) AppendAll(k *types.Keys, groups []int32, from int, rows []int32, times []int64, cols []*types.Column, skip []bool) {
	f := &l.finder
	groups, hashes := groups[from:from+len(rows)], k.Hash[from:from+len(rows)]
	for i, row := range rows {
		f.names[i] = 0
		if skip != nil && skip[i] {
			continue
		}
		key, time := Key{k.Key(from + i), hashes[i], groups[i]}, int64(0)
		if times != nil {
			time = times[i]
		}
		if len(rows) < minStage {
			l.Append(key, time, cols, row)
		} else {
			f.names[i], _ = l.lay(key, time, cols, row)
		}
	}
	if len(rows) < minStage {
		return
	}
	l.stage(k, hashes, groups, from)
	for i, row := range f.names[:len(rows)] {
		if row == 0 {
			continue
		}
		x, slot, prev := &l.index[groups[i]-l.first], f.at[i], f.rows[i]
		now := uint64(0)
		if int(slot) < len(x.slots) {
			now = x.slots[slot]
		}
		_, rec := l.row(row)
		switch {
		case prev != 0 && now == f.slots[i]: // it names the row before, so it is the key's, wherever it is
			l.chain(x, slot, rec, row, prev)
		case prev == 0 && now == 0 && f.slots[i] == 0 && f.size[i] == len(x.slots) && !x.crowded():
			x.slots[slot] = slotOf(tagOf(hashes[i]), row)
			x.n++
		default: // its place is not known any more
			l.link(Key{k.Key(from + i), hashes[i], groups[i]}, rec, row)
		}
	}
}

// stage loads what a block of lookups will need. Unless k is nil it also leaves the slots and newest rows of the keys from.. of k.
// Addresses are gathered first, see Finder.stage.
func (l *Log) stage(k *types.Keys, hashes []uint64, groups []int32, from int) {
	var at, end [findRows]*uint64 // on the stack: they hold nothing alive
	var in [findRows]*chunk
	var packed [findRows]*byte
	f := &l.finder
	slots := f.slots[:len(hashes)]
	groups = groups[:len(hashes)]
	for i, h := range hashes {
		at[i&(findRows-1)], f.size[i&(findRows-1)] = &f.none, 0
		if x := &l.index[groups[i]-l.first]; len(x.slots) > 0 {
			p := tagOf(h) >> (x.shift & 31)
			at[i&(findRows-1)], f.at[i&(findRows-1)], f.size[i&(findRows-1)] = &x.slots[p], p, len(x.slots)
		}
	}
	for i := range slots {
		slots[i] = *at[i&(findRows-1)]
	}
	for i, h := range hashes {
		s := slots[i]
		at[i&(findRows-1)], end[i&(findRows-1)] = &f.none, &f.none
		if s == 0 {
			continue
		}
		if s>>32 != h>>32 {
			f.at[i&(findRows-1)], s = l.index[groups[i]-l.first].probe(tagOf(h))
			slots[i] = s
		}
		if s == 0 {
			continue
		}
		if c, rec := l.row(l.whole(uint32(s))); rec != nil {
			at[i&(findRows-1)], end[i&(findRows-1)], in[i&(findRows-1)] = &rec[rowHead], &rec[c.stride-1], c
		}
	}
	var sum uint64
	for i := range slots { // a record may lie across two cache lines
		f.heads[i&(findRows-1)] = *at[i&(findRows-1)]
		sum += *end[i&(findRows-1)]
	}
	for i := range slots {
		packed[i&(findRows-1)] = &f.packed
		if c := in[i&(findRows-1)]; c != nil {
			packed[i&(findRows-1)] = &c.packedAt(f.heads[i&(findRows-1)])[0]
		}
	}
	for i := range slots {
		sum += uint64(*packed[i&(findRows-1)])
	}
	f.warm += sum // so that the loads are not optimised away
	for i, s := range slots {
		if k == nil {
			return
		}
		f.rows[i&(findRows-1)] = 0
		if s == 0 {
			continue
		}
		key := k.Key(from + i)
		if c := in[i&(findRows-1)]; c != nil && l.form.sameKey(c.packedAt(f.heads[i&(findRows-1)]), c.base, key) {
			f.rows[i&(findRows-1)] = l.whole(uint32(s))
			continue
		}
		x, slot, r := l.find(Key{key, hashes[i], groups[i]})
		f.at[i&(findRows-1)], f.rows[i&(findRows-1)], slots[i] = slot, r, x.slots[slot]
	}
}

// probe gives the first slot with the given tag, or the empty one before it.
func (x *rowIndex) probe(tag uint32) (uint32, uint64) {
	mask := uint32(len(x.slots) - 1)
	for p := tag >> (x.shift & 31); ; p++ {
		p &= mask
		s := x.slots[p]
		if s == 0 || uint32(s>>32) == tag {
			return p, s
		}
	}
}
