package connectors

import (
	"context"
	"log/slog"
	"time"

	"runnel/types"
)

// Connector is one kind of outside system, as CREATE TABLE names it in 'connector'. It is a table row: functions that
// are nil are abilities that it does not have.
type Connector struct {
	Name string
	Doc  string // one sentence for the user guide
	// SourceClass and SinkClass are Flink's Java classes for it, which messages name; "" where none does.
	SourceClass, SinkClass string

	Options []Option // every option but 'connector'; formats add theirs
	// Prefixes are option name-spaces passed on as they are, e.g. "properties.".
	Prefixes []string
	// Formats lists the option keys that name a format ("format", "value.format", "key.format"), empty for none.
	Formats []string
	// WatermarkPushdown: watermarks are made per split inside the source (semantics.md 7.1).
	WatermarkPushdown bool
	// Nested: scans can deliver single fields of ROW columns (ScanRequest.Paths).
	Nested bool
	// Limits: scans of the table mind ScanRequest.Limit. nil for never.
	Limits func(t *Table) bool
	// Constant gives the columns, indexes into Table.Columns, whose value is the same for all rows of a split; scans mind
	// ScanRequest.Keep. nil for none.
	Constant func(t *Table) []int
	// Metadata lists the metadata columns that can be declared, for the given table (formats may add some).
	Metadata func(t *Table) []Metadata

	// Source plans a scan. It checks everything that can be checked without touching the outside system.
	Source func(ScanRequest) (*Source, error)
	// Sink plans a sink, with the same rule.
	Sink func(SinkRequest) (*Sink, error)
	// Lookup plans a lookup by key.
	Lookup func(LookupRequest) (Lookup, error)
	// AsyncLookup: joins ask without waiting for the answer unless a hint says otherwise.
	AsyncLookup bool
}

// Metadata is a metadata column that a connector offers.
type Metadata struct {
	Key      string
	Type     types.Type
	Readable bool
	Writable bool
}

// Table is a table as its connector sees it: the resolved schema and the options with hints merged and ${ENV:NAME}
// replaced. Connectors must not change it.
type Table struct {
	Name       string // catalog.database.table
	Columns    []Column
	PrimaryKey []string
	Partition  []string
	Options    Options
	Batch      bool // execution.runtime-mode = batch
}

// Column is a physical or metadata column of a table. Computed columns are not seen by connectors.
type Column struct {
	Name     string
	Type     types.Type
	Metadata string // the metadata key; "" for a physical column
	Virtual  bool   // metadata that is never written
}

// Physical gives the columns that are no metadata, as fields.
func (t *Table) Physical() []types.Field {
	var fs []types.Field
	for _, c := range t.Columns {
		if c.Metadata == "" {
			fs = append(fs, types.Field{Name: c.Name, Type: c.Type})
		}
	}
	return fs
}

// Env is what the engine lends to sources and sinks.
type Env struct {
	Zone    *time.Location   // table.local-time-zone
	Dir     string           // a private directory that outlives the job, for files of the connector (may not exist yet)
	Now     func() time.Time // the job's clock
	Log     *slog.Logger
	Subtask int
	Of      int // parallelism
	// MaxRows is the greatest number of rows of a Poll; 0 means types.BatchRows. Tests make it small.
	MaxRows int
	Metrics func(name string, value func() int64)
	// Stdout is where the print connector writes; whole lines, one owner behind it.
	Stdout interface{ Write([]byte) (int, error) }
	Stderr interface{ Write([]byte) (int, error) }
}

// ScanRequest asks for a scan of a table.
type ScanRequest struct {
	Table *Table
	// Columns are the indexes into Table.Columns to deliver, in this order: the projection that was pushed down.
	Columns []int
	// Paths says of each of Columns which field of the ROW to deliver in its place, Whole for the column itself. nil is
	// Whole for all, and always so for connectors that are not Nested.
	Paths []int
	// Limit is how many rows are wanted of each subtask, 0 for all. More do no harm.
	Limit int64
	// Keep says whether a split has to be read, by the values of its constant columns; nil when all have. Splits that are
	// read without need do no harm.
	Keep func(constant func(column int) (types.Datum, bool)) bool
}

// Whole is the path to a column itself.
const Whole = -1

// Path is the path of the i-th of Columns.
func (r ScanRequest) Path(i int) int {
	if r.Paths == nil {
		return Whole
	}
	return r.Paths[i]
}

// Fields gives the schema of the rows to deliver.
func (r ScanRequest) Fields() []types.Field {
	fs := make([]types.Field, len(r.Columns))
	for i, c := range r.Columns {
		fs[i] = types.Field{Name: r.Table.Columns[c].Name, Type: r.Table.Columns[c].Type}
		if k := r.Path(i); k != Whole {
			fs[i] = FieldOf(fs[i], k)
		}
	}
	return fs
}

// FieldOf is the column that field k of a ROW column is delivered in: NULL where the row is.
func FieldOf(row types.Field, k int) types.Field {
	f := row.Type.Fields[k]
	return types.Field{Name: row.Name + "_" + f.Name, Type: f.Type.Nullable(!row.Type.NotNull || !f.Type.NotNull)}
}

// Source is a planned scan.
type Source struct {
	Mode    types.ChangelogMode
	Bounded bool
	// Parallelism is the source's own option (scan.parallelism), 0 for none.
	Parallelism int
	// Identity names the outside system so that a restore against another one can be refused, e.g. a Kafka cluster id;
	// nil when there is nothing to compare.
	Identity func(ctx context.Context) (string, error)
	// Enumerate starts the one enumerator of a job's source.
	Enumerate func(env Env) (Enumerator, error)
	// Read starts the reader of one subtask. wake may be called from any goroutine: it asks the engine to poll again.
	Read func(env Env, wake func()) (Reader, error)
	// Committed is told of each completed checkpoint with the splits it holds, e.g. to commit consumer offsets. May be nil.
	Committed func(ctx context.Context, splits []Split) error
}

// Split is a part of a source that one reader reads in order: a topic's partition, a file, a range of a sequence.
type Split struct {
	ID    string // stable and unique within the source; its hash deals splits to subtasks
	State []byte // the connector's own encoding of the position and of where to stop, versioned by its first byte
}

// Enumerator finds the splits of a source. The engine calls it from one goroutine and keeps, in checkpoints, which splits
// were found (known), which were not yet dealt, and that the first discovery is finished; it never deals a known one twice.
type Enumerator interface {
	// Discover gives all splits that exist now. first is true until a discovery has succeeded in the life of the job,
	// restores included: splits found then start where the options say, later ones at their earliest position. The
	// engine calls again after Interval.
	Discover(ctx context.Context, first bool) ([]Split, error)
	// Interval is the time between discoveries; 0 when the first one is final.
	Interval() time.Duration
	Close() error
}

// Reader reads the splits of one subtask. All methods are called from the task's goroutine and none of them blocks:
// whatever waits is done in goroutines of the reader's own, which Close ends and waits for.
type Reader interface {
	// Assign adds splits to read from the positions in their State.
	Assign(splits []Split) error
	// Poll gives the next rows, all of one split, or a Polled without rows when nothing is ready (the reader calls wake
	// later). A record that cannot be decoded is a *types.DataError, given after the rows before it.
	Poll() (Polled, error)
	// Snapshot gives every assigned split that has not ended, with the position behind the last polled row.
	Snapshot() ([]Split, error)
	Close() error
}

// Polled is what a poll gave.
type Polled struct {
	Split string       // the split's id
	Rows  *types.Batch // valid until the next Poll; nil when nothing was ready
	Ended bool         // the split has come to its end with these rows (Rows may be nil)
	More  bool         // call Poll again at once; false: wait for wake
	// Times are the rows' record timestamps in milliseconds, if the source has such; nil otherwise.
	Times []int64
}

// SinkRequest asks for a sink that takes rows of the given schema.
type SinkRequest struct {
	Table *Table
	// Columns are the indexes into Table.Columns that rows carry, in order: physical ones and writable metadata.
	Columns []int
	// Query is the mode of the changelog that the query produces; the sink answers with what it takes of that.
	Query types.ChangelogMode
	// Overwrite: INSERT OVERWRITE.
	Overwrite bool
	// Static holds the values of static partition columns (PARTITION (k = 'v')), by name.
	Static map[string]string
}

// Fields gives the schema of the rows that the sink will get.
func (r SinkRequest) Fields() []types.Field {
	return ScanRequest{Table: r.Table, Columns: r.Columns}.Fields()
}

// Sink is a planned sink.
type Sink struct {
	Mode        types.ChangelogMode // the kinds it takes
	Parallelism int                 // sink.parallelism, 0 for none
	Identity    func(ctx context.Context) (string, error)
	// Open starts the writer of one subtask.
	Open func(ctx context.Context, env SinkEnv) (Writer, error)
	// Committer makes rows visible after a checkpoint; nil when writers need no commit.
	Committer func(env SinkEnv) (Committer, error)
}

// SinkEnv is what a sink gets at its start.
type SinkEnv struct {
	Env
	// Run is random and new at every start and restore of a job. PriorRuns are those recorded in the restored snapshot.
	Run       string
	PriorRuns []string
	// Sink is the sink's stable operator id, unique in the job.
	Sink string
	// Restored are the writer states of the snapshot, dealt to the subtasks.
	Restored [][]byte
	// Checkpoint is the restored checkpoint id, 0 for a fresh start.
	Checkpoint int64
	// Bounded: the job's input ends, and a last checkpoint follows it.
	Bounded bool
}

// Writer writes rows of one subtask. All methods are called from the task's goroutine; they may block, within ctx.
type Writer interface {
	// Write adds rows. The batch is borrowed. Keeping a bounded buffer is allowed.
	Write(ctx context.Context, rows *types.Batch) error
	// Prepare is called at barrier checkpoint (and once more at the end of input): everything written before must be
	// durable outside, or be described by the committables. state comes back in SinkEnv.Restored.
	Prepare(ctx context.Context, checkpoint int64) (committables [][]byte, state []byte, err error)
	// Close releases everything. Without a Prepare just before, what was written since the last one is given up.
	Close() error
}

// Flusher is a Writer that buffers: Flush is called when the input runs dry and at execution.buffer-timeout.
type Flusher interface {
	Flush(ctx context.Context) error
}

// CommitListener is a Writer that wants to know of completed commits (to reuse transaction slots, to drop row logs).
// Called from the task's goroutine.
type CommitListener interface {
	Committed(checkpoint int64)
}

// Committer commits what writers prepared, once the checkpoint is durable. Called from one goroutine of the job.
type Committer interface {
	// Recover finishes the committables of a restored snapshot and clears away what later attempts left behind. It ends
	// before any writer starts.
	Recover(ctx context.Context, committables [][]byte) error
	// Commit commits; it must be idempotent. An error that may pass is retried inside, until ctx ends.
	Commit(ctx context.Context, checkpoint int64, committables [][]byte) error
	Close() error
}

// LookupRequest asks for a lookup by the equality of Keys.
type LookupRequest struct {
	Table   *Table
	Columns []int // to deliver
	Keys    []int // indexes into Table.Columns
}

// Lookup finds rows of an outside table by key. Caches, retries and timeouts stand in front of it, see connectors/lookup. It
// connects at the first call: opening one costs nothing.
type Lookup interface {
	// Lookup gives, for every live row of keys, the matching rows: of[i] is the number among the live rows of keys that rows'
	// i-th row belongs to, ascending. Keys are distinct and hold no NULL. rows has no selection and is the caller's. Several
	// goroutines may call at once.
	Lookup(ctx context.Context, keys *types.Batch) (rows *types.Batch, of []int32, err error)
	Close() error
}

// LookupScanner is a Lookup that can read its whole table, which lookup.cache = FULL asks for.
type LookupScanner interface {
	// Scan gives all rows: the Columns of the request, then its Keys. A batch is borrowed.
	Scan(ctx context.Context, rows func(*types.Batch) error) error
}
