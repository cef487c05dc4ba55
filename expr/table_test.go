package expr

import (
	"fmt"
	"strings"
	"testing"

	"runnel/types"
)

// TestFunctionTable checks that every row is whole: a sentence with the signature in front, and a way to be evaluated.
func TestFunctionTable(t *testing.T) {
	functionTable.once.Do(loadFunctions)
	for name, f := range functionTable.index {
		if name != strings.ToUpper(name) || f.bind == nil || f.kernel == nil && f.rewrite == nil {
			t.Errorf("%s is not whole", name)
		}
		if !strings.HasSuffix(f.Doc, ".") {
			t.Errorf("%s: %q is no sentence", name, f.Doc)
		}
		if !f.Operator && !strings.HasPrefix(f.Doc, f.Name) {
			t.Errorf("%s: %q does not begin with the signature", name, f.Doc)
		}
	}
	if n := len(Functions()); n < 160 {
		t.Errorf("only %d functions", n)
	}
	if Lookup("char_length") == nil || Lookup("character_length") != Lookup("CHAR_LENGTH") || Lookup("NOPE") != nil {
		t.Error("names are found wrongly")
	}
}

// TestRefusals has Flink's words for calls that do not fit.
func TestRefusals(t *testing.T) {
	str, num := NewString("a"), NewInt(1)
	for _, c := range []struct {
		name string
		args []Expr
		want string
	}{
		{"+", []Expr{num, str}, "Cannot apply '+' to arguments of type '<INTEGER> + <CHAR(1)>'. Supported form(s): '<NUMERIC> + <NUMERIC>'"},
		{"-", []Expr{str}, "Cannot apply '-' to arguments of type '-<CHAR(1)>'. Supported form(s): '<NUMERIC> - <NUMERIC>'"},
		{"UPPER", []Expr{num}, "Cannot apply 'UPPER' to arguments of type 'UPPER(<INTEGER>)'. Supported form(s): 'UPPER(<CHARACTER>)'"},
		{"UPPER", []Expr{str, str}, "Invalid number of arguments to function 'UPPER'. Was expecting 1 arguments"},
		{"NOPE", []Expr{num, str}, "No match found for function signature NOPE(<NUMERIC>, <CHARACTER>)"},
		{"=", []Expr{num, str}, "implicit type conversion between INTEGER and CHAR is not supported now"},
		{"MOD", []Expr{NewConst(types.FloatDatum(1.5), types.Of(types.Double)), num},
			"Cannot apply 'MOD' to arguments of type 'MOD(<DOUBLE>, <INTEGER>)'. Supported form(s): 'MOD(<EXACT_NUMERIC>, <EXACT_NUMERIC>)'"},
		{"CHAR_LENGTH", []Expr{NewNull()}, "Illegal use of 'NULL'"},
	} {
		_, err := NewCall(c.name, c.args, Pos{Line: 1, Column: 8})
		var te *TypeError
		if fmt.Sprint(err) != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		} else if te, _ = err.(*TypeError); te == nil || te.Pos.Column != 8 {
			t.Errorf("%s: the error has no place", c.name)
		}
	}
	if _, err := NewCast(num, types.TimestampOf(3), false, Pos{}); err == nil || !strings.Contains(err.Error(), "TO_TIMESTAMP(FROM_UNIXTIME(") {
		t.Errorf("CAST(1 AS TIMESTAMP): %v", err)
	}
}

func TestWalking(t *testing.T) {
	fields := []types.Field{{Name: "a", Type: types.Of(types.Int)}, {Name: "b", Type: types.Of(types.Int)}, {Name: "s", Type: types.String()}}
	call := func(name string, args ...Expr) Expr { return must(NewCall(name, args, Pos{})) }
	a, b := Expr(NewCol(fields, 0)), Expr(NewCol(fields, 1))
	e := NewAnd(call(">", a, NewInt(1)), call("<", call("+", b, a), NewInt(5)), call("IS NULL", NewCol(fields, 2)))
	if got, want := e.String(), "AND(>(a, 1), <(+(b, a), 5), IS NULL(s))"; got != want {
		t.Errorf("printed as %s, want %s", got, want)
	}
	if got := fmt.Sprint(Refs(e)); got != "[0 1 2]" {
		t.Errorf("refs %s", got)
	}
	moved := MapColumns(e, func(i int) int { return i + 10 })
	if fmt.Sprint(Refs(moved)) != "[10 11 12]" || Equal(e, moved) || !Equal(e, MapColumns(moved, func(i int) int { return i - 10 })) {
		t.Errorf("moved to %s", Digest(moved))
	}
	if got := len(Conjuncts(e)); got != 3 {
		t.Errorf("%d conjuncts", got)
	}
	if got := ReplaceColumns(a, []Expr{NewInt(7)}).String(); got != "7" {
		t.Errorf("replaced by %s", got)
	}
	if IsConst(e) || !IsConst(call("+", NewInt(1), NewInt(2))) || IsConst(call("UUID")) {
		t.Error("constants are told wrongly")
	}
}

// TestFold keeps what must not be evaluated and the schema of what is.
func TestFold(t *testing.T) {
	fields := []types.Field{{Name: "a", Type: types.Of(types.Int)}}
	call := func(name string, args ...Expr) Expr { return must(NewCall(name, args, Pos{Line: 3, Column: 4})) }
	zero := call("/", NewInt(1), NewInt(0))
	a := Expr(NewCol(fields, 0))
	for _, c := range []struct {
		e    Expr
		want string
	}{
		{call("+", NewInt(1), NewInt(2)), "3"},
		{call("+", a, call("*", NewInt(2), NewInt(3))), "+(a, 6)"},
		{call("IF", NewBool(true), NewInt(1), zero), "1"},
		{call("IF", call(">", a, NewInt(0)), NewInt(1), zero), "CASE(>(a, 0), 1, /(1, 0))"},
		{call("AND", call("=", zero, NewInt(1)), NewBool(false)), "false"},
		{call("AND", NewBool(true), call(">", a, NewInt(0))), ">(a, 0)"},
		{call("COALESCE", NewInt(1), zero), "1"},
		{call("RAND"), "RAND()"},
		{call("CURRENT_DATE"), "CURRENT_DATE()"},
	} {
		got, err := Fold(c.e, nil)
		if err != nil || got.String() != c.want {
			t.Errorf("%s: %v (%v), want %s", c.e, got, err, c.want)
			continue
		}
		if !got.Type().SameIgnoringNull(c.e.Type()) {
			t.Errorf("%s changes its type from %s to %s", c.e, c.e.Type(), got.Type())
		}
	}
	if _, err := Fold(zero, nil); err == nil || !strings.Contains(err.Error(), "/ by zero") || !strings.Contains(err.Error(), "line 3, column 4") {
		t.Errorf("1/0: %v", err)
	}
}
