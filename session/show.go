package session

import (
	"slices"
	"strings"

	"runnel/catalog"
	"runnel/sql"
	"runnel/types"
)

// show answers SHOW.
func (s *Session) show(st *sql.Show) (*Result, error) {
	c := s.opts.Catalog
	cat, db := c.Current()
	switch st.Kind {
	case sql.ShowCatalogs:
		return listed(st, c.Catalogs(), "catalog name"), nil
	case sql.ShowCurrentCatalog:
		return textTable([][]string{{cat}}, "current catalog name"), nil
	case sql.ShowCurrentDatabase:
		return textTable([][]string{{db}}, "current database name"), nil
	case sql.ShowDatabases:
		in := ""
		if st.In != nil {
			in = st.In.String()
		}
		names, err := c.Databases(in)
		return listed(st, names, "database name"), err
	case sql.ShowTables:
		names, err := c.Tables(st.In, false)
		return listed(st, names, "table name"), err
	case sql.ShowViews:
		names, err := c.Tables(st.In, true)
		return listed(st, names, "view name"), err
	case sql.ShowColumns:
		return s.columns(st.In, st)
	case sql.ShowJobs:
		return s.showJobs()
	case sql.ShowJars:
		return textTable(nil, "jars"), nil
	}
	return nil, unsupported(st)
}

// listed makes a one-column answer of the names that the pattern lets through.
func listed(st *sql.Show, names []string, column string) *Result {
	var rows [][]string
	for _, n := range names {
		if matches(st, n) {
			rows = append(rows, []string{n})
		}
	}
	return textTable(rows, column)
}

// matches applies [NOT] LIKE or ILIKE.
func matches(st *sql.Show, name string) bool {
	if st.Like == nil {
		return true
	}
	pattern := st.Like.Text
	if st.ILike {
		pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	}
	return like(pattern, name) != st.NotLike
}

// like is MySQL's: % any text, _ one character, \ escapes. Time is bounded by len(pattern)*len(name).
func like(pattern, name string) bool {
	p, n := []rune(pattern), []rune(name)
	pi, ni, star, mark := 0, 0, -1, 0
	for ni < len(n) {
		switch {
		case pi < len(p) && p[pi] == '%':
			star, mark = pi, ni
			pi++
			continue
		case pi+1 < len(p) && p[pi] == '\\' && p[pi+1] == n[ni]:
			pi, ni = pi+2, ni+1
			continue
		case pi < len(p) && p[pi] != '\\' && (p[pi] == '_' || p[pi] == n[ni]):
			pi, ni = pi+1, ni+1
			continue
		}
		if star < 0 {
			return false
		}
		mark++
		pi, ni = star+1, mark
	}
	for pi < len(p) && p[pi] == '%' {
		pi++
	}
	return pi == len(p)
}

// describe answers DESCRIBE.
func (s *Session) describe(st *sql.Describe) (*Result, error) {
	switch st.Object {
	case sql.ObjectTable:
		return s.columns(st.Name, nil)
	case sql.ObjectJob:
		j, err := s.findJob(st.Job.Text, "Described job %s does not exist in the cluster.")
		if err != nil {
			return nil, err
		}
		return answer(jobFields, [][]types.Datum{jobRow(j)}), nil
	}
	return nil, unsupported(st)
}

// columns describes a table or view; st filters, nil for none.
func (s *Session) columns(name *sql.Name, st *sql.Show) (*Result, error) {
	all, err := s.describeColumns(name)
	if err != nil {
		return nil, err
	}
	comments := false
	var kept []described
	for _, d := range all {
		if st != nil && !matches(st, d.name) {
			continue
		}
		kept = append(kept, d)
		comments = comments || d.comment != ""
	}
	fields := []types.Field{
		{Name: "name", Type: types.String()}, {Name: "type", Type: types.String()}, {Name: "null", Type: types.Of(types.Boolean)},
		{Name: "key", Type: types.String()}, {Name: "extras", Type: types.String()}, {Name: "watermark", Type: types.String()},
	}
	if comments {
		fields = append(fields, types.Field{Name: "comment", Type: types.String()})
	}
	rows := make([][]types.Datum, len(kept))
	for i, d := range kept {
		rows[i] = []types.Datum{types.StrDatum(d.name), types.StrDatum(d.typ), types.BoolDatum(d.null),
			orNull(d.key), orNull(d.extras), orNull(d.watermark)}
		if comments {
			rows[i] = append(rows[i], orNull(d.comment))
		}
	}
	return answer(fields, rows), nil
}

// described is a row of DESCRIBE.
type described struct {
	name, typ, key, extras, watermark, comment string
	null                                       bool
}

func (s *Session) describeColumns(name *sql.Name) ([]described, error) {
	p, err := s.opts.Catalog.Resolve(name)
	if err != nil {
		return nil, err
	}
	o, ok := s.opts.Catalog.Find(p)
	if !ok {
		return nil, catalog.Errorf(catalog.ValidationError, "Tables or views with the identifier '%s' doesn't exist.", p).Node(name)
	}
	if v, ok := o.(*catalog.View); ok {
		rows := make([]described, len(v.Fields))
		for i, f := range v.Fields {
			rows[i] = described{name: f.Name, typ: typeText(f.Type), null: !f.Type.NotNull, comment: f.Comment}
		}
		return rows, nil
	}
	t := o.(*catalog.Table)
	rows := make([]described, len(t.Columns))
	for i, c := range t.Columns {
		d := described{name: c.Name, typ: typeText(c.Type), null: !c.Type.NotNull, comment: c.Comment, extras: extras(c)}
		if t.Watermark != nil && t.Watermark.Column == c.Name {
			d.watermark = t.Watermark.Expr.String()
		}
		if t.PrimaryKey != nil && slices.Contains(t.PrimaryKey.Columns, c.Name) {
			d.key = "PRI(" + strings.Join(t.PrimaryKey.Columns, ", ") + ")"
		}
		rows[i] = d
	}
	return rows, nil
}

// typeText is a column's type without its nullability, and what kind of time attribute it is.
func typeText(t types.Type) string {
	switch t.Attr {
	case types.Rowtime:
		return t.Name() + " *ROWTIME*"
	case types.Proctime:
		return t.Name() + " *PROCTIME*"
	}
	return t.Name()
}

func extras(c catalog.Column) string {
	switch c.Kind {
	case sql.ComputedColumn:
		return "AS " + c.Expr.String()
	case sql.MetadataColumn:
		text := "METADATA"
		if c.FromKey {
			text += " FROM " + sql.QuoteString(c.Key)
		}
		if c.Virtual {
			text += " VIRTUAL"
		}
		return text
	}
	return ""
}

func orNull(s string) types.Datum {
	if s == "" {
		return types.NullDatum()
	}
	return types.StrDatum(s)
}
