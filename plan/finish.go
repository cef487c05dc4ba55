package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// optimize runs the rules over the tree of one sink.
func (p *planning) optimize(root Node) (Node, error) {
	root = pure(root, p.foldConstants)
	root = pure(root, mergeCalcs)
	root = pushConditions(root)
	root = pure(root, pushJoinConditions)
	root = pushConditions(root)
	root = pure(root, mergeCalcs)
	root, err := bottomUp(root, p.recognize)
	if err != nil {
		return nil, err
	}
	root = pure(root, mergeCalcs)
	root, _ = prune(root, allNeeds(root))
	root = pure(root, mergeCalcs)
	if root, err = bottomUp(root, p.refuseRest); err != nil {
		return nil, err
	}
	if err := p.replanSources(root); err != nil {
		return nil, err
	}
	root = pure(root, p.exchanges)
	if root, err = p.infer(root); err != nil {
		return nil, err
	}
	return root, nil
}

// finish turns the bound trees of a statement into its graph.
func (p *planning) finish(roots []Node, name, text string) (*Graph, error) {
	if err := p.checkMiniBatch(); err != nil {
		return nil, err
	}
	if n := p.Config.Get("pipeline.name"); n != "" {
		name = oneLine(n)
	}
	g := &Graph{JobName: name, SQL: text, Batch: p.batch}
	r := &reuse{p: p, seen: map[string]Node{}}
	for _, root := range roots {
		root, err := p.optimize(root)
		if err != nil {
			return nil, err
		}
		keys := newKeyTable()
		if s, ok := root.(*Sink); ok {
			if err := p.finishSink(s, keys); err != nil {
				return nil, err
			}
		}
		p.settle(root, keys)
		root = r.share(root)
		g.Sinks = append(g.Sinks, root)
	}
	number(g)
	stateIDs(g)
	return g, p.runnable(g)
}

// runnable refuses operators that cannot be run.
func (p *planning) runnable(g *Graph) error {
	if p.Runs == nil || p.explain {
		return nil
	}
	for _, n := range g.Nodes {
		if !p.Runs(n.Base().Kind) {
			return refuseAt(n, "%s is not supported yet.", n.Base().Kind).Cure("EXPLAIN shows the plan.")
		}
	}
	return nil
}

// checkMiniBatch refuses mini-batches without their bounds.
func (p *planning) checkMiniBatch() error {
	if !p.Config.Bool("table.exec.mini-batch.enabled") || p.batch {
		return nil
	}
	if p.Config.Duration("table.exec.mini-batch.allow-latency") <= 0 {
		return refuse("java.lang.IllegalArgumentException", nil, "MiniBatch Latency must be greater than 0 ms. [null]").
			Cure("SET 'table.exec.mini-batch.allow-latency' = '1 s';")
	}
	if p.Config.Int("table.exec.mini-batch.size") <= 0 {
		return refuse("java.lang.IllegalArgumentException", nil, "Key: 'table.exec.mini-batch.size' , default: -1 (fallback keys: []) must be > 0.").
			Cure("SET 'table.exec.mini-batch.size' = '5000';")
	}
	return nil
}

// replanSources asks connectors again, for the columns that are left.
func (p *planning) replanSources(root Node) error {
	_, err := bottomUp(root, func(n Node) (Node, error) {
		s, ok := n.(*Scan)
		if !ok {
			return n, nil
		}
		if s.plan == nil {
			return nil, refuseAt(s, "The table '%s' cannot be read, only looked up.", s.Table.Name).
				Cure("Join it with FOR SYSTEM_TIME AS OF a PROCTIME() column of the other table.")
		}
		src, err := s.plan(connectors.ScanRequest{Table: s.Table, Columns: s.Columns})
		if err != nil {
			return nil, refuseAt(s, "%s", err)
		}
		s.Source, s.Parallelism = src, src.Parallelism
		return n, nil
	})
	return err
}

// exchange moves rows between subtasks in front of a node.
func exchange(in Node, dist Distribution, keys []int) Node {
	b := in.Base()
	e := &Exchange{Dist: dist, Keys: keys}
	e.Kind, e.Inputs, e.Fields, e.Pos = "Exchange", []Node{in}, b.Fields, b.Pos
	return e
}

// hashed distributes by keys; without any, all rows go to one subtask.
func hashed(in Node, keys []int) Node {
	if len(keys) == 0 {
		return exchange(in, Singleton, nil)
	}
	return exchange(in, HashKeys, keys)
}

// exchanges puts in front of a node what its state needs: all rows of a key in one place.
func (p *planning) exchanges(n Node) Node {
	b := n.Base()
	switch n := n.(type) {
	case *ChangelogNormalize:
		b.Inputs[0] = hashed(b.Inputs[0], n.Keys)
	case *GroupAggregate:
		b.Inputs[0] = hashed(b.Inputs[0], n.Keys)
	case *WindowAggregate:
		b.Inputs[0] = hashed(b.Inputs[0], n.Keys)
	case *Sort, *TemporalSort, *SortLimit, *Limit:
		b.Inputs[0] = exchange(b.Inputs[0], Singleton, nil)
	case *Join:
		b.Inputs[0], b.Inputs[1] = hashed(b.Inputs[0], n.LeftKeys), hashed(b.Inputs[1], n.RightKeys)
	case *IntervalJoin:
		b.Inputs[0], b.Inputs[1] = hashed(b.Inputs[0], n.LeftKeys), hashed(b.Inputs[1], n.RightKeys)
	default:
		p.exchangesMore(n)
	}
	return n
}

// finishSink settles what a sink does to its input, once its modes and keys are known.
func (p *planning) finishSink(s *Sink, keys *keyTable) error {
	s.Parallelism = s.Sink.Parallelism
	if v, ok := s.Table.Options["sink.parallelism"]; ok && s.Parallelism == 0 {
		s.Parallelism, _ = atoi(v)
	}
	if v, ok := s.Table.Options["sink.parallelism"]; ok && s.Parallelism <= 0 {
		return refuse(validation, s.at, "Invalid configured parallelism %s for table '%s'.", v, s.Table.Name)
	}
	in := s.Inputs[0]
	mode := in.Base().Mode
	if s.Parallelism > 0 && mode != types.InsertOnly && len(s.PrimaryKey) == 0 {
		return refuse(tableError, s.at, "The sink for table '%s' has a configured parallelism of %d, while the input parallelism is -1. "+
			"Since the configured parallelism is different from the input's parallelism and the changelog mode is not insert-only, "+
			"a primary key is required but could not be found.", s.Table.Name, s.Parallelism)
	}
	upsert := keys.upsert(in)
	switch p.Config.Get("table.exec.sink.upsert-materialize") {
	case "FORCE":
		s.Materialize = len(s.PrimaryKey) > 0
	case "AUTO":
		s.Materialize = s.Sink.Mode != types.InsertOnly && mode != types.InsertOnly && len(s.PrimaryKey) > 0 &&
			!slices.ContainsFunc(upsert, func(k []int) bool { return subset(k, s.PrimaryKey) })
	}
	s.Materialize = s.Materialize && !p.batch
	if len(upsert) > 0 {
		s.InputKey = upsert[0]
	}
	shuffle := s.Materialize
	switch p.Config.Get("table.exec.sink.keyed-shuffle") {
	case "AUTO":
		shuffle = shuffle || s.Parallelism > 1 && mode != types.InsertOnly
	case "FORCE":
		shuffle = true
	}
	if shuffle && len(s.PrimaryKey) > 0 {
		x := &Exchange{Dist: HashKeys, Keys: s.PrimaryKey, hidden: true}
		x.Kind, x.Inputs, x.Fields, x.Pos, x.Mode = "Exchange", []Node{in}, in.Base().Fields, s.Pos, mode
		s.Inputs[0] = x
	}
	return nil
}

func atoi(s string) (int, bool) {
	n := 0
	for _, r := range s {
		if r < '0' || r > '9' || n > 1<<20 {
			return 0, false
		}
		n = n*10 + int(r-'0')
	}
	return n, s != ""
}

// settle fills in what is left of every node of a tree: keys, texts, parallelism, state.
func (p *planning) settle(n Node, keys *keyTable) {
	b := n.Base()
	for _, i := range b.Inputs {
		p.settle(i, keys)
	}
	p.parallelism(n)
	b.UpsertKeys = keys.upsert(n)
	if j, ok := n.(*Join); ok {
		j.joinSpecs(keys)
	}
	retractTexts(n)
	p.state(n)
	b.Desc = describe(n)
}

// parallelism settles how many subtasks a node has: what a singleton exchange gives goes to one, and so does everything
// above it up to the next exchange. Where two parallelisms meet without an exchange, one is put in.
func (p *planning) parallelism(n Node) {
	b := n.Base()
	switch n := n.(type) {
	case *Scan:
		return
	case *Values:
		b.Parallelism = 1
		return
	case *Exchange:
		b.Parallelism = 0
		if n.Dist == Singleton {
			b.Parallelism = 1
		}
		return
	case *Collect:
		b.Parallelism = 1
	case *Sink:
		if b.Parallelism == 0 {
			b.Parallelism = b.Inputs[0].Base().Parallelism
		}
	case *Union:
		b.Parallelism = unionParallelism(n)
	default:
		b.Parallelism = b.Inputs[0].Base().Parallelism
		if s, ok := b.Inputs[0].(*Scan); ok && s.Parallelism > 1 {
			b.Parallelism = 0 // the source's own parallelism is its own
		}
	}
	for i, in := range b.Inputs {
		ib := in.Base()
		if _, ok := in.(*Exchange); ok {
			ib.Parallelism = b.Parallelism
			continue
		}
		if ib.Parallelism == b.Parallelism {
			continue
		}
		var x Node
		switch {
		case b.Parallelism == 1:
			x = exchange(in, Singleton, nil)
		case ib.Mode == types.InsertOnly || len(ib.UpsertKeys) == 0:
			x = exchange(in, Rebalance, nil)
		default:
			x = exchange(in, HashKeys, ib.UpsertKeys[0])
		}
		x.(*Exchange).hidden = true
		xb := x.Base()
		xb.Mode, xb.Parallelism, xb.UpsertKeys = ib.Mode, b.Parallelism, ib.UpsertKeys
		xb.Desc = describe(x)
		b.Inputs[i] = x
	}
}

// unionParallelism is that of the inputs; where they differ, one subtask if the order of updates counts, else the default.
func unionParallelism(n *Union) int {
	first, same, inserts := n.Inputs[0].Base().Parallelism, true, true
	for _, in := range n.Inputs {
		same = same && in.Base().Parallelism == first
		inserts = inserts && in.Base().Mode == types.InsertOnly
	}
	switch {
	case same:
		return first
	case inserts:
		return 0
	}
	return 1
}

// retractTexts writes the calls of an aggregate over updates as plans do.
func retractTexts(n Node) {
	b := n.Base()
	if len(b.Inputs) == 0 {
		return
	}
	in := b.Inputs[0].Base()
	retracts := in.Mode.Has(types.UpdateBefore) || in.Mode.Has(types.Delete)
	switch n := n.(type) {
	case *GroupAggregate:
		for i := range n.Aggs {
			n.Aggs[i].Text = callText(n.Aggs[i], in.Fields, retracts)
		}
	case *GroupWindowAggregate:
		for i := range n.Aggs {
			n.Aggs[i].Text = callText(n.Aggs[i], in.Fields, retracts)
		}
	case *WindowAggregate:
		for i := range n.Aggs {
			n.Aggs[i].Text = callText(n.Aggs[i], in.Fields, retracts)
		}
	}
}

// state settles the time to live of a stateful node and says what bounds its state.
func (p *planning) state(n Node) {
	b := n.Base()
	ttl := p.Config.Duration("table.exec.state.ttl")
	if g, ok := n.(*GroupAggregate); ok {
		ttl = hinted(g.ttl, ttl)
	}
	keep := func(what string) {
		b.TTL = ttl
		b.Bound = what + ", dropped after " + spanText(ttl) + " without a change (state TTL)"
		if ttl == 0 {
			b.Bound = "nothing: " + what + ", kept for ever; SET 'table.exec.state.ttl' = '1 d' bounds it"
		}
	}
	if p.batch {
		return
	}
	switch n := n.(type) {
	case *GroupAggregate:
		if len(n.Keys) == 0 && !n.growing() {
			b.Bound, b.TTL = "one row", ttl
			return
		}
		keep("one entry for each " + keyNames(b.Inputs[0], n.Keys))
	case *ChangelogNormalize:
		keep("one row for each " + keyNames(b.Inputs[0], n.Keys))
	case *WindowAggregate:
		b.Bound = "the windows that are open: dropped when the watermark passes their end"
		if !n.Window.Rowtime {
			b.Bound = "the windows that are open: dropped at their end"
		}
	case *IntervalJoin:
		b.Bound = intervalBound(n)
	case *Join:
		n.LeftTTL, n.RightTTL = hinted(n.LeftTTL, ttl), hinted(n.RightTTL, ttl)
		keep("every row of both sides")
		if n.LeftTTL != n.RightTTL {
			b.Bound = "the sides: left rows " + keptText(n.LeftTTL) + ", right rows " + keptText(n.RightTTL)
		}
	case *SortLimit:
		if n.Strategy == Retract {
			keep("every row")
			return
		}
		b.Bound, b.TTL = fmt.Sprintf("%d rows", n.Offset+n.Limit), ttl
	case *Limit:
		b.Bound, b.TTL = fmt.Sprintf("%d rows", n.Offset+n.Limit), ttl
		if b.Inputs[0].Base().Mode != types.InsertOnly {
			keep("every row")
		}
	case *TemporalSort:
		b.Bound = "the rows ahead of the watermark"
	case *Sink:
		if n.Materialize {
			keep("the rows of each " + columnNames(n.names, n.PrimaryKey))
		}
	default:
		p.stateMore(n, keep)
	}
}

// hinted is the time to live of a hint, or without one the configured one.
func hinted(hint, config time.Duration) time.Duration {
	switch hint {
	case 0:
		return config
	case forever:
		return 0
	}
	return hint
}

func keptText(ttl time.Duration) string {
	if ttl == 0 {
		return "for ever"
	}
	return "for " + spanText(ttl)
}

// growing reports whether the state of one group grows with its rows.
func (n *GroupAggregate) growing() bool {
	for _, a := range n.Aggs {
		if a.Distinct {
			return true
		}
		switch a.Func.Name {
		case "LISTAGG", "COLLECT", "ARRAY_AGG", "JSON_ARRAYAGG", "JSON_OBJECTAGG":
			return true
		}
	}
	return false
}

func keyNames(n Node, keys []int) string {
	if len(keys) == 0 {
		return "row"
	}
	return columnNames(fieldsIn(n), keys)
}

func columnNames(fields []types.Field, cols []int) string {
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = fields[c].Name
	}
	return strings.Join(names, ", ")
}

func intervalBound(n *IntervalJoin) string {
	word := "the watermark"
	if !n.Rowtime {
		word = "the clock"
	}
	left, right := max(n.Upper, 0), max(-n.Lower, 0)
	return fmt.Sprintf("the interval: a left row until %s is %s past it, a right row until it is %s past it", word,
		spanText(time.Duration(left)*time.Millisecond), spanText(time.Duration(right)*time.Millisecond))
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// spanText prints a duration in its greatest whole unit, as plans do: 10 min.
func spanText(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if d != 0 && d%u.unit == 0 {
			return fmt.Sprintf("%d %s", d/u.unit, u.name)
		}
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

// reuse shares equal parts of the trees of a statement.
type reuse struct {
	p    *planning
	seen map[string]Node
}

// share gives the node that stands for n and all its equals.
func (r *reuse) share(n Node) Node {
	b := n.Base()
	for i, in := range b.Inputs {
		b.Inputs[i] = r.share(in)
	}
	if !r.allowed(n) {
		return n
	}
	key := digestNode(n)
	if same, ok := r.seen[key]; ok {
		return same
	}
	r.seen[key] = n
	return n
}

func (r *reuse) allowed(n Node) bool {
	switch n := n.(type) {
	case *Sink, *Collect:
		return false
	case *Scan:
		return r.p.Config.Bool("table.optimizer.reuse-source-enabled") && r.p.Config.Bool("table.optimizer.reuse-sub-plan-enabled")
	case *Calc:
		return r.p.Config.Bool("table.optimizer.reuse-sub-plan-enabled") && deterministic(n)
	}
	return r.p.Config.Bool("table.optimizer.reuse-sub-plan-enabled")
}

// number gives the nodes their ids, inputs first.
func number(g *Graph) {
	done := map[Node]bool{}
	var visit func(n Node)
	visit = func(n Node) {
		if done[n] {
			return
		}
		done[n] = true
		for _, in := range n.Base().Inputs {
			visit(in)
		}
		g.Nodes = append(g.Nodes, n)
		n.Base().ID = len(g.Nodes)
	}
	for _, s := range g.Sinks {
		visit(s)
	}
}
