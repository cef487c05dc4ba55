package session

import (
	"context"

	"runnel/sql"
)

// ddl changes the catalog.
func (s *Session) ddl(ctx context.Context, stmt sql.Stmt, text string) (*Result, error) {
	if t, ok := stmt.(*sql.CreateTable); ok && t.As != nil {
		return s.createAs(ctx, t, text)
	}
	handled, err := s.opts.Catalog.Apply(stmt, s.planner())
	if !handled {
		return nil, s.refused(stmt, text)
	}
	if err != nil {
		return nil, err
	}
	return &Result{Kind: Done}, nil
}

// createAs makes the table of CREATE TABLE .. AS or REPLACE TABLE .. AS and starts the job that fills it. As in Flink the
// table stays when the job fails, a replaced one is gone when its successor is made, and IF NOT EXISTS fills a table that
// is there already.
func (s *Session) createAs(ctx context.Context, t *sql.CreateTable, text string) (*Result, error) {
	table, g, err := s.planner().CreateTableAs(t, text)
	if err != nil {
		return nil, err
	}
	switch {
	case table == nil: // IF NOT EXISTS, and it does
	case t.Replace || t.OrReplace:
		err = s.opts.Catalog.Replace(table)
	default:
		err = s.opts.Catalog.Add(table, false)
	}
	if err != nil {
		return nil, err
	}
	return s.start(ctx, g)
}
