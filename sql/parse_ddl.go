package sql

// create reads CREATE and REPLACE statements.
func (p *parser) create(start Pos) Stmt {
	replace := p.accept("REPLACE")
	orReplace, orAlter := false, false
	if !replace {
		p.expect("CREATE")
		if p.accept("OR") {
			if orAlter = p.accept("ALTER"); !orAlter {
				p.expect("REPLACE")
				orReplace = true
			}
		}
	}
	if orAlter {
		p.expect("MATERIALIZED", "TABLE")
		return p.createMaterialized(start, true)
	}
	sysTok := p.tok()
	temporary := p.accept("TEMPORARY")
	if temporary {
		sysTok = p.tok()
	}
	system := !replace && !orReplace && p.accept("SYSTEM")
	if system && !temporary && p.tok().is("FUNCTION") {
		p.fail(Span{sysTok.from, sysTok.to}, ClassParse, "CREATE SYSTEM FUNCTION is not supported, system functions can only be registered as temporary function, you can use CREATE TEMPORARY SYSTEM FUNCTION instead.")
	}
	if system {
		switch {
		case p.accept("FUNCTION"):
			return p.createFunction(start, temporary, true)
		case p.accept("CONNECTION"):
			return p.createConnection(start, temporary, true)
		}
		p.unexpected()
	}
	switch {
	case p.accept("TABLE"):
		return p.createTable(&CreateTable{Temporary: temporary, Replace: replace, OrReplace: orReplace}, start)
	case !replace && p.accept("VIEW"):
		return p.createView(&CreateView{Temporary: temporary, OrReplace: orReplace}, start)
	case p.tok().is("MATERIALIZED"):
		t := p.tok()
		switch {
		case temporary:
			p.fail(Span{t.from, t.to}, ClassParse, "CREATE TEMPORARY MATERIALIZED TABLE is not supported.")
		case replace || orReplace:
			p.fail(Span{t.from, t.to}, ClassParse, "REPLACE MATERIALIZED TABLE is not supported.")
		}
		p.next()
		p.expect("TABLE")
		return p.createMaterialized(start, false)
	}
	if replace || orReplace {
		p.unexpected()
	}
	switch {
	case p.accept("FUNCTION"):
		return p.createFunction(start, temporary, false)
	case p.accept("MODEL"):
		return p.createModel(start, temporary)
	case p.accept("CONNECTION"):
		return p.createConnection(start, temporary, false)
	case !temporary && p.accept("CATALOG"):
		s := &CreateCatalog{IfNotExists: p.ifNotExists(), Name: p.simpleName(), Comment: p.comment(), With: p.with()}
		s.Span = p.span(start)
		return s
	case !temporary && p.accept("DATABASE"):
		s := &CreateDatabase{IfNotExists: p.ifNotExists(), Name: p.name(), Comment: p.comment(), With: p.with()}
		s.Span = p.span(start)
		return s
	}
	p.unexpected()
	return nil
}

// createTable reads the rest of CREATE TABLE.
func (p *parser) createTable(s *CreateTable, start Pos) Stmt {
	p.bareAt = 0
	s.IfNotExists = p.ifNotExists()
	s.Name = p.name()
	if p.isOp(tLParen) {
		s.Elements = p.tableElements()
	}
	s.Comment = p.comment()
	if p.accept("DISTRIBUTED") {
		s.Distribution = p.distribution()
	}
	if p.accept("PARTITIONED") {
		p.expect("BY")
		s.PartitionBy = p.idents()
	}
	s.With = p.with()
	switch {
	case p.accept("LIKE"):
		s.Like = p.likeClause()
	case p.accept("AS"):
		s.As = p.query()
	case s.Replace || s.OrReplace:
		p.unexpected()
	}
	if s.As == nil && p.bareAt > 0 { // a column without a type, and no query that gives it one
		p.unexpectedAs(p.bareAt, 1, "a type behind "+p.text(&p.toks[p.bareAt-1]))
	}
	s.Span = p.span(start)
	return s
}

// tableElements reads the elements of CREATE TABLE in parentheses and checks what Flink's parser checks of them.
func (p *parser) tableElements() []TableElement {
	es := parens(p, func() TableElement { return p.tableElement(false) })
	var watermark, key bool
	for _, e := range es {
		switch e := e.(type) {
		case *WatermarkDef:
			if watermark {
				p.fail(e.Span, ClassParse, "Multiple WATERMARK statements is not supported yet.")
			}
			watermark = true
		case *ConstraintDef:
			key = p.checkConstraint(e, key)
		case *ColumnDef:
			if e.Constraint != nil {
				key = p.checkConstraint(e.Constraint, key)
			}
		}
	}
	return es
}

// checkConstraint refuses what Flink does not know of constraints; key tells that there was a primary key before.
func (p *parser) checkConstraint(c *ConstraintDef, key bool) bool {
	switch {
	case c.Unique:
		p.fail(c.Span, ClassValidate, "UNIQUE constraint is not supported yet")
	case key:
		p.fail(c.Span, ClassValidate, "Duplicate primary key definition")
	case c.Enforcement != NotEnforced:
		p.fail(c.Span, ClassValidate, "Flink doesn't support ENFORCED mode for PRIMARY KEY constraint. ENFORCED/NOT ENFORCED controls if the constraint checks are performed on the incoming/outgoing data. Flink does not own the data therefore the only supported mode is the NOT ENFORCED mode",
			"write NOT ENFORCED behind the constraint")
	}
	return true
}

// tableElement reads a column, a watermark, a constraint, or, in ALTER TABLE, a distribution.
func (p *parser) tableElement(alter bool) TableElement {
	switch t := p.tok(); {
	case p.is("WATERMARK"):
		p.next()
		p.expect("FOR")
		w := &WatermarkDef{Column: p.name()}
		p.expect("AS")
		w.Expr = p.expr()
		w.Span = p.span(t.from)
		return w
	case p.is("CONSTRAINT") || p.is("PRIMARY") || p.is("UNIQUE"):
		c := p.constraint()
		c.Columns = p.idents()
		p.enforcement(c)
		c.Span = p.span(t.from)
		return c
	case alter && p.accept("DISTRIBUTION"):
		d := p.distribution()
		d.Span = p.span(t.from)
		return d
	}
	return p.columnDef(alter)
}

// constraint reads [CONSTRAINT name] PRIMARY KEY|UNIQUE.
func (p *parser) constraint() *ConstraintDef {
	c := &ConstraintDef{}
	if p.accept("CONSTRAINT") {
		id := p.ident()
		c.Name = &id
	}
	if p.accept("UNIQUE") {
		c.Unique = true
	} else {
		p.expect("PRIMARY", "KEY")
	}
	return c
}

func (p *parser) enforcement(c *ConstraintDef) {
	switch {
	case p.accept("ENFORCED"):
		c.Enforcement = Enforced
	case p.accept("NOT"):
		p.expect("ENFORCED")
		c.Enforcement = NotEnforced
	}
}

// columnDef reads a column in all its forms.
func (p *parser) columnDef(alter bool) TableElement {
	start := p.pos()
	c := &ColumnDef{Name: p.name(), Kind: PhysicalColumn}
	if k := p.tok().kind; !alter && len(c.Name.Parts) == 1 && (k == tComma || k == tRParen) {
		if p.bareAt == 0 {
			p.bareAt = p.i
		}
		return &ColumnRef{Span: p.span(start), Name: c.Name.Parts[0]}
	}
	if p.accept("AS") {
		c.Kind = ComputedColumn
		c.Expr = p.expr()
	} else {
		c.Type = p.columnType()
		p.columnSuffix(c)
	}
	c.Comment = p.comment()
	if alter {
		c.Position = p.columnPosition()
	}
	c.Span = p.span(start)
	return c
}

// columnSuffix reads METADATA or a constraint behind the type of a column.
func (p *parser) columnSuffix(c *ColumnDef) {
	if p.accept("METADATA") {
		c.Kind = MetadataColumn
		if p.accept("FROM") {
			c.MetadataKey = p.stringLit()
		}
		c.Virtual = p.accept("VIRTUAL")
		return
	}
	if p.is("CONSTRAINT") || p.is("PRIMARY") || p.is("UNIQUE") {
		start := p.pos()
		c.Constraint = p.constraint()
		p.enforcement(c.Constraint)
		c.Constraint.Span = p.span(start)
	}
}

// columnPosition reads FIRST or AFTER name, if it is there.
func (p *parser) columnPosition() *ColumnPosition {
	start := p.pos()
	switch {
	case p.accept("FIRST"):
		return &ColumnPosition{Span: p.span(start)}
	case p.accept("AFTER"):
		c := &ColumnPosition{After: p.name()}
		c.Span = p.span(start)
		return c
	}
	return nil
}

// distribution reads what follows DISTRIBUTED or DISTRIBUTION.
func (p *parser) distribution() *Distribution {
	start := p.pos()
	d := &Distribution{}
	if p.accept("BY") {
		if p.accept("HASH") {
			d.Kind = "HASH"
		} else if p.accept("RANGE") {
			d.Kind = "RANGE"
		}
		d.Columns = p.idents()
		if p.accept("INTO") {
			d.Buckets = p.buckets()
		}
	} else {
		p.expect("INTO")
		d.Buckets = p.buckets()
	}
	d.Span = p.span(start)
	return d
}

func (p *parser) buckets() *Literal {
	p.note(aNumber)
	if p.tok().kind != tInteger {
		p.unexpected()
	}
	n, _ := p.primary().(*Literal)
	p.expect("BUCKETS")
	return n
}

// likeFeatures are the features of LIKE options.
var likeFeatures = []string{"ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS"}

// likeClause reads what follows LIKE in CREATE TABLE.
func (p *parser) likeClause() *LikeClause {
	start := p.pos()
	l := &LikeClause{Table: p.name()}
	if p.acceptOp(tLParen) {
		seen := map[string]bool{}
		for first := true; first || !p.isOp(tRParen); first = false {
			o := p.likeOption()
			if seen[o.Feature] {
				p.fail(o.Span, ClassValidate, "Each like option feature can be declared only once.")
			}
			seen[o.Feature] = true
			l.Options = append(l.Options, o)
		}
		p.expectOp(tRParen)
	}
	l.Span = p.span(start)
	return l
}

func (p *parser) likeOption() *LikeOption {
	start := p.pos()
	o := &LikeOption{}
	switch p.oneOf("INCLUDING", "EXCLUDING", "OVERWRITING") {
	case "INCLUDING":
		o.Merge = Including
	case "EXCLUDING":
		o.Merge = Excluding
	case "OVERWRITING":
		o.Merge = Overwriting
	}
	o.Feature = p.oneOf(likeFeatures...)
	o.Span = p.span(start)
	if o.Merge == Overwriting {
		switch o.Feature {
		case "ALL", "CONSTRAINTS", "DISTRIBUTION", "PARTITIONS":
			p.fail(o.Span, ClassValidate, "Illegal merging strategy 'OVERWRITING' for '"+o.Feature+"' option.")
		}
	}
	return o
}

func (p *parser) createView(s *CreateView, start Pos) Stmt {
	s.IfNotExists = p.ifNotExists()
	s.Name = p.name()
	if p.isOp(tLParen) {
		s.Columns = p.idents()
	}
	s.Comment = p.comment()
	p.expect("AS")
	s.Query = p.query()
	s.Span = p.span(start)
	return s
}

// language reads LANGUAGE and its word, if they are there.
func (p *parser) language() string {
	if !p.accept("LANGUAGE") {
		return ""
	}
	return p.oneOf("JAVA", "SCALA", "SQL", "PYTHON")
}

func (p *parser) createFunction(start Pos, temporary, system bool) Stmt {
	s := &CreateFunction{Temporary: temporary, System: system, IfNotExists: p.ifNotExists()}
	if system {
		s.Name = p.simpleName()
	} else {
		s.Name = p.name()
	}
	p.expect("AS")
	s.Class = p.stringLit()
	s.Language = p.language()
	if at := p.tok(); p.accept("USING") {
		s.Using = list(p, p.resource)
		if s.Language == "SQL" || s.Language == "PYTHON" {
			p.fail(p.span(at.from), ClassParse, "CREATE FUNCTION USING JAR syntax is not applicable to "+s.Language+" language.")
		}
	}
	s.With = p.with()
	s.Span = p.span(start)
	return s
}

// resource reads JAR 'path' and its kin.
func (p *parser) resource() *FunctionResource {
	start := p.pos()
	r := &FunctionResource{Kind: p.oneOf("JAR", "FILE", "ARCHIVE", "ARTIFACT")}
	r.Path = p.stringLit()
	r.Span = p.span(start)
	return r
}

func (p *parser) createModel(start Pos, temporary bool) Stmt {
	s := &CreateModel{Temporary: temporary, IfNotExists: p.ifNotExists(), Name: p.name()}
	columns := func() []*ColumnDef {
		return parens(p, func() *ColumnDef {
			at := p.pos()
			c := &ColumnDef{Name: p.simpleName(), Kind: PhysicalColumn, Type: p.columnType(), Comment: p.comment()}
			c.Span = p.span(at)
			return c
		})
	}
	if p.accept("INPUT") {
		s.Input = columns()
	}
	if p.accept("OUTPUT") {
		s.Output = columns()
	}
	s.Comment = p.comment()
	s.With = p.with()
	if p.accept("AS") {
		s.As = p.query()
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) createConnection(start Pos, temporary, system bool) Stmt {
	s := &CreateConnection{Temporary: temporary, System: system, IfNotExists: p.ifNotExists(), Name: p.name(), Comment: p.comment()}
	p.expect("WITH")
	s.With = p.properties()
	s.Span = p.span(start)
	return s
}

// createMaterialized reads the rest of CREATE [OR ALTER] MATERIALIZED TABLE.
func (p *parser) createMaterialized(start Pos, orAlter bool) Stmt {
	s := &CreateMaterializedTable{OrAlter: orAlter, Name: p.name()}
	if p.isOp(tLParen) {
		s.Elements = p.tableElements()
	}
	s.Comment = p.comment()
	if p.accept("DISTRIBUTED") {
		s.Distribution = p.distribution()
	}
	if p.accept("PARTITIONED") {
		p.expect("BY")
		s.PartitionBy = p.idents()
	}
	s.With = p.with()
	p.expect("FRESHNESS")
	s.Freshness = p.freshness()
	if p.accept("REFRESH_MODE") {
		p.expectOp(tEq)
		s.RefreshMode = p.oneOf("FULL", "CONTINUOUS")
	}
	p.expect("AS")
	s.Query = p.query()
	s.Span = p.span(start)
	return s
}

// freshness reads = interval.
func (p *parser) freshness() Expr {
	p.expectOp(tEq)
	x := p.expr()
	if _, ok := x.(*IntervalLit); !ok {
		p.fail(Span{x.Pos(), x.End()}, ClassParse, "MATERIALIZED TABLE only supports define interval type FRESHNESS, please refer to the materialized table document.",
			"write FRESHNESS = INTERVAL '1' MINUTE")
	}
	return x
}

// dropKinds are the words of the objects that DROP knows.
var dropKinds = []struct {
	word string
	kind ObjectKind
}{
	{"TABLE", ObjectTable}, {"VIEW", ObjectView}, {"FUNCTION", ObjectFunction}, {"CATALOG", ObjectCatalog}, {"DATABASE", ObjectDatabase},
	{"MODEL", ObjectModel}, {"CONNECTION", ObjectConnection},
}

func (p *parser) drop(start Pos) Stmt {
	p.expect("DROP")
	s := &Drop{}
	s.Temporary = p.accept("TEMPORARY")
	s.System = p.accept("SYSTEM")
	if t := p.tok(); p.accept("MATERIALIZED") {
		if s.Temporary {
			p.fail(Span{t.from, t.to}, ClassParse, "DROP TEMPORARY MATERIALIZED TABLE is not supported.")
		}
		p.expect("TABLE")
		s.Object = ObjectMaterializedTable
	}
	for _, k := range dropKinds {
		switch {
		case s.Object != 0:
		case s.Temporary && (k.kind == ObjectCatalog || k.kind == ObjectDatabase):
		case s.System && k.kind != ObjectFunction && k.kind != ObjectConnection:
		case p.accept(k.word):
			s.Object = k.kind
		}
	}
	if s.Object == 0 {
		p.unexpected()
	}
	s.IfExists = p.ifExists()
	s.Name = p.name()
	if s.Object == ObjectDatabase {
		if p.accept("RESTRICT") {
			s.Behavior = "RESTRICT"
		} else if p.accept("CASCADE") {
			s.Behavior = "CASCADE"
		}
	}
	s.Span = p.span(start)
	return s
}
