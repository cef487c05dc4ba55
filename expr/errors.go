package expr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"runnel/types"
)

// TypeError says that an expression does not fit its operands. Its message is Flink's.
type TypeError struct {
	Msg string
	Pos Pos
}

func (e *TypeError) Error() string { return e.Msg }

func (b *binding) errorf(format string, args ...any) error {
	return &TypeError{Msg: fmt.Sprintf(format, args...), Pos: b.pos}
}

// callForm is how messages write a call.
type callForm uint8

const (
	asFunction callForm = iota // F(<INTEGER>)
	asInfix                    // <INTEGER> + <INTEGER>
	asPrefix                   // -<INTEGER>
	asPostfix                  // <INTEGER> IS TRUE
)

// misfit is the message for operands of wrong types.
func (b *binding) misfit() error {
	forms := b.fn.forms
	if forms == "" {
		return b.errorf("Invalid input arguments. The call is %s.", b.call())
	}
	return b.errorf("Cannot apply '%s' to arguments of type '%s'. Supported form(s): %s", b.name, b.call(), forms)
}

// call writes the call with the types of its operands.
func (b *binding) call() string {
	words := make([]string, len(b.args))
	for i, a := range b.args {
		words[i] = "<" + typeWord(a.Type()) + ">"
	}
	switch {
	case b.fn.form == asInfix && len(words) == 2:
		return words[0] + " " + b.name + " " + words[1]
	case b.fn.form == asPrefix && len(words) == 1 || b.fn.form == asInfix && len(words) == 1:
		return b.name + words[0]
	case b.fn.form == asPostfix && len(words) == 1:
		return words[0] + " " + b.name
	}
	return b.name + "(" + strings.Join(words, ", ") + ")"
}

// wrongCount is the message for a wrong number of arguments.
func (b *binding) wrongCount(want int) error {
	return b.errorf("Invalid number of arguments to function '%s'. Was expecting %d arguments", b.name, want)
}

// unknown is the message for a function that does not exist; it names the nearest one that does.
func unknown(name string, args []Expr, pos Pos) error {
	words := make([]string, len(args))
	for i, a := range args {
		if a.Type().Kind == types.Null {
			return &TypeError{Msg: "Illegal use of 'NULL'", Pos: pos}
		}
		words[i] = "<" + familyWord(a.Type()) + ">"
	}
	return &TypeError{Msg: "No match found for function signature " + name + "(" + strings.Join(words, ", ") + ")", Pos: pos}
}

// TypeWord writes a type as validation messages do.
func TypeWord(t types.Type) string { return typeWord(t) }

func typeWord(t types.Type) string {
	switch attr := t.Attr; attr {
	case types.Rowtime, types.Proctime:
		return typeWord(t.Plain()) + map[types.TimeAttr]string{types.Rowtime: " *ROWTIME*", types.Proctime: " *PROCTIME*"}[attr]
	}
	switch t.Kind {
	case types.Int:
		return "INTEGER"
	case types.Varchar:
		return "VARCHAR(" + strconv.Itoa(t.Precision) + ")"
	case types.Varbinary:
		return "VARBINARY(" + strconv.Itoa(t.Precision) + ")"
	case types.TimestampLTZ:
		return "TIMESTAMP_WITH_LOCAL_TIME_ZONE(" + strconv.Itoa(t.Precision) + ")"
	case types.IntervalMonths, types.IntervalMillis:
		if t.Unit == "" && t.Kind == types.IntervalMillis {
			return "INTERVAL SECOND(3)"
		}
		return t.Name()
	case types.Array:
		return typeWord(*t.Elem) + " ARRAY"
	case types.Multiset:
		return typeWord(*t.Elem) + " MULTISET"
	case types.Map:
		return "(" + typeWord(*t.Key) + ", " + typeWord(*t.Elem) + ") MAP"
	case types.Row:
		fs := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			fs[i] = typeWord(f.Type) + " " + f.Name
		}
		return "RecordType(" + strings.Join(fs, ", ") + ")"
	case types.Raw:
		if isSymbol(t) {
			return "SYMBOL"
		}
	}
	return t.Name()
}

// familyWord writes the family of a type as the message about an unknown function does.
func familyWord(t types.Type) string {
	switch {
	case t.IsNumeric():
		return "NUMERIC"
	case t.IsString():
		return "CHARACTER"
	case t.IsBinary():
		return "BINARY"
	case isSymbol(t):
		return "SYMBOL"
	}
	return typeWord(t)
}

// errNull is given by row functions whose result is NULL.
var errNull = errors.New("null")

// at puts the row's number to an error.
func at(row int32, err error) error { return &types.RowError{Row: row, Err: err} }
