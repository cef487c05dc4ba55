package sql

import "strings"

// binaryNames are the operators as they are written.
var binaryNames = [...]string{
	OpOr: "OR", OpAnd: "AND", OpEq: "=", OpNe: "<>", OpLt: "<", OpLe: "<=", OpGt: ">", OpGe: ">=", OpIsDistinct: "IS DISTINCT FROM",
	OpIsNotDistinct: "IS NOT DISTINCT FROM", OpAdd: "+", OpSub: "-", OpMul: "*", OpDiv: "/", OpMod: "%", OpConcat: "||",
	OpMultisetUnion: "MULTISET UNION ALL", OpMultisetUnionDistinct: "MULTISET UNION DISTINCT", OpMultisetIntersect: "MULTISET INTERSECT ALL",
	OpMultisetIntersectDistinct: "MULTISET INTERSECT DISTINCT", OpMultisetExcept: "MULTISET EXCEPT ALL",
	OpMultisetExceptDistinct: "MULTISET EXCEPT DISTINCT", OpMemberOf: "MEMBER OF", OpNotMemberOf: "NOT MEMBER OF",
	OpSubmultisetOf: "SUBMULTISET OF", OpNotSubmultisetOf: "NOT SUBMULTISET OF", OpContains: "CONTAINS", OpOverlaps: "OVERLAPS",
	OpEquals: "EQUALS", OpPrecedes: "PRECEDES", OpSucceeds: "SUCCEEDS",
}

// String returns the operator as it is written.
func (op BinaryOp) String() string { return binaryNames[op] }

// String returns the operator as it is written.
func (op UnaryOp) String() string {
	switch op {
	case OpNot:
		return "NOT"
	case OpNeg:
		return "-"
	}
	return "+"
}

// precedence of an operator in print; where the parser has rules of its own it is the lower one.
func (op BinaryOp) precedence() int {
	switch op {
	case OpOr:
		return precOr
	case OpAnd:
		return precAnd
	case OpIsDistinct, OpIsNotDistinct:
		return precIs
	case OpAdd, OpSub:
		return precAdd
	case OpMul, OpDiv, OpMod, OpConcat:
		return precMul
	case OpMultisetUnion, OpMultisetUnionDistinct, OpMultisetExcept, OpMultisetExceptDistinct:
		return precMultiset
	case OpMultisetIntersect, OpMultisetIntersectDistinct:
		return precMultisetIntersect
	}
	return precCompare
}

// precPrimary is the precedence of what needs no parentheses anywhere.
const precPrimary = precUnary + 1

// precedence tells how tightly the outermost operator of x binds.
func precedence(x Expr) int {
	switch x := x.(type) {
	case *Unary:
		if x.Op == OpNot {
			return precNot
		}
		return precUnary
	case *Binary:
		return x.Op.precedence()
	case *Is:
		return precIs
	case *Between, *In, *LikeExpr:
		return precBetween
	case *Quantified:
		return precCompare
	case *PatternMode:
		return precUnary
	case *NamedArg, *TableArg:
		return 0
	}
	return precPrimary
}

// above prints x, in parentheses when it binds less tightly than min.
func (p *printer) above(x Expr, min int) {
	if precedence(x) >= min {
		p.expr(x)
		return
	}
	p.str("(")
	p.expr(x)
	p.str(")")
}

// expr prints an expression.
func (p *printer) expr(x Expr) {
	switch x := x.(type) {
	case *Name:
		p.name(x)
	case *Literal:
		p.literal(x)
	case *FuncCall:
		p.call(x)
	case *Binary:
		p.binary(x)
	case *Unary:
		p.unary(x)
	case *Cast:
		if x.Try {
			p.str("TRY_")
		}
		p.str("CAST(")
		p.expr(x.X)
		p.str(" AS ")
		p.typeName(x.Type)
		p.str(")")
	case *Case:
		p.caseExpr(x)
	case *Constructor:
		p.constructor(x)
	case *Index:
		p.above(x.X, precPrimary)
		p.str("[")
		p.expr(x.Index)
		p.str("]")
	case *Field:
		p.field(x)
	case *Subquery:
		p.paren(x.Query)
	case *Exists:
		p.str("EXISTS ")
		p.paren(x.Query)
	case *UniqueExpr:
		p.str("UNIQUE ")
		p.paren(x.Query)
	case *Star:
		if x.Qualifier != nil {
			p.name(x.Qualifier)
			p.str(".")
		}
		p.str("*")
	default:
		p.testOrArg(x)
	}
}

// testOrArg prints the expressions that test something, and those that only stand in special places.
func (p *printer) testOrArg(x Expr) {
	switch x := x.(type) {
	case *Is:
		p.is(x)
	case *Between:
		p.between(x)
	case *In:
		p.above(x.X, precBetween)
		p.not(x.Not)
		p.str(" IN ")
		p.listOrQuery(x.List, x.Query)
	case *LikeExpr:
		p.likeExpr(x)
	case *Quantified:
		p.above(x.X, precCompare)
		p.str(" ", x.Op.String())
		if x.All {
			p.str(" ALL ")
		} else {
			p.str(" SOME ")
		}
		p.listOrQuery(x.List, x.Query)
	case *IntervalLit:
		p.str("INTERVAL ")
		if x.Negative {
			p.str("-")
		}
		p.str(QuoteString(x.Text), " ")
		p.qualifier(x.Qualifier)
	case *IntervalExpr:
		p.intervalExpr(x)
	case *TimeDiff:
		p.str("(")
		p.above(x.L, precAdd)
		p.str(" - ")
		p.above(x.R, precAdd+1)
		p.str(") ")
		p.qualifier(x.Qualifier)
	case *Symbol:
		p.str(x.Word)
	case *DefaultExpr:
		p.str("DEFAULT")
	case *Param:
		p.str("?")
	case *NamedArg:
		p.ident(x.Name)
		p.str(" => ")
		p.expr(x.Value)
	case *TableArg:
		p.tableArg(x)
	case *Descriptor:
		p.descriptor(x)
	case *ModelArg:
		p.str("MODEL ")
		p.name(x.Model)
	case *PatternMode:
		if x.Final {
			p.str("FINAL ")
		} else {
			p.str("RUNNING ")
		}
		p.above(x.X, precPrimary)
	case *GroupingSet:
		p.groupingSet(x)
	}
}

func (p *printer) unary(x *Unary) {
	p.str(x.Op.String())
	inner, ok := x.X.(*Unary)
	switch {
	case x.Op == OpNot:
		p.str(" ")
		p.above(x.X, precNot)
		return
	case p.flink:
		if l, literal := x.X.(*Literal); !literal || l.Kind > DoubleLit {
			p.str(" ")
		}
	case ok && inner.Op != OpNot:
		p.str(" ") // "--" would begin a comment
	}
	p.above(x.X, precUnary)
}

func (p *printer) binary(x *Binary) {
	left, right := x.Op.precedence(), x.Op.precedence()+1
	switch x.Op {
	case OpIsDistinct, OpIsNotDistinct:
		right = precCompare + 1
	}
	// The left side is printed in a loop: chains of operators may be long.
	chain := []*Binary{x}
	for {
		l, ok := chain[len(chain)-1].L.(*Binary)
		if !ok || l.Op.precedence() != left {
			break
		}
		chain = append(chain, l)
	}
	p.above(chain[len(chain)-1].L, left)
	for i := len(chain) - 1; i >= 0; i-- {
		p.str(" ", chain[i].Op.String(), " ")
		p.above(chain[i].R, right)
	}
}

// not prints NOT behind an operand.
func (p *printer) not(not bool) {
	if not {
		p.str(" NOT")
	}
}

var isTests = [...]string{
	IsNull: "NULL", IsTrue: "TRUE", IsFalse: "FALSE", IsUnknown: "UNKNOWN", IsJSON: "JSON", IsJSONObject: "JSON OBJECT",
	IsJSONArray: "JSON ARRAY", IsJSONScalar: "JSON SCALAR", IsASet: "A SET", IsEmpty: "EMPTY",
}

// String returns the test as it is written.
func (t IsTest) String() string { return isTests[t] }

func (p *printer) is(x *Is) {
	p.above(x.X, precIs)
	p.str(" IS")
	p.not(x.Not)
	p.str(" ", x.Test.String())
	p.flag(p.flink && x.Test == IsJSON, " VALUE")
}

func (p *printer) between(x *Between) {
	p.above(x.X, precBetween)
	p.not(x.Not)
	p.str(" BETWEEN ")
	switch {
	case x.Symmetric:
		p.str("SYMMETRIC ")
	case p.flink:
		p.str("ASYMMETRIC ")
	}
	p.above(x.Low, precBetween+1)
	p.str(" AND ")
	p.above(x.High, precBetween+1)
}

var likeNames = [...]string{Like: "LIKE", ILike: "ILIKE", RLike: "RLIKE", SimilarTo: "SIMILAR TO"}

// String returns the operator as it is written.
func (k LikeKind) String() string { return likeNames[k] }

func (p *printer) likeExpr(x *LikeExpr) {
	p.above(x.X, precBetween)
	p.not(x.Not)
	p.str(" ", x.Kind.String(), " ")
	p.above(x.Pattern, precBetween+1)
	if x.Escape != nil {
		p.str(" ESCAPE ")
		p.above(x.Escape, precBetween+1)
	}
}

func (p *printer) listOrQuery(xs []Expr, q *Query) {
	if q != nil {
		p.paren(q)
		return
	}
	p.exprs(xs)
}

// exprs prints expressions in parentheses.
func (p *printer) exprs(xs []Expr) {
	p.str("(")
	commas(p, xs, p.expr)
	p.str(")")
}

func (p *printer) intervalExpr(x *IntervalExpr) {
	p.flag(p.flink, "(")
	defer p.flag(p.flink, ")")
	p.str("INTERVAL ")
	plain := false
	switch a := x.Amount.(type) {
	case *Name:
		plain = true
	case *Literal:
		plain = a.Kind == IntegerLit || a.Kind == DecimalLit || a.Kind == DoubleLit
	}
	if plain {
		p.expr(x.Amount)
	} else {
		p.str("(")
		p.expr(x.Amount)
		p.str(")")
	}
	p.str(" ")
	p.qualifier(x.Qualifier)
}

func (p *printer) field(x *Field) {
	switch x.X.(type) {
	case *Name, *Literal:
		p.flag(!p.flink, "(")
		p.expr(x.X)
		p.flag(!p.flink, ")")
	default:
		p.above(x.X, precPrimary)
	}
	p.str(".")
	p.ident(x.Name)
}

func (p *printer) caseExpr(x *Case) {
	p.str("CASE")
	if p.flink {
		p.searchedCase(x)
		return
	}
	if x.Operand != nil {
		p.str(" ")
		p.expr(x.Operand)
	}
	for _, w := range x.Whens {
		p.str(" ")
		p.when(w)
	}
	if x.Else != nil {
		p.str(" ELSE ")
		p.expr(x.Else)
	}
	p.str(" END")
}

// searchedCase prints a CASE behind its first word without an operand.
func (p *printer) searchedCase(x *Case) {
	for _, w := range x.Whens {
		p.str(" WHEN ")
		switch {
		case x.Operand == nil:
			p.expr(w.Conds[0])
		case len(w.Conds) == 1:
			p.binary(&Binary{Op: OpEq, L: x.Operand, R: w.Conds[0]})
		default:
			p.testOrArg(&In{X: x.Operand, List: w.Conds})
		}
		p.str(" THEN ")
		p.expr(w.Then)
	}
	p.str(" ELSE ")
	if x.Else != nil {
		p.expr(x.Else)
	} else {
		p.str("NULL")
	}
	p.str(" END")
}

func (p *printer) when(w *When) {
	p.str("WHEN ")
	commas(p, w.Conds, p.expr)
	p.str(" THEN ")
	p.expr(w.Then)
}

func (p *printer) constructor(x *Constructor) {
	open, end := "[", "]"
	switch x.Kind {
	case RowImplicit:
		p.flag(p.flink, "ROW")
		open, end = "(", ")"
	case RowExplicit:
		p.str("ROW")
		open, end = "(", ")"
	case PeriodCons:
		p.str("PERIOD ")
		open, end = "(", ")"
	case ArrayCons:
		p.str("ARRAY")
	case MapCons:
		p.str("MAP")
	case MultisetCons:
		p.str("MULTISET")
	}
	if x.Query != nil {
		p.paren(x.Query)
		return
	}
	p.str(open)
	commas(p, x.Items, p.expr)
	p.str(end)
}

// call prints a call in the form that its name wants.
func (p *printer) call(c *FuncCall) {
	switch {
	case c.JDBC:
		p.str("{fn ")
		p.callName(c)
		p.callArgs(c)
		p.str("}")
		return
	case c.NoParens:
		p.str(c.Name.Last())
	default:
		p.callName(c)
		p.callArgs(c)
	}
	p.callTail(c)
}

// callName prints the name of a function. A word with a syntax of its own is quoted where the arguments do not have that form.
func (p *printer) callName(c *FuncCall) {
	if len(c.Name.Parts) > 1 {
		p.name(c.Name)
		return
	}
	id := c.Name.Parts[0]
	w := lookupWord(id.Name)
	plain := isPlainIdent(id.Name)
	if w != nil {
		switch {
		case c.JDBC:
		case hasForm(w):
			plain = p.fitsForm(c, w.name)
		case w.name == "DESCRIPTOR" || w.name == "MAP":
			plain = false
		default:
			plain = !w.reserved || w.callable
		}
	}
	switch {
	case !plain:
		p.str(Quote(id.Name))
	case p.flink && !id.Quoted:
		p.str(strings.ToUpper(id.Name))
	default:
		p.str(id.Name)
	}
}

// hasForm tells the words whose calls the parser reads in a way of their own.
func hasForm(w *word) bool {
	return w.form || w.name == "FLOOR" || w.name == "CEIL" || w.name == "CEILING"
}

// fitsForm tells whether the parser would read the call back from the form that callArgs prints.
func (p *printer) fitsForm(c *FuncCall, w string) bool {
	if c.Quantifier != NoQuantifier || c.OrderBy != nil && w != "JSON_ARRAYAGG" {
		return false
	}
	n := len(c.Args)
	symbol := func(i int) bool {
		if i >= n {
			return false
		}
		_, ok := c.Args[i].(*Symbol)
		return ok
	}
	for _, a := range c.Args {
		switch a.(type) {
		case *NamedArg, *TableArg, *ModelArg, *DefaultExpr, *Star:
			return false
		}
	}
	switch w {
	case "FLOOR", "CEIL", "CEILING":
		return n == 1 && !symbol(0) || n == 2 && symbol(1)
	case "EXTRACT":
		return n == 2 && symbol(0)
	case "POSITION":
		return n == 2 || n == 3
	case "OVERLAY":
		return n == 3 || n == 4
	case "TRANSLATE":
		return n >= 2
	case "CONVERT":
		return n == 2 && symbol(1)
	case "SUBSTRING":
		return n == 2 || n == 3
	case "TRIM":
		return n == 3 && symbol(0) || n >= 1 && !symbol(0)
	case "TIMESTAMPADD", "TIMESTAMPDIFF":
		return n == 3 && symbol(0)
	case "JSON_EXISTS", "JSON_VALUE", "JSON_QUERY":
		return n == 2
	case "JSON_OBJECT":
		return n%2 == 0
	case "JSON_OBJECTAGG":
		return n == 2
	case "JSON_ARRAY":
		return true
	case "JSON_ARRAYAGG":
		return n == 1
	}
	return false
}

// callArgs prints the arguments of a call with their parentheses.
func (p *printer) callArgs(c *FuncCall) {
	p.str("(")
	if w := lookupWord(c.Name.Last()); len(c.Name.Parts) > 1 || w == nil || !hasForm(w) || !p.fitsForm(c, w.name) || !p.formArgs(c, w.name) {
		switch c.Quantifier {
		case Distinct:
			p.str("DISTINCT ")
		case All:
			p.str("ALL ")
		}
		commas(p, c.Args, p.expr)
	}
	if c.OrderBy != nil {
		p.str(" ORDER BY ")
		commas(p, c.OrderBy, p.orderItem)
	}
	if c.JSON != nil {
		p.jsonClauses(c.JSON)
	}
	p.str(")")
}

// formArgs prints arguments with words between, or returns false when they are a plain list.
func (p *printer) formArgs(c *FuncCall, w string) bool {
	between := func(words ...string) {
		for i, a := range c.Args {
			if i > 0 {
				p.str(" ", words[i-1], " ")
			}
			p.above(a, precBetween+1)
		}
	}
	switch w {
	case "FLOOR", "CEIL", "CEILING":
		if len(c.Args) != 2 {
			return false
		}
		between("TO")
	case "EXTRACT":
		between("FROM")
	case "POSITION":
		between("IN", "FROM")
	case "OVERLAY":
		between("PLACING", "FROM", "FOR")
	case "CONVERT":
		between("USING")
	case "TRANSLATE":
		if _, ok := c.Args[1].(*Symbol); !ok {
			return false
		}
		between("USING")
	case "SUBSTRING":
		if !p.flink {
			return false
		}
		between("FROM", "FOR")
	case "TRIM":
		if _, ok := c.Args[0].(*Symbol); !ok {
			if !p.flink || len(c.Args) > 1 {
				return false
			}
			p.str("BOTH ' ' FROM ")
			p.expr(c.Args[0])
			return true
		}
		p.expr(c.Args[0])
		p.str(" ")
		p.expr(c.Args[1])
		p.str(" FROM ")
		p.expr(c.Args[2])
	case "JSON_OBJECT", "JSON_OBJECTAGG":
		for i, a := range c.Args {
			switch {
			case i%2 == 1:
				p.str(" VALUE ")
			case i > 0:
				p.str(", KEY ")
			default:
				p.str("KEY ")
			}
			p.expr(a)
		}
	default:
		return false
	}
	return true
}

// callTail prints what follows the parentheses of a call.
func (p *printer) callTail(c *FuncCall) {
	switch c.Nulls {
	case RespectNulls:
		p.str(" RESPECT NULLS")
	case IgnoreNulls:
		p.str(" IGNORE NULLS")
	}
	if c.WithinGroup != nil {
		p.str(" WITHIN GROUP (ORDER BY ")
		commas(p, c.WithinGroup, p.orderItem)
		p.str(")")
	}
	if c.Filter != nil {
		p.str(" FILTER (WHERE ")
		p.expr(c.Filter)
		p.str(")")
	}
	if c.Over != nil {
		p.str(" OVER ")
		p.windowSpec(c.Over)
	}
}

func (p *printer) tableArg(x *TableArg) {
	if x.Query != nil {
		p.paren(x.Query)
	} else {
		p.str("TABLE ")
		p.name(x.Table)
		p.hints(x.Hints)
	}
	if x.PartitionBy != nil {
		p.str(" PARTITION BY ")
		if len(x.PartitionBy) > 1 && !p.flink {
			p.exprs(x.PartitionBy)
		} else {
			commas(p, x.PartitionBy, p.expr)
		}
	}
	if x.OrderBy != nil {
		p.str(" ORDER BY ")
		p.flag(!p.flink, "(")
		commas(p, x.OrderBy, p.orderItem)
		p.flag(!p.flink, ")")
	}
}

func (p *printer) descriptor(x *Descriptor) {
	p.str("DESCRIPTOR(")
	for i, c := range x.Columns {
		if i > 0 {
			p.str(", ")
		}
		p.name(c)
		if x.Types != nil && x.Types[i] != nil {
			p.str(" ")
			p.typeName(x.Types[i])
		}
	}
	p.str(")")
}

func (p *printer) groupingSet(x *GroupingSet) {
	switch x.Kind {
	case Rollup:
		p.str("ROLLUP")
	case Cube:
		p.str("CUBE")
	case GroupingSets:
		p.str("GROUPING SETS")
	}
	p.flag(x.Kind != EmptyGroup && !p.flink, " ")
	p.exprs(x.Items)
}

var jsonBehaviors = [...]string{
	JSONError: "ERROR", JSONNull: "NULL", JSONTrue: "TRUE", JSONFalse: "FALSE", JSONUnknown: "UNKNOWN", JSONEmptyArray: "EMPTY ARRAY",
	JSONEmptyObject: "EMPTY OBJECT", JSONDefault: "DEFAULT",
}

func (p *printer) jsonClauses(j *JSONClauses) {
	if j.Returning != nil {
		p.str(" RETURNING ")
		p.typeName(j.Returning)
	}
	switch j.Wrapper {
	case WithoutWrapper:
		p.str(" WITHOUT ARRAY WRAPPER")
	case WithWrapper:
		p.str(" WITH UNCONDITIONAL ARRAY WRAPPER")
	case WithConditionalWrapper:
		p.str(" WITH CONDITIONAL ARRAY WRAPPER")
	}
	p.jsonOn(j.OnEmpty, " ON EMPTY")
	p.jsonOn(j.OnError, " ON ERROR")
	switch j.OnNull {
	case NullOnNull:
		p.str(" NULL ON NULL")
	case AbsentOnNull:
		p.str(" ABSENT ON NULL")
	}
}

func (p *printer) jsonOn(on JSONOn, when string) {
	if on.Behavior == NoJSONBehavior {
		return
	}
	p.str(" ", jsonBehaviors[on.Behavior])
	if on.Behavior == JSONDefault {
		p.str(" ")
		p.expr(on.Default)
	}
	p.str(when)
}
