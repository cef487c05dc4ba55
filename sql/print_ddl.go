package sql

// createOrAlter prints CREATE, ALTER and DROP statements but CREATE TABLE, or returns false.
func (p *printer) createOrAlter(s Stmt) bool {
	switch s := s.(type) {
	case *CreateView:
		p.createView(s)
	case *CreateCatalog:
		p.str("CREATE CATALOG ")
		p.created(s.IfNotExists, s.Name)
		p.comment(s.Comment)
		p.with(s.With)
	case *CreateDatabase:
		p.str("CREATE DATABASE ")
		p.created(s.IfNotExists, s.Name)
		p.comment(s.Comment)
		p.with(s.With)
	case *CreateFunction:
		p.createFunction(s)
	case *CreateModel:
		p.createModel(s)
	case *CreateConnection:
		p.str("CREATE ")
		p.flag(s.Temporary, "TEMPORARY ")
		p.flag(s.System, "SYSTEM ")
		p.str("CONNECTION ")
		p.created(s.IfNotExists, s.Name)
		p.comment(s.Comment)
		p.with(s.With)
	case *CreateMaterializedTable:
		p.createMaterialized(s)
	case *Drop:
		p.drop(s)
	case *AlterFunction:
		p.str("ALTER ")
		p.flag(s.Temporary, "TEMPORARY ")
		p.flag(s.System, "SYSTEM ")
		p.str("FUNCTION ")
		p.flag(s.IfExists, "IF EXISTS ")
		p.name(s.Name)
		p.str(" AS ")
		p.literal(s.Class)
		p.language(s.Language)
	case *AlterTable:
		p.alter("TABLE ", s.IfExists, s.Name, s.Action)
	case *AlterView:
		p.alter("VIEW ", false, s.Name, s.Action)
	case *AlterCatalog:
		p.alter("CATALOG ", false, s.Name, s.Action)
	case *AlterDatabase:
		p.alter("DATABASE ", false, s.Name, s.Action)
	case *AlterModel:
		p.alter("MODEL ", s.IfExists, s.Name, s.Action)
	case *AlterConnection:
		p.alter("CONNECTION ", s.IfExists, s.Name, s.Action)
	case *AlterMaterializedTable:
		p.alter("MATERIALIZED TABLE ", false, s.Name, s.Action)
	default:
		return false
	}
	return true
}

// created prints [IF NOT EXISTS] name.
func (p *printer) created(ifNotExists bool, n *Name) {
	p.flag(ifNotExists, "IF NOT EXISTS ")
	p.name(n)
}

func (p *printer) createTable(s *CreateTable) {
	switch {
	case s.Replace:
		p.str("REPLACE ")
	case s.OrReplace:
		p.str("CREATE OR REPLACE ")
	default:
		p.str("CREATE ")
	}
	p.flag(s.Temporary, "TEMPORARY ")
	p.str("TABLE ")
	p.created(s.IfNotExists, s.Name)
	p.tableBody(s.Elements, s.Comment, s.Distribution, s.PartitionBy, s.With)
	if s.Like != nil {
		p.str(" LIKE ")
		p.like(s.Like)
	}
	if s.As != nil {
		p.str(" AS ")
		p.query(s.As)
	}
}

// tableBody prints the clauses that tables and materialized tables share.
func (p *printer) tableBody(es []TableElement, comment *Literal, d *Distribution, partitionBy []Ident, with *Properties) {
	if len(es) > 0 {
		p.str(" (")
		commas(p, es, p.tableElement)
		p.str(")")
	}
	p.comment(comment)
	if d != nil {
		p.str(" DISTRIBUTED ")
		p.distribution(d)
	}
	if partitionBy != nil {
		p.str(" PARTITIONED BY ")
		p.idents(partitionBy)
	}
	p.with(with)
}

func (p *printer) tableElement(e TableElement) {
	switch e := e.(type) {
	case *ColumnDef:
		p.columnDef(e)
	case *ColumnRef:
		p.ident(e.Name)
	case *WatermarkDef:
		p.str("WATERMARK FOR ")
		p.name(e.Column)
		p.str(" AS ")
		p.expr(e.Expr)
	case *ConstraintDef:
		p.constraint(e)
	case *Distribution:
		p.str("DISTRIBUTION ")
		p.distribution(e)
	}
}

func (p *printer) columnDef(c *ColumnDef) {
	p.name(c.Name)
	if c.Kind == ComputedColumn {
		p.str(" AS ")
		p.expr(c.Expr)
	} else {
		p.str(" ")
		p.typeName(c.Type)
	}
	if c.Kind == MetadataColumn {
		p.str(" METADATA")
		if c.MetadataKey != nil {
			p.str(" FROM ")
			p.literal(c.MetadataKey)
		}
		p.flag(c.Virtual, " VIRTUAL")
	}
	if c.Constraint != nil {
		p.str(" ")
		p.constraint(c.Constraint)
	}
	p.comment(c.Comment)
	if c.Position != nil {
		p.str(" ")
		p.position(c.Position)
	}
}

func (p *printer) position(c *ColumnPosition) {
	if c.After == nil {
		p.str("FIRST")
		return
	}
	p.str("AFTER ")
	p.name(c.After)
}

func (p *printer) constraint(c *ConstraintDef) {
	if c.Name != nil {
		p.str("CONSTRAINT ")
		p.ident(*c.Name)
		p.str(" ")
	}
	if c.Unique {
		p.str("UNIQUE")
	} else {
		p.str("PRIMARY KEY")
	}
	if c.Columns != nil {
		p.str(" ")
		p.idents(c.Columns)
	}
	switch c.Enforcement {
	case Enforced:
		p.str(" ENFORCED")
	case NotEnforced:
		p.str(" NOT ENFORCED")
	}
}

func (p *printer) distribution(d *Distribution) {
	if d.Columns != nil {
		p.str("BY ")
		if d.Kind != "" {
			p.str(d.Kind, " ")
		}
		p.idents(d.Columns)
	}
	if d.Buckets != nil {
		p.flag(d.Columns != nil, " ")
		p.str("INTO ")
		p.literal(d.Buckets)
		p.str(" BUCKETS")
	}
}

func (p *printer) like(l *LikeClause) {
	p.name(l.Table)
	if len(l.Options) > 0 {
		p.str(" (")
		for i, o := range l.Options {
			p.flag(i > 0, " ")
			p.likeOption(o)
		}
		p.str(")")
	}
}

func (p *printer) likeOption(o *LikeOption) {
	switch o.Merge {
	case Including:
		p.str("INCLUDING ")
	case Excluding:
		p.str("EXCLUDING ")
	case Overwriting:
		p.str("OVERWRITING ")
	}
	p.str(o.Feature)
}

func (p *printer) createView(s *CreateView) {
	p.str("CREATE ")
	p.flag(s.OrReplace, "OR REPLACE ")
	p.flag(s.Temporary, "TEMPORARY ")
	p.str("VIEW ")
	p.created(s.IfNotExists, s.Name)
	if s.Columns != nil {
		p.str(" ")
		p.idents(s.Columns)
	}
	p.comment(s.Comment)
	p.str(" AS ")
	p.query(s.Query)
}

func (p *printer) language(l string) {
	if l != "" {
		p.str(" LANGUAGE ", l)
	}
}

func (p *printer) createFunction(s *CreateFunction) {
	p.str("CREATE ")
	p.flag(s.Temporary, "TEMPORARY ")
	p.flag(s.System, "SYSTEM ")
	p.str("FUNCTION ")
	p.created(s.IfNotExists, s.Name)
	p.str(" AS ")
	p.literal(s.Class)
	p.language(s.Language)
	if s.Using != nil {
		p.str(" USING ")
		commas(p, s.Using, p.resource)
	}
	p.with(s.With)
}

func (p *printer) resource(r *FunctionResource) {
	p.str(r.Kind, " ")
	p.literal(r.Path)
}

func (p *printer) createModel(s *CreateModel) {
	p.str("CREATE ")
	p.flag(s.Temporary, "TEMPORARY ")
	p.str("MODEL ")
	p.created(s.IfNotExists, s.Name)
	if s.Input != nil {
		p.str(" INPUT (")
		commas(p, s.Input, p.columnDef)
		p.str(")")
	}
	if s.Output != nil {
		p.str(" OUTPUT (")
		commas(p, s.Output, p.columnDef)
		p.str(")")
	}
	p.comment(s.Comment)
	p.with(s.With)
	if s.As != nil {
		p.str(" AS ")
		p.query(s.As)
	}
}

func (p *printer) createMaterialized(s *CreateMaterializedTable) {
	p.str("CREATE ")
	p.flag(s.OrAlter, "OR ALTER ")
	p.str("MATERIALIZED TABLE ")
	p.name(s.Name)
	p.tableBody(s.Elements, s.Comment, s.Distribution, s.PartitionBy, s.With)
	p.str(" FRESHNESS = ")
	p.expr(s.Freshness)
	if s.RefreshMode != "" {
		p.str(" REFRESH_MODE = ", s.RefreshMode)
	}
	p.str(" AS ")
	p.query(s.Query)
}

func (p *printer) drop(s *Drop) {
	p.str("DROP ")
	p.flag(s.Temporary, "TEMPORARY ")
	p.flag(s.System, "SYSTEM ")
	p.str(s.Object.String(), " ")
	p.flag(s.IfExists, "IF EXISTS ")
	p.name(s.Name)
	if s.Behavior != "" {
		p.str(" ", s.Behavior)
	}
}

func (p *printer) alter(kind string, ifExists bool, n *Name, a AlterAction) {
	p.str("ALTER ", kind)
	p.flag(ifExists, "IF EXISTS ")
	p.name(n)
	p.str(" ")
	p.alterAction(a)
}

// alterAction prints what an ALTER statement does.
func (p *printer) alterAction(a AlterAction) {
	switch a := a.(type) {
	case *RenameTo:
		p.str("RENAME TO ")
		p.name(a.Name)
	case *RenameColumn:
		p.str("RENAME ")
		p.name(a.Old)
		p.str(" TO ")
		p.name(a.New)
	case *SetProperties:
		p.str("SET ")
		p.properties(a.Props)
	case *ResetProperties:
		p.str("RESET (")
		commas(p, a.Keys, p.literal)
		p.str(")")
	case *SetComment:
		p.str("COMMENT ")
		p.literal(a.Comment)
	case *AlterQuery:
		p.str("AS ")
		p.query(a.Query)
	case *AddElements:
		p.str("ADD ")
		p.elements(a.Elements, a.Parens)
	case *ModifyElements:
		p.str("MODIFY ")
		p.elements(a.Elements, a.Parens)
	case *AddPartitions:
		p.str("ADD")
		p.flag(a.IfNotExists, " IF NOT EXISTS")
		for _, d := range a.Partitions {
			p.str(" ")
			p.part(d)
		}
	case *DropPartitions:
		p.str("DROP ")
		p.flag(a.IfExists, "IF EXISTS ")
		commas(p, a.Specs, p.partition)
	case *DropColumns:
		p.str("DROP ")
		if a.Parens {
			p.names(a.Columns)
		} else {
			p.name(a.Columns[0])
		}
	case *DropFeature:
		p.str("DROP ", a.Feature)
		if a.Name != nil {
			p.str(" ")
			p.ident(*a.Name)
		}
	default:
		p.refreshAction(a)
	}
}

// elements prints the elements of ADD and MODIFY.
func (p *printer) elements(es []TableElement, inParens bool) {
	p.flag(inParens, "(")
	commas(p, es, p.tableElement)
	p.flag(inParens, ")")
}

// refreshAction prints the actions of materialized tables, and COMPACT.
func (p *printer) refreshAction(a AlterAction) {
	switch a := a.(type) {
	case *Compact:
		if a.Partition != nil {
			p.partition(a.Partition)
			p.str(" ")
		}
		p.str("COMPACT")
	case *Suspend:
		p.str("SUSPEND")
	case *Resume:
		p.str("RESUME")
		p.with(a.With)
	case *Refresh:
		p.str("REFRESH")
		if a.Partition != nil {
			p.str(" ")
			p.partition(a.Partition)
		}
	case *SetFreshness:
		p.str("SET FRESHNESS = ")
		p.expr(a.Freshness)
	case *SetRefreshMode:
		p.str("SET REFRESH_MODE = ", a.Mode)
	}
}
