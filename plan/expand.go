package plan

import "runnel/sql"

// full collects what the names of a view's query mean in full, so that SHOW CREATE VIEW can print them as Flink does and
// the view means the same wherever it is used.
type full map[*sql.Name][]string

// table notes the path of a table or view.
func (f full) table(n *sql.Name, path []string) {
	if f != nil {
		f[n] = path
	}
}

// column notes the table of a column that was named without one.
func (f full) column(n *sql.Name, sc *scope) {
	if f == nil || n.Pos() == (sql.Pos{}) {
		return
	}
	for ; sc != nil; sc = sc.parent {
		if t, _ := sc.table(n.Parts); t != nil && len(n.Parts) > 1 {
			return
		}
		i, err := sc.column(n.Parts[0], 0, len(sc.fields))
		if err != nil || i < 0 {
			continue
		}
		for _, t := range sc.tables {
			if t.alias != "" && i >= t.first && i < t.first+t.n {
				f[n] = append([]string{t.alias}, n.Strings()...)
			}
		}
		return
	}
}

// complete puts the full names into the query.
func (f full) complete() {
	for n, parts := range f {
		n.Parts = sql.NewName(parts...).Parts
	}
}
