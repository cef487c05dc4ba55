package main

import (
	"fmt"
	"slices"
	"strings"

	"runnel/internal/testkit"
)

// ---- ranks, frames, patterns ----

func (m *wideMaker) topn(in wide) wide {
	m.note("top-n")
	from, a := m.from(in)
	b := m.alias()
	cols := under(a, in.cols)
	part := m.keys(cols, 2, -1)
	var list []string
	for _, c := range cols {
		if in.loose() || len(list) == 0 || m.one(2) {
			list = append(list, c.name+m.pick("", " DESC", " ASC"))
		}
	}
	m.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	text, out := renamed(cols)
	over := "ORDER BY " + strings.Join(list, ", ")
	if len(part) > 0 {
		var by []string
		for _, p := range part {
			by = append(by, p.name)
		}
		over = "PARTITION BY " + strings.Join(by, ", ") + " " + over
	}
	final, names := under(b, out), ""
	if m.one(2) {
		final = append(final, wideColumn{b + ".rn", whole})
	}
	names, final = renamed(final)
	to := 1 + m.IntN(3)
	cond := fmt.Sprintf("%s.rn <= %d", b, to)
	if len(final) > len(out) && m.one(4) && !in.updates {
		cond = fmt.Sprintf("%s.rn BETWEEN 2 AND %d", b, to+1)
	}
	return wide{text: fmt.Sprintf("SELECT %s FROM (SELECT %s, ROW_NUMBER() OVER (%s) AS rn FROM %s) AS %s WHERE %s", names, text, over, from, b, cond),
		cols: final, level: in.worse(testkit.Sequence), updates: true, time: -1}
}

// sorted is ORDER BY .. LIMIT.
func (m *wideMaker) sorted(in wide) wide {
	m.note("order by limit")
	from, a := m.from(in)
	cols := under(a, in.cols)
	var list []string
	for _, c := range cols {
		if in.loose() || len(list) == 0 || m.one(2) {
			list = append(list, c.name+m.pick("", " DESC"))
		}
	}
	text, out := renamed(cols)
	limit := fmt.Sprintf(" LIMIT %d", 1+m.IntN(4))
	if m.one(4) && !in.updates {
		limit += fmt.Sprintf(" OFFSET %d", 1+m.IntN(2))
	}
	return wide{text: fmt.Sprintf("SELECT %s FROM %s ORDER BY %s%s", text, from, strings.Join(list, ", "), limit), cols: out, level: in.worse(testkit.Sequence), updates: true, time: -1}
}

// limited is LIMIT without an order.
func (m *wideMaker) limited(in wide) wide {
	m.note("limit")
	if in.loose() || in.updates { // Flink's sources stop at the limit, whatever the rows say
		return m.sorted(in)
	}
	from, a := m.from(in)
	text, out := renamed(under(a, in.cols))
	return wide{text: fmt.Sprintf("SELECT %s FROM %s LIMIT %d", text, from, 1+m.IntN(6)), cols: out, updates: in.updates, time: -1}
}

// dedup keeps the first or the last row of a key in event time.
func (m *wideMaker) dedup(in wide) wide {
	m.note("deduplicate")
	from, a := m.from(in)
	b := m.alias()
	cols := under(a, in.cols)
	text, out := renamed(cols)
	by := "PARTITION BY "
	for _, k := range m.keys(cols, 2, in.time) {
		by += k.name + ", "
	}
	if by = strings.TrimSuffix(by, ", ") + " "; by == "PARTITION BY " {
		by = ""
	}
	names, final := renamed(under(b, out))
	return wide{text: fmt.Sprintf("SELECT %s FROM (SELECT %s, ROW_NUMBER() OVER (%sORDER BY %s%s) AS rn FROM %s) AS %s WHERE %s.rn = 1", names, text, by, cols[in.time].name, m.pick("", " DESC"), from, b, b),
		cols: final, level: in.worse(testkit.Sequence), updates: true, time: -1}
}

// over computes frames in event time.
func (m *wideMaker) over(in wide) wide {
	m.note("over")
	from, a := m.from(in)
	cols := under(a, in.cols)
	keys := m.keys(cols, 1, in.time)
	w := "ORDER BY " + cols[in.time].name
	if len(keys) > 0 {
		w = "PARTITION BY " + keys[0].name + " " + w
	}
	frame := m.choice(func() string { return " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW" },
		func() string { return " RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW" },
		func() string { return fmt.Sprintf(" ROWS BETWEEN %d PRECEDING AND CURRENT ROW", 1+m.IntN(3)) },
		func() string {
			return fmt.Sprintf(" RANGE BETWEEN INTERVAL '%d' SECOND PRECEDING AND CURRENT ROW", 1+m.IntN(6))
		},
		func() string { return "" })
	text, out := renamed(cols)
	named := m.one(3)
	use := "(" + w + frame + ")"
	if named {
		use = "w"
	}
	for range 1 + m.IntN(2) {
		s, c := m.call(cols, in.loose(), true)
		for strings.Contains(s, "DISTINCT") {
			s, c = m.call(cols, in.loose(), true)
		}
		n := fmt.Sprintf("c%d", len(out))
		text, out = text+", "+s+" OVER "+use+" AS "+n, append(out, wideColumn{n, c})
	}
	text = "SELECT " + text + " FROM " + from
	if named {
		text += " WINDOW w AS (" + w + frame + ")"
	}
	level := testkit.Sequence
	if len(keys) > 0 {
		level = testkit.Bag
	}
	return wide{text: text, cols: out, level: in.worse(level), time: in.time}
}

// match is a MATCH_RECOGNIZE over a table with time.
func (m *wideMaker) match(in wide) wide {
	m.note("match_recognize")
	name := "v" + m.alias()
	m.views = append(m.views, "CREATE VIEW "+name+" AS "+in.text)
	a := m.alias()
	var by string
	keys := m.keys(in.cols, 1, in.time)
	measures := []string{}
	out := []wideColumn{}
	add := func(s string, c family) {
		n := fmt.Sprintf("x%d", len(measures))
		measures, out = append(measures, s+" AS "+n), append(out, wideColumn{n, c})
	}
	if len(keys) > 0 {
		by = "PARTITION BY " + keys[0].name + " "
	}
	vars := []string{"A", "B", "C"}
	for range 1 + m.IntN(3) {
		v := m.pick(vars...)
		n, c := m.column(in.cols, whole, word, exact)
		if n == "" {
			continue
		}
		switch m.IntN(5) {
		case 0:
			add(v+"."+n, c)
		case 1:
			add("FIRST("+v+"."+n+")", c)
		case 2:
			add("LAST("+v+"."+n+")", c)
		case 3:
			add("COUNT("+v+"."+n+")", whole)
		default:
			if c == word {
				add("MAX("+v+"."+n+")", c)
			} else {
				add(m.pick("SUM(", "MIN(", "AVG(")+v+"."+n+")", c)
			}
		}
	}
	add("CAST(LAST("+m.pick(vars...)+"."+in.cols[in.time].name+") AS TIMESTAMP(3))", instant)
	under := func(v string) []wideColumn { return under(v, in.cols) }
	define := []string{}
	for _, v := range vars {
		if m.one(5) {
			continue
		}
		cond := m.expr(boolean, under(v), 1)
		if n, _ := m.column(in.cols, whole, exact); n != "" && m.one(3) {
			cond = fmt.Sprintf("(LAST(%s.%s, 1) IS NULL OR %s.%s %s LAST(%s.%s, 1))", v, n, v, n, m.pick(">", "<=", "<>"), v, n)
		} else if n != "" && m.one(3) && v != "A" {
			cond = fmt.Sprintf("%s.%s %s A.%s", v, n, m.pick(">", "<=", "="), n)
		}
		define = append(define, v+" AS "+cond)
	}
	if len(define) == 0 {
		define = []string{"A AS TRUE"}
	}
	pattern := m.pick("A B C", "A B* C", "A B+ C", "A B? C", "A B*? C", "A{2} B C", "A B{1,2} C", "A+ B C?")
	if strings.HasSuffix(pattern, "C?") {
		pattern = "A+ B C"
	}
	skip := m.pick("PAST LAST ROW", "TO NEXT ROW")
	within := ""
	if m.one(3) {
		within = fmt.Sprintf(" WITHIN INTERVAL '%d' SECOND", 2+m.IntN(10))
	}
	if len(keys) > 0 {
		out = append([]wideColumn{{keys[0].name, keys[0].class}}, out...)
	}
	for i := range out {
		out[i].name = a + "." + out[i].name
	}
	names, out := renamed(out)
	return wide{text: fmt.Sprintf("SELECT %s FROM %s MATCH_RECOGNIZE (%sORDER BY %s MEASURES %s ONE ROW PER MATCH AFTER MATCH SKIP %s PATTERN (%s)%s DEFINE %s) AS %s",
		names, name, by, in.cols[in.time].name, strings.Join(measures, ", "), skip, pattern, within, strings.Join(define, ", "), a),
		cols: out, level: in.worse(testkit.Bag), time: -1}
}

// ---- several inputs ----

// equal gives a condition that columns of both sides are equal, "" if none fit.
func (m *wideMaker) equal(l, r []wideColumn) string {
	for range 10 {
		if n, c := m.column(l, whole, word, exact); n != "" {
			if o, _ := m.column(r, c); o != "" {
				return n + m.pick(" = ", " = ", " = ", " IS NOT DISTINCT FROM ") + o
			}
		}
	}
	return ""
}

func (m *wideMaker) join(l, r wide) wide {
	how := m.pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
	m.note(strings.ToLower(how))
	lf, a := m.from(l)
	rf, b := m.from(r)
	lc, rc := under(a, l.cols), under(b, r.cols)
	var on []string
	for range m.IntN(3) {
		if e := m.equal(lc, rc); e != "" {
			on = append(on, e)
		}
	}
	all := append(slices.Clone(lc), rc...)
	if len(on) == 0 || m.one(3) {
		on = append(on, m.expr(boolean, all, 2))
	}
	text, out := renamed(all)
	return wide{text: fmt.Sprintf("SELECT %s FROM %s %s %s ON %s", text, lf, how, rf, strings.Join(on, " AND ")), cols: out, level: testkit.Final, updates: true, time: -1}
}

// exists is a filter with a subquery.
func (m *wideMaker) exists(l, r wide) wide {
	lf, a := m.from(l)
	rf, b := m.from(r)
	lc, rc := under(a, l.cols), under(b, r.cols)
	not := m.pick("", "NOT ")
	cond := ""
	switch m.IntN(4) {
	case 0:
		m.note("exists")
		e := m.equal(lc, rc)
		if e == "" || m.one(3) {
			e = strings.TrimPrefix(e+" AND "+m.expr(boolean, append(slices.Clone(lc), rc...), 1), " AND ")
		}
		cond = fmt.Sprintf("%sEXISTS (SELECT 1 FROM %s WHERE %s)", not, rf, e)
	case 1:
		m.note(strings.ToLower(not) + "in")
		c := []family{whole, word}[m.IntN(2)]
		where := ""
		if m.one(3) {
			where = " WHERE " + m.expr(boolean, rc, 1)
		}
		cond = fmt.Sprintf("%s %sIN (SELECT %s FROM %s%s)", m.expr(c, lc, 1), not, m.expr(c, rc, 1), rf, where)
	case 2:
		m.note("scalar subquery")
		s, c := m.call(rc, true, false)
		where := ""
		if e := m.equal(lc, rc); e != "" && m.one(2) {
			m.note("correlated scalar subquery")
			where = " WHERE " + strings.Replace(e, " IS NOT DISTINCT FROM ", " = ", 1)
		}
		cond = fmt.Sprintf("%s %s (SELECT %s FROM %s%s)", m.expr(c, lc, 1), m.pick("=", "<", ">=", "<>"), s, rf, where)
	default:
		m.note("in of rows")
		cond = fmt.Sprintf("(%s, %s) %sIN (SELECT %s, %s FROM %s)", m.expr(whole, lc, 0), m.expr(word, lc, 0), not, m.expr(whole, rc, 0), m.expr(word, rc, 0), rf)
	}
	if m.one(5) {
		cond += m.pick(" AND ", " OR ") + m.expr(boolean, lc, 1)
	}
	text, out := renamed(lc)
	return wide{text: fmt.Sprintf("SELECT %s FROM %s WHERE %s", text, lf, cond), cols: out, level: testkit.Final, updates: true, time: -1}
}

func (m *wideMaker) setop(l, r wide) wide {
	op := m.pick("UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL")
	m.note(strings.ToLower(op))
	classes := [][]family{{whole}, {word}, {whole, word}, {word, exact}}[m.IntN(4)]
	if strings.HasPrefix(op, "INTERSECT ALL") || strings.HasPrefix(op, "EXCEPT ALL") {
		classes = classes[:1] // of several columns Flink compares those alone that are read
	}
	l, r = m.project(l, classes), m.project(r, classes)
	a := m.alias()
	text, out := renamed(under(a, l.cols))
	return wide{text: fmt.Sprintf("SELECT %s FROM ((%s) %s (%s)) AS %s", text, l.text, op, r.text, a), cols: out, level: testkit.Final, updates: true, time: -1}
}

// lateral joins each row with an aggregate of those that fit it.
func (m *wideMaker) lateral(l, r wide) wide {
	m.note("lateral")
	lf, a := m.from(l)
	rf, b := m.from(r)
	lc, rc := under(a, l.cols), under(b, r.cols)
	e := m.equal(lc, rc)
	if e == "" {
		return m.join(l, r)
	}
	s, c := m.call(rc, true, false)
	x := m.alias()
	text, out := renamed(append(slices.Clone(lc), wideColumn{x + ".s", c}))
	return wide{text: fmt.Sprintf("SELECT %s FROM %s %s LATERAL (SELECT %s AS s FROM %s WHERE %s) AS %s%s", text, lf, "CROSS JOIN", s, rf, strings.Replace(e, " IS NOT DISTINCT FROM ", " = ", 1), x, ""), cols: out, level: testkit.Final, updates: true, time: -1}
}

// intervalJoin joins rows that are near in time.
func (m *wideMaker) intervalJoin(l, r wide) wide {
	m.note("interval join")
	lf, a := m.from(l)
	rf, b := m.from(r)
	lc, rc := under(a, l.cols), under(b, r.cols)
	on := fmt.Sprintf("%s BETWEEN %s - INTERVAL '%d' SECOND AND %s + INTERVAL '%d' SECOND", rc[r.time].name, lc[l.time].name, m.IntN(5), lc[l.time].name, m.IntN(5))
	if e := m.equal(lc, rc); e != "" {
		on = strings.Replace(e, " IS NOT DISTINCT FROM ", " = ", 1) + " AND " + on
	}
	all := append(slices.Clone(lc), rc...)
	if m.one(3) {
		on += " AND " + m.expr(boolean, all, 1)
	}
	text, out := renamed(all)
	return wide{text: fmt.Sprintf("SELECT %s FROM %s %s %s ON %s", text, lf, m.pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"), rf, on), cols: out, level: testkit.Final, time: -1}
}

// temporal joins rows with the version of a key at their time.
func (m *wideMaker) temporal(l wide) wide {
	m.note("temporal join")
	lf, a := m.from(l)
	b := m.alias()
	lc := under(a, l.cols)
	rc := under(b, []wideColumn{{"id", whole}, {"k", word}, {"n", whole}, {"d", exact}})
	key, _ := m.column(lc, whole)
	if key == "" {
		key = "1"
	}
	all := append(slices.Clone(lc), rc...)
	on := key + " = " + b + ".id"
	if m.one(3) {
		on += " AND " + m.expr(boolean, all, 1)
	}
	text, out := renamed(all)
	return wide{text: fmt.Sprintf("SELECT %s FROM %s %s p FOR SYSTEM_TIME AS OF %s AS %s ON %s", text, lf, m.pick("JOIN", "LEFT JOIN"), lc[l.time].name, b, on), cols: out, level: testkit.Final, time: -1}
}

// windowJoin joins rows of the same windows.
func (m *wideMaker) windowJoin(l, r wide) wide {
	m.note("window join")
	var call string
	for call == "" || strings.Contains(call, "SESSION") {
		call = m.tvf("%[2]s", true)
	}
	side := func(in wide) (string, []wideColumn) {
		name := "v" + m.alias()
		m.views = append(m.views, "CREATE VIEW "+name+" AS "+in.text)
		return "(SELECT * FROM " + strings.NewReplacer("%[2]s", name, "%s", in.cols[in.time].name).Replace(call) + ") AS ", in.cols
	}
	lf, lcols := side(l)
	rf, rcols := side(r)
	a, b := m.alias(), m.alias()
	lc, rc := under(a, lcols), under(b, rcols)
	on := fmt.Sprintf("%s.window_start = %s.window_start AND %s.window_end = %s.window_end", a, b, a, b)
	if e := m.equal(lc, rc); e != "" && !m.one(4) {
		on = e + " AND " + on
	}
	if m.one(3) {
		on += " AND " + m.expr(boolean, append(slices.Clone(lc), rc...), 1)
	}
	if m.one(3) {
		text, out := renamed(append(lc, wideColumn{a + ".window_start", instant}))
		return wide{text: fmt.Sprintf("SELECT %s FROM %s%s WHERE %sEXISTS (SELECT 1 FROM %s%s WHERE %s)", text, lf, a, m.pick("", "NOT "), rf, b, on), cols: out, level: testkit.Final, time: -1}
	}
	text, out := renamed(append(append(lc, rc...), wideColumn{a + ".window_start", instant}, wideColumn{b + ".window_end", instant}))
	return wide{text: fmt.Sprintf("SELECT %s FROM %s%s %s %s%s ON %s", text, lf, a, m.pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"), rf, b, on), cols: out, level: testkit.Final, time: -1}
}

// ---- the whole ----

// scan reads a table.
func (m *wideMaker) scan(names ...string) wide {
	t := wideTables[m.pick(names...)]
	text, out := renamed(t.cols)
	w := wide{text: "SELECT " + text + " FROM " + t.name, cols: out, updates: t.format != "json", time: -1}
	if !w.updates {
		w.time = slices.IndexFunc(t.cols, func(c wideColumn) bool { return c.name == "ts" })
	}
	return w
}

// timed makes an append-only query with a rowtime.
func (m *wideMaker) timed(depth int) wide {
	for range 20 {
		w := m.scan("t", "s", "o")
		if m.two {
			w = m.scan("s", "o")
		}
		switch m.IntN(10) {
		case 0:
			w = m.filter(w)
		case 1:
			w = m.project(w, nil)
		case 2:
			if depth > 0 {
				w = m.windowAggregate(w)
			}
		case 3:
			if depth > 0 {
				w = m.legacy(w)
			}
		case 4:
			if depth > 0 {
				w = m.over(w)
			}
		case 5:
			w = m.unnest()
		}
		if w.time >= 0 {
			return w
		}
	}
	return m.scan("s")
}

// relation makes a query.
func (m *wideMaker) relation(depth int) wide {
	if depth <= 0 {
		if m.two {
			return m.scan("s", "o", "c", "b", "x")
		}
		return m.scan("t", "t", "s", "c", "b", "x", "x")
	}
	sub := func() wide { return m.relation(depth - 1 - m.IntN(2)) }
	n := 17
	if m.two {
		n = 30
	}
	switch m.IntN(n) {
	case 0, 1:
		return m.filter(sub())
	case 2:
		return m.project(sub(), nil)
	case 3, 4, 5:
		return m.aggregate(sub())
	case 6:
		return m.distinct(sub())
	case 7, 8:
		return m.topn(sub())
	case 9:
		return m.sorted(sub())
	case 10:
		return m.dedup(m.timed(depth - 1))
	case 11:
		return m.over(m.timed(depth - 1))
	case 12, 13:
		return m.windowAggregate(m.timed(depth - 1))
	case 14:
		return m.windowRanks(m.timed(depth - 1))
	case 15:
		return m.choiceOf(func() wide { return m.legacy(m.timed(depth - 1)) }, func() wide { return m.limited(sub()) }, m.unnest)
	case 16:
		return m.match(m.timed(0))
	case 17, 18, 19, 20:
		return m.join(sub(), sub())
	case 21, 22, 23:
		return m.exists(sub(), sub())
	case 24, 25:
		return m.setop(sub(), sub())
	case 26:
		return m.lateral(sub(), sub())
	case 27:
		return m.intervalJoin(m.timed(0), m.timed(0))
	case 28:
		return m.temporal(m.timed(0))
	}
	return m.windowJoin(m.timed(0), m.timed(0))
}

func (m *wideMaker) choiceOf(of ...func() wide) wide { return of[m.IntN(len(of))]() }
