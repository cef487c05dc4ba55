package session

// Error is the failure of a statement in the shape in which clients show it.
type Error struct {
	// Class is the name under which users of Flink know and search for the failure; "" when Flink has none.
	Class string
	// Msg is what happened; its first line is Flink's where Flink has one.
	Msg string
	// Detail are lines behind two blanks: the place in the text with a caret, what was expected, the cure.
	Detail []string
	Err    error
}

// Error gives class and message, as Flink's client prints them.
func (e *Error) Error() string {
	if e.Class == "" {
		return e.Msg
	}
	return e.Class + ": " + e.Msg
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }
