package expr

import (
	"slices"

	"runnel/types"
)

// Shared compiles the expressions of one operator so that what several of them hold is computed once a batch.
type Shared struct {
	c     compiler
	memos map[string]*memo // by digest: the parts that stand in more than one place
	batch uint64
}

// NewShared prepares the compilation of expressions, of which nil ones are left out.
func NewShared(input []types.Field, env *Env, all ...Expr) *Shared {
	s := &Shared{c: *newCompiler(input, env), memos: map[string]*memo{}}
	s.c.shared = s
	seen := map[string]bool{}
	var visit func(e Expr)
	visit = func(e Expr) {
		if worthSharing(e) {
			d := Digest(e)
			if seen[d] {
				s.memos[d] = &memo{shared: s}
				return // its parts are shared with it
			}
			seen[d] = true
		}
		for _, c := range Children(e) {
			visit(c)
		}
	}
	for _, e := range all {
		if e != nil {
			visit(e)
		}
	}
	return s
}

// worthSharing leaves out what costs as little as asking whether it has been computed.
func worthSharing(e Expr) bool {
	switch e := e.(type) {
	case *Call:
		if p := e.T.Phys(); e.Func.kernel == nil || e.Func.Operator && (p == types.PhysInt || p == types.PhysFloat) {
			return false
		}
	case *Cast:
		if e.Implicit {
			return false
		}
	default:
		return false
	}
	return Deterministic(e) && len(Refs(e)) > 0
}

// Begin says that the expressions are to be evaluated over another batch.
func (s *Shared) Begin() { s.batch++ }

// Compile is as the function of that name; e is one of the expressions that NewShared was given.
func (s *Shared) Compile(e Expr) (Eval, error) { return s.c.compile(e) }

// CompileFilter is as the function of that name; e is one of the expressions that NewShared was given.
func (s *Shared) CompileFilter(e Expr) (Filter, error) { return s.c.filter(e) }

// compile gives the kernel of a part, for each of its places the same one; nil for a part that is not shared.
func (s *Shared) compile(e Expr) (Eval, error) {
	if len(s.memos) == 0 || !worthSharing(e) {
		return nil, nil
	}
	m := s.memos[Digest(e)]
	if m == nil {
		return nil, nil
	}
	if m.eval == nil {
		var err error
		if m.eval, err = s.c.kernel(e); err != nil {
			return nil, err
		}
	}
	return m.get, nil
}

// memo keeps the column of an expression while a batch lasts. Places ask for it over different rows: those under a CASE only
// over the rows of their branch.
type memo struct {
	shared *Shared
	eval   Eval
	batch  uint64 // that col is of
	col    *types.Column
	rows   []int32 // that col holds
	have   types.Bitmap
	wanted []int32
}

// get computes the rows that are not there yet, and with them those that are, since a kernel fills its column anew.
func (m *memo) get(b *types.Batch, sel []int32) (*types.Column, error) {
	if m.batch != m.shared.batch || m.col == nil {
		m.rows = append(m.rows[:0], sel...)
	} else {
		if !slices.ContainsFunc(sel, func(i int32) bool { return !m.have.Has(i) }) {
			return m.col, nil
		}
		m.wanted = merge(m.wanted[:0], m.rows, sel)
		m.rows, m.wanted = m.wanted, m.rows
	}
	col, err := m.eval(b, m.rows)
	if err != nil {
		m.col = nil
		return col, err
	}
	m.batch, m.col = m.shared.batch, col
	for words := (b.Len + 63) >> 6; len(m.have) < words; {
		m.have = append(m.have, 0)
	}
	clear(m.have)
	for _, i := range m.rows {
		m.have.Set(i)
	}
	return col, nil
}

// merge appends the rows of a and of b, each ascending, to dst, each once.
func merge(dst, a, b []int32) []int32 {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			dst, a = append(dst, a[0]), a[1:]
		case a[0] > b[0]:
			dst, b = append(dst, b[0]), b[1:]
		default:
			dst, a, b = append(dst, a[0]), a[1:], b[1:]
		}
	}
	return append(append(dst, a...), b...)
}

// Assume gives e as it is for rows for which a condition is TRUE: where that says that a column is equal to a whole number,
// the number stands in the column's place, and what is constant by that is folded.
func Assume(e, cond Expr, env *Env) Expr {
	known := map[int]*Const{}
	for _, c := range Conjuncts(cond) {
		call, ok := c.(*Call)
		if !ok || call.Func.Name != "=" || len(call.Args) != 2 {
			continue
		}
		col, isCol := call.Args[0].(*Col)
		val, isConst := call.Args[1].(*Const)
		if isCol && isConst && !val.Value.Null && col.T.Kind == val.T.Kind && col.T.IsInteger() {
			known[col.Index] = &Const{Value: val.Value, T: col.T}
		}
	}
	if _, ok := e.(*Col); ok || len(known) == 0 {
		return e
	}
	folded, err := Fold(Rewrite(e, func(e Expr) Expr {
		if c, ok := e.(*Col); ok && known[c.Index] != nil {
			return known[c.Index]
		}
		return e
	}), env)
	if err != nil {
		return e // the row that fails will tell
	}
	return folded
}
