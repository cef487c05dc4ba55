package state

import "runnel/types"

// logFinder is the Finder of a log.
type logFinder struct {
	slots [findRows]uint64
	none  uint64 // stays 0
	// The first byte of no row.
	packed byte
	warm   uint64
}

// FindRows is the number of keys that Newests takes at a time.
const FindRows = findRows

// Stage loads what Newest and Append of a batch of keys will need, see Finder.
func (l *Log) Stage(hashes []uint64, groups []int32) {
	for len(groups) > 0 {
		n := min(len(groups), findRows)
		if n >= minStage {
			l.stage(hashes[:n], groups[:n])
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
	l.stage(hashes, groups)
	slots := l.finder.slots[:len(rows)]
	for i, s := range slots {
		rows[i] = 0
		if uint32(s) == 0 {
			continue
		}
		r, key := l.whole(uint32(s)), k.Key(from+i)
		if c, rec := l.row(r); rec != nil && c.sameKey(rec, key) {
			rows[i] = l.alive(r)
		} else {
			rows[i] = l.Newest(Key{key, hashes[i], groups[i]})
		}
	}
}

// stage loads what a block of lookups will need, and leaves the slots that have the right tags.
func (l *Log) stage(hashes []uint64, groups []int32) {
	var at, end [findRows]*uint64 // on the stack: they hold nothing alive
	var in [findRows]*chunk
	var packed [findRows]*byte
	f := &l.finder
	slots := f.slots[:len(hashes)]
	groups = groups[:len(hashes)]
	for i, h := range hashes {
		at[i&(findRows-1)] = &f.none
		if x := &l.index[groups[i]-l.first]; len(x.slots) > 0 {
			at[i&(findRows-1)] = &x.slots[tagOf(h)>>(x.shift&31)]
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
			s = l.index[groups[i]-l.first].probe(tagOf(h))
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
	for i := range slots {
		sum += *at[i&(findRows-1)] + *end[i&(findRows-1)]
	}
	for i := range slots {
		packed[i&(findRows-1)] = &f.packed
		if c := in[i&(findRows-1)]; c != nil {
			packed[i&(findRows-1)] = &c.packedAt(*at[i&(findRows-1)])[0]
		}
	}
	for i := range slots {
		sum += uint64(*packed[i&(findRows-1)])
	}
	f.warm += sum // so that the loads are not optimised away
}

// probe gives the first slot with the given tag, 0 if there is none.
func (x *rowIndex) probe(tag uint32) uint64 {
	mask := uint32(len(x.slots) - 1)
	for p := tag >> (x.shift & 31); ; p++ {
		s := x.slots[p&mask]
		if s == 0 || uint32(s>>32) == tag {
			return s
		}
	}
}
