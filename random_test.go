package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"runnel/internal/testkit"
)

// TestRandomPipelines makes random queries over random changelogs. The changelog of the stream, applied, the result of batch
// mode over the rows that are left, and a naive evaluation of the query must be the same rows. RUNNEL_RANDOM_PIPELINES sets
// the number of queries, RUNNEL_RANDOM_SEED the first seed: a case is a function of its seed. A failure is made small and
// printed as a test of testdata/logic.
func TestRandomPipelines(t *testing.T) {
	n, seed := 200, uint64(1)
	if testing.Short() {
		n = 50
	}
	if v := os.Getenv("RUNNEL_RANDOM_PIPELINES"); v != "" {
		var err error
		if n, err = strconv.Atoi(v); err != nil {
			t.Fatalf("RUNNEL_RANDOM_PIPELINES: %v", err)
		}
		seed = uint64(time.Now().UnixNano()) % 1_000_000_000
	}
	if v := os.Getenv("RUNNEL_RANDOM_SEED"); v != "" {
		var err error
		if seed, err = strconv.ParseUint(v, 10, 64); err != nil {
			t.Fatalf("RUNNEL_RANDOM_SEED: %v", err)
		}
	}
	t.Logf("seeds %d to %d", seed, seed+uint64(n)-1)
	for i := range uint64(n) {
		t.Run(fmt.Sprint("seed-", seed+i), func(t *testing.T) {
			t.Parallel()
			p := newPipeline(seed + i)
			setting := testkit.Setting{Formats: formatTable}
			try := func(p *pipeline) string {
				setting.Dir = scratch(t)
				return p.try(setting)
			}
			if why := try(p); why != "" {
				p, why = p.shrink(why, try)
				t.Errorf("%s\n\n%s", why, p)
			}
		})
	}
}

var letters = []string{"a", "b", "c", "ab"}

// table is the input of a random pipeline. Its rows live: each life is inserted, updated, deleted, perhaps inserted again.
type table struct {
	name   string
	names  []string
	kinds  []kind
	mode   string
	key    bool      // the first column
	lives  [][]tuple // the steps of each life; nil deletes
	events []int     // which life takes its next step
	// versions are the rows of a table that keeps its history: each event is one of them. Keys come and go.
	versions []keyVersion
	earth    bool // its times are TIMESTAMP_LTZ
}

// keyVersion is what a key is from a time on.
type keyVersion struct {
	row  tuple
	gone bool
}

func (t *table) ddl(mode string) string {
	var cols []string
	for i, n := range t.names {
		cols = append(cols, n+" "+map[kind]string{number: "BIGINT", text: "STRING", moment: "TIMESTAMP(3)"}[t.kinds[i]])
		if t.earth && t.kinds[i] == moment {
			cols[i] = n + " TIMESTAMP_LTZ(3)"
		}
	}
	if t.key {
		cols = append(cols, "PRIMARY KEY ("+t.names[0]+") NOT ENFORCED")
	}
	with := "'connector' = 'rows'"
	if slices.Contains(t.kinds, moment) {
		cols = append(cols, "WATERMARK FOR ts AS ts - INTERVAL '1' SECOND")
		with += ", 'splits' = '1'"
	}
	if mode != "I" {
		with += ", 'changelog-mode' = '" + mode + "'"
	}
	return fmt.Sprintf("CREATE TABLE %s (%s) WITH (%s)", t.name, strings.Join(cols, ", "), with)
}

// changes gives the changelog of a stretch of the events.
func (t *table) changes(from, to int) (all []testkit.Change) {
	if t.versions != nil {
		return t.history(from, to)
	}
	at := make([]int, len(t.lives))
	for i, l := range t.events[:to] {
		var before tuple
		if at[l] > 0 {
			before = t.lives[l][at[l]-1]
		}
		now := t.lives[l][at[l]]
		at[l]++
		if i < from {
			continue
		}
		add := func(k string, row tuple) {
			c := row.change(t.kinds)
			c.Kind = k
			all = append(all, c)
		}
		switch {
		case now == nil:
			add("-D", before)
		case before == nil:
			add("+I", now)
		default:
			if strings.Contains(t.mode, "UB") {
				add("-U", before)
			}
			add("+U", now)
		}
	}
	return all
}

// history is changes for a table of versions.
func (t *table) history(from, to int) (all []testkit.Change) {
	there := map[any]tuple{}
	for i, e := range t.events[:to] {
		v := t.versions[e]
		before := there[v.row[0]]
		if there[v.row[0]] = v.row; v.gone {
			delete(there, v.row[0])
		}
		add := func(k string, row tuple) {
			c := row.change(t.kinds)
			c.Kind = k
			all = append(all, c)
		}
		switch {
		case i < from || v.gone && before == nil:
		case v.gone:
			add("-D", v.row)
		case before == nil:
			add("+I", v.row)
		default:
			add("-U", before)
			add("+U", v.row)
		}
	}
	return all
}

// fillVersions makes up to so many versions.
func (t *table) fillVersions(r *rand.Rand, most int) {
	now := int64(1717398000000)
	t.versions = []keyVersion{}
	for i := range r.IntN(most + 1) {
		v := keyVersion{row: tuple{letters[r.IntN(len(letters))], int64(r.IntN(6)) - 1, now}, gone: r.IntN(5) == 0}
		t.versions, t.events = append(t.versions, v), append(t.events, i)
		now += int64(r.IntN(4)) * 1500
	}
}

// final gives the rows that are there in the end.
func (t *table) final() (rows []tuple) {
	at := make([]int, len(t.lives))
	for _, l := range t.events {
		at[l]++
	}
	for i, l := range t.lives {
		if at[i] > 0 && l[at[i]-1] != nil {
			rows = append(rows, l[at[i]-1])
		}
	}
	return rows
}

func (t *table) fill(r *rand.Rand, most int) {
	cell := func(k kind) any {
		switch {
		case r.IntN(7) == 0:
			return nil
		case k == number:
			return int64(r.IntN(6)) - 1
		}
		return letters[r.IntN(len(letters))]
	}
	now := int64(1717398000000)
	for id := range r.IntN(most + 1) {
		var life []tuple
		steps := 1
		if t.mode != "I" {
			steps += r.IntN(4)
		}
		for range steps {
			if n := len(life); n > 0 && life[n-1] != nil && r.IntN(2) == 0 {
				life = append(life, nil)
				continue
			}
			var row tuple
			for i, k := range t.kinds {
				switch {
				case t.key && i == 0:
					row = append(row, int64(id))
				case k == moment && t.earth:
					now += int64(r.IntN(9)) * 3_600_000
					row = append(row, now)
				case k == moment:
					now += int64(r.IntN(4)) * 1500
					row = append(row, now)
				default:
					row = append(row, cell(k))
				}
			}
			life = append(life, row)
		}
		t.lives = append(t.lives, life)
		for range life {
			t.events = append(t.events, id)
		}
	}
	if !slices.Contains(t.kinds, moment) {
		r.Shuffle(len(t.events), func(i, j int) { t.events[i], t.events[j] = t.events[j], t.events[i] })
	}
}

// pipeline is a query over tables with the way it runs.
type pipeline struct {
	tables  []*table
	query   relation
	set     [][2]string
	variant testkit.Variant
	twice   bool // in the variant as well as in the plain one
	batch   bool
	zone    zone
}

func newPipeline(seed uint64) *pipeline {
	r := rand.New(rand.NewPCG(seed, 7))
	p := &pipeline{tables: []*table{
		{name: "t", names: []string{"k", "v", "x"}, kinds: []kind{text, number, number}, mode: "I"},
		{name: "c", names: []string{"id", "k", "v"}, kinds: []kind{number, text, number}, mode: "I,UB,UA,D", key: true},
		{name: "b", names: []string{"k", "v"}, kinds: []kind{text, number}, mode: "I,UB,UA,D"},
		{name: "u", names: []string{"id", "k", "v"}, kinds: []kind{number, text, number}, mode: "I,UA,D", key: true},
		{name: "w", names: []string{"k", "v", "ts"}, kinds: []kind{text, number, moment}, mode: "I"},
		{name: "m", names: []string{"k", "v", "ts"}, kinds: []kind{text, number, moment}, mode: "I"},
		{name: "e", names: []string{"k", "v", "ts"}, kinds: []kind{text, number, moment}, mode: "I", earth: true},
		{name: "p", names: []string{"k", "v", "ts"}, kinds: []kind{text, number, moment}, mode: "I,UB,UA,D", key: true},
	}}
	for _, t := range p.tables {
		if t.name == "p" {
			t.fillVersions(r, 12)
		} else {
			t.fill(r, 10)
		}
	}
	p.zone = zones[r.IntN(len(zones))]
	for good := false; !good; good = p.small() && (len(p.expected(false)) > 0 || r.IntN(4) == 0) {
		p.query = (&maker{r, p}).relation(1 + r.IntN(4))
	}
	if r.IntN(4) == 0 {
		p.set = append(p.set, [2]string{"table.exec.mini-batch.enabled", "true"}, [2]string{"table.exec.mini-batch.allow-latency", "10 s"},
			[2]string{"table.exec.mini-batch.size", strconv.Itoa(1 + r.IntN(8))})
		if r.IntN(2) == 0 {
			p.set = append(p.set, [2]string{"table.optimizer.agg-phase-strategy", "ONE_PHASE"})
		}
		if r.IntN(3) == 0 {
			p.set = append(p.set, [2]string{"table.optimizer.incremental-agg-enabled", "false"})
		}
	}
	if r.IntN(5) == 0 {
		p.set = append(p.set, [2]string{"table.optimizer.distinct-agg.split.enabled", "true"})
	}
	matrix := testkit.Matrix()
	p.variant, p.twice, p.batch = matrix[1+r.IntN(len(matrix)-1)], r.IntN(3) == 0, r.IntN(2) == 0
	// Batch mode has no versions and no sessions, and which row of equal times comes first is open there.
	p.batch = p.batch && !noBatch.MatchString(p.text())
	return p
}

var noBatch = regexp.MustCompile(`SYSTEM_TIME|SESSION\(|MATCH_RECOGNIZE|ROWS BETWEEN|ORDER BY \w+\.c2( DESC)?\) AS rn`)

type zone struct {
	name string
	east int64 // seconds
}

// zones are clocks that are not set in June.
var zones = []zone{{"UTC", 0}, {"UTC", 0}, {"UTC", 0}, {"Asia/Kolkata", 19800}, {"America/New_York", -14400}, {"Pacific/Auckland", 43200}}

// small reports whether no part of the query gives very many rows.
func (p *pipeline) small() bool {
	ok := true
	var look func(n relation)
	look = func(n relation) {
		for _, in := range n.inputs() {
			look(in)
		}
		ok = ok && len(n.rows(&database{})) <= 300
	}
	look(p.query)
	return ok
}

// used are the tables that the query reads.
func (p *pipeline) used() (all []*table) {
	text := p.text()
	for _, t := range p.tables {
		if strings.Contains(text, "FROM "+t.name) || strings.Contains(text, "TABLE "+t.name) || strings.Contains(text, "JOIN "+t.name+" FOR") {
			all = append(all, t)
		}
	}
	return all
}

func (p *pipeline) text() string { return p.query.sql(&printer{}) }

// script gives the steps up to the query. In batch mode the tables hold the rows that are left in the end.
func (p *pipeline) script(batch bool) testkit.Test {
	s := &testkit.Script{Name: "random"}
	feed := func(t *table, c []testkit.Change) {
		if len(c) > 0 {
			s.Steps = append(s.Steps, testkit.Step{Rows: &testkit.Rows{Table: t.name, Changes: c}})
		}
	}
	for _, kv := range p.set {
		s.Steps = append(s.Steps, testkit.Step{SQL: fmt.Sprintf("SET '%s' = '%s'", kv[0], kv[1])})
	}
	if p.zone.east != 0 {
		s.Steps = append(s.Steps, testkit.Step{SQL: fmt.Sprintf("SET 'table.local-time-zone' = '%s'", p.zone.name)})
	}
	for _, t := range p.used() {
		mode := t.mode
		if batch {
			mode = "I"
		}
		s.Steps = append(s.Steps, testkit.Step{SQL: t.ddl(mode)})
	}
	for half := range 2 {
		for _, t := range p.used() {
			n := len(t.events)
			switch {
			case !batch:
				feed(t, t.changes(half*(n/2), n/2+half*(n-n/2)))
			case half == 0:
				var rows []testkit.Change
				for _, row := range t.final() {
					rows = append(rows, row.change(t.kinds))
				}
				feed(t, rows)
			}
		}
	}
	s.Steps = append(s.Steps, testkit.Step{SQL: p.text()})
	return testkit.Test{Script: s, At: len(s.Steps) - 1}
}

// String prints the pipeline as a logic test.
func (p *pipeline) String() string {
	var b strings.Builder
	if p.twice {
		fmt.Fprintf(&b, "# %s\n\n", p.variant)
	}
	for _, st := range p.script(false).Script.Steps {
		if st.SQL != "" {
			fmt.Fprintf(&b, "%s;\n\n", st.SQL)
			continue
		}
		fmt.Fprintf(&b, "rows %s\n", st.Rows.Table)
		for _, c := range st.Rows.Changes {
			b.WriteString(c.Line() + "\n")
		}
		b.WriteByte('\n')
	}
	b.WriteString("changelog final\n")
	for _, c := range p.expected(false) {
		b.WriteString(c.Line() + "\n")
	}
	return b.String()
}

func (p *pipeline) expected(batch bool) (all []testkit.Change) {
	kinds := p.query.columns()
	for _, t := range p.query.rows(&database{batch: batch}) {
		all = append(all, t.change(kinds))
	}
	return all
}

// try runs the pipeline in its ways and says what is wrong with one of them, "" when all is well.
func (p *pipeline) try(s testkit.Setting) string {
	ways := []testkit.Variant{testkit.Matrix()[0]}
	if p.twice {
		ways = append(ways, p.variant)
	}
	if p.batch {
		ways = append(ways, testkit.Variant{Backend: "hashmap", Parallelism: 1, Batch: true})
	}
	for i, v := range ways {
		way := s
		way.Dir = fmt.Sprintf("%s/%d", s.Dir, i)
		if err := os.MkdirAll(way.Dir, 0o755); err != nil {
			return err.Error()
		}
		logs, err := testkit.Play(p.script(v.Batch), v, way)
		if err == nil {
			err = logs.Err
		}
		if err != nil {
			return fmt.Sprintf("%s: %s", v, errorText(err))
		}
		if why := testkit.Compare(testkit.Final, p.expected(v.Batch), logs.Changes[""]); why != "" {
			return fmt.Sprintf("%s: %s", v, why)
		}
	}
	return ""
}

// ---- making queries ----

type maker struct {
	r *rand.Rand
	p *pipeline
}

func (m *maker) table(names ...string) *scan {
	name := names[m.r.IntN(len(names))]
	for _, t := range m.p.tables {
		if t.name == name {
			return &scan{t}
		}
	}
	panic("no table " + name)
}

func (m *maker) formulas(kinds []kind) formulas { return formulas{m.r, kinds} }

func (m *maker) one(n int) bool { return m.r.IntN(n) == 0 }

// relation makes a tree with so many levels over its scans.
func (m *maker) relation(depth int) relation {
	if depth == 0 {
		return m.table("t", "c", "b", "u", "w")
	}
	sub := func() relation { return m.relation(max(m.r.IntN(depth), m.r.IntN(depth))) }
	switch m.r.IntN(20) {
	case 0, 1:
		in := sub()
		return &filter{in, m.formulas(in.columns()).of(truth, 2)}
	case 2:
		return m.project(sub(), nil)
	case 3, 4, 5:
		return m.aggregate(sub())
	case 6:
		return m.aggregate(nil)
	case 7:
		return &distinct{m.project(sub(), nil)}
	case 8, 9, 10:
		return m.join(sub(), sub())
	case 11:
		return m.semi(sub(), sub())
	case 12:
		l, r := sub(), sub()
		lc, rc := m.formulas(l.columns()).column(number), m.formulas(r.columns()).column(number)
		if lc == nil || rc == nil {
			return m.semi(l, r)
		}
		return &scalar{l, r, lc.col, m.formulas(nil).pick("=", "<", ">="), call{fn: m.formulas(nil).pick("SUM", "MIN", "MAX", "AVG", "COUNT"), arg: rc.col, kind: number}}
	case 13:
		l, r := sub(), sub()
		kinds := l.columns() // the left side as it is
		if m.one(2) || slices.Contains(kinds, moment) || slices.Contains(kinds, truth) {
			kinds = [][]kind{{text}, {number}, {text, number}}[m.r.IntN(3)]
			l = m.project(l, kinds)
		}
		return &setop{m.formulas(nil).pick("UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"), l, m.project(r, kinds)}
	case 14, 15:
		return m.topn(sub())
	case 16, 17, 18:
		return m.timed()
	}
	if m.one(2) {
		return m.intervalJoin()
	}
	w := m.table("w", "m")
	return &over{w, m.one(2), int64(m.r.IntN(8)) - 2, m.call(w.columns()[:2])}
}

// project computes columns of the given kinds, or of any.
func (m *maker) project(in relation, kinds []kind) relation {
	if kinds == nil {
		for range 1 + m.r.IntN(3) {
			kinds = append(kinds, []kind{number, text, truth}[m.r.IntN(5)*2/4])
		}
	}
	p := &project{in: in}
	for _, k := range kinds {
		p.exprs = append(p.exprs, m.formulas(in.columns()).of(k, m.r.IntN(3)))
	}
	return p
}

func (m *maker) call(kinds []kind) call {
	f := m.formulas(kinds)
	c := call{fn: f.pick("COUNT(*)", "COUNT", "SUM", "MIN", "MAX", "AVG"), kind: number}
	arg := f.column(number)
	if x := f.column(text); x != nil && (arg == nil || c.fn[0] != 'S' && c.fn[0] != 'A' && m.one(2)) {
		arg = x
	}
	if arg == nil || arg.kind == text && (c.fn == "SUM" || c.fn == "AVG") {
		c.fn = "COUNT(*)"
	}
	if c.fn == "COUNT(*)" {
		return c
	}
	if c.arg = arg.col; c.fn == "MIN" || c.fn == "MAX" {
		c.kind = arg.kind
	}
	return c
}

// aggregate groups rows; without an input it does so by windows of a table.
func (m *maker) aggregate(in relation) relation {
	g := &aggregate{in: in}
	if in == nil {
		g.in, g.win = m.table("w", "m", "e"), m.window(true)
		if g.in.(*scan).table.earth {
			g.win.zone = m.p.zone.east
			g.win.step, g.win.size, g.win.offset = g.win.step*10800, g.win.size*10800, g.win.offset*1800
		}
	}
	kinds := g.in.columns()
	for i := range kinds {
		if m.one(2) && len(g.keys) < 2 && !(g.win != nil && kinds[i] == moment) {
			g.keys = append(g.keys, i)
		}
	}
	if g.win != nil && g.win.fn == "SESSION" {
		g.keys = []int{0}
	}
	if m.one(4) && len(g.keys) > 0 && (g.win == nil || g.win.fn != "SESSION") {
		for set := range 1 << len(g.keys) {
			if s := []int{}; m.one(2) || set == 1<<len(g.keys)-1 {
				for i := range g.keys {
					if set>>i&1 == 1 {
						s = append(s, i)
					}
				}
				g.sets = append(g.sets, s)
			}
		}
	}
	for range 1 + m.r.IntN(3) {
		c := m.call(kinds)
		c.distinct = c.fn != "COUNT(*)" && m.one(3)
		if m.one(5) {
			c.where = m.formulas(kinds).of(truth, 1)
		}
		g.calls = append(g.calls, c)
	}
	if m.one(4) {
		g.having = m.formulas(g.columns()).of(truth, 1)
	}
	return g
}

// pairs gives columns of two relations that can be equal.
func (m *maker) pairs(l, r relation) (all [][2]int) {
	for i, a := range l.columns() {
		for j, b := range r.columns() {
			if a == b && (a == number || a == text) {
				all = append(all, [2]int{i, j})
			}
		}
	}
	m.r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func (m *maker) join(l, r relation) relation {
	j := &join{how: m.formulas(nil).pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"), l: l, r: r, safe: m.one(6)}
	pairs := m.pairs(l, r)
	if n := m.r.IntN(5); n > 0 {
		j.on = pairs[:min(len(pairs), max(1, n-1))]
	}
	if len(j.on) == 0 || m.one(3) {
		j.cond = m.formulas(j.columns()).of(truth, 1)
	}
	return j
}

func (m *maker) semi(l, r relation) relation {
	pairs := m.pairs(l, r)
	if len(pairs) == 0 {
		return m.join(l, r)
	}
	j := &semi{l: l, r: r, in: m.one(2), not: m.one(2), on: pairs[0]}
	if !j.in && m.one(2) {
		j.cond = m.formulas((&join{l: l, r: r}).columns()).of(truth, 1)
	}
	return j
}

func (m *maker) topn(in relation) relation {
	t := &topn{in: in, ranked: m.one(2), from: 1}
	windows := -1 // of rows that are those of a window: ranks in each window
	if g, ok := in.(*aggregate); ok && g.win != nil && m.one(2) {
		windows = len(g.keys)
	}
	for i := range in.columns() {
		if windows >= 0 && (i == windows || i == windows+1) || m.one(3) && len(t.keys) < 3 {
			t.keys = append(t.keys, i)
		} else {
			t.order, t.down = append(t.order, i), append(t.down, m.one(2))
		}
	}
	if len(t.order) == 0 {
		t.order, t.down = t.keys[:1], []bool{false}
	}
	m.r.Shuffle(len(t.order), func(i, j int) { t.order[i], t.order[j] = t.order[j], t.order[i] })
	if t.to = 1 + m.r.IntN(3); m.one(4) {
		t.ranked, t.from, t.to = true, 2, t.to+1
	}
	return t
}

func (m *maker) intervalJoin() relation {
	j := &join{how: m.formulas(nil).pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"), l: m.table("w"), r: m.table("m"), on: [][2]int{{0, 0}}}
	from := int64(m.r.IntN(7)) - 4
	j.near = &[2]int64{from, from + int64(m.r.IntN(6))}
	if m.one(4) {
		j.cond = m.formulas([]kind{text, number, moment, text, number, moment}).of(truth, 1)
	}
	return j
}

// ---- making a failure small ----

// rewrites gives smaller forms of a relation.
func rewrites(n relation) (all []relation) {
	all = append(append(all, n.inputs()...), n.simpler()...)
	for i, in := range n.inputs() {
		for _, x := range rewrites(in) {
			if slices.Equal(x.columns(), in.columns()) {
				inputs := slices.Clone(n.inputs())
				inputs[i] = x
				all = append(all, n.with(inputs))
			}
		}
	}
	return all
}

// smaller gives pipelines with less in them. Tables are shared by the scans of the query, so they are shortened in place.
func (p *pipeline) smaller(try func() bool) bool {
	for _, q := range rewrites(p.query) {
		old := p.query
		if p.query = q; try() {
			return true
		}
		p.query = old
	}
	for _, t := range p.used() {
		for n := len(t.events); n > 0; n /= 2 {
			for at := 0; at+n <= len(t.events); at += n {
				old := t.events
				if t.events = slices.Concat(old[:at], old[at+n:]); try() {
					return true
				}
				t.events = old
			}
		}
	}
	for i := range p.set {
		old := p.set
		if p.set = slices.Concat(old[:i], old[i+1:]); try() {
			return true
		}
		p.set = old
	}
	return false
}

// failureCause tells failures apart: a panic, a hang, an error's class; other rows than wanted have none of them.
var failureCause = regexp.MustCompile(`panic|hangs|[a-z]+(\.[a-z]+)+\.[A-Z]\w+`)

// shrink makes the pipeline smaller as long as it fails for the same cause, for half a minute at most, and says how it fails
// in the end.
func (p *pipeline) shrink(why string, try func(*pipeline) string) (*pipeline, string) {
	end := time.Now().Add(30 * time.Second)
	for cause := failureCause.FindString(why); time.Now().Before(end) && p.smaller(func() bool {
		w := try(p)
		if w == "" || failureCause.FindString(w) != cause {
			return false
		}
		why = w
		return true
	}); {
	}
	return p, why
}
