package expr

import (
	"time"

	"runnel/types"
)

// Expr is a node of a typed expression. Trees are immutable once built and may be shared.
type Expr interface {
	// Type is the node's type, nullability and time attribute included.
	Type() types.Type
	// String prints the node in the manner of Flink's plans: +(a, 1), CAST(a AS STRING), (a = b).
	String() string
	expr()
}

// Col reads a column of the input row.
type Col struct {
	Index int
	Name  string // for printing
	T     types.Type
}

// Const is a literal or a folded constant.
type Const struct {
	Value types.Datum
	T     types.Type
}

// Call applies a scalar function of the table, operators included. Arguments already have the types that the function
// wants: the binder inserts Cast nodes.
type Call struct {
	Func *Function
	Args []Expr
	T    types.Type
	Pos  Pos
}

// Cast converts. A Try cast gives NULL where a plain one fails.
type Cast struct {
	Arg      Expr
	T        types.Type
	Try      bool
	Implicit bool // inserted by the binder: printed as Flink prints it, fails the same
	Pos      Pos
}

// Case is CASE, with Else never nil (a NULL constant when absent). When conditions are BOOLEAN. Branches are evaluated
// under a narrowed selection: a row's errors in untaken branches do not happen.
type Case struct {
	Whens []When
	Else  Expr
	T     types.Type
}

// When is a branch of a Case.
type When struct{ Cond, Then Expr }

// Field reads a field of a ROW.
type Field struct {
	Arg   Expr
	Index int
	Name  string
	T     types.Type
}

func (c *Col) Type() types.Type   { return c.T }
func (c *Const) Type() types.Type { return c.T }
func (c *Call) Type() types.Type  { return c.T }
func (c *Cast) Type() types.Type  { return c.T }
func (c *Case) Type() types.Type  { return c.T }
func (f *Field) Type() types.Type { return f.T }

func (*Col) expr()   {}
func (*Const) expr() {}
func (*Call) expr()  {}
func (*Cast) expr()  {}
func (*Case) expr()  {}
func (*Field) expr() {}

// Pos is a place in the SQL text, for errors of the data: line and column from 1, 0 when unknown, and the number of bytes
// before it.
type Pos struct{ Line, Column, Offset int }

// Env is what compiled expressions may ask of their surroundings. One Env serves one operator instance.
type Env struct {
	Zone       *time.Location   // table.local-time-zone
	Now        func() time.Time // the job's clock: processing time; asked once per batch and expression, nil is time.Now
	QueryStart time.Time        // CURRENT_* in batch mode
	Batch      bool             // execution.runtime-mode = batch
	LegacyCast bool             // table.exec.legacy-cast-behaviour
	Watermark  func() int64     // CURRENT_WATERMARK: the operator's current watermark in ms
	Database   string           // CURRENT_DATABASE: the session's database when the statement was planned
}

// Eval is a compiled expression. It evaluates the physical rows of b named by sel (never nil, ascending) and gives a
// column whose positions are those of b: only positions in sel are meaningful. The column belongs to the Eval and is
// valid until its next call, or it is a column of b itself.
//
// When a row fails, the error is a *types.RowError for the first such row in sel; the rows of sel before it are
// evaluated and the returned column holds them.
type Eval func(b *types.Batch, sel []int32) (*types.Column, error)

// Filter is a compiled condition. It appends to dst the rows of sel for which the condition is TRUE. Errors as in Eval:
// dst then holds the rows that pass before the failing one.
type Filter func(b *types.Batch, sel, dst []int32) ([]int32, error)
