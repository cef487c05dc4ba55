package format

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"runnel/types"
)

// The recorded tables hold column lists and expressions of SQL. This is the little of it that they use.

// cursor walks over a text.
type cursor struct {
	s  string
	at int
}

func (c *cursor) space() {
	for c.at < len(c.s) && c.s[c.at] == ' ' {
		c.at++
	}
}

// eat takes a token if it comes next, in any letter case.
func (c *cursor) eat(tok string) bool {
	c.space()
	if len(c.s)-c.at >= len(tok) && strings.EqualFold(c.s[c.at:c.at+len(tok)], tok) {
		end := c.at + len(tok)
		if letter(tok[len(tok)-1]) && end < len(c.s) && letter(c.s[end]) {
			return false
		}
		c.at = end
		return true
	}
	return false
}

func letter(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_'
}

func (c *cursor) word() string {
	c.space()
	from := c.at
	for c.at < len(c.s) && (letter(c.s[c.at]) || c.s[c.at] >= 0x80) {
		c.at++
	}
	return c.s[from:c.at]
}

// name reads an identifier, quoted or not.
func (c *cursor) name() string {
	if !c.eat("`") {
		return c.word()
	}
	end := strings.IndexByte(c.s[c.at:], '`')
	n := c.s[c.at : c.at+end]
	c.at += end + 1
	return n
}

func parseSchema(s string) ([]types.Field, error) {
	c := &cursor{s: s}
	fields, err := c.fields()
	if err == nil && c.at < len(s) {
		err = fmt.Errorf("schema %q: left %q", s, s[c.at:])
	}
	return fields, err
}

func (c *cursor) fields() ([]types.Field, error) {
	var fields []types.Field
	for {
		name := c.name()
		if c.eat("AS") { // a computed column is no format's affair
			c.at += strings.IndexByte(c.s[c.at:]+",", ',')
			if c.at >= len(c.s) || !c.eat(",") {
				return fields, nil
			}
			continue
		}
		t, err := c.parseType()
		if err != nil {
			return nil, err
		}
		fields = append(fields, types.Field{Name: name, Type: t})
		if !c.eat(",") {
			c.space()
			return fields, nil
		}
	}
}

var kinds = map[string]types.Kind{
	"BOOLEAN": types.Boolean, "TINYINT": types.TinyInt, "SMALLINT": types.SmallInt, "INT": types.Int, "BIGINT": types.BigInt,
	"FLOAT": types.Float, "DOUBLE": types.Double, "DECIMAL": types.Decimal, "CHAR": types.Char, "VARCHAR": types.Varchar,
	"STRING": types.Varchar, "BINARY": types.Binary, "VARBINARY": types.Varbinary, "BYTES": types.Varbinary, "DATE": types.Date,
	"TIME": types.Time, "TIMESTAMP": types.Timestamp, "TIMESTAMP_LTZ": types.TimestampLTZ,
}

func (c *cursor) parseType() (types.Type, error) {
	w := c.word()
	var t types.Type
	switch w {
	case "ARRAY", "MULTISET":
		c.eat("<")
		e, err := c.parseType()
		if err != nil || !c.eat(">") {
			return t, fmt.Errorf("type in %q: %v", c.s, err)
		}
		t = types.Type{Kind: types.Array, Elem: &e}
		if w == "MULTISET" {
			t.Kind = types.Multiset
		}
	case "MAP":
		c.eat("<")
		k, err := c.parseType()
		c.eat(",")
		v, err2 := c.parseType()
		if err != nil || err2 != nil || !c.eat(">") {
			return t, fmt.Errorf("type in %q: %v %v", c.s, err, err2)
		}
		t = types.MapOf(k, v)
	case "ROW":
		c.eat("<")
		fs, err := c.fields()
		if err != nil || !c.eat(">") {
			return t, fmt.Errorf("type in %q: %v", c.s, err)
		}
		t = types.RowOf(fs...)
	default:
		k, ok := kinds[w]
		if !ok {
			return t, fmt.Errorf("type %q in %q", w, c.s)
		}
		t = types.Of(k)
		if k == types.Varchar && w == "VARCHAR" || k == types.Varbinary && w == "VARBINARY" {
			t.Precision = 1
		}
		c.params(&t)
	}
	if c.eat("NOT NULL") {
		t.NotNull = true
	}
	return t, nil
}

// params reads (p, s). TIME(p) is TIME(0) in DDL.
func (c *cursor) params(t *types.Type) {
	if !c.eat("(") {
		return
	}
	p, _ := strconv.Atoi(c.word())
	if c.eat(",") {
		t.Scale, _ = strconv.Atoi(c.word())
	}
	c.eat(")")
	if t.Kind != types.Time {
		t.Precision = p
	}
}

// evaluate gives CAST(expression AS t).
func evaluate(tt *testing.T, s string, t types.Type) types.Datum {
	tt.Helper()
	c := &cursor{s: s}
	d := c.expression(tt, t)
	if c.space(); c.at < len(s) {
		tt.Fatalf("expression %q: left %q", s, s[c.at:])
	}
	return d
}

func (c *cursor) expression(tt *testing.T, t types.Type) types.Datum {
	switch {
	case c.eat("NULL"):
		return types.NullDatum()
	case c.eat("CAST"):
		c.eat("(")
		d := c.expression(tt, t)
		c.eat("AS")
		if _, err := c.parseType(); err != nil || !c.eat(")") {
			tt.Fatalf("cast in %q: %v", c.s, err)
		}
		return d
	case c.eat("ARRAY"):
		return types.AnyDatum(&types.List{Elems: c.many(tt, "[", "]", func(int) types.Type { return elemOf(t) })})
	case c.eat("MAP"):
		key, val := t.Key, t.Elem
		if t.Kind == types.Multiset {
			count := types.Of(types.Int)
			key, val = t.Elem, &count
		}
		flat := c.many(tt, "[", "]", func(i int) types.Type { return *[]*types.Type{key, val}[i%2] })
		m := &types.MapValue{}
		for i := 0; i < len(flat); i += 2 {
			m.Keys, m.Vals = append(m.Keys, flat[i]), append(m.Vals, flat[i+1])
		}
		return types.AnyDatum(m)
	case c.eat("ROW"):
		return types.AnyDatum(&types.Tuple{Fields: c.many(tt, "(", ")", func(i int) types.Type { return t.Fields[i].Type })})
	}
	return c.scalar(tt, t)
}

func elemOf(t types.Type) types.Type {
	if t.Elem != nil {
		return *t.Elem
	}
	return types.String()
}

func (c *cursor) many(tt *testing.T, open, shut string, typ func(int) types.Type) []types.Datum {
	ds := []types.Datum{}
	c.eat(open)
	for i := 0; !c.eat(shut); i++ {
		if i > 0 && !c.eat(",") {
			tt.Fatalf("list in %q at %d", c.s, c.at)
		}
		ds = append(ds, c.expression(tt, typ(i)))
	}
	return ds
}

// scalar reads a literal and casts its text.
func (c *cursor) scalar(tt *testing.T, t types.Type) types.Datum {
	for _, prefix := range []string{"DATE", "TIMESTAMP", "TIME"} {
		if c.eat(prefix) {
			break
		}
	}
	unicode, binary := c.eat("U&"), c.eat("x'")
	if binary {
		end := strings.IndexByte(c.s[c.at:], '\'')
		b, err := hex.DecodeString(c.s[c.at : c.at+end])
		if err != nil {
			tt.Fatalf("%q: %v", c.s, err)
		}
		c.at += end + 1
		if t.Kind == types.Binary {
			b = append(b, make([]byte, max(0, t.Precision-len(b)))...)[:t.Precision]
		}
		return types.StrDatum(string(b))
	}
	if !c.eat("'") {
		c.space()
		from := c.at
		for c.at < len(c.s) && (letter(c.s[c.at]) || strings.IndexByte("+-.", c.s[c.at]) >= 0) {
			c.at++
		}
		return castTo(tt, c.s[from:c.at], t)
	}
	var text []byte
	for c.s[c.at] != '\'' || c.at+1 < len(c.s) && c.s[c.at+1] == '\'' {
		if c.s[c.at] == '\'' {
			c.at++
		}
		text = append(text, c.s[c.at])
		c.at++
	}
	c.at++
	s := string(text)
	if unicode {
		s = unescapeUnicode(s)
	}
	return castTo(tt, s, t)
}

func unescapeUnicode(s string) string {
	parts := strings.Split(s, `\`)
	for i, p := range parts[1:] {
		n, _ := strconv.ParseInt(p[:4], 16, 32) // with a sign: Flink reads \+01f600 so
		r := string(rune(n))
		if n >= 0xd800 && n <= 0xdfff {
			r = "?" // Java cannot write half a pair
		}
		parts[i+1] = r + p[4:]
	}
	return strings.Join(parts, "")
}

func castTo(tt *testing.T, s string, t types.Type) types.Datum {
	ok := true
	var d types.Datum
	switch t.Kind {
	case types.Boolean:
		var v bool
		v, ok = types.ParseBoolean(s)
		d = types.BoolDatum(v)
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt:
		lo, hi := types.IntRange(t.Kind)
		d.I, ok = types.ParseInt(s, lo, hi)
	case types.Float, types.Double:
		var f float64
		f, ok = types.ParseDouble(s)
		if t.Kind == types.Float {
			f, ok = types.ParseFloat(s)
		}
		d = types.FloatDatum(f)
	case types.Decimal:
		var v types.Int128
		v, ok = types.CastDecimal(s, t.Precision, t.Scale)
		d = decimalDatum(v, &t)
	case types.Date:
		d.I, ok = types.ParseDate(s)
	case types.Time:
		d.I, ok = types.ParseTime(s)
	case types.Timestamp, types.TimestampLTZ:
		var ns int
		d.I, ns, ok = types.ParseTimestamp(s, t.Precision)
		d.Lo = uint64(ns)
	case types.Char:
		r := []rune(s)
		r = append(r, slices.Repeat([]rune{' '}, max(0, t.Precision-len(r)))...)
		d = types.StrDatum(string(r[:t.Precision]))
	case types.Varchar:
		r := []rune(s)
		d = types.StrDatum(string(r[:min(len(r), t.Precision)]))
	case types.Binary, types.Varbinary:
		d = types.StrDatum(s)
	}
	if !ok {
		tt.Fatalf("%q as %v", s, t)
	}
	return d
}
