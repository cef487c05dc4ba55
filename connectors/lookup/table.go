// Package lookup stands between lookup joins and the connectors that they ask: caches, retries, timeouts, and requests that
// run while the join goes on.
package lookup

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// Retry asks again for keys that found nothing (retry-predicate = lookup_miss, retry-strategy = fixed_delay).
type Retry struct {
	Delay    time.Duration
	Attempts int // behind the first
}

// Spec is how a table is asked.
type Spec struct {
	Name    string        // of the table
	Keys    []types.Field // of the keys
	Columns []types.Field // of the rows
	Cache   Cache
	Retry   *Retry // nil for none
	Now     func() time.Time
	Zone    *time.Location // of the session
	Log     *slog.Logger
}

// Answer is what was found for one key: the rows From to To of a batch, which must not be changed.
type Answer struct {
	Rows     *types.Batch
	From, To int32
}

// Table asks an outside table. Several goroutines may use it at once.
type Table struct {
	spec    Spec
	ask     connectors.Lookup
	partial *partial
	full    *full
}

// New puts caches and retries in front of a connector's lookup, which it closes.
func New(ask connectors.Lookup, spec Spec) (*Table, error) {
	t := &Table{spec: spec, ask: ask}
	switch spec.Cache.Kind {
	case Partial:
		t.partial = newPartial(spec)
	case Full:
		s, ok := ask.(connectors.LookupScanner)
		if !ok {
			return nil, fmt.Errorf("table %s: its connector does not support %s = FULL", spec.Name, optCache.Key)
		}
		t.full = newFull(s, spec)
	}
	return t, nil
}

// Close closes the connector's lookup. No call may be under way.
func (t *Table) Close() error { return t.ask.Close() }

// Lookup waits for the answers to distinct keys without NULLs, in the order of the live rows of keys.
func (t *Table) Lookup(ctx context.Context, keys *types.Batch) ([]Answer, error) {
	answers := make([]Answer, keys.Rows())
	got := func(k int, a Answer) { answers[k] = a }
	rest, err := t.known(ctx, keys, got)
	if err == nil {
		err = t.fetch(ctx, rest, nil, got)
	}
	return answers, err
}

// question are some keys of a batch: of[i] is the number that the i-th live row has among all keys asked for.
type question struct {
	keys *types.Batch
	of   []int
	tags []string // their names in the cache
}

// known answers what caches hold and gives the rest.
func (t *Table) known(ctx context.Context, keys *types.Batch, got func(int, Answer)) (question, error) {
	switch {
	case t.full != nil:
		return question{}, t.full.lookup(ctx, keys, got)
	case t.partial != nil:
		return t.partial.lookup(keys, got)
	}
	q := question{keys: keys, of: make([]int, keys.Rows())}
	for i := range q.of {
		q.of[i] = i
	}
	return q, nil
}

// fetch asks the connector, and again for keys that find nothing. hurry ends the waiting: they are asked for once more.
func (t *Table) fetch(ctx context.Context, q question, hurry <-chan struct{}, got func(int, Answer)) error {
	last := 0
	if t.spec.Retry != nil {
		last = t.spec.Retry.Attempts
	}
	for attempt := 0; len(q.of) > 0; attempt++ {
		rows, of, err := t.ask.Lookup(ctx, q.keys)
		if err != nil {
			return fmt.Errorf("looking up %s: %w", t.spec.Name, err)
		}
		missing, err := t.deal(q, rows, of, attempt < last, got)
		if err != nil {
			return err
		}
		q = missing
		if len(q.of) == 0 {
			break
		}
		timer := time.NewTimer(t.spec.Retry.Delay)
		select {
		case <-timer.C:
		case <-hurry:
			last, hurry = attempt+1, nil
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("looking up %s: %w", t.spec.Name, context.Cause(ctx))
		}
		timer.Stop()
	}
	return nil
}

// deal gives every key its rows, and gives back the keys without any if they are to be asked for again.
func (t *Table) deal(q question, rows *types.Batch, of []int32, again bool, got func(int, Answer)) (missing question, err error) {
	missing.keys = &types.Batch{Len: q.keys.Len, Cols: q.keys.Cols, Sel: []int32{}}
	at := 0
	for i, k := range q.of {
		from := at
		for at < len(of) && int(of[at]) == i {
			at++
		}
		if from == at && again {
			missing.keys.Sel = append(missing.keys.Sel, q.keys.Row(i))
			missing.of = append(missing.of, k)
			if q.tags != nil {
				missing.tags = append(missing.tags, q.tags[i])
			}
			continue
		}
		a := Answer{Rows: rows, From: int32(from), To: int32(at)}
		if t.partial != nil {
			t.partial.store(q.tags[i], a)
		}
		got(k, a)
	}
	if at < len(of) {
		return missing, fmt.Errorf("looking up %s: the connector gave rows out of the order of keys", t.spec.Name)
	}
	return missing, nil
}

// newRows makes a batch with room for n rows.
func newRows(fields []types.Field, n int) *types.Batch {
	b := &types.Batch{Cols: make([]*types.Column, len(fields))}
	for i, f := range fields {
		b.Cols[i] = types.NewColumn(f.Type, n)
	}
	return b
}

func typesOf(fields []types.Field) []types.Type {
	ts := make([]types.Type, len(fields))
	for i, f := range fields {
		ts[i] = f.Type
	}
	return ts
}
