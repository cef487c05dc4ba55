package plan

import (
	"runnel/catalog"
	"runnel/sql"
)

// CreateTableAs plans CREATE TABLE .. AS and REPLACE TABLE .. AS: the table with the columns of the query, and the job
// that fills it. It changes nothing in the catalog: the table has to be added before the job is submitted. With IF NOT
// EXISTS and a table that exists the table is nil: the job fills the one there is.
func (p *Planner) CreateTableAs(s *sql.CreateTable, text string) (*catalog.Table, *Graph, error) {
	if err := checkTableAs(s); err != nil {
		return nil, nil, err
	}
	path, err := p.Catalog.Resolve(s.Name)
	if err != nil {
		return nil, nil, err
	}
	if s.Replace && !p.Catalog.Exists(path, false) {
		return nil, nil, refuse(tableError, s.Name, "The table %s to be replaced doesn't exist. You can try to use CREATE TABLE AS statement or CREATE OR REPLACE TABLE AS statement.",
			path.Quoted())
	}
	pl := p.begin()
	ins := &sql.Insert{Span: s.Span, Table: s.Name, Query: s.As}
	if s.IfNotExists && p.Catalog.Exists(path, false) {
		sink, err := pl.insert(ins)
		if err != nil {
			return nil, nil, err
		}
		g, err := pl.finish([]Node{sink}, insertName([]Node{sink}), text)
		return nil, g, err
	}
	r, err := pl.query(s.As, nil)
	if err != nil {
		return nil, nil, err
	}
	// The text's clauses make a table without columns; those come from the query.
	bare := *s
	bare.As, bare.Replace, bare.OrReplace = nil, false, false
	t, err := p.Catalog.NewTable(&bare, p)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range fieldsIn(r.node) {
		t.Columns = append(t.Columns, catalog.Column{Name: f.Name, Kind: sql.PhysicalColumn, Type: f.Type.Plain()})
	}
	target, err := pl.targetOf(t, ins)
	if err != nil {
		return nil, nil, err
	}
	sink, err := pl.fill(target, ins)
	if err != nil {
		return nil, nil, err
	}
	g, err := pl.finish([]Node{sink}, insertName([]Node{sink}), text)
	return t, g, err
}

// checkTableAs refuses the clauses that a table made of a query cannot have.
func checkTableAs(s *sql.CreateTable) error {
	word := "CREATE TABLE AS SELECT"
	if s.Replace {
		word = "REPLACE TABLE AS SELECT"
	} else if s.OrReplace {
		word = "CREATE OR REPLACE TABLE AS SELECT"
	}
	no := func(at sql.Node, what string) error {
		return refuse(catalog.SyntaxError, at, "%s syntax does not support %s yet.", word, what)
	}
	for _, el := range s.Elements {
		if c, ok := el.(*sql.ColumnDef); ok {
			return no(c, "to specify explicit columns")
		}
	}
	for _, el := range s.Elements {
		switch el.(type) {
		case *sql.WatermarkDef:
			return no(el, "to specify explicit watermark")
		case *sql.ConstraintDef:
			return no(el, "primary key constraints")
		}
	}
	switch {
	case len(s.Elements) > 0:
		return no(s.Elements[0], "to specify explicit columns")
	case s.Temporary:
		return no(s, "to create temporary table")
	case s.Distribution != nil:
		return no(s.Distribution, "creating distributed tables")
	case len(s.PartitionBy) > 0:
		return no(&s.PartitionBy[0], "to create partitioned table")
	case s.IfNotExists && (s.Replace || s.OrReplace):
		return refuse(catalog.SyntaxError, s, "%s syntax does not support IF NOT EXISTS statements yet.", word)
	}
	return nil
}
