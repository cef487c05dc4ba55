package sql

import (
	"fmt"
	"strings"
)

// Pos is a place in the text of a statement. The zero Pos means "nowhere" (nodes that were not parsed but made).
type Pos struct {
	// Offset is the number of bytes before the place.
	Offset int32
	// Line and Column count from 1. Column counts UTF-16 code units, as Flink's messages do; a tab is one of them.
	Line, Column int32
}

// IsValid tells whether p is a place at all.
func (p Pos) IsValid() bool { return p.Line > 0 }

// String gives the place in the words of Flink's messages: "line 1, column 8".
func (p Pos) String() string { return fmt.Sprintf("line %d, column %d", p.Line, p.Column) }

// Span is the stretch of text that a node was read from: From is its first byte, To the place just behind its last one. Every node
// embeds one. Spans take no part in the equality of trees.
type Span struct {
	From, To Pos
}

// Pos returns the place of the node's first byte.
func (s Span) Pos() Pos { return s.From }

// End returns the place just behind the node's last byte.
func (s Span) End() Pos { return s.To }

// Node is any part of a syntax tree. The set of nodes is closed: all of them are in this package.
type Node interface {
	// Pos and End bound the text of the node; String is [Format] of it.
	Pos() Pos
	End() Pos
	String() string
}

// Stmt is a whole statement.
type Stmt interface {
	Node
	stmtNode()
}

// Expr is an expression, or something that stands where an expression may stand (an argument such as a [Descriptor], a unit such
// as DAY, a star).
type Expr interface {
	Node
	exprNode()
}

// QueryBody is what a [Query] orders and limits: [*Select], [*SetOp], [*Values], [*TableQuery], or a [*Query] in parentheses.
type QueryBody interface {
	Node
	queryNode()
}

// TableRef is an item of a FROM clause: [*TableName], [*DerivedTable], [*Unnest], [*TableFunc], [*Join], [*MatchRecognize],
// [*Pivot] or [*Unpivot].
type TableRef interface {
	Node
	tableRefNode()
}

// Ident is one segment of a name.
type Ident struct {
	Span
	// Name is the name itself, without back-ticks and with doubled back-ticks undone. Its case is kept: names are case-sensitive.
	Name string
	// Quoted tells that it was written in back-ticks. It takes no part in the equality of trees.
	Quoted bool
}

// Name is a dotted name of one or more segments: a catalog object, a function, or, as an expression, a column or a field of one.
// Which of its segments name the table and which the fields of a row only the binder can tell.
type Name struct {
	Span
	Parts []Ident
}

func (*Name) exprNode() {}

// oneName is a name with room for its only segment.
type oneName struct {
	Name
	part [1]Ident
}

// nameOf makes a name of one segment.
func nameOf(id Ident) *Name {
	n := &oneName{Name: Name{Span: id.Span}, part: [1]Ident{id}}
	n.Parts = n.part[:1:1]
	return &n.Name
}

// NewName makes a name that stands nowhere in a text.
func NewName(parts ...string) *Name {
	n := &Name{Parts: make([]Ident, len(parts))}
	for i, p := range parts {
		n.Parts[i].Name = p
	}
	return n
}

// Strings returns the segments as plain strings.
func (n *Name) Strings() []string {
	s := make([]string, len(n.Parts))
	for i := range n.Parts {
		s[i] = n.Parts[i].Name
	}
	return s
}

// Last returns the last segment.
func (n *Name) Last() string { return n.Parts[len(n.Parts)-1].Name }

// Dotted returns the segments joined by dots without any quoting, as messages show names.
func (n *Name) Dotted() string {
	if len(n.Parts) == 1 {
		return n.Parts[0].Name
	}
	return strings.Join(n.Strings(), ".")
}

// Property is one 'key' = 'value' pair of a WITH or SET clause.
type Property struct {
	Span
	Key, Value *Literal
}

// Properties is a parenthesised list of properties. A nil *Properties is an absent clause; an empty one was written "()". The
// order is that of the text and a key may occur twice (the last one counts).
type Properties struct {
	Span
	List []*Property
}

// PartitionSpec is a PARTITION clause: columns with a constant each; Value is nil where only the column is named.
type PartitionSpec struct {
	Span
	Items []*PartitionItem
}

// PartitionItem is one column of a [PartitionSpec].
type PartitionItem struct {
	Span
	Column Ident
	Value  Expr
}
