package sql

// Query is a query expression: WITH, a body, ORDER BY and the limits. As a statement it is a SELECT; inside parentheses it is a
// [QueryBody] again.
type Query struct {
	Span
	With      []*CTE
	Recursive bool
	Body      QueryBody
	OrderBy   []*OrderItem
	// Limit is the count of LIMIT n or FETCH FIRST n ROWS ONLY; nil when there is none or LIMIT ALL is written.
	Limit Expr
	// Offset is the count of OFFSET n ROWS, else nil.
	Offset Expr
}

// CTE is one name of a WITH clause.
type CTE struct {
	Span
	Name    Ident
	Columns []Ident
	Query   *Query
}

// NullOrder is NULLS FIRST or NULLS LAST.
type NullOrder uint8

// The null orders; the zero value is "not written": nulls are the smallest.
const (
	NullsDefault NullOrder = iota
	NullsFirst
	NullsLast
)

// OrderItem is one key of an ORDER BY.
type OrderItem struct {
	Span
	Expr  Expr
	Desc  bool
	Nulls NullOrder
}

// Select is SELECT with its clauses up to QUALIFY.
type Select struct {
	Span
	Hints      []*Hint
	Stream     bool
	Quantifier Quantifier
	Items      []*SelectItem
	// From is nil for a SELECT without FROM. Tables separated by commas are a [*Join] of kind CommaJoin.
	From    TableRef
	Where   Expr
	GroupBy *GroupBy
	Having  Expr
	Windows []*NamedWindow
	Qualify Expr
}

// SelectItem is one item of a select list.
type SelectItem struct {
	Span
	Expr  Expr
	Alias *Ident // nil without one
}

// GroupBy is a GROUP BY clause; Items are expressions and [*GroupingSet].
type GroupBy struct {
	Span
	Quantifier Quantifier
	Items      []Expr
}

// NamedWindow is one name of a WINDOW clause.
type NamedWindow struct {
	Span
	Name Ident
	Spec *WindowSpec
}

// WindowSpec is OVER name, OVER (..), or the body of a WINDOW definition.
type WindowSpec struct {
	Span
	// Ref is the window named: alone in OVER name, or as the base in ([name] PARTITION BY ..).
	Ref *Ident
	// Bare tells OVER name, without parentheses.
	Bare        bool
	PartitionBy []Expr
	OrderBy     []*OrderItem
	Frame       *Frame
}

// Frame is ROWS or RANGE with its bounds. Upper is nil where only one bound is written.
type Frame struct {
	Span
	Range bool
	Lower *FrameBound
	Upper *FrameBound
}

// BoundKind is the kind of a [*FrameBound].
type BoundKind uint8

// The kinds of frame bounds.
const (
	UnboundedPreceding BoundKind = iota + 1
	Preceding                    // Expr PRECEDING
	CurrentRow
	Following // Expr FOLLOWING
	UnboundedFollowing
)

// FrameBound is one bound of a [*Frame].
type FrameBound struct {
	Span
	Kind BoundKind
	Expr Expr // of Preceding and Following
}

// SetOpKind is the operator of a [*SetOp].
type SetOpKind uint8

// The set operators.
const (
	Union SetOpKind = iota + 1
	Intersect
	Except
)

// SetOp is left UNION|INTERSECT|EXCEPT [ALL] right.
type SetOp struct {
	Span
	Kind  SetOpKind
	All   bool
	L, R  QueryBody
	OpPos Pos
}

// Values is VALUES row, ..: each row is a [*Constructor], or a bare expression for a row of one column.
type Values struct {
	Span
	Rows []Expr
}

// TableQuery is TABLE name.
type TableQuery struct {
	Span
	Name *Name
}

// TableAlias is [AS] name [(column, ..)] behind a table.
type TableAlias struct {
	Span
	Name    Ident
	Columns []Ident
}

// TableName is a table, view or WITH name in a FROM clause.
type TableName struct {
	Span
	Name  *Name
	Hints []*Hint
	// AsOf is the time of FOR SYSTEM_TIME AS OF, else nil.
	AsOf   Expr
	Alias  *TableAlias
	Sample *Sample
}

// DerivedTable is [LATERAL] (query).
type DerivedTable struct {
	Span
	Lateral bool
	Query   *Query
	Alias   *TableAlias
	Sample  *Sample
}

// Unnest is UNNEST(expr, ..) [WITH ORDINALITY].
type Unnest struct {
	Span
	Lateral    bool
	Exprs      []Expr
	Ordinality bool
	Alias      *TableAlias
	Sample     *Sample
}

// TableFunc is [LATERAL] TABLE(f(..)), or f(..) alone.
type TableFunc struct {
	Span
	Lateral bool
	// Wrapped tells that it was written TABLE(f(..)). It takes no part in the meaning.
	Wrapped bool
	Call    *FuncCall
	Alias   *TableAlias
	Sample  *Sample
}

// JoinKind is the kind of a [*Join].
type JoinKind uint8

// The kinds of joins.
const (
	InnerJoin JoinKind = iota + 1
	LeftJoin
	RightJoin
	FullJoin
	CrossJoin
	CommaJoin
)

// Join is left JOIN right. At most one of On and Using is set.
type Join struct {
	Span
	Kind    JoinKind
	Natural bool
	L, R    TableRef
	On      Expr
	Using   []Ident
}

// Sample is TABLESAMPLE method(percentage) [REPEATABLE (seed)].
type Sample struct {
	Span
	// Method is BERNOULLI, SYSTEM or SUBSTITUTE.
	Method     string
	Arg        Expr
	Repeatable Expr // nil without one
}

// HintArg is one argument of a hint: a name, a literal, or 'key' = 'value'.
type HintArg struct {
	Span
	// Key is set for 'key' = 'value' and key = 'value'.
	Key Expr
	// Value is a [*Literal] or a [*Name].
	Value Expr
}

// Hint is one hint of a /*+ .. */ block.
type Hint struct {
	Span
	Name Ident
	Args []*HintArg
}

// SkipKind is where MATCH_RECOGNIZE goes on after a match.
type SkipKind uint8

// The kinds of AFTER MATCH SKIP; the zero value is "not written", which means SkipToNextRow.
const (
	SkipUnspecified SkipKind = iota
	SkipPastLastRow
	SkipToNextRow
	SkipToFirst // TO FIRST var
	SkipToLast  // TO LAST var
	SkipToVar   // TO var, which means TO LAST var
)

// RowsPerMatch is the output mode of MATCH_RECOGNIZE.
type RowsPerMatch uint8

// The output modes; the zero value is "not written", which means OneRow.
const (
	RowsUnspecified RowsPerMatch = iota
	OneRow
	AllRows
)

// MatchRecognize is input MATCH_RECOGNIZE (..) [alias].
type MatchRecognize struct {
	Span
	Input       TableRef
	PartitionBy []Expr
	OrderBy     []*OrderItem
	Measures    []*SelectItem
	Rows        RowsPerMatch
	Skip        SkipKind
	SkipVar     *Ident
	// AnchorStart and AnchorEnd tell ^ and $ around the pattern.
	AnchorStart, AnchorEnd bool
	Pattern                Pattern
	Within                 Expr
	Subsets                []*PatternSubset
	Defines                []*PatternDefine
	Alias                  *TableAlias
	Sample                 *Sample
}

// PatternSubset is name = (var, ..).
type PatternSubset struct {
	Span
	Name Ident
	Vars []Ident
}

// PatternDefine is var AS condition.
type PatternDefine struct {
	Span
	Var  Ident
	Cond Expr
}

// Pattern is a row pattern: [*PatternVar], [*PatternSeq], [*PatternAlt], [*PatternRepeat], [*PatternExclude] or [*PatternPermute].
type Pattern interface {
	Node
	patternNode()
}

// PatternVar is a pattern variable.
type PatternVar struct {
	Span
	Name Ident
}

// PatternSeq is items one after another.
type PatternSeq struct {
	Span
	Items []Pattern
}

// PatternAlt is items of which one matches: a | b.
type PatternAlt struct {
	Span
	Items []Pattern
}

// PatternRepeat is a quantified item: between Min and Max times, Max -1 for no bound. * is 0..-1, + is 1..-1, ? is 0..1.
type PatternRepeat struct {
	Span
	Item      Pattern
	Min, Max  int
	Reluctant bool
}

// PatternExclude is {- item -}.
type PatternExclude struct {
	Span
	Item Pattern
}

// PatternPermute is PERMUTE(item, ..).
type PatternPermute struct {
	Span
	Items []Pattern
}

// Pivot is input PIVOT (aggregates FOR columns IN (values)) [alias].
type Pivot struct {
	Span
	Input TableRef
	Aggs  []*SelectItem
	Axes  []*Name
	In    []*SelectItem
	Alias *TableAlias
}

// Unpivot is input UNPIVOT [INCLUDE|EXCLUDE NULLS] (measures FOR axes IN (..)) [alias].
type Unpivot struct {
	Span
	Input        TableRef
	IncludeNulls bool
	Measures     []Ident
	Axes         []Ident
	In           []*UnpivotItem
	Alias        *TableAlias
}

// UnpivotItem is (column, ..) [AS value].
type UnpivotItem struct {
	Span
	Columns []*Name
	As      Expr
}

func (*Query) queryNode()      {}
func (*Select) queryNode()     {}
func (*SetOp) queryNode()      {}
func (*Values) queryNode()     {}
func (*TableQuery) queryNode() {}

func (*TableName) tableRefNode()      {}
func (*DerivedTable) tableRefNode()   {}
func (*Unnest) tableRefNode()         {}
func (*TableFunc) tableRefNode()      {}
func (*Join) tableRefNode()           {}
func (*MatchRecognize) tableRefNode() {}
func (*Pivot) tableRefNode()          {}
func (*Unpivot) tableRefNode()        {}

func (*PatternVar) patternNode()     {}
func (*PatternSeq) patternNode()     {}
func (*PatternAlt) patternNode()     {}
func (*PatternRepeat) patternNode()  {}
func (*PatternExclude) patternNode() {}
func (*PatternPermute) patternNode() {}

func (*Query) stmtNode() {}
