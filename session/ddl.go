package session

import (
	"context"
	"fmt"
	"strings"

	"runnel/catalog"
	"runnel/sql"
)

// ddl changes the catalog.
func (s *Session) ddl(ctx context.Context, stmt sql.Stmt, text string) (*Result, error) {
	if t, ok := stmt.(*sql.CreateTable); ok && t.As != nil {
		return s.createAs(ctx, t, text)
	}
	handled, err := s.opts.Catalog.Apply(stmt, s.planner())
	if !handled {
		return nil, unsupported(stmt)
	}
	if err != nil {
		return nil, err
	}
	return &Result{Kind: Done}, nil
}

// createAs makes the table of CREATE TABLE .. AS and starts the job that fills it. As in Flink the table stays when the
// job fails.
func (s *Session) createAs(ctx context.Context, t *sql.CreateTable, text string) (*Result, error) {
	if t.Replace || t.OrReplace || t.Temporary || len(t.Elements) > 0 {
		return nil, unsupported(t)
	}
	path, err := s.opts.Catalog.Resolve(t.Name)
	if err != nil {
		return nil, err
	}
	if t.IfNotExists && s.opts.Catalog.Exists(path, false) {
		return &Result{Kind: Done}, nil
	}
	g, err := s.planner().Query(t.As, text)
	if err != nil {
		return nil, err
	}
	var cols []string
	for _, f := range g.Sinks[0].Base().Fields {
		cols = append(cols, sql.Quote(f.Name)+" "+f.Type.Plain().String())
	}
	typed, err := sql.Parse("CREATE TABLE t (" + strings.Join(cols, ", ") + ")")
	if err != nil {
		return nil, fmt.Errorf("schema of the query: %w", err)
	}
	plain := *t
	plain.As, plain.Elements = nil, typed.(*sql.CreateTable).Elements
	if _, err := s.opts.Catalog.Apply(&plain, s.planner()); err != nil {
		return nil, err
	}
	return s.insert(ctx, []*sql.Insert{{Span: t.Span, Table: t.Name, Query: t.As}}, text)
}

// unsupported refuses a statement by its words.
func unsupported(stmt sql.Stmt) error {
	words := strings.Fields(stmt.String())
	what := strings.Join(words[:min(2, len(words))], " ")
	return catalog.Errorf(catalog.UnsupportedOp, "%s", fmt.Sprintf("%s is not supported.", what)).Node(stmt)
}
