package expr

import "runnel/types"

// MatchVariable is a variable of a row pattern with its quantifier: Min to Max rows, Max -1 for no bound. A nil condition
// holds for every row.
type MatchVariable struct {
	Name      string
	Min, Max  int
	Reluctant bool
	Cond      Expr // over the MatchColumns
}

// MatchSkip is where the search for a row pattern goes on after a match.
type MatchSkip uint8

const (
	SkipToNextRow MatchSkip = iota
	SkipPastLastRow
	SkipToFirst // row of a variable
	SkipToLast
)

// MatchKind is the kind of a MatchColumn.
type MatchKind uint8

const (
	MatchField     MatchKind = iota // a column of one row
	MatchAggregate                  // an aggregate over rows
	MatchRowtime                    // event time of the row that is being worked on
	MatchProctime
)

// MatchColumn is a value that is read from a match of a row pattern; conditions and measures are expressions over such
// columns. It is about the rows of the variables Of (ascending). A field is that of the Offset-th row from the first, or
// else from the last; NULL where there is none.
type MatchColumn struct {
	Kind   MatchKind
	Of     []int
	Column int // of the input
	First  bool
	Offset int
	Agg    AggCall
	Args   []Expr // of the aggregate, over the input
	Type   types.Type
}
