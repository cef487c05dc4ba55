package sql

// simpleTypes are the types of one word with the spelling that [TypeName.Name] uses and the greatest number of parameters.
var simpleTypes = map[string]struct {
	name   string
	params int
}{
	"BOOLEAN": {"BOOLEAN", 0}, "TINYINT": {"TINYINT", 0}, "SMALLINT": {"SMALLINT", 0}, "INT": {"INTEGER", 0}, "INTEGER": {"INTEGER", 0},
	"BIGINT": {"BIGINT", 0}, "FLOAT": {"FLOAT", 0}, "REAL": {"REAL", 0}, "DOUBLE": {"DOUBLE", 0}, "DECIMAL": {"DECIMAL", 2},
	"DEC": {"DECIMAL", 2}, "NUMERIC": {"DECIMAL", 2}, "CHAR": {"CHAR", 1}, "CHARACTER": {"CHAR", 1}, "VARCHAR": {"VARCHAR", 1},
	"STRING": {"STRING", 0}, "BINARY": {"BINARY", 1}, "VARBINARY": {"VARBINARY", 1}, "BYTES": {"BYTES", 0}, "DATE": {"DATE", 0},
	"TIME": {"TIME", 1}, "TIMESTAMP": {"TIMESTAMP", 1}, "TIMESTAMP_LTZ": {"TIMESTAMP_LTZ", 1}, "VARIANT": {"VARIANT", 0},
	"BITMAP": {"BITMAP", 0},
}

// castType reads the type of CAST and RETURNING, which has no nullability of its own but may be an interval.
func (p *parser) castType() *TypeName {
	if p.tok().is("INTERVAL") {
		start := p.pos()
		p.next()
		q := p.intervalQualifier()
		return &TypeName{Span: p.span(start), Name: "INTERVAL", Interval: &q}
	}
	return p.typeName()
}

// columnType reads a type as columns and fields have it, with [NOT] NULL behind it.
func (p *parser) columnType() *TypeName {
	t := p.typeName()
	p.nullability(t)
	return p.collections(t, true)
}

// nullability reads [NOT] NULL behind a type.
func (p *parser) nullability(t *TypeName) {
	switch {
	case p.accept("NULL"):
		t.Null = Nullable
	case p.accept("NOT"):
		p.expect("NULL")
		t.Null = NotNull
	default:
		return
	}
	t.Span = p.span(t.Pos())
}

func (p *parser) isCollection() bool { return p.is("ARRAY") || p.is("MULTISET") }

// collections reads the ARRAY and MULTISET behind t; nulls tells that each may have [NOT] NULL behind it.
func (p *parser) collections(t *TypeName, nulls bool) *TypeName {
	start := t.Pos()
	for n := p.depth; p.isCollection(); n++ {
		w := p.tok()
		if n >= MaxDepth {
			p.tooDeep(w)
		}
		p.next()
		t = &TypeName{Span: p.span(start), Name: w.word().name, Elems: []*TypeName{t}}
		if nulls {
			p.nullability(t)
		}
	}
	return t
}

// typeName reads a type without nullability behind it.
func (p *parser) typeName() *TypeName {
	p.enter()
	defer p.leave()
	p.note(aType)
	start := p.pos()
	t := &TypeName{}
	if w := p.tok().word(); w == nil || !p.wordType(t, w.name) {
		if p.tok().word() != nil && p.tok().word().reserved || !p.isIdent() {
			p.unexpected()
		}
		t.User = p.name()
	}
	t.Span = p.span(start)
	return p.collections(t, false)
}

// wordType reads a type that begins with the word w into t, or returns false when it is none.
func (p *parser) wordType(t *TypeName, w string) bool {
	if s, ok := simpleTypes[w]; ok {
		p.next()
		t.Name = s.name
		p.simpleType(t, s.params)
		return true
	}
	next := p.at(1).kind
	switch {
	case w == "ARRAY" || w == "MULTISET":
		p.next()
		t.Name = w
		p.expectOp(tLt)
		t.Elems = []*TypeName{p.columnType()}
		p.expectOp(tGt)
	case w == "MAP" && next == tLt:
		p.i += 2
		t.Name = w
		key := p.columnType()
		p.expectOp(tComma)
		t.Elems = []*TypeName{key, p.columnType()}
		p.expectOp(tGt)
	case w == "ROW":
		p.next()
		t.Name = w
		p.rowType(t)
	case w == "RAW":
		p.next()
		t.Name = w
		p.expectOp(tLParen)
		class := p.plainString()
		p.expectOp(tComma)
		t.Texts = []string{class.Text, p.plainString().Text}
		p.expectOp(tRParen)
	case w == "STRUCTURED" && next == tLt:
		p.i += 2
		t.Name = w
		t.Texts = []string{p.plainString().Text}
		for p.acceptOp(tComma) {
			t.Fields = append(t.Fields, p.typeField())
		}
		p.expectOp(tGt)
	default:
		return false
	}
	return true
}

// simpleType reads what follows the first word of a simple type.
func (p *parser) simpleType(t *TypeName, params int) {
	switch t.Name {
	case "DOUBLE":
		p.accept("PRECISION")
	case "CHAR", "BINARY":
		if p.accept("VARYING") {
			t.Name = "VAR" + t.Name
		}
	}
	if params > 0 && p.acceptOp(tLParen) {
		t.Params = []int{p.unsigned()}
		if params > 1 && p.acceptOp(tComma) {
			t.Params = append(t.Params, p.unsigned())
		}
		p.expectOp(tRParen)
	}
	switch t.Name {
	case "TIME":
		if p.accept("WITHOUT") {
			p.expect("TIME", "ZONE")
		}
	case "TIMESTAMP":
		switch {
		case p.accept("WITHOUT"):
			p.expect("TIME", "ZONE")
		case p.accept("WITH"):
			p.expect("LOCAL", "TIME", "ZONE")
			t.Name = "TIMESTAMP_LTZ"
		}
	}
}

// rowType reads the fields of ROW<..> and ROW(..).
func (p *parser) rowType(t *TypeName) {
	end := tGt
	switch {
	case p.acceptOp(tNe): // ROW<>
		return
	case p.acceptOp(tLt):
	default:
		p.expectOp(tLParen)
		end = tRParen
	}
	if !p.isOp(end) {
		t.Fields = list(p, p.typeField)
	}
	p.expectOp(end)
}

// typeField reads name type ['comment'].
func (p *parser) typeField() *TypeField {
	start := p.pos()
	f := &TypeField{Name: p.ident()}
	f.Type = p.columnType()
	if p.isString() {
		f.Comment = p.stringLit()
	}
	f.Span = p.span(start)
	return f
}
