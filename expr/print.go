package expr

import (
	"strconv"
	"strings"

	"runnel/types"
)

// String gives the column's name, or $index where it has none.
func (c *Col) String() string {
	if c.Name == "" {
		return "$" + strconv.Itoa(c.Index)
	}
	return c.Name
}

// String prints a literal as plans do: 5, 5:BIGINT, null:INT, 'text', FLAG(DAY).
func (c *Const) String() string {
	t := c.T
	if isSymbol(t) {
		return "FLAG(" + c.Value.S + ")"
	}
	if s, ok := c.Value.A.(*jsonClauses); ok {
		return s.String()
	}
	if c.Value.Null {
		return "null:" + t.Name()
	}
	text := constText(c.Value, t)
	switch t.Kind {
	case types.Boolean:
		return strings.ToLower(text)
	case types.Int, types.Decimal, types.Double:
		return text
	case types.Char:
		return quote(text)
	case types.Date, types.Time, types.Timestamp:
		return text
	case types.Varchar:
		return quote(text) + ":" + t.Name()
	case types.IntervalMonths, types.IntervalMillis:
		return strconv.FormatInt(c.Value.I, 10) + ":" + t.Name()
	}
	return text + ":" + t.Name()
}

// String prints FUNCTION(a, b), operators too: +(a, 1).
func (c *Call) String() string { return text(c) }

// text prints an expression into one buffer: deep ones would be copied at every level.
func text(e Expr) string {
	var b strings.Builder
	printTo(&b, e)
	return b.String()
}

func printTo(b *strings.Builder, e Expr) {
	switch e := e.(type) {
	case *Call:
		b.WriteString(e.Func.Name)
		b.WriteByte('(')
		for i, a := range e.Args {
			if i > 0 {
				b.WriteString(", ")
			}
			if e.Bare(i) {
				bare, _, _ := strings.Cut(a.String(), ":")
				b.WriteString(bare)
			} else {
				printTo(b, a)
			}
		}
		b.WriteByte(')')
	case *Cast:
		if e.Try {
			b.WriteString("TRY_")
		}
		b.WriteString("CAST(")
		printTo(b, e.Arg)
		b.WriteString(" AS " + e.T.Name() + ")")
	case *Case:
		b.WriteString("CASE(")
		for _, w := range e.Whens {
			printTo(b, w.Cond)
			b.WriteString(", ")
			printTo(b, w.Then)
			b.WriteString(", ")
		}
		printTo(b, e.Else)
		b.WriteByte(')')
	case *Field:
		printTo(b, e.Arg)
		b.WriteString("." + e.Name)
	default:
		b.WriteString(e.String())
	}
}

// Bare reports whether the type of a number among the arguments goes without saying, because the other side of a
// comparison or of arithmetic has it: >(a, 3) instead of >(a, 3:BIGINT).
func (c *Call) Bare(i int) bool {
	if len(c.Args) != 2 || !bareOps[c.Func.Name] {
		return false
	}
	k, ok := c.Args[i].(*Const)
	_, both := c.Args[1-i].(*Const)
	return ok && !both && !k.Value.Null && k.T.IsNumeric() && k.T.Optional().Equal(c.Args[1-i].Type().Plain().Optional())
}

var bareOps = map[string]bool{"=": true, "<>": true, "<": true, "<=": true, ">": true, ">=": true, "+": true, "-": true, "*": true, "/": true}

// String prints CAST(a AS STRING).
func (c *Cast) String() string { return text(c) }

// String prints CASE(cond, value, .., else).
func (c *Case) String() string { return text(c) }

// String prints a.name.
func (f *Field) String() string { return text(f) }

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// constText is the text of a literal that is not NULL.
func constText(v types.Datum, t types.Type) string { return string(types.AppendText(nil, &t, v, nil)) }

// utf16Len is the length of s in UTF-16 units, in which Flink counts literals.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}
