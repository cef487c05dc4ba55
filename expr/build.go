package expr

import (
	"fmt"
	"strings"

	"runnel/types"
)

// NewCol reads column i of fields.
func NewCol(fields []types.Field, i int) *Col {
	return &Col{Index: i, Name: fields[i].Name, T: fields[i].Type}
}

// NewConst makes a literal; its type is NOT NULL unless the value is NULL.
func NewConst(v types.Datum, t types.Type) *Const {
	return &Const{Value: v, T: t.Plain().Nullable(v.Null)}
}

// NewNull is a bare NULL.
func NewNull() *Const { return &Const{Value: types.NullDatum(), T: types.Of(types.Null)} }

// NewBool is TRUE or FALSE.
func NewBool(v bool) *Const { return NewConst(types.BoolDatum(v), types.Of(types.Boolean)) }

// NewInt is an INT, or a BIGINT where v needs it.
func NewInt(v int64) *Const {
	k := types.Int
	if v != int64(int32(v)) {
		k = types.BigInt
	}
	return NewConst(types.IntDatum(v), types.Of(k))
}

// NewString is a character literal: CHAR(n), n counting UTF-16 units as Flink does.
func NewString(s string) *Const {
	return NewConst(types.StrDatum(s), types.CharOf(utf16Len(s)))
}

// symbolClass marks the type of a symbol: a word among the arguments of a call that is no value.
const symbolClass = "SYMBOL"

// NewSymbol is a word that stands among the arguments of a call: a time unit, a side of TRIM, a JSON behaviour.
func NewSymbol(word string) *Const {
	return &Const{Value: types.StrDatum(strings.ToUpper(word)), T: types.Type{Kind: types.Raw, Class: symbolClass, NotNull: true}}
}

func isSymbol(t types.Type) bool { return t.Kind == types.Raw && t.Class == symbolClass }

// takesSymbols are the functions with a symbol among their arguments.
var takesSymbols = map[string]bool{"EXTRACT": true, "FLOOR": true, "CEIL": true, "TIMESTAMPADD": true, "TIMESTAMPDIFF": true,
	"MINUS_DATE": true, "TRIM": true}

// symbol gives the word of a symbol.
func symbol(e Expr) (string, bool) {
	c, ok := e.(*Const)
	if !ok || !isSymbol(c.T) {
		return "", false
	}
	return c.Value.S, true
}

// NewCall binds a call of a scalar function or an operator: it checks the arguments, inserts implicit casts and derives
// the type. The error is a *TypeError in Flink's words.
func NewCall(name string, args []Expr, pos Pos) (Expr, error) {
	upper := strings.ToUpper(name)
	f := Lookup(upper)
	if f == nil {
		return nil, unknown(upper, args, pos)
	}
	if k := negated(upper, args); k != nil {
		return k, nil
	}
	b := &binding{fn: f, name: upper, args: append([]Expr(nil), args...), pos: pos}
	for _, a := range args {
		if isSymbol(a.Type()) && !takesSymbols[f.Name] {
			return nil, b.misfit()
		}
	}
	t, err := f.bind(b)
	if err != nil {
		return nil, err
	}
	if f.rewrite != nil {
		return f.rewrite(b, t)
	}
	return &Call{Func: f, Args: b.args, T: t, Pos: pos}, nil
}

// negated gives the literal -k for a number k, nil for anything else: a sign in front of a number is part of it.
func negated(op string, args []Expr) *Const {
	if op != "-" || len(args) != 1 {
		return nil
	}
	k, ok := args[0].(*Const)
	if !ok || k.Value.Null || !k.T.IsNumeric() {
		return nil
	}
	v := k.Value
	switch k.T.Phys() {
	case types.PhysInt:
		v = types.IntDatum(wrap(k.T.Kind, -v.I))
	case types.PhysFloat:
		if v.Float() != 0 { // a literal has no negative zero
			v = types.FloatDatum(-v.Float())
		}
	default:
		v = types.WideDatum(v.Wide().Neg())
	}
	return &Const{Value: v, T: k.T}
}

// must is for calls that are built from operands that are known to fit.
func must(e Expr, err error) Expr {
	if err != nil {
		panic(fmt.Sprintf("expr: building a call: %v", err))
	}
	return e
}

// NewCast is CAST(e AS t), or TRY_CAST. The result is nullable as e is (TRY_CAST: always), whatever t says.
func NewCast(e Expr, t types.Type, try bool, pos Pos) (Expr, error) {
	from := e.Type()
	if msg := castProblem(from, t); msg != "" {
		return nil, &TypeError{Msg: msg, Pos: pos}
	}
	if t.Kind == types.Time {
		t.Precision = 0 // Flink 1.20: types.md 1
	}
	return &Cast{Arg: e, T: t.Plain().Nullable(try || !from.NotNull), Try: try, Pos: pos}, nil
}

// ImplicitCastTo gives e as a value of type t (nullability aside): e itself when it has that type already.
func ImplicitCastTo(e Expr, t types.Type) Expr { return implicitCast(e, t, Pos{}) }

func implicitCast(e Expr, t types.Type, pos Pos) Expr {
	from := e.Type()
	if from.SameIgnoringNull(t) && from.Kind != types.Null {
		return e
	}
	t = t.Plain().Nullable(!from.NotNull)
	if c, ok := e.(*Const); ok && c.Value.Null {
		return &Const{Value: c.Value, T: t}
	}
	return &Cast{Arg: e, T: t, Implicit: true, Pos: pos}
}

// NewCase is CASE WHEN .. THEN .. ELSE .. END; els may be nil. The branches are cast to their common type.
func NewCase(whens []When, els Expr, pos Pos) (Expr, error) {
	if els == nil {
		els = NewNull()
	}
	branches := make([]Expr, 0, len(whens)+1)
	for _, w := range whens {
		if k := w.Cond.Type().Kind; k != types.Boolean && k != types.Null {
			return nil, &TypeError{Msg: "Expected a boolean type", Pos: pos}
		}
		branches = append(branches, w.Then)
	}
	branches = append(branches, els)
	t, ok := LeastRestrictive(typesOf(branches)...)
	if !ok || isSymbol(t) {
		return nil, &TypeError{Msg: "Illegal mixing of types in CASE or COALESCE statement", Pos: pos}
	}
	if t.Kind == types.Null {
		return nil, &TypeError{Msg: "ELSE clause or at least one THEN clause must be non-NULL", Pos: pos}
	}
	c := &Case{Whens: make([]When, len(whens)), T: t, Else: implicitCast(els, t, pos)}
	for i, w := range whens {
		c.Whens[i] = When{Cond: implicitCast(w.Cond, types.Of(types.Boolean), pos), Then: implicitCast(w.Then, t, pos)}
	}
	return c, nil
}

// NewField reads field i of a ROW.
func NewField(e Expr, i int) (Expr, error) {
	t := e.Type()
	if t.Kind != types.Row || i < 0 || i >= len(t.Fields) {
		return nil, &TypeError{Msg: fmt.Sprintf("field %d of %s does not exist", i, t)}
	}
	f := t.Fields[i]
	return &Field{Arg: e, Index: i, Name: f.Name, T: f.Type.Nullable(!t.NotNull || !f.Type.NotNull)}, nil
}

// NewAnd joins conditions; nil ones are left out. It is nil for none.
func NewAnd(conds ...Expr) Expr { return junction("AND", conds) }

// NewOr joins alternatives; nil ones are left out. It is nil for none.
func NewOr(conds ...Expr) Expr { return junction("OR", conds) }

func junction(op string, conds []Expr) Expr {
	var args []Expr
	for _, c := range conds {
		if call, ok := c.(*Call); ok && call.Func.Name == op {
			args = append(args, call.Args...)
		} else if c != nil {
			args = append(args, c)
		}
	}
	switch len(args) {
	case 0:
		return nil
	case 1:
		return args[0]
	}
	return must(NewCall(op, args, Pos{}))
}

// NewNot negates a condition.
func NewNot(cond Expr) Expr { return must(NewCall("NOT", []Expr{cond}, Pos{})) }

// Conjuncts splits a condition at its ANDs; nil gives none.
func Conjuncts(cond Expr) []Expr {
	if cond == nil {
		return nil
	}
	c, ok := cond.(*Call)
	if !ok || c.Func.Name != "AND" {
		return []Expr{cond}
	}
	var all []Expr
	for _, a := range c.Args {
		all = append(all, Conjuncts(a)...)
	}
	return all
}
