package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"runnel/catalog"
	"runnel/sql"
	"runnel/types"
)

// ddl changes the catalog.
func (s *Session) ddl(ctx context.Context, stmt sql.Stmt, text string) (*Result, error) {
	if t, ok := stmt.(*sql.CreateTable); ok && t.As != nil {
		return s.createAs(ctx, t, text)
	}
	handled, err := s.opts.Catalog.Apply(stmt, s.planner())
	if !handled {
		return nil, s.refused(stmt)
	}
	if err != nil {
		return nil, err
	}
	return &Result{Kind: Done}, nil
}

// createAs makes the table of CREATE TABLE .. AS and starts the job that fills it. As in Flink the table stays when the
// job fails, a replaced one is gone when its successor is made, and IF NOT EXISTS fills a table that is there already.
func (s *Session) createAs(ctx context.Context, t *sql.CreateTable, text string) (*Result, error) {
	if t.Temporary || len(t.Elements) > 0 {
		return nil, unsupported(t)
	}
	path, err := s.opts.Catalog.Resolve(t.Name)
	if err != nil {
		return nil, err
	}
	exists := s.opts.Catalog.Exists(path, false)
	if t.Replace && !exists {
		return nil, catalog.Errorf(catalog.TableError, "The table %s to be replaced doesn't exist. You can try to use CREATE TABLE AS statement or CREATE OR REPLACE TABLE AS statement.",
			path.Quoted()).Node(t.Name)
	}
	fill := []*sql.Insert{{Span: t.Span, Table: t.Name, Query: t.As}}
	if t.IfNotExists && exists {
		return s.insert(ctx, fill, text)
	}
	g, err := s.planner().Query(t.As, text)
	if err != nil {
		return nil, err
	}
	plain, err := withColumns(t, g.Sinks[0].Base().Fields)
	if err != nil {
		return nil, err
	}
	if exists && (t.Replace || t.OrReplace) {
		// The new table is checked while the old one is still there.
		if _, err := s.opts.Catalog.NewTable(plain, s.planner()); err != nil {
			return nil, err
		}
		if _, err := s.opts.Catalog.Apply(&sql.Drop{Span: t.Span, Object: sql.ObjectTable, Name: t.Name}, s.planner()); err != nil {
			return nil, err
		}
	}
	if _, err := s.opts.Catalog.Apply(plain, s.planner()); err != nil {
		return nil, err
	}
	return s.insert(ctx, fill, text)
}

// withColumns is the CREATE TABLE of a CREATE TABLE .. AS, with the columns of its query.
func withColumns(t *sql.CreateTable, fields []types.Field) (*sql.CreateTable, error) {
	var cols []string
	for _, f := range fields {
		cols = append(cols, sql.Quote(f.Name)+" "+f.Type.Plain().String())
	}
	typed, err := sql.Parse("CREATE TABLE t (" + strings.Join(cols, ", ") + ")")
	if err != nil {
		return nil, fmt.Errorf("schema of the query: %w", err)
	}
	plain := *t
	plain.As, plain.Replace, plain.OrReplace = nil, false, false
	plain.Elements = typed.(*sql.CreateTable).Elements
	return &plain, nil
}

// refused answers the statements that no connector here can carry out, as Flink would where it refuses them for a reason of
// its own.
func (s *Session) refused(stmt sql.Stmt) error {
	switch st := stmt.(type) {
	case *sql.Update:
		return s.notUpdatable(st, st.Table)
	case *sql.Delete:
		return s.notUpdatable(st, st.Table)
	case *sql.Analyze:
		if !strings.EqualFold(s.Option("execution.runtime-mode"), "BATCH") {
			return catalog.Errorf(catalog.TableError, "ANALYZE TABLE is not supported for streaming mode now").Node(st)
		}
	case *sql.Call:
		return noProcedures("getProcedure", st)
	case *sql.AddJar:
		if _, err := os.Stat(st.Path.Text); err != nil {
			return &Error{Class: "java.io.FileNotFoundException", Msg: fmt.Sprintf("jar resource [%s] not found.", st.Path.Text), Err: err}
		}
		return unsupported(st).Cure("There is no JVM here: connectors, formats and functions are built in.")
	case *sql.RemoveJar:
		return unsupported(st).Cure("There is no JVM here, and SHOW JARS is always empty.")
	}
	return unsupported(stmt)
}

// notUpdatable refuses UPDATE and DELETE: first for a table that cannot be read, as Flink does, which reads it to find the rows.
func (s *Session) notUpdatable(stmt sql.Stmt, table *sql.Name) error {
	text := "SELECT * FROM " + table.String()
	q, err := sql.Parse(text)
	if err != nil {
		return err
	}
	if _, err := s.planner().Query(q.(*sql.Query), text); err != nil {
		var e *catalog.Error
		if errors.As(err, &e) {
			e.At = sql.Span{From: table.Pos(), To: table.End()} // the place in the statement, not in the query
		}
		return err
	}
	return unsupported(stmt).Cure("Tables change through INSERT of a changelog; no connector takes single updates or deletes.")
}

// noProcedures is how Flink's in-memory catalog answers SHOW PROCEDURES and CALL.
func noProcedures(method string, n sql.Node) error {
	return catalog.Errorf(catalog.UnsupportedOp, "%s is not implemented for class org.apache.flink.table.catalog.GenericInMemoryCatalog.", method).
		Node(n).Cure("There are no procedures; SHOW FUNCTIONS lists what can be called in a query.")
}

// unsupported refuses a statement by its words.
func unsupported(stmt sql.Stmt) *catalog.Error {
	words := strings.Fields(stmt.String())
	return catalog.Errorf(catalog.UnsupportedOp, "%s is not supported.", strings.Join(words[:min(2, len(words))], " ")).Node(stmt)
}
