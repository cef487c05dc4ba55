package sql

// stmt visits what is below a statement.
func (w walker) stmt(s Stmt) {
	switch s := s.(type) {
	case *Insert:
		w.node(s.Table)
		each(w, s.Hints)
		opt(w, s.Partition)
		each(w, s.Columns)
		w.node(s.Query)
	case *Update:
		w.node(s.Table)
		each(w, s.Hints)
		each(w, s.Set)
		w.node(s.Where)
	case *Delete:
		w.node(s.Table)
		each(w, s.Hints)
		w.node(s.Where)
	case *Merge:
		w.node(s.Table)
		each(w, s.Hints)
		w.node(s.Source)
		w.node(s.On)
		each(w, s.Update)
		each(w, s.InsertColumns)
		opt(w, s.InsertValues)
	case *Truncate:
		w.node(s.Table)
	case *StatementSet:
		each(w, s.Stmts)
	case *Execute:
		w.node(s.Query)
	case *Explain:
		w.node(s.Stmt)
	case *CompilePlan:
		w.node(s.Path)
		w.node(s.Stmt)
	case *ExecutePlan:
		w.node(s.Path)
	case *Call:
		w.node(s.Call)
	default:
		w.ddl(s)
	}
}

func (w walker) ddl(s Stmt) {
	switch s := s.(type) {
	case *CreateCatalog:
		w.created(s.Name, s.Comment, s.With)
	case *CreateDatabase:
		w.created(s.Name, s.Comment, s.With)
	case *CreateConnection:
		w.created(s.Name, s.Comment, s.With)
	case *CreateTable:
		w.node(s.Name)
		each(w, s.Elements)
		opt(w, s.Comment)
		opt(w, s.Distribution)
		opt(w, s.With)
		opt(w, s.Like)
		opt(w, s.As)
	case *CreateView:
		w.node(s.Name)
		opt(w, s.Comment)
		w.node(s.Query)
	case *CreateFunction:
		w.node(s.Name)
		w.node(s.Class)
		each(w, s.Using)
		opt(w, s.With)
	case *CreateModel:
		w.node(s.Name)
		each(w, s.Input)
		each(w, s.Output)
		opt(w, s.Comment)
		opt(w, s.With)
		opt(w, s.As)
	case *CreateMaterializedTable:
		w.node(s.Name)
		each(w, s.Elements)
		opt(w, s.Comment)
		opt(w, s.Distribution)
		opt(w, s.With)
		w.node(s.Freshness)
		w.node(s.Query)
	case *AlterCatalog:
		w.altered(s.Name, s.Action)
	case *AlterDatabase:
		w.altered(s.Name, s.Action)
	case *AlterTable:
		w.altered(s.Name, s.Action)
	case *AlterView:
		w.altered(s.Name, s.Action)
	case *AlterModel:
		w.altered(s.Name, s.Action)
	case *AlterConnection:
		w.altered(s.Name, s.Action)
	case *AlterMaterializedTable:
		w.altered(s.Name, s.Action)
	case *AlterFunction:
		w.node(s.Name)
		w.node(s.Class)
	default:
		w.utility(s)
	}
}

func (w walker) created(n *Name, comment *Literal, with *Properties) {
	w.node(n)
	opt(w, comment)
	opt(w, with)
}

func (w walker) altered(n *Name, a AlterAction) {
	w.node(n)
	w.node(a)
}

// utility visits what is below the short statements. Those without any part of their own are not named.
func (w walker) utility(s Stmt) {
	switch s := s.(type) {
	case *Drop:
		w.node(s.Name)
	case *Describe:
		opt(w, s.Name)
		opt(w, s.Job)
	case *Show:
		opt(w, s.In)
		opt(w, s.Partition)
		opt(w, s.Like)
	case *Use:
		w.node(s.Name)
	case *UseCatalog:
		w.node(s.Name)
	case *LoadModule:
		opt(w, s.With)
	case *AddJar:
		w.node(s.Path)
	case *RemoveJar:
		w.node(s.Path)
	case *StopJob:
		w.node(s.Job)
	case *Analyze:
		w.node(s.Table)
		opt(w, s.Partition)
	}
}

func (w walker) tableElement(e TableElement) {
	switch e := e.(type) {
	case *ColumnDef:
		w.node(e.Name)
		opt(w, e.Type)
		w.node(e.Expr)
		opt(w, e.MetadataKey)
		opt(w, e.Constraint)
		opt(w, e.Comment)
		opt(w, e.Position)
	case *WatermarkDef:
		w.node(e.Column)
		w.node(e.Expr)
	case *Distribution:
		opt(w, e.Buckets)
	}
}

func (w walker) alterAction(a AlterAction) {
	switch a := a.(type) {
	case *RenameTo:
		w.node(a.Name)
	case *RenameColumn:
		w.node(a.Old)
		w.node(a.New)
	case *SetProperties:
		w.node(a.Props)
	case *ResetProperties:
		each(w, a.Keys)
	case *SetComment:
		w.node(a.Comment)
	case *AlterQuery:
		w.node(a.Query)
	case *AddElements:
		each(w, a.Elements)
	case *ModifyElements:
		each(w, a.Elements)
	case *AddPartitions:
		each(w, a.Partitions)
	case *DropPartitions:
		each(w, a.Specs)
	case *DropColumns:
		each(w, a.Columns)
	case *Compact:
		opt(w, a.Partition)
	case *Resume:
		opt(w, a.With)
	case *Refresh:
		opt(w, a.Partition)
	case *SetFreshness:
		w.node(a.Freshness)
	}
}
