package plan

import (
	"strings"

	"runnel/catalog"
	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// binder turns the syntax of expressions into typed ones over the columns of a scope.
type binder struct {
	p  *planning
	sc *scope
	// hook sees every node before the binder does; it gives nil to leave the node to the binder. GROUP BY and OVER work
	// through it.
	hook func(e sql.Expr) (expr.Expr, error)
	// column, if set, gives what stands for a column of * in the select list.
	column func(c *expr.Col, at sql.Node) (expr.Expr, error)
	// scalar binds a query that stands for a value; nil where none may stand.
	scalar func(s *sql.Subquery) (expr.Expr, error)
	// inQuery and exists bind x IN (query) and EXISTS (query) as values; nil where none may stand.
	inQuery func(e *sql.In) (expr.Expr, error)
	exists  func(e *sql.Exists) (expr.Expr, error)
	// clause is the clause for messages about aggregates that may not stand there.
	clause string
}

func (p *planning) binder(sc *scope) *binder { return &binder{p: p, sc: sc} }

// expr binds one expression.
func (b *binder) expr(e sql.Expr) (expr.Expr, error) {
	if b.hook != nil {
		if x, err := b.hook(e); x != nil || err != nil {
			return x, err
		}
	}
	switch e := e.(type) {
	case *sql.Name:
		x, err := b.sc.resolve(e)
		if err != nil && equalFold(e.Dotted(), "PI") { // a function that may stand without parentheses, behind columns of its name
			return newCall(e, "PI")
		}
		if err == nil && len(b.p.views) == 0 {
			b.p.full.column(e, b.sc)
		}
		return x, err
	case *sql.Literal:
		return b.p.literal(e)
	case *sql.IntervalLit:
		return interval(e)
	case *sql.IntervalExpr:
		return b.intervalExpr(e)
	case *sql.TimeDiff:
		return b.timeDiff(e)
	case *sql.Quantified:
		return b.quantified(e)
	case *sql.Symbol:
		return expr.NewSymbol(e.Word), nil
	case *sql.Unary:
		return b.unary(e)
	case *sql.Binary:
		return b.binary(e)
	case *sql.Is:
		return b.is(e)
	case *sql.Between:
		return b.between(e)
	case *sql.In:
		return b.in(e)
	case *sql.LikeExpr:
		return b.like(e)
	case *sql.Case:
		return b.caseExpr(e)
	case *sql.Cast:
		return b.cast(e)
	case *sql.Constructor:
		return b.constructor(e)
	case *sql.Index:
		return b.call(e, "ITEM", e.X, e.Index)
	case *sql.Field:
		x, err := b.expr(e.X)
		if err != nil {
			return nil, err
		}
		return rowField(x, &e.Name)
	case *sql.FuncCall:
		return b.function(e)
	case *sql.Subquery:
		if b.scalar != nil {
			return b.scalar(e)
		}
		return nil, unsupported(e, "A query as a value is at this place")
	case *sql.Exists:
		if b.exists != nil {
			return b.exists(e)
		}
	case *sql.Star:
		return nil, refuse(nameError, e, "Unknown identifier '*'").Cure("* stands alone in the select list, or in COUNT(*).")
	case *sql.Param:
		return nil, refuse(nameError, e, "Illegal use of dynamic parameter").Cure("There is nothing to give parameters with; write the value.")
	}
	return nil, unsupported(e, nodeWord(e))
}

// nodeWord names a kind of expression that is not supported, with its verb.
func nodeWord(e sql.Expr) string {
	switch e.(type) {
	case *sql.Exists:
		return "EXISTS at this place (it may stand alone or under AND in WHERE) is"
	case *sql.Quantified:
		return "A comparison with SOME, ANY or ALL is"
	case *sql.UniqueExpr:
		return "UNIQUE is"
	case *sql.DefaultExpr:
		return "DEFAULT at this place is"
	case *sql.PatternMode:
		return "RUNNING or FINAL is"
	}
	return "This kind of expression is"
}

func (b *binder) exprs(es []sql.Expr) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(es))
	for i, e := range es {
		x, err := b.expr(e)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

// call binds a call of a function of the table.
func (b *binder) call(at sql.Node, name string, args ...sql.Expr) (expr.Expr, error) {
	xs, err := b.exprs(args)
	if err != nil {
		return nil, err
	}
	return newCall(at, name, xs...)
}

func newCall(at sql.Node, name string, args ...expr.Expr) (expr.Expr, error) {
	x, err := expr.NewCall(name, args, pos(at))
	if err != nil {
		return nil, typeError(err, at)
	}
	return x, nil
}

func (b *binder) unary(e *sql.Unary) (expr.Expr, error) {
	switch e.Op {
	case sql.OpNot:
		if ex, ok := e.X.(*sql.Is); ok && !ex.Not { // NOT x IS NULL reads as x IS NOT NULL
			neg := *ex
			neg.Not = true
			return b.expr(&neg)
		}
		return b.call(e, "NOT", e.X)
	case sql.OpPos:
		x, err := b.expr(e.X)
		if err != nil || x.Type().IsNumeric() || x.Type().Kind == types.IntervalMillis || x.Type().Kind == types.IntervalMonths || x.Type().Kind == types.Null {
			return x, err
		}
		return nil, signMisfit(e, "+", x)
	}
	if lit, ok := e.X.(*sql.Literal); ok && lit.Kind <= sql.DoubleLit {
		neg := *lit
		neg.Text = "-" + lit.Text
		return b.p.literal(&neg)
	}
	if lit, ok := e.X.(*sql.IntervalLit); ok {
		neg := *lit
		neg.Negative = !lit.Negative
		return interval(&neg)
	}
	x, err := b.expr(e.X)
	if err != nil {
		return nil, err
	}
	r, err := newCall(e, "-", x)
	if err != nil {
		return nil, signMisfit(e, "-", x)
	}
	return r, nil
}

// signMisfit refuses a sign in front of what has none.
func signMisfit(e *sql.Unary, sign string, x expr.Expr) error {
	return refuse(nameError, e, "Cannot apply '%s' to arguments of type '%s<%s>'. Supported form(s): '%s<NUMERIC>'\n'%s<DATETIME_INTERVAL>'",
		sign, sign, expr.TypeWord(x.Type()), sign, sign).Cure("CAST(value AS type) gives a value another type.")
}

var binaryNames = map[sql.BinaryOp]string{
	sql.OpOr: "OR", sql.OpAnd: "AND", sql.OpEq: "=", sql.OpNe: "<>", sql.OpLt: "<", sql.OpLe: "<=", sql.OpGt: ">", sql.OpGe: ">=",
	sql.OpIsDistinct: "IS DISTINCT FROM", sql.OpIsNotDistinct: "IS NOT DISTINCT FROM", sql.OpAdd: "+", sql.OpSub: "-", sql.OpMul: "*",
	sql.OpDiv: "/", sql.OpMod: "%", sql.OpConcat: "||", sql.OpOverlaps: "OVERLAPS", sql.OpMemberOf: "MEMBER OF",
}

func (b *binder) binary(e *sql.Binary) (expr.Expr, error) {
	name, ok := binaryNames[e.Op]
	if !ok {
		return nil, unsupported(e, "This operator is")
	}
	if e.Op == sql.OpAnd || e.Op == sql.OpOr {
		return b.junction(e, name)
	}
	if e.Op == sql.OpOverlaps { // two periods, each a start with an end or a length
		l, lok := e.L.(*sql.Constructor)
		r, rok := e.R.(*sql.Constructor)
		if !lok || !rok || len(l.Items) != 2 || len(r.Items) != 2 {
			return nil, refuse(nameError, e, "OVERLAPS wants a period on each side: (start, end) or (start, length)")
		}
		return b.call(e, name, l.Items[0], l.Items[1], r.Items[0], r.Items[1])
	}
	return b.call(e, name, e.L, e.R)
}

// junction binds a chain of ANDs or ORs without recursing down its left side.
func (b *binder) junction(e *sql.Binary, name string) (expr.Expr, error) {
	var terms []sql.Expr
	var x sql.Expr = e
	for {
		bin, ok := x.(*sql.Binary)
		if !ok || bin.Op != e.Op {
			break
		}
		terms = append(terms, bin.R)
		x = bin.L
	}
	terms = append(terms, x)
	args := make([]expr.Expr, len(terms))
	for i, t := range terms {
		a, err := b.expr(t)
		if err != nil {
			return nil, err
		}
		args[len(terms)-1-i] = a
	}
	for i, a := range args {
		if err := noCondition(terms[len(terms)-1-i], name, a, i); err != nil {
			return nil, err
		}
	}
	return newCall(e, name, args...)
}

// noCondition refuses the i-th operand of AND or OR if it is no condition.
func noCondition(at sql.Node, name string, x expr.Expr, i int) error {
	if k := x.Type().Kind; k == types.Boolean || k == types.Null {
		return nil
	}
	left, right := expr.TypeWord(x.Type()), "BOOLEAN"
	if i > 0 {
		left, right = right, left
	}
	return refuse(nameError, at, "Cannot apply '%s' to arguments of type '<%s> %s <%s>'. Supported form(s): '<BOOLEAN> %s <BOOLEAN>'",
		name, left, name, right, name).Cure("This is a value of type %s, no condition.", x.Type().Name())
}

// conjunct binds the i-th of n conditions between ANDs.
func (b *binder) conjunct(e sql.Expr, i, n int) (expr.Expr, error) {
	if n == 1 {
		return b.condition(e)
	}
	x, err := b.expr(e)
	if err == nil {
		err = noCondition(e, "AND", x, i)
	}
	return x, err
}

// condition binds an expression that has to be BOOLEAN.
func (b *binder) condition(e sql.Expr) (expr.Expr, error) {
	x, err := b.expr(e)
	if err != nil {
		return nil, err
	}
	if k := x.Type().Kind; k != types.Boolean && k != types.Null {
		word := b.clause
		if word == "" {
			word = "a condition"
		}
		return nil, refuse(nameError, e, "%s must be a condition", strings.ToUpper(word[:1])+word[1:]).
			Cure("This is a value of type %s.", x.Type().Name())
	}
	return x, nil
}

var isNames = map[sql.IsTest]string{
	sql.IsNull: "NULL", sql.IsTrue: "TRUE", sql.IsFalse: "FALSE", sql.IsUnknown: "UNKNOWN", sql.IsJSON: "JSON VALUE",
	sql.IsJSONObject: "JSON OBJECT", sql.IsJSONArray: "JSON ARRAY", sql.IsJSONScalar: "JSON SCALAR", sql.IsASet: "A SET",
	sql.IsEmpty: "EMPTY",
}

func (b *binder) is(e *sql.Is) (expr.Expr, error) {
	name := isNames[e.Test]
	if e.Test == sql.IsUnknown {
		name = "NULL"
	}
	if e.Not {
		name = "NOT " + name
	}
	return b.call(e, "IS "+name, e.X)
}

func (b *binder) between(e *sql.Between) (expr.Expr, error) {
	xs, err := b.exprs([]sql.Expr{e.X, e.Low, e.High})
	if err != nil {
		return nil, err
	}
	in := func(low, high expr.Expr) (expr.Expr, error) {
		ge, err := newCall(e, ">=", xs[0], low)
		if err != nil {
			return nil, err
		}
		le, err := newCall(e, "<=", xs[0], high)
		if err != nil {
			return nil, err
		}
		return expr.NewAnd(ge, le), nil
	}
	x, err := in(xs[1], xs[2])
	if err != nil {
		return nil, err
	}
	if e.Symmetric {
		y, err := in(xs[2], xs[1])
		if err != nil {
			return nil, err
		}
		x = expr.NewOr(x, y)
	}
	if e.Not {
		x = expr.NewNot(x)
	}
	return x, nil
}

// in binds x IN (list). IN over a query is a join: the query binder takes it before it comes here.
func (b *binder) in(e *sql.In) (expr.Expr, error) {
	if e.Query != nil {
		if b.inQuery != nil {
			return b.inQuery(e)
		}
		return nil, unsupported(e, "IN over a query at this place (it may stand alone or under AND in WHERE) is")
	}
	x, err := b.expr(e.X)
	if err != nil {
		return nil, err
	}
	args := []expr.Expr{x}
	for _, v := range e.List {
		y, err := b.expr(v)
		if err != nil {
			return nil, err
		}
		args = append(args, y)
	}
	r, err := inList(e, args)
	if err != nil {
		return nil, err
	}
	if e.Not {
		r = expr.NewNot(r)
	}
	return r, nil
}

// inList is x = v1 OR x = v2 .., through the function IN where the table has it. Text in the list takes the type of a
// number before it, unlike with =.
func inList(at sql.Node, args []expr.Expr) (expr.Expr, error) {
	numbers, texts := false, false
	for i, v := range args[1:] {
		numbers, texts = numbers || v.Type().IsNumeric(), texts || v.Type().IsString()
		if args[0].Type().IsString() && v.Type().IsNumeric() { // numbers are text behind text
			args[i+1] = expr.ImplicitCastTo(v, types.String())
		}
	}
	if numbers && texts {
		return nil, refuse(nameError, at, "Values in expression list must have compatible types").Cure("The list has numbers and texts.")
	}
	if expr.Lookup("IN") != nil {
		return newCall(at, "IN", args...)
	}
	var alternatives []expr.Expr
	for _, v := range args[1:] {
		if args[0].Type().IsNumeric() && v.Type().IsString() {
			v = expr.ImplicitCastTo(v, args[0].Type())
		}
		eq, err := newCall(at, "=", args[0], v)
		if err != nil {
			return nil, err
		}
		alternatives = append(alternatives, eq)
	}
	return expr.NewOr(alternatives...), nil
}

var likeNames = map[sql.LikeKind]string{sql.Like: "LIKE", sql.ILike: "ILIKE", sql.RLike: "RLIKE", sql.SimilarTo: "SIMILAR TO"}

func (b *binder) like(e *sql.LikeExpr) (expr.Expr, error) {
	args := []sql.Expr{e.X, e.Pattern}
	if e.Escape != nil {
		args = append(args, e.Escape)
	}
	name := likeNames[e.Kind]
	if e.Not && expr.Lookup("NOT "+name) != nil {
		return b.call(e, "NOT "+name, args...)
	}
	x, err := b.call(e, name, args...)
	if err == nil && e.Not {
		x = expr.NewNot(x)
	}
	return x, err
}

func (b *binder) caseExpr(e *sql.Case) (expr.Expr, error) {
	var operand, els expr.Expr
	var err error
	if e.Operand != nil {
		if operand, err = b.expr(e.Operand); err != nil {
			return nil, err
		}
	}
	var whens []expr.When
	for _, w := range e.Whens {
		then, err := b.expr(w.Then)
		if err != nil {
			return nil, err
		}
		var conds []expr.Expr
		for _, c := range w.Conds {
			x, err := b.expr(c)
			if err != nil {
				return nil, err
			}
			if operand != nil {
				if x, err = newCall(c, "=", operand, x); err != nil {
					return nil, err
				}
			}
			conds = append(conds, x)
		}
		whens = append(whens, expr.When{Cond: expr.NewOr(conds...), Then: then})
	}
	if e.Else != nil {
		if els, err = b.expr(e.Else); err != nil {
			return nil, err
		}
	}
	x, err := expr.NewCase(whens, els, pos(e))
	if err != nil {
		return nil, typeError(err, e)
	}
	return x, nil
}

func (b *binder) cast(e *sql.Cast) (expr.Expr, error) {
	x, err := b.expr(e.X)
	if err != nil {
		return nil, err
	}
	t, err := catalog.TypeOf(e.Type)
	if err != nil {
		return nil, err
	}
	if x.Type().IsInteger() && t.IsInterval() || x.Type().IsInterval() && t.IsInteger() {
		return b.castUnits(e, x, t)
	}
	r, err := expr.NewCast(x, t, e.Try, pos(e))
	if err != nil {
		return nil, typeError(err, e)
	}
	return r, nil
}

var constructorNames = map[sql.ConstructorKind]string{
	sql.RowImplicit: "ROW", sql.RowExplicit: "ROW", sql.ArrayCons: "ARRAY", sql.MapCons: "MAP", sql.MultisetCons: "MULTISET",
}

func (b *binder) constructor(e *sql.Constructor) (expr.Expr, error) {
	name, ok := constructorNames[e.Kind]
	if e.Query != nil || !ok || e.Kind == sql.MultisetCons {
		return nil, unsupported(e, "This constructor is")
	}
	if (e.Kind == sql.ArrayCons || e.Kind == sql.MapCons) && len(e.Items) == 0 {
		return nil, refuse(nameError, e, "Require at least 1 argument")
	}
	return b.call(e, name, e.Items...)
}

// escapeNames are the names that {fn ..} has for functions of other names.
var escapeNames = map[string]string{
	"UCASE": "UPPER", "LCASE": "LOWER", "LENGTH": "CHAR_LENGTH", "LOG": "LN", "CEILING": "CEIL", "CURDATE": "CURRENT_DATE", "CURTIME": "LOCALTIME",
	"NOW": "CURRENT_TIMESTAMP",
}

// function binds a call by name.
func (b *binder) function(e *sql.FuncCall) (expr.Expr, error) {
	name := strings.ToUpper(e.Name.Last())
	if other, ok := escapeNames[name]; ok && e.JDBC {
		name = other
	}
	if e.Over != nil {
		return nil, unsupported(e, "An OVER window at this place is")
	}
	path := len(e.Name.Parts) > 1 // of a function of a catalog: never a built-in one
	if expr.LookupAggregate(name) != nil && expr.Lookup(name) == nil && !path {
		clause := b.clause
		if clause == "" {
			clause = "this place"
		}
		x := refuse(nameError, e, "Aggregate expression is illegal in %s", clause)
		if clause == aggregateArgument {
			x = refuse(nameError, e, "Aggregate expressions cannot be nested").Cure("Put the inner aggregate into a query of its own: FROM (SELECT .. GROUP BY ..).")
		}
		if strings.HasPrefix(clause, "WHERE") {
			x.Cure("WHERE chooses rows; HAVING behind GROUP BY chooses groups.")
		}
		return nil, x
	}
	if e.Quantifier != sql.NoQuantifier || e.Filter != nil || e.WithinGroup != nil || e.OrderBy != nil || e.Nulls != sql.NoNullTreatment {
		return nil, refuse(nameError, e, "'%s' is no aggregate: DISTINCT, FILTER, ORDER BY and the treatment of nulls do not apply", name)
	}
	if name == "PROCTIME" && len(e.Args) == 0 {
		return procTime(e)
	}
	args := make([]expr.Expr, 0, len(e.Args))
	for _, a := range e.Args {
		switch a.(type) {
		case *sql.NamedArg, *sql.TableArg, *sql.Descriptor, *sql.ModelArg, *sql.DefaultExpr, *sql.Star:
			return nil, unsupported(a, "This kind of argument is")
		}
		x, err := b.expr(a)
		if err != nil {
			return nil, err
		}
		args = append(args, x)
	}
	if path || expr.Lookup(name) == nil || !e.NoParens && !e.JDBC && bareNames[name] {
		return nil, b.p.unknownFunction(e, args)
	}
	if e.JSON != nil {
		return b.jsonCall(e, args)
	}
	return newCall(e, name, args...)
}

// aggregateArgument is the clause of what is inside of an aggregate.
const aggregateArgument = "an aggregate's argument"

// bareNames are functions that are written without parentheses only.
var bareNames = map[string]bool{"CURRENT_DATE": true, "CURRENT_TIME": true, "CURRENT_TIMESTAMP": true, "LOCALTIME": true, "LOCALTIMESTAMP": true}

// unknownFunction names the nearest function there is.
func (p *planning) unknownFunction(e *sql.FuncCall, args []expr.Expr) error {
	if f, ok := p.Catalog.FindFunction(e.Name); ok {
		return refuse("java.lang.ClassNotFoundException", e, "%s", f.Class).
			Cure("%s was made with CREATE FUNCTION, and there is no JVM here to run it: functions are built in, SHOW FUNCTIONS lists them.", e.Name.Dotted())
	}
	switch callName(e) {
	case "GROUPING", "GROUPING_ID", "GROUP_ID":
		return refuse(nameError, e, "%s operator may only occur in an aggregate query", callName(e)).Cure("It stands beside GROUP BY.")
	case "SOURCE_WATERMARK":
		return refuse(tableError, e, "SOURCE_WATERMARK() is a declarative marker function and doesn't have concrete runtime implementation. "+
			"It can only be used as a single expression in WATERMARK FOR clause.").
			Cure("No connector here makes watermarks of its own: write one as an expression, as in WATERMARK FOR ts AS ts - INTERVAL '5' SECOND.")
	}
	if e.NoParens {
		return refuse(nameError, e, "Column '%s' not found in any table", e.Name.Dotted()).Cure("There are no users and no sessions of theirs here.")
	}
	if bareNames[callName(e)] {
		return refuse(nameError, e, "No match found for function signature %s()", e.Name.Dotted()).
			Cure("%s is written without parentheses.", callName(e))
	}
	_, err := expr.NewCall(e.Name.Dotted(), args, pos(e))
	x := typeError(err, e)
	if r, ok := x.(*catalog.Error); ok {
		// The builder knows names in upper case only; the message shows the last part of the name as written.
		r.Msg = strings.Replace(r.Msg, strings.ToUpper(e.Name.Dotted())+"(", e.Name.Last()+"(", 1)
		var names []string
		for _, f := range expr.Functions() {
			names = append(names, f.Name)
		}
		for _, a := range expr.Aggregates() {
			names = append(names, a.Name)
		}
		if r.Hint = catalog.DidYouMean(strings.ToUpper(e.Name.Last()), names); r.Hint == "" {
			r.Hint = "SHOW FUNCTIONS lists what there is."
		}
		return r
	}
	return x
}

// procTime is the processing-time attribute.
func procTime(at sql.Node) (expr.Expr, error) {
	x, err := newCall(at, "PROCTIME")
	if err != nil {
		return nil, err
	}
	if c, ok := x.(*expr.Call); ok {
		p := *c
		p.T.Attr = types.Proctime
		return &p, nil
	}
	return x, nil
}

// jsonCall binds a JSON function with its clauses.
func (b *binder) jsonCall(e *sql.FuncCall, args []expr.Expr) (expr.Expr, error) {
	var c expr.JSONClauses
	var err error
	if e.JSON.Returning != nil {
		t, err := catalog.TypeOf(e.JSON.Returning)
		if err != nil {
			return nil, err
		}
		c.Returning = &t
	}
	c.Wrapper = map[sql.JSONWrapper]expr.JSONWrapper{sql.WithWrapper: expr.WithWrapper, sql.WithConditionalWrapper: expr.WithConditionalWrapper}[e.JSON.Wrapper]
	if c.OnEmpty, err = b.jsonOn(e.JSON.OnEmpty); err != nil {
		return nil, err
	}
	if c.OnError, err = b.jsonOn(e.JSON.OnError); err != nil {
		return nil, err
	}
	c.Nulls = jsonNulls(e.JSON)
	x, err := expr.NewJSONCall(callName(e), args, c, pos(e))
	if err != nil {
		return nil, typeError(err, e)
	}
	return x, nil
}

var jsonBehaviors = map[sql.JSONBehavior]expr.JSONBehavior{
	sql.JSONError: expr.JSONError, sql.JSONNull: expr.JSONNull, sql.JSONTrue: expr.JSONTrue, sql.JSONFalse: expr.JSONFalse,
	sql.JSONUnknown: expr.JSONUnknown, sql.JSONEmptyArray: expr.JSONEmptyArray, sql.JSONEmptyObject: expr.JSONEmptyObject,
	sql.JSONDefault: expr.JSONDefault,
}

func (b *binder) jsonOn(o sql.JSONOn) (expr.JSONOn, error) {
	out := expr.JSONOn{Behavior: jsonBehaviors[o.Behavior]}
	var err error
	if o.Default != nil {
		out.Default, err = b.expr(o.Default)
	}
	return out, err
}

// jsonNulls gives NULL ON NULL or ABSENT ON NULL.
func jsonNulls(c *sql.JSONClauses) expr.NullTreatment {
	switch {
	case c == nil:
	case c.OnNull == sql.NullOnNull:
		return expr.NullsKept
	case c.OnNull == sql.AbsentOnNull:
		return expr.NullsSkipped
	}
	return expr.NullsDefault
}
