package sql

import "strings"

// stmt prints a statement.
func (p *printer) stmt(s Stmt) {
	switch s := s.(type) {
	case *Query:
		p.query(s)
	case *Insert:
		p.insert(s)
	case *StatementSet:
		p.str("EXECUTE ")
		p.statementSet(s)
	case *CreateTable:
		p.createTable(s)
	case *Explain:
		p.explain(s)
	case *Show:
		p.show(s)
	case *Set:
		p.str("SET")
		if s.HasKey {
			p.str(" ", QuoteString(s.Key), " = ", QuoteString(s.Value))
		}
	case *Reset:
		p.str("RESET")
		if s.HasKey {
			p.str(" ", QuoteString(s.Key))
		}
	default:
		if !p.createOrAlter(s) && !p.dml(s) {
			p.utility(s)
		}
	}
}

// flag prints the words when on.
func (p *printer) flag(on bool, words string) {
	if on {
		p.str(words)
	}
}

// dml prints the rarer statements that change data, or returns false.
func (p *printer) dml(s Stmt) bool {
	target := func(verb string, n *Name, hs []*Hint, alias *Ident) {
		p.str(verb, " ")
		p.name(n)
		p.hints(hs)
		if alias != nil {
			p.str(" AS ")
			p.ident(*alias)
		}
	}
	where := func(x Expr) {
		if x != nil {
			p.str(" WHERE ")
			p.expr(x)
		}
	}
	switch s := s.(type) {
	case *Update:
		target("UPDATE", s.Table, s.Hints, s.Alias)
		p.str(" SET ")
		commas(p, s.Set, p.assignment)
		where(s.Where)
	case *Delete:
		target("DELETE FROM", s.Table, s.Hints, s.Alias)
		where(s.Where)
	case *Merge:
		target("MERGE INTO", s.Table, s.Hints, s.Alias)
		p.str(" USING ")
		p.side(s.Source, false)
		p.str(" ON ")
		p.expr(s.On)
		if s.Update != nil {
			p.str(" WHEN MATCHED THEN UPDATE SET ")
			commas(p, s.Update, p.assignment)
		}
		if s.InsertValues != nil {
			p.str(" WHEN NOT MATCHED THEN INSERT ")
			if s.InsertColumns != nil {
				p.names(s.InsertColumns)
				p.str(" ")
			}
			p.body(s.InsertValues)
		}
	case *Truncate:
		p.str("TRUNCATE TABLE ")
		p.name(s.Table)
	case *Execute:
		p.str("EXECUTE ")
		p.query(s.Query)
	case *ExecutePlan:
		p.str("EXECUTE PLAN ")
		p.literal(s.Path)
	case *CompilePlan:
		p.str("COMPILE ")
		p.flag(s.Execute, "AND EXECUTE ")
		p.str("PLAN ")
		p.literal(s.Path)
		p.flag(s.IfNotExists, " IF NOT EXISTS")
		p.str(" FOR ")
		p.plannable(s.Stmt)
	case *Call:
		p.str("CALL ")
		p.call(s.Call)
	default:
		return false
	}
	return true
}

func (p *printer) insert(s *Insert) {
	switch {
	case s.Upsert:
		p.str("UPSERT INTO ")
	case s.Overwrite:
		p.str("INSERT OVERWRITE ")
	default:
		p.str("INSERT INTO ")
	}
	p.name(s.Table)
	p.hints(s.Hints)
	if s.Partition != nil {
		p.str(" ")
		p.partition(s.Partition)
	}
	if s.Columns != nil {
		p.str(" ")
		p.names(s.Columns)
	}
	p.str(p.sep)
	if _, ok := s.Query.unwrap().(*Select); ok && p.flink {
		p.paren(s.Query)
	} else {
		p.query(s.Query)
	}
	if s.OnConflict != "" {
		p.str(" ON CONFLICT DO ", s.OnConflict)
	}
}

// statementSet prints a set without EXECUTE.
func (p *printer) statementSet(s *StatementSet) {
	p.str("STATEMENT SET BEGIN ")
	for _, in := range s.Stmts {
		p.insert(in)
		p.str("; ")
	}
	p.str("END")
}

// plannable prints the statement inside EXPLAIN and COMPILE PLAN.
func (p *printer) plannable(s Stmt) {
	if set, ok := s.(*StatementSet); ok {
		p.statementSet(set)
		return
	}
	p.stmt(s)
}

func (p *printer) explain(s *Explain) {
	p.str("EXPLAIN ")
	p.flag(s.PlanFor, "PLAN FOR ")
	for i, d := range s.Details {
		p.flag(i > 0, ", ")
		p.str(string(d))
	}
	p.flag(len(s.Details) > 0, " ")
	p.plannable(s.Stmt)
}

func (p *printer) show(s *Show) {
	p.str("SHOW ")
	switch s.Kind {
	case ShowColumns:
		p.str("COLUMNS")
	case ShowPartitions:
		p.str("PARTITIONS")
	case ShowCreateTable:
		p.str("CREATE TABLE")
	case ShowCreateView:
		p.str("CREATE VIEW")
	case ShowCreateCatalog:
		p.str("CREATE CATALOG")
	case ShowCreateModel:
		p.str("CREATE MODEL")
	case ShowCreateConnection:
		p.str("CREATE CONNECTION")
	case ShowCreateMaterializedTable:
		p.str("CREATE ")
		p.flag(s.OrAlter, "OR ALTER ")
		p.str("MATERIALIZED TABLE")
	default:
		for _, f := range showForms {
			if f.kind == s.Kind {
				p.str(strings.Join(f.words, " "))
			}
		}
	}
	if s.In != nil {
		p.str(" ")
		if s.FromIn != "" {
			p.str(s.FromIn, " ")
		}
		p.name(s.In)
	}
	if s.Partition != nil {
		p.str(" ")
		p.partition(s.Partition)
	}
	if s.Like != nil {
		p.not(s.NotLike)
		if s.ILike {
			p.str(" ILIKE ")
		} else {
			p.str(" LIKE ")
		}
		p.literal(s.Like)
	}
}

// utility prints the short statements.
func (p *printer) utility(s Stmt) {
	switch s := s.(type) {
	case *BeginStatementSet:
		p.str("BEGIN STATEMENT SET")
	case *EndStatementSet:
		p.str("END")
	case *Describe:
		p.describe(s)
	case *Use:
		p.str("USE ")
		p.name(s.Name)
	case *UseCatalog:
		p.str("USE CATALOG ")
		p.name(s.Name)
	case *UseModules:
		p.str("USE MODULES ")
		commas(p, s.Names, p.ident)
	case *LoadModule:
		p.str("LOAD MODULE ")
		p.ident(s.Name)
		p.with(s.With)
	case *UnloadModule:
		p.str("UNLOAD MODULE ")
		p.ident(s.Name)
	case *AddJar:
		p.str("ADD JAR ")
		p.literal(s.Path)
	case *RemoveJar:
		p.str("REMOVE JAR ")
		p.literal(s.Path)
	case *StopJob:
		p.str("STOP JOB ")
		p.literal(s.Job)
		p.flag(s.Savepoint, " WITH SAVEPOINT")
		p.flag(s.Drain, " WITH DRAIN")
	case *Analyze:
		p.analyze(s)
	case *ClientCommand:
		p.str(s.Word)
	}
}

func (p *printer) describe(s *Describe) {
	p.str("DESCRIBE ")
	if s.Object == ObjectJob {
		p.str("JOB ")
		p.literal(s.Job)
		return
	}
	if s.Object != ObjectTable {
		p.str(s.Object.String(), " ")
	}
	p.flag(s.Extended, "EXTENDED ")
	p.name(s.Name)
}

func (p *printer) analyze(s *Analyze) {
	p.str("ANALYZE TABLE ")
	p.name(s.Table)
	if s.Partition != nil {
		p.str(" ")
		p.partition(s.Partition)
	}
	p.str(" COMPUTE STATISTICS")
	if s.Columns != nil {
		p.str(" FOR COLUMNS ")
		commas(p, s.Columns, p.ident)
	}
	p.flag(s.AllColumns, " FOR ALL COLUMNS")
}

var objectNames = [...]string{
	ObjectTable: "TABLE", ObjectView: "VIEW", ObjectMaterializedTable: "MATERIALIZED TABLE", ObjectFunction: "FUNCTION",
	ObjectCatalog: "CATALOG", ObjectDatabase: "DATABASE", ObjectModel: "MODEL", ObjectConnection: "CONNECTION", ObjectModule: "MODULE",
	ObjectJob: "JOB",
}

// String returns the words of the kind.
func (k ObjectKind) String() string { return objectNames[k] }
