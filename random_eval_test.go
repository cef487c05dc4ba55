package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"runnel/internal/testkit"
)

// The reference: every relation is computed from the final rows of its inputs, row by row, in the plainest way.

// tuple is a row; a cell is nil, int64, string or bool.
type tuple []any

// database says how a global aggregate of no row ends: with a row in batch mode, with none in a stream.
type database struct{ batch bool }

func (t tuple) key(cols []int) string {
	var b strings.Builder
	for _, c := range cols {
		fmt.Fprintf(&b, "%T%v\x00", t[c], t[c])
	}
	return b.String()
}

func (t tuple) whole() string {
	cols := make([]int, len(t))
	for i := range cols {
		cols[i] = i
	}
	return t.key(cols)
}

// change is the row as the client shows it.
func (t tuple) change(kinds []kind) testkit.Change {
	c := testkit.Change{Kind: "+I"}
	for i, v := range t {
		switch v := v.(type) {
		case nil:
			c.Cells = append(c.Cells, "<NULL>")
		case int64:
			if kinds[i] == moment {
				c.Cells = append(c.Cells, time.UnixMilli(v).UTC().Format("2006-01-02 15:04:05.000"))
			} else {
				c.Cells = append(c.Cells, fmt.Sprint(v))
			}
		case bool:
			c.Cells = append(c.Cells, strings.ToUpper(fmt.Sprint(v)))
		case string:
			c.Cells = append(c.Cells, v)
		}
	}
	return c
}

// compare orders two cells, NULL first.
func compare(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	switch x := a.(type) {
	case int64:
		return int(min(1, max(-1, x-b.(int64))))
	case string:
		return strings.Compare(x, b.(string))
	}
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

func (f *formula) eval(t tuple) any {
	switch f.op {
	case "col":
		return t[f.col]
	case "val":
		return f.val
	case "AND", "OR":
		a, b, stop := f.args[0].eval(t), f.args[1].eval(t), f.op == "OR"
		switch {
		case a == stop || b == stop:
			return stop
		case a == nil || b == nil:
			return nil
		}
		return !stop
	case "CASE":
		if f.args[0].eval(t) == true {
			return f.args[1].eval(t)
		}
		return f.args[2].eval(t)
	case "COALESCE":
		if v := f.args[0].eval(t); v != nil {
			return v
		}
		return f.args[1].eval(t)
	case "IS NULL":
		return f.args[0].eval(t) == nil
	case "IS NOT NULL":
		return f.args[0].eval(t) != nil
	case "IS TRUE":
		return f.args[0].eval(t) == true
	case "IS DISTINCT FROM":
		return compare(f.args[0].eval(t), f.args[1].eval(t)) != 0
	case "IN":
		x, unknown := f.args[0].eval(t), false
		for _, a := range f.args[1:] {
			v := a.eval(t)
			if x == nil || v == nil {
				unknown = true
			} else if compare(x, v) == 0 {
				return true
			}
		}
		if unknown {
			return nil
		}
		return false
	}
	a := f.args[0].eval(t)
	if a == nil {
		return nil
	}
	switch f.op {
	case "NOT":
		return !a.(bool)
	case "UPPER":
		return strings.ToUpper(a.(string))
	case "CHAR_LENGTH":
		return int64(len(a.(string)))
	case "ABS":
		return max(a.(int64), -a.(int64))
	}
	b := f.args[1].eval(t)
	if b == nil {
		return nil
	}
	switch f.op {
	case "+":
		return a.(int64) + b.(int64)
	case "-":
		return a.(int64) - b.(int64)
	case "*":
		return a.(int64) * b.(int64)
	case "MOD":
		return a.(int64) % b.(int64)
	case "||":
		return a.(string) + b.(string)
	}
	return compares(f.op, a, b)
}

func compares(op string, a, b any) bool {
	c := compare(a, b)
	switch op {
	case "=":
		return c == 0
	case "<>":
		return c != 0
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

func (f *filter) rows(d *database) (out []tuple) {
	for _, t := range f.in.rows(d) {
		if f.cond.eval(t) == true {
			out = append(out, t)
		}
	}
	return out
}

func (f *project) rows(d *database) (out []tuple) {
	for _, t := range f.in.rows(d) {
		var row tuple
		for _, e := range f.exprs {
			row = append(row, e.eval(t))
		}
		out = append(out, row)
	}
	return out
}

// of computes an aggregate over the rows of a group.
func (c call) of(group []tuple) any {
	var values []any
	seen := map[any]bool{}
	for _, t := range group {
		if c.where != nil && c.where.eval(t) != true {
			continue
		}
		if c.fn == "COUNT(*)" {
			values = append(values, true)
			continue
		}
		v := t[c.arg]
		if v == nil || c.distinct && seen[v] {
			continue
		}
		seen[v] = true
		values = append(values, v)
	}
	if strings.HasPrefix(c.fn, "COUNT") {
		return int64(len(values))
	}
	if len(values) == 0 {
		return nil
	}
	switch c.fn {
	case "MIN":
		return slices.MinFunc(values, compare)
	case "MAX":
		return slices.MaxFunc(values, compare)
	}
	sum := int64(0)
	for _, v := range values {
		sum += v.(int64)
	}
	if c.fn == "AVG" {
		return sum / int64(len(values))
	}
	return sum
}

func (g *aggregate) rows(d *database) (out []tuple) {
	in, windows := g.in.rows(d), []int(nil)
	if g.win != nil {
		n := len(g.in.columns())
		in, windows = g.win.assign(in), []int{n, n + 1}
	}
	sets := g.sets
	if sets == nil {
		all := make([]int, len(g.keys))
		for i := range all {
			all[i] = i
		}
		sets = [][]int{all}
	}
	for _, set := range sets {
		keys := slices.Clone(windows)
		for _, k := range set {
			keys = append(keys, g.keys[k])
		}
		groups, order := map[string][]tuple{}, []string{}
		for _, t := range in {
			k := t.key(keys)
			if groups[k] == nil {
				order = append(order, k)
			}
			groups[k] = append(groups[k], t)
		}
		if len(keys) == 0 && len(in) == 0 && d.batch && g.sets == nil {
			order = append(order, "")
		}
		for _, k := range order {
			if row := g.row(groups[k], set, windows); g.having == nil || g.having.eval(row) == true {
				out = append(out, row)
			}
		}
	}
	return out
}

// row gives the row of a group of one grouping set.
func (g *aggregate) row(group []tuple, set, windows []int) (row tuple) {
	id := int64(0)
	for i, c := range g.keys {
		id *= 2
		if slices.Contains(set, i) {
			row = append(row, group[0][c])
		} else {
			row = append(row, nil)
			id++
		}
	}
	for _, c := range windows {
		row = append(row, group[0][c])
	}
	if g.sets != nil {
		row = append(row, id)
	}
	for _, c := range g.calls {
		row = append(row, c.of(group))
	}
	return row
}

// assign gives each row once for each of its windows, with their bounds; its time is column 2.
func (w *tvf) assign(in []tuple) (out []tuple) {
	if w.fn == "SESSION" {
		return w.sessions(in)
	}
	size, step := w.size*1000, w.step*1000
	floor := func(ts, of int64) int64 { // the start of a stretch
		rest := (ts - w.offset*1000) % of
		if rest < 0 {
			rest += of
		}
		return ts - rest
	}
	for _, t := range in {
		ts := t[2].(int64) + w.zone*1000
		put := func(start, end int64) { out = append(out, append(slices.Clone(t), start, end)) }
		switch w.fn {
		case "TUMBLE":
			start := floor(ts, size)
			put(start, start+size)
		case "HOP":
			for start := floor(ts, step); start > ts-size; start -= step {
				put(start, start+size)
			}
		default:
			start := floor(ts, size)
			for end := start + step; end <= start+size; end += step {
				if ts < end {
					put(start, end)
				}
			}
		}
	}
	return out
}

// sessions puts the rows of each key into sessions.
func (w *tvf) sessions(in []tuple) (out []tuple) {
	gap := w.size * 1000
	for _, rows := range byKey(inTime(in)) {
		for from := 0; from < len(rows); {
			end := from + 1
			for end < len(rows) && rows[end][2].(int64) <= rows[end-1][2].(int64)+gap {
				end++
			}
			for _, t := range rows[from:end] {
				out = append(out, append(slices.Clone(t), rows[from][2].(int64)+w.zone*1000, rows[end-1][2].(int64)+gap+w.zone*1000))
			}
			from = end
		}
	}
	return out
}

func (d *distinct) rows(db *database) (out []tuple) {
	seen := map[string]bool{}
	for _, t := range d.in.rows(db) {
		if k := t.whole(); !seen[k] {
			seen[k] = true
			out = append(out, t)
		}
	}
	return out
}

func (j *join) matches(l, r tuple) bool {
	for _, e := range j.on {
		a, b := l[e[0]], r[e[1]]
		if !j.safe && (a == nil || b == nil) || compare(a, b) != 0 {
			return false
		}
	}
	if j.near != nil {
		if apart := r[2].(int64) - l[2].(int64); apart < j.near[0]*1000 || apart > j.near[1]*1000 {
			return false
		}
	}
	return j.cond == nil || j.cond.eval(append(slices.Clone(l), r...)) == true
}

func (j *join) rows(d *database) (out []tuple) {
	ls, rs := j.l.rows(d), j.r.rows(d)
	met := make([]bool, len(rs))
	for _, l := range ls {
		any := false
		for i, r := range rs {
			if j.matches(l, r) {
				any, met[i] = true, true
				out = append(out, append(slices.Clone(l), r...))
			}
		}
		if !any && (j.how == "LEFT JOIN" || j.how == "FULL JOIN") {
			out = append(out, append(slices.Clone(l), make(tuple, len(j.r.columns()))...))
		}
	}
	for i, r := range rs {
		if !met[i] && (j.how == "RIGHT JOIN" || j.how == "FULL JOIN") {
			out = append(out, append(make(tuple, len(j.l.columns())), r...))
		}
	}
	return out
}

func (j *semi) rows(d *database) (out []tuple) {
	rs := j.r.rows(d)
	for _, l := range j.l.rows(d) {
		found, unknown := false, false
		for _, r := range rs {
			a, b := l[j.on[0]], r[j.on[1]]
			switch {
			case a == nil || b == nil:
				unknown = unknown || j.in
			case compare(a, b) == 0 && (j.cond == nil || j.cond.eval(append(slices.Clone(l), r...)) == true):
				found = true
			}
		}
		if found && !j.not || j.not && !found && !unknown {
			out = append(out, l)
		}
	}
	return out
}

func (s *scalar) rows(d *database) (out []tuple) {
	rs := s.r.rows(d)
	v := s.of.of(rs)
	if len(rs) == 0 && !d.batch {
		v = nil
	}
	for _, l := range s.l.rows(d) {
		if l[s.col] != nil && v != nil && compares(s.op, l[s.col], v) {
			out = append(out, l)
		}
	}
	return out
}

func (s *setop) rows(d *database) (out []tuple) {
	ls, rs := s.l.rows(d), s.r.rows(d)
	if s.op == "UNION ALL" {
		return append(slices.Clone(ls), rs...)
	}
	all := strings.HasSuffix(s.op, " ALL")
	right, used := map[string]int{}, map[string]bool{}
	for _, t := range rs {
		right[t.whole()]++
	}
	from := ls
	if s.op == "UNION" {
		from = append(slices.Clone(ls), rs...)
	}
	for _, t := range from {
		k := t.whole()
		there := right[k] > 0
		if all {
			right[k]--
		} else if used[k] {
			continue
		}
		if used[k] = true; s.op == "UNION" || there == strings.HasPrefix(s.op, "INTERSECT") {
			out = append(out, t)
		}
	}
	return out
}

func (t *topn) rows(d *database) (out []tuple) {
	groups, order := map[string][]tuple{}, []string{}
	for _, r := range t.in.rows(d) {
		k := r.key(t.keys)
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], r)
	}
	for _, k := range order {
		g := groups[k]
		slices.SortStableFunc(g, func(a, b tuple) int {
			for i, c := range t.order {
				if x := compare(a[c], b[c]); x != 0 && t.down[i] {
					return -x
				} else if x != 0 {
					return x
				}
			}
			return 0
		})
		for i := t.from - 1; i < min(t.to, len(g)); i++ {
			row := slices.Clone(g[i])
			if t.ranked {
				row = append(row, int64(i+1))
			}
			out = append(out, row)
		}
	}
	return out
}

func (o *over) rows(d *database) (out []tuple) {
	in := o.in.rows(d)
	for _, t := range in {
		var frame []tuple
		for _, x := range in {
			apart := t[2].(int64) - x[2].(int64)
			if apart >= 0 && (o.before < 0 || apart <= o.before*1000) && (!o.keyed || compare(t[0], x[0]) == 0) {
				frame = append(frame, x)
			}
		}
		out = append(out, append(slices.Clone(t), o.of.of(frame)))
	}
	return out
}
