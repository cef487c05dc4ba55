package sql

// showForms are the forms of SHOW: the words, and what may follow them.
var showForms = []struct {
	words []string
	kind  ShowKind
	in    bool // FROM|IN name
	like  bool // [NOT] LIKE
	ilike bool // ILIKE too
}{
	{[]string{"CURRENT", "CATALOG"}, ShowCurrentCatalog, false, false, false},
	{[]string{"CURRENT", "DATABASE"}, ShowCurrentDatabase, false, false, false},
	{[]string{"CATALOGS"}, ShowCatalogs, false, true, true},
	{[]string{"DATABASES"}, ShowDatabases, true, true, true},
	{[]string{"TABLES"}, ShowTables, true, true, false},
	{[]string{"VIEWS"}, ShowViews, true, true, false},
	{[]string{"MATERIALIZED", "TABLES"}, ShowMaterializedTables, true, true, false},
	{[]string{"USER", "FUNCTIONS"}, ShowUserFunctions, true, true, true},
	{[]string{"FUNCTIONS"}, ShowFunctions, true, true, true},
	{[]string{"PROCEDURES"}, ShowProcedures, true, true, true},
	{[]string{"FULL", "MODULES"}, ShowFullModules, false, false, false},
	{[]string{"MODULES"}, ShowModules, false, false, false},
	{[]string{"MODELS"}, ShowModels, true, true, false},
	{[]string{"CONNECTIONS"}, ShowConnections, true, true, false},
	{[]string{"JARS"}, ShowJars, false, false, false},
	{[]string{"JOBS"}, ShowJobs, false, false, false},
}

// show reads SHOW in all its forms.
func (p *parser) show(start Pos) Stmt {
	at := p.i
	p.expect("SHOW")
	s := &Show{}
	switch {
	case p.accept("COLUMNS"):
		s.Kind = ShowColumns
		s.FromIn = p.oneOf("FROM", "IN")
		s.In = p.name()
		p.showLike(s, false)
	case p.accept("PARTITIONS"):
		s.Kind = ShowPartitions
		s.In = p.name()
		if p.is("PARTITION") {
			s.Partition = p.partition()
		}
	case p.accept("CREATE"):
		p.showCreate(s)
	default:
		p.showList(s, at)
	}
	s.Span = p.span(start)
	return s
}

// showList reads the forms of SHOW in showForms; at is the index of the word SHOW, which Flink's message names when there is no such
// form.
func (p *parser) showList(s *Show, at int) {
	for _, f := range showForms {
		if !p.accept(f.words[0]) {
			continue
		}
		if len(f.words) > 1 && !p.accept(f.words[1]) {
			if f.kind == ShowCurrentCatalog && p.is("DATABASE") {
				p.i--
				continue
			}
			p.unexpected()
		}
		s.Kind = f.kind
		if f.in && (p.is("FROM") || p.is("IN")) {
			s.FromIn = p.tok().word().name
			p.next()
			s.In = p.name()
		}
		if f.kind == ShowDatabases && s.In != nil && len(s.In.Parts) > 1 {
			p.fail(s.In.Span, ClassParse, "Show databases from/in identifier [ "+s.In.Dotted()+" ] format error, catalog must be a single part identifier.")
		}
		if f.like {
			p.showLike(s, f.ilike)
		}
		return
	}
	if p.noteAt < 0 {
		panic(bail{p.i})
	}
	bad := p.tok()
	e := p.encountered(at, 2, []string{aStatement})
	e.Span, e.Token = Span{bad.from, bad.to}, p.text(bad)
	e.Expected, e.Help = p.expected, nil
	p.adviseWord(bad, e, "")
	panic(e)
}

// showLike reads [NOT] LIKE|ILIKE 'pattern'.
func (p *parser) showLike(s *Show, ilike bool) {
	switch {
	case p.tok().is("NOT") && (p.at(1).is("LIKE") || p.at(1).is("ILIKE")):
		p.next()
		s.NotLike = true
	case p.is("LIKE") || ilike && p.is("ILIKE"):
	default:
		return
	}
	if ilike && p.accept("ILIKE") {
		s.ILike = true
	} else {
		p.expect("LIKE")
	}
	s.Like = p.stringLit()
}

// showCreate reads what follows SHOW CREATE.
func (p *parser) showCreate(s *Show) {
	switch {
	case p.accept("TABLE"):
		s.Kind = ShowCreateTable
	case p.accept("VIEW"):
		s.Kind = ShowCreateView
	case p.accept("CATALOG"):
		s.Kind = ShowCreateCatalog
		s.In = p.simpleName()
		return
	case p.accept("MODEL"):
		s.Kind = ShowCreateModel
	case p.accept("CONNECTION"):
		s.Kind = ShowCreateConnection
	case p.acceptAll("OR", "ALTER"):
		s.OrAlter = true
		fallthrough
	default:
		p.expect("MATERIALIZED", "TABLE")
		s.Kind = ShowCreateMaterializedTable
	}
	s.In = p.name()
}

// describe reads DESCRIBE and DESC.
func (p *parser) describe(start Pos) Stmt {
	p.next()
	s := &Describe{Object: ObjectTable}
	next := p.at(1)
	named := next.kind == tIdent || next.kind == tQuoted
	switch t := p.tok(); {
	case t.is("JOB") && next.kind == tString:
		p.next()
		s.Object, s.Job = ObjectJob, p.stringLit()
		s.Span = p.span(start)
		return s
	case t.is("CATALOG") && named:
		s.Object = ObjectCatalog
	case t.is("DATABASE") && named:
		s.Object = ObjectDatabase
	case t.is("FUNCTION"):
		s.Object = ObjectFunction
	case t.is("MODEL"):
		s.Object = ObjectModel
	case t.is("CONNECTION") && named:
		s.Object = ObjectConnection
	}
	if s.Object != ObjectTable {
		p.next()
	}
	s.Extended = p.accept("EXTENDED")
	switch s.Object {
	case ObjectCatalog:
		s.Name = p.simpleName()
	case ObjectFunction:
		s.Name = p.functionName()
	default:
		s.Name = p.name()
	}
	s.Span = p.span(start)
	return s
}

// functionName reads the name of a function, which may be one of the reserved words that name functions.
func (p *parser) functionName() *Name {
	if t := p.tok(); t.word() != nil && t.word().reserved && (t.word().callable || t.word().form || t.word().noParen) {
		p.next()
		return nameOf(Ident{Span: Span{t.from, t.to}, Name: p.text(t)})
	}
	return p.name()
}
