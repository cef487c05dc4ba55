package plan

import (
	"fmt"
	"slices"
	"strings"

	"runnel/expr"
	"runnel/types"
)

// logicalText draws a query as it was bound, with the names of Calcite's operators; columns are numbered as $0, $1, ..
func logicalText(n Node) string {
	var b strings.Builder
	drawLogical(&b, n, "", "")
	return b.String()
}

// drawLogical draws a node and its inputs. A Calc is a projection over a filter, or nothing, and some
// nodes have no line.
func drawLogical(b *strings.Builder, n Node, first, rest string) {
	base := rest
	for _, line := range logical(n) {
		b.WriteString(first + line + "\n")
		base, first, rest = rest, rest+"+- ", rest+"   "
	}
	in := n.Base().Inputs
	for i, c := range in {
		if i == len(in)-1 {
			drawLogical(b, c, first, rest)
		} else {
			drawLogical(b, c, base+":- ", base+":  ")
		}
	}
}

// logical writes the lines of a bound node.
func logical(n Node) []string {
	d := newDescriber(n, numbered)
	switch n := n.(type) {
	case *ChangelogNormalize: // of the source, as the physical plan shows
		return nil
	case *Calc:
		return logicalCalc(n)
	case *Scan:
		d.kind = "LogicalTableScan"
		d.parts = slices.DeleteFunc(d.parts, func(s string) bool { return strings.HasPrefix(s, "fields=") })
	case *GroupAggregate:
		d.kind, d.parts = "LogicalAggregate", nil
		set := make([]string, len(n.Keys))
		for i, k := range n.Keys {
			set[i] = itoa(k)
		}
		d.add("group", "{"+strings.Join(set, ", ")+"}")
		in := slices.Clone(fieldsIn(n.Inputs[0]))
		for i := range in {
			in[i].Name = "$" + itoa(i)
		}
		for _, a := range n.Aggs {
			d.add(a.Name, strings.Replace(callText(a, in, false), "(*)", "()", 1))
		}
	case *Join:
		d.kind, d.parts = "LogicalJoin", nil
		d.add("condition", d.joinCondition(n, n.LeftKeys, n.RightKeys, n.NullSafe, n.Cond))
		d.add("joinType", strings.ToLower(joinWords[n.Join]))
	case *Sort:
		return logicalSort(n.Keys, 0, -1)
	case *TemporalSort:
		return logicalSort(n.Keys, 0, -1)
	case *SortLimit:
		return logicalSort(n.Keys, n.Offset, n.Limit)
	case *Limit:
		return logicalSort(nil, n.Offset, n.Limit)
	case *Union:
		d.kind, d.parts = "LogicalUnion", []string{"all=[true]"}
	default:
		d.kind = "Logical" + d.kind
	}
	return []string{d.text()}
}

// logicalCalc writes a Calc; one that gives its input as it is has no line.
func logicalCalc(n *Calc) []string {
	in := fieldsIn(n.Inputs[0])
	same := len(n.Exprs) == len(in)
	for i, e := range n.Exprs {
		c, ok := e.(*expr.Col)
		same = same && ok && c.Index == i && n.Fields[i].Name == in[i].Name
	}
	var lines []string
	if !same {
		d := &describer{kind: "LogicalProject"}
		for i, e := range n.Exprs {
			d.add(n.Fields[i].Name, numbered(e))
		}
		lines = append(lines, d.text())
	}
	if n.Cond != nil {
		lines = append(lines, "LogicalFilter(condition=["+numbered(n.Cond)+"])")
	}
	return lines
}

func logicalSort(keys []SortKey, offset, limit int64) []string {
	d := &describer{kind: "LogicalSort"}
	for i, k := range keys {
		d.add("sort"+itoa(i), "$"+itoa(k.Column))
	}
	for i, k := range keys {
		dir := "ASC"
		if k.Desc {
			dir = "DESC"
		}
		d.add("dir"+itoa(i), dir+map[bool]string{true: "-nulls-last", false: "-nulls-first"}[k.NullsLast])
	}
	if offset > 0 {
		d.add("offset", fmt.Sprint(offset))
	}
	if limit >= 0 {
		d.add("fetch", fmt.Sprint(limit))
	}
	return []string{d.text()}
}

// numbered writes an expression with $index for columns, and whole numbers that were widened as they are.
func numbered(e expr.Expr) string {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.Col:
			return &expr.Col{Index: e.Index, T: e.T}
		case *expr.Cast:
			if c, ok := e.Arg.(*expr.Const); ok && wholeNumber(c.T) && wholeNumber(e.T) && !c.Value.Null {
				return expr.NewConst(c.Value, e.T)
			}
		}
		return e
	}).String()
}

func wholeNumber(t types.Type) bool { return t.Kind == types.Int || t.Kind == types.BigInt }
