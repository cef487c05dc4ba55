package sql

// Insert is [EXECUTE] INSERT INTO|OVERWRITE or UPSERT INTO.
type Insert struct {
	Span
	Overwrite bool
	Upsert    bool
	Table     *Name
	Hints     []*Hint
	Partition *PartitionSpec
	// Columns is empty without a column list. A column with more than one segment is a field of a row.
	Columns []*Name
	Query   *Query
	// OnConflict is ERROR, NOTHING, DEDUPLICATE or empty.
	OnConflict string
}

// Update is UPDATE.
type Update struct {
	Span
	Table *Name
	Hints []*Hint
	Alias *Ident
	Set   []*Assignment
	Where Expr
}

// Assignment is column = expr.
type Assignment struct {
	Span
	Column *Name
	Value  Expr
}

// Delete is DELETE FROM.
type Delete struct {
	Span
	Table *Name
	Hints []*Hint
	Alias *Ident
	Where Expr
}

// Truncate is TRUNCATE TABLE.
type Truncate struct {
	Span
	Table *Name
}

// Merge is MERGE INTO table [AS alias] USING source ON condition WHEN ...
type Merge struct {
	Span
	Table  *Name
	Hints  []*Hint
	Alias  *Ident
	Source TableRef
	On     Expr
	// Update holds the assignments of WHEN MATCHED, nil without it.
	Update []*Assignment
	// InsertColumns and InsertValues are those of WHEN NOT MATCHED; Values is nil without it.
	InsertColumns []*Name
	InsertValues  *Values
}

// StatementSet is [EXECUTE] STATEMENT SET BEGIN .. END: several inserts that run as one job. As a statement of its own it was
// written with EXECUTE; EXPLAIN and COMPILE PLAN hold it without.
type StatementSet struct {
	Span
	Stmts []*Insert
}

// BeginStatementSet is BEGIN STATEMENT SET; the inserts that belong to it are statements of their own, up to [EndStatementSet].
type BeginStatementSet struct{ Span }

// EndStatementSet is END, which submits what came after [BeginStatementSet].
type EndStatementSet struct{ Span }

// Execute is EXECUTE before a query, which changes nothing. EXECUTE before INSERT and STATEMENT SET is dropped by the parser.
type Execute struct {
	Span
	Query *Query
}

// ExplainDetail is what EXPLAIN shall show besides the plan.
type ExplainDetail string

// The details of EXPLAIN.
const (
	EstimatedCost     ExplainDetail = "ESTIMATED_COST"
	ChangelogMode     ExplainDetail = "CHANGELOG_MODE"
	JSONExecutionPlan ExplainDetail = "JSON_EXECUTION_PLAN"
	PlanAdvice        ExplainDetail = "PLAN_ADVICE"
)

// Explain is EXPLAIN [PLAN FOR | detail, ..] statement.
type Explain struct {
	Span
	PlanFor bool
	Details []ExplainDetail
	// Stmt is a [*Query], [*Insert], [*StatementSet] or [*CreateTable].
	Stmt Stmt
}

// Describe is DESCRIBE or DESC of an object. For ObjectTable (tables and views) and the others but ObjectJob, Name is set.
type Describe struct {
	Span
	Object   ObjectKind
	Extended bool
	Name     *Name
	Job      *Literal // of ObjectJob
}

// ShowKind is what SHOW lists.
type ShowKind uint8

// The kinds of SHOW.
const (
	ShowCatalogs ShowKind = iota + 1
	ShowCurrentCatalog
	ShowDatabases
	ShowCurrentDatabase
	ShowTables
	ShowViews
	ShowMaterializedTables
	ShowColumns
	ShowPartitions
	ShowFunctions
	ShowUserFunctions
	ShowProcedures
	ShowModules
	ShowFullModules
	ShowModels
	ShowConnections
	ShowJars
	ShowJobs
	ShowCreateTable
	ShowCreateView
	ShowCreateMaterializedTable
	ShowCreateCatalog
	ShowCreateModel
	ShowCreateConnection
)

// Show is SHOW in all its forms.
type Show struct {
	Span
	Kind ShowKind
	// In is the name behind FROM or IN, or, for SHOW COLUMNS, PARTITIONS and CREATE, the object; else nil.
	In *Name
	// FromIn tells that FROM ("FROM") or IN ("IN") was written before In.
	FromIn string
	// Like is the pattern of [NOT] LIKE or ILIKE, else nil.
	Like    *Literal
	NotLike bool
	ILike   bool
	// Partition is that of SHOW PARTITIONS, else nil.
	Partition *PartitionSpec
	// OrAlter is that of SHOW CREATE OR ALTER MATERIALIZED TABLE.
	OrAlter bool
}

// Use is USE database.
type Use struct {
	Span
	Name *Name
}

// UseCatalog is USE CATALOG name.
type UseCatalog struct {
	Span
	Name *Name
}

// UseModules is USE MODULES name, ..
type UseModules struct {
	Span
	Names []Ident
}

// LoadModule is LOAD MODULE name [WITH (..)].
type LoadModule struct {
	Span
	Name Ident
	With *Properties
}

// UnloadModule is UNLOAD MODULE name.
type UnloadModule struct {
	Span
	Name Ident
}

// Set is SET 'key' = 'value', SET key = value, or SET alone (Key is empty), which lists the options.
type Set struct {
	Span
	// HasKey tells SET alone from the others.
	HasKey     bool
	Key, Value string
	// ValuePos is the place of the value.
	ValuePos Pos
}

// Reset is RESET 'key', RESET key, or RESET alone.
type Reset struct {
	Span
	HasKey bool
	Key    string
}

// AddJar is ADD JAR 'path'.
type AddJar struct {
	Span
	Path *Literal
}

// RemoveJar is REMOVE JAR 'path'.
type RemoveJar struct {
	Span
	Path *Literal
}

// StopJob is STOP JOB 'id' [WITH SAVEPOINT] [WITH DRAIN].
type StopJob struct {
	Span
	Job       *Literal
	Savepoint bool
	Drain     bool
}

// Call is CALL procedure(arg, ..).
type Call struct {
	Span
	Call *FuncCall
}

// Analyze is ANALYZE TABLE name [PARTITION (..)] COMPUTE STATISTICS [FOR COLUMNS a, b | FOR ALL COLUMNS].
type Analyze struct {
	Span
	Table      *Name
	Partition  *PartitionSpec
	Columns    []Ident
	AllColumns bool
}

// CompilePlan is COMPILE PLAN 'path' [IF NOT EXISTS] FOR statement, and with Execute COMPILE AND EXECUTE PLAN 'path' FOR statement.
type CompilePlan struct {
	Span
	Execute     bool
	Path        *Literal
	IfNotExists bool
	Stmt        Stmt // *Insert or *StatementSet
}

// ExecutePlan is EXECUTE PLAN 'path'.
type ExecutePlan struct {
	Span
	Path *Literal
}

// ClientCommand is a command of the shell itself.
type ClientCommand struct {
	Span
	// Word is HELP, QUIT, EXIT or CLEAR.
	Word string
}

func (*Insert) stmtNode()            {}
func (*Update) stmtNode()            {}
func (*Delete) stmtNode()            {}
func (*Truncate) stmtNode()          {}
func (*Merge) stmtNode()             {}
func (*StatementSet) stmtNode()      {}
func (*BeginStatementSet) stmtNode() {}
func (*EndStatementSet) stmtNode()   {}
func (*Execute) stmtNode()           {}
func (*Explain) stmtNode()           {}
func (*Describe) stmtNode()          {}
func (*Show) stmtNode()              {}
func (*Use) stmtNode()               {}
func (*UseCatalog) stmtNode()        {}
func (*UseModules) stmtNode()        {}
func (*LoadModule) stmtNode()        {}
func (*UnloadModule) stmtNode()      {}
func (*Set) stmtNode()               {}
func (*Reset) stmtNode()             {}
func (*AddJar) stmtNode()            {}
func (*RemoveJar) stmtNode()         {}
func (*StopJob) stmtNode()           {}
func (*Call) stmtNode()              {}
func (*Analyze) stmtNode()           {}
func (*CompilePlan) stmtNode()       {}
func (*ExecutePlan) stmtNode()       {}
func (*ClientCommand) stmtNode()     {}
