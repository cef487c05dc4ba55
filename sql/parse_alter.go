package sql

// alter reads ALTER statements.
func (p *parser) alter(start Pos) Stmt {
	p.expect("ALTER")
	switch {
	case p.accept("TABLE"):
		s := &AlterTable{IfExists: p.ifExists(), Name: p.name()}
		s.Action = p.alterTable()
		s.Span = p.span(start)
		return s
	case p.accept("VIEW"):
		s := &AlterView{Name: p.name()}
		at := p.pos()
		if p.accept("AS") {
			q := p.query()
			s.Action = &AlterQuery{Span: p.span(at), Query: q}
		} else {
			s.Action = p.renameTo()
		}
		s.Span = p.span(start)
		return s
	case p.accept("CATALOG"):
		s := &AlterCatalog{Name: p.simpleName()}
		s.Action = p.alterCatalog()
		s.Span = p.span(start)
		return s
	case p.accept("DATABASE"):
		s := &AlterDatabase{Name: p.name()}
		s.Action = p.setProperties()
		s.Span = p.span(start)
		return s
	case p.accept("MODEL"):
		s := &AlterModel{IfExists: p.ifExists(), Name: p.name()}
		s.Action = p.alterOptions(true)
		s.Span = p.span(start)
		return s
	case p.accept("CONNECTION"):
		s := &AlterConnection{IfExists: p.ifExists(), Name: p.name()}
		s.Action = p.alterOptions(true)
		s.Span = p.span(start)
		return s
	case p.accept("MATERIALIZED"):
		p.expect("TABLE")
		s := &AlterMaterializedTable{Name: p.name()}
		s.Action = p.alterMaterialized()
		s.Span = p.span(start)
		return s
	}
	s := &AlterFunction{}
	if s.Temporary = p.accept("TEMPORARY"); s.Temporary {
		s.System = p.accept("SYSTEM")
	}
	p.expect("FUNCTION")
	s.IfExists = p.ifExists()
	s.Name = p.name()
	p.expect("AS")
	s.Class = p.stringLit()
	s.Language = p.language()
	s.Span = p.span(start)
	return s
}

// renameTo reads RENAME TO name.
func (p *parser) renameTo() AlterAction {
	start := p.pos()
	p.expect("RENAME", "TO")
	a := &RenameTo{Name: p.name()}
	a.Span = p.span(start)
	return a
}

// setProperties reads SET (..).
func (p *parser) setProperties() AlterAction {
	start := p.pos()
	p.expect("SET")
	a := &SetProperties{Props: p.properties()}
	a.Span = p.span(start)
	return a
}

// resetProperties reads RESET (..).
func (p *parser) resetProperties() AlterAction {
	start := p.pos()
	p.expect("RESET")
	a := &ResetProperties{Keys: p.keys()}
	a.Span = p.span(start)
	return a
}

// alterOptions reads SET, RESET, and RENAME TO where rename allows it.
func (p *parser) alterOptions(rename bool) AlterAction {
	switch {
	case rename && p.is("RENAME"):
		return p.renameTo()
	case p.is("RESET"):
		return p.resetProperties()
	}
	return p.setProperties()
}

func (p *parser) alterCatalog() AlterAction {
	start := p.pos()
	if p.accept("COMMENT") {
		a := &SetComment{Comment: p.stringLit()}
		a.Span = p.span(start)
		return a
	}
	return p.alterOptions(false)
}

// alterTable reads the action of ALTER TABLE.
func (p *parser) alterTable() AlterAction {
	start := p.pos()
	switch {
	case p.is("RENAME") && p.at(1).is("TO"):
		return p.renameTo()
	case p.accept("RENAME"):
		a := &RenameColumn{Old: p.name()}
		p.expect("TO")
		a.New = p.name()
		a.Span = p.span(start)
		return a
	case p.is("SET") || p.is("RESET"):
		return p.alterOptions(false)
	case p.accept("ADD"):
		if p.is("PARTITION") || p.tok().is("IF") && p.at(1).is("NOT") {
			return p.addPartitions(start)
		}
		a := &AddElements{}
		a.Elements, a.Parens = p.alterElements()
		a.Span = p.span(start)
		return a
	case p.accept("MODIFY"):
		a := &ModifyElements{}
		a.Elements, a.Parens = p.alterElements()
		a.Span = p.span(start)
		return a
	case p.accept("DROP"):
		return p.alterDrop(start)
	case p.is("PARTITION"):
		a := &Compact{Partition: p.partition()}
		p.expect("COMPACT")
		a.Span = p.span(start)
		return a
	case p.accept("COMPACT"):
		return &Compact{Span: p.span(start)}
	}
	p.unexpected()
	return nil
}

// alterElements reads one element, or several in parentheses, and checks their constraints.
func (p *parser) alterElements() ([]TableElement, bool) {
	element := func() TableElement { return p.tableElement(true) }
	var es []TableElement
	inParens := p.isOp(tLParen)
	if inParens {
		es = parens(p, element)
	} else {
		es = []TableElement{element()}
	}
	key := false
	for _, e := range es {
		switch e := e.(type) {
		case *ConstraintDef:
			key = p.checkConstraint(e, key)
		case *ColumnDef:
			if e.Constraint != nil {
				key = p.checkConstraint(e.Constraint, key)
			}
		}
	}
	return es, inParens
}

// addPartitions reads what follows ADD in ALTER TABLE .. ADD PARTITION.
func (p *parser) addPartitions(start Pos) AlterAction {
	a := &AddPartitions{IfNotExists: p.ifNotExists()}
	for first := true; first || p.is("PARTITION"); first = false {
		at := p.pos()
		d := &PartitionDef{Spec: p.partition(), With: p.with()}
		d.Span = p.span(at)
		a.Partitions = append(a.Partitions, d)
	}
	a.Span = p.span(start)
	return a
}

// alterDrop reads what follows DROP in ALTER TABLE.
func (p *parser) alterDrop(start Pos) AlterAction {
	switch {
	case p.is("PARTITION") || p.tok().is("IF") && p.at(1).is("EXISTS"):
		a := &DropPartitions{IfExists: p.ifExists()}
		a.Specs = list(p, p.partition)
		a.Span = p.span(start)
		return a
	case p.acceptAll("PRIMARY", "KEY"):
		return &DropFeature{Span: p.span(start), Feature: "PRIMARY KEY"}
	case p.accept("CONSTRAINT"):
		id := p.ident()
		return &DropFeature{Span: p.span(start), Feature: "CONSTRAINT", Name: &id}
	case p.accept("WATERMARK"):
		return &DropFeature{Span: p.span(start), Feature: "WATERMARK"}
	case p.accept("DISTRIBUTION"):
		return &DropFeature{Span: p.span(start), Feature: "DISTRIBUTION"}
	case p.isOp(tLParen):
		a := &DropColumns{Parens: true, Columns: parens(p, p.name)}
		a.Span = p.span(start)
		return a
	}
	a := &DropColumns{Columns: []*Name{p.name()}}
	a.Span = p.span(start)
	return a
}

// alterMaterialized reads the action of ALTER MATERIALIZED TABLE.
func (p *parser) alterMaterialized() AlterAction {
	start := p.pos()
	switch {
	case p.accept("SUSPEND"):
		return &Suspend{p.span(start)}
	case p.accept("RESUME"):
		a := &Resume{With: p.with()}
		a.Span = p.span(start)
		return a
	case p.accept("REFRESH"):
		a := &Refresh{}
		if p.is("PARTITION") {
			a.Partition = p.partition()
		}
		a.Span = p.span(start)
		return a
	case p.acceptAll("SET", "FRESHNESS"):
		a := &SetFreshness{Freshness: p.freshness()}
		a.Span = p.span(start)
		return a
	case p.acceptAll("SET", "REFRESH_MODE"):
		p.expectOp(tEq)
		a := &SetRefreshMode{Mode: p.oneOf("FULL", "CONTINUOUS")}
		a.Span = p.span(start)
		return a
	case p.accept("AS"):
		q := p.query()
		return &AlterQuery{Span: p.span(start), Query: q}
	case p.is("ADD") || p.is("MODIFY") || p.is("DROP") || p.is("RENAME"):
		return p.alterTable()
	}
	return p.alterOptions(false)
}
