package plan

import (
	"fmt"
	"time"

	"runnel/catalog"
	"runnel/connectors"
	"runnel/connectors/lookup"
	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// Graph is what a job runs: a DAG whose nodes have n inputs and may feed m others. It is immutable once planned.
type Graph struct {
	Nodes   []Node // inputs before their consumers; the order is stable for equal SQL
	Sinks   []Node // *Sink or *Collect
	JobName string // one line
	SQL     string // the text of the statement
	Batch   bool   // execution.runtime-mode = batch
}

// Node is a physical operator. The set is closed: exec has one switch over it.
type Node interface {
	Base() *Info
	node()
}

// Info is what all nodes have.
type Info struct {
	ID     int    // unique in the graph, for names: GroupAggregate[4]
	Kind   string // Flink's operator name: TableSourceScan, Calc, GroupAggregate, IntervalJoin, Exchange, Sink
	Inputs []Node
	Fields []types.Field // of the rows it gives; time attributes are in the types
	Mode   types.ChangelogMode
	// UpsertKeys are sets of columns, each ascending, whose values name at most one live row and whose changes keep
	// their order (semantics.md 3).
	UpsertKeys [][]int
	// Parallelism: 0 the job's default, 1 for singletons, else fixed (sink.parallelism).
	Parallelism int
	// StateID is the stable id of a stateful operator (design.md 4): made of the sink's table, the kind and the ordinal
	// among the stateful ones on that path. "" for stateless operators; sources and sinks have one.
	StateID string
	// Bound says what bounds the operator's state: a window, an interval, a TTL, versions, or nothing. "" when stateless.
	Bound string
	// TTL is the state's time to live in processing time, 0 for ever.
	TTL time.Duration
	// MiniBatch bounds the bundles in which the operator combines changes; zero for none.
	MiniBatch MiniBatch
	// Desc is the node as EXPLAIN prints it, without the tree and the changelog mode.
	Desc string
	Pos  expr.Pos
}

// MiniBatch is table.exec.mini-batch.*: a bundle ends with its Size-th row or after Latency.
type MiniBatch struct {
	Size    int64
	Latency time.Duration
	Rowtime bool // it ends also with a watermark, the first one behind each Latency of event time
}

// Base gives itself, so that embedding makes a Node's Base method.
func (i *Info) Base() *Info { return i }

func (*Info) node() {}

// Scan reads a table.
type Scan struct {
	Info
	Table   *connectors.Table
	Source  *connectors.Source
	Columns []int      // of Table.Columns, in the order of Fields
	Paths   []int      // into ROW columns, see connectors.ScanRequest
	Mark    *Watermark // pushed into the source: made per split; nil if none or if a WatermarkAssigner does it

	plan   func(connectors.ScanRequest) (*connectors.Source, error)
	source *connectors.Connector
	hints  []catalog.Option
	nested bool      // connectors.Connector.Nested
	limit  int64     // rows that are wanted, 0 for all
	filter expr.Expr // what splits to read, over columns that are constant in each; nil for all
}

// identity is the same for scans that could be one.
func (n *Scan) identity() string { return fmt.Sprint(n.Table.Name, n.Table.Options) }

// Watermark is a WATERMARK clause. Its expression stands over the rows of the node that holds it.
type Watermark struct {
	Column int       // the rowtime column; -1 in a Scan below the Calc that computes it
	Expr   expr.Expr // TIMESTAMP(3) or TIMESTAMP_LTZ(3)
	// Idle is the time without rows after which a split or subtask is idle, 0 for never.
	Idle time.Duration
	// OnEvent: emit with rows (scan.watermark.emit.strategy), else every Interval; Gap rows between two on-event ones.
	OnEvent  bool
	Gap      int
	Interval time.Duration // pipeline.auto-watermark-interval
	// Alignment pauses splits that run ahead of their group; nil for none.
	Alignment *Alignment
}

// Alignment is scan.watermark.alignment.*.
type Alignment struct {
	Group    string
	MaxDrift time.Duration
	Interval time.Duration
}

// Values gives constant rows. Rows of expressions are evaluated when the job starts.
type Values struct {
	Info
	Rows [][]expr.Expr
}

// Calc filters by Cond (nil: all) and computes Exprs over its input. Row kinds pass through.
type Calc struct {
	Info
	Exprs []expr.Expr
	Cond  expr.Expr
}

// WatermarkAssigner makes watermarks from rows; upstream ones but the last are swallowed.
type WatermarkAssigner struct {
	Info
	Mark *Watermark
}

// DropUpdateBefore filters -U.
type DropUpdateBefore struct{ Info }

// ChangelogNormalize keeps the last row of each key and makes a whole changelog out of upserts and repeated events:
// inserts for new keys, nothing for rows that change nothing, deletes with the row they delete. Whether -U is given is in
// Mode.
type ChangelogNormalize struct {
	Info
	Keys []int
}

// Distribution is how an Exchange sends rows.
type Distribution uint8

const (
	HashKeys  Distribution = iota // by key group of Exchange.Keys
	Singleton                     // all to subtask 0
	Rebalance                     // round robin
	Broadcast                     // to all
)

// Exchange moves rows between subtasks. It is always in the graph; exec may elide it.
type Exchange struct {
	Info
	Dist Distribution
	Keys []int

	hidden bool // put in where two parallelisms meet; EXPLAIN leaves it out, as Flink does
}

// Union forwards all inputs.
type Union struct{ Info }

// GroupAggregate keeps one accumulator per key. With no Aggs it is DISTINCT. Whether -U is given is in Mode; whether the
// input retracts in the input's Mode.
type GroupAggregate struct {
	Info
	Keys []int
	Aggs []expr.AggCall
	Part string // PARTIAL, FINAL: the halves of a split one

	ttl time.Duration // STATE_TTL
}

// Expand gives, for every row, one row for each of Rows: the grouping sets of an aggregation.
type Expand struct {
	Info
	Rows [][]expr.Expr
}

// WindowKind is the kind of a window.
type WindowKind uint8

const (
	Tumble WindowKind = iota
	Hop
	Cumulate
	Session
)

// Window is a window specification. Durations are in milliseconds.
type Window struct {
	Kind    WindowKind
	Column  int   // the time column of the input
	Size    int64 // the gap of a session
	Slide   int64 // HOP; the step of CUMULATE
	Offset  int64
	Rowtime bool // else processing time
	// Zoned: the column is TIMESTAMP_LTZ, windows follow the local time of the session's zone.
	Zoned     bool
	Partition []int // SESSION .. PARTITION BY
}

// WindowTableFunction copies each row once per window, with window_start, window_end and window_time behind its columns.
type WindowTableFunction struct {
	Info
	Window Window
}

// WindowProp is a window column that an aggregate gives.
type WindowProp uint8

const (
	WindowStart WindowProp = iota
	WindowEnd
	WindowTime     // window end - 1 ms, a rowtime attribute
	WindowProctime // the processing time, of group windows
)

// WindowAggregate aggregates per key and window and gives each result once, when the watermark passes the window's end.
// Rows: keys, aggregates, then Props.
type WindowAggregate struct {
	Info
	Window Window
	Keys   []int
	Aggs   []expr.AggCall
	Props  []WindowProp
	// Attached: the input already holds the window's bounds in the columns StartCol and EndCol (an aggregate over the
	// output of another window operator); Window.Column is then unused.
	Attached         bool
	StartCol, EndCol int
}

// GroupWindowAggregate aggregates per key and window of the older kind, GROUP BY TUMBLE(..): results may be given before a
// window's end and again for late rows. Rows: keys, aggregates, then Props.
type GroupWindowAggregate struct {
	Info
	Window Window
	Keys   []int
	Aggs   []expr.AggCall
	Props  []WindowProp
	Early  *time.Duration // results before the end: so often, 0 after every row; nil for none
	Late   *time.Duration // the same behind the end
	// Lateness is how long a window is kept behind its end.
	Lateness time.Duration
}

// JoinKind is the kind of a join.
type JoinKind uint8

const (
	Inner JoinKind = iota
	Left
	Right
	Full
	Semi
	Anti
)

// Join joins all rows of both sides that have ever come and were not taken back. Keys are the equalities, Cond the rest.
type Join struct {
	Info
	Join                JoinKind
	LeftKeys, RightKeys []int
	NullSafe            []bool    // per key: IS NOT DISTINCT FROM
	Cond                expr.Expr // over left columns followed by right ones; nil for none
	// LeftKey and RightKey are unique keys of the inputs, nil for none: rows are kept by them. Where the join's keys
	// contain one (LeftUnique, RightUnique) there is one row per join key at most.
	LeftKey, RightKey       []int
	LeftUnique, RightUnique bool
	// LeftTTL and RightTTL are the times to live of the sides, 0 for ever.
	LeftTTL, RightTTL time.Duration

	temporal *temporal // FOR SYSTEM_TIME AS OF, until the rules have made something else of it
	lookup   *lookupHint

	hidden  [3]int // left columns, computed ones behind them, computed ones behind the right columns
	timeKey int    // while an interval join is looked for: 1 + the key that is an equality of times
}

// IntervalJoin joins rows whose keys are equal and whose times lie within bounds: right time in
// [left time + Lower, left time + Upper], both in milliseconds.
type IntervalJoin struct {
	Info
	Join                JoinKind
	LeftKeys, RightKeys []int
	LeftTime, RightTime int
	Lower, Upper        int64
	Rowtime             bool
	Cond                expr.Expr // over left columns followed by right ones; nil for none
	NullSafe            []bool    // per key: IS NOT DISTINCT FROM
	MinCleanup          time.Duration
}

// TemporalJoin joins every left row with the version of the right row that was valid at the left row's time.
type TemporalJoin struct {
	Info
	Join                JoinKind // Inner or Left
	LeftKeys, RightKeys []int
	LeftTime, RightTime int       // rowtime columns of the inputs
	Cond                expr.Expr // over left columns followed by right ones; nil for none
}

// LookupJoin asks an outside table for the rows of a key while rows pass. Rows: the input's columns, then Columns of the
// table.
type LookupJoin struct {
	Info
	Join     JoinKind // Inner or Left
	Table    *connectors.Table
	Columns  []int         // of Table.Columns
	Keys     []int         // of Table.Columns
	LeftKeys []int         // of the input, one for each of Keys; -1 where Consts has the value
	Consts   []types.Datum // one for each of Keys
	Cond     expr.Expr     // over the node's own columns; nil for none
	Async    *AsyncLookup  // nil: rows wait for their answers one after the other
	Retry    *lookup.Retry // nil for none
	Cache    lookup.Cache
	// Materialize: what was found for a row is kept by InputKey, so that the row's retraction takes back the same.
	Materialize bool
	InputKey    []int

	lookup func(connectors.LookupRequest) (connectors.Lookup, error)
}

// AsyncLookup is how a LookupJoin goes on while it waits for answers.
type AsyncLookup struct {
	Unordered bool
	Capacity  int // rows on their way at most
	Timeout   time.Duration
}

// Open makes the connector's lookup. Every subtask opens its own.
func (n *LookupJoin) Open() (connectors.Lookup, error) {
	return n.lookup(connectors.LookupRequest{Table: n.Table, Columns: n.Columns, Keys: n.Keys})
}

// WindowJoin joins rows of the same window when the watermark passes its end. Cond is the rest of the condition.
type WindowJoin struct {
	Info
	Join                                     JoinKind
	Window                                   Window // what both sides' windows are
	LeftKeys, RightKeys                      []int
	NullSafe                                 []bool
	LeftStart, LeftEnd, RightStart, RightEnd int // columns of the inputs
	Cond                                     expr.Expr
}

// WindowRank gives the rows From..To of each window and key, by an order, when the watermark passes the window's end.
type WindowRank struct {
	Info
	Window           Window
	StartCol, EndCol int
	Keys             []int // without the window's columns
	Order            []SortKey
	From, To         int64
	Number           bool // the rank is the last column, a BIGINT
}

// WindowDeduplicate gives the first or last row by time of each window and key when the watermark passes the window's end.
type WindowDeduplicate struct {
	Info
	Window           Window
	StartCol, EndCol int
	Keys             []int // without the window's columns
	Time             int
	Last             bool
}

// RankFunc is the function that numbers the rows of a top-N.
type RankFunc uint8

const (
	RowNumber RankFunc = iota
	RankWithGaps
	DenseRank
)

// Rank gives the rows From..To of each key by an order: a top-N.
type Rank struct {
	Info
	Func     RankFunc
	Keys     []int
	Order    []SortKey
	From, To int64 // To is -1 when ToColumn holds it
	ToColumn int   // a column with the last rank, read from the first row of each key; -1 for none
	Number   bool  // the rank is the last column, a BIGINT
	Strategy RankStrategy
	Key      []int // of UpdateFast: the upsert key of the input by which rows replace each other
}

// Deduplicate keeps the first or the last row of each key by time.
type Deduplicate struct {
	Info
	Keys    []int
	Time    int // the time attribute
	Rowtime bool
	Last    bool
	Compact bool // in mini-batches by event time, only what one has changed comes out
}

// OverAggregate gives every input row with aggregates over the rows before it: of its key, ordered by time.
type OverAggregate struct {
	Info
	Keys  []int
	Order []SortKey
	Frame Frame
	Aggs  []expr.AggCall // ROW_NUMBER, LAG and the like are known by name
}

// Frame is the range of rows around the current one.
type Frame struct {
	Rows   bool // counted in rows, else by the distance of the order's column
	Number bool // which is a number, not a time
	// Before and After are how far the frame reaches: rows, or milliseconds for an order by time; -1 for all. For a number
	// BeforeBy and AfterBy tell, and these are 0 or 1 with them.
	Before, After     int64
	BeforeBy, AfterBy Distance
	// Ahead: the frame begins behind the current row, by Before. Short: it ends in front of it, by After. Batch mode only.
	Ahead, Short bool
}

// Distance is how far numbers may lie apart: Unscaled * 10^-Scale, not negative.
type Distance struct {
	Unscaled types.Int128
	Scale    int
}

// RowFunc is a function that gives rows for a row.
type RowFunc uint8

const (
	UnnestRows    RowFunc = iota // the elements of Args[0]: fields of rows, keys and values of maps, multiset elements as often as they count
	ReplicateRows                // the row of Args[1:], Args[0] times
)

// Correlate joins every row with the rows that a function gives for it. Rows: the input's columns, the function's. Join
// is Inner or Left.
type Correlate struct {
	Info
	Join       JoinKind
	Func       RowFunc
	Args       []expr.Expr // over the input
	Ordinality bool        // a last column with the row's number from 1, an INT
	Cond       expr.Expr   // over the node's own columns; a Left one pads rows of which none fulfils it
}

// SortKey is one key of an ordering.
type SortKey struct {
	Column    int
	Desc      bool
	NullsLast bool
}

// Sort gives all rows in order at the end of a bounded input.
type Sort struct {
	Info
	Keys []SortKey
}

// TemporalSort sorts an endless input by its time attribute, ascending, and then by the other keys: rows come out when the
// watermark (or the clock) has passed them.
type TemporalSort struct {
	Info
	Keys []SortKey
}

// SortLimit gives the rows Offset..Offset+Limit of an ordering; in streaming mode it is a top-N.
type SortLimit struct {
	Info
	Keys          []SortKey
	Offset, Limit int64 // Limit -1 for no limit (batch only)
	Strategy      RankStrategy
	Key           []int // of UpdateFast: the upsert key of the input by which rows replace each other
}

// RankStrategy is how a top-N keeps its rows (semantics.md 6.14).
type RankStrategy uint8

const (
	NoStrategy RankStrategy = iota // batch
	AppendFast                     // the input only inserts: nothing below the last rank is kept
	UpdateFast                     // updates replace the row of their key and only improve it
	Retract                        // all rows are kept
)

// Limit gives the first rows by arrival.
type Limit struct {
	Info
	Offset, Limit int64 // Limit -1 for no limit (batch only)
}

// Enforcer is what a Sink does to rows before its writer, and a Collect before the client.
type Enforcer struct {
	NotNull []int // columns that must not be NULL
	Drop    bool  // table.exec.sink.not-null-enforcer = DROP: rows are dropped, else the job fails
	// Length lists columns cut or padded to their type's length (table.exec.sink.type-length-enforcer = TRIM_PAD).
	Length []int
}

// Sink writes to a table.
type Sink struct {
	Info
	Table    *connectors.Table
	Sink     *connectors.Sink
	Columns  []int // of Table.Columns
	Enforcer Enforcer
	// PrimaryKey are columns of the input; Materialize puts a SinkUpsertMaterializer in front of the writer, which works
	// with InputKey, an upsert key of the input (nil: none known).
	PrimaryKey  []int
	Materialize bool
	InputKey    []int
	// RowtimeColumn stamps records with the rowtime, -1 for none.
	RowtimeColumn int

	plan    func(connectors.SinkRequest) (*connectors.Sink, error)
	request connectors.SinkRequest
	names   []types.Field // the table's columns
	at      sql.Node
}

// Collect hands the rows of a SELECT to the client.
type Collect struct {
	Info
	Enforcer Enforcer
}

// The set of nodes.
var (
	_ Node = (*Scan)(nil)
	_ Node = (*Values)(nil)
	_ Node = (*Sink)(nil)
)
