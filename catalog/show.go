package catalog

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"

	"runnel/sql"
	"runnel/types"
)

// ShowCreateTable gives the text of SHOW CREATE TABLE.
func (c *Catalog) ShowCreateTable(n *sql.Name) (string, error) {
	p, err := c.Resolve(n)
	if err != nil {
		return "", err
	}
	o, ok := c.Find(p)
	if !ok {
		return "", c.cannotShow("TABLE", "Table", p, n)
	}
	t, ok := o.(*Table)
	if !ok {
		return "", Errorf(TableError, "SHOW CREATE TABLE is only supported for tables, but %s is a view. Please use SHOW CREATE VIEW instead.", p.Quoted()).Node(n)
	}
	return t.Create(), nil
}

// ShowCreateView gives the text of SHOW CREATE VIEW.
func (c *Catalog) ShowCreateView(n *sql.Name) (string, error) {
	p, err := c.Resolve(n)
	if err != nil {
		return "", err
	}
	o, ok := c.Find(p)
	if !ok {
		return "", c.cannotShow("VIEW", "View", p, n)
	}
	v, ok := o.(*View)
	if !ok {
		return "", Errorf(TableError, "SHOW CREATE VIEW is only supported for views, but %s is a table. Please use SHOW CREATE TABLE instead.", p.Quoted()).Node(n)
	}
	return v.Create(), nil
}

func (c *Catalog) cannotShow(word, kind string, p Path, n *sql.Name) error {
	return Errorf(ValidationError, "Could not execute SHOW CREATE %s. %s with identifier %s does not exist.", word, kind, p.Quoted()).Node(n).
		withHint(DidYouMean(p.Name, c.Names(p.Catalog, p.Database)))
}

// ShowCreateCatalog gives the text of SHOW CREATE CATALOG.
func (c *Catalog) ShowCreateCatalog(n *sql.Name) (string, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	st := c.catalogs[n.Last()]
	if st == nil {
		return "", Errorf(ValidationError, "Cannot obtain metadata information from Catalog %s.", n.Last()).Node(n)
	}
	var b strings.Builder
	b.WriteString("CREATE CATALOG " + Quote(n.Last()) + " ")
	if st.comment != "" {
		b.WriteString("COMMENT " + Literal(st.comment) + " ")
	}
	writeOptions(&b, catalogOptions(st), 16)
	return b.String(), nil
}

// catalogOptions are a catalog's options; one that nobody created has its type only.
func catalogOptions(st *store) []Option {
	if len(st.options) == 0 {
		return []Option{{"type", inMemory}}
	}
	return st.options
}

// DescribeCatalog gives the rows of DESCRIBE CATALOG: names and values.
func (c *Catalog) DescribeCatalog(n *sql.Name, extended bool) ([]Option, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	st := c.catalogs[n.Last()]
	if st == nil {
		return nil, Errorf(ValidationError, "Cannot obtain metadata information from Catalog %s.", n.Last()).Node(n)
	}
	rows := []Option{{"name", n.Last()}, {"type", inMemory}, {"comment", st.comment}}
	if extended {
		for _, o := range catalogOptions(st) {
			if o.Key != "type" {
				rows = append(rows, Option{"option:" + o.Key, o.Value})
			}
		}
	}
	return rows, nil
}

// Create gives the statement that makes the table, laid out as Flink does.
func (t *Table) Create() string {
	var lines []string
	for _, c := range t.Columns {
		lines = append(lines, "  "+c.define())
	}
	if w := t.Watermark; w != nil {
		lines = append(lines, "  WATERMARK FOR "+Quote(w.Column)+" AS "+sql.FormatFlink(w.Expr))
	}
	if k := t.PrimaryKey; k != nil {
		lines = append(lines, "  CONSTRAINT "+Quote(k.Name)+" PRIMARY KEY ("+quoteAll(k.Columns)+") NOT ENFORCED")
	}
	var b strings.Builder
	b.WriteString("CREATE ")
	if t.Temporary {
		b.WriteString("TEMPORARY ")
	}
	b.WriteString("TABLE " + t.Path.Quoted() + " (\n" + strings.Join(lines, ",\n") + "\n) ")
	if t.Comment != "" {
		b.WriteString("COMMENT " + Literal(t.Comment) + "\n")
	}
	if d := t.Distribution; d != nil {
		b.WriteString("DISTRIBUTED")
		if len(d.Columns) > 0 {
			b.WriteString(" BY " + d.Kind + "(" + quoteAll(d.Columns) + ")")
		}
		if d.Buckets > 0 {
			b.WriteString(" INTO " + strconv.Itoa(d.Buckets) + " BUCKETS")
		}
		b.WriteString("\n")
	}
	if len(t.Partition) > 0 {
		b.WriteString("PARTITIONED BY (" + quoteAll(t.Partition) + ")\n")
	}
	if len(t.Options) > 0 {
		writeOptions(&b, t.Options, max(t.buckets, 1))
	}
	return b.String()
}

// define gives a column as CREATE TABLE has it.
func (c *Column) define() string {
	s := Quote(c.Name) + " "
	switch c.Kind {
	case sql.ComputedColumn:
		s += "AS " + sql.FormatFlink(c.Expr)
	case sql.MetadataColumn:
		s += sqlType(c.Type) + " " + c.extras()
	default:
		s += sqlType(c.Type)
	}
	if c.Comment != "" {
		s += " COMMENT " + Literal(c.Comment)
	}
	return s
}

// extras gives the column "extras" of DESCRIBE.
func (c *Column) extras() string {
	switch c.Kind {
	case sql.ComputedColumn:
		return "AS " + sql.FormatFlink(c.Expr)
	case sql.MetadataColumn:
		s := "METADATA"
		if c.FromKey {
			s += " FROM " + Literal(c.Key)
		}
		if c.Virtual {
			s += " VIRTUAL"
		}
		return s
	}
	return ""
}

// writeOptions writes WITH (..) in the order of a hash map of at least so many buckets. Secrets are masked.
func writeOptions(b *strings.Builder, opts []Option, buckets int) {
	b.WriteString("WITH (\n")
	for i, o := range javaOrder(opts, buckets) {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString("  " + Literal(o.Key) + " = " + Literal(o.Masked()))
	}
	b.WriteString("\n)\n")
}

// javaOrder sorts options as Flink lists them, which is the order of a hash map of Java: by bucket, in a table of the least
// power of two that holds them at three quarters and has at least so many buckets, by the hash of the key. Flink copies a
// table's options from the keys; a catalog's are in a map that began with the usual 16, those of an altered table in the one
// that ALTER TABLE left.
func javaOrder(opts []Option, size int) []Option {
	if size <= 1 {
		size = copyBuckets(len(opts))
	}
	for len(opts)*4 > size*3 {
		size *= 2
	}
	bucket := func(o Option) int {
		h := int32(0)
		for _, u := range utf16.Encode([]rune(o.Key)) {
			h = h*31 + int32(u)
		}
		return int(uint32(h)^uint32(h)>>16) & (size - 1)
	}
	out := append([]Option(nil), opts...)
	sort.SliceStable(out, func(i, j int) bool { return bucket(out[i]) < bucket(out[j]) })
	return out
}

// HashOrder sorts names as a hash set of Java lists them.
func HashOrder(names []string) []string {
	opts := make([]Option, len(names))
	for i, n := range names {
		opts[i].Key = n
	}
	out := make([]string, len(names))
	for i, o := range javaOrder(opts, 16) {
		out[i] = o.Key
	}
	return out
}

// copyBuckets is how many buckets Java gives the copy of a hash map of n entries.
func copyBuckets(n int) int {
	size := 1
	for size < int(float64(n)/0.75+1) {
		size *= 2
	}
	return size
}

// sqlType prints a type as SHOW CREATE does: STRING and BYTES with their length, TIMESTAMP_LTZ in words.
func sqlType(t types.Type) string {
	s := sqlTypeName(t)
	if t.NotNull {
		s += " NOT NULL"
	}
	return s
}

func sqlTypeName(t types.Type) string {
	switch t.Kind {
	case types.Varchar:
		return fmt.Sprintf("VARCHAR(%d)", t.Precision)
	case types.Varbinary:
		return fmt.Sprintf("VARBINARY(%d)", t.Precision)
	case types.TimestampLTZ:
		return fmt.Sprintf("TIMESTAMP(%d) WITH LOCAL TIME ZONE", t.Precision)
	case types.Array:
		return "ARRAY<" + sqlType(*t.Elem) + ">"
	case types.Multiset:
		return "MULTISET<" + sqlType(*t.Elem) + ">"
	case types.Map:
		return "MAP<" + sqlType(*t.Key) + ", " + sqlType(*t.Elem) + ">"
	case types.Row:
		parts := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			parts[i] = Quote(f.Name) + " " + sqlType(f.Type)
		}
		return "ROW<" + strings.Join(parts, ", ") + ">"
	}
	return t.Name()
}

// Create gives the statement that makes the view, laid out as Flink does.
func (v *View) Create() string {
	names := make([]string, len(v.Fields))
	for i, f := range v.Fields {
		names[i] = f.Name
	}
	s := "CREATE "
	if v.Temporary {
		s += "TEMPORARY "
	}
	s += "VIEW " + v.Path.Quoted() + "(" + quoteAll(names) + ") as\n" + MaskSecrets(v.Text)
	if v.Comment != "" {
		s += " COMMENT " + Literal(v.Comment) + "\n"
	}
	return s
}

// ColumnInfo is a row of DESCRIBE and SHOW COLUMNS. Empty texts are NULLs there.
type ColumnInfo struct {
	Name, Type             string
	Null                   bool
	Key, Extras, Watermark string
	Comment                string
}

// Describe gives the rows of DESCRIBE for a table or view. comments tells whether there is a column for comments.
func (c *Catalog) Describe(n *sql.Name) (rows []ColumnInfo, comments bool, err error) {
	p, err := c.Resolve(n)
	if err != nil {
		return nil, false, err
	}
	o, ok := c.Find(p)
	if !ok {
		return nil, false, Errorf(ValidationError, "Tables or views with the identifier '%s' doesn't exist.", p).Node(n).
			withHint(DidYouMean(p.Name, c.Names(p.Catalog, p.Database)))
	}
	switch o := o.(type) {
	case *View:
		for _, f := range o.Fields {
			rows = append(rows, ColumnInfo{Name: f.Name, Type: summary(f.Type), Null: !f.Type.NotNull})
		}
	case *Table:
		for i := range o.Columns {
			rows = append(rows, o.info(i))
			comments = comments || o.Columns[i].Comment != ""
		}
	}
	return rows, comments, nil
}

func (t *Table) info(i int) ColumnInfo {
	c := &t.Columns[i]
	r := ColumnInfo{Name: c.Name, Type: summary(c.Type), Null: !c.Type.NotNull, Extras: c.extras(), Comment: c.Comment}
	if t.PrimaryKey != nil {
		for _, k := range t.PrimaryKey.Columns {
			if k == c.Name {
				r.Key = "PRI(" + strings.Join(t.PrimaryKey.Columns, ", ") + ")"
			}
		}
	}
	if t.Watermark != nil && t.Watermark.Column == c.Name {
		r.Watermark = sql.FormatFlink(t.Watermark.Expr)
	}
	return r
}

// summary prints a type as DESCRIBE does: without its own nullability, with its time attribute.
func summary(t types.Type) string {
	switch t.Attr {
	case types.Rowtime:
		return t.Name() + " *ROWTIME*"
	case types.Proctime:
		return t.Name() + " *PROCTIME*"
	}
	return t.Name()
}

// Partitions gives the rows of SHOW PARTITIONS.
func (c *Catalog) Partitions(n *sql.Name) ([]string, error) {
	p, err := c.Resolve(n)
	if err != nil {
		return nil, err
	}
	o, ok := c.Find(p)
	t, isTable := o.(*Table)
	if !ok || !isTable {
		return nil, Errorf(exceptions+"TableNotExistException", "Table (or view) %s.%s does not exist in Catalog %s.", p.Database, p.Name, p.Catalog).Node(n)
	}
	if len(t.Partition) == 0 {
		return nil, Errorf(exceptions+"TableNotPartitionedException", "Table %s.%s in catalog %s is not partitioned.", p.Database, p.Name, p.Catalog).Node(n)
	}
	var rows []string
	for _, part := range t.Partitions {
		parts := make([]string, len(part.Spec))
		for i, o := range part.Spec {
			parts[i] = o.Key + "=" + o.Value
		}
		rows = append(rows, strings.Join(parts, "/"))
	}
	return rows, nil
}

// Like matches a name with a pattern of SHOW .. LIKE: % for anything, _ for one character, \ before either of them. ILIKE
// is Like over names and patterns in one case.
func Like(name, pattern string) bool {
	n, p := []rune(name), []rune(pattern)
	// star and mark remember the last % and where its match ended, to go on from there.
	i, j, star, mark := 0, 0, -1, 0
	for i < len(n) {
		switch {
		case j < len(p) && p[j] == '%':
			star, mark = j, i
			j++
		case j+1 < len(p) && p[j] == '\\' && p[j+1] == n[i]:
			i, j = i+1, j+2
		case j < len(p) && p[j] != '\\' && (p[j] == '_' || p[j] == n[i]):
			i, j = i+1, j+1
		case star >= 0:
			mark++
			i, j = mark, star+1
		default:
			return false
		}
	}
	for j < len(p) && p[j] == '%' {
		j++
	}
	return j == len(p)
}
