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
	if s.Kind != sql.Union {
		return nil, unsupported(s, word+" is")
	}
	var parts []Node
	for _, b := range p.flatten(s) {
		body, err := p.body(b, env)
		if err != nil {
			return nil, err
		}
		n, err := body.node()
		if err != nil {
			return nil, err
		}
		parts = append(parts, n)
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
	if l, ok := s.L.(*sql.SetOp); ok && l.Kind == s.Kind && l.All == s.All {
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
	t, ok := expr.CommonType(ts...)
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
