package expr

import "runnel/types"

// Aggregate is a row of the table of aggregate functions.
type Aggregate struct {
	Name string
	Doc  string // one sentence with the signature in front
	// Result gives the type of a call with the given argument types.
	Result func(args []types.Type) (types.Type, error)
}

// AggCall is one aggregate of a plan's aggregation node.
type AggCall struct {
	Func     *Aggregate
	Args     []int // columns of the input; constants have been put into columns by a Calc below
	Distinct bool
	Filter   int // a BOOLEAN column of the input, -1 for none
	Name     string
	T        types.Type
	Text     string // the call as Flink's plans print it, e.g. COUNT(DISTINCT a) FILTER c; part of the state's descriptor
}
