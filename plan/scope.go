package plan

import (
	"fmt"
	"slices"
	"strings"

	"runnel/catalog"
	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// scope is what names mean at a place of a query: the columns of its FROM clause, and behind them those of the queries
// around it.
type scope struct {
	parent *scope
	fields []types.Field // the columns of the input
	tables []scopeTable
	// star lists the columns of *, nil for all of them in order.
	star []int
	// shared are the columns of JOIN .. USING, which a bare name means in one or the other table.
	shared map[string]expr.Expr
}

// scopeTable is an item of a FROM clause.
type scopeTable struct {
	alias string
	path  []string // catalog, database, table where it is one
	first int      // its columns are fields[first : first+n]
	n     int
}

// outerBase marks columns of outer queries: a Col with index outerBase*d + i is column i of the query d levels further
// out. Decorrelation removes them before anything is run.
const outerBase = 1 << 20

// tableScope is the scope of expressions in a table's definition.
func tableScope(fields []types.Field) *scope {
	return &scope{fields: fields, tables: []scopeTable{{n: len(fields)}}}
}

// found is a column that a name means.
type found struct {
	col  *expr.Col
	rest []sql.Ident // the segments behind the column: fields of rows
}

// resolve finds the column that a dotted name means.
func (s *scope) resolve(n *sql.Name) (expr.Expr, error) {
	for level, sc := 0, s; sc != nil; level, sc = level+1, sc.parent {
		if x, ok := sc.shared[n.Parts[0].Name]; ok && sc.tableOf(n) == nil {
			return fieldsOf(expr.MapColumns(x, func(i int) int { return i + level*outerBase }), n.Parts[1:])
		}
		f, err := sc.lookup(n)
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		col := *f.col
		col.Index += level * outerBase
		x, err := fieldsOf(&col, f.rest)
		if err != nil {
			return nil, sc.noField(err, n, f)
		}
		return x, nil
	}
	return nil, s.notFound(n)
}

// noField puts the refusal of a field into Flink's words: the name as far as it is no table's, and the table.
func (s *scope) noField(err error, n *sql.Name, f *found) error {
	e, ok := err.(*catalog.Error)
	if !ok {
		return err
	}
	at := len(n.Parts) - len(f.rest) - 1 // where the column's name stands
	table := ""
	if at > 0 {
		table = n.Parts[at-1].Name
	} else if f.col.T.Kind != types.Row {
		e.Msg = fmt.Sprintf("Table '%s' not found", n.Parts[0].Name)
		return e
	} else if i := slices.IndexFunc(s.tables, func(t scopeTable) bool { return f.col.Index >= t.first && f.col.Index < t.first+t.n }); i >= 0 {
		table = s.tables[i].alias
	}
	if table != "" {
		e.Msg = fmt.Sprintf("Column '%s' not found in table '%s'", (&sql.Name{Parts: n.Parts[at:]}).Dotted(), table)
	}
	return e
}

// tableOf is the item of FROM that a name begins with, nil when it begins with a column.
func (s *scope) tableOf(n *sql.Name) *scopeTable {
	if len(n.Parts) == 1 {
		return nil
	}
	t, _ := s.table(n.Parts)
	return t
}

// lookup finds a name in one scope, nil when it means nothing there.
func (s *scope) lookup(n *sql.Name) (*found, error) {
	if len(n.Parts) > 1 {
		if t, used := s.table(n.Parts); t != nil {
			if used == len(n.Parts) {
				return nil, nil
			}
			name := n.Parts[used]
			i, err := s.column(name, t.first, t.n)
			if err != nil {
				return nil, err
			}
			if i < 0 {
				return nil, noColumn(n, fmt.Sprintf("Column '%s' not found in table '%s'", name.Name, n.Parts[used-1].Name), name.Name,
					fieldNames(s.fields[t.first:t.first+t.n]))
			}
			return &found{col: expr.NewCol(s.fields, i), rest: n.Parts[used+1:]}, nil
		}
	}
	i, err := s.column(n.Parts[0], 0, len(s.fields))
	if i < 0 || err != nil {
		return nil, err
	}
	return &found{col: expr.NewCol(s.fields, i), rest: n.Parts[1:]}, nil
}

// table finds the item of FROM that the first segments name, with their number.
func (s *scope) table(parts []sql.Ident) (*scopeTable, int) {
	for i := range s.tables {
		if t := &s.tables[i]; t.alias != "" && t.alias == parts[0].Name {
			return t, 1
		}
	}
	for used := 2; used <= 3 && used < len(parts); used++ {
		for i := range s.tables {
			if t := &s.tables[i]; matchesPath(t.path, parts[:used]) {
				return t, used
			}
		}
	}
	return nil, 0
}

func matchesPath(path []string, parts []sql.Ident) bool {
	if len(path) < len(parts) {
		return false
	}
	tail := path[len(path)-len(parts):]
	for i := range parts {
		if tail[i] != parts[i].Name {
			return false
		}
	}
	return true
}

// column finds a column among n of them, -1 when there is none.
func (s *scope) column(name sql.Ident, first, n int) (int, error) {
	at := -1
	for i := first; i < first+n; i++ {
		if s.fields[i].Name == name.Name {
			if at >= 0 {
				return 0, refuse(nameError, &name, "Column '%s' is ambiguous", name.Name).
					Cure("Put the table's name or alias in front: %s.", "t."+name.Name)
			}
			at = i
		}
	}
	return at, nil
}

// notFound words the error for a name that means nothing.
func (s *scope) notFound(n *sql.Name) error {
	first := n.Parts[0].Name
	if len(n.Parts) > 1 {
		var aliases []string
		for sc := s; sc != nil; sc = sc.parent {
			for _, t := range sc.tables {
				if t.alias != "" {
					aliases = append(aliases, t.alias)
				}
			}
		}
		return noColumn(n, fmt.Sprintf("Table '%s' not found", first), first, aliases)
	}
	var names []string
	for sc := s; sc != nil; sc = sc.parent {
		names = append(names, fieldNames(sc.fields)...)
	}
	return noColumn(n, fmt.Sprintf("Column '%s' not found in any table", first), first, names)
}

// noColumn refuses a name; one that differs from a column in its letters' case only is named in the message, as Flink does.
func noColumn(at sql.Node, msg, name string, columns []string) error {
	for _, c := range columns {
		if strings.EqualFold(c, name) {
			return refuse(nameError, at, "%s; did you mean '%s'?", msg, c)
		}
	}
	e := refuse(nameError, at, "%s", msg)
	e.Hint = catalog.DidYouMean(name, columns)
	if e.Hint == "" && len(columns) > 0 && len(columns) <= 20 {
		e.Hint = "There are " + strings.Join(columns, ", ") + "."
	}
	return e
}

func fieldNames(fields []types.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// fieldsOf reads fields of a row, one in another.
func fieldsOf(e expr.Expr, path []sql.Ident) (expr.Expr, error) {
	for i := range path {
		x, err := rowField(e, &path[i])
		if err != nil {
			return nil, err
		}
		e = x
	}
	return e, nil
}

// rowField reads one field of a row.
func rowField(e expr.Expr, name *sql.Ident) (expr.Expr, error) {
	fields := e.Type().Fields
	for i, f := range fields {
		if f.Name == name.Name {
			return expr.NewField(e, i)
		}
	}
	err := refuse(nameError, name, "Column '%s' not found in any table", name.Name)
	err.Hint = catalog.DidYouMean(name.Name, fieldNames(fields))
	if len(fields) == 0 {
		err.Hint = "A value of type " + e.Type().Name() + " has no fields."
	}
	return nil, err
}
