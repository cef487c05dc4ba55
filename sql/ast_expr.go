package sql

// LiteralKind tells what a [Literal] is.
type LiteralKind uint8

// The kinds of literals. Text is meant as [Literal.Text].
const (
	// IntegerLit is an exact number without a fraction. Text is its digits.
	IntegerLit LiteralKind = iota + 1
	// DecimalLit is an exact number with a point; Text is as written ("1.50", ".5", "1.").
	DecimalLit
	// DoubleLit is a number with an exponent; Text is as written.
	DoubleLit
	// StringLit is a character string; Text is its content with all escapes undone and adjacent parts joined.
	StringLit
	// BinaryLit is X'0AFF'; Text is its hex digits as written, an even number of them.
	BinaryLit
	// TrueLit, FalseLit, UnknownLit and NullLit are the words; Text is empty.
	TrueLit
	FalseLit
	UnknownLit
	NullLit
	// DateLit, TimeLit and TimestampLit are DATE '..', TIME '..' and TIMESTAMP '..'; Text is the content of the string, which the
	// binder has to check.
	DateLit
	TimeLit
	TimestampLit
)

// Literal is a constant. Intervals are [*IntervalLit].
type Literal struct {
	Span
	Kind LiteralKind
	// Text is the content, see the kinds. A sign is never part of it: -1 is a [*Unary].
	Text string
	// Charset is the X of _X'..' in upper case, "N" for N'..', else empty. Only StringLit has one.
	Charset string
}

// IntervalLit is INTERVAL [+|-] 'text' qualifier.
type IntervalLit struct {
	Span
	Negative bool
	// Text is the content of the string, which the binder has to check against the qualifier.
	Text      string
	Qualifier IntervalQualifier
}

// IntervalExpr is an interval with a computed amount: INTERVAL n MINUTE, INTERVAL (a + 1) DAY.
type IntervalExpr struct {
	Span
	Amount    Expr
	Qualifier IntervalQualifier
}

// TimeDiff is (l - r) qualifier: the time between two points as an interval of that unit.
type TimeDiff struct {
	Span
	L, R      Expr
	Qualifier IntervalQualifier
}

// TimeUnit is a unit of time, singular and in upper case: "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", and
// those that only EXTRACT, FLOOR and the like know: "MILLISECOND", "MICROSECOND", "NANOSECOND", "DOW", "DOY", "ISODOW", "ISOYEAR",
// "EPOCH", "DECADE", "CENTURY", "MILLENNIUM".
type TimeUnit string

// IntervalQualifier is unit[(precision[, fraction])] [TO unit[(fraction)]]. Last is empty without TO. The precisions are -1 where the
// text has none.
type IntervalQualifier struct {
	Span
	First     TimeUnit
	Last      TimeUnit
	Precision int
	Fraction  int
}

// Symbol is a bare word that is an argument and no column: a unit of time in EXTRACT(DAY FROM x), FLOOR(x TO HOUR), TIMESTAMPADD(
// MINUTE, 1, x), or the side in TRIM(LEADING 'x' FROM y).
type Symbol struct {
	Span
	// Word is in upper case: a [TimeUnit] or BOTH, LEADING, TRAILING.
	Word string
}

// Star is *, or name.* where Qualifier is set.
type Star struct {
	Span
	Qualifier *Name
}

// DefaultExpr is the word DEFAULT as an argument or a value.
type DefaultExpr struct{ Span }

// Param is a question mark, a parameter that nobody sets.
type Param struct{ Span }

// UnaryOp is an operator with one operand.
type UnaryOp uint8

// The unary operators.
const (
	OpNot UnaryOp = iota + 1
	OpNeg
	OpPos
)

// Unary is an operator before its operand.
type Unary struct {
	Span
	Op UnaryOp
	X  Expr
}

// BinaryOp is an operator with two operands.
type BinaryOp uint8

// The binary operators.
const (
	OpOr BinaryOp = iota + 1
	OpAnd
	OpEq
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe
	OpIsDistinct    // IS DISTINCT FROM
	OpIsNotDistinct // IS NOT DISTINCT FROM
	OpAdd
	OpSub
	OpMul
	OpDiv
	OpMod
	OpConcat // ||
	OpMultisetUnion
	OpMultisetUnionDistinct
	OpMultisetIntersect
	OpMultisetIntersectDistinct
	OpMultisetExcept
	OpMultisetExceptDistinct
	OpMemberOf
	OpNotMemberOf // x NOT MEMBER OF y
	OpSubmultisetOf
	OpNotSubmultisetOf
	OpContains
	OpOverlaps
	OpEquals // EQUALS of periods
	OpPrecedes
	OpSucceeds
)

// Binary is an operator between its operands.
type Binary struct {
	Span
	Op   BinaryOp
	L, R Expr
	// OpPos is the place of the operator.
	OpPos Pos
}

// IsTest is what an [*Is] asks.
type IsTest uint8

// The tests of IS [NOT].
const (
	IsNull IsTest = iota + 1
	IsTrue
	IsFalse
	IsUnknown
	IsJSON // IS JSON and IS JSON VALUE
	IsJSONObject
	IsJSONArray
	IsJSONScalar
	IsASet
	IsEmpty
)

// Is is x IS [NOT] test.
type Is struct {
	Span
	X    Expr
	Not  bool
	Test IsTest
}

// Between is x [NOT] BETWEEN [SYMMETRIC] low AND high.
type Between struct {
	Span
	X         Expr
	Not       bool
	Symmetric bool
	Low, High Expr
}

// In is x [NOT] IN (list) or x [NOT] IN (query). One of List and Query is set.
type In struct {
	Span
	X     Expr
	Not   bool
	List  []Expr
	Query *Query
}

// LikeKind is the kind of a pattern match.
type LikeKind uint8

// The kinds of pattern matches.
const (
	Like LikeKind = iota + 1
	ILike
	RLike
	SimilarTo
)

// LikeExpr is x [NOT] LIKE pattern [ESCAPE escape], and the same with ILIKE, RLIKE and SIMILAR TO.
type LikeExpr struct {
	Span
	X       Expr
	Not     bool
	Kind    LikeKind
	Pattern Expr
	Escape  Expr // nil without ESCAPE
}

// Quantified is x op SOME|ALL (list or query); ANY is SOME.
type Quantified struct {
	Span
	X     Expr
	Op    BinaryOp // OpEq .. OpGe
	All   bool
	List  []Expr
	Query *Query
}

// Exists is EXISTS (query); NOT EXISTS is a [*Unary] around it.
type Exists struct {
	Span
	Query *Query
}

// UniqueExpr is UNIQUE (query).
type UniqueExpr struct {
	Span
	Query *Query
}

// Subquery is a query in parentheses where a value is wanted.
type Subquery struct {
	Span
	Query *Query
}

// Case is CASE [operand] WHEN .. THEN .. [ELSE ..] END. Operand and Else are nil when absent. A simple CASE may have several values
// in one WHEN; a searched one has exactly one condition.
type Case struct {
	Span
	Operand Expr
	Whens   []*When
	Else    Expr
}

// When is one branch of a [*Case].
type When struct {
	Span
	Conds []Expr
	Then  Expr
}

// Cast is CAST(x AS type) or TRY_CAST(x AS type).
type Cast struct {
	Span
	X    Expr
	Type *TypeName
	Try  bool
}

// ConstructorKind is what a [*Constructor] makes.
type ConstructorKind uint8

// The kinds of constructors.
const (
	// RowImplicit is (a, b): at least two items.
	RowImplicit ConstructorKind = iota + 1
	// RowExplicit is ROW(a, b).
	RowExplicit
	// ArrayCons is ARRAY[a, b], or ARRAY(query).
	ArrayCons
	// MapCons is MAP[k, v, k, v] (keys and values alternate in Items), or MAP(query).
	MapCons
	// MultisetCons is MULTISET[a, b], or MULTISET(query).
	MultisetCons
	// PeriodCons is PERIOD (a, b).
	PeriodCons
)

// Constructor makes a row or a collection of its items, or of the rows of a query.
type Constructor struct {
	Span
	Kind  ConstructorKind
	Items []Expr
	Query *Query // nil with Items
}

// Index is x[index]: an array element or a map value.
type Index struct {
	Span
	X     Expr
	Index Expr
}

// Field is x.name where x is no plain name: f(y).name, a[1].name, (r).name. Fields of a plain name are segments of [Name].
type Field struct {
	Span
	X    Expr
	Name Ident
}

// Quantifier is DISTINCT or ALL where either may stand.
type Quantifier uint8

// The quantifiers; the zero value is "not written".
const (
	NoQuantifier Quantifier = iota
	Distinct
	All
)

// NullTreatment is RESPECT NULLS or IGNORE NULLS behind a call.
type NullTreatment uint8

// The null treatments; the zero value is "not written".
const (
	NoNullTreatment NullTreatment = iota
	RespectNulls
	IgnoreNulls
)

// FuncCall is a call of a function or an aggregate, with everything that may stand behind one.
//
// Forms with words between the arguments are brought to plain positions: SUBSTRING(s FROM a FOR b) is (s, a, b); POSITION(a IN s
// FROM n) is (a, s, n); OVERLAY(s PLACING r FROM a FOR n) is (s, r, a, n); EXTRACT(u FROM x) is ([*Symbol] u, x); FLOOR(x TO u) and
// CEIL are (x, [*Symbol] u); TIMESTAMPADD and TIMESTAMPDIFF have a [*Symbol] first; TRIM([side] [c] FROM s) is ([*Symbol] side, c,
// s) with BOTH and ' ' as defaults, while TRIM(s) stays (s); JSON_OBJECT and JSON_OBJECTAGG have keys and values alternating;
// CONVERT and TRANSLATE(x USING c) are (x, [*Symbol] c). Arguments may be [*NamedArg], [*TableArg], [*Descriptor], [*ModelArg],
// [*DefaultExpr], a [*Subquery], or, as the only one, a [*Star].
type FuncCall struct {
	Span
	// Name is as written; functions are found without regard to case.
	Name *Name
	// NoParens tells that it was written without parentheses: CURRENT_DATE, LOCALTIMESTAMP.
	NoParens bool
	// JDBC tells the escape {fn name(..)}.
	JDBC bool
	// Quantifier is that of COUNT(DISTINCT x).
	Quantifier Quantifier
	Args       []Expr
	// OrderBy is an ORDER BY inside the parentheses, as in ARRAY_AGG(x ORDER BY y).
	OrderBy []*OrderItem
	// JSON holds the clauses of JSON_VALUE, JSON_QUERY and so on; nil where none was written.
	JSON        *JSONClauses
	Nulls       NullTreatment
	WithinGroup []*OrderItem
	// Filter is the condition of FILTER (WHERE ..).
	Filter Expr
	// Over is set on a window call.
	Over *WindowSpec
}

// NamedArg is name => value.
type NamedArg struct {
	Span
	Name  Ident
	Value Expr
}

// TableArg is a table as an argument of a table function: TABLE t or a query in parentheses, with PARTITION BY and ORDER BY. One of
// Table and Query is set; a query without the two clauses is a [*Subquery].
type TableArg struct {
	Span
	Table       *Name
	Hints       []*Hint
	Query       *Query
	PartitionBy []Expr
	OrderBy     []*OrderItem
}

// Descriptor is DESCRIPTOR(column, ..).
type Descriptor struct {
	Span
	Columns []*Name
	// Types holds the type of each column of DESCRIPTOR(a INT, ..), nil where there is none.
	Types []*TypeName
}

// ModelArg is MODEL name.
type ModelArg struct {
	Span
	Model *Name
}

// PatternMode is RUNNING or FINAL before a call in MATCH_RECOGNIZE.
type PatternMode struct {
	Span
	Final bool
	X     Expr
}

// GroupingKind is the kind of a [*GroupingSet].
type GroupingKind uint8

// The kinds of grouping elements.
const (
	// EmptyGroup is ().
	EmptyGroup GroupingKind = iota + 1
	// Rollup is ROLLUP(..).
	Rollup
	// Cube is CUBE(..).
	Cube
	// GroupingSets is GROUPING SETS (..), whose items may be grouping sets again.
	GroupingSets
)

// GroupingSet is an element of GROUP BY that is more than an expression. Items that are [*Constructor] of kind RowImplicit are
// several columns taken as one.
type GroupingSet struct {
	Span
	Kind  GroupingKind
	Items []Expr
}

// JSONBehavior is what a JSON function gives ON EMPTY or ON ERROR.
type JSONBehavior uint8

// The behaviours; the zero value is "not written".
const (
	NoJSONBehavior JSONBehavior = iota
	JSONError
	JSONNull
	JSONTrue
	JSONFalse
	JSONUnknown
	JSONEmptyArray
	JSONEmptyObject
	JSONDefault // DEFAULT expr
)

// JSONOn is a behaviour with the value of DEFAULT.
type JSONOn struct {
	Behavior JSONBehavior
	Default  Expr // of JSONDefault
}

// JSONWrapper is the wrapper clause of JSON_QUERY.
type JSONWrapper uint8

// The wrappers; the zero value is "not written".
const (
	NoJSONWrapper JSONWrapper = iota
	WithoutWrapper
	WithWrapper // WITH [UNCONDITIONAL] WRAPPER
	WithConditionalWrapper
)

// JSONNulls is NULL ON NULL or ABSENT ON NULL.
type JSONNulls uint8

// The null clauses; the zero value is "not written".
const (
	NoJSONNulls JSONNulls = iota
	NullOnNull
	AbsentOnNull
)

// JSONClauses are the clauses of a JSON function.
type JSONClauses struct {
	Returning *TypeName
	Wrapper   JSONWrapper
	OnEmpty   JSONOn
	OnError   JSONOn
	OnNull    JSONNulls
}

func (*Literal) exprNode()      {}
func (*IntervalLit) exprNode()  {}
func (*IntervalExpr) exprNode() {}
func (*TimeDiff) exprNode()     {}
func (*Symbol) exprNode()       {}
func (*Star) exprNode()         {}
func (*DefaultExpr) exprNode()  {}
func (*Param) exprNode()        {}
func (*Unary) exprNode()        {}
func (*Binary) exprNode()       {}
func (*Is) exprNode()           {}
func (*Between) exprNode()      {}
func (*In) exprNode()           {}
func (*LikeExpr) exprNode()     {}
func (*Quantified) exprNode()   {}
func (*Exists) exprNode()       {}
func (*UniqueExpr) exprNode()   {}
func (*Subquery) exprNode()     {}
func (*Case) exprNode()         {}
func (*Cast) exprNode()         {}
func (*Constructor) exprNode()  {}
func (*Index) exprNode()        {}
func (*Field) exprNode()        {}
func (*FuncCall) exprNode()     {}
func (*NamedArg) exprNode()     {}
func (*TableArg) exprNode()     {}
func (*Descriptor) exprNode()   {}
func (*ModelArg) exprNode()     {}
func (*PatternMode) exprNode()  {}
func (*GroupingSet) exprNode()  {}
