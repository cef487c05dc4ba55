package lookup

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// tagged names keys: equal keys have equal bytes.
type tagged struct {
	keys *types.RowCodec
	rows *types.RowCodec
	spec Spec
}

func newTagged(spec Spec) tagged {
	t := tagged{keys: types.NewRowCodec(plain(typesOf(spec.Keys))), rows: types.NewRowCodec(typesOf(spec.Columns)), spec: spec}
	t.rows.Share = true // entries never change
	return t
}

// plain leaves NOT NULL out, so that a key has the same bytes from wherever it comes.
func plain(ts []types.Type) []types.Type {
	for i, t := range ts {
		ts[i] = t.Optional()
	}
	return ts
}

func (t *tagged) tag(cols []*types.Column, i int32) string {
	return string(t.keys.Append(nil, cols, i))
}

// answer reads cached rows.
func (t *tagged) answer(rows []string, into *types.Batch) (Answer, error) {
	a := Answer{Rows: into, From: int32(into.Len)}
	for _, r := range rows {
		if _, err := t.rows.Decode([]byte(r), into.Cols); err != nil {
			return a, fmt.Errorf("cache of table %s: %w", t.spec.Name, err)
		}
		into.Push(types.Insert)
	}
	a.To = int32(into.Len)
	return a, nil
}

// partial holds what was asked for lately, bounded by number and age.
type partial struct {
	tagged
	mu    sync.Mutex
	found map[string]*list.Element // of *entry
	used  list.List                // the latest in front
}

type entry struct {
	tag               string
	rows              []string
	written, accessed time.Time
}

func newPartial(spec Spec) *partial {
	return &partial{tagged: newTagged(spec), found: map[string]*list.Element{}}
}

// lookup answers the keys that are in the cache and gives the others.
func (p *partial) lookup(keys *types.Batch, got func(int, Answer)) (question, error) {
	q := question{keys: &types.Batch{Len: keys.Len, Cols: keys.Cols, Sel: []int32{}}}
	p.mu.Lock()
	defer p.mu.Unlock()
	var hits *types.Batch
	for k := range keys.Rows() {
		i := keys.Row(k)
		tag := p.tag(keys.Cols, i)
		e := p.entry(tag)
		if e == nil {
			q.keys.Sel, q.of, q.tags = append(q.keys.Sel, i), append(q.of, k), append(q.tags, tag)
			continue
		}
		if hits == nil {
			hits = newRows(p.spec.Columns, keys.Rows())
		}
		a, err := p.answer(e.rows, hits)
		if err != nil {
			return q, err
		}
		got(k, a)
	}
	return q, nil
}

// entry gives an entry that has not expired. p.mu is held.
func (p *partial) entry(tag string) *entry {
	at := p.found[tag]
	if at == nil {
		return nil
	}
	e, now, c := at.Value.(*entry), p.spec.Now(), p.spec.Cache
	if c.AfterWrite > 0 && now.Sub(e.written) >= c.AfterWrite || c.AfterAccess > 0 && now.Sub(e.accessed) >= c.AfterAccess {
		p.remove(at)
		return nil
	}
	e.accessed = now
	p.used.MoveToFront(at)
	return e
}

func (p *partial) remove(at *list.Element) {
	delete(p.found, at.Value.(*entry).tag)
	p.used.Remove(at)
}

// store keeps an answer.
func (p *partial) store(tag string, a Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.found[tag]; at != nil {
		p.remove(at)
	}
	if a.From == a.To && !p.spec.Cache.Missing {
		return
	}
	now := p.spec.Now()
	e := &entry{tag: tag, written: now, accessed: now}
	for i := a.From; i < a.To; i++ {
		e.rows = append(e.rows, string(p.rows.Append(nil, a.Rows.Cols, i)))
	}
	p.found[tag] = p.used.PushFront(e)
	if most := p.spec.Cache.MaxRows; most > 0 && int64(len(p.found)) > most {
		p.remove(p.used.Back())
	}
}

// full holds the whole table. What is due to be loaded again is loaded by the next lookup, which waits for it.
type full struct {
	tagged
	scan connectors.LookupScanner
	mu   sync.Mutex
	rows map[string][]string // nil: not loaded yet
	due  time.Time
}

func newFull(scan connectors.LookupScanner, spec Spec) *full {
	return &full{tagged: newTagged(spec), scan: scan}
}

func (f *full) lookup(ctx context.Context, keys *types.Batch, got func(int, Answer)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.fresh(ctx); err != nil {
		return err
	}
	hits := newRows(f.spec.Columns, keys.Rows())
	for k := range keys.Rows() {
		a, err := f.answer(f.rows[f.tag(keys.Cols, keys.Row(k))], hits)
		if err != nil {
			return err
		}
		got(k, a)
	}
	return nil
}

// fresh loads the table if that is due. Rows that are there outlive a load that fails.
func (f *full) fresh(ctx context.Context) error {
	now := f.spec.Now()
	if f.rows != nil && now.Before(f.due) {
		return nil
	}
	rows, err := f.load(ctx)
	if err != nil && (f.rows == nil || ctx.Err() != nil) {
		return fmt.Errorf("loading the cache of table %s: %w", f.spec.Name, err)
	}
	if err != nil {
		f.spec.Log.Warn("the cache of a table could not be loaded again, its rows stay", "table", f.spec.Name, "error", err)
	} else {
		f.rows = rows
	}
	f.due = f.next(now)
	return nil
}

func (f *full) load(ctx context.Context) (map[string][]string, error) {
	all, n := map[string][]string{}, len(f.spec.Columns)
	err := f.scan.Scan(ctx, func(b *types.Batch) error {
		for _, i := range b.Live() {
			tag := f.tag(b.Cols[n:], i)
			all[tag] = append(all[tag], string(f.tagged.rows.Append(nil, b.Cols[:n], i)))
		}
		return nil
	})
	return all, err
}

// next is the time of the load behind one that began at now.
func (f *full) next(now time.Time) time.Time {
	c := f.spec.Cache
	switch {
	case c.Interval > 0 && !c.FixedRate:
		return f.spec.Now().Add(c.Interval)
	case c.Interval > 0:
		due := f.due
		if due.IsZero() {
			due = now
		}
		for !due.After(now) {
			due = due.Add(c.Interval)
		}
		return due
	}
	zone := c.Zone
	if zone == nil {
		zone = f.spec.Zone
	}
	y, m, d := now.In(zone).Date()
	at := func(day int) time.Time { return time.Date(y, m, day, 0, 0, 0, int(c.At), zone) }
	if f.due.IsZero() { // the first time comes on this day or the next one
		if at(d).After(now) {
			return at(d)
		}
		return at(d + 1)
	}
	return at(d + int(c.Days))
}
