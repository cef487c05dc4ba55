package expr

// jsonSpan is a value in the text of a document: its kind and where it stands. What it holds is read when it is wanted.
type jsonSpan struct {
	kind       jsonKind
	start, end int  // of a string without its quotes
	escaped    bool // a string with backslashes
	float      bool // a number with a fraction or an exponent
}

// scan follows a simple path in the text of a document and gives the span of what it finds. The whole document is
// checked. It allocates nothing.
func (p *jsonPath) scan(doc string) (jsonSpan, error) {
	s := jsonScanner{s: doc}
	if s.peek() == 'n' {
		if _, err := s.word(); err != nil {
			return jsonSpan{}, err
		}
		return jsonSpan{}, errNullDoc
	}
	span, depth, err := s.follow(p.steps, 0)
	if err != nil {
		return span, err
	}
	if depth < len(p.steps) {
		return span, errNoPath(p.steps[:depth+1])
	}
	return span, nil
}

// follow moves behind the next value and gives what the steps from depth on lead to within it; the second result is how
// many of the steps led somewhere.
func (s *jsonScanner) follow(steps []jsonStep, depth int) (jsonSpan, int, error) {
	if depth == len(steps) {
		span, err := s.spanOf()
		return span, depth, err
	}
	kind := steps[depth].kind
	if c := s.peek(); c == '{' && kind == stepName || c == '[' && kind == stepIndex {
		return s.followInto(steps, depth, c)
	}
	return jsonSpan{}, depth, s.skip()
}

func (s *jsonScanner) followInto(steps []jsonStep, depth int, open byte) (found jsonSpan, reached int, err error) {
	if err := s.enter(); err != nil {
		return found, depth, err
	}
	step, end := &steps[depth], open+2
	reached = depth
	if s.peek() == end {
		s.at++
		s.depth--
		return found, depth, nil
	}
	for i := 0; ; i++ {
		var hit bool
		if open == '{' {
			if hit, err = s.key(step.name); err != nil {
				return found, depth, err
			}
		} else {
			hit = i == step.indexes[0]
		}
		if hit {
			found, reached, err = s.follow(steps, depth+1)
		} else {
			err = s.skip()
		}
		if err != nil {
			return found, depth, err
		}
		switch s.peek() {
		case ',':
			s.at++
		case end:
			s.at++
			s.depth--
			return found, reached, nil
		default:
			return found, depth, errJSON
		}
	}
}

// key reads a name and the colon behind it and says whether it is the one that is looked for.
func (s *jsonScanner) key(name string) (bool, error) {
	if s.peek() != '"' {
		return false, errJSON
	}
	raw, escaped, err := s.span()
	if err != nil {
		return false, err
	}
	if escaped {
		if raw, err = unescapeJSON(raw); err != nil {
			return false, err
		}
	}
	if s.peek() != ':' {
		return false, errJSON
	}
	s.at++
	return raw == name, nil
}

// spanOf moves behind a value and says where it stands.
func (s *jsonScanner) spanOf() (jsonSpan, error) {
	c := s.peek()
	span := jsonSpan{start: s.at}
	var err error
	switch c {
	case '{', '[':
		span.kind = jsonObject
		if c == '[' {
			span.kind = jsonArray
		}
		err = s.skip()
	case '"':
		var raw string
		raw, span.escaped, err = s.span()
		if err == nil && span.escaped {
			_, err = unescapeJSON(raw)
		}
		span.kind = jsonString
		span.start++
		span.end = s.at - 1
		return span, err
	case 't', 'f', 'n':
		var w string
		w, err = s.word()
		span.kind = jsonBool
		if w == "null" {
			span.kind = jsonNull
		}
	default:
		span.kind = jsonNumber
		_, span.float, err = s.number()
	}
	span.end = s.at
	return span, err
}

// text gives the content of a scalar as Java would print it.
func (j jsonSpan) text(doc string) string {
	raw := doc[j.start:j.end]
	switch {
	case j.escaped:
		raw, _ = unescapeJSON(raw) // the scan has checked it
	case j.kind == jsonNumber:
		raw = javaNumber(raw, j.float)
	}
	return raw
}

// node parses the value of the span.
func (j jsonSpan) node(doc string) (*jsonNode, error) {
	if j.kind == jsonArray || j.kind == jsonObject {
		return parseJSON(doc[j.start:j.end])
	}
	return &jsonNode{kind: j.kind, text: j.text(doc), float: j.float}, nil
}

func (j jsonSpan) scalar() bool { return j.kind != jsonArray && j.kind != jsonObject }
