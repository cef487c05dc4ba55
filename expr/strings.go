package expr

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"runnel/types"
)

// maxText bounds what REPEAT, LPAD, CAST to CHAR(n) and the like may build, in bytes.
const maxText = 64 << 20

var errTooLong = errors.New("the resulting text is longer than 64 MB")

// stringFunctions work on text and give text.
func stringFunctions() []Function {
	return []Function{
		{Name: "||", Doc: "a || b: the two texts joined; NULL when one is.", Operator: true, safe: true, form: asInfix,
			forms: "'<STRING> || <STRING>'", bind: bindJoin, kernel: concatKernel},
		{Name: "CONCAT", Doc: "CONCAT(a, ...): the texts joined; NULL when one is.", safe: true,
			forms: "'CONCAT(<CHARACTER>)'", bind: takes("CHARACTER...").to(giveText), kernel: concatKernel},
		{Name: "CONCAT_WS", Doc: "CONCAT_WS(separator, a, ...): the texts that are not NULL, joined with separators.", safe: true,
			forms: "'CONCAT_WS(<CHARACTER>)'", bind: takes("CHARACTER...").to(giveText), kernel: concatWS},
		{Name: "CHAR_LENGTH", Aliases: []string{"CHARACTER_LENGTH"}, Doc: "CHAR_LENGTH(text): the number of characters.", safe: true,
			bind: takes("CHARACTER").to(giveKind(types.Int)), kernel: pure1(func(s string) int64 { return int64(runes(s)) })},
		{Name: "UPPER", Doc: "UPPER(text): in upper case.", safe: true, bind: takes("CHARACTER").to(giveFirst),
			kernel: arenaPure1(func(a *types.Arena, s string) string { return changeCase(a, s, true) })},
		{Name: "LOWER", Doc: "LOWER(text): in lower case.", safe: true, bind: takes("CHARACTER").to(giveFirst),
			kernel: arenaPure1(func(a *types.Arena, s string) string { return changeCase(a, s, false) })},
		{Name: "INITCAP", Doc: "INITCAP(text): the first letter of each word in upper case, the others in lower case.", safe: true,
			bind: takes("CHARACTER").to(giveFirst), kernel: arenaPure1(initcap)},
		{Name: "SUBSTRING", Aliases: []string{"SUBSTR"}, safe: true,
			Doc:  "SUBSTRING(text, start [, length]): from position start, the first being 1; a negative one counts from the end.",
			bind: takes("CHARACTER, INTEGER, [INTEGER]").toMaybe(giveVarchar), kernel: substringKernel},
		{Name: "LEFT", Doc: "LEFT(text, n): the first n characters.", safe: true, bind: takes("CHARACTER, INTEGER").toMaybe(giveVarchar),
			kernel: rows2(func(s string, n int64) (string, error) { return s[:offset(s, clampInt(n))], nil })},
		{Name: "RIGHT", Doc: "RIGHT(text, n): the last n characters.", safe: true, bind: takes("CHARACTER, INTEGER").toMaybe(giveVarchar),
			kernel: rows2(right)},
		{Name: "TRIM", Doc: "TRIM([BOTH | LEADING | TRAILING] [characters FROM] text): without the given characters at the ends.",
			safe: true, forms: "'TRIM([BOTH|LEADING|TRAILING] <ANY> FROM <STRING>)'", bind: bindTrim, kernel: trimKernel},
		{Name: "LTRIM", Doc: "LTRIM(text [, characters]): without blanks, or the given characters, at the beginning.", safe: true,
			bind: takes("CHARACTER, [CHARACTER]").to(giveVarchar), kernel: sideTrim(trimLeft)},
		{Name: "RTRIM", Doc: "RTRIM(text [, characters]): without blanks, or the given characters, at the end.", safe: true,
			bind: takes("CHARACTER, [CHARACTER]").to(giveVarchar), kernel: sideTrim(trimRight)},
		{Name: "BTRIM", Doc: "BTRIM(text [, characters]): without blanks, or the given characters, at both ends.", safe: true,
			bind: takes("CHARACTER, [CHARACTER]").to(giveVarchar), kernel: sideTrim(trimLeft | trimRight)},
		{Name: "LPAD", Doc: "LPAD(text, n, pad): filled up at the beginning, or cut, to n characters.",
			bind: takes("CHARACTER, INTEGER, CHARACTER").to(giveText), kernel: padKernel(true)},
		{Name: "RPAD", Doc: "RPAD(text, n, pad): filled up at the end, or cut, to n characters.",
			bind: takes("CHARACTER, INTEGER, CHARACTER").to(giveText), kernel: padKernel(false)},
		{Name: "REPEAT", Doc: "REPEAT(text, n): n times the text.", bind: takes("CHARACTER, INTEGER").to(giveText),
			kernel: arenaRows2(repeat)},
		{Name: "REPLACE", Doc: "REPLACE(text, old, new): with every old replaced by new.",
			bind: takes("CHARACTER, CHARACTER, CHARACTER").to(giveText), kernel: replaceKernel},
		{Name: "OVERLAY", Doc: "OVERLAY(text PLACING new FROM start [FOR length]): with a part replaced.", safe: true,
			forms: "'OVERLAY(<STRING> PLACING <STRING> FROM <INTEGER>)'",
			bind: takes("CHARACTER, CHARACTER, INTEGER, [INTEGER]").to(func(b *binding) types.Type {
				return types.VarcharOf(min(b.args[0].Type().Precision+b.args[1].Type().Precision, types.MaxLength))
			}), kernel: overlayKernel},
		{Name: "REVERSE", Doc: "REVERSE(text): the characters from last to first.", safe: true,
			bind: takes("CHARACTER").toMaybe(giveText), kernel: arenaPure1(reverse)},
		{Name: "TRANSLATE", Doc: "TRANSLATE(text, from, to): each character of from replaced by the one of to at its place, or dropped.",
			safe: true, bind: bindTranslate, kernel: translateKernel},
		{Name: "ELT", Doc: "ELT(n, a, ...): the n-th of the texts; NULL when there is none.", safe: true, bind: bindElt,
			kernel: boxed(true, func(*Call) func([]types.Datum) (types.Datum, error) {
				return func(row []types.Datum) (types.Datum, error) {
					if row[0].Null || row[0].I < 1 || row[0].I >= int64(len(row)) {
						return types.NullDatum(), nil
					}
					return row[row[0].I], nil
				}
			})},
	}
}

func clampInt(n int64) int { return int(max(min(n, 1<<31-1), -1<<31)) }

// arenaPure1 is pure1 with an arena for the result.
func arenaPure1(f func(a *types.Arena, s string) string) func(*compiler, *Call) (Eval, error) {
	return func(c *compiler, call *Call) (Eval, error) {
		arena := &types.Arena{}
		return pure1(func(s string) string { return f(arena, s) })(c, call)
	}
}

// arenaRows2 is rows2 with an arena for the result.
func arenaRows2[A, B any](f func(*types.Arena, A, B) (string, error)) func(*compiler, *Call) (Eval, error) {
	return func(c *compiler, call *Call) (Eval, error) {
		arena := &types.Arena{}
		return rows2(func(a A, b B) (string, error) { return f(arena, a, b) })(c, call)
	}
}

// bindJoin is ||: CHAR(a) || CHAR(b) is CHAR(a+b).
func bindJoin(b *binding) (types.Type, error) {
	if _, err := takes("CHARACTER, CHARACTER").to(giveText)(b); err != nil {
		return types.Type{}, err
	}
	t, u := b.args[0].Type(), b.args[1].Type()
	r := types.VarcharOf(min(t.Precision+u.Precision, types.MaxLength))
	if t.Kind == types.Char && u.Kind == types.Char {
		r.Kind = types.Char
	}
	return r.Nullable(anyNullable(b.args)), nil
}

// concatKernel joins any number of texts.
func concatKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	out := newOutput(call.T)
	cols := make([]*types.Column, len(args))
	var arena types.Arena
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		for k, a := range args {
			cols[k], sel = run(a, b, sel, &fail)
		}
		out.start(b.Len)
		out.nulls(cols...)
		for _, i := range sel {
			if out.Null(i) {
				continue
			}
			buf := arena.Buf()
			for _, col := range cols {
				buf = append(buf, col.Str[i]...)
			}
			out.Str[i] = arena.Take(buf)
		}
		return out.Column, fail
	}, nil
}

func concatWS(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	out := newOutput(call.T)
	cols := make([]*types.Column, len(args))
	var arena types.Arena
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		for k, a := range args {
			cols[k], sel = run(a, b, sel, &fail)
		}
		out.start(b.Len)
		out.nulls(cols[0])
		for _, i := range sel {
			if out.Null(i) {
				continue
			}
			sep, first := cols[0].Str[i], true
			buf := arena.Buf()
			for _, col := range cols[1:] {
				if col.Null(i) {
					continue
				}
				if !first {
					buf = append(buf, sep...)
				}
				buf, first = append(buf, col.Str[i]...), false
			}
			out.Str[i] = arena.Take(buf)
		}
		return out.Column, fail
	}, nil
}

// changeCase converts with the rules of Java: a letter may become several (ß, SS).
func changeCase(a *types.Arena, s string, upper bool) string {
	from, to := byte('a'), byte('z')
	if !upper {
		from, to = 'A', 'Z'
	}
	at := -1
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			return changeWide(s, upper)
		}
		if at < 0 && c >= from && c <= to {
			at = i
		}
	}
	if at < 0 {
		return s
	}
	buf := append(a.Buf(), s...)
	for i := at; i < len(s); i++ {
		if c := buf[i]; c >= from && c <= to {
			buf[i] = c ^ 0x20
		}
	}
	return a.Take(buf)
}

func changeWide(s string, upper bool) string {
	if !upper {
		var b strings.Builder
		for i, r := range s {
			switch {
			case r == 'İ':
				b.WriteString("i̇")
			case r == 'Σ' && finalSigma(s, i):
				b.WriteRune('ς')
			default:
				b.WriteRune(unicode.ToLower(r))
			}
		}
		return b.String()
	}
	var b strings.Builder
	for _, r := range s {
		if m, ok := specialUpper[r]; ok {
			b.WriteString(m)
			continue
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

// finalSigma reports whether a capital sigma at byte i ends a word.
func finalSigma(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+len("Σ"):])
	return unicode.IsLetter(before) && !unicode.IsLetter(after)
}

// specialUpper are the letters whose upper case is more than one, from Unicode's SpecialCasing table.
var specialUpper = map[rune]string{
	'ß': "SS", 'ŉ': "ʼN", 'ǰ': "J̌", 'ΐ': "Ϊ́", 'ΰ': "Ϋ́", 'և': "ԵՒ", 'ﬀ': "FF", 'ﬁ': "FI", 'ﬂ': "FL", 'ﬃ': "FFI", 'ﬄ': "FFL",
	'ﬅ': "ST", 'ﬆ': "ST", 'ẖ': "H̱", 'ẗ': "T̈", 'ẘ': "W̊", 'ẙ': "Y̊", 'ẚ': "Aʾ",
}

// initcap treats ASCII letters and digits as words and everything else as what stands between them.
func initcap(a *types.Arena, s string) string {
	buf := append(a.Buf(), s...)
	inside := false
	for i, c := range buf {
		lower, upper := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z'
		switch {
		case lower && !inside, upper && inside:
			buf[i] = c ^ 0x20
			inside = true
		default:
			inside = lower || upper || c >= '0' && c <= '9'
		}
	}
	return a.Take(buf)
}

// substringKernel is SUBSTRING(s, from [, length]).
func substringKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	if len(args) == 2 {
		return binaryRow(call.T, args, func(s string, from int64) (string, error) { return substring(s, from, 1<<31-1) }), nil
	}
	return ternaryRow(call.T, args, substring), nil
}

// substring counts code points from 1; 0 is 1 too, negative positions count from the end.
func substring(s string, from, n int64) (string, error) {
	if n < 0 {
		return "", errNull
	}
	start := clampInt(from)
	switch {
	case start > 0:
		start--
	case start < 0:
		start += runes(s)
		if start < 0 {
			return "", nil
		}
	}
	s = s[offset(s, start):]
	if n >= int64(len(s)) {
		return s, nil
	}
	return s[:offset(s, int(n))], nil
}

func right(s string, n int64) (string, error) {
	if n <= 0 {
		return "", nil
	}
	if n >= int64(len(s)) {
		return s, nil
	}
	return s[offset(s, runes(s)-int(n)):], nil
}

// The sides of TRIM.
const (
	trimLeft = 1 << iota
	trimRight
)

func bindTrim(b *binding) (types.Type, error) {
	if len(b.args) == 1 {
		b.args = []Expr{NewSymbol("BOTH"), NewString(" "), b.args[0]}
	}
	if len(b.args) != 3 {
		return types.Type{}, b.wrongCount(1)
	}
	for _, a := range b.args[1:] {
		if t := a.Type(); !t.IsString() {
			return types.Type{}, b.errorf("Cannot apply 'TRIM' to arguments of type 'TRIM([BOTH|LEADING|TRAILING] <SYMBOL> FROM <%s>)'. "+
				"Supported form(s): %s", typeWord(b.args[1].Type()), b.fn.forms)
		}
	}
	return types.VarcharOf(b.args[2].Type().Precision).Nullable(anyNullable(b.args[1:])), nil
}

func trimKernel(c *compiler, call *Call) (Eval, error) {
	side := trimLeft | trimRight
	switch word, _ := symbol(call.Args[0]); word {
	case "LEADING":
		side = trimLeft
	case "TRAILING":
		side = trimRight
	}
	return c.trim(call, call.Args[2], call.Args[1], side)
}

func sideTrim(side int) func(*compiler, *Call) (Eval, error) {
	return func(c *compiler, call *Call) (Eval, error) {
		set := Expr(NewString(" "))
		if len(call.Args) == 2 {
			set = call.Args[1]
		}
		return c.trim(call, call.Args[0], set, side)
	}
}

// trim takes the characters of set away from the ends of s.
func (c *compiler) trim(call *Call, s, set Expr, side int) (Eval, error) {
	x, err := c.compile(s)
	if err != nil {
		return nil, err
	}
	if k, ok := constOf(set); ok && !k.Null && len(k.S) == 1 {
		ch := k.S[0]
		return castSure(func(s string) string { return trimByte(s, ch, side) }).eval(call.T, x), nil
	}
	y, err := c.compile(set)
	if err != nil {
		return nil, err
	}
	return binaryRow(call.T, []Eval{x, y}, func(s, set string) (string, error) {
		if side&trimLeft != 0 {
			s = strings.TrimLeft(s, set)
		}
		if side&trimRight != 0 {
			s = strings.TrimRight(s, set)
		}
		return s, nil
	}), nil
}

func trimByte(s string, ch byte, side int) string {
	for side&trimLeft != 0 && len(s) > 0 && s[0] == ch {
		s = s[1:]
	}
	for side&trimRight != 0 && len(s) > 0 && s[len(s)-1] == ch {
		s = s[:len(s)-1]
	}
	return s
}

// padKernel is LPAD (left) or RPAD, which count UTF-16 units.
func padKernel(left bool) func(*compiler, *Call) (Eval, error) {
	return func(c *compiler, call *Call) (Eval, error) {
		arena := &types.Arena{}
		return rows3(func(s string, n int64, pad string) (string, error) { return padText(arena, s, n, pad, left) })(c, call)
	}
}

func padText(a *types.Arena, s string, n int64, pad string, left bool) (string, error) {
	if n < 0 || pad == "" {
		return "", errNull
	}
	if n > maxText {
		return "", errTooLong
	}
	have := units(s)
	if int(n) <= have {
		return cutUnits(s, int(n)), nil
	}
	fill := int(n) - have
	buf := a.Buf()
	if !left {
		buf = append(buf, s...)
	}
	for u := units(pad); fill > 0; fill -= u {
		if fill < u {
			pad = cutUnits(pad, fill)
		}
		buf = append(buf, pad...)
	}
	if left {
		buf = append(buf, s...)
	}
	return a.Take(buf), nil
}

func repeat(a *types.Arena, s string, n int64) (string, error) {
	if n <= 0 || s == "" {
		return "", nil
	}
	if n > maxText/int64(len(s)) {
		return "", errTooLong
	}
	buf := a.Buf()
	for range n {
		buf = append(buf, s...)
	}
	return a.Take(buf), nil
}

func replaceKernel(c *compiler, call *Call) (Eval, error) {
	arena := &types.Arena{}
	return rows3(func(s, old, to string) (string, error) {
		if old == "" {
			return strings.ReplaceAll(s, old, to), nil
		}
		at := strings.Index(s, old)
		if at < 0 {
			return s, nil
		}
		buf := arena.Buf()
		for at >= 0 {
			buf = append(append(buf, s[:at]...), to...)
			if len(buf) > maxText {
				return "", errTooLong
			}
			s = s[at+len(old):]
			at = strings.Index(s, old)
		}
		return arena.Take(append(buf, s...)), nil
	})(c, call)
}

func overlayKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	return datums(call.T, args, func(row []types.Datum) (types.Datum, error) {
		for _, d := range row {
			if d.Null {
				return d, nil
			}
		}
		n := int64(units(row[1].S))
		if len(row) == 4 {
			n = row[3].I
		}
		return types.StrDatum(overlay(row[0].S, row[1].S, row[2].I, n)), nil
	}), nil
}

// overlay counts UTF-16 units, as Flink does; what starts outside the text changes nothing, and a part that reaches
// beyond the end, or is empty, takes the end away.
func overlay(s, with string, from, n int64) string {
	size := int64(units(s))
	if from <= 0 || from > size {
		return s
	}
	head := cutUnits(s, int(from-1))
	if n <= 0 || from+n > size {
		return head + with
	}
	return head + with + skipUnits(s, int(max(from-1+n, 0)))
}

func reverse(a *types.Arena, s string) string {
	buf := a.Buf()
	for len(s) > 0 {
		r, size := utf8.DecodeLastRuneInString(s)
		_ = r
		buf = append(buf, s[len(s)-size:]...)
		s = s[:len(s)-size]
	}
	return a.Take(buf)
}

// bindTranslate keeps NULL for from and to: they change nothing or delete.
func bindTranslate(b *binding) (types.Type, error) {
	if len(b.args) != 3 {
		return types.Type{}, b.wrongCount(3)
	}
	for i, a := range b.args {
		switch t := a.Type(); {
		case t.Kind == types.Null:
			b.cast(i, types.String())
		case !t.IsString():
			return types.Type{}, takes("CHARACTER, CHARACTER, CHARACTER").misfit(b)
		}
	}
	return types.String().Nullable(!b.args[0].Type().NotNull), nil
}

func translateKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	var lastFrom, lastTo string
	table := map[rune]rune{}
	return datums(call.T, args, func(row []types.Datum) (types.Datum, error) {
		if row[0].Null || row[0].S == "" || row[1].Null || row[1].S == "" {
			return row[0], nil
		}
		from, to := row[1].S, row[2].S
		if row[2].Null {
			to = ""
		}
		if from != lastFrom || to != lastTo || len(table) == 0 {
			lastFrom, lastTo = from, to
			fillTranslation(table, from, to)
		}
		return types.StrDatum(strings.Map(func(r rune) rune {
			if m, ok := table[r]; ok {
				return m
			}
			return r
		}, row[0].S)), nil
	}), nil
}

// fillTranslation pairs the characters; the first pair of a character counts, -1 deletes.
func fillTranslation(table map[rune]rune, from, to string) {
	clear(table)
	rest := []rune(to)
	for _, r := range from {
		m := rune(-1)
		if len(rest) > 0 {
			m, rest = rest[0], rest[1:]
		}
		if _, there := table[r]; !there {
			table[r] = m
		}
	}
}

// bindElt takes texts or binaries.
func bindElt(b *binding) (types.Type, error) {
	if len(b.args) < 2 {
		return types.Type{}, b.wrongCount(2)
	}
	if t := b.args[0].Type(); !t.IsInteger() {
		return types.Type{}, takes("INTEGER, CHARACTER...").misfit(b)
	}
	t, ok := CommonType(typesOf(b.args[1:])...)
	if !ok || !t.IsString() && !t.IsBinary() {
		return types.Type{}, takes("INTEGER, CHARACTER...").misfit(b)
	}
	if t.IsBinary() {
		return types.Bytes(), nil
	}
	return types.String(), nil
}
