package session

import (
	"context"
	"errors"
	"fmt"
	"os"
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
		return nil, s.refused(stmt)
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
