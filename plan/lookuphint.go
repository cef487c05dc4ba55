package plan

import (
	"strings"
	"time"

	"runnel/connectors"
	"runnel/connectors/lookup"
	"runnel/sql"
)

// lookupHint is a LOOKUP hint: how the table of a lookup join is asked.
type lookupHint struct {
	async     *bool // nil: as the connector likes
	unordered *bool
	capacity  int // 0: as configured
	timeout   time.Duration
	retry     *lookup.Retry
}

const hintClass = "java.lang.AssertionError"

// lookup reads a LOOKUP hint. The first one of a table counts.
func (q *queryHints) lookup(h *sql.Hint) error {
	given := map[string]string{}
	for _, a := range h.Args {
		if a.Key == nil {
			return refuse(hintClass, h, "Invalid list options in LOOKUP hint, only support key-value options.")
		}
		given[strings.ToLower(hintText(a.Key))] = hintText(a.Value)
	}
	table, ok := given["table"]
	if !ok {
		return refuse(hintClass, h, "Invalid LOOKUP hint: incomplete required option(s): [Key: 'table' , default: null (fallback keys: [])]")
	}
	r := hintReader{given: given, at: h}
	hint := &lookupHint{
		async:     r.choice("async", "false", "true"),
		unordered: r.choice("output-mode", "ordered", "allow_unordered"),
		capacity:  r.positive("capacity"),
		timeout:   r.duration("timeout"),
		retry:     r.retry(),
	}
	if r.err != nil {
		return r.err
	}
	if q.lookups[table] == nil {
		q.lookups[table] = hint
	}
	q.named = append(q.named, hintName{"LOOKUP", table, h})
	return nil
}

// hintReader reads the options of a hint and keeps the first refusal.
type hintReader struct {
	given map[string]string
	at    sql.Node
	err   error
}

func (r *hintReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = refuse(hintClass, r.at, format, args...)
	}
}

func (r *hintReader) unreadable(key string) {
	r.fail("Invalid LOOKUP hint options: Could not parse value '%s' for key '%s'.", r.given[key], key)
}

// choice tells which of two words is given, nil for none.
func (r *hintReader) choice(key, no, yes string) *bool {
	v, ok := r.given[key]
	if !ok {
		return nil
	}
	is := strings.EqualFold(v, yes)
	if !is && !strings.EqualFold(v, no) {
		r.unreadable(key)
	}
	return &is
}

func (r *hintReader) positive(key string) int {
	v, ok := r.given[key]
	if !ok {
		return 0
	}
	n, isNumber := atoi(v)
	if !isNumber {
		r.unreadable(key)
	} else if n <= 0 {
		r.fail("Invalid LOOKUP hint option: %s value should be positive integer but was %s", key, v)
	}
	return n
}

func (r *hintReader) duration(key string) time.Duration {
	v, ok := r.given[key]
	if !ok {
		return 0
	}
	d, err := connectors.ParseDuration(v)
	if err != nil {
		r.unreadable(key)
	}
	return d
}

func (r *hintReader) retry() *lookup.Retry {
	n := 0
	for _, k := range []string{"retry-predicate", "retry-strategy", "fixed-delay", "max-attempts"} {
		if _, ok := r.given[k]; ok {
			n++
		}
	}
	switch n {
	case 0:
		return nil
	case 4:
	default:
		r.fail("Invalid LOOKUP hint: retry options can be both null or all not null")
		return nil
	}
	if v := r.given["retry-predicate"]; !strings.EqualFold(v, "lookup_miss") {
		r.fail("Invalid LOOKUP hint option: unsupported retry-predicate '%s', only 'lookup_miss' is supported currently", v)
	}
	if v := r.given["retry-strategy"]; !strings.EqualFold(v, "fixed_delay") {
		r.unreadable("retry-strategy")
	}
	return &lookup.Retry{Delay: r.duration("fixed-delay"), Attempts: r.positive("max-attempts")}
}

// lookupOf gives the LOOKUP hint of a FROM item, nil without one.
func (e *around) lookupOf(r *refs) *lookupHint {
	if len(r.tables) != 1 {
		return nil
	}
	return e.lookups[r.tables[0].alias]
}
