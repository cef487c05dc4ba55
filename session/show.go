package session

import (
	"slices"
	"strings"

	"runnel/catalog"
	"runnel/expr"
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
	return s.showMore(st)
}

// showMore answers the SHOWs of single objects, and of functions and modules.
func (s *Session) showMore(st *sql.Show) (*Result, error) {
	c := s.opts.Catalog
	var text string
	var err error
	switch st.Kind {
	case sql.ShowCreateTable:
		text, err = c.ShowCreateTable(st.In)
	case sql.ShowCreateView:
		text, err = c.ShowCreateView(st.In)
	case sql.ShowCreateCatalog:
		text, err = c.ShowCreateCatalog(st.In)
	case sql.ShowPartitions:
		names, err := c.Partitions(st.In)
		return listed(st, names, "partition name"), err
	case sql.ShowUserFunctions:
		return listed(st, c.UserFunctions(st.In), "function name"), nil
	case sql.ShowFunctions:
		return listed(st, append(builtIn(c.CoreUsed()), c.UserFunctions(st.In)...), "function name"), nil
	case sql.ShowModules, sql.ShowFullModules:
		return modules(st, c), nil
	case sql.ShowProcedures:
		return nil, noProcedures("listProcedures", st)
	case sql.ShowModels, sql.ShowCreateModel:
		return nil, unsupportedQuery(st, st.String(), modelCure)
	case sql.ShowMaterializedTables: // which is grammar of Flink 2
		return nil, catalog.Errorf(sql.ClassParse, "Incorrect syntax near the keyword 'SHOW' at %s.", st.From).Node(st).
			Cure("There are no materialized tables. %s", tableCure)
	case sql.ShowCreateMaterializedTable:
		return nil, unsupported(st, 3).Cure("%s", tableCure)
	default:
		return nil, unsupported(st, 2)
	}
	if err != nil {
		return nil, err
	}
	return textTable([][]string{{text}}, "result"), nil
}

// builtIn gives the names of the functions of the core module, if it is in use.
func builtIn(used bool) []string {
	if !used {
		return nil
	}
	var names []string
	for _, f := range expr.Functions() {
		names = append(names, strings.ToLower(f.Name))
	}
	for _, a := range expr.Aggregates() {
		if a.Name != "$SUM0" && a.Name != "SINGLE_VALUE" { // the planner's own
			names = append(names, strings.ToLower(a.Name))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func modules(st *sql.Show, c *catalog.Catalog) *Result {
	names, used := c.Modules()
	fields := []types.Field{{Name: "module name", Type: types.String()}}
	full := st.Kind == sql.ShowFullModules
	if full {
		fields = append(fields, types.Field{Name: "used", Type: types.Of(types.Boolean)})
	}
	var rows [][]types.Datum
	for i, n := range names {
		switch {
		case full:
			rows = append(rows, []types.Datum{types.StrDatum(n), types.BoolDatum(used[i])})
		case used[i]:
			rows = append(rows, []types.Datum{types.StrDatum(n)})
		}
	}
	return answer(fields, rows)
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
	case sql.ObjectCatalog:
		info, err := s.opts.Catalog.DescribeCatalog(st.Name, st.Extended)
		if err != nil {
			return nil, err
		}
		var rows [][]string
		for _, o := range info {
			rows = append(rows, []string{o.Key, o.Masked()})
		}
		return textTable(rows, "info name", "info value"), nil
	}
	switch st.Object {
	case sql.ObjectFunction:
		return s.describeFunction(st)
	case sql.ObjectDatabase: // Flink takes the name for an expression
		e := catalog.Errorf(catalog.NameError, "Column '%s' not found in any table", st.Name.Last())
		if len(st.Name.Parts) > 1 {
			e = catalog.Errorf(catalog.NameError, "Table '%s' not found", st.Name.Parts[0].Name)
		}
		return nil, e.Node(st.Name).Cure("Databases are not described: SHOW TABLES FROM %s; lists what is in it, SHOW DATABASES; what there are.", st.Name)
	}
	return nil, unsupported(st, 2)
}

// columns describes a table or view; st filters, nil for none.
func (s *Session) columns(name *sql.Name, st *sql.Show) (*Result, error) {
	all, comments, err := s.opts.Catalog.Describe(name)
	if err != nil {
		return nil, err
	}
	fields := []types.Field{
		{Name: "name", Type: types.String()}, {Name: "type", Type: types.String()}, {Name: "null", Type: types.Of(types.Boolean)},
		{Name: "key", Type: types.String()}, {Name: "extras", Type: types.String()}, {Name: "watermark", Type: types.String()},
	}
	if comments {
		fields = append(fields, types.Field{Name: "comment", Type: types.String()})
	}
	var rows [][]types.Datum
	for _, d := range all {
		if st != nil && !matches(st, d.Name) {
			continue
		}
		row := []types.Datum{types.StrDatum(d.Name), types.StrDatum(d.Type), types.BoolDatum(d.Null),
			orNull(d.Key), orNull(d.Extras), orNull(d.Watermark)}
		if comments {
			row = append(row, orNull(d.Comment))
		}
		rows = append(rows, row)
	}
	return answer(fields, rows), nil
}

func orNull(s string) types.Datum {
	if s == "" {
		return types.NullDatum()
	}
	return types.StrDatum(s)
}
