package op

import (
	"time"

	"runnel/state"
)

// retention drops the state of keys that have not been seen for some time, by the processing time, as Flink does for OVER
// and temporal joins: by a timer one and a half times the TTL behind the row that sets it. A later row sets it anew only
// when less than the TTL is left. So a key goes between once and one and a half times the TTL behind its last row.
type retention struct {
	ctx    *Context
	ttl    int64
	table  *state.Table // the time of each key's timer
	timers *state.Timers
	popped []uint64
	// drop forgets a key; false: it is still needed, and kept as if a row had come.
	drop func(key state.Key) bool
}

// newRetention registers the timers of keys; nil without a TTL.
func newRetention(ctx *Context, d state.Descriptor, ttl time.Duration, drop func(key state.Key) bool) (*retention, error) {
	if ttl <= 0 {
		return nil, nil
	}
	r := &retention{ctx: ctx, ttl: ttl.Milliseconds(), drop: drop}
	var err error
	if r.table, err = ctx.State.Table(state.Descriptor{Format: 1, Name: "retention", Key: d.Key}, state.TableSpec{Values: state.Words(1)}); err != nil {
		return nil, err
	}
	r.timers, err = ctx.State.Timers(state.Descriptor{Format: 1, Name: "retention timers", Key: d.Key})
	r.wake()
	return r, err
}

// seen notes that a row of a key is there.
func (r *retention) seen(key state.Key) {
	if r == nil {
		return
	}
	now := r.ctx.Now().UnixMilli()
	m := r.table.Of(key.Group)
	ref, fresh := m.Upsert(key)
	at := int64(m.Get(ref)[0])
	if !fresh && now+r.ttl <= at {
		return
	}
	if !fresh {
		r.timers.Delete(at, key)
	}
	at = now + r.ttl + r.ttl/2
	m.Touch(ref)[0] = uint64(at)
	r.timers.Add(at, key)
}

// run drops the keys whose time has come, and asks to be called again.
func (r *retention) run(now int64) {
	if r == nil {
		return
	}
	for {
		_, key, ok := r.timers.Pop(now)
		if !ok {
			break
		}
		r.popped = append(r.popped[:0], key.Words...) // the timers' own words live until the next call
		key.Words = r.popped
		m := r.table.Of(key.Group)
		if ref := m.Find(key); ref != 0 {
			m.Delete(ref)
		}
		if !r.drop(key) {
			r.seen(key)
		}
	}
	r.wake()
}

// before drops what is due in front of rows that come now.
func (r *retention) before() {
	if r != nil {
		r.run(r.ctx.Now().UnixMilli())
	}
}

func (r *retention) wake() {
	if r != nil && r.timers != nil && r.timers.Next() != state.NoTimer {
		r.ctx.WakeAt(r.timers.Next())
	}
}
