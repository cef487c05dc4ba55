package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"runnel/internal/testkit"
)

// Random queries whose meaning only Flink knows: a wider grammar than that of random_query_test.go, which is evaluated
// here. A query is text with what the next operator must know about it.

// family is that of a column's type.
type family byte

const (
	whole   family = 'i' // INT, BIGINT
	word    family = 's' // STRING
	exact   family = 'd' // DECIMAL
	float   family = 'f' // DOUBLE, multiples of a quarter
	boolean family = 'b' // BOOLEAN
	instant family = 't' // TIMESTAMP(3)
)

type wideColumn struct {
	name  string
	class family
}

// wide is a random query, or a part of one.
type wide struct {
	text string
	cols []wideColumn
	// level is how far Flink's own runs agree: Sequence from one file, Bag when keys fire together, Final when the order of
	// several inputs is chance.
	level   testkit.Level
	updates bool
	time    int // the column that is the rowtime, -1
	windows int // the column that is window_start, followed by window_end and maybe window_time; 0 for none
}

// loose says that the order of rows within the query is chance, so that nothing above may depend on it.
func (w wide) loose() bool { return w.level > testkit.Sequence }

// worse is the level behind an operator that keeps state.
func (w wide) worse(at testkit.Level) testkit.Level {
	if w.loose() {
		return testkit.Final
	}
	return max(w.level, at)
}

// wideMaker makes queries.
type wideMaker struct {
	*rand.Rand
	aliases int
	views   []string // DDL of views
	two     bool     // several sources: no row may be late, as chance would decide which
	kinds   map[string]bool
}

func (m *wideMaker) one(n int) bool { return m.IntN(n) == 0 }
func (m *wideMaker) alias() string  { m.aliases++; return fmt.Sprintf("q%d", m.aliases) }
func (m *wideMaker) pick(of ...string) string {
	return of[m.IntN(len(of))]
}
func (m *wideMaker) note(kind string) { m.kinds[kind] = true }

// from puts a query into a FROM clause, sometimes as a view.
func (m *wideMaker) from(w wide) (from, alias string) {
	alias = m.alias()
	if m.one(12) {
		m.note("view")
		m.views = append(m.views, fmt.Sprintf("CREATE VIEW v%s AS %s", alias, w.text))
		return "v" + alias + " AS " + alias, alias
	}
	return "(" + w.text + ") AS " + alias, alias
}

// under are the columns with an alias in front of their names.
func under(alias string, cols []wideColumn) []wideColumn {
	out := slices.Clone(cols)
	for i := range out {
		out[i].name = alias + "." + out[i].name
	}
	return out
}

// renamed prints columns as c0, c1, .. and gives them under those names.
func renamed(cols []wideColumn) (text string, out []wideColumn) {
	var b []string
	for i, c := range cols {
		n := fmt.Sprintf("c%d", i)
		b, out = append(b, c.name+" AS "+n), append(out, wideColumn{n, c.class})
	}
	return strings.Join(b, ", "), out
}

func (m *wideMaker) column(cols []wideColumn, of ...family) (string, family) {
	var fit []wideColumn
	for _, c := range cols {
		if slices.Contains(of, c.class) {
			fit = append(fit, c)
		}
	}
	if len(fit) == 0 {
		return "", 0
	}
	c := fit[m.IntN(len(fit))]
	return c.name, c.class
}

// ---- expressions ----

var wideTypes = map[family]string{whole: "INT", word: "STRING", exact: "DECIMAL(10, 2)", float: "DOUBLE", boolean: "BOOLEAN", instant: "TIMESTAMP(3)"}

func (m *wideMaker) literal(c family) string {
	if m.one(9) {
		return "CAST(NULL AS " + wideTypes[c] + ")"
	}
	switch c {
	case whole:
		return fmt.Sprint(m.IntN(6))
	case word:
		return "'" + m.pick("a", "b", "ab", "c", "") + "'"
	case exact:
		return m.pick("1.50", "0.25", "3.1", "2.00")
	case float:
		return m.pick("CAST(0.5 AS DOUBLE)", "CAST(2 AS DOUBLE)", "1.25E0")
	case boolean:
		return m.pick("TRUE", "FALSE")
	}
	return m.pick("TIMESTAMP '2024-06-03 07:00:05'", "TIMESTAMP '2024-06-03 07:00:20.500'")
}

func (m *wideMaker) expr(c family, cols []wideColumn, depth int) string {
	if depth <= 0 || m.one(4) {
		if n, _ := m.column(cols, c); n != "" && !m.one(5) {
			return n
		}
		return m.literal(c)
	}
	sub := func(c family) string { return m.expr(c, cols, depth-1-m.IntN(2)) }
	switch m.IntN(9) {
	case 0:
		return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", sub(boolean), sub(c), sub(c))
	case 1:
		return fmt.Sprintf("COALESCE(%s, %s)", sub(c), sub(c))
	case 2:
		if c != boolean {
			return fmt.Sprintf("NULLIF(%s, %s)", sub(c), sub(c))
		}
	}
	switch c {
	case whole:
		return m.choice(func() string { return fmt.Sprintf("(%s %s %s)", sub(c), m.pick("+", "-"), sub(c)) },
			func() string { return fmt.Sprintf("MOD(%s, %d)", sub(c), 2+m.IntN(3)) },
			func() string { return fmt.Sprintf("CHAR_LENGTH(%s)", sub(word)) },
			func() string { return fmt.Sprintf("CAST(%s AS INT)", sub([]family{exact, float, boolean}[m.IntN(3)])) },
			func() string { return fmt.Sprintf("(-%s)", sub(c)) },
			func() string { return fmt.Sprintf("EXTRACT(SECOND FROM %s)", sub(instant)) })
	case word:
		return m.choice(func() string { return fmt.Sprintf("(%s || %s)", sub(c), sub(c)) },
			func() string { return fmt.Sprintf("UPPER(%s)", sub(c)) },
			func() string { return fmt.Sprintf("SUBSTRING(%s FROM 1 FOR 1)", sub(c)) },
			func() string {
				return fmt.Sprintf("CAST(%s AS STRING)", sub([]family{whole, exact, float, boolean, instant}[m.IntN(5)]))
			})
	case exact:
		return m.choice(func() string { return fmt.Sprintf("(%s %s %s)", sub(c), m.pick("+", "-"), sub(c)) },
			func() string {
				return fmt.Sprintf("CAST(%s AS DECIMAL(10, 2))", sub([]family{whole, float}[m.IntN(2)]))
			},
			func() string { return fmt.Sprintf("ROUND(%s, 1)", sub(c)) })
	case float:
		return m.choice(func() string { return fmt.Sprintf("(%s %s %s)", sub(c), m.pick("+", "-", "*"), sub(c)) },
			func() string { return fmt.Sprintf("CAST(%s AS DOUBLE)", sub(whole)) })
	case boolean:
		k := []family{whole, word, exact, float, instant, whole, word}[m.IntN(7)]
		return m.choice(func() string { return m.compared(sub(k), sub(k)) },
			func() string { return m.compared(sub(k), sub(k)) },
			func() string { return fmt.Sprintf("(%s %s %s)", sub(boolean), m.pick("AND", "OR"), sub(boolean)) },
			func() string { return fmt.Sprintf("(NOT %s)", sub(boolean)) },
			func() string { return fmt.Sprintf("(%s IS %sNULL)", sub(k), m.pick("", "NOT ")) },
			func() string {
				return fmt.Sprintf("(%s IS %s)", sub(boolean), m.pick("TRUE", "NOT TRUE", "FALSE", "UNKNOWN"))
			},
			func() string { return fmt.Sprintf("(%s IS %sDISTINCT FROM %s)", sub(k), m.pick("", "NOT "), sub(k)) },
			func() string { return fmt.Sprintf("(%s BETWEEN %s AND %s)", sub(k), m.literal(k), m.literal(k)) },
			func() string {
				return fmt.Sprintf("(%s %sLIKE '%s')", sub(word), m.pick("", "NOT "), m.pick("a%", "%b", "_", ""))
			},
			func() string {
				return fmt.Sprintf("(%s %sIN (%s, %s))", sub(k), m.pick("", "NOT "), m.literal(k), m.literal(k))
			})
	}
	return m.choice(func() string { return fmt.Sprintf("(%s + INTERVAL '%d' SECOND)", sub(c), 1+m.IntN(9)) },
		func() string { return fmt.Sprintf("FLOOR(%s TO MINUTE)", sub(c)) })
}

// compared compares two expressions. Flink takes x = x in a condition for TRUE, also of a NULL.
func (m *wideMaker) compared(a, b string) string {
	if a == b {
		return "(" + a + " IS NOT NULL)"
	}
	return "(" + a + m.pick(" = ", " <> ", " < ", " <= ", " > ", " >= ") + b + ")"
}

func (m *wideMaker) choice(of ...func() string) string { return of[m.IntN(len(of))]() }

// call is an aggregate function over columns. In loose order only those that do not depend on it.
func (m *wideMaker) call(cols []wideColumn, loose, over bool) (string, family) {
	arg := func(of ...family) (string, family) {
		if n, c := m.column(cols, of...); n != "" && !m.one(6) {
			return n, c
		}
		c := of[m.IntN(len(of))]
		return m.expr(c, cols, 1), c
	}
	n := 9
	if loose {
		n = 6
	}
	var text string
	var c family
	switch m.IntN(n) {
	case 0:
		text, c = "COUNT(*)", whole
	case 1:
		a, _ := arg(whole, word, exact, float, boolean)
		text, c = m.pick("COUNT(", "COUNT(", "COUNT(DISTINCT ")+a+")", whole
	case 2:
		a, k := arg(whole, exact, float)
		text, c = m.pick("SUM(", "SUM(", "SUM(DISTINCT ", "SUM0(")+a+")", k
		if strings.HasPrefix(text, "SUM0") {
			text = "SUM(" + a + ")"
		}
	case 3, 4:
		a, k := arg(whole, word, exact, float, instant, boolean)
		text, c = m.pick("MIN", "MAX")+"("+a+")", k
	case 5:
		a, k := arg(whole, exact, float)
		text, c = m.pick("AVG(", "AVG(", "AVG(DISTINCT ")+a+")", k
	case 6, 7:
		a, k := arg(whole, word, exact, float)
		text, c = m.pick("FIRST_VALUE", "LAST_VALUE")+"("+a+")", k
	case 8:
		a, _ := arg(word)
		text, c = m.pick("LISTAGG("+a+")", "LISTAGG("+a+", '-')", "LISTAGG(DISTINCT "+a+")"), word
	}
	if !over && m.one(5) {
		m.note("filter clause")
		text += " FILTER (WHERE " + m.expr(boolean, cols, 1) + ")"
	}
	return text, c
}

// ---- stateless ----

func (m *wideMaker) filter(in wide) wide {
	m.note("filter")
	from, a := m.from(in)
	text, cols := renamed(under(a, in.cols))
	in.text = fmt.Sprintf("SELECT %s FROM %s WHERE %s", text, from, m.expr(boolean, under(a, in.cols), 2))
	in.cols = cols
	return in
}

// project computes columns of the given classes, or of any; then the time stays.
func (m *wideMaker) project(in wide, classes []family) wide {
	m.note("project")
	from, a := m.from(in)
	cols := under(a, in.cols)
	out := wide{level: in.level, updates: in.updates, time: -1}
	var text []string
	add := func(s string, c family) {
		n := fmt.Sprintf("c%d", len(text))
		text, out.cols = append(text, s+" AS "+n), append(out.cols, wideColumn{n, c})
	}
	if classes == nil {
		for range 1 + m.IntN(3) {
			classes = append(classes, []family{whole, whole, word, word, exact, float, boolean, instant}[m.IntN(8)])
		}
		if in.time >= 0 {
			out.time = 0
			add(cols[in.time].name, instant)
		}
	}
	for _, c := range classes {
		add(m.expr(c, cols, 2), c)
	}
	out.text = fmt.Sprintf("SELECT %s FROM %s", strings.Join(text, ", "), from)
	return out
}

func (m *wideMaker) distinct(in wide) wide {
	m.note("distinct")
	in = m.project(in, []family{whole, word}[:1+m.IntN(2)])
	in.text = "SELECT DISTINCT" + strings.TrimPrefix(in.text, "SELECT")
	in.level, in.time = in.worse(testkit.Sequence), -1
	return in
}

// unnest multiplies rows by the elements of an array.
func (m *wideMaker) unnest() wide {
	m.note("unnest")
	a, u := m.alias(), m.alias()
	join := m.pick("CROSS JOIN", "LEFT JOIN")
	on := ""
	if join == "LEFT JOIN" {
		on = " ON TRUE"
	}
	if m.one(3) {
		return wide{text: fmt.Sprintf("SELECT %s.id AS c0, %s.mk AS c1, %s.mv AS c2, %s.ts AS c3 FROM a AS %s %s UNNEST(%s.m) AS %s (mk, mv)%s", a, u, u, a, a, join, a, u, on),
			cols: []wideColumn{{"c0", whole}, {"c1", word}, {"c2", whole}, {"c3", instant}}, time: 3, level: testkit.Final}
	}
	return wide{text: fmt.Sprintf("SELECT %s.id AS c0, %s.k AS c1, %s.e AS c2, %s.ts AS c3 FROM a AS %s %s UNNEST(%s.tags) AS %s (e)%s", a, a, u, a, a, join, a, u, on),
		cols: []wideColumn{{"c0", whole}, {"c1", word}, {"c2", word}, {"c3", instant}}, time: 3}
}

// ---- aggregates ----

// grouping prints a GROUP BY clause over keys, and maybe a column that says which keys a row has.
func (m *wideMaker) grouping(keys, always []string) (clause, id string) {
	all := append(slices.Clone(keys), always...)
	if len(keys) == 0 || !m.one(4) {
		return " GROUP BY " + strings.Join(all, ", "), ""
	}
	m.note("grouping sets")
	if id = "GROUPING(" + keys[0] + ")"; m.one(2) {
		id = "GROUPING_ID(" + strings.Join(keys, ", ") + ")"
	}
	switch m.IntN(3) {
	case 0:
		clause = "CUBE (" + strings.Join(keys, ", ") + ")"
	case 1:
		clause = "ROLLUP (" + strings.Join(keys, ", ") + ")"
	default:
		clause = "GROUPING SETS ((" + strings.Join(keys, ", ") + "), (" + keys[m.IntN(len(keys))] + "), ())"
	}
	if len(always) > 0 {
		clause = strings.Join(always, ", ") + ", " + clause
	}
	return " GROUP BY " + clause, id
}

// aggregated prints SELECT keys, calls FROM .. GROUP BY. always are keys that every set has.
func (m *wideMaker) aggregated(from string, cols []wideColumn, keys, always []wideColumn, more []string, loose bool) (string, []wideColumn) {
	var text []string
	var out []wideColumn
	add := func(s string, c family) {
		n := fmt.Sprintf("c%d", len(text))
		text, out = append(text, s+" AS "+n), append(out, wideColumn{n, c})
	}
	var names, fixed []string
	for _, k := range keys {
		names = append(names, k.name)
		add(k.name, k.class)
	}
	for _, k := range always {
		fixed = append(fixed, k.name)
		add(k.name, k.class)
	}
	clause, id := "", ""
	if len(keys)+len(always)+len(more) > 0 {
		clause, id = m.grouping(names, append(fixed, more...))
	}
	if id != "" {
		add(id, whole)
	}
	var having []wideColumn
	for range 1 + m.IntN(3) {
		s, c := m.call(cols, loose, false)
		add(s, c)
		having = append(having, wideColumn{s, c})
	}
	if m.one(5) {
		m.note("having")
		clause += " HAVING " + m.expr(boolean, append(slices.Clone(keys), having...), 1)
	}
	return "SELECT " + strings.Join(text, ", ") + " FROM " + from + clause, out
}

// keys chooses some columns to group by.
func (m *wideMaker) keys(cols []wideColumn, most int, but int) (keys []wideColumn) {
	for _, i := range m.Perm(len(cols)) {
		if i != but && len(keys) < most && m.one(2) {
			keys = append(keys, cols[i])
		}
	}
	return keys
}

func (m *wideMaker) aggregate(in wide) wide {
	m.note("aggregate")
	from, a := m.from(in)
	cols := under(a, in.cols)
	keys := m.keys(cols, 2, in.time)
	if m.one(8) {
		keys = append(keys, wideColumn{m.expr(word, cols, 1) + " || ''", word})
	}
	text, out := m.aggregated(from, cols, keys, nil, nil, in.loose())
	return wide{text: text, cols: out, level: in.worse(testkit.Sequence), updates: true, time: -1}
}

// tvf prints a window function over a table and its columns with window_start, window_end, window_time.
func (m *wideMaker) tvf(table string, offsets bool) string {
	step, n := 1+m.IntN(5), 1+m.IntN(3)
	offset := ""
	if offsets && m.one(3) && n > 1 {
		offset = fmt.Sprintf(", INTERVAL '%s' SECOND", m.pick("1", "-1"))
	}
	second := func(n int) string { return fmt.Sprintf("INTERVAL '%d' SECOND", n) }
	switch m.IntN(4) {
	case 0:
		return fmt.Sprintf("TABLE(TUMBLE(TABLE %s, DESCRIPTOR(%%s), %s%s))", table, second(step*2), offset)
	case 1:
		return fmt.Sprintf("TABLE(HOP(TABLE %s, DESCRIPTOR(%%s), %s, %s%s))", table, second(step), second(step*n), offset)
	case 2:
		return fmt.Sprintf("TABLE(CUMULATE(TABLE %s, DESCRIPTOR(%%s), %s, %s%s))", table, second(step), second(step*n), offset)
	}
	return fmt.Sprintf("TABLE(SESSION(TABLE %s%%[2]s, DESCRIPTOR(%%[1]s), %s))", table, second(step))
}

// windowed is a query with the columns of a window function over a view of in.
func (m *wideMaker) windowed(in wide, session bool) (from string, cols []wideColumn, by *wideColumn) {
	name := "v" + m.alias()
	m.views = append(m.views, "CREATE VIEW "+name+" AS "+in.text)
	call := m.tvf(name, !session) // with an offset Flink's aggregates lose rows
	for strings.Contains(call, "SESSION") && !session {
		call = m.tvf(name, true)
	}
	time := in.cols[in.time].name
	m.note(strings.ToLower(call[6:strings.Index(call[6:], "(")+6]) + " tvf")
	if strings.Contains(call, "SESSION") {
		part := ""
		for _, c := range in.cols {
			if c.class == word && m.one(2) {
				c := c
				by, part = &c, " PARTITION BY "+c.name
				break
			}
		}
		return fmt.Sprintf(call, time, part), in.cols, by
	}
	return fmt.Sprintf(call, time), in.cols, nil
}

// windowAggregate groups by windows.
func (m *wideMaker) windowAggregate(in wide) wide {
	m.note("window aggregate")
	call, cols, by := m.windowed(in, true)
	a := m.alias()
	from := call + " AS " + a
	cols = under(a, cols)
	keys := m.keys(cols, 2, in.time)
	if by != nil && !slices.ContainsFunc(keys, func(c wideColumn) bool { return c.name == a+"."+by.name }) {
		keys = append(keys, wideColumn{a + "." + by.name, word})
	}
	if strings.Contains(call, "SESSION") && by == nil {
		keys = nil
	}
	windows := []wideColumn{{a + ".window_start", instant}, {a + ".window_end", instant}}
	timed := m.one(3) && !strings.Contains(call, "GROUPING")
	if timed {
		windows = append(windows, wideColumn{a + ".window_time", instant})
	}
	// Slices and sessions are merged: first and last values cannot be, and the order of texts is that of the slices.
	sets, always := keys, windows
	if by != nil { // of grouping sets Flink makes sessions by another column
		sets, always = nil, append(slices.Clone(keys), windows...)
	}
	text, out := m.aggregated(from, cols, sets, always, nil, in.loose() || !strings.Contains(call, "TUMBLE"))
	w := wide{text: text, cols: out, level: in.worse(testkit.Bag), time: -1, windows: len(keys)}
	if w.windows == 0 {
		w.windows = -1 // column 0
	}
	if timed && !strings.Contains(text, "GROUPING") {
		w.time = len(keys) + 2
	}
	return w
}

// windowRanks is a window top-N, or keeps the first or last row of each window.
func (m *wideMaker) windowRanks(in wide) wide {
	call, cols, _ := m.windowed(in, false)
	a, b := m.alias(), m.alias()
	text, out := renamed(append(under(a, cols), wideColumn{a + ".window_start", instant}, wideColumn{a + ".window_end", instant}))
	by := "window_start, window_end"
	for _, k := range m.keys(under(a, cols), 1, in.time) {
		by += ", " + k.name
	}
	order, limit := "", 1
	if m.one(2) {
		m.note("window deduplicate")
		order = a + "." + cols[in.time].name + m.pick("", " DESC")
	} else {
		m.note("window top-n")
		var list []string
		for _, c := range under(a, cols) {
			list = append(list, c.name+m.pick("", " DESC"))
		}
		m.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		order, limit = strings.Join(list, ", "), 1+m.IntN(3)
	}
	names, final := renamed(under(b, out))
	return wide{text: fmt.Sprintf("SELECT %s FROM (SELECT %s, ROW_NUMBER() OVER (PARTITION BY %s ORDER BY %s) AS rn FROM %s AS %s) AS %s WHERE %s.rn <= %d", names, text, by, order, call, a, b, b, limit),
		cols: final, level: in.worse(testkit.Bag), time: -1, windows: len(cols)}
}

// legacy groups by TUMBLE(), HOP() or SESSION() in GROUP BY.
func (m *wideMaker) legacy(in wide) wide {
	m.note("legacy window")
	from, a := m.from(in)
	cols := under(a, in.cols)
	step := 1 + m.IntN(4)
	fn := m.pick("TUMBLE", "HOP", "SESSION")
	args := fmt.Sprintf("(%s, INTERVAL '%d' SECOND", cols[in.time].name, step)
	if fn == "HOP" {
		args += fmt.Sprintf(", INTERVAL '%d' SECOND", step*(1+m.IntN(3)))
	}
	keys := m.keys(cols, 1, in.time)
	var text []string
	var out []wideColumn
	add := func(s string, c family) {
		n := fmt.Sprintf("c%d", len(text))
		text, out = append(text, s+" AS "+n), append(out, wideColumn{n, c})
	}
	group := []string{fn + args + ")"}
	for _, k := range keys {
		add(k.name, k.class)
		group = append(group, k.name)
	}
	add(fn+"_START"+args+")", instant)
	add(fn+"_END"+args+")", instant)
	time := -1
	if m.one(2) {
		time = len(text)
		add(fn+"_ROWTIME"+args+")", instant)
	}
	for range 1 + m.IntN(2) {
		s, c := m.call(cols, in.loose(), false)
		add(s, c)
	}
	return wide{text: fmt.Sprintf("SELECT %s FROM %s GROUP BY %s", strings.Join(text, ", "), from, strings.Join(group, ", ")), cols: out, level: in.worse(testkit.Bag), time: time}
}
