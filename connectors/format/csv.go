package format

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"runnel/connectors"
	"runnel/types"
)

// Options of csv.
var (
	optDelimiter = connectors.Option{Key: "field-delimiter", Default: ",",
		Doc: "The one character between fields; escapes such as \\t are understood."}
	optNoQuote = connectors.Option{Key: "disable-quote-character", Kind: connectors.BoolOption, Default: "false",
		Doc: "Neither read nor write quotes."}
	optQuote = connectors.Option{Key: "quote-character", Default: `"`,
		Doc: "The character round fields that hold a delimiter; doubled within such a field."}
	optComments = connectors.Option{Key: "allow-comments", Kind: connectors.BoolOption, Default: "false",
		Doc: "Skip lines that begin with #."}
	optArrayDelimiter = connectors.Option{Key: "array-element-delimiter", Default: ";",
		Doc: "The one character between the elements of an ARRAY or ROW."}
	optEscape = connectors.Option{Key: "escape-character",
		Doc: "A character that makes the next one literal; \\n and the like become control characters."}
	optNullLiteral = connectors.Option{Key: "null-literal",
		Doc: "Text that stands for NULL, read and written."}
	optScientific = connectors.Option{Key: "write-bigdecimal-in-scientific-notation", Kind: connectors.BoolOption, Default: "false",
		Doc: "Write DECIMAL with an exponent where it is shorter, e.g. 1E+2."}
)

// CSV is the format "csv".
func CSV() connectors.Format {
	return connectors.Format{
		Name: "csv",
		Doc:  "One line of delimited fields per message, in the order of the columns.",
		Options: []connectors.Option{optDelimiter, optNoQuote, optQuote, optComments, optIgnoreErrors, optArrayDelimiter, optEscape,
			optNullLiteral, optScientific},
		Mode:    types.InsertOnly,
		Decoder: newCSVDecoder,
		Encoder: newCSVEncoder,
	}
}

// csvForm is what reader and writer share.
type csvForm struct {
	fields  []csvField
	sep     string // one character
	quote   string // "" for none
	escape  string // "" for none
	elemSep string
	null    string
	hasNull bool
}

// csvField is a column, with one level of elements or fields below it.
type csvField struct {
	name  string
	kind  jsonKind
	t     types.Type
	elems []csvField // ARRAY: one; ROW: its fields
}

func newCSVForm(r connectors.FormatRequest) (f csvForm, err error) {
	if f.sep, err = oneCharacter(r, optDelimiter, unescapeJava(r.Options.Get(optDelimiter))); err != nil {
		return f, err
	}
	noQuote, err := r.Options.Bool(optNoQuote)
	if err != nil {
		return f, err
	}
	if _, set := r.Options.Lookup(optQuote); set && noQuote {
		return f, fmt.Errorf("Format cannot define a quote character and disabled quote character at the same time.")
	}
	if !noQuote {
		if f.quote, err = oneCharacter(r, optQuote, r.Options.Get(optQuote)); err != nil {
			return f, err
		}
	}
	if f.elemSep, err = oneCharacter(r, optArrayDelimiter, r.Options.Get(optArrayDelimiter)); err != nil {
		return f, err
	}
	if v, set := r.Options.Lookup(optEscape); set {
		if f.escape, err = oneCharacter(r, optEscape, v); err != nil {
			return f, err
		}
	}
	f.null, f.hasNull = r.Options.Lookup(optNullLiteral)
	for _, c := range r.Fields {
		field, err := newCSVField(c.Name, c.Type, 0)
		if err != nil {
			return f, err
		}
		f.fields = append(f.fields, field)
	}
	return f, nil
}

func oneCharacter(r connectors.FormatRequest, opt connectors.Option, v string) (string, error) {
	if c, _ := utf8.DecodeRuneInString(v); utf8.RuneCountInString(v) != 1 || c > 0xffff {
		return "", fmt.Errorf("Option '%s%s' must be a string with single character, but was: %s", r.Prefix, opt.Key, r.Options.Get(opt))
	}
	return v, nil
}

func newCSVField(name string, t types.Type, depth int) (csvField, error) {
	f := csvField{name: name, kind: jsonKindOf(t), t: t}
	var inner []types.Field
	switch t.Kind {
	case types.Array:
		inner = []types.Field{{Name: name, Type: *t.Elem}}
	case types.Row:
		inner = t.Fields
	case types.Map, types.Multiset, types.Raw, types.Descriptor, types.Null:
		return f, &connectors.Refused{Class: "java.lang.IllegalArgumentException", Msg: fmt.Sprintf("Unsupported type '%s' for field '%s'.", t.Name(), name)}
	default:
		return f, nil
	}
	if depth > 0 {
		return f, fmt.Errorf("Only simple types are supported in the second level nesting of fields '%s' but was: %s", name, t.Name())
	}
	for _, c := range inner {
		e, err := newCSVField(c.Name, c.Type, depth+1)
		if err != nil && c.Type.Kind == types.Map || err != nil && c.Type.Kind == types.Multiset {
			err = fmt.Errorf("Only simple types are supported in the second level nesting of fields '%s' but was: %s", name, c.Type.Name())
		}
		if err != nil {
			return f, err
		}
		f.elems = append(f.elems, e)
	}
	return f, nil
}

// unescapeJava undoes the escapes of a Java literal.
func unescapeJava(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; {
		case strings.IndexByte("btnfr", c) >= 0:
			b.WriteByte("\b\t\n\f\r"[strings.IndexByte("btnfr", c)])
		case c == 'u' && i+4 < len(s):
			n, err := strconv.ParseUint(s[i+1:i+5], 16, 32)
			if err != nil {
				return s
			}
			b.WriteRune(rune(n))
			i += 4
		case c-'0' <= 7:
			j := i + 1
			for j < len(s) && j < i+3 && s[j]-'0' <= 7 {
				j++
			}
			n, _ := strconv.ParseUint(s[i:j], 8, 32)
			b.WriteRune(rune(n))
			i = j - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
