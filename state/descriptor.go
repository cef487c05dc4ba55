package state

import (
	"fmt"
	"strings"
)

// Descriptor says what a state means, in words that survive a restart. A restore compares descriptors, never positions:
// a state is taken over if Diff finds nothing.
type Descriptor struct {
	Format int         `json:"format"`           // version of what the operator keeps in the values, 1 and up
	Name   string      `json:"name"`             // unique within the operator, e.g. "accumulators", "left"
	Kind   string      `json:"kind"`             // table, slices, log or timers; set by the registration
	Key    []KeyColumn `json:"key,omitempty"`    // empty: one key for all
	Values []ValueInfo `json:"values,omitempty"` // accumulators or columns, in order
	Window string      `json:"window,omitempty"` // e.g. "TUMBLE(ts, 10000 ms)"
	Bounds string      `json:"bounds,omitempty"` // e.g. "-60000 ms .. 60000 ms"
	Zone   string      `json:"zone,omitempty"`   // the session's time zone where it matters
	Layout string      `json:"layout,omitempty"` // form of the records; set by the registration
}

// KeyColumn is one column of the key.
type KeyColumn struct {
	Name   string `json:"name"`
	Origin string `json:"origin,omitempty"` // where the column comes from, e.g. "default_catalog.default_database.orders.order_id"
	Type   string `json:"type"`
}

// ValueInfo is one accumulator or stored column.
type ValueInfo struct {
	Call  string `json:"call"`           // e.g. "SUM(amount)", or the column's name
	Type  string `json:"type,omitempty"` // of the result or column
	Codec int    `json:"codec"`          // version of the accumulator's or column's bytes
}

// String is the text form in one line.
func (d Descriptor) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s v%d", d.Kind, d.Name, d.Format)
	list := func(title string, n int, item func(int) string) {
		if n == 0 {
			return
		}
		b.WriteString(" " + title + "(")
		for i := range n {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(item(i))
		}
		b.WriteString(")")
	}
	list("key", len(d.Key), func(i int) string { return d.Key[i].String() })
	list("values", len(d.Values), func(i int) string { return d.Values[i].String() })
	for _, p := range []struct{ title, text string }{
		{"window", d.Window}, {"bounds", d.Bounds}, {"zone", d.Zone}, {"layout", d.Layout},
	} {
		if p.text != "" {
			fmt.Fprintf(&b, " %s(%s)", p.title, p.text)
		}
	}
	return b.String()
}

// String prints the column as order_id INT of orders.order_id.
func (c KeyColumn) String() string {
	if c.Origin == "" {
		return c.Name + " " + c.Type
	}
	return c.Name + " " + c.Type + " of " + c.Origin
}

// String prints the value as SUM(amount) BIGINT v1.
func (v ValueInfo) String() string {
	s := v.Call
	if v.Type != "" {
		s += " " + v.Type
	}
	return fmt.Sprintf("%s v%d", s, v.Codec)
}

// Diff explains how state saved as old differs from what d wants, one sentence per difference; none: it fits. The name
// of a key column may change (an alias), its origin and type may not. Types may take NULLs that they did not: records have
// room for them. The other way, state might hold a NULL where none may be.
func (d Descriptor) Diff(old Descriptor) []string {
	var diff []string
	say := func(format string, args ...any) { diff = append(diff, fmt.Sprintf(format, args...)) }
	text := func(what, want, was string) {
		if want != was {
			say("%s is %s, was %s", what, orNone(want), orNone(was))
		}
	}
	text("kind", d.Kind, old.Kind)
	if d.Format != old.Format {
		say("format version is %d, was %d", d.Format, old.Format)
	}
	if len(d.Key) != len(old.Key) {
		say("key has %d columns, had %d", len(d.Key), len(old.Key))
	} else {
		for i, c := range d.Key {
			o := old.Key[i]
			if !widened(c.Type, o.Type) || c.Origin != o.Origin || c.Origin == "" && c.Name != o.Name {
				say("key column %d is %s, was %s", i+1, c, o)
			}
		}
	}
	for i := range max(len(d.Values), len(old.Values)) {
		switch {
		case i >= len(d.Values):
			say("value %s is gone", old.Values[i])
		case i >= len(old.Values):
			say("value %s is new", d.Values[i])
		case !d.Values[i].fits(old.Values[i]):
			say("value %d is %s, was %s", i+1, d.Values[i], old.Values[i])
		}
	}
	text("window", d.Window, old.Window)
	text("bounds", d.Bounds, old.Bounds)
	text("zone", d.Zone, old.Zone)
	if len(diff) == 0 {
		text("layout", d.Layout, old.Layout)
	}
	return diff
}

func (v ValueInfo) fits(was ValueInfo) bool {
	return v.Call == was.Call && v.Codec == was.Codec && widened(v.Type, was.Type)
}

// widened reports whether a type is an old one, some NOT NULL of it taken away at most.
func widened(now, was string) bool {
	const mark = " NOT NULL"
	quoted := false
	for was != "" {
		switch {
		case now != "" && now[0] == was[0] && (quoted || !strings.HasPrefix(was, mark) || strings.HasPrefix(now, mark)):
			quoted = quoted != (was[0] == '`')
			now, was = now[1:], was[1:]
		case !quoted && strings.HasPrefix(was, mark):
			was = was[len(mark):]
		default:
			return false
		}
	}
	return now == ""
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// layoutText describes values for Descriptor.Layout.
func layoutText(values []Value) string {
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(v.Kind.String())
		if v.Elem != nil {
			b.WriteString("(" + layoutText(v.Elem) + ")")
		}
	}
	return b.String()
}
