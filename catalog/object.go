package catalog

import (
	"strings"

	"runnel/sql"
	"runnel/types"
)

// Path is the full name of an object.
type Path struct{ Catalog, Database, Name string }

// String gives the path as messages show it: c.d.n.
func (p Path) String() string { return p.Catalog + "." + p.Database + "." + p.Name }

// Quoted gives the path with every part in back-ticks.
func (p Path) Quoted() string {
	return Quote(p.Catalog) + "." + Quote(p.Database) + "." + Quote(p.Name)
}

// Quote puts a name in back-ticks.
func Quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Literal makes a string literal.
func Literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Object is what stands behind the name of a table: *Table or *View.
type Object interface {
	ObjectPath() Path
	IsTemporary() bool
	rename(Path) Object
}

// Table is a resolved table.
type Table struct {
	Path         Path
	Temporary    bool
	Columns      []Column
	Watermark    *Watermark // nil for none
	PrimaryKey   *Key       // nil for none
	Distribution *Distribution
	Partition    []string // PARTITIONED BY
	Options      []Option // in the order of the text, keys unique
	Comment      string
	// buckets is the size of the hash map that Flink would hold the options in since ALTER TABLE, 0 for that of a new one.
	buckets int
	// Partitions are those of ALTER TABLE ADD PARTITION.
	Partitions []Partition
}

// Kinds of columns are those of the syntax: sql.PhysicalColumn, sql.MetadataColumn, sql.ComputedColumn.

// Column is a column of a table.
type Column struct {
	Name string
	Kind sql.ColumnKind
	// Type is that of a query's rows: the time attributes are in it.
	Type types.Type
	// Expr is the expression of a computed column, over the physical and metadata columns.
	Expr sql.Expr
	// Key is the metadata key; "" is never one: where the text names none it is the column's name. FromKey tells whether
	// the text named it.
	Key     string
	FromKey bool
	Virtual bool
	Comment string
}

// Watermark is a WATERMARK clause; Expr stands over all columns of the table.
type Watermark struct {
	Column string
	Expr   sql.Expr
}

// Key is a primary key.
type Key struct {
	Name    string
	Columns []string
}

// Distribution is a DISTRIBUTED clause.
type Distribution struct {
	Kind    string // HASH, RANGE or ""
	Columns []string
	Buckets int // 0 where none are given
}

// Option is one WITH option.
type Option struct{ Key, Value string }

// Partition is a partition that was added by hand.
type Partition struct {
	Spec    []Option // column and value, in the order of Table.Partition
	Options []Option
}

// View is a view: a query with names for its columns.
type View struct {
	Path      Path
	Temporary bool
	Fields    []types.Field // names and types as they were when the view was made
	Query     *sql.Query
	// Catalog and Database were current when the view was made; names in Query are found from there.
	Catalog, Database string
	// Text is the query with its names expanded, for SHOW CREATE VIEW.
	Text    string
	Comment string
	// Named tells that the text gave names to the columns.
	Named bool
}

// ObjectPath gives the table's name.
func (t *Table) ObjectPath() Path { return t.Path }

// IsTemporary reports whether the table lives in the session only.
func (t *Table) IsTemporary() bool { return t.Temporary }

func (t *Table) rename(p Path) Object { c := *t; c.Path = p; return &c }

// ObjectPath gives the view's name.
func (v *View) ObjectPath() Path { return v.Path }

// IsTemporary reports whether the view lives in the session only.
func (v *View) IsTemporary() bool { return v.Temporary }

func (v *View) rename(p Path) Object { c := *v; c.Path = p; return &c }

// Column finds a column, -1 when there is none.
func (t *Table) Column(name string) int {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

// Fields gives the columns as a query sees them.
func (t *Table) Fields() []types.Field {
	fs := make([]types.Field, len(t.Columns))
	for i, c := range t.Columns {
		fs[i] = types.Field{Name: c.Name, Type: c.Type, Comment: c.Comment}
	}
	return fs
}

// Option gives an option's value.
func (t *Table) Option(key string) (string, bool) {
	for _, o := range t.Options {
		if o.Key == key {
			return o.Value, true
		}
	}
	return "", false
}

// set gives opts with one option set; an existing key keeps its place.
func set(opts []Option, key, value string) []Option {
	for i := range opts {
		if opts[i].Key == key {
			opts[i].Value = value
			return opts
		}
	}
	return append(opts, Option{key, value})
}

func optionList(p *sql.Properties) []Option {
	if p == nil {
		return nil
	}
	var opts []Option
	for _, kv := range p.List {
		opts = set(opts, kv.Key.Text, kv.Value.Text)
	}
	return opts
}

// Function is a user-defined function. Only its name is known: runnel runs no classes.
type Function struct {
	Path      Path // of a catalog function; only Name of a system one
	Temporary bool
	System    bool
	Class     string
	Language  string
}
