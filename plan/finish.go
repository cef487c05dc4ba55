package plan

import (
	"slices"
	"strings"

	"runnel/expr"
	"runnel/types"
)

// rewrite runs the rules over the tree of one sink.
func (p *planning) rewrite(root Node) (Node, error) {
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
	root = removeAggregates(root)
	root, _ = prune(root, allNeeds(root))
	if !p.batch && p.Config.Bool("table.optimizer.distinct-agg.split.enabled") {
		root = pure(root, p.splitDistinct)
	}
	root = pure(root, mergeCalcs)
	if root, err = bottomUp(root, p.refuseRest); err != nil {
		return nil, err
	}
	return root, nil
}

// physical completes a tree whose nodes are settled: names, sources, exchanges, changelog modes.
func (p *planning) physical(root Node) (Node, error) {
	root = pure(root, nameApart)
	root, err := bottomUp(root, p.pushDown)
	if err != nil {
		return nil, err
	}
	if err := p.replanSources(root); err != nil {
		return nil, err
	}
	root = pure(root, p.exchanges)
	if !p.batch && p.Config.Bool("table.exec.mini-batch.enabled") {
		root = p.assigners(root, procTicks)
	}
	if root, err = p.infer(root); err != nil {
		return nil, err
	}
	return pure(pure(root, p.groupPhases), p.windowPhases), nil
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
	for i, root := range roots {
		var err error
		if roots[i], err = p.rewrite(root); err != nil {
			return nil, err
		}
	}
	if p.Config.Bool("table.optimizer.reuse-source-enabled") {
		shareScans(roots)
	}
	nestScans(roots)
	for _, root := range roots {
		root, err := p.physical(root)
		if err != nil {
			return nil, err
		}
		keys := newKeyTable()
		if s, ok := root.(*Sink); ok {
			if err := p.finishSink(s, keys); err != nil {
				return nil, err
			}
		}
		p.settle(root, keys, newShownKeys())
		root = r.share(root)
		g.Sinks = append(g.Sinks, root)
	}
	p.miniBatches(g)
	number(g)
	stateIDs(g)
	origins(g)
	if err := p.determined(g); err != nil {
		return nil, err
	}
	return g, p.runnable(g)
}

// runnable refuses operators that cannot be run.
func (p *planning) runnable(g *Graph) error {
	if p.Runs == nil {
		return nil
	}
	for _, n := range g.Nodes {
		if err := p.Runs(n, p.batch); err != nil {
			return refuseAt(n, "%s", sentence(err))
		}
	}
	return nil
}

// sentence makes a sentence of an error.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
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

// miniBatches tells the operators that combine changes to do so.
func (p *planning) miniBatches(g *Graph) {
	if p.batch || !p.Config.Bool("table.exec.mini-batch.enabled") {
		return
	}
	m := MiniBatch{
		Size:    int64(p.Config.Int("table.exec.mini-batch.size")),
		Latency: p.Config.Duration("table.exec.mini-batch.allow-latency"),
	}
	rowtime := map[Node]bool{} // the ticks that come from below are watermarks
	for _, root := range g.Sinks {
		pure(root, func(n Node) Node {
			for _, in := range n.Base().Inputs {
				rowtime[n] = rowtime[n] || rowtime[in]
			}
			switch n := n.(type) {
			case *MiniBatchAssigner:
				rowtime[n] = n.Rowtime
			case *GroupAggregate, *LocalGroupAggregate, *IncrementalGroupAggregate:
				n.Base().MiniBatch = m
				n.Base().MiniBatch.Rowtime = rowtime[n]
			case *ChangelogNormalize:
				n.MiniBatch = m
			case *Deduplicate:
				n.MiniBatch = m
				n.Compact = p.Config.Bool("table.exec.deduplicate.mini-batch.compact-changes-enabled")
			case *Join:
				if n.Join != Semi && n.Join != Anti {
					n.MiniBatch = m
				}
			}
			return n
		})
	}
}

// replanSources asks connectors again, for the columns and rows that are left.
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
		req, err := s.request(p.env())
		if err != nil {
			return nil, err
		}
		src, err := s.plan(req)
		if err != nil {
			return nil, refuseAt(s, "%s", err)
		}
		s.Source, s.Parallelism = src, src.Parallelism
		return n, nil
	})
	return err
}

// finishSink settles what a sink does to its input, once its modes and keys are known.
func (p *planning) finishSink(s *Sink, keys *keyTable) error {
	if err := p.stamp(s); err != nil {
		return err
	}
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
		shuffle = shuffle || s.Parallelism > 1 // rows that are only inserted may share a key, too: the last one counts
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
func (p *planning) settle(n Node, keys, shown *keyTable) {
	b := n.Base()
	for _, i := range b.Inputs {
		p.settle(i, keys, shown)
	}
	if l, ok := n.(*LookupJoin); ok {
		p.settleLookup(l, keys)
	}
	p.parallelism(n)
	b.UpsertKeys = shown.upsert(n)
	if j, ok := n.(*Join); ok {
		j.joinSpecs(keys)
	}
	retractTexts(n)
	p.state(n)
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
	case *OverAggregate:
		return
	case *GroupAggregate:
		if n.Merges() {
			return
		}
	case *WindowAggregate:
		if n.Local() != nil {
			return
		}
	}
	aggs := calls(n)
	for i := range aggs {
		aggs[i].Text = callText(aggs[i], in.Fields, retracts)
	}
}

// calls gives the aggregates of a node.
func calls(n Node) []expr.AggCall {
	switch n := n.(type) {
	case *GroupAggregate:
		return n.Aggs
	case *WindowAggregate:
		return n.Aggs
	case *GroupWindowAggregate:
		return n.Aggs
	case *OverAggregate:
		return n.Aggs
	}
	return nil
}

func columnNames(fields []types.Field, cols []int) string {
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = fields[c].Name
	}
	return strings.Join(names, ", ")
}
