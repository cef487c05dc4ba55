package sql

// ObjectKind is the kind of an object in a catalog or session.
type ObjectKind uint8

// The kinds of objects.
const (
	ObjectTable ObjectKind = iota + 1
	ObjectView
	ObjectMaterializedTable
	ObjectFunction
	ObjectCatalog
	ObjectDatabase
	ObjectModel
	ObjectConnection
	ObjectModule
	ObjectJob
)

// CreateCatalog is CREATE CATALOG.
type CreateCatalog struct {
	Span
	IfNotExists bool
	Name        *Name
	Comment     *Literal
	With        *Properties
}

// CreateDatabase is CREATE DATABASE.
type CreateDatabase struct {
	Span
	IfNotExists bool
	Name        *Name
	Comment     *Literal
	With        *Properties
}

// CreateTable is CREATE TABLE, CREATE TABLE .. AS, and [CREATE OR] REPLACE TABLE .. AS.
type CreateTable struct {
	Span
	Temporary bool
	// Replace tells REPLACE TABLE, OrReplace CREATE OR REPLACE TABLE; at most one is set.
	Replace     bool
	OrReplace   bool
	IfNotExists bool
	Name        *Name
	// Elements are the items in the parentheses: [*ColumnDef], [*WatermarkDef], [*ConstraintDef], and [*ColumnRef] for the bare
	// names of a CREATE TABLE (a, b) AS. It is empty where there are no parentheses.
	Elements     []TableElement
	Comment      *Literal
	Distribution *Distribution
	PartitionBy  []Ident
	With         *Properties
	Like         *LikeClause // nil without LIKE
	As           *Query      // nil without AS
}

// TableElement is an item between the parentheses of CREATE TABLE or in ALTER TABLE ADD and MODIFY: [*ColumnDef],
// [*WatermarkDef], [*ConstraintDef], [*ColumnRef] or [*Distribution].
type TableElement interface {
	Node
	tableElement()
}

// ColumnKind is the kind of a [*ColumnDef].
type ColumnKind uint8

// The kinds of columns.
const (
	// PhysicalColumn is name type.
	PhysicalColumn ColumnKind = iota + 1
	// MetadataColumn is name type METADATA [FROM 'key'] [VIRTUAL].
	MetadataColumn
	// ComputedColumn is name AS expr.
	ComputedColumn
)

// ColumnDef is the definition of a column.
type ColumnDef struct {
	Span
	// Name has one segment but for ALTER TABLE, where it may name a field of a row.
	Name *Name
	Kind ColumnKind
	Type *TypeName // nil for a computed column
	// Expr is the expression of a computed column.
	Expr Expr
	// MetadataKey is the string of METADATA FROM, nil where the column's name is the key.
	MetadataKey *Literal
	Virtual     bool
	// Constraint is a PRIMARY KEY or UNIQUE behind the type; it has no columns of its own.
	Constraint *ConstraintDef
	Comment    *Literal
	// Position is set by FIRST and AFTER in ALTER TABLE.
	Position *ColumnPosition
}

// ColumnPosition is FIRST (After is nil) or AFTER name.
type ColumnPosition struct {
	Span
	After *Name
}

// WatermarkDef is WATERMARK FOR column AS expr.
type WatermarkDef struct {
	Span
	Column *Name
	Expr   Expr
}

// Enforcement is ENFORCED or NOT ENFORCED behind a constraint.
type Enforcement uint8

// The enforcements; the zero value is "not written", which means enforced.
const (
	EnforcementUnspecified Enforcement = iota
	Enforced
	NotEnforced
)

// ConstraintDef is [CONSTRAINT name] PRIMARY KEY|UNIQUE [(column, ..)] [[NOT] ENFORCED].
type ConstraintDef struct {
	Span
	Name *Ident // nil without a name
	// Unique tells UNIQUE; else it is a PRIMARY KEY.
	Unique      bool
	Columns     []Ident
	Enforcement Enforcement
}

// ColumnRef is the bare name of a column in the list of CREATE TABLE (a, b) AS query.
type ColumnRef struct {
	Span
	Name Ident
}

// Distribution is DISTRIBUTED BY [HASH|RANGE] (column, ..) [INTO n BUCKETS], or DISTRIBUTED INTO n BUCKETS.
type Distribution struct {
	Span
	// Kind is "HASH", "RANGE" or empty.
	Kind    string
	Columns []Ident
	Buckets *Literal // nil without INTO
}

// LikeClause is LIKE table [(option ..)].
type LikeClause struct {
	Span
	Table   *Name
	Options []*LikeOption
}

// LikeMerge is what a LIKE option does.
type LikeMerge uint8

// The merging strategies of LIKE.
const (
	Including LikeMerge = iota + 1
	Excluding
	Overwriting
)

// LikeOption is INCLUDING|EXCLUDING|OVERWRITING feature.
type LikeOption struct {
	Span
	Merge LikeMerge
	// Feature is ALL, CONSTRAINTS, DISTRIBUTION, GENERATED, METADATA, OPTIONS, PARTITIONS or WATERMARKS.
	Feature string
}

// CreateView is CREATE VIEW.
type CreateView struct {
	Span
	OrReplace   bool
	Temporary   bool
	IfNotExists bool
	Name        *Name
	Columns     []Ident
	Comment     *Literal
	Query       *Query
}

// CreateFunction is CREATE FUNCTION.
type CreateFunction struct {
	Span
	Temporary   bool
	System      bool
	IfNotExists bool
	Name        *Name
	Class       *Literal
	// Language is JAVA, SCALA, SQL, PYTHON, or empty.
	Language string
	Using    []*FunctionResource
	With     *Properties
}

// FunctionResource is one resource of USING: JAR 'path', FILE, ARCHIVE or ARTIFACT.
type FunctionResource struct {
	Span
	Kind string // in upper case
	Path *Literal
}

// CreateModel is CREATE MODEL.
type CreateModel struct {
	Span
	Temporary   bool
	IfNotExists bool
	Name        *Name
	Input       []*ColumnDef
	Output      []*ColumnDef
	Comment     *Literal
	With        *Properties
	As          *Query
}

// CreateConnection is CREATE CONNECTION.
type CreateConnection struct {
	Span
	Temporary   bool
	System      bool
	IfNotExists bool
	Name        *Name
	Comment     *Literal
	With        *Properties
}

// CreateMaterializedTable is CREATE [OR ALTER] MATERIALIZED TABLE.
type CreateMaterializedTable struct {
	Span
	OrAlter      bool
	Name         *Name
	Elements     []TableElement
	Comment      *Literal
	Distribution *Distribution
	PartitionBy  []Ident
	With         *Properties
	Freshness    Expr // an interval, nil without FRESHNESS
	// RefreshMode is FULL, CONTINUOUS or empty.
	RefreshMode string
	Query       *Query
}

// AlterCatalog is ALTER CATALOG name SET|RESET|COMMENT.
type AlterCatalog struct {
	Span
	Name   *Name
	Action AlterAction
}

// AlterDatabase is ALTER DATABASE name SET.
type AlterDatabase struct {
	Span
	Name   *Name
	Action AlterAction
}

// AlterTable is ALTER TABLE, one action at a time.
type AlterTable struct {
	Span
	IfExists bool
	Name     *Name
	Action   AlterAction
}

// AlterView is ALTER VIEW: [*RenameTo] or [*AlterQuery].
type AlterView struct {
	Span
	Name   *Name
	Action AlterAction
}

// AlterFunction is ALTER FUNCTION.
type AlterFunction struct {
	Span
	Temporary bool
	System    bool
	IfExists  bool
	Name      *Name
	Class     *Literal
	Language  string
}

// AlterModel is ALTER MODEL.
type AlterModel struct {
	Span
	IfExists bool
	Name     *Name
	Action   AlterAction
}

// AlterConnection is ALTER CONNECTION.
type AlterConnection struct {
	Span
	IfExists bool
	Name     *Name
	Action   AlterAction
}

// AlterMaterializedTable is ALTER MATERIALIZED TABLE.
type AlterMaterializedTable struct {
	Span
	Name   *Name
	Action AlterAction
}

// AlterAction is what an ALTER statement does.
type AlterAction interface {
	Node
	alterAction()
}

// RenameTo is RENAME TO name.
type RenameTo struct {
	Span
	Name *Name
}

// RenameColumn is RENAME column TO column.
type RenameColumn struct {
	Span
	Old, New *Name
}

// SetProperties is SET ('key' = 'value', ..).
type SetProperties struct {
	Span
	Props *Properties
}

// ResetProperties is RESET ('key', ..).
type ResetProperties struct {
	Span
	Keys []*Literal
}

// SetComment is COMMENT 'text'.
type SetComment struct {
	Span
	Comment *Literal
}

// AlterQuery is AS query, of views and materialized tables.
type AlterQuery struct {
	Span
	Query *Query
}

// AddElements is ADD element or ADD (element, ..).
type AddElements struct {
	Span
	// Parens tells that the elements were written in parentheses.
	Parens   bool
	Elements []TableElement
}

// ModifyElements is MODIFY element or MODIFY (element, ..).
type ModifyElements struct {
	Span
	Parens   bool
	Elements []TableElement
}

// AddPartitions is ADD [IF NOT EXISTS] PARTITION (..) [WITH (..)] ...
type AddPartitions struct {
	Span
	IfNotExists bool
	Partitions  []*PartitionDef
}

// PartitionDef is PARTITION (..) [WITH (..)].
type PartitionDef struct {
	Span
	Spec *PartitionSpec
	With *Properties
}

// DropPartitions is DROP [IF EXISTS] PARTITION (..), PARTITION (..).
type DropPartitions struct {
	Span
	IfExists bool
	Specs    []*PartitionSpec
}

// DropColumns is DROP column or DROP (column, ..).
type DropColumns struct {
	Span
	Parens  bool
	Columns []*Name
}

// DropFeature is DROP PRIMARY KEY, DROP CONSTRAINT name, DROP WATERMARK or DROP DISTRIBUTION.
type DropFeature struct {
	Span
	// Feature is "PRIMARY KEY", "CONSTRAINT", "WATERMARK" or "DISTRIBUTION".
	Feature string
	Name    *Ident // of CONSTRAINT
}

// Compact is [PARTITION (..)] COMPACT.
type Compact struct {
	Span
	Partition *PartitionSpec
}

// Suspend is SUSPEND, of materialized tables.
type Suspend struct{ Span }

// Resume is RESUME [WITH (..)], of materialized tables.
type Resume struct {
	Span
	With *Properties
}

// Refresh is REFRESH [PARTITION (..)], of materialized tables.
type Refresh struct {
	Span
	Partition *PartitionSpec
}

// SetFreshness is SET FRESHNESS = interval.
type SetFreshness struct {
	Span
	Freshness Expr
}

// SetRefreshMode is SET REFRESH_MODE = FULL|CONTINUOUS.
type SetRefreshMode struct {
	Span
	Mode string
}

// Drop is DROP of any kind of object.
type Drop struct {
	Span
	Object    ObjectKind
	Temporary bool
	System    bool
	IfExists  bool
	Name      *Name
	// Behavior is RESTRICT, CASCADE or empty; only databases have one.
	Behavior string
}

func (*CreateCatalog) stmtNode()           {}
func (*CreateDatabase) stmtNode()          {}
func (*CreateTable) stmtNode()             {}
func (*CreateView) stmtNode()              {}
func (*CreateFunction) stmtNode()          {}
func (*CreateModel) stmtNode()             {}
func (*CreateConnection) stmtNode()        {}
func (*CreateMaterializedTable) stmtNode() {}
func (*AlterCatalog) stmtNode()            {}
func (*AlterDatabase) stmtNode()           {}
func (*AlterTable) stmtNode()              {}
func (*AlterView) stmtNode()               {}
func (*AlterFunction) stmtNode()           {}
func (*AlterModel) stmtNode()              {}
func (*AlterConnection) stmtNode()         {}
func (*AlterMaterializedTable) stmtNode()  {}
func (*Drop) stmtNode()                    {}

func (*ColumnDef) tableElement()     {}
func (*WatermarkDef) tableElement()  {}
func (*ConstraintDef) tableElement() {}
func (*ColumnRef) tableElement()     {}
func (*Distribution) tableElement()  {}

func (*RenameTo) alterAction()        {}
func (*RenameColumn) alterAction()    {}
func (*SetProperties) alterAction()   {}
func (*ResetProperties) alterAction() {}
func (*SetComment) alterAction()      {}
func (*AlterQuery) alterAction()      {}
func (*AddElements) alterAction()     {}
func (*ModifyElements) alterAction()  {}
func (*AddPartitions) alterAction()   {}
func (*DropPartitions) alterAction()  {}
func (*DropColumns) alterAction()     {}
func (*DropFeature) alterAction()     {}
func (*Compact) alterAction()         {}
func (*Suspend) alterAction()         {}
func (*Resume) alterAction()          {}
func (*Refresh) alterAction()         {}
func (*SetFreshness) alterAction()    {}
func (*SetRefreshMode) alterAction()  {}
