package catalog

import (
	"fmt"
	"strconv"
	"strings"

	"runnel/sql"
	"runnel/types"
)

// Binder knows the meaning of expressions and queries. Package plan implements it.
type Binder interface {
	// TypeOf types an expression over columns.
	TypeOf(e sql.Expr, scope []types.Field) (types.Type, error)
	// View gives the fields of a query, and its text with all names expanded.
	View(q *sql.Query) (fields []types.Field, text string, err error)
}

const enforcedKey = "Flink doesn't support ENFORCED mode for PRIMARY KEY constraint. ENFORCED/NOT ENFORCED controls if the " +
	"constraint checks are performed on the incoming/outgoing data. Flink does not own the data therefore the only supported " +
	"mode is the NOT ENFORCED mode"

const noConnector = "Table options do not contain an option key 'connector' for discovering a connector. Therefore, Flink " +
	"assumes a managed table. However, a managed table factory that implements " +
	"org.apache.flink.table.factories.ManagedTableFactory is not in the classpath."

// NewTable resolves a CREATE TABLE without AS. It changes nothing in the catalog.
func (c *Catalog) NewTable(s *sql.CreateTable, b Binder) (*Table, error) {
	p, err := c.Resolve(s.Name)
	if err != nil {
		return nil, err
	}
	key, err := keyOf(s.Elements)
	if err != nil {
		return nil, err
	}
	base := &Table{}
	if s.Like != nil {
		if base, err = c.likeBase(s); err != nil {
			return nil, err
		}
	}
	r := &resolver{t: &Table{Path: p, Temporary: s.Temporary}, b: b, like: newLike(s.Like), base: base}
	if err := r.columns(s.Elements); err != nil {
		return nil, err
	}
	if err := r.watermark(s.Elements); err != nil {
		return nil, err
	}
	if err := r.primaryKey(key); err != nil {
		return nil, err
	}
	if err := r.layout(s); err != nil {
		return nil, err
	}
	if err := r.options(s.With); err != nil {
		return nil, err
	}
	if s.Comment != nil {
		r.t.Comment = s.Comment.Text
	}
	if _, ok := r.t.Option("connector"); !ok {
		return nil, Errorf(ValidationError, noConnector).Node(s.Name).Cure("Add WITH ('connector' = '..').")
	}
	return r.t, nil
}

// CreateTable runs a CREATE TABLE without AS.
func (c *Catalog) CreateTable(s *sql.CreateTable, b Binder) error {
	t, err := c.NewTable(s, b)
	if err != nil {
		return err
	}
	return at(c.Add(t, s.IfNotExists), s.Name)
}

// at gives an error the place of a node, if it is one of ours and has none.
func at(err error, n sql.Node) error {
	if e, ok := err.(*Error); ok {
		return e.Node(n)
	}
	return err
}

// keyOf finds the one primary key among the elements and refuses what constraints may not be.
func keyOf(elems []sql.TableElement) (*sql.ConstraintDef, error) {
	var key *sql.ConstraintDef
	for _, el := range elems {
		k, ok := el.(*sql.ConstraintDef)
		if col, isCol := el.(*sql.ColumnDef); isCol && col.Constraint != nil {
			own := *col.Constraint
			own.Columns = []sql.Ident{col.Name.Parts[0]}
			k, ok = &own, true
		}
		if !ok {
			continue
		}
		if k.Unique {
			return nil, Errorf(SyntaxError, "UNIQUE constraint is not supported yet").Node(k)
		}
		if key != nil {
			return nil, Errorf(SyntaxError, "Duplicate primary key definition").Node(k)
		}
		if k.Enforcement != sql.NotEnforced {
			return nil, Errorf(SyntaxError, enforcedKey).Node(k).Cure("Write PRIMARY KEY (..) NOT ENFORCED.")
		}
		key = k
	}
	return key, nil
}

// resolver builds a table out of the elements of a CREATE TABLE.
type resolver struct {
	t    *Table
	b    Binder
	like like
	base *Table // of LIKE; an empty table without
	// inherited is how many of the columns, the first ones, come from the base table.
	inherited int
}

// columns resolves the columns: those of the base table first, then the physical ones, then the others, each at its place.
func (r *resolver) columns(elems []sql.TableElement) error {
	if err := r.inherit(elems); err != nil {
		return err
	}
	r.inherited = len(r.t.Columns)
	for _, el := range elems {
		col, ok := el.(*sql.ColumnDef)
		if ref, bare := el.(*sql.ColumnRef); bare {
			return Errorf(SyntaxError, "Columns identifiers without types in the schema are supported on CTAS/RTAS statements only.").Node(ref)
		}
		if !ok {
			continue
		}
		if err := r.addColumn(col); err != nil {
			return err
		}
	}
	return r.typeComputed()
}

func (r *resolver) addColumn(def *sql.ColumnDef) error {
	col, err := columnOf(def)
	if err != nil {
		return err
	}
	old := r.t.Column(col.Name)
	if old < 0 {
		r.t.Columns = append(r.t.Columns, col)
		return nil
	}
	if old < r.inherited {
		return r.clash(old, col, def)
	}
	a, b := r.t.Columns[old].Kind, col.Kind
	switch {
	case a == sql.PhysicalColumn && b == sql.PhysicalColumn:
		return Errorf(ValidationError, "A regular Column named '%s' already exists in the table.", col.Name).Node(def.Name)
	case a == sql.MetadataColumn || b == sql.MetadataColumn:
		return Errorf(ValidationError, "A column named '%s' already exists in the table. Duplicate columns exist in the metadata column and regular column. ",
			col.Name).Node(def.Name)
	}
	return Errorf(ValidationError, "A column named '%s' already exists in the table. Duplicate columns exist in the compute column and regular column. ",
		col.Name).Node(def.Name)
}

// columnOf resolves the parts of a column that need no other column.
func columnOf(def *sql.ColumnDef) (Column, error) {
	// A dotted name quietly keeps its first part, as in Flink.
	col := Column{Name: def.Name.Parts[0].Name, Kind: def.Kind, Expr: def.Expr, Virtual: def.Virtual}
	if def.Comment != nil {
		col.Comment = def.Comment.Text
	}
	if def.Kind == sql.MetadataColumn {
		col.Key = col.Name
		if def.MetadataKey != nil {
			col.Key, col.FromKey = def.MetadataKey.Text, true
		}
	}
	if def.Type != nil {
		var err error
		if def.Type.Name == "INTERVAL" {
			return col, Errorf(SyntaxError, "Incorrect syntax near the keyword 'INTERVAL' at %s.", def.Type.Pos()).Node(def.Type).
				Cure("INTERVAL is no type of a column; keep the amount as a BIGINT.")
		}
		if col.Type, err = TypeOf(def.Type); err != nil {
			return col, err
		}
	}
	return col, nil
}

// typeComputed types the computed columns over the physical and metadata ones.
func (r *resolver) typeComputed() error {
	scope := baseFields(r.t)
	for i := range r.t.Columns {
		col := &r.t.Columns[i]
		if col.Kind != sql.ComputedColumn {
			continue
		}
		ty, err := r.b.TypeOf(col.Expr, scope)
		if err != nil {
			return err
		}
		col.Type = ty
	}
	return nil
}

// baseFields gives the columns that computed columns may use.
func baseFields(t *Table) []types.Field {
	var fs []types.Field
	for _, c := range t.Columns {
		if c.Kind != sql.ComputedColumn {
			fs = append(fs, types.Field{Name: c.Name, Type: c.Type.Plain()})
		}
	}
	return fs
}

func (r *resolver) watermark(elems []sql.TableElement) error {
	var def *sql.WatermarkDef
	for _, el := range elems {
		w, ok := el.(*sql.WatermarkDef)
		if !ok {
			continue
		}
		if def != nil {
			return Errorf(SyntaxError, "Multiple WATERMARK statements is not supported yet.").Node(w)
		}
		def = w
	}
	inherited := r.base.Watermark
	if !r.like.keeps("WATERMARKS") {
		inherited = nil
	}
	if def == nil {
		if inherited == nil {
			return nil
		}
		return r.setWatermark(inherited.Column, inherited.Expr, nil)
	}
	if inherited != nil && r.like.merge("WATERMARKS") != sql.Overwriting {
		return Errorf(ValidationError, "There already exists a watermark spec for column '%s' in the base table. You might want to specify "+
			"EXCLUDING WATERMARKS or OVERWRITING WATERMARKS.", def.Column.Dotted()).Node(def)
	}
	return r.setWatermark(def.Column.Dotted(), def.Expr, def)
}

// setWatermark makes a column the rowtime attribute.
func (r *resolver) setWatermark(column string, expr sql.Expr, def *sql.WatermarkDef) error {
	i := r.t.Column(column)
	if i < 0 {
		e := Errorf(ValidationError, "The rowtime attribute field '%s' is not defined in the table schema", column)
		if def != nil {
			if len(def.Column.Parts) > 1 && r.t.Column(def.Column.Parts[0].Name) >= 0 {
				return Errorf(ValidationError, "Invalid column name '%s' for rowtime attribute in watermark declaration. Available columns are: [%s]",
					column, strings.Join(columnNames(r.t, false), ", ")).Node(def.Column).
					Cure("A field inside a row cannot carry the watermark: add a computed column, e.g. ts AS %s, and use that.", column)
			}
			e.Msg += fmt.Sprintf(", at %s\nAvailable fields: [%s]", def.Column.Pos(), strings.Join(columnNames(r.t, true), ", "))
			e.Node(def.Column).withHint(DidYouMean(column, columnNames(r.t, false)))
		}
		return e
	}
	const rule = "The field must be of type TIMESTAMP(p) or TIMESTAMP_LTZ(p), the supported precision 'p' is from 0 to 3, but the "
	col := &r.t.Columns[i]
	if !canBeRowtime(col.Type) {
		e := Errorf(ValidationError, "Invalid data type of time field for watermark definition. "+rule+"time field type is %s", col.Type)
		if def != nil {
			e.Node(def.Column)
		}
		if col.Type.Kind == types.Timestamp || col.Type.Kind == types.TimestampLTZ {
			e.Hint = "Declare the column with precision 3, or add a computed column that casts it."
		}
		return e
	}
	ty := col.Type // of SOURCE_WATERMARK(), which is met by the table's readers
	if c, ok := expr.(*sql.FuncCall); !ok || len(c.Args) > 0 || !strings.EqualFold(c.Name.Dotted(), "SOURCE_WATERMARK") {
		var err error
		if ty, err = r.b.TypeOf(expr, r.t.Fields()); err != nil {
			return err
		}
	}
	if !canBeRowtime(ty) {
		return Errorf(ValidationError, "Invalid data type of expression for watermark definition. "+rule+"watermark expression type is %s", ty).Node(expr)
	}
	col.Type.Attr = types.Rowtime
	r.t.Watermark = &Watermark{Column: column, Expr: expr}
	return nil
}

func canBeRowtime(t types.Type) bool {
	return (t.Kind == types.Timestamp || t.Kind == types.TimestampLTZ) && t.Precision <= 3 && t.Attr != types.Proctime
}

// columnNames lists the columns, quoted or not.
func columnNames(t *Table, quoted bool) []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
		if quoted {
			names[i] = "'" + c.Name + "'"
		}
	}
	return names
}

func (r *resolver) primaryKey(def *sql.ConstraintDef) error {
	inherited := r.base.PrimaryKey
	if !r.like.keeps("CONSTRAINTS") {
		inherited = nil
	}
	if def == nil {
		r.t.PrimaryKey = inherited
		return nil
	}
	if inherited != nil {
		return Errorf(ValidationError, "The base table already has a primary key. You might want to specify EXCLUDING CONSTRAINTS.").Node(def)
	}
	key, err := setKey(r.t, def)
	r.t.PrimaryKey = key
	return err
}

// setKey resolves a primary key and makes its columns NOT NULL.
func setKey(t *Table, def *sql.ConstraintDef) (*Key, error) {
	key := &Key{}
	for _, id := range def.Columns {
		i := t.Column(id.Name)
		if i < 0 {
			return nil, Errorf(ValidationError, "Primary key column '%s' is not defined in the schema at %s", id.Name, id.Pos()).
				Node(id).withHint(DidYouMean(id.Name, columnNames(t, false)))
		}
		if t.Columns[i].Kind != sql.PhysicalColumn {
			return nil, Errorf(ValidationError, "Could not create a PRIMARY KEY with column '%s' at %s.\nA PRIMARY KEY constraint must be "+
				"declared on physical columns.", id.Name, id.Pos()).Node(id)
		}
		t.Columns[i].Type = t.Columns[i].Type.Required()
		key.Columns = append(key.Columns, id.Name)
	}
	key.Name = "PK_" + strings.Join(key.Columns, "_")
	if def.Name != nil {
		key.Name = def.Name.Name
	}
	return key, nil
}

// layout resolves PARTITIONED BY and DISTRIBUTED.
func (r *resolver) layout(s *sql.CreateTable) error {
	if r.like.keeps("PARTITIONS") {
		r.t.Partition = r.base.Partition
	}
	if r.like.keeps("DISTRIBUTION") || s.Distribution == nil { // EXCLUDING only makes way for another one, as in Flink
		r.t.Distribution = r.base.Distribution
	}
	if len(s.PartitionBy) > 0 {
		if len(r.t.Partition) > 0 {
			return Errorf(ValidationError, "The base table already has partitions defined. You might want to specify EXCLUDING PARTITIONS.").Node(s.PartitionBy[0])
		}
		for _, id := range s.PartitionBy {
			if r.t.Column(id.Name) < 0 {
				return Errorf(ValidationError, "Partition column '%s' not defined in the table schema. Available columns: [%s]", id.Name,
					strings.Join(columnNames(r.t, true), ", ")).Node(id).withHint(DidYouMean(id.Name, columnNames(r.t, false)))
			}
			r.t.Partition = append(r.t.Partition[:len(r.t.Partition):len(r.t.Partition)], id.Name)
		}
	}
	if s.Distribution != nil {
		if r.t.Distribution != nil {
			return Errorf(ValidationError, "The base table already has a distribution defined. You might want to specify EXCLUDING DISTRIBUTION.").Node(s.Distribution)
		}
		d, err := distributionOf(r.t, s.Distribution)
		r.t.Distribution = d
		return err
	}
	return nil
}

func distributionOf(t *Table, def *sql.Distribution) (*Distribution, error) {
	d := &Distribution{Kind: def.Kind}
	for _, id := range def.Columns {
		if i := t.Column(id.Name); i < 0 || t.Columns[i].Kind != sql.PhysicalColumn {
			var physical []string
			for _, c := range t.Columns {
				if c.Kind == sql.PhysicalColumn {
					physical = append(physical, c.Name)
				}
			}
			return nil, Errorf(ValidationError, "Invalid bucket key '%s'. A bucket key for a distribution must reference a physical column "+
				"in the schema. Available columns are: [%s]", id.Name, strings.Join(physical, ", ")).Node(id)
		}
		d.Columns = append(d.Columns, id.Name)
	}
	if def.Buckets != nil {
		n, err := strconv.Atoi(def.Buckets.Text)
		if err != nil || n < 1 {
			return nil, Errorf(ValidationError, "Invalid bucket count '%s'. The number of buckets for a distributed table must be at least 1.",
				def.Buckets.Text).Node(def.Buckets)
		}
		d.Buckets = n
	}
	return d, nil
}

func (r *resolver) options(with *sql.Properties) error {
	if r.like.keeps("OPTIONS") {
		r.t.Options = append([]Option(nil), r.base.Options...)
	}
	if with == nil {
		return nil
	}
	merge := r.like.merge("OPTIONS")
	for _, kv := range with.List {
		if old, ok := r.base.Option(kv.Key.Text); ok && merge == sql.Including {
			return Errorf(ValidationError, "There already exists an option ['%s' -> '%s'] in the base table. You might want to specify "+
				"EXCLUDING OPTIONS or OVERWRITING OPTIONS.", kv.Key.Text, old).Node(kv)
		}
	}
	for _, o := range optionList(with) {
		r.t.Options = set(r.t.Options, o.Key, o.Value)
	}
	return nil
}
