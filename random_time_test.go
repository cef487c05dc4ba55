package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The relations of random queries that live from event time. All read tables whose columns are a key, a number and the time.

// inTime gives rows in the order of their times; those of equal time as they came.
func inTime(rows []tuple) []tuple {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b tuple) int { return cmp.Compare(a[2].(int64), b[2].(int64)) })
	return rows
}

// byKey splits rows by their first column, in order of appearance.
func byKey(rows []tuple) (all [][]tuple) {
	at := map[any]int{}
	for _, t := range rows {
		i, ok := at[t[0]]
		if !ok {
			i = len(all)
			at[t[0]] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], t)
	}
	return all
}

// leaf is what the relations here have in common: no part of them can be another relation.
type leaf struct{}

func (leaf) inputs() []relation  { return nil }
func (leaf) simpler() []relation { return nil }

// ---- temporal joins ----

// temporal joins rows with the version of their key at their time.
type temporal struct {
	leaf
	l    *scan
	r    *table
	left bool
	cond *formula // over the columns of both, may be nil
}

func (j *temporal) columns() []kind          { return append(j.l.columns(), j.r.kinds...) }
func (j *temporal) with([]relation) relation { return j }
func (j *temporal) simpler() (all []relation) {
	if j.cond != nil {
		n := *j
		n.cond = nil
		all = append(all, &n)
	}
	return all
}

func (j *temporal) sql(p *printer) string {
	l, a, b := j.l.sql(p), p.alias(), p.alias()
	nl, how := len(j.l.columns()), "JOIN"
	if j.left {
		how = "LEFT JOIN"
	}
	out := []string{named(a, 0, nl)}
	for i, n := range j.r.names {
		out = append(out, fmt.Sprintf("%s.%s AS c%d", b, n, nl+i))
	}
	text := fmt.Sprintf("SELECT %s FROM (%s) AS %s %s %s FOR SYSTEM_TIME AS OF %s.c2 AS %s ON %s.c0 = %s.k", strings.Join(out, ", "), l, a, how, j.r.name, a, b, a, b)
	if j.cond != nil {
		text += " AND " + j.cond.sql(func(c int) string {
			if c < nl {
				return fmt.Sprintf("%s.c%d", a, c)
			}
			return b + "." + j.r.names[c-nl]
		})
	}
	return text
}

func (j *temporal) rows(d *database) (out []tuple) {
	for _, l := range j.l.rows(d) {
		var now tuple
		for _, e := range j.r.events {
			v := j.r.versions[e]
			if l[0] == v.row[0] && v.row[2].(int64) <= l[2].(int64) {
				now = v.row
				if v.gone {
					now = nil
				}
			}
		}
		switch row := append(slices.Clone(l), now...); {
		case now != nil && (j.cond == nil || j.cond.eval(row) == true):
			out = append(out, row)
		case j.left:
			out = append(out, append(slices.Clone(l), make(tuple, len(j.r.kinds))...))
		}
	}
	return out
}

// ---- window joins ----

// windowJoin joins rows of the same window and key; ANTI and SEMI give those of the left side.
type windowJoin struct {
	leaf
	how  string
	l, r *scan
	win  *tvf
	cond *formula // over the columns of both, may be nil
}

func (j *windowJoin) exists() bool { return j.how == "SEMI" || j.how == "ANTI" }
func (j *windowJoin) columns() []kind {
	l := append(j.l.columns()[:3:3], moment, moment)
	if j.exists() {
		return l
	}
	return append(append(l, j.r.columns()...), moment, moment)
}
func (j *windowJoin) with([]relation) relation { return j }
func (j *windowJoin) simpler() (all []relation) {
	if j.cond != nil {
		n := *j
		n.cond = nil
		all = append(all, &n)
	}
	return all
}

// windowed prints a table with its windows as columns c0 to c4.
func windowed(s *scan, w *tvf) string {
	var b []string
	for i, c := range s.table.names {
		b = append(b, fmt.Sprintf("%s AS c%d", c, i))
	}
	return fmt.Sprintf("SELECT %s, window_start AS c3, window_end AS c4 FROM %s", strings.Join(b, ", "), w.sql(s.table.name))
}

func (j *windowJoin) sql(p *printer) string {
	a, b := p.alias(), p.alias()
	on := fmt.Sprintf("%s.c0 = %s.c0 AND %s.c3 = %s.c3 AND %s.c4 = %s.c4", a, b, a, b, a, b)
	if j.cond != nil {
		on += " AND " + j.cond.sql(func(c int) string {
			if c < 5 {
				return fmt.Sprintf("%s.c%d", a, c)
			}
			return fmt.Sprintf("%s.c%d", b, c-5)
		})
	}
	l, r := windowed(j.l, j.win), windowed(j.r, j.win)
	if j.exists() {
		return fmt.Sprintf("SELECT %s FROM (%s) AS %s WHERE %sEXISTS (SELECT 1 FROM (%s) AS %s WHERE %s)", named(a, 0, 5), l, a, map[string]string{"ANTI": "NOT "}[j.how], r, b, on)
	}
	return fmt.Sprintf("SELECT %s, %s FROM (%s) AS %s %s (%s) AS %s ON %s", named(a, 0, 5), named(b, 5, 5), l, a, j.how, r, b, on)
}

// fixed gives rows that are there.
type fixed struct {
	leaf
	kinds []kind
	list  []tuple
}

func (f *fixed) columns() []kind          { return f.kinds }
func (f *fixed) with([]relation) relation { return f }
func (f *fixed) sql(*printer) string      { return "" }
func (f *fixed) rows(*database) []tuple   { return f.list }

func (j *windowJoin) rows(d *database) []tuple {
	kinds := append(j.l.columns()[:3:3], moment, moment)
	ls, rs := j.win.assign(j.l.rows(d)), j.win.assign(j.r.rows(d))
	if !j.exists() {
		full := &join{how: j.how, l: &fixed{kinds: kinds, list: ls}, r: &fixed{kinds: kinds, list: rs}, on: [][2]int{{0, 0}, {3, 3}, {4, 4}}, cond: j.cond}
		return full.rows(d)
	}
	var out []tuple
	for _, l := range ls {
		one := &join{how: "JOIN", l: &fixed{kinds: kinds, list: []tuple{l}}, r: &fixed{kinds: kinds, list: rs}, on: [][2]int{{0, 0}, {3, 3}, {4, 4}}, cond: j.cond}
		if (len(one.rows(d)) > 0) == (j.how == "SEMI") {
			out = append(out, l)
		}
	}
	return out
}

// ---- patterns, frames of rows, duplicates ----

// pattern is A B* C in time, by key: B above a limit, C not. A row is never both, so there is one way to match.
type pattern struct {
	leaf
	in    *scan
	limit int64
	first *formula // of A, over its row; may be nil
	next  bool     // matches may overlap
}

func (m *pattern) columns() []kind          { return []kind{text, number, number, number, number, moment} }
func (m *pattern) with([]relation) relation { return m }
func (m *pattern) simpler() (all []relation) {
	if m.first != nil {
		n := *m
		n.first = nil
		all = append(all, &n)
	}
	return all
}

func (m *pattern) sql(p *printer) string {
	in, a := m.in.table, p.alias()
	first, skip := "", "PAST LAST ROW"
	if m.first != nil {
		first = "A AS " + m.first.sql(func(c int) string { return "A." + in.names[c] }) + ", "
	}
	if m.next {
		skip = "TO NEXT ROW"
	}
	return fmt.Sprintf("SELECT %s.k AS c0, %s.x1 AS c1, %s.x2 AS c2, %s.x3 AS c3, %s.x4 AS c4, %s.x5 AS c5 FROM %s MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts "+
		"MEASURES A.v AS x1, SUM(B.v) AS x2, LAST(B.v) AS x3, C.v AS x4, CAST(C.ts AS TIMESTAMP(3)) AS x5 ONE ROW PER MATCH AFTER MATCH SKIP %s "+
		"PATTERN (A B* C) DEFINE %sB AS B.v > %d, C AS C.v <= %d) AS %s", a, a, a, a, a, a, in.name, skip, first, m.limit, m.limit, a)
}

func (m *pattern) rows(d *database) (out []tuple) {
	for _, rows := range byKey(inTime(m.in.rows(d))) {
		for i := 0; i < len(rows); i++ {
			if m.first != nil && m.first.eval(rows[i]) != true {
				continue
			}
			var sum, last any
			end := i + 1
			for ; end < len(rows) && rows[end][1] != nil && rows[end][1].(int64) > m.limit; end++ {
				if last = rows[end][1]; sum == nil {
					sum = int64(0)
				}
				sum = sum.(int64) + last.(int64)
			}
			if end == len(rows) || rows[end][1] == nil {
				continue
			}
			out = append(out, tuple{rows[i][0], rows[i][1], sum, last, rows[end][1], rows[end][2]})
			if !m.next {
				i = end
			}
		}
	}
	return out
}

// overRows is an aggregate over some rows before each one and itself.
type overRows struct {
	leaf
	in     *scan
	keyed  bool
	before int // negative: all
	of     call
}

func (o *overRows) columns() []kind          { return append(o.in.columns()[:3:3], o.of.kind) }
func (o *overRows) with([]relation) relation { return o }
func (o *overRows) sql(p *printer) string {
	in, a := o.in.sql(p), p.alias()
	frame, by := "UNBOUNDED", ""
	if o.before >= 0 {
		frame = fmt.Sprint(o.before)
	}
	if o.keyed {
		by = "PARTITION BY " + a + ".c0 "
	}
	return fmt.Sprintf("SELECT %s, %s OVER (%sORDER BY %s.c2 ROWS BETWEEN %s PRECEDING AND CURRENT ROW) AS c3 FROM (%s) AS %s", named(a, 0, 3), o.of.sql(a), by, a, frame, in, a)
}

func (o *overRows) rows(d *database) (out []tuple) {
	groups := [][]tuple{inTime(o.in.rows(d))}
	if o.keyed {
		groups = byKey(groups[0])
	}
	for _, rows := range groups {
		for i, t := range rows {
			from := 0
			if o.before >= 0 {
				from = max(0, i-o.before)
			}
			out = append(out, append(slices.Clone(t), o.of.of(rows[from:i+1])))
		}
	}
	return out
}

// dedup keeps the first or the last row of each key in time.
type dedup struct {
	leaf
	in   *scan
	last bool
}

func (u *dedup) columns() []kind          { return u.in.columns() }
func (u *dedup) with([]relation) relation { return u }
func (u *dedup) sql(p *printer) string {
	in, a, b := u.in.sql(p), p.alias(), p.alias()
	down := ""
	if u.last {
		down = " DESC"
	}
	return fmt.Sprintf("SELECT %s FROM (SELECT %s, ROW_NUMBER() OVER (PARTITION BY %s.c0 ORDER BY %s.c2%s) AS rn FROM (%s) AS %s) AS %s WHERE %s.rn = 1", named(b, 0, 3), named(a, 0, 3), a, a, down, in, a, b, b)
}

func (u *dedup) rows(d *database) (out []tuple) {
	for _, rows := range byKey(inTime(u.in.rows(d))) {
		if out = append(out, rows[0]); u.last {
			out[len(out)-1] = rows[len(rows)-1]
		}
	}
	return out
}

// ---- making them ----

// timed makes a relation that lives from event time.
func (m *maker) timed() relation {
	w, v := m.table("w", "m"), m.table("w", "m")
	kinds := w.columns()
	switch m.r.IntN(6) {
	case 0:
		p := m.table("p").table
		j := &temporal{l: w, r: p, left: m.one(2)}
		if m.one(3) {
			j.cond = m.formulas(append(slices.Clone(kinds), p.kinds...)).of(truth, 1)
			// An equality with a column beside the key makes versions of the two together, in Flink too: what that gives is no
			// row's version.
			if j.cond.op == "=" {
				j.cond.op = "<="
			}
		}
		return j
	case 1:
		j := &windowJoin{how: m.formulas(nil).pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI", "ANTI"), l: w, r: v, win: m.window(false)}
		if m.one(3) {
			j.cond = m.formulas([]kind{text, number, moment, moment, moment, text, number, moment, moment, moment}).of(truth, 1)
		}
		return j
	case 2, 3:
		p := &pattern{in: w, limit: int64(m.r.IntN(5)) - 1, next: m.one(2)}
		if m.one(2) {
			p.first = m.formulas(kinds).of(truth, 1)
		}
		return p
	case 4:
		return &overRows{in: w, keyed: m.one(2), before: m.r.IntN(5) - 1, of: m.call(kinds[:2])}
	}
	return &dedup{in: w, last: m.one(2)}
}

// window makes a TVF; sessions are by key.
func (m *maker) window(sessions bool) *tvf {
	step, n := int64(1+m.r.IntN(4)), int64(1+m.r.IntN(3))
	w := []*tvf{{fn: "TUMBLE", size: step * 2}, {fn: "HOP", step: step, size: step * n}, {fn: "CUMULATE", step: step, size: step * n}, {fn: "SESSION", size: step}}[m.r.IntN(4)]
	if w.fn == "SESSION" && !sessions {
		w.fn = "TUMBLE"
	}
	if w.fn != "SESSION" && m.one(3) {
		w.offset = int64(m.r.IntN(int(2*w.size-1))) - w.size + 1
	}
	return w
}
