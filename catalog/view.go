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

// bind takes fields and text from the view's query.
func (v *View) bind(columns []sql.Ident, at sql.Node, b Binder) error {
	fields, text, err := b.View(v.Query)
	if err != nil {
		return err
	}
	v.Fields, v.Text = slices.Clone(fields), text
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
