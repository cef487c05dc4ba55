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
	// Sure says that the result is typed the same where no row counts: without GROUP BY, and behind FILTER. That of others
	// is nullable there, and elsewhere as the arguments are.
	Sure bool
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
	Text     string // the call as Flink's plans print it, e.g. COUNT(DISTINCT a) FILTER c
	// Nulls is RESPECT NULLS or IGNORE NULLS of ARRAY_AGG, and NULL ON NULL or ABSENT ON NULL of the JSON aggregates.
	Nulls NullTreatment
	// JSON says that the value of a JSON aggregate is JSON already (see MadeJSON): it goes in as it is.
	JSON bool
}

// Origin says what the call computes, by the origins of the columns of its input in. Unlike Text it does not depend on what
// the columns are called; it is part of the state's descriptor.
func (c *AggCall) Origin(in []types.Field) string {
	var b strings.Builder
	b.WriteString(c.Func.Name + "(")
	if c.Distinct {
		b.WriteString("DISTINCT ")
	}
	for i, a := range c.Args {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(in[a].Source())
	}
	b.WriteString(")")
	if c.Filter >= 0 {
		b.WriteString(" FILTER " + in[c.Filter].Source())
	}
	switch {
	case c.Nulls == NullsKept:
		b.WriteString(" NULLS KEPT")
	case c.Nulls == NullsSkipped:
		b.WriteString(" NULLS SKIPPED")
	}
	if c.JSON {
		b.WriteString(" OF JSON")
	}
	return b.String()
}

// NullTreatment says whether an aggregate takes NULL values; each function has its own default.
type NullTreatment uint8

const (
	NullsDefault NullTreatment = iota
	NullsKept                  // RESPECT NULLS, NULL ON NULL
	NullsSkipped               // IGNORE NULLS, ABSENT ON NULL
)

// SlotKind says what an accumulator keeps in one slot of its group's record. The kinds are those of package state.
type SlotKind uint8

const (
	WordSlot   SlotKind = iota // a word, kept in place
	BytesSlot                  // a byte string of any length
	ListSlot                   // elements in the order of Add; equal ones may repeat
	SetSlot                    // distinct elements, in the order of their first Add
	SortedSlot                 // distinct elements in the unsigned order of their words
)

// Slot is one slot of an accumulator.
type Slot struct {
	Kind SlotKind
	Elem []SlotKind // what each element of a collection carries beside its own words: WordSlot and BytesSlot
}

// Store gives an accumulator the slots of its group's record that are not words. Package exec/op implements it over
// package state, so that what is written is part of checkpoints and goes when the record goes. Slots are counted from
// the accumulator's first one.
type Store interface {
	// Bytes gives a byte string, false when none was put. It is a view: valid until the next PutBytes or Add.
	Bytes(slot int) (string, bool)
	PutBytes(slot int, s string)
	// Elems gives the collection of a slot, valid until the record changes hands.
	Elems(slot int) Elems
}

// Elem names an element of a collection; 0 is none. It is valid until the next Add.
type Elem uint32

// Elems is a list, set or sorted set. Elements are told apart by their words.
type Elems interface {
	ElemFinder
	ElemWalker
	ElemValues
}

// ElemFinder finds, adds and takes out elements.
type ElemFinder interface {
	// Find gives the element with these words, in a list the first such one, or 0.
	Find(words []uint64) Elem
	// Add gives the element with these words and makes one if there is none; in a list it always makes one.
	Add(words []uint64) (e Elem, inserted bool)
	Remove(e Elem)
}

// ElemWalker walks through a collection in its order.
type ElemWalker interface {
	// Next gives the element behind e, or the first one for 0; 0 at the end.
	Next(e Elem) Elem
	// Prev gives the element before e, or the last one for 0; 0 at the front.
	Prev(e Elem) Elem
	// Words gives the words of an element, to read, valid until the next Add.
	Words(e Elem) []uint64
}

// ElemValues are what elements carry.
type ElemValues interface {
	// Values gives the words that an element carries, to be changed in place.
	Values(e Elem) []uint64
	// Bytes gives a byte string that an element carries, a view as in Store.
	Bytes(e Elem, value int) (string, bool)
	PutBytes(e Elem, value int, s string)
}

// Accumulator is an aggregate call compiled for its input. Its state for one group is len(Slots) slots of the group's
// record. acc always holds the words of these slots, to be changed in place: those of kind WordSlot are the
// accumulator's own, what the others hold is the Store's business. A new group has zero words and empty collections.
// All functions are single-threaded. The caller handles DISTINCT and FILTER: it calls Add and Retract for the rows that
// count.
type Accumulator struct {
	Slots []Slot
	// Type is the type of the value.
	Type types.Type
	// Codec is the version of what the slots hold, for the state's descriptor.
	Codec int
	// Stored says that there are slots other than words; without, the Store may be nil.
	Stored bool

	// Add accumulates physical row i of b.
	Add func(acc []uint64, st Store, b *types.Batch, i int32) error
	// Retract takes row i back. It is nil unless the call was bound for retraction.
	Retract func(acc []uint64, st Store, b *types.Batch, i int32) error
	// Merge adds what another accumulator of the same call holds to acc and leaves the other as it is.
	Merge func(acc []uint64, st Store, from []uint64, fromStore Store) error
	// Value appends the current result to out, a column of Type.
	Value func(acc []uint64, st Store, out *types.Column) error

	// Partial is the form in which rows are accumulated that are merged into another accumulator later, if it is another one: rows
	// are taken back that only the other has seen. MergePartial is Merge from that form. Both are nil where Merge does.
	Partial      *Accumulator
	MergePartial func(acc []uint64, st Store, from []uint64, fromStore Store) error

	// Fold is Add for a whole run of rows that all count, and Trace is Fold that appends to out, for every row, the value before it, unless
	// it is the first of its group, and the value after it. Both are nil where there is no faster form than one call a row.
	Fold  func(r *Run, b *types.Batch)
	Trace func(r *Run, b *types.Batch, out *types.Column)
}

// words gives n slots of kind WordSlot.
func words(n int) []Slot { return make([]Slot, n) }

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
	for _, family := range [][]Aggregate{sumAggregates(), extremeAggregates(), varianceAggregates(),
		valueAggregates(), listAggregates(), jsonAggregates(), windowFunctions()} {
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
	made    bool
	result  types.Type
	retract bool
	env     *Env
}

// Bind compiles an aggregate call for rows with the given columns. With retract set the accumulator takes rows back, at
// the price of more state for some functions (MIN, MAX, FIRST_VALUE, LISTAGG).
func Bind(call AggCall, input []types.Field, retract bool, env *Env) (*Accumulator, error) {
	b := &aggBinding{fn: call.Func, args: call.Args, nulls: call.Nulls, made: call.JSON, result: call.T, retract: retract, env: env}
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
	for _, s := range acc.Slots {
		acc.Stored = acc.Stored || s.Kind != WordSlot
	}
	if !retract {
		acc.Retract, acc.Partial, acc.MergePartial = nil, nil, nil
	}
	return acc, nil
}
