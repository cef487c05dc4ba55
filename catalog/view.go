package catalog

import (
	"slices"
	"strings"

	"runnel/sql"
)

// NewView resolves a CREATE VIEW. It changes nothing in the catalog.
func (c *Catalog) NewView(s *sql.CreateView, b Binder) (*View, error) {
	p, err := c.Resolve(s.Name)
	if err != nil {
		return nil, err
	}
	v := &View{Path: p, Temporary: s.Temporary, Query: s.Query, Named: len(s.Columns) > 0}
	v.Catalog, v.Database = c.Current()
	if s.Comment != nil {
		v.Comment = s.Comment.Text
	}
	return v, v.bind(s.Columns, s.Name, b)
}

// distinct refuses columns of the same name: those of the list, else those that the query names.
func (v *View) distinct(columns []sql.Ident) error {
	var items []*sql.SelectItem
	if s, ok := v.Query.Body.(*sql.Select); ok {
		items = s.Items
	}
	if len(columns) == 0 {
		for _, it := range items {
			n, isName := it.Expr.(*sql.Name)
			switch {
			case it.Alias != nil:
				columns = append(columns, *it.Alias)
			case isName:
				columns = append(columns, n.Parts[len(n.Parts)-1])
			default:
				columns = append(columns, sql.Ident{})
			}
		}
	}
	for i, c := range columns {
		first := slices.IndexFunc(columns[:i], func(o sql.Ident) bool { return o.Name == c.Name })
		if first < 0 || c.Name == "" {
			continue
		}
		at := columns[first].From
		if first < len(items) { // Flink names the place in the query
			at = items[first].From
		}
		e := Errorf(SyntaxError, "A column with the same name `%s` has been defined at %s.", c.Name, at)
		if i < len(items) && !c.From.IsValid() {
			e.Node(items[i])
		}
		return e.Node(c).
			Cure("Give one of them another name: AS name, or a list of names behind the view's.")
	}
	return nil
}

// bind takes fields and text from the view's query.
func (v *View) bind(columns []sql.Ident, at sql.Node, b Binder) error {
	fields, text, err := b.View(v.Query)
	if err != nil {
		return err
	}
	v.Fields, v.Text = slices.Clone(fields), text
	if err := v.distinct(columns); err != nil {
		return err
	}
	if len(columns) == 0 {
		return nil
	}
	if len(columns) != len(fields) {
		def, in := make([]string, len(columns)), make([]string, len(fields))
		for i := range columns {
			def[i] = columns[i].Name
		}
		for i := range fields {
			in[i] = fields[i].Name
		}
		return Errorf(ValidationError, "VIEW definition and input fields not match:\n\tDef fields: [%s].\n\tInput fields: [%s].",
			strings.Join(def, ", "), strings.Join(in, ", ")).Node(at)
	}
	for i := range columns {
		v.Fields[i].Name = columns[i].Name
	}
	return nil
}

// CreateView runs a CREATE VIEW. OR REPLACE changes nothing about a name that is taken, as in Flink.
func (c *Catalog) CreateView(s *sql.CreateView, b Binder) error {
	v, err := c.NewView(s, b)
	if err != nil {
		return err
	}
	return at(c.Add(v, s.IfNotExists), s.Name)
}
