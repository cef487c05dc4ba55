package expr

import (
	"errors"
	"strings"
	"unicode/utf8"

	"runnel/types"
)

// searchFunctions find text within text and take it apart.
func searchFunctions() []Function {
	number, truth := giveKind(types.Int), giveKind(types.Boolean)
	return []Function{
		{Name: "POSITION", Doc: "POSITION(part IN text): where the part begins, from 1; 0 when it is not there.", safe: true,
			bind: takes("CHARACTER, CHARACTER, [INTEGER]").to(number), kernel: locateKernel},
		{Name: "LOCATE", Doc: "LOCATE(part, text [, from]): where the part begins, from 1, not before from; 0 when it is not there.",
			safe: true, bind: takes("CHARACTER, CHARACTER, [INTEGER]").to(number), kernel: locateKernel},
		{Name: "INSTR", Doc: "INSTR(text, part [, start [, n]]): where the n-th part begins; a negative start searches backwards.",
			bind: takes("CHARACTER, CHARACTER, [INTEGER], [INTEGER]").to(number), kernel: instrKernel},
		{Name: "STARTSWITH", Doc: "STARTSWITH(text, part): whether the text begins with the part.", safe: true,
			bind:   takes("STRING, STRING").to(truth),
			kernel: rows2(func(s, p string) (int64, error) { return toInt(strings.HasPrefix(s, p)), nil })},
		{Name: "ENDSWITH", Doc: "ENDSWITH(text, part): whether the text ends with the part.", safe: true,
			bind:   takes("STRING, STRING").to(truth),
			kernel: rows2(func(s, p string) (int64, error) { return toInt(strings.HasSuffix(s, p)), nil })},
		{Name: "SPLIT_INDEX", Doc: "SPLIT_INDEX(text, separator, n): the n-th part, from 0, of the text cut at the separators; NULL when there is none.",
			safe: true, bind: bindSplitIndex, kernel: splitIndexKernel},
		{Name: "SPLIT", Doc: "SPLIT(text, separator): the parts of the text cut at the separators.", safe: true,
			bind: takes("CHARACTER, CHARACTER").to(give(types.ArrayOf(types.String()))),
			kernel: boxed(false, func(*Call) func([]types.Datum) (types.Datum, error) {
				return func(row []types.Datum) (types.Datum, error) { return splitText(row[0].S, row[1].S), nil }
			})},
		{Name: "STR_TO_MAP", Doc: "STR_TO_MAP(text [, pair separator, value separator]): a map of the pairs in the text; separators are regular expressions.",
			bind: bindStrToMap, kernel: strToMapKernel},
	}
}

func locateKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	if len(args) == 2 {
		return binaryRow(call.T, args, func(part, s string) (int64, error) { return locate(part, s, 1), nil }), nil
	}
	return ternaryRow(call.T, args, func(part, s string, from int64) (int64, error) { return locate(part, s, from), nil }), nil
}

// locate counts characters from 1; a position below that is the first.
func locate(part, s string, from int64) int64 {
	if part == "" {
		return 1
	}
	skip := offset(s, clampInt(from-1))
	at := strings.Index(s[skip:], part)
	if at < 0 {
		return 0
	}
	return int64(runes(s[:skip+at])) + 1
}

var errNth = errors.New("nthAppearance must be positive!")

func instrKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	if len(args) == 2 {
		return binaryRow(call.T, args, func(s, part string) (int64, error) { return locate(part, s, 1), nil }), nil
	}
	return datums(call.T, args, func(row []types.Datum) (types.Datum, error) {
		for _, d := range row {
			if d.Null {
				return d, nil
			}
		}
		nth := int64(1)
		if len(row) == 4 {
			nth = row[3].I
		}
		v, err := instr(row[0].S, row[1].S, row[2].I, nth)
		return types.IntDatum(v), err
	}), nil
}

// instr finds the nth part; with a negative start it goes backwards from that many characters before the end.
func instr(s, part string, start, nth int64) (int64, error) {
	if nth <= 0 {
		return 0, errNth
	}
	if start == 0 {
		return 0, nil
	}
	if start > 0 {
		at := offset(s, clampInt(start-1))
		for ; at <= len(s); at++ {
			i := strings.Index(s[at:], part)
			if i < 0 {
				return 0, nil
			}
			at += i
			if nth--; nth == 0 {
				return int64(runes(s[:at])) + 1, nil
			}
		}
		return 0, nil
	}
	n := int64(runes(s)) + start
	if n < 0 {
		return 0, nil
	}
	for end := min(offset(s, int(n))+len(part), len(s)); ; {
		at := strings.LastIndex(s[:end], part)
		if at < 0 {
			return 0, nil
		}
		if nth--; nth == 0 {
			return int64(runes(s[:at])) + 1, nil
		}
		if end = at + len(part) - 1; end < 0 {
			return 0, nil
		}
	}
}

// bindSplitIndex takes the code of a character as separator too.
func bindSplitIndex(b *binding) (types.Type, error) {
	sig := takes("CHARACTER, CHARACTER, INTEGER")
	if len(b.args) == 3 && b.args[1].Type().IsInteger() {
		sig = takes("CHARACTER, INTEGER, INTEGER")
	}
	return sig.toMaybe(giveText)(b)
}

func splitIndexKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	if call.Args[1].Type().IsInteger() {
		return ternaryRow(call.T, args, func(s string, code, n int64) (string, error) {
			if code <= 0 || code > 255 {
				return "", errNull
			}
			return splitIndex(s, string(rune(code)), n)
		}), nil
	}
	return ternaryRow(call.T, args, splitIndex), nil
}

func splitIndex(s, sep string, n int64) (string, error) {
	if n < 0 || s == "" {
		return "", errNull
	}
	if sep == "" {
		parts := strings.Fields(s)
		if n >= int64(len(parts)) {
			return "", errNull
		}
		return parts[n], nil
	}
	if len(sep) == 1 {
		return splitByte(s, sep[0], n)
	}
	for ; ; n-- {
		at := strings.Index(s, sep)
		if n == 0 {
			if at >= 0 {
				s = s[:at]
			}
			return s, nil
		}
		if at < 0 {
			return "", errNull
		}
		s = s[at+len(sep):]
	}
}

// splitByte is splitIndex for a separator of a byte: parts are short, so that asking for each separator costs more than a loop.
func splitByte(s string, sep byte, n int64) (string, error) {
	from := 0
	for i := range len(s) {
		if s[i] != sep {
			continue
		}
		if n == 0 {
			return s[from:i], nil
		}
		n--
		from = i + 1
	}
	if n > 0 {
		return "", errNull
	}
	return s[from:], nil
}

// splitText keeps empty parts; an empty separator gives one part per character.
func splitText(s, sep string) types.Datum {
	list := &types.List{}
	switch {
	case s == "":
	case sep == "":
		for i := 0; i < len(s); {
			_, size := utf8.DecodeRuneInString(s[i:])
			list.Elems = append(list.Elems, types.StrDatum(s[i:i+size]))
			i += size
		}
	default:
		for part := range strings.SplitSeq(s, sep) {
			list.Elems = append(list.Elems, types.StrDatum(part))
		}
	}
	return types.AnyDatum(list)
}

func bindStrToMap(b *binding) (types.Type, error) {
	if len(b.args) != 1 && len(b.args) != 3 {
		return types.Type{}, b.wrongCount(1)
	}
	return takes("CHARACTER, [CHARACTER], [CHARACTER]").toMaybe(give(types.MapOf(types.String(), types.String())))(b)
}

func strToMapKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	var pairs, values regexCache
	return datums(call.T, args, func(row []types.Datum) (types.Datum, error) {
		pairSep, valueSep := ",", "="
		for _, d := range row {
			if d.Null {
				return d, nil
			}
		}
		if len(row) == 3 {
			pairSep, valueSep = row[1].S, row[2].S
		}
		p, err := pairs.get(pairSep)
		if err != nil {
			return types.Datum{}, err
		}
		v, err := values.get(valueSep)
		if err != nil {
			return types.Datum{}, err
		}
		return strToMap(row[0].S, p, v)
	}), nil
}

// strToMap cuts a text into pairs and each pair at its first value separator; without one the value is NULL.
func strToMap(s string, pairs, values *javaRegexp) (types.Datum, error) {
	m := &types.MapValue{}
	if s == "" {
		return types.AnyDatum(m), nil
	}
	parts, err := splitRegex(s, pairs)
	if err != nil {
		return types.Datum{}, err
	}
	for _, part := range parts {
		key, val := types.StrDatum(part), types.NullDatum()
		loc, err := values.match(part, 0)
		if err != nil {
			return types.Datum{}, err
		}
		if loc != nil && loc[1] == 0 && part != "" { // an empty match at the start cuts nothing off
			_, size := utf8.DecodeRuneInString(part)
			loc = []int{size, size}
		}
		if loc != nil {
			key, val = types.StrDatum(part[:loc[0]]), types.StrDatum(part[loc[1]:])
		}
		if i := findDatum(types.String(), m.Keys, key); i >= 0 {
			m.Vals[i] = val
			continue
		}
		m.Keys, m.Vals = append(m.Keys, key), append(m.Vals, val)
	}
	return types.AnyDatum(m), nil
}

// splitRegex is String.split of Java: empty parts at the end are dropped, an empty match at the start cuts nothing off.
func splitRegex(s string, re *javaRegexp) ([]string, error) {
	var parts []string
	at := 0
	err := re.each(s, func(loc []int) {
		if loc[1] == 0 || loc[0] == loc[1] && loc[0] == len(s) {
			return
		}
		parts = append(parts, s[at:loc[0]])
		at = loc[1]
	})
	parts = append(parts, s[at:])
	for len(parts) > 1 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	return parts, err
}
