package session

import (
	"fmt"
	"runtime/debug"
	"strings"

	"runnel/exec"
	"runnel/sql"
)

// Error is the failure of a statement in the shape in which clients show it.
type Error struct {
	// Class is the name under which users of Flink know and search for the failure; "" when Flink has none.
	Class string
	// Msg is what happened; its first line is Flink's where Flink has one.
	Msg string
	// Detail are lines behind two blanks: the place in the text with a caret, what was expected, the cure.
	Detail []string
	// At is the place in the statement's text, not valid where there is none.
	At  sql.Pos
	Err error
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

// contain turns a panic into the failure of the statement that met it: the jobs that run beside it must not die of it.
func contain(err *error) {
	p := recover()
	if p == nil {
		return
	}
	stack := debug.Stack()
	e := &Error{Msg: fmt.Sprintf("internal error: %v", p), Err: &exec.PanicError{Value: p, Stack: stack}, Detail: []string{
		"  This is a defect of runnel; jobs that run go on. Please report it with the statement.",
	}}
	_, from, _ := strings.Cut(string(stack), "panic(")
	for line := range strings.Lines(from) {
		if name, _, ok := strings.Cut(line, "("); ok && strings.HasPrefix(name, "runnel/") {
			e.Detail[0] += " It happened in " + name + "."
			break
		}
	}
	*err = e
}
