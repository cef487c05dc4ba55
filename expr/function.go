package expr

import (
	"slices"
	"strings"
	"sync"

	"runnel/types"
)

// Function is a row of the table of scalar functions: signature, return-type rule, null rule and kernel.
type Function struct {
	Name    string
	Aliases []string
	// Doc is one sentence with the signature in front, for SHOW FUNCTIONS, DESCRIBE FUNCTION, completion and the guide.
	Doc string
	// Nondeterministic functions are neither folded nor moved: RAND, UUID, NOW.
	Nondeterministic bool
	// Dynamic functions give one value per query in batch mode and one per row in streaming: CURRENT_TIMESTAMP, NOW.
	Dynamic bool
	// Operator tells that the name is written between or before its operands; SHOW FUNCTIONS leaves it out.
	Operator bool

	// safe functions give no error whatever the row holds (safeCall knows those that are safe sometimes).
	safe bool
	// bind checks the arguments, casts those that have to be cast, and gives the type of the call.
	bind func(b *binding) (types.Type, error)
	// kernel compiles a call whose arguments have been bound.
	kernel func(c *compiler, call *Call) (Eval, error)
	// rewrite, if set, replaces the bound call by an expression of simpler nodes; there is no kernel then.
	rewrite func(b *binding, t types.Type) (Expr, error)
	// form is how messages write a call; see errors.go.
	form callForm
	// forms is the text behind "Supported form(s):".
	forms string
}

// binding is a call while its arguments are checked. Rules may replace Args by casts.
type binding struct {
	fn   *Function
	name string // as the user wrote it, in upper case
	args []Expr
	pos  Pos
}

func (b *binding) types() []types.Type { return typesOf(b.args) }

func typesOf(args []Expr) []types.Type {
	ts := make([]types.Type, len(args))
	for i, a := range args {
		ts[i] = a.Type()
	}
	return ts
}

// cast replaces argument i by an implicit cast to t unless it has that type already, nullability aside.
func (b *binding) cast(i int, t types.Type) {
	b.args[i] = implicitCast(b.args[i], t, b.pos)
}

// Lookup finds a scalar function by its name or an alias, in any case; nil when there is none. Operators are found by
// the names that plans print: "+", "=", "AND", "IS NULL", "NOT LIKE".
func Lookup(name string) *Function {
	functionTable.once.Do(loadFunctions)
	return functionTable.index[strings.ToUpper(name)]
}

// Functions lists the scalar functions that are called by name, by name.
func Functions() []*Function {
	functionTable.once.Do(loadFunctions)
	return slices.Clone(functionTable.named)
}

// functionTable holds the rows of all families. It is filled on first use: the rows hold kernels that look functions up.
var functionTable struct {
	once  sync.Once
	named []*Function // without operators, by name
	index map[string]*Function
}

func loadFunctions() {
	t := &functionTable
	t.index = map[string]*Function{}
	for _, family := range [][]Function{
		logicFunctions(), comparisonFunctions(), arithmeticFunctions(), conditionalFunctions(),
		stringFunctions(), mathFunctions(), datetimeFunctions(), dateTextFunctions(), nowFunctions(), patternFunctions(),
		collectionFunctions(), arrayFunctions(), searchFunctions(), encodingFunctions(), urlFunctions(), inspectFunctions(), jsonFunctionTable(),
		membershipFunctions(),
	} {
		for i := range family {
			f := &family[i]
			t.index[f.Name] = f
			for _, a := range f.Aliases {
				t.index[a] = f
			}
			if !f.Operator {
				t.named = append(t.named, f)
			}
		}
	}
	slices.SortFunc(t.named, func(a, b *Function) int { return strings.Compare(a.Name, b.Name) })
}

// Resolve gives the result type of a call with arguments of the given types, and the types to which they are cast. It
// knows no constants: functions whose type depends on one (ROUND's digits) are resolved by NewCall only.
func Resolve(f *Function, args []types.Type) (types.Type, []types.Type, error) {
	b := &binding{fn: f, name: f.Name, args: make([]Expr, len(args))}
	for i, t := range args {
		b.args[i] = &Col{Index: i, T: t}
	}
	t, err := f.bind(b)
	if err != nil {
		return types.Type{}, nil, err
	}
	return t, b.types(), nil
}
