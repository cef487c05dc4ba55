package op

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"runnel/connectors/lookup"
	"runnel/expr"
	"runnel/types"
)

// gated is a table k int, v string, whose answers a test lets go key by key; a key has the rows k-1, k-2, .., k of them.
type gated struct {
	mu   sync.Mutex
	keys map[int64]chan struct{}
	all  bool
}

func newGated(all bool) *gated { return &gated{keys: map[int64]chan struct{}{}, all: all} }

func (g *gated) gate(k int64) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.keys[k] == nil {
		g.keys[k] = make(chan struct{})
		if g.all {
			close(g.keys[k])
		}
	}
	return g.keys[k]
}

func (g *gated) Lookup(ctx context.Context, keys *types.Batch) (*types.Batch, []int32, error) {
	out := types.NewBatch(fieldsOf("v string"))
	var of []int32
	for n := range keys.Rows() {
		k := keys.Cols[0].Int[keys.Row(n)]
		select {
		case <-g.gate(k):
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
		if k == 99 {
			return nil, nil, errors.New("no such luck")
		}
		for i := range k {
			out.Cols[0].AppendStr(fmt.Sprintf("%d-%d", k, i+1))
			out.Push(types.Insert)
			of = append(of, int32(n))
		}
	}
	return out, of, nil
}

func (g *gated) Close() error { return nil }

// lookupSpec is a join of id int, k int with the table.
func lookupSpec(g *gated, cond expr.Expr) LookupJoining {
	key := types.Field{Name: "k", Type: types.Of(types.Int)}
	return LookupJoining{
		In: fieldsOf("id int, k int"), Out: fieldsOf("id int, k int, v string"), Outer: true, Keys: []LookupKey{{Field: key, Left: 1}}, Cond: cond,
		Table: func(ctx *Context) (*lookup.Table, error) {
			return lookup.New(g, lookup.Spec{Name: "t", Keys: []types.Field{key}, Columns: fieldsOf("v string"), Now: ctx.Now})
		},
	}
}

func TestLookupJoin(t *testing.T) {
	spec := lookupSpec(newGated(true), nil)
	r := rig{make: func() Operator { return NewLookupJoin(spec) }, in: [][]types.Field{spec.In}, out: spec.Out}
	trace := `
		+I 1 2
			+I 1 2 2-1
			+I 1 2 2-2
		watermark 5
			watermark 5
		-U 1 1
			-U 1 1 1-1
		+U 2 0
			+U 2 0 NULL
		+I 3 NULL
			+I 3 NULL NULL
		+I 4 1
			+I 4 1 1-1
		end
			watermark max
	`
	r.run(t, trace)
	spec.Async = &AsyncLookup{Capacity: 1, Timeout: time.Minute}
	r.of = 1
	t.Run("async", func(t *testing.T) { r.playSettled(t, trace) })
	spec.Async = nil
	spec.Outer = false
	r.run(t, `
		+I 1 1
			+I 1 1 1-1
		+I 3 NULL
		+I 4 0
	`)
	r.run(t, `
		+I 5 99
			error: looking up t: no such luck
	`)
}

// playSettled plays a trace through an AsyncLookupJoin that is waited for behind every line.
func (r rig) playSettled(t *testing.T, trace string) {
	make := r.make
	r.make = func() Operator { return &settledLookup{make().(*AsyncLookupJoin)} }
	r.play(t, parseTrace(t, trace), func(int) int { return 0 }, 1)
}

type settledLookup struct{ *AsyncLookupJoin }

func (s *settledLookup) Process(input int, b *types.Batch) error {
	if err := s.AsyncLookupJoin.Process(input, b); err != nil {
		return err
	}
	return s.until(func() bool { return len(s.queue) == 0 })
}

func TestLookupJoinCondition(t *testing.T) {
	out := fieldsOf("id int, k int, v string")
	spec := lookupSpec(newGated(true), expr.NewAnd(call(t, out, ">", "id", 1), call(t, out, "<>", "v", expr.NewConst(types.StrDatum("2-1"), types.String()))))
	r := rig{make: func() Operator { return NewLookupJoin(spec) }, in: [][]types.Field{spec.In}, out: spec.Out}
	r.run(t, `
		+I 1 2
			+I 1 2 NULL
		+I 2 2
			+I 2 2 2-2
		+I 3 1
			+I 3 1 1-1
	`)
}

func TestKeyedLookupJoin(t *testing.T) {
	spec := lookupSpec(newGated(true), nil)
	spec.Upsert = &UpsertKey{Columns: []int{0}}
	r := rig{make: func() Operator { return NewLookupJoin(spec) }, in: [][]types.Field{spec.In}, out: spec.Out, keys: [][]int{{0}}}
	// What a retraction says of k does not count: it takes back what was found.
	r.run(t, `
		+I 1 2
			+I 1 2 2-1
			+I 1 2 2-2
		-U 1 1
			-U 1 1 2-1
			-U 1 1 2-2
		+U 1 0
			+U 1 0 NULL
		-D 1 2
			-D 1 2 NULL
		-D 7 2
			-D 7 2 NULL
	`)
}

// asyncRun is an AsyncLookupJoin whose wake-ups a test waits for.
type asyncRun struct {
	t    *testing.T
	op   *AsyncLookupJoin
	p    *player
	wake chan struct{}
}

func newAsyncRun(t *testing.T, spec LookupJoining, restore ...[]byte) *asyncRun {
	a := &asyncRun{t: t, op: NewLookupJoin(spec).(*AsyncLookupJoin), wake: make(chan struct{}, 100)}
	a.p = newPlayer(t, rig{make: func() Operator { return NewDropUpdateBefore() }, out: spec.Out}, 1)
	ctx := *a.p.ops[0].ctx
	ctx.Wake = func() { a.wake <- struct{}{} }
	if restore != nil {
		if err := a.op.Restore(restore); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.op.Open(&ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.op.Close() })
	return a
}

func (a *asyncRun) rows(rows ...string) {
	b := types.NewBatch(a.op.spec.In)
	for _, r := range rows {
		w := words(r)
		appendWords(a.t, b, rowKinds[w[0]], w[1:])
	}
	if err := a.op.Process(0, b); err != nil {
		a.t.Fatal(err)
	}
	Spoil(b)
}

// answer lets a key go and waits until the operator has taken it up.
func (a *asyncRun) answer(g *gated, k int64) {
	close(g.gate(k))
	<-a.wake
	if err := a.op.OnWake(); err != nil {
		a.t.Fatal(err)
	}
}

func (a *asyncRun) want(lines ...string) {
	a.t.Helper()
	if !slices.Equal(a.p.out, lines) {
		a.t.Errorf("out: %q, want %q", a.p.out, lines)
	}
	a.p.out = nil
}

func TestAsyncLookupJoin(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		t.Run(fmt.Sprint("unordered ", unordered), func(t *testing.T) {
			g := newGated(false)
			spec := lookupSpec(g, nil)
			spec.Async = &AsyncLookup{Capacity: 10, Timeout: time.Minute, Unordered: unordered}
			a := newAsyncRun(t, spec)
			a.rows("+I 1 1")
			a.rows("+I 2 2")
			if err := a.op.Watermark(0, 7); err != nil {
				t.Fatal(err)
			}
			a.rows("+I 3 3")
			a.answer(g, 3) // behind the watermark: it waits for it in any case
			a.want()
			a.answer(g, 2)
			if unordered {
				a.want("+I 2 2 2-1", "+I 2 2 2-2")
			} else {
				a.want()
			}
			saved, err := a.op.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			rest := []string{"+I 1 1 1-1", "+I 2 2 2-1", "+I 2 2 2-2", "watermark 7", "+I 3 3 3-1", "+I 3 3 3-2", "+I 3 3 3-3"}
			if unordered {
				rest = slices.Delete(rest, 1, 3)
			}
			a.answer(g, 1)
			a.want(rest...)

			again := newAsyncRun(t, spec, saved)
			if err := again.op.EndInput(0); err != nil {
				t.Fatal(err)
			}
			got := again.p.out
			slices.Sort(got)
			if want := slices.DeleteFunc(rest, func(s string) bool { return strings.HasPrefix(s, "w") }); !slices.Equal(got, want) {
				t.Errorf("restored: %q, want %q", got, want)
			}
		})
	}
}

func TestAsyncLookupJoinCapacity(t *testing.T) {
	g := newGated(false)
	spec := lookupSpec(g, nil)
	spec.Async = &AsyncLookup{Capacity: 2, Timeout: time.Minute}
	a := newAsyncRun(t, spec)
	for k := range int64(4) {
		close(g.gate(k))
	}
	a.rows("+I 1 0", "+I 2 1", "+I 3 NULL", "+I 4 1", "+I 5 0")
	if n := a.op.rows; n > 2 {
		t.Errorf("%d rows wait, 2 may", n)
	}
	if err := a.op.EndInput(0); err != nil {
		t.Fatal(err)
	}
	a.want("+I 1 0 NULL", "+I 2 1 1-1", "+I 3 NULL NULL", "+I 4 1 1-1", "+I 5 0 NULL")
}

func TestAsyncLookupJoinTimeout(t *testing.T) {
	spec := lookupSpec(newGated(false), nil)
	spec.Async = &AsyncLookup{Capacity: 2, Timeout: time.Millisecond}
	a := newAsyncRun(t, spec)
	a.rows("+I 1 1")
	if err := a.op.EndInput(0); err == nil || !strings.Contains(err.Error(), "no answer within 1ms") {
		t.Errorf("got %v", err)
	}
}

func TestHeldRowsOfAnotherForm(t *testing.T) {
	g := newGated(true)
	spec := lookupSpec(g, nil)
	h, err := newHeldRows(&Context{Of: 1}, fieldsOf("id int, k bigint"), nil)
	if err != nil {
		t.Fatal(err)
	}
	appendWords(t, h.Batch, types.Insert, []string{"1", "2"})
	b, err := h.encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newHeldRows(&Context{Of: 1}, spec.In, [][]byte{b}); err == nil || !strings.Contains(err.Error(), "k BIGINT") {
		t.Errorf("got %v", err)
	}
	for n := 1; n < len(b); n++ {
		if _, err := newHeldRows(&Context{Of: 1}, h.fields, [][]byte{b[:n]}); err == nil && n > len(b)-5 { // the row takes 5
			t.Errorf("%d of %d bytes: no error", n, len(b))
		}
	}
}
