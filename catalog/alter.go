package catalog

import (
	"slices"
	"strings"

	"runnel/sql"
)

// alterFailed puts Flink's first line in front of what ALTER TABLE refuses.
func alterFailed(at sql.Node, format string, args ...any) *Error {
	e := Errorf(ValidationError, "Failed to execute ALTER TABLE statement.\n"+format, args...)
	if at != nil {
		e.Node(at)
	}
	return e
}

// alterTable runs ALTER TABLE: it stores a changed copy.
func (c *Catalog) alterTable(s *sql.AlterTable, b Binder) error {
	p, err := c.Resolve(s.Name)
	if err != nil {
		return err
	}
	t, err := c.alterable(s, p)
	if t == nil || err != nil {
		return err
	}
	a := &altering{t: t.clone(), b: b}
	switch x := s.Action.(type) {
	case *sql.RenameTo:
		return c.renameObject(t, x.Name)
	case *sql.RenameColumn:
		err = a.renameColumn(x)
	case *sql.SetProperties:
		a.set(optionList(x.Props))
	case *sql.ResetProperties:
		err = a.reset(x)
	case *sql.AddElements:
		err = a.add(x.Elements)
	case *sql.ModifyElements:
		err = a.modify(x.Elements)
	case *sql.DropColumns:
		err = a.dropColumns(x.Columns)
	case *sql.DropFeature:
		err = a.dropFeature(x)
	case *sql.AddPartitions:
		err = a.addPartitions(x)
	case *sql.DropPartitions:
		err = a.dropPartitions(x)
	case *sql.Compact:
		err = Errorf(ValidationError, "ALTER TABLE COMPACT operation is not supported for non-managed table %s", p.Quoted()).Node(x)
	default:
		err = Errorf(UnsupportedOp, "This form of ALTER TABLE is not supported.").Node(s)
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now, ok := c.permanent(p); !ok || now != Object(t) {
		return Errorf(CatalogError, "Table %s was changed by somebody else at the same time.", p).Node(s.Name)
	}
	c.replace(a.t)
	return nil
}

// alterable finds the table of ALTER TABLE; nil without an error when IF EXISTS lets a missing one pass.
func (c *Catalog) alterable(s *sql.AlterTable, p Path) (*Table, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	o, ok := c.permanent(p)
	if _, temp := c.temp[p]; !ok || temp {
		if s.IfExists {
			return nil, nil
		}
		return nil, Errorf(ValidationError, "Table %s doesn't exist or is a temporary table.", p.Quoted()).Node(s.Name).
			withHint(DidYouMean(p.Name, c.names(p.Catalog, p.Database)))
	}
	t, ok := o.(*Table)
	if !ok {
		return nil, Errorf(ValidationError, "ALTER TABLE for a view is not allowed").Node(s.Name)
	}
	return t, nil
}

func (t *Table) clone() *Table {
	c := *t
	c.Columns = slices.Clone(t.Columns)
	c.Options = slices.Clone(t.Options)
	c.Partitions = slices.Clone(t.Partitions)
	return &c
}

// renameObject is RENAME TO of tables and views; the new name stays in the old one's database unless it says otherwise.
func (c *Catalog) renameObject(o Object, to *sql.Name) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	from := o.ObjectPath()
	p, err := resolveIn(to, from.Catalog, from.Database)
	if err != nil {
		return err
	}
	if p.Catalog != from.Catalog || p.Database != from.Database {
		return Errorf(UnsupportedOp, "The object %s cannot be renamed into another database.", from.Quoted()).Node(to)
	}
	if _, ok := c.permanent(p); ok {
		return tableExists(p).Node(to)
	}
	db := c.db(from.Catalog, from.Database)
	if db == nil || db.objects[from.Name] != o {
		return Errorf(CatalogError, "The object %s was changed by somebody else at the same time.", from).Node(to)
	}
	delete(db.objects, from.Name)
	db.objects[p.Name] = o.rename(p)
	return nil
}

// altering is a table while it is changed.
type altering struct {
	t *Table
	b Binder
}

// users gives the computed column that reads a column, or "" for none; mark tells whether the watermark does.
func (a *altering) users(name string) (computed string, mark bool) {
	reads := func(e sql.Expr) bool {
		return slices.ContainsFunc(sql.Inspect[*sql.Name](e), func(n *sql.Name) bool { return n.Parts[0].Name == name })
	}
	for _, c := range a.t.Columns {
		if c.Kind == sql.ComputedColumn && c.Name != name && reads(c.Expr) {
			computed = c.Name
			break
		}
	}
	w := a.t.Watermark
	return computed, w != nil && (w.Column == name || reads(w.Expr))
}

// free refuses to take a column away or rename it while something uses it.
func (a *altering) free(name string, at sql.Node) error {
	computed, mark := a.users(name)
	switch {
	case computed != "":
		return alterFailed(at, "The column `%s` is referenced by computed column `%s`.", name, computed)
	case a.t.PrimaryKey != nil && slices.Contains(a.t.PrimaryKey.Columns, name):
		return alterFailed(at, "The column `%s` is used as the primary key.", name)
	case slices.Contains(a.t.Partition, name):
		return alterFailed(at, "The column `%s` is used as the partition keys.", name)
	case mark:
		return alterFailed(at, "The column `%s` is referenced by watermark expression.", name)
	case a.t.Distribution != nil && slices.Contains(a.t.Distribution.Columns, name):
		return alterFailed(at, "The column `%s` is used as a distribution key.", name)
	}
	return nil
}

func oneColumn(n *sql.Name) (string, error) {
	if len(n.Parts) > 1 {
		e := alterFailed(n, "Alter nested row type is not supported yet.")
		e.Class = UnsupportedOp
		return "", e
	}
	return n.Last(), nil
}

func (a *altering) renameColumn(x *sql.RenameColumn) error {
	old, err := oneColumn(x.Old)
	if err != nil {
		return err
	}
	i := a.t.Column(old)
	if i < 0 {
		return alterFailed(x.Old, "The column `%s` does not exist in the base table.", old).withHint(DidYouMean(old, columnNames(a.t, false)))
	}
	if computed, _ := a.users(old); computed != "" {
		return alterFailed(x.Old, "The column `%s` is referenced by computed column `%s`.", old, computed)
	}
	name, err := oneColumn(x.New)
	if err != nil {
		return err
	}
	if a.t.Column(name) >= 0 {
		return alterFailed(x.New, "The column `%s` already existed in table schema.", name)
	}
	if _, mark := a.users(old); mark {
		return alterFailed(x.Old, "The column `%s` is referenced by watermark expression.", old)
	}
	a.t.Columns[i].Name = name
	swap := func(names []string) []string {
		names = slices.Clone(names)
		for k := range names {
			if names[k] == old {
				names[k] = name
			}
		}
		return names
	}
	a.t.Partition = swap(a.t.Partition)
	if k := a.t.PrimaryKey; k != nil {
		a.t.PrimaryKey = &Key{Name: k.Name, Columns: swap(k.Columns)}
	}
	if d := a.t.Distribution; d != nil {
		a.t.Distribution = &Distribution{Kind: d.Kind, Columns: swap(d.Columns), Buckets: d.Buckets}
	}
	return nil
}

// set puts options as Flink does, into a copy of the map, which grows at once if there are more than it has room for.
func (a *altering) set(opts []Option) {
	a.t.buckets = copyBuckets(len(a.t.Options))
	if len(opts)*4 > a.t.buckets*3 {
		a.t.buckets *= 2
	}
	for _, o := range opts {
		a.t.Options = set(a.t.Options, o.Key, o.Value)
		if len(a.t.Options)*4 > a.t.buckets*3 {
			a.t.buckets *= 2
		}
	}
}

func (a *altering) reset(x *sql.ResetProperties) error {
	if len(x.Keys) == 0 {
		return Errorf(ValidationError, "ALTER TABLE RESET does not support empty key").Node(x)
	}
	a.t.buckets = copyBuckets(len(a.t.Options))
	for _, k := range x.Keys {
		if k.Text == "connector" {
			return Errorf(ValidationError, "ALTER TABLE RESET does not support changing 'connector'").Node(k)
		}
		a.t.Options = slices.DeleteFunc(a.t.Options, func(o Option) bool { return o.Key == k.Text })
	}
	return nil
}

// add is ALTER TABLE ADD.
func (a *altering) add(elems []sql.TableElement) error {
	if err := a.columnElements(elems, func(def *sql.ColumnDef, name string) error {
		if a.t.Column(name) >= 0 {
			return alterFailed(def.Name, "Try to add a column `%s` which already exists in the table.", name)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, el := range elems {
		switch x := el.(type) {
		case *sql.ConstraintDef:
			if k := a.t.PrimaryKey; k != nil {
				return alterFailed(x, "The base table has already defined the primary key constraint [%s]. You might want to drop it before adding a new one.",
					quoteAll(k.Columns))
			}
		case *sql.WatermarkDef:
			if w := a.t.Watermark; w != nil {
				return alterFailed(x, "The base table has already defined the watermark strategy %s AS %s. You might want to drop it before adding a new one.",
					Quote(w.Column), sql.FormatFlink(w.Expr))
			}
		case *sql.Distribution:
			if a.t.Distribution != nil {
				return alterFailed(x, "The base table has already defined a distribution. You might want to drop it before adding a new one.")
			}
		}
	}
	return a.features(elems)
}

// modify is ALTER TABLE MODIFY.
func (a *altering) modify(elems []sql.TableElement) error {
	if err := a.columnElements(elems, func(def *sql.ColumnDef, name string) error {
		if a.t.Column(name) < 0 {
			return alterFailed(def.Name, "Try to modify a column `%s` which does not exist in the table.", name).
				withHint(DidYouMean(name, columnNames(a.t, false)))
		}
		return nil
	}); err != nil {
		return err
	}
	const absent = "The base table does not define any %s. You might want to add a new one."
	for _, el := range elems {
		switch x := el.(type) {
		case *sql.ConstraintDef:
			if a.t.PrimaryKey == nil {
				return alterFailed(x, absent, "primary key constraint")
			}
		case *sql.WatermarkDef:
			if a.t.Watermark == nil {
				return alterFailed(x, absent, "watermark")
			}
		case *sql.Distribution:
			if a.t.Distribution == nil {
				return alterFailed(x, absent, "distribution")
			}
		}
	}
	return a.features(elems)
}

// columnElements puts the columns of ADD or MODIFY in, after check has looked at each.
func (a *altering) columnElements(elems []sql.TableElement, check func(*sql.ColumnDef, string) error) error {
	var defs []*sql.ColumnDef
	seen := map[string]bool{}
	for _, el := range elems {
		def, ok := el.(*sql.ColumnDef)
		if !ok {
			continue
		}
		name, err := oneColumn(def.Name)
		if err != nil {
			return err
		}
		if seen[name] {
			return alterFailed(def.Name, "Encounter duplicate column `%s`.", name)
		}
		seen[name] = true
		if err := check(def, name); err != nil {
			return err
		}
		defs = append(defs, def)
	}
	for _, def := range defs {
		if err := a.put(def); err != nil {
			return err
		}
	}
	return nil
}

// put adds or replaces one column and moves it to its place.
func (a *altering) put(def *sql.ColumnDef) error {
	col, err := columnOf(def)
	if err != nil {
		return err
	}
	at := a.t.Column(col.Name)
	if at >= 0 {
		if k := a.t.PrimaryKey; k != nil && slices.Contains(k.Columns, col.Name) {
			col.Type = col.Type.Required()
		}
		if a.t.Columns[at].Type.NotNull && a.t.Columns[at].Kind == sql.PhysicalColumn && def.Type != nil && def.Type.Null == sql.NullUnspecified &&
			a.t.PrimaryKey != nil && slices.Contains(a.t.PrimaryKey.Columns, col.Name) {
			col.Type = col.Type.Required()
		}
	}
	if def.Position == nil && at >= 0 {
		a.t.Columns[at] = col
		return nil
	}
	if at >= 0 {
		a.t.Columns = slices.Delete(a.t.Columns, at, at+1)
	}
	to := len(a.t.Columns)
	if def.Position != nil {
		to = 0
		if after := def.Position.After; after != nil {
			if to = a.t.Column(after.Last()) + 1; to == 0 {
				return alterFailed(after, "Referenced column `%s` by 'AFTER' does not exist in the table.", after.Last()).
					withHint(DidYouMean(after.Last(), columnNames(a.t, false)))
			}
		}
	}
	a.t.Columns = slices.Insert(a.t.Columns, to, col)
	return nil
}

// features sets key, watermark and distribution anew and types what depends on the columns.
func (a *altering) features(elems []sql.TableElement) error {
	key, err := keyOf(elems)
	if err != nil {
		return err
	}
	r := &resolver{t: a.t, b: a.b, base: &Table{}}
	if err := r.typeComputed(); err != nil {
		return err
	}
	old := a.t.Watermark
	a.clearRowtime()
	if key != nil {
		if a.t.PrimaryKey, err = setKey(a.t, key); err != nil {
			return err
		}
		if err := r.typeComputed(); err != nil { // the key's columns are NOT NULL now
			return err
		}
	}
	if err := r.watermark(elems); err != nil {
		return err
	}
	if a.t.Watermark == nil && old != nil {
		if err := r.setWatermark(old.Column, old.Expr, nil); err != nil {
			return err
		}
	}
	for _, el := range elems {
		if d, ok := el.(*sql.Distribution); ok {
			if a.t.Distribution, err = distributionOf(a.t, d); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *altering) clearRowtime() {
	if w := a.t.Watermark; w != nil {
		if i := a.t.Column(w.Column); i >= 0 {
			a.t.Columns[i].Type = a.t.Columns[i].Type.Plain()
		}
	}
	a.t.Watermark = nil
}

func (a *altering) dropColumns(names []*sql.Name) error {
	dropped := map[string]bool{}
	for _, n := range names {
		name, err := oneColumn(n)
		if err != nil {
			return err
		}
		if dropped[name] {
			return alterFailed(n, "Duplicate column `%s`.", name)
		}
		if a.t.Column(name) < 0 {
			return alterFailed(n, "The column `%s` does not exist in the base table.", name).withHint(DidYouMean(name, columnNames(a.t, false)))
		}
		dropped[name] = true
	}
	// A computed column goes together with what it reads.
	for _, n := range names {
		i := a.t.Column(n.Last())
		if a.t.Columns[i].Kind == sql.ComputedColumn {
			if err := a.free(n.Last(), n); err != nil {
				return err
			}
			a.t.Columns = slices.Delete(a.t.Columns, i, i+1)
		}
	}
	for _, n := range names {
		i := a.t.Column(n.Last())
		if i < 0 {
			continue
		}
		if err := a.free(n.Last(), n); err != nil {
			return err
		}
		a.t.Columns = slices.Delete(a.t.Columns, i, i+1)
	}
	return nil
}

func (a *altering) dropFeature(x *sql.DropFeature) error {
	switch x.Feature {
	case "PRIMARY KEY", "CONSTRAINT":
		k := a.t.PrimaryKey
		if k == nil {
			return alterFailed(x, "The base table does not define any primary key.")
		}
		if x.Name != nil && x.Name.Name != k.Name {
			return alterFailed(x.Name, "The base table does not define a primary key constraint named '%s'. Available constraint name: ['%s'].", x.Name.Name, k.Name)
		}
		a.t.PrimaryKey = nil
	case "WATERMARK":
		if a.t.Watermark == nil {
			return alterFailed(x, "The base table does not define any watermark strategy.")
		}
		a.clearRowtime()
	case "DISTRIBUTION":
		if a.t.Distribution == nil {
			return Errorf(ValidationError, "Table %s does not have a distribution to drop.", a.t.Path.Quoted()).Node(x)
		}
		a.t.Distribution = nil
	}
	return nil
}

// spec reads PARTITION (k = v, ..) in the order of the table's partition keys.
func (a *altering) spec(s *sql.PartitionSpec) ([]Option, error) {
	p := a.t.Path
	if len(a.t.Partition) == 0 {
		return nil, Errorf(exceptions+"TableNotPartitionedException", "Table %s.%s in catalog %s is not partitioned.", p.Database, p.Name, p.Catalog).Node(s)
	}
	given := map[string]string{}
	var text []string
	for _, it := range s.Items {
		v := ""
		if lit, ok := it.Value.(*sql.Literal); ok {
			v = lit.Text
		}
		given[it.Column.Name] = v
		text = append(text, it.Column.Name+"="+v)
	}
	var spec []Option
	for _, k := range a.t.Partition {
		if v, ok := given[k]; ok {
			spec = append(spec, Option{k, v})
		}
	}
	if len(spec) != len(given) || len(spec) != len(a.t.Partition) {
		return nil, Errorf(exceptions+"PartitionSpecInvalidException", "PartitionSpec CatalogPartitionSpec{{%s}} does not match partition keys [%s] of table %s.%s in catalog %s.",
			strings.Join(text, ", "), strings.Join(a.t.Partition, ", "), p.Database, p.Name, p.Catalog).Node(s)
	}
	return spec, nil
}

func (a *altering) partition(spec []Option) int {
	return slices.IndexFunc(a.t.Partitions, func(p Partition) bool { return slices.Equal(p.Spec, spec) })
}

func specText(spec []Option) string {
	parts := make([]string, len(spec))
	for i, o := range spec {
		parts[i] = o.Key + "=" + o.Value
	}
	return strings.Join(parts, ", ")
}

func (a *altering) addPartitions(x *sql.AddPartitions) error {
	for _, def := range x.Partitions {
		spec, err := a.spec(def.Spec)
		if err != nil {
			return err
		}
		if a.partition(spec) >= 0 {
			if x.IfNotExists {
				continue
			}
			return Errorf(exceptions+"PartitionAlreadyExistsException", "Partition CatalogPartitionSpec{{%s}} of table %s.%s in catalog %s already exists.",
				specText(spec), a.t.Path.Database, a.t.Path.Name, a.t.Path.Catalog).Node(def)
		}
		a.t.Partitions = append(a.t.Partitions, Partition{Spec: spec, Options: optionList(def.With)})
	}
	return nil
}

func (a *altering) dropPartitions(x *sql.DropPartitions) error {
	for _, s := range x.Specs {
		spec, err := a.spec(s)
		if err != nil {
			return err
		}
		i := a.partition(spec)
		if i < 0 {
			if x.IfExists {
				continue
			}
			return Errorf(exceptions+"PartitionNotExistException", "Partition CatalogPartitionSpec{{%s}} of table %s.%s in catalog %s does not exist.",
				specText(spec), a.t.Path.Database, a.t.Path.Name, a.t.Path.Catalog).Node(s)
		}
		a.t.Partitions = slices.Delete(a.t.Partitions, i, i+1)
	}
	return nil
}

func quoteAll(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = Quote(n)
	}
	return strings.Join(q, ", ")
}

// alterView runs ALTER VIEW.
func (c *Catalog) alterView(s *sql.AlterView, b Binder) error {
	p, err := c.Resolve(s.Name)
	if err != nil {
		return err
	}
	c.mu.RLock()
	o, ok := c.permanent(p)
	_, temp := c.temp[p]
	c.mu.RUnlock()
	if !ok || temp {
		return Errorf(ValidationError, "View %s doesn't exist or is a temporary view.", p.Quoted()).Node(s.Name)
	}
	v, ok := o.(*View)
	if !ok {
		return Errorf(ValidationError, "ALTER VIEW for a table is not allowed").Node(s.Name)
	}
	switch x := s.Action.(type) {
	case *sql.RenameTo:
		return c.renameObject(v, x.Name)
	case *sql.AlterQuery:
		n := *v
		n.Query, n.Named = x.Query, false
		n.Catalog, n.Database = c.Current()
		if err := n.bind(nil, s.Name, b); err != nil {
			return err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if now, ok := c.permanent(p); !ok || now != Object(v) {
			return Errorf(CatalogError, "View %s was changed by somebody else at the same time.", p).Node(s.Name)
		}
		c.replace(&n)
		return nil
	}
	return Errorf(UnsupportedOp, "This form of ALTER VIEW is not supported.").Node(s)
}
