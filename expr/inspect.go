package expr

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"runnel/types"
)

// inspectFunctions say something about a value.
func inspectFunctions() []Function {
	truth := giveKind(types.Boolean)
	return []Function{
		{Name: "IS_DECIMAL", Doc: "IS_DECIMAL(text): whether it can be read as a number.", safe: true, bind: bindInspect("CHARACTER"),
			kernel: inspectKernel(isDecimal)},
		{Name: "IS_DIGIT", Doc: "IS_DIGIT(text): whether it has digits only.", safe: true, bind: bindInspect("CHARACTER"),
			kernel: inspectKernel(func(s string) bool { return all(s, unicode.IsDigit) })},
		{Name: "IS_ALPHA", Doc: "IS_ALPHA(text): whether it has letters only.", safe: true, bind: bindInspect("CHARACTER"),
			kernel: inspectKernel(func(s string) bool { return all(s, unicode.IsLetter) })},
		{Name: "HASH_CODE", Doc: "HASH_CODE(a): a hash of the value.", safe: true, bind: takes("ANY").to(giveKind(types.Int)), kernel: hashCodeKernel},
		{Name: "TYPEOF", Doc: "TYPEOF(a [, force]): the type of the argument as text.", safe: true, bind: bindTypeof,
			rewrite: func(b *binding, _ types.Type) (Expr, error) {
				t := b.args[0].Type()
				text, ok := t.String(), true
				if len(b.args) == 2 && b.args[1].(*Const).Value.Bool() {
					text, ok = fullName(t)
				}
				return &Const{Value: types.Datum{Null: !ok, S: text}, T: types.String()}, nil
			}},
		{Name: "UUID", Doc: "UUID(): a random identifier of version 4.", Nondeterministic: true, safe: true,
			bind: takes("").toSure(give(types.CharOf(36))),
			kernel: boxed(true, func(*Call) func([]types.Datum) (types.Datum, error) {
				arena := &types.Arena{}
				return func([]types.Datum) (types.Datum, error) { return newUUID(arena) }
			})},
		{Name: "INET_ATON", Doc: "INET_ATON(text): an IPv4 address as a number; NULL for anything else.", safe: true,
			bind: takes("CHARACTER").toMaybe(giveKind(types.BigInt)), kernel: rows1(inetAton)},
		{Name: "INET_NTOA", Doc: "INET_NTOA(n): a number as an IPv4 address; NULL outside their range.", safe: true,
			bind: takes("INTEGER").toMaybe(giveText), kernel: rows1(func(n int64) (string, error) {
				if n < 0 || n > 1<<32-1 {
					return "", errNull
				}
				return fmt.Sprintf("%d.%d.%d.%d", n>>24, n>>16&255, n>>8&255, n&255), nil
			})},
		{Name: "IS_VALID_UTF8", Doc: "IS_VALID_UTF8(bytes): whether they are a text.", safe: true, bind: takes("BINARY").to(truth),
			kernel: pure1(func(s string) int64 { return toInt(string(types.AppendUTF8(nil, s)) == s) })},
		{Name: "MAKE_VALID_UTF8", Doc: "MAKE_VALID_UTF8(bytes): as a text, what is none replaced by U+FFFD.", safe: true,
			bind: takes("BINARY").to(giveText), kernel: arenaPure1(func(a *types.Arena, s string) string { return a.Take(types.AppendUTF8(a.Buf(), s)) })},
	}
}

// bindInspect takes a text or a number; the result is never NULL.
func bindInspect(family string) func(*binding) (types.Type, error) {
	return func(b *binding) (types.Type, error) {
		if len(b.args) == 1 && b.args[0].Type().IsNumeric() {
			return boolType(false), nil
		}
		return takes(family).toSure(giveKind(types.Boolean))(b)
	}
}

// inspectKernel is TRUE for integers where their texts are, FALSE for other numbers and for NULL.
func inspectKernel(f func(string) bool) func(*compiler, *Call) (Eval, error) {
	return func(c *compiler, call *Call) (Eval, error) {
		args, err := c.args(call)
		if err != nil {
			return nil, err
		}
		if call.Args[0].Type().IsNumeric() {
			whole := call.Args[0].Type().IsInteger()
			answer := types.BoolDatum(whole && call.Func.Name != "IS_ALPHA")
			return datums(call.T, args, func([]types.Datum) (types.Datum, error) { return answer, nil }), nil
		}
		return datums(call.T, args, func(row []types.Datum) (types.Datum, error) {
			return types.BoolDatum(!row[0].Null && f(row[0].S)), nil
		}), nil
	}
}

func all(s string, is func(rune) bool) bool {
	for _, r := range s {
		if !is(r) {
			return false
		}
	}
	return s != ""
}

// isDecimal accepts what Java reads as an int, a long or a double.
func isDecimal(s string) bool {
	if s == "" {
		return false
	}
	if _, ok := types.ParseDouble(s); ok {
		return true
	}
	return all(strings.TrimPrefix(strings.TrimPrefix(s, "-"), "+"), unicode.IsDigit)
}

// hashCodeKernel is the hash that distinct aggregation uses for its buckets: for text the absolute value of Java's.
func hashCodeKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	t := call.Args[0].Type()
	var buf []byte
	return datums(call.T, args, func(row []types.Datum) (types.Datum, error) {
		d := row[0]
		if d.Null {
			return d, nil
		}
		var h int32
		switch {
		case t.IsString():
			for _, u := range utf16.Encode([]rune(d.S)) {
				h = 31*h + int32(u)
			}
			if h < 0 {
				h = -h
			}
		case t.Kind == types.Boolean:
			h = 1237
			if d.I != 0 {
				h = 1231
			}
		case t.Phys() == types.PhysInt || t.Phys() == types.PhysFloat:
			h = int32(d.I ^ d.I>>32)
		default:
			buf = types.AppendDatum(buf[:0], t, d)
			for _, b := range buf {
				h = 31*h + int32(b)
			}
		}
		return types.IntDatum(int64(h)), nil
	}), nil
}

func bindTypeof(b *binding) (types.Type, error) {
	if len(b.args) != 1 && len(b.args) != 2 {
		return types.Type{}, b.wrongCount(1)
	}
	if len(b.args) == 2 {
		if k, ok := constOf(b.args[1]); !ok || k.Null || b.args[1].Type().Kind != types.Boolean {
			if ok && k.Null {
				return types.Type{}, b.errorf("Illegal use of 'NULL'")
			}
			return types.Type{}, b.misfit()
		}
	}
	return types.String(), nil
}

// fullName writes a type without abbreviations, as Flink stores it in catalogs; false for one that no catalog can hold.
func fullName(t types.Type) (string, bool) {
	null := ""
	if t.NotNull {
		null = " NOT NULL"
	}
	parts := func(open string, ts ...types.Type) (string, bool) {
		for i, e := range ts {
			s, ok := fullName(e)
			if !ok {
				return "", false
			}
			if i > 0 {
				open += ", "
			}
			open += s
		}
		return open + ">" + null, true
	}
	switch t.Kind {
	case types.Null:
		return "NULL", true
	case types.Char, types.Binary:
		return t.Name() + null, t.Precision > 0
	case types.Varchar:
		return fmt.Sprintf("VARCHAR(%d)%s", t.Precision, null), t.Precision > 0
	case types.Varbinary:
		return fmt.Sprintf("VARBINARY(%d)%s", t.Precision, null), t.Precision > 0
	case types.TimestampLTZ:
		return fmt.Sprintf("TIMESTAMP(%d) WITH LOCAL TIME ZONE%s", t.Precision, null), true
	case types.Array:
		return parts("ARRAY<", *t.Elem)
	case types.Multiset:
		return parts("MULTISET<", *t.Elem)
	case types.Map:
		return parts("MAP<", *t.Key, *t.Elem)
	case types.Row:
		text := "ROW<"
		for i, f := range t.Fields {
			s, ok := fullName(f.Type)
			if !ok {
				return "", false
			}
			if i > 0 {
				text += ", "
			}
			text += "`" + strings.ReplaceAll(f.Name, "`", "``") + "` " + s
		}
		return text + ">" + null, true
	}
	return t.Name() + null, true
}

func newUUID(arena *types.Arena) (types.Datum, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return types.Datum{}, err
	}
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	text := arena.Buf()
	for i, part := range [...][]byte{b[:4], b[4:6], b[6:8], b[8:10], b[10:]} {
		if i > 0 {
			text = append(text, '-')
		}
		text = hex.AppendEncode(text, part)
	}
	return types.StrDatum(arena.Take(text)), nil
}

// inetAton reads one to four numbers; the last fills the bytes that are left.
func inetAton(s string) (int64, error) {
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return 0, errNull
	}
	var v int64
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 8)
		if err != nil {
			return 0, errNull
		}
		if i == len(parts)-1 {
			return v | int64(n), nil
		}
		v |= int64(n) << (24 - 8*i)
	}
	return 0, errNull
}
