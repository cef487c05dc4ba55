package sql

import "strings"

// statementWords are the words that begin statements, for completion and for messages.
var statementWords = []string{
	"ADD", "ALTER", "ANALYZE", "BEGIN", "CALL", "CLEAR", "COMPILE", "CREATE", "DELETE", "DESC", "DESCRIBE", "DROP", "END", "EXECUTE", "EXIT",
	"EXPLAIN", "HELP", "INSERT", "LOAD", "MERGE", "QUIT", "REMOVE", "REPLACE", "RESET", "SELECT", "SET", "SHOW", "STOP", "TABLE", "TRUNCATE",
	"UNLOAD", "UPDATE", "UPSERT", "USE", "VALUES", "WITH",
}

// StatementWords returns the words that a statement may begin with, sorted, in upper case.
func StatementWords() []string { return append([]string(nil), statementWords...) }

// statement reads one statement without the semicolon behind it.
func (p *parser) statement() Stmt {
	p.note(aStatement)
	t := p.tok()
	if t.kind == tLParen || p.startsQuery() {
		return p.query()
	}
	if t.word() == nil {
		p.nonQuery(statementWords)
	}
	start := t.from
	switch t.word().name {
	case "CREATE", "REPLACE":
		return p.create(start)
	case "ALTER":
		return p.alter(start)
	case "DROP":
		return p.drop(start)
	case "INSERT", "UPSERT":
		return p.insert(start)
	case "UPDATE":
		return p.update(start)
	case "DELETE":
		return p.delete(start)
	case "MERGE":
		return p.merge(start)
	case "EXECUTE":
		return p.execute(start)
	case "EXPLAIN":
		return p.explain(start)
	case "SHOW":
		return p.show(start)
	case "DESCRIBE", "DESC":
		return p.describe(start)
	case "SET", "RESET":
		return p.setReset(start, t.word().name)
	}
	return p.utility(start, t.word().name)
}

// utility reads the short statements.
func (p *parser) utility(start Pos, w string) Stmt {
	switch w {
	case "TRUNCATE":
		if p.at(1).is("TABLE") {
			p.i += 2
			s := &Truncate{Table: p.name()}
			s.Span = p.span(start)
			return s
		}
	case "BEGIN":
		p.follows("STATEMENT")
		p.expect("BEGIN", "STATEMENT", "SET")
		return &BeginStatementSet{p.span(start)}
	case "END":
		p.next()
		return &EndStatementSet{p.span(start)}
	case "USE":
		return p.use(start)
	case "LOAD":
		p.pair("LOAD", "MODULE")
		s := &LoadModule{Name: p.ident(), With: p.with()}
		s.Span = p.span(start)
		return s
	case "UNLOAD":
		p.pair("UNLOAD", "MODULE")
		s := &UnloadModule{Name: p.ident()}
		s.Span = p.span(start)
		return s
	case "ADD":
		p.pair("ADD", "JAR")
		s := &AddJar{Path: p.stringLit()}
		s.Span = p.span(start)
		return s
	case "REMOVE":
		p.pair("REMOVE", "JAR")
		s := &RemoveJar{Path: p.stringLit()}
		s.Span = p.span(start)
		return s
	case "STOP":
		return p.stopJob(start)
	case "CALL":
		p.next()
		c, _ := p.call(p.name()).(*FuncCall)
		return &Call{Span: p.span(start), Call: c}
	case "ANALYZE":
		return p.analyze(start)
	case "COMPILE":
		return p.compile(start)
	case "HELP", "QUIT", "EXIT", "CLEAR":
		if k := p.at(1).kind; k == tEOF || k == tSemicolon {
			p.next()
			return &ClientCommand{Span: p.span(start), Word: w}
		}
	}
	p.nonQuery(statementWords)
	return nil
}

// pair passes two words that only together begin a statement.
func (p *parser) pair(first, second string) {
	if !p.at(1).is(second) {
		p.nonQuery([]string{first + " " + second})
	}
	p.i += 2
}

// nonQuery gives up at something that begins neither a statement nor a query. What is at least an expression gets Flink's message for
// it; begin are the words that might have stood there.
func (p *parser) nonQuery(begin []string) {
	t := p.tok()
	x := p.expr()
	what := "query"
	if len(begin) != len(queryWords) {
		what = "statement"
	}
	help := "a " + what + " is needed here"
	if word := p.text(t); len(begin) == 1 {
		help = "the statement begins with " + begin[0]
	} else if t.kind == tIdent {
		help = "no " + what + " begins with " + word
		if near := nearest(strings.ToUpper(word), begin); near != "" {
			help += "; did you mean " + near + "?"
		}
	}
	p.fail(Span{x.Pos(), t.to}, ClassCalcite, "Non-query expression encountered in illegal context", help)
}

// insert reads INSERT INTO|OVERWRITE and UPSERT INTO.
func (p *parser) insert(start Pos) *Insert {
	s := &Insert{}
	switch {
	case p.accept("UPSERT"):
		s.Upsert = true
		p.expect("INTO")
	default:
		p.expect("INSERT")
		if s.Overwrite = p.accept("OVERWRITE"); !s.Overwrite {
			p.expect("INTO")
		}
	}
	s.Table = p.name()
	s.Hints = p.hints()
	if p.is("PARTITION") {
		s.Partition = p.partition()
	}
	if p.isOp(tLParen) && !p.queryFollows(0) {
		s.Columns = parens(p, p.name)
	}
	s.Query = p.query()
	if p.acceptAll("ON", "CONFLICT") {
		p.expect("DO")
		s.OnConflict = p.oneOf("ERROR", "NOTHING", "DEDUPLICATE")
	}
	s.Span = p.span(start)
	return s
}

// oneOf reads one of the words ws.
func (p *parser) oneOf(ws ...string) string {
	for _, w := range ws {
		if p.accept(w) {
			return w
		}
	}
	p.unexpected()
	return ""
}

// rowAlias reads [AS] name behind the table of UPDATE, DELETE and MERGE.
func (p *parser) rowAlias() *Ident {
	if p.accept("AS") || p.isIdent() {
		id := p.identAs(aTableAlias)
		return &id
	}
	return nil
}

func (p *parser) update(start Pos) Stmt {
	p.expect("UPDATE")
	s := &Update{Table: p.name(), Hints: p.hints(), Alias: p.rowAlias()}
	p.expect("SET")
	s.Set = list(p, p.assignment)
	if p.accept("WHERE") {
		s.Where = p.expr()
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) assignment() *Assignment {
	start := p.pos()
	a := &Assignment{Column: p.name()}
	p.expectOp(tEq)
	a.Value = p.rowItem()
	a.Span = p.span(start)
	return a
}

func (p *parser) delete(start Pos) Stmt {
	p.expect("DELETE", "FROM")
	s := &Delete{Table: p.name(), Hints: p.hints(), Alias: p.rowAlias()}
	if p.accept("WHERE") {
		s.Where = p.expr()
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) merge(start Pos) Stmt {
	p.expect("MERGE", "INTO")
	s := &Merge{Table: p.name(), Hints: p.hints(), Alias: p.rowAlias()}
	p.expect("USING")
	s.Source = p.tableRef()
	p.expect("ON")
	s.On = p.expr()
	for first := true; first || p.is("WHEN"); first = false {
		p.expect("WHEN")
		if s.Update == nil && s.InsertValues == nil && p.accept("MATCHED") {
			p.expect("THEN", "UPDATE", "SET")
			s.Update = list(p, p.assignment)
			continue
		}
		if s.InsertValues != nil {
			p.unexpected()
		}
		p.expect("NOT", "MATCHED", "THEN", "INSERT")
		if p.isOp(tLParen) {
			s.InsertColumns = parens(p, p.name)
		}
		s.InsertValues = p.values()
	}
	s.Span = p.span(start)
	return s
}

// statementSet reads STATEMENT SET BEGIN (insert ;)+ END.
func (p *parser) statementSet(start Pos) *StatementSet {
	p.expect("STATEMENT", "SET", "BEGIN")
	s := &StatementSet{}
	for first := true; first || !p.is("END"); first = false {
		if !p.is("INSERT") && !p.is("UPSERT") {
			p.unexpected()
		}
		s.Stmts = append(s.Stmts, p.insert(p.pos()))
		p.expectOp(tSemicolon)
	}
	p.expect("END")
	s.Span = p.span(start)
	return s
}

// follows gives up at the current token unless the word w follows it.
func (p *parser) follows(w string) {
	if !p.at(1).is(w) {
		p.unexpectedAs(p.i, 2, aStatement)
	}
}

func (p *parser) execute(start Pos) Stmt {
	at := p.i
	p.expect("EXECUTE")
	switch {
	case p.is("STATEMENT"):
		return p.statementSet(start)
	case p.is("INSERT") || p.is("UPSERT"):
		return p.insert(start)
	case p.tok().is("PLAN"):
		p.next()
		s := &ExecutePlan{Path: p.stringLit()}
		s.Span = p.span(start)
		return s
	}
	if !p.startsExpr() && !p.startsQuery() {
		p.unexpectedAs(at, 2, aStatement)
	}
	s := &Execute{Query: p.query()}
	s.Span = p.span(start)
	return s
}

func (p *parser) explain(start Pos) Stmt {
	p.expect("EXPLAIN")
	s := &Explain{}
	if p.acceptAll("PLAN", "FOR") {
		s.PlanFor = true
	} else if d, ok := p.explainDetail(); ok {
		s.Details = []ExplainDetail{d}
		for p.acceptOp(tComma) {
			at := p.tok()
			d, ok := p.explainDetail()
			if !ok {
				p.unexpected()
			}
			for _, e := range s.Details {
				if e == d {
					p.fail(Span{at.from, at.to}, ClassParse, "Duplicate EXPLAIN DETAIL is not allowed.")
				}
			}
			s.Details = append(s.Details, d)
		}
	}
	t := p.tok()
	switch {
	case p.is("STATEMENT"):
		s.Stmt = p.statementSet(t.from)
	case p.is("INSERT") || p.is("UPSERT"):
		s.Stmt = p.insert(t.from)
	case t.is("EXECUTE") && !p.at(1).is("PLAN"):
		s.Stmt = p.execute(t.from)
	case t.is("CREATE") || t.is("REPLACE"):
		at := p.i
		c, ok := p.create(t.from).(*CreateTable)
		if !ok || c.As == nil {
			p.i = at
			p.note(aQuery)
			p.unexpected()
		}
		s.Stmt = c
	default:
		s.Stmt = p.query()
	}
	s.Span = p.span(start)
	return s
}

// explainDetail reads a detail of EXPLAIN, if it is there.
func (p *parser) explainDetail() (ExplainDetail, bool) {
	for _, d := range []ExplainDetail{EstimatedCost, ChangelogMode, JSONExecutionPlan, PlanAdvice} {
		if p.accept(string(d)) {
			return d, true
		}
	}
	return "", false
}

func (p *parser) use(start Pos) Stmt {
	if next := p.at(1); next.kind != tIdent && next.kind != tQuoted || next.word() != nil && next.word().reserved && !next.is("MODULES") {
		p.unexpectedAs(p.i, 2, aStatement)
	}
	p.expect("USE")
	switch t, next := p.tok(), p.at(1); {
	case t.is("CATALOG") && next.kind != tDot && next.kind != tEOF && next.kind != tSemicolon:
		p.next()
		s := &UseCatalog{Name: p.simpleName()}
		s.Span = p.span(start)
		return s
	case t.is("MODULES"):
		p.next()
		s := &UseModules{Names: list(p, p.ident)}
		s.Span = p.span(start)
		return s
	}
	s := &Use{Name: p.name()}
	s.Span = p.span(start)
	return s
}

func (p *parser) stopJob(start Pos) Stmt {
	p.pair("STOP", "JOB")
	s := &StopJob{Job: p.stringLit()}
	if p.acceptAll("WITH", "SAVEPOINT") {
		s.Savepoint = true
	}
	if at := p.tok(); p.acceptAll("WITH", "DRAIN") {
		s.Drain = true
		if !s.Savepoint {
			p.fail(p.span(at.from), ClassParse, "WITH DRAIN could only be used after WITH SAVEPOINT.", "write WITH SAVEPOINT WITH DRAIN")
		}
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) analyze(start Pos) Stmt {
	p.pair("ANALYZE", "TABLE")
	s := &Analyze{Table: p.name()}
	if p.is("PARTITION") {
		s.Partition = p.partition()
	}
	p.expect("COMPUTE", "STATISTICS")
	if p.accept("FOR") {
		if p.accept("COLUMNS") {
			s.Columns = list(p, p.ident)
		} else {
			p.expect("ALL", "COLUMNS")
			s.AllColumns = true
		}
	}
	s.Span = p.span(start)
	return s
}

// compile reads COMPILE [AND EXECUTE] PLAN.
func (p *parser) compile(start Pos) Stmt {
	p.expect("COMPILE")
	s := &CompilePlan{Execute: p.acceptAll("AND", "EXECUTE")}
	p.expect("PLAN")
	s.Path = p.stringLit()
	if !s.Execute {
		s.IfNotExists = p.ifNotExists()
	}
	p.expect("FOR")
	if p.is("STATEMENT") {
		s.Stmt = p.statementSet(p.pos())
	} else {
		if !p.is("INSERT") && !p.is("UPSERT") {
			p.unexpected()
		}
		s.Stmt = p.insert(p.pos())
	}
	s.Span = p.span(start)
	return s
}

// setReset reads SET and RESET in their quoted and unquoted forms.
func (p *parser) setReset(start Pos, w string) Stmt {
	p.next()
	t := p.tok()
	if t.kind == tEOF || t.kind == tSemicolon {
		if w == "SET" {
			return &Set{Span: p.span(start)}
		}
		return &Reset{Span: p.span(start)}
	}
	if t.kind != tString && t.kind != tOpenString {
		return p.rawSetReset(start, w)
	}
	key := p.plainString()
	if w == "RESET" {
		return &Reset{Span: p.span(start), HasKey: true, Key: key.Text}
	}
	p.expectOp(tEq)
	value := p.plainString()
	return &Set{Span: p.span(start), HasKey: true, Key: key.Text, Value: value.Text, ValuePos: value.From}
}

// rawSetReset reads SET key = value, SET key = 'value' and RESET key, where the key has neither quotes nor blanks, and the value
// neither blanks nor a semicolon. The tokens of the lexer mean nothing there; the text itself is read.
func (p *parser) rawSetReset(start Pos, w string) Stmt {
	first := p.i
	from := int(p.pos().Offset)
	keyEnd, valueFrom, valueTo := rawOption(p.src[from:], w == "SET")
	if keyEnd == 0 || w == "SET" && valueFrom == 0 {
		p.unexpectedAs(p.i, 1, "'key' = 'value'")
	}
	end := keyEnd
	if w == "SET" {
		end = valueTo
	}
	// Go on behind the option, whatever tokens its text was taken for.
	rest := strings.TrimLeft(p.src[from+end:], " \t\r\n\f;")
	if rest != "" && !strings.HasPrefix(rest, "--") && !strings.HasPrefix(rest, "/*") {
		l := newLexer(p.src)
		l.advance(len(p.src) - len(rest))
		at := l.pos()
		e := p.encountered(p.i, 1, nil)
		e.Span, e.Help = Span{at, at}, []string{"a value with blanks or quotes is written in single quotes: SET 'key' = 'value'"}
		panic(e)
	}
	l := newLexer(p.src)
	l.advance(from + end)
	to := l.pos()
	p.toks = append(p.toks[:first:first], token{kind: tEOF, from: to, to: to})
	key := p.src[from : from+keyEnd]
	if w == "RESET" {
		return &Reset{Span: Span{start, to}, HasKey: true, Key: key}
	}
	value := p.src[from+valueFrom : from+valueTo]
	if value[0] == '\'' {
		value = value[1 : len(value)-1]
	}
	l = newLexer(p.src)
	l.advance(from + valueFrom)
	return &Set{Span: Span{start, to}, HasKey: true, Key: key, Value: value, ValuePos: l.pos()}
}

// rawOption finds key and value of an unquoted option at the beginning of s. keyEnd is 0 without a key, valueFrom 0 without a value;
// a quoted value keeps its quotes.
func rawOption(s string, hasValue bool) (keyEnd, valueFrom, valueTo int) {
	const blanks = " \t\r\n\f"
	run := strings.IndexAny(s, blanks+"';")
	if run < 0 {
		run = len(s)
	}
	if !hasValue {
		return run, 0, 0
	}
	// The key ends at the last "=" of the run that has a value behind it, or at the end of the run.
	rest := strings.TrimLeft(s[run:], blanks)
	if strings.HasPrefix(rest, "=") {
		keyEnd = run
		valueFrom = len(s) - len(strings.TrimLeft(rest[1:], blanks))
	} else if eq := strings.LastIndexByte(strings.TrimRight(s[:run], "="), '='); eq > 0 && eq+1 < run {
		keyEnd, valueFrom = eq, eq+1
	} else if eq := strings.LastIndexByte(s[:run], '='); eq > 0 && eq+1 == run && rest != "" && rest[0] != ';' {
		keyEnd = eq
		valueFrom = len(s) - len(rest)
	} else {
		return run, 0, 0
	}
	v := s[valueFrom:]
	if strings.HasPrefix(v, "'") {
		n := strings.IndexByte(v[1:], '\'')
		if n < 0 {
			return keyEnd, 0, 0
		}
		return keyEnd, valueFrom, valueFrom + n + 2
	}
	n := strings.IndexAny(v, blanks+";")
	if n < 0 {
		n = len(v)
	}
	if n == 0 {
		return keyEnd, 0, 0
	}
	return keyEnd, valueFrom, valueFrom + n
}
