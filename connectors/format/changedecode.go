package format

import (
	"fmt"
	"strconv"

	"runnel/connectors"
	"runnel/expr"
	"runnel/types"
)

// changeDecoder reads the messages of a changelog format. A first walk over a message, which also finds what is no JSON,
// notes where the members of interest stand, since what becomes of an image depends on an operation that may follow it and
// of equal keys the last counts. The images are then read straight into the columns.
type changeDecoder struct {
	jsonDecoder
	env      *envelope
	places   []place
	payload  int // indexes of places; -1 for none
	op       int
	new, old int
	filters  []changeFilter
	metas    []metaColumn

	kept       int          // rows that stay when a later part of the message fails and errors are ignored
	was, is    *types.Batch // one row each: the images of a partial update
	named      []bool       // by column: its name stands in the old image
	news, olds []int        // where the elements of image arrays stand
}

// place is a member of the message (level 0) or of its payload (level 1) and where its value stands; -1 for nowhere.
type place struct {
	key   string
	level int
	at    int
}

// changeFilter skips messages whose member does not match.
type changeFilter struct {
	option string
	place  int
	match  func(string) (bool, error)
}

// metaColumn is a metadata column to fill.
type metaColumn struct {
	*changeMeta
	place int
	node  jsonNode
	same  int // an earlier column that is made from the same member, -1 for none
	raw   types.Datum
	value types.Datum
}

func newChangeDecoder(e *envelope, r connectors.FormatRequest) (connectors.Decoder, error) {
	d := &changeDecoder{env: e, payload: -1, old: -1, named: make([]bool, len(r.Fields))}
	d.seen, d.tree = make([]uint32, len(r.Fields)), true
	var nested bool
	err := readFlags(r.Options, flag{&d.ignore, optIgnoreErrors}, flag{&nested, optSchemaInclude})
	if err != nil {
		return nil, err
	}
	if d.iso, err = isoTimestamps(r); err != nil {
		return nil, err
	}
	if err := jsonFieldsError(r.Fields); err != nil {
		return nil, err
	}
	d.root = newJSONNode("", types.RowOf(r.Fields...))
	level := 0
	if nested {
		d.payload = d.member("payload", 0)
		level = 1
	}
	d.op, d.new = d.member(e.op, level), d.member(e.new, level)
	if e.old != "" {
		d.old = d.member(e.old, level)
	}
	if e.partial {
		d.was, d.is = types.NewBatch(r.Fields), types.NewBatch(r.Fields)
	}
	if err := d.filter(r, "database", optDatabase); err != nil {
		return nil, err
	}
	if err := d.filter(r, "table", optTable); err != nil {
		return nil, err
	}
	return d, d.metadata(r.Metadata, level)
}

// member gives the number of a place, which is made if it is new.
func (d *changeDecoder) member(key string, level int) int {
	for i, p := range d.places {
		if p.key == key && p.level == level {
			return i
		}
	}
	d.places = append(d.places, place{key, level, -1})
	return len(d.places) - 1
}

func (d *changeDecoder) filter(r connectors.FormatRequest, key string, opt connectors.Option) error {
	pattern, ok := r.Options.Lookup(opt)
	if !ok {
		return nil
	}
	match, err := expr.FullMatcher(pattern)
	if err != nil {
		return fmt.Errorf("Could not parse value '%s' for key '%s%s'.: %w", pattern, r.Prefix, opt.Key, err)
	}
	d.filters = append(d.filters, changeFilter{opt.Key, d.member(key, 0), match})
	return nil
}

func (d *changeDecoder) metadata(keys []string, level int) error {
	for _, key := range keys {
		var m *changeMeta
		for i := range d.env.metadata {
			if d.env.metadata[i].key == key {
				m = &d.env.metadata[i]
			}
		}
		if m == nil {
			return fmt.Errorf("format '%s' has no metadata '%s'", d.env.name, key)
		}
		at := level
		if m.outer {
			at = 0
		}
		c := metaColumn{changeMeta: m, place: d.member(m.from, at), node: newJSONNode(m.from, m.json), same: -1}
		for i, e := range d.metas {
			if e.place == c.place && c.same < 0 {
				c.same = i
			}
		}
		d.metas = append(d.metas, c)
	}
	return nil
}

// Decode implements connectors.Decoder. A message that is ignored keeps the rows that were made before its error.
func (d *changeDecoder) Decode(msg []byte, out *types.Batch) error {
	if len(msg) == 0 {
		return nil
	}
	at := out.Len
	d.s = d.inUTF8(msg)
	d.at, d.depth, d.kept = 0, 0, at
	o := d.message(out)
	if o == good {
		return nil
	}
	if d.ignore {
		out.Truncate(d.kept)
		return nil
	}
	out.Truncate(at)
	return fmt.Errorf("Corrupt %s JSON message '%s'.: %s at byte %d", d.env.who, clip(msg), d.why, d.whyAt)
}

func (d *changeDecoder) message(out *types.Batch) outcome {
	if d.space() != '{' {
		return d.fail(badSyntax, "the message is no JSON object")
	}
	if o := d.index(0); o != good {
		return o
	}
	for i := range d.filters {
		if pass, o := d.passes(&d.filters[i]); !pass {
			return o
		}
	}
	op, o := d.operation()
	if o != good {
		return o
	}
	for i := range d.metas {
		if o := d.readMeta(&d.metas[i]); o != good {
			return o
		}
	}
	if d.env.list {
		return d.lists(op, out)
	}
	return d.single(op, out)
}

// index notes where the members of the object at hand stand and moves behind it.
func (d *changeDecoder) index(level int) outcome {
	d.forget(level)
	return d.object(func(key string) outcome {
		for i := range d.places {
			p := &d.places[i]
			if p.key != key || p.level != level {
				continue
			}
			p.at = d.at
			if i == d.payload {
				if d.token() == '{' {
					return d.index(level + 1)
				}
				d.forget(level + 1)
			}
			break
		}
		return d.skip()
	})
}

func (d *changeDecoder) forget(level int) {
	for i := range d.places {
		if d.places[i].level >= level {
			d.places[i].at = -1
		}
	}
}

// to goes to a place and says whether there is a value other than null.
func (d *changeDecoder) to(at int) bool {
	if at < 0 {
		return false
	}
	d.at = at
	return d.s[at] != 'n'
}

// passes says whether a message passes a filter.
func (d *changeDecoder) passes(f *changeFilter) (bool, outcome) {
	p := &d.places[f.place]
	if p.at < 0 {
		d.at = 0
		return false, d.fail(badValue, fmt.Sprintf("member %q is missing, which %s looks at", p.key, f.option))
	}
	text := "null"
	if d.to(p.at) {
		switch d.token() {
		case '{', '[':
			text = ""
		default:
			t, o := d.anyText()
			if o != good {
				return false, o
			}
			text = t
		}
	}
	ok, err := f.match(text)
	if err != nil {
		return false, d.fail(badValue, err.Error())
	}
	return ok, good
}

// operation reads what happened.
func (d *changeDecoder) operation() (*operation, outcome) {
	if d.payload >= 0 && !d.to(d.places[d.payload].at) {
		return nil, d.fail(badValue, `member "payload" is missing or null`)
	}
	if !d.to(d.places[d.op].at) {
		return nil, d.fail(badValue, fmt.Sprintf("member %q is missing or null", d.env.op))
	}
	at := d.at
	word, o := d.anyText()
	if o != good {
		return nil, o
	}
	for i := range d.env.ops {
		if d.env.ops[i].word == word {
			return &d.env.ops[i], good
		}
	}
	d.at = at
	return nil, d.fail(badValue, fmt.Sprintf(`Unknown "%s" value "%s"`, d.env.op, word))
}

// readMeta reads the value of a metadata column.
func (d *changeDecoder) readMeta(m *metaColumn) outcome {
	m.value = types.NullDatum()
	if m.same >= 0 {
		m.raw = d.metas[m.same].raw
	} else if m.raw = types.NullDatum(); d.to(d.places[m.place].at) {
		var o outcome
		if m.raw, o = d.datum(&m.node); o == badValue && d.ignore {
			m.raw = types.NullDatum()
		} else if o != good {
			d.why = "metadata " + m.key + ": " + d.why
			return o
		}
	}
	if m.raw.Null {
		return good
	}
	v := m.raw
	if m.sub != "" {
		if v = entry(v.A.(*types.MapValue), m.sub); v.Null {
			return good
		}
	}
	n, ok := int64(0), true
	switch {
	case m.form == metaPlain:
		m.value = v
		return good
	case m.form == metaText:
		n, _, ok = parseStamp(v.S, false, false)
		n -= mod(n, 1000)
	case m.sub != "":
		var err error
		n, err = strconv.ParseInt(v.S, 10, 64)
		ok = err == nil && n*m.unit/m.unit == n
		n *= m.unit
	default:
		n = v.I * m.unit
		ok = n/m.unit == v.I
	}
	if !ok {
		return d.fail(badValue, "metadata "+m.key+": the value is no timestamp")
	}
	m.value = types.IntDatum(n)
	return good
}

func mod(a, b int64) int64 {
	if a %= b; a < 0 {
		a += b
	}
	return a
}

func entry(m *types.MapValue, key string) types.Datum {
	for i := range m.Keys {
		if m.Keys[i].S == key {
			return m.Vals[i]
		}
	}
	return types.NullDatum()
}

// emit completes a row whose image has been read.
func (d *changeDecoder) emit(kind types.RowKind, out *types.Batch) {
	first := len(d.root.fields)
	for i := range d.metas {
		out.Cols[first+i].Append(d.metas[i].value)
	}
	out.Push(kind)
}

// image reads the image at a place into the columns of b, as a row that is not counted yet. here is false when there is
// none, or, with errors ignored, something else.
func (d *changeDecoder) image(at int, b *types.Batch) (here bool, o outcome) {
	if !d.to(at) {
		return false, good
	}
	if d.token() != '{' {
		if d.ignore {
			return false, good
		}
		return false, d.fail(badValue, "expected the object of a row")
	}
	return true, d.columns(b)
}

// check reads an image that gives no row, for its errors.
func (d *changeDecoder) check(at int, out *types.Batch) outcome {
	if d.ignore {
		return good
	}
	_, o := d.image(at, out)
	if o == good {
		out.Truncate(out.Len)
	}
	return o
}

// nothing is the outcome of an image that is not there.
func (d *changeDecoder) nothing(op *operation, member string) outcome {
	d.at = 0
	if member != d.env.old || d.env.partial {
		return d.fail(badValue, fmt.Sprintf("the image %q of operation %s is missing or null", member, op.word))
	}
	what := "DELETE"
	if op.new != noRow {
		what = "UPDATE"
	}
	return d.fail(badValue, fmt.Sprintf(`The "%s" field of %s message is null, if you are using %s Postgres Connector, `+
		"please check the Postgres table has been set REPLICA IDENTITY to FULL level", member, what, d.env.who))
}

// single makes the rows of a message with one image of each sort.
func (d *changeDecoder) single(op *operation, out *types.Batch) outcome {
	newAt, oldAt := d.places[d.new].at, -1
	if d.old >= 0 {
		oldAt = d.places[d.old].at
	}
	if d.env.partial && op.old != noRow {
		if o := d.nameOld(oldAt); o != good {
			return o
		}
		return d.merge(op, oldAt, newAt, out)
	}
	for _, part := range [2]struct {
		at     int
		kind   types.RowKind
		member string
	}{{oldAt, op.old, d.env.old}, {newAt, op.new, d.env.new}} {
		if part.kind == noRow {
			if o := d.check(part.at, out); o != good {
				return o
			}
			continue
		}
		here, o := d.image(part.at, out)
		if o != good {
			return o
		}
		if !here {
			return d.nothing(op, part.member)
		}
		d.emit(part.kind, out)
	}
	return good
}

// lists makes the rows of a message with arrays of images.
func (d *changeDecoder) lists(op *operation, out *types.Batch) (o outcome) {
	var news, olds bool
	if d.news, news, o = d.elements(d.places[d.new].at, d.news[:0]); o != good {
		return o
	}
	if d.olds, olds, o = d.elements(d.places[d.old].at, d.olds[:0]); o != good {
		return o
	}
	used := 0
	switch {
	case op.new == noRow:
		for _, at := range d.news {
			if o := d.check(at, out); o != good {
				return o
			}
		}
	case !news:
		return d.nothing(op, d.env.new)
	case op.old == noRow:
		for _, at := range d.news {
			here, o := d.image(at, out)
			if o != good {
				return o
			}
			if !here {
				return d.nothing(op, d.env.new)
			}
			d.emit(op.new, out)
			d.kept = out.Len
		}
	default:
		if o := d.nameOld(d.places[d.old].at); o != good {
			return o
		}
		for i, at := range d.news {
			if !olds || i >= len(d.olds) {
				return d.nothing(op, d.env.old)
			}
			if o := d.merge(op, d.olds[i], at, out); o != good {
				return o
			}
			d.kept = out.Len
		}
		used = len(d.news)
	}
	for _, at := range d.olds[min(used, len(d.olds)):] {
		if o := d.check(at, out); o != good {
			return o
		}
	}
	return good
}

// elements finds the elements of an image array.
func (d *changeDecoder) elements(at int, ats []int) (_ []int, here bool, o outcome) {
	if !d.to(at) {
		return ats, false, good
	}
	if d.token() != '[' {
		if d.ignore {
			return ats, false, good
		}
		return ats, false, d.fail(badValue, "expected an array of rows")
	}
	o = d.array(func() outcome {
		ats = append(ats, d.at)
		return d.skip()
	})
	return ats, true, o
}

// merge makes the two rows of an update whose old image holds only what has changed.
func (d *changeDecoder) merge(op *operation, oldAt, newAt int, out *types.Batch) outcome {
	d.was.Reset()
	d.is.Reset()
	here, o := d.image(oldAt, d.was)
	if o != good {
		return o
	}
	if !here {
		return d.nothing(op, d.env.old)
	}
	if here, o = d.image(newAt, d.is); o != good {
		return o
	}
	if !here {
		return d.nothing(op, d.env.new)
	}
	for f := range d.root.fields {
		from := d.was.Cols[f]
		if from.Null(0) && !d.named[f] {
			from = d.is.Cols[f]
		}
		out.Cols[f].AppendFrom(from, 0)
	}
	d.emit(op.old, out)
	for f := range d.root.fields {
		out.Cols[f].AppendFrom(d.is.Cols[f], 0)
	}
	d.emit(op.new, out)
	return good
}

// nameOld finds out which columns the old image names, at any depth and in any element, as Flink does: a column that it
// names was NULL if it is null there, any other is as in the new image.
func (d *changeDecoder) nameOld(at int) outcome {
	clear(d.named)
	if !d.to(at) {
		return good
	}
	return d.names()
}

func (d *changeDecoder) names() outcome {
	switch d.token() {
	case '{':
		return d.object(func(key string) outcome {
			if f, ok := d.root.byName[key]; ok {
				d.named[f] = true
			}
			return d.names()
		})
	case '[':
		return d.array(func() outcome { return d.names() })
	}
	return d.skip()
}
