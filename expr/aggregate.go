package expr

import (
	"slices"
	"strings"
	"sync"

	"runnel/types"
)

// Aggregate is a row of the table of aggregate functions.
type Aggregate struct {
	Name    string
	Aliases []string
	Doc     string // one sentence with the signature in front
	// Result gives the type of a call with the given argument types.
	Result func(args []types.Type) (types.Type, error)
	// Window says that it is a function of OVER windows only (ROW_NUMBER, LAG): Bind refuses it, operators know it by name.
	Window bool
	// BatchOnly functions are refused in streaming mode.
	BatchOnly bool
	// bind makes the kernels; args are the columns of the arguments.
	bind func(b *aggBinding) (*Accumulator, error)
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
	// Nulls is RESPECT NULLS or IGNORE NULLS of ARRAY_AGG, and NULL ON NULL or ABSENT ON NULL of the JSON aggregates.
	Nulls NullTreatment
}

// NullTreatment says whether an aggregate takes NULL values; each function has its own default.
type NullTreatment uint8

const (
	NullsDefault NullTreatment = iota
	NullsKept                  // RESPECT NULLS, NULL ON NULL
	NullsSkipped               // IGNORE NULLS, ABSENT ON NULL
)

// Heap keeps the variable-length parts of the accumulators of one key group: package exec/op implements it over the
// arenas of package state. A block is known by its reference, which holds as long as the block lives, over checkpoints
// and restores too; accumulator words and blocks store references of the same heap. 0 is no block.
type Heap interface {
	// Alloc gives a block of n zero bytes, n from 1 to MaxBlock.
	Alloc(n int) uint64
	// Bytes gives the content of a block. To change it in place, ask for it with write set: state notes the block as
	// changed. The slice is valid until the next call of Alloc, Free or Bytes with write set.
	Bytes(ref uint64, write bool) []byte
	// Free gives a block back.
	Free(ref uint64)
}

// MaxBlock is the greatest size of a Heap's block in bytes. Longer values are kept in several.
const MaxBlock = 4096

// Accumulator is an aggregate call compiled for its input. Its state for one group is Words words, which live in the
// group's record, and the blocks that the words refer to. All functions are single-threaded, and acc always has Words
// words. The caller handles DISTINCT and FILTER: it calls Add and Retract for the rows that count.
type Accumulator struct {
	// Words is the number of state words; it may be 0.
	Words int
	// Type is the type of the value.
	Type types.Type
	// Codec is the version of the layout of words and blocks, for the state's descriptor.
	Codec int
	// Blocks says that the accumulator uses the Heap; without, it may be nil and Free need not be called.
	Blocks bool

	// Init sets fresh words for a new group. Zero words are not always right.
	Init func(acc []uint64)
	// Add accumulates physical row i of b.
	Add func(acc []uint64, h Heap, b *types.Batch, i int32) error
	// Retract takes row i back. It is nil unless the call was bound for retraction.
	Retract func(acc []uint64, h Heap, b *types.Batch, i int32) error
	// Merge adds what from holds (another accumulator of the same call, in heap fh, which may be h) to acc and leaves
	// from as it is. It is nil where the function cannot be merged.
	Merge func(acc []uint64, h Heap, from []uint64, fh Heap) error
	// Value appends the current result to out, a column of Type.
	Value func(acc []uint64, h Heap, out *types.Column) error
	// Free gives the blocks back when the group goes away; the words are garbage after it. Never nil.
	Free func(acc []uint64, h Heap)
}

// LookupAggregate finds an aggregate function by its name or an alias, in any case; nil when there is none.
func LookupAggregate(name string) *Aggregate {
	aggregateTable.once.Do(loadAggregates)
	return aggregateTable.index[strings.ToUpper(name)]
}

// Aggregates lists the aggregate functions, by name.
func Aggregates() []*Aggregate {
	aggregateTable.once.Do(loadAggregates)
	return slices.Clone(aggregateTable.named)
}

// aggregateTable holds the rows of all families, filled on first use.
var aggregateTable struct {
	once  sync.Once
	named []*Aggregate
	index map[string]*Aggregate
}

func loadAggregates() {
	t := &aggregateTable
	t.index = map[string]*Aggregate{}
	for _, family := range [][]Aggregate{sumAggregates(), extremeAggregates()} {
		for i := range family {
			a := &family[i]
			t.index[a.Name] = a
			for _, alias := range a.Aliases {
				t.index[alias] = a
			}
			t.named = append(t.named, a)
		}
	}
	slices.SortFunc(t.named, func(a, b *Aggregate) int { return strings.Compare(a.Name, b.Name) })
}

// aggBinding is an aggregate call while it is compiled.
type aggBinding struct {
	fn      *Aggregate
	args    []int
	types   []types.Type // of the arguments
	nulls   NullTreatment
	result  types.Type
	retract bool
	env     *Env
}

// Bind compiles an aggregate call for rows with the given columns. With retract set the accumulator takes rows back, at
// the price of more state for some functions (MIN, MAX, FIRST_VALUE, LISTAGG).
func Bind(call AggCall, input []types.Field, retract bool, env *Env) (*Accumulator, error) {
	b := &aggBinding{fn: call.Func, args: call.Args, nulls: call.Nulls, result: call.T, retract: retract, env: env}
	for _, a := range call.Args {
		b.types = append(b.types, input[a].Type)
	}
	if call.Func.bind == nil {
		return nil, &TypeError{Msg: "The function " + call.Func.Name + " is a window function and can be called only with an OVER clause."}
	}
	acc, err := call.Func.bind(b)
	if err != nil {
		return nil, err
	}
	acc.Type = call.T
	if acc.Init == nil {
		acc.Init = func(acc []uint64) { clear(acc) }
	}
	if acc.Free == nil {
		acc.Free = func([]uint64, Heap) {}
	}
	if !retract {
		acc.Retract = nil
	}
	return acc, nil
}
