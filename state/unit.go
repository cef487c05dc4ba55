package state

// maxDeltas is the number of deltas after which a new base is written, however small they are.
const maxDeltas = 24

// unit is a part of a state whose blobs form one chain: a base, and deltas on top of it. It is one map of a Table, all
// slices of Slices, the side words of a Log.
type unit struct {
	chain  BlobRefs // of the newest checkpoint that is known to have completed
	base   int64    // bytes
	delta  int64
	deltas int
	lost   bool // the open epoch's changes are not listed: the next checkpoint writes a base
	spread int  // moves the turn of new bases, so that they do not all come at once

	// The checkpoint that was frozen last.
	freeze   uint32
	ckpt     int64
	asBase   bool
	wasLost  bool
	open     BlobRefs
	openSize int64
	stored   bool // the one before it completed
}

// resolve follows a freeze: it settles what became of the checkpoint before and decides between base and delta.
func (u *unit) resolve(l *layout) {
	if u.freeze == l.freeze {
		return
	}
	u.freeze = l.freeze
	u.stored = u.ckpt != 0 && u.ckpt == l.done
	switch {
	case u.stored && u.asBase:
		u.chain, u.base, u.delta, u.deltas = u.open, u.openSize, 0, 0
	case u.stored && len(u.open) > 0:
		u.chain = append(u.chain[:len(u.chain):len(u.chain)], u.open...)
		u.delta += u.openSize
		u.deltas++
	case !u.stored && u.wasLost:
		u.lost = true
	}
	u.open, u.openSize = nil, 0
	u.ckpt = l.ckpt
	if l.full {
		u.ckpt = 0 // a savepoint is no part of the chain
	}
	u.asBase = l.full || u.lost || len(u.chain) == 0 || u.delta > u.base || u.deltas >= maxDeltas+u.spread%maxDeltas
	u.wasLost, u.lost = u.lost, false
}

// add notes a blob of the checkpoint being drained.
func (u *unit) add(r BlobRef) {
	u.open = append(u.open, r)
	u.openSize += int64(r.Bytes)
}

// refs gives the blobs that make up the unit at the checkpoint just drained.
func (u *unit) refs(dst BlobRefs) BlobRefs {
	if !u.asBase {
		dst = append(dst, u.chain...)
	}
	return append(dst, u.open...)
}
