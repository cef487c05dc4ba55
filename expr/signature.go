package expr

import (
	"strings"

	"runnel/types"
)

// family is a set of types that an argument may have, under the name that messages use.
type family struct {
	name string
	has  func(types.Type) bool
}

var families = map[string]func(types.Type) bool{
	"CHARACTER":     types.Type.IsString,
	"BINARY":        types.Type.IsBinary,
	"STRING":        func(t types.Type) bool { return t.IsString() || t.IsBinary() },
	"NUMERIC":       types.Type.IsNumeric,
	"INTEGER":       types.Type.IsInteger,
	"EXACT_NUMERIC": func(t types.Type) bool { return t.IsInteger() || t.Kind == types.Decimal },
	"BOOLEAN":       func(t types.Type) bool { return t.Kind == types.Boolean },
	"DATE":          func(t types.Type) bool { return t.Kind == types.Date },
	"TIME":          func(t types.Type) bool { return t.Kind == types.Time },
	"TIMESTAMP":     func(t types.Type) bool { return t.Kind == types.Timestamp || t.Kind == types.TimestampLTZ },
	"DATETIME":      types.Type.IsTemporal,
	"INTERVAL":      types.Type.IsInterval,
	"ARRAY":         func(t types.Type) bool { return t.Kind == types.Array },
	"MAP":           func(t types.Type) bool { return t.Kind == types.Map },
	"SYMBOL":        isSymbol,
	"ANY":           func(types.Type) bool { return true },
}

// resultRule gives the type of a call whose arguments fit; its nullability is set by the caller of the rule.
type resultRule func(b *binding) types.Type

// give is the rule of a fixed type.
func give(t types.Type) resultRule { return func(*binding) types.Type { return t } }

// giveKind is the rule of a fixed type without parameters.
func giveKind(k types.Kind) resultRule { return give(types.Of(k)) }

// giveText is the rule of functions that give STRING.
func giveText(*binding) types.Type { return types.String() }

// giveVarchar is the rule of functions that give a part of their first argument.
func giveVarchar(b *binding) types.Type { return types.VarcharOf(b.args[0].Type().Precision) }

// giveFirst is the rule of functions that give the type of their first argument.
func giveFirst(b *binding) types.Type { return b.args[0].Type().Plain() }

// signature says which arguments a function takes.
type signature struct {
	params   []family
	required int
	repeat   bool // the last parameter may be repeated
}

// takes reads a signature: "CHARACTER, INTEGER, [INTEGER]"; brackets mark optional parameters, "..." behind the last one
// that it may be repeated.
func takes(text string) *signature {
	s := &signature{}
	if text == "" {
		return s
	}
	if t, ok := strings.CutSuffix(text, "..."); ok {
		s.repeat, text = true, t
	}
	for p := range strings.SplitSeq(text, ", ") {
		name := strings.Trim(p, "[]")
		if name == p {
			s.required++
		}
		has, ok := families[name]
		if !ok {
			panic("expr: no family " + name)
		}
		s.params = append(s.params, family{name, has})
	}
	return s
}

// check refuses a call that does not fit.
func (s *signature) check(b *binding) error {
	if n := len(b.args); n < s.required || n > len(s.params) && !s.repeat {
		return b.wrongCount(s.required)
	}
	for i, a := range b.args {
		t := a.Type()
		p := s.param(i)
		if t.Kind == types.Null {
			if p.name == "ANY" {
				continue
			}
			return b.errorf("Illegal use of 'NULL'")
		}
		if !p.has(t) {
			return s.misfit(b)
		}
	}
	return nil
}

func (s *signature) param(i int) family { return s.params[min(i, len(s.params)-1)] }

// misfit is the message for operands of wrong types.
func (s *signature) misfit(b *binding) error {
	if b.fn.forms != "" {
		return b.misfit()
	}
	words := make([]string, max(s.required, min(len(b.args), len(s.params))))
	for i := range words {
		words[i] = "<" + s.params[i].name + ">"
	}
	return b.errorf("Cannot apply '%s' to arguments of type '%s'. Supported form(s): '%s(%s)'",
		b.name, b.call(), b.name, strings.Join(words, ", "))
}

// to makes the bind function of a signature: the result is nullable when an argument is.
func (s *signature) to(rule resultRule) func(*binding) (types.Type, error) {
	return func(b *binding) (types.Type, error) {
		if err := s.check(b); err != nil {
			return types.Type{}, err
		}
		null := anyNullable(b.args)
		return rule(b).Nullable(null), nil
	}
}

// toMaybe is to with a result that is always nullable.
func (s *signature) toMaybe(rule resultRule) func(*binding) (types.Type, error) {
	return func(b *binding) (types.Type, error) {
		if err := s.check(b); err != nil {
			return types.Type{}, err
		}
		return rule(b).Optional(), nil
	}
}

// toSure is to with a result that is never NULL.
func (s *signature) toSure(rule resultRule) func(*binding) (types.Type, error) {
	return func(b *binding) (types.Type, error) {
		if err := s.check(b); err != nil {
			return types.Type{}, err
		}
		return rule(b).Required(), nil
	}
}

// asDoubles casts all arguments to DOUBLE.
func asDoubles(bind func(*binding) (types.Type, error)) func(*binding) (types.Type, error) {
	return func(b *binding) (types.Type, error) {
		t, err := bind(b)
		if err != nil {
			return t, err
		}
		for i := range b.args {
			b.cast(i, types.Of(types.Double))
		}
		return t, nil
	}
}

// rows1 makes the kernel of a function of one value that may fail; for a function of one text and others likewise.
func rows1[A, R any](f func(A) (R, error)) func(*compiler, *Call) (Eval, error) {
	return func(c *compiler, call *Call) (Eval, error) {
		args, err := c.args(call)
		if err != nil {
			return nil, err
		}
		return unary(call.T, args[0], f), nil
	}
}

// pure1 is rows1 for functions that cannot fail.
func pure1[A, R any](f func(A) R) func(*compiler, *Call) (Eval, error) {
	return func(c *compiler, call *Call) (Eval, error) {
		args, err := c.args(call)
		if err != nil {
			return nil, err
		}
		return castSure(f).eval(call.T, args[0]), nil
	}
}

// rows2 is rows1 for two values.
func rows2[A, B, R any](f func(A, B) (R, error)) func(*compiler, *Call) (Eval, error) {
	return func(c *compiler, call *Call) (Eval, error) {
		args, err := c.args(call)
		if err != nil {
			return nil, err
		}
		return binaryRow(call.T, args, f), nil
	}
}

// rows3 is rows1 for three values.
func rows3[A, B, C, R any](f func(A, B, C) (R, error)) func(*compiler, *Call) (Eval, error) {
	return func(c *compiler, call *Call) (Eval, error) {
		args, err := c.args(call)
		if err != nil {
			return nil, err
		}
		return ternaryRow(call.T, args, f), nil
	}
}

// boxed makes the kernel of a function of boxed values; f sees NULLs only when nulls is set, else they give NULL.
func boxed(nulls bool, f func(call *Call) func([]types.Datum) (types.Datum, error)) func(*compiler, *Call) (Eval, error) {
	return func(c *compiler, call *Call) (Eval, error) {
		args, err := c.args(call)
		if err != nil {
			return nil, err
		}
		g := f(call)
		if nulls {
			return datums(call.T, args, g), nil
		}
		return datums(call.T, args, func(row []types.Datum) (types.Datum, error) {
			for _, d := range row {
				if d.Null {
					return d, nil
				}
			}
			return g(row)
		}), nil
	}
}
