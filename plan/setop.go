package plan

import (
	"slices"

	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// setOp binds UNION, INTERSECT and EXCEPT.
func (p *planning) setOp(s *sql.SetOp, env *around) (Node, error) {
	word := map[sql.SetOpKind]string{sql.Union: "UNION", sql.Intersect: "INTERSECT", sql.Except: "EXCEPT"}[s.Kind]
	if s.All {
		word += " ALL"
	}
	var parts []Node
	for _, b := range p.flatten(s) {
		body, err := p.body(b, env, false)
		if err != nil {
			return nil, err
		}
		n, err := body.node()
		if err != nil {
			return nil, err
		}
		parts = append(parts, n)
	}
	if s.Kind != sql.Union {
		return p.matched(parts, s, word)
	}
	u, err := p.unionAll(parts, s, word)
	if err != nil || s.All {
		return u, err
	}
	return distinct(u), nil
}

// flatten lists the parts of a chain of the same UNION.
func (p *planning) flatten(s *sql.SetOp) []sql.QueryBody {
	var parts []sql.QueryBody
	if l, ok := s.L.(*sql.SetOp); ok && s.Kind == sql.Union && l.Kind == s.Kind && l.All == s.All {
		parts = p.flatten(l)
	} else {
		parts = []sql.QueryBody{s.L}
	}
	return append(parts, s.R)
}

// unionAll puts the rows of several nodes together, cast to common types.
func (p *planning) unionAll(parts []Node, at *sql.SetOp, word string) (Node, error) {
	first := fieldsIn(parts[0])
	u := &Union{}
	u.Kind, u.Pos = "Union", pos(at)
	u.Fields = slices.Clone(first)
	for _, n := range parts[1:] {
		if len(fieldsIn(n)) != len(first) {
			return nil, refuse(nameError, at, "Column count mismatch in %s", word)
		}
	}
	for c := range first {
		t, err := unionType(parts, c, at, word)
		if err != nil {
			return nil, err
		}
		u.Fields[c].Type = t
	}
	for _, n := range parts {
		u.Inputs = append(u.Inputs, castColumns(n, u.Fields))
	}
	return u, nil
}

// unionType gives the common type of a column; it stays a time attribute when it is one in all parts.
func unionType(parts []Node, c int, at *sql.SetOp, word string) (types.Type, error) {
	ts := make([]types.Type, len(parts))
	null := false
	attr := fieldsIn(parts[0])[c].Type.Attr
	for i, n := range parts {
		ts[i] = fieldsIn(n)[c].Type
		null = null || !ts[i].NotNull
		if ts[i].Attr != attr {
			if ts[i].IsTimeAttr() && attr != types.NoAttr {
				return types.Type{}, refuse(validation, at, "Union fields with time attributes requires same types, but the types are %s and %s.",
					attrName(ts[0]), attrName(ts[i]))
			}
			attr = types.NoAttr
		}
		ts[i] = ts[i].Plain()
	}
	t, ok := expr.LeastRestrictive(ts...)
	if !ok {
		return t, refuse(nameError, at, "Type mismatch in column %d of %s", c+1, word).
			Cure("The types are %s and %s.", ts[0], ts[len(ts)-1])
	}
	t = t.Nullable(null)
	t.Attr = attr
	return t, nil
}

func attrName(t types.Type) string {
	switch t.Attr {
	case types.Rowtime:
		return t.Name() + " *ROWTIME*"
	case types.Proctime:
		return t.Name() + " *PROCTIME*"
	}
	return t.Name()
}

// castColumns casts the columns of a node to the types of fields, nullability aside; n itself where none differs.
func castColumns(n Node, fields []types.Field) Node {
	in := fieldsIn(n)
	exprs := columnExprs(in)
	same := true
	for i := range exprs {
		if !in[i].Type.SameIgnoringNull(fields[i].Type) {
			exprs[i] = castTo(exprs[i], fields[i].Type.Plain())
			same = false
		}
	}
	if same {
		return n
	}
	return newCalc(n, exprs, fieldNames(in), nil)
}

// matched binds INTERSECT and EXCEPT. The plain forms are a semi or anti join and a DISTINCT; the ALL forms count the rows
// of both sides and repeat each as often as it is left.
func (p *planning) matched(parts []Node, s *sql.SetOp, word string) (Node, error) {
	u, err := p.unionAll(parts, s, word) // for its checks and casts
	if err != nil {
		return nil, err
	}
	left, right := u.Base().Inputs[0], u.Base().Inputs[1]
	if s.All {
		return p.repeated(left, right, s)
	}
	left = castNullable(left, u.Base().Fields)
	nl := len(fieldsIn(left))
	var terms []expr.Expr
	for i, f := range fieldsIn(left) {
		eq, err := newCall(s, "IS NOT DISTINCT FROM", &expr.Col{Index: i, Name: f.Name, T: f.Type.Plain()}, shiftedCol(right, i, nl))
		if err != nil {
			return nil, err
		}
		terms = append(terms, eq)
	}
	kind := Semi
	if s.Kind == sql.Except {
		kind = Anti
	}
	return distinct(newJoin(kind, left, right, expr.NewAnd(terms...), s)), nil
}

// castNullable casts the columns of a node that are NOT NULL where those of fields are not.
func castNullable(n Node, fields []types.Field) Node {
	exprs, same := columnExprs(fieldsIn(n)), true
	for i, f := range fields {
		if t := exprs[i].Type(); t.NotNull && !f.Type.NotNull {
			exprs[i], same = &expr.Cast{Arg: exprs[i], T: t.Plain().Optional()}, false
		}
	}
	if same {
		return n
	}
	return newCalc(n, exprs, fieldNames(fieldsIn(n)), nil)
}

// repeated counts equal rows of both sides and gives each as often as INTERSECT ALL or EXCEPT ALL wants it.
func (p *planning) repeated(left, right Node, s *sql.SetOp) (Node, error) {
	big := types.Of(types.BigInt).Required()
	k := len(fieldsIn(left))
	marked := func(n Node, l, r int64) Node {
		f := plainFields(fieldsIn(n))
		exprs := append(columnExprs(f), expr.NewConst(types.IntDatum(l), big), expr.NewConst(types.IntDatum(r), big))
		return newCalc(n, exprs, append(fieldNames(fieldsIn(left)), "vcol_left_marker", "vcol_right_marker"), nil)
	}
	u := &Union{}
	u.Kind, u.Pos = "Union", pos(s)
	u.Inputs = []Node{marked(left, 1, 0), marked(right, 0, 1)}
	u.Fields = slices.Clone(fieldsIn(u.Inputs[0]))
	for i := range u.Fields {
		u.Fields[i].Type = u.Fields[i].Type.Nullable(!u.Fields[i].Type.NotNull || !fieldsIn(u.Inputs[1])[i].Type.NotNull)
	}
	g := &GroupAggregate{}
	g.Kind, g.Inputs, g.Pos = "GroupAggregate", []Node{u}, pos(s)
	for i := range k {
		g.Keys = append(g.Keys, i)
		g.Fields = append(g.Fields, u.Fields[i])
	}
	for i, name := range []string{"vcol_left_cnt", "vcol_right_cnt"} {
		c := expr.AggCall{Func: expr.LookupAggregate("SUM"), Args: []int{k + i}, Filter: -1, Name: name, T: big}
		c.Text = callText(c, u.Fields, false)
		g.Aggs, g.Fields = append(g.Aggs, c), append(g.Fields, types.Field{Name: name, Type: big})
	}
	l, r := expr.NewCol(g.Fields, k), expr.NewCol(g.Fields, k+1)
	times, err := p.times(s, l, r)
	if err != nil {
		return nil, err
	}
	above, err := newCall(s, ">", times, expr.NewConst(types.IntDatum(0), big))
	if err != nil {
		return nil, err
	}
	keys := columnExprs(g.Fields)[:k]
	counted := newCalc(g, append([]expr.Expr{times}, keys...), append([]string{"times"}, fieldNames(g.Fields)[:k]...), above)
	c := &Correlate{Join: Inner, Func: ReplicateRows, Args: columnExprs(counted.Fields)}
	c.Kind, c.Inputs, c.Pos = "Correlate", []Node{counted}, pos(s)
	c.Fields = append(slices.Clone(counted.Fields), unique(counted.Fields[1:])...)
	out := columnExprs(c.Fields)[k+1:]
	return newCalc(c, out, fieldNames(fieldsIn(left)), nil), nil
}

// times is how often a row is left: the lesser count of INTERSECT ALL, the difference of EXCEPT ALL.
func (p *planning) times(s *sql.SetOp, l, r expr.Expr) (expr.Expr, error) {
	if s.Kind == sql.Except {
		return newCall(s, "-", l, r)
	}
	more, err := newCall(s, ">", l, r)
	if err != nil {
		return nil, err
	}
	return expr.NewCase([]expr.When{{Cond: more, Then: r}}, l, pos(s))
}
