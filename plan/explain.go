package plan

import (
	"fmt"
	"slices"
	"strings"

	"runnel/catalog"
	"runnel/sql"
	"runnel/types"
)

// Explain gives the text of EXPLAIN: the query as it was bound, its physical plan, and the plan that runs with its shared
// parts. As in Flink a bare SELECT is planned without its collecting sink, which may let updates go without the rows
// before them; where the plan that runs differs, a line says so. Behind the plans stands what bounds the state of each
// operator.
func (p *Planner) Explain(e *sql.Explain) (string, error) {
	if err := checkDetails(e, p.Config.Batch()); err != nil {
		return "", err
	}
	x := &explanation{details: e.Details, batch: p.Config.Batch(), parallelism: p.Config.Int("parallelism.default")}
	if n := p.Config.Int("table.exec.resource.default-parallelism"); n > 0 {
		x.parallelism = n
	}
	if err := x.plan(p, e.Stmt); err != nil {
		return "", err
	}
	return x.text(), nil
}

// checkDetails refuses details that are repeated or that batch mode does not have.
func checkDetails(e *sql.Explain, batch bool) error {
	for i, d := range e.Details {
		if slices.Contains(e.Details[:i], d) {
			return refuse("org.apache.flink.sql.parser.impl.ParseException", e, "Duplicate EXPLAIN DETAIL is not allowed.")
		}
		if d == sql.PlanAdvice && batch {
			return refuse(catalog.UnsupportedOp, e, "EXPLAIN PLAN_ADVICE is not supported under batch mode.")
		}
	}
	return nil
}

// explanation is an EXPLAIN while it is written.
type explanation struct {
	details []sql.ExplainDetail
	batch   bool
	// parallelism is that of the nodes without one of their own.
	parallelism int
	syntax      string
	graph       *Graph
	note        string
	advice      []string
	advised     map[Node]int
	costs       map[Node]estimated
}

func (x *explanation) wants(d sql.ExplainDetail) bool { return slices.Contains(x.details, d) }

// plan plans the statement of an EXPLAIN.
func (x *explanation) plan(p *Planner, stmt sql.Stmt) error {
	pl := p.begin()
	var roots []Node
	switch s := stmt.(type) {
	case *sql.Query:
		r, err := pl.query(s, nil)
		if err != nil {
			return err
		}
		roots = []Node{r.node}
	case *sql.Execute:
		return x.plan(p, s.Query)
	case *sql.Insert:
		n, err := pl.insert(s)
		if err != nil {
			return err
		}
		roots = []Node{n}
	case *sql.StatementSet:
		for _, ins := range s.Stmts {
			n, err := pl.insert(ins)
			if err != nil {
				return err
			}
			roots = append(roots, n)
		}
	default:
		return unsupported(stmt, "EXPLAIN of this statement is")
	}
	var trees []string
	for _, r := range roots {
		trees = append(trees, logicalText(r))
	}
	x.syntax = strings.Join(trees, "\n")
	g, err := pl.finish(roots, "explain", "")
	if err != nil {
		return err
	}
	x.graph = g
	if q, ok := stmt.(*sql.Query); ok {
		x.note = x.difference(p, q, g.Sinks[0])
	}
	if x.wants(sql.PlanAdvice) {
		x.advise(p)
	}
	return nil
}

// difference says where the plan of a SELECT that runs differs from the one shown.
func (x *explanation) difference(p *Planner, q *sql.Query, bare Node) string {
	g, err := p.Query(q, "")
	if err != nil {
		return ""
	}
	run := shown(g.Sinks[0].Base().Inputs[0])
	if a, b := bare.Base().Mode, run.Base().Mode; a != b {
		return fmt.Sprintf("A SELECT that runs shows every change: its result comes in [%s] instead of [%s].", b, a)
	}
	return ""
}

// text puts the sections together.
func (x *explanation) text() string {
	var b strings.Builder
	b.WriteString("== Abstract Syntax Tree ==\n" + x.syntax)
	title := "== Optimized Physical Plan =="
	if x.wants(sql.PlanAdvice) {
		title = "== Optimized Physical Plan With Advice =="
	}
	b.WriteString("\n" + title + "\n")
	x.trees(&b, x.physical)
	if x.wants(sql.PlanAdvice) {
		b.WriteString("\n")
		if len(x.advice) == 0 {
			b.WriteString("No available advice...\n")
		}
		for i, a := range x.advice {
			fmt.Fprintf(&b, "advice[%d]: %s\n", i+1, a)
		}
	}
	b.WriteString("\n== Optimized Execution Plan ==\n")
	x.execution(&b)
	if x.wants(sql.JSONExecutionPlan) {
		b.WriteString("\n== Physical Execution Plan ==\n" + jsonPlan(x.graph, x.parallelism))
	}
	if s := x.state(); s != "" {
		b.WriteString("\n== State ==\n" + s)
	}
	return b.String()
}

// trees draws the plan of every sink, an empty line between two.
func (x *explanation) trees(b *strings.Builder, text func(Node) string) {
	for i, s := range x.graph.Sinks {
		if i > 0 {
			b.WriteString("\n")
		}
		drawTree(b, s, "", "", text)
	}
}

// physical is a node of the physical plan, with the details that were asked for.
func (x *explanation) physical(n Node) string {
	d := newDescriber(n, prefix)
	if k, ok := x.advised[n]; ok {
		d.parts = append([]string{fmt.Sprintf("advice=[%d]", k)}, d.parts...)
	}
	if x.wants(sql.ChangelogMode) && !x.batch {
		mode := n.Base().Mode.String()
		switch n.(type) {
		case *Sink, *Collect:
			mode = "NONE"
		}
		d.add("changelogMode", mode)
	}
	text := d.text()
	if x.wants(sql.EstimatedCost) {
		text += ": " + x.estimate(n)
	}
	return text
}

// execution draws the plan that runs: conditions in the usual notation, parts with several readers once.
func (x *explanation) execution(b *strings.Builder) {
	readers := map[Node]int{}
	for _, n := range x.graph.Nodes {
		for _, in := range n.Base().Inputs {
			readers[in]++
		}
	}
	ids := map[Node]int{}
	shared := func(n Node) bool { return readers[n] > 1 && shown(n) == n }
	var draw func(n Node, first, rest string, root bool)
	draw = func(n Node, first, rest string, root bool) {
		n = shown(n)
		text := newDescriber(n, infix).text()
		if shared(n) {
			if !root {
				fmt.Fprintf(b, "%sReused(reference_id=[%d])\n", first, ids[n])
				return
			}
			text += fmt.Sprintf("(reuse_id=[%d])", ids[n])
		}
		b.WriteString(first + text + "\n")
		in := n.Base().Inputs
		for i, c := range in {
			if i == len(in)-1 {
				draw(c, rest+"+- ", rest+"   ", false)
			} else {
				draw(c, rest+":- ", rest+":  ", false)
			}
		}
	}
	first := true
	tree := func(n Node) {
		if !first {
			b.WriteString("\n")
		}
		first = false
		draw(n, "", "", true)
	}
	for _, n := range x.graph.Nodes {
		if shared(n) {
			ids[n] = len(ids) + 1
			tree(n)
		}
	}
	for _, s := range x.graph.Sinks {
		tree(s)
	}
}

// state lists what bounds the state of each operator.
func (x *explanation) state() string {
	var b strings.Builder
	for _, n := range x.graph.Nodes {
		if bound := n.Base().Bound; bound != "" {
			fmt.Fprintf(&b, "%s[%d] is bounded by %s\n", n.Base().Kind, n.Base().ID, bound)
		}
	}
	if x.note != "" {
		b.WriteString(x.note + "\n")
	}
	return b.String()
}

// advise finds what Flink's planner advises.
func (x *explanation) advise(p *Planner) {
	if p.Config.Bool("table.exec.mini-batch.enabled") {
		return
	}
	const text = "[ADVICE] You might want to enable local-global two-phase optimization by configuring ('table.exec.mini-batch.enabled' to 'true', " +
		"'table.exec.mini-batch.allow-latency' to a positive long value, 'table.exec.mini-batch.size' to a positive long value)."
	for _, n := range x.graph.Nodes {
		if _, ok := n.(*GroupAggregate); ok {
			if x.advised == nil {
				x.advised = map[Node]int{}
				x.advice = append(x.advice, text)
			}
			x.advised[n] = 1
		}
	}
}

// rowGuess is how many rows a source is taken to give when nothing is known about it.
const rowGuess = 1e8

// estimated is what a node and all below it are taken to cost.
type estimated struct{ rows, sum, cpu, io, net float64 }

// estimate gives a node's rows and cumulative cost by rules of thumb: a filter lets half of the rows through, a key has ten
// rows. Nothing in the planner is decided by it.
func (x *explanation) estimate(n Node) string {
	c := x.cost(n)
	return fmt.Sprintf("rowcount = %s, cumulative cost = {%s rows, %s cpu, %s io, %s network, %s memory}",
		javaDouble(c.rows), javaDouble(c.sum), javaDouble(c.cpu), javaDouble(c.io), javaDouble(c.net), javaDouble(0))
}

func (x *explanation) cost(n Node) estimated {
	if c, ok := x.costs[n]; ok {
		return c
	}
	var c estimated
	for _, in := range n.Base().Inputs {
		below := x.cost(in)
		c.rows, c.sum, c.cpu, c.io, c.net = c.rows+below.rows, c.sum+below.sum, c.cpu+below.cpu, c.io+below.io, c.net+below.net
	}
	in := c.rows
	switch n := n.(type) {
	case *Scan:
		c.rows, c.cpu, c.io = rowGuess, rowGuess, rowGuess*rowWidth(n.Fields)
	case *Values:
		c.rows = float64(len(n.Rows))
	case *Calc:
		if n.Cond != nil {
			c.rows *= 0.5
		}
	case *GroupAggregate:
		if c.rows *= 0.1; len(n.Keys) == 0 {
			c.rows = 1
		}
		c.cpu += in
	case *WindowAggregate:
		c.rows *= 0.1
		c.cpu += in
	case *Exchange:
		c.net += in * rowWidth(n.Fields)
		c.cpu += in
	case *Limit:
		c.rows = fewest(in, n.Limit)
	case *SortLimit:
		c.rows = fewest(in, n.Limit)
	default:
		c.cpu += in
	}
	c.sum += c.rows
	if x.costs == nil {
		x.costs = map[Node]estimated{}
	}
	x.costs[n] = c
	return c
}

// fewest is how many of some rows a limit lets through; a negative one is none.
func fewest(rows float64, limit int64) float64 {
	if limit < 0 {
		return rows
	}
	return min(rows, float64(limit))
}

// rowWidth is the usual width of a row in bytes.
func rowWidth(fields []types.Field) float64 {
	w := 0.0
	for _, f := range fields {
		switch f.Type.Kind {
		case types.Boolean, types.TinyInt:
			w++
		case types.SmallInt:
			w += 2
		case types.Int, types.Float, types.Date, types.Time:
			w += 4
		case types.Timestamp, types.TimestampLTZ:
			w += 12
		case types.Char, types.Varchar, types.Binary, types.Varbinary:
			w += min(12, float64(f.Type.Precision))
		default:
			w += 8
		}
	}
	return w
}

// javaDouble prints a number as Java does: 1.0E8.
func javaDouble(f float64) string { return string(types.AppendDouble(nil, f)) }
