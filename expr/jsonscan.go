package expr

import "runnel/types"

// jsonSpan is a value in the text of a document: its kind and where it stands. What it holds is read when it is wanted.
type jsonSpan struct {
	kind       jsonKind
	start, end int  // of a string without its quotes
	escaped    bool // a string with backslashes
	float      bool // a number with a fraction or an exponent
}

// jsonFollower follows the steps of a simple path in the text of a document.
type jsonFollower struct {
	jsonScanner
	steps   []jsonStep
	reached int // how many of the steps led somewhere
	span    jsonSpan
}

// scan follows a simple path in the text of a document and puts the span of what it finds into span. The whole document
// is checked. It allocates nothing.
func (p *jsonPath) scan(doc string, span *jsonSpan) error {
	f := jsonFollower{jsonScanner: jsonScanner{s: doc}, steps: p.steps}
	if f.peek() == 'n' {
		if _, err := f.word(); err != nil {
			return err
		}
		return errNullDoc
	}
	if err := f.follow(0); err != nil {
		return err
	}
	if f.reached < len(p.steps) {
		return p.missing[f.reached]
	}
	*span = f.span
	return nil
}

// follow moves behind the next value and finds what the steps from depth on lead to within it.
func (f *jsonFollower) follow(depth int) error {
	f.reached = depth
	c := f.peek()
	if depth == len(f.steps) {
		return f.take(c)
	}
	step := &f.steps[depth]
	switch {
	case c == '{' && step.kind == stepName:
		return f.object(step.name, depth)
	case c == '[' && step.kind == stepIndex:
		return f.array(step.indexes[0], depth)
	}
	return f.skip()
}

func (f *jsonFollower) object(name string, depth int) error {
	if err := f.enter(); err != nil {
		return err
	}
	if f.peek() == '}' {
		f.leave()
		return nil
	}
	for {
		key, err := f.key()
		if err != nil {
			return err
		}
		if key == name {
			err = f.follow(depth + 1) // of equal keys the last one counts
		} else {
			err = f.skip()
		}
		if err != nil {
			return err
		}
		if f.peek() == ',' {
			f.at++
			continue
		}
		return f.end('}')
	}
}

func (f *jsonFollower) array(index, depth int) error {
	if err := f.enter(); err != nil {
		return err
	}
	if f.peek() == ']' {
		f.leave()
		return nil
	}
	for i := 0; ; i++ {
		var err error
		if i == index {
			err = f.follow(depth + 1)
		} else {
			err = f.skip()
		}
		if err != nil {
			return err
		}
		if f.peek() == ',' {
			f.at++
			continue
		}
		return f.end(']')
	}
}

// take moves behind a value that begins with c and says where it stands.
func (f *jsonFollower) take(c byte) (err error) {
	span := &f.span
	*span = jsonSpan{start: f.at}
	switch c {
	case '{':
		span.kind = jsonObject
		err = f.skip()
	case '[':
		span.kind = jsonArray
		err = f.skip()
	case '"':
		_, span.escaped, err = f.jsonScanner.span()
		span.kind = jsonString
		span.start++
		span.end = f.at - 1
		return err
	case 't', 'f', 'n':
		_, err = f.word()
		span.kind = jsonBool
		if c == 'n' {
			span.kind = jsonNull
		}
	default:
		span.kind = jsonNumber
		_, span.float, err = f.number()
	}
	span.end = f.at
	return err
}

// text gives the content of a scalar as Java would print it; what is not in the document as it is goes to the arena.
func (j jsonSpan) text(doc string, arena *types.Arena) string {
	raw := doc[j.start:j.end]
	switch {
	case j.escaped:
		return arena.Take(appendUnescaped(arena.Buf(), raw))
	case j.float && !plainNumber(raw):
		return arena.Take(appendJavaNumber(arena.Buf(), raw))
	case j.kind == jsonNumber && !j.float:
		return javaNumber(raw, false)
	}
	return raw
}

// node parses the value of the span.
func (j jsonSpan) node(doc string) (*jsonNode, error) {
	if j.kind == jsonArray || j.kind == jsonObject {
		return parseJSON(doc[j.start:j.end])
	}
	return &jsonNode{kind: j.kind, text: j.text(doc, &types.Arena{}), float: j.float}, nil
}

func (j jsonSpan) scalar() bool { return j.kind != jsonArray && j.kind != jsonObject }
