package session

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"runnel/catalog"
	"runnel/sql"
)

const (
	tableCure = "A table with a connector and INSERT INTO .. SELECT keep a result up to date, as a streaming job."
	modelCure = "There are no models; a scalar function or a lookup join with a table can stand in their place."
	jarCure   = "There is no JVM here: connectors, formats and functions are built in, and SHOW FUNCTIONS lists what can be called."
	planCure  = "Plans are not kept in files: run the statement itself. It finds its state by its operators, see EXPLAIN and execution.state-recovery.path."
)

// refused answers the statements that cannot be carried out here: as Flink would where it refuses them for a reason of its own,
// else with what takes their place.
func (s *Session) refused(stmt sql.Stmt, text string) error {
	switch st := stmt.(type) {
	case *sql.Update:
		return s.notUpdatable(st, st.Table)
	case *sql.Delete:
		return s.notUpdatable(st, st.Table)
	case *sql.Truncate:
		return s.notTruncatable(st)
	case *sql.Analyze:
		return s.notAnalyzed(st)
	case *sql.Merge:
		return unsupportedQuery(st, text, "Tables change through INSERT; a join of both tables in its query says what MATCHED would.")
	case *sql.Call:
		return s.noProcedure(st)
	case *sql.AddJar:
		return notLoaded(st)
	case *sql.RemoveJar:
		return catalog.Errorf(catalog.UnsupportedOp, "SQL Gateway doesn't support REMOVE JAR syntax now.").Node(st).Cure("%s", jarCure)
	case *sql.ExecutePlan:
		if _, err := os.Stat(st.Path.Text); err != nil {
			return &Error{Class: "java.io.FileNotFoundException", Msg: fmt.Sprintf("file resource [%s] not found.", st.Path.Text), Err: err}
		}
		return unsupported(st, 2).Cure("%s", planCure)
	case *sql.CompilePlan:
		return s.notCompiled(st)
	case *sql.CreateModel:
		return unsupportedQuery(st, text, modelCure)
	case *sql.AlterModel:
		return unsupportedQuery(st, text, modelCure)
	case *sql.CreateMaterializedTable:
		if st.With == nil || !slices.ContainsFunc(st.With.List, func(o *sql.Property) bool { return o.Key.Text == "connector" }) {
			return catalog.Errorf(catalog.ValidationError, "Table options do not contain an option key 'connector' for discovering a connector. Therefore, Flink assumes "+
				"a managed table. However, a managed table factory that implements org.apache.flink.table.factories.DynamicTableSinkFactory is not in the classpath.").
				Node(st).Cure("There are no materialized tables. %s", tableCure)
		}
		return unsupported(st, 3).Cure("%s", tableCure)
	case *sql.AlterMaterializedTable:
		return unsupported(st, 3).Cure("%s", tableCure)
	case *sql.Drop:
		switch st.Object {
		case sql.ObjectModel:
			return unsupportedQuery(st, text, modelCure)
		case sql.ObjectMaterializedTable:
			return unsupported(st, 3).Cure("%s", tableCure)
		}
	}
	return unsupported(stmt, 2)
}

// notTruncatable refuses TRUNCATE TABLE: in streaming mode whatever the table, as Flink does.
func (s *Session) notTruncatable(st *sql.Truncate) error {
	if !s.batch() {
		return catalog.Errorf(catalog.TableError, "TRUNCATE TABLE statement is not supported in streaming mode.").Node(st).
			Cure("No connector here empties its table; drop the files or the topic outside.")
	}
	p, err := s.table(st.Table, "Could not execute TRUNCATE TABLE. Table with identifier %s does not exist.")
	if err != nil {
		return err
	}
	return catalog.Errorf(catalog.TableError, "TRUNCATE TABLE statement is not supported for the table %s since the table hasn't implemented "+
		"the interface org.apache.flink.table.connector.sink.abilities.SupportsTruncate.", p.Quoted()).Node(st)
}

// notAnalyzed refuses ANALYZE TABLE, first for a table that is not there.
func (s *Session) notAnalyzed(st *sql.Analyze) error {
	if _, err := s.table(st.Table, "Table %s doesn't exist or is a temporary table."); err != nil {
		return err
	}
	p, err := s.opts.Catalog.Resolve(st.Table)
	if err != nil {
		return err
	}
	if o, _ := s.opts.Catalog.Find(p); o != nil && st.Partition != nil {
		if t, ok := o.(*catalog.Table); ok && len(t.Partition) == 0 {
			return catalog.Errorf(catalog.ValidationError, "Invalid ANALYZE TABLE statement. Table: %s is not a partition table, while partition values are given.", p.Quoted()).
				Node(st.Partition)
		}
	}
	if !s.batch() {
		return catalog.Errorf(catalog.TableError, "ANALYZE TABLE is not supported for streaming mode now").Node(st)
	}
	return unsupported(st, 2).Cure("Plans do not depend on statistics.")
}

// table finds a table or view; missing is the message with %s for its path.
func (s *Session) table(n *sql.Name, missing string) (catalog.Path, error) {
	p, err := s.opts.Catalog.Resolve(n)
	if err != nil {
		return p, err
	}
	if _, ok := s.opts.Catalog.Find(p); ok {
		return p, nil
	}
	return p, catalog.Errorf(catalog.ValidationError, missing, p.Quoted()).Node(n).
		Cure("%s", catalog.DidYouMean(p.Name, s.opts.Catalog.Names(p.Catalog, p.Database)))
}

func (s *Session) batch() bool { return strings.EqualFold(s.Option("execution.runtime-mode"), "BATCH") }

// notLoaded refuses ADD JAR, first for what is no JAR.
func notLoaded(st *sql.AddJar) error {
	path := st.Path.Text
	switch info, err := os.Stat(path); {
	case err != nil:
		return &Error{Class: "java.io.FileNotFoundException", Msg: fmt.Sprintf("jar resource [%s] not found.", path), Err: err}
	case info.IsDir():
		return catalog.Errorf(catalog.ValidationError, "The registering or unregistering jar resource [%s] is a directory that is not allowed.", path).Node(st.Path)
	case !strings.HasSuffix(strings.ToLower(path), ".jar"):
		return catalog.Errorf(catalog.ValidationError, "The registering or unregistering jar resource [%s] must ends with '.jar' suffix.", path).Node(st.Path)
	}
	return unsupported(st, 2).Cure("%s", jarCure)
}

// notUpdatable refuses UPDATE and DELETE: first for a table that cannot be read, as Flink does, which reads it to find the rows.
func (s *Session) notUpdatable(stmt sql.Stmt, name *sql.Name) error {
	text := "SELECT * FROM " + name.String()
	q, err := sql.Parse(text)
	if err != nil {
		return err
	}
	if _, err := s.planner().Query(q.(*sql.Query), text); err != nil {
		var e *catalog.Error
		if errors.As(err, &e) {
			e.At = sql.Span{From: name.Pos(), To: name.End()} // the place in the statement, not in the query
		}
		return err
	}
	word := strings.Fields(stmt.String())[0]
	if !s.batch() {
		return catalog.Errorf(catalog.TableError, "%s statement is not supported for streaming mode now.", word).
			Node(stmt).Cure("Tables change through INSERT of a changelog.")
	}
	p, err := s.opts.Catalog.Resolve(name)
	if err != nil {
		return err
	}
	return catalog.Errorf(catalog.UnsupportedOp, "Can't perform %s operation of the table %s because the corresponding dynamic table sink has not yet "+
		"implemented org.apache.flink.table.connector.sink.abilities.SupportsRowLevel%s.", strings.ToLower(word), p, word[:1]+strings.ToLower(word[1:])).
		Node(stmt).Cure("Tables change through INSERT of a changelog; no connector takes single updates or deletes.")
}

// noProcedures is how Flink's in-memory catalog answers SHOW PROCEDURES and CALL.
func noProcedures(method string, n sql.Node) error {
	return catalog.Errorf(catalog.UnsupportedOp, "%s is not implemented for class org.apache.flink.table.catalog.GenericInMemoryCatalog.", method).
		Node(n).Cure("There are no procedures; SHOW FUNCTIONS lists what can be called in a query.")
}

// noProcedure refuses CALL: a catalog that is not there knows no function, the one there is has no procedures.
func (s *Session) noProcedure(st *sql.Call) error {
	name := st.Call.Name
	if len(name.Parts) > 2 && !slices.Contains(s.opts.Catalog.Catalogs(), name.Parts[0].Name) {
		call := &sql.FuncCall{Span: st.Call.Span, Name: sql.NewName(name.Last()), Args: st.Call.Args}
		if _, err := s.planner().TypeOf(call, nil); err != nil {
			return err
		}
	}
	return noProcedures("getProcedure", st)
}

// notCompiled refuses COMPILE PLAN, first for what is wrong with its statement.
func (s *Session) notCompiled(st *sql.CompilePlan) error {
	if _, err := s.planner().Explain(&sql.Explain{Span: st.Span, Stmt: st.Stmt}); err != nil {
		return err
	}
	words := 2
	if st.Execute {
		words = 4
	}
	return unsupported(st, words).Cure("%s", planCure)
}

// unsupported refuses a statement by its first words.
func unsupported(stmt sql.Stmt, words int) *catalog.Error {
	all := strings.Fields(stmt.String())
	return catalog.Errorf(catalog.UnsupportedOp, "%s is not supported.", strings.Join(all[:min(words, len(all))], " ")).Node(stmt)
}

// unsupportedQuery refuses a statement in the words that Flink has for what it parses but does not plan.
func unsupportedQuery(stmt sql.Stmt, text, cure string) *catalog.Error {
	return catalog.Errorf(catalog.TableError, "Unsupported query: %s;", strings.TrimRight(text, "; \t\r\n")).Node(stmt).Cure("%s", cure)
}
