package session

import (
	"context"

	"runnel/types"
)

// ResultKind says what a statement gave.
type ResultKind uint8

const (
	// Done: the statement succeeded and has nothing to show (Flink's OK).
	Done ResultKind = iota
	// Table: a bounded answer of SHOW, DESCRIBE, EXPLAIN, SET and the like.
	Table
	// Submitted: one or more INSERTs run as the job JobID.
	Submitted
	// Completed: the INSERT's job has run to its end (table.dml-sync).
	Completed
	// Query: the changelog of a SELECT, which runs as the job JobID until it ends or Rows is closed.
	Query
	// Checked: the statement was planned and not run (Options.CheckOnly); the notices say what of it.
	Checked
)

// Result is what a statement gave. Rows is set for Table and Query, and the caller closes it.
type Result struct {
	Kind    ResultKind
	Fields  []types.Field
	Rows    Rows
	JobID   string // 32 hex digits
	JobName string
	Batch   bool // a Query in batch mode: rows are +I, shown when all have come
	// Notices are lines for the user that are no part of the answer: warnings about unknown keys, a restored savepoint,
	// a job that waits for slots. Each is one line without an end.
	Notices []string
}

// Rows iterates over changelog rows. It is used by one goroutine.
type Rows interface {
	// Next gives the next rows, at least one, valid until the next call; io.EOF at the end. It blocks until there are
	// rows, the query ends or ctx is done.
	Next(ctx context.Context) (*types.Batch, error)
	// Close ends a query's job and waits for it.
	Close() error
}
