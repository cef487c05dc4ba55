package catalog

import (
	"fmt"

	"runnel/sql"
)

// The classes of refusals, with the names under which users of Flink know and search for them.
const (
	ValidationError = "org.apache.flink.table.api.ValidationException"
	TableError      = "org.apache.flink.table.api.TableException"
	NameError       = "org.apache.calcite.sql.validate.SqlValidatorException"
	SyntaxError     = "org.apache.flink.sql.parser.error.SqlValidateException"
	CatalogError    = "org.apache.flink.table.catalog.exceptions.CatalogException"
	ArgumentError   = "java.lang.IllegalArgumentException"
	UnsupportedOp   = "java.lang.UnsupportedOperationException"

	exceptions = "org.apache.flink.table.catalog.exceptions."
)

// Error is the refusal of a statement: what is wrong, where, and what cures it.
type Error struct {
	// Class names the kind of the refusal as Flink's client prints it in front of the message.
	Class string
	// Msg is the message; where Flink's words are known its first line has them.
	Msg string
	// Hint is the cure, one sentence, "" for none.
	Hint string
	// At is the place in the text of the statement; not valid when no place is to blame.
	At sql.Span
	// Err is the cause, nil for none. Its text is part of Msg.
	Err error
}

// Error gives the message with the hint behind it.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Msg
	}
	return e.Msg + "\n" + e.Hint
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes a refusal without a place.
func Errorf(class, format string, args ...any) *Error {
	return &Error{Class: class, Msg: fmt.Sprintf(format, args...)}
}

// Node gives the refusal the place of a syntax node, unless it has one or n is nil.
func (e *Error) Node(n sql.Node) *Error {
	if n != nil && !e.At.From.IsValid() {
		e.At = sql.Span{From: n.Pos(), To: n.End()}
	}
	return e
}

// Cure adds a hint.
func (e *Error) Cure(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

func tableExists(p Path) *Error {
	return Errorf(exceptions+"TableAlreadyExistException", "Table (or view) %s.%s already exists in Catalog %s.",
		p.Database, p.Name, p.Catalog)
}

func noDatabase(catalog, database string) *Error {
	return Errorf(exceptions+"DatabaseNotExistException", "Database %s does not exist in Catalog %s.", database, catalog)
}
