package plan

import (
	"errors"
	"strconv"
	"strings"

	"runnel/catalog"
	"runnel/connectors"
	"runnel/expr"
	"runnel/sql"
)

// The classes of the planner's refusals.
const (
	validation = catalog.ValidationError
	tableError = catalog.TableError
	nameError  = catalog.NameError
)

// refuse makes a refusal at a node of the syntax tree.
func refuse(class string, at sql.Node, format string, args ...any) *catalog.Error {
	e := catalog.Errorf(class, format, args...)
	if at != nil {
		e.Node(at)
	}
	return e
}

// connectorRefuses makes the refusal of a table by its connector or format.
func connectorRefuses(err error, at sql.Node) *catalog.Error {
	class := validation
	var refused *connectors.Refused
	if errors.As(err, &refused) {
		class = refused.Class
	}
	e := refuse(class, at, "%s", err)
	e.Err = err
	return e
}

// unsupported refuses something that the language has and this planner has not.
func unsupported(at sql.Node, what string) error {
	return refuse(tableError, at, "%s not supported yet.", what)
}

// typeError gives the error of an expression builder the place of the node that was built.
func typeError(err error, at sql.Node) error {
	var te *expr.TypeError
	if errors.As(err, &te) {
		switch {
		case strings.HasPrefix(te.Msg, "implicit"):
			return refuse(validation, at, "%s", te.Msg).Cure("CAST one side to the type of the other.")
		case strings.HasPrefix(te.Msg, "Invalid input arguments."):
			_, rest, _ := strings.Cut(te.Msg, "Expected signatures are:\n")
			return refuse(validation, at, "Invalid input arguments.").Cure("%s", strings.TrimSpace("It is "+rest))
		case strings.HasPrefix(te.Msg, "All types in a comparison"), strings.HasPrefix(te.Msg, "The cast from "):
			return refuse(validation, at, "%s", te.Msg)
		case strings.HasPrefix(te.Msg, "Cannot apply"):
			return refuse(nameError, at, "%s", te.Msg).Cure("CAST(value AS type) gives a value another type.")
		}
		return refuse(nameError, at, "%s", te.Msg)
	}
	return err
}

func itoa(n int) string { return strconv.Itoa(n) }
