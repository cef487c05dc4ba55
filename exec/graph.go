package exec

import (
	"fmt"
	"hash/fnv"
	"strings"

	"runnel/plan"
	"runnel/types"
)

// jobGraph is a plan cut for running: operators, the vertices that the dashboard shows (chains between exchanges), and
// the tasks (vertices fused where the exchange between them is elided). It is immutable.
type jobGraph struct {
	plan        *plan.Graph
	ops         []*opSpec // inputs before consumers
	vertices    []*vertex
	tasks       []*taskSpec
	parallelism int // of the widest vertex: the slots that the job needs
	maxPar      int // number of key groups
}

// stage tells apart the operators that one sink node becomes.
type stage uint8

const (
	stageWhole       stage = iota // the node is one operator
	stageEnforcer                 // constraints of the sink's table
	stageMaterialize              // SinkUpsertMaterializer
	stageWriter
)

// opSpec is an operator of the graph, for all its subtasks.
type opSpec struct {
	node        plan.Node
	stage       stage
	id          int
	name        string // with its number: Calc[2]
	batch       bool
	fields      []types.Field
	inputs      []opInput
	outputs     []*linkSpec
	parallelism int
	vertex      *vertex
	task        *taskSpec
	index       int  // within its task
	ordinal     int  // among the operators of its kind
	whole       bool // both phases of a window aggregation
}

// opInput is an input of an operator. Unions are dissolved into several links to one input.
type opInput struct{ links []*linkSpec }

// linkSpec is the way from one operator to an input of another.
type linkSpec struct {
	from, to *opSpec
	input    int
	exchange *plan.Exchange // nil: forward
	dist     plan.Distribution
	direct   bool // within one task: plain calls
}

// vertex is a chain of operators between exchanges, as the dashboard shows it.
type vertex struct {
	id          string // 32 hex digits, the same for equal SQL
	name        string // members joined by " -> "
	ops         []*opSpec
	parallelism int
	task        *taskSpec
}

// taskSpec is what one goroutine per subtask runs.
type taskSpec struct {
	ops         []*opSpec
	vertices    []*vertex
	parallelism int
}

func (t *taskSpec) name() string {
	names := make([]string, len(t.vertices))
	for i, v := range t.vertices {
		names[i] = v.name
	}
	return strings.Join(names, " => ")
}

// cut makes the job graph of a plan.
func cut(g *plan.Graph, cfg *JobConfig) (*jobGraph, error) {
	j := &jobGraph{plan: g}
	specs := map[plan.Node]*opSpec{}
	kinds := map[string]int{}
	for _, n := range g.Nodes {
		switch n.(type) {
		case *plan.Exchange, *plan.Union, *plan.MiniBatchAssigner:
			continue
		}
		whole, skip, err := onePhase(g, n, specs, cfg)
		if err != nil {
			return nil, err
		}
		if skip {
			continue
		}
		var last *opSpec
		for _, st := range stages(n) {
			s := &opSpec{node: n, stage: st, id: n.Base().ID, name: opName(n, st), fields: n.Base().Fields, batch: g.Batch, whole: whole}
			if last == nil {
				if err := s.connect(specs); err != nil {
					return nil, err
				}
			} else {
				l := &linkSpec{from: last, to: s}
				last.outputs = append(last.outputs, l)
				s.inputs = []opInput{{links: []*linkSpec{l}}}
			}
			s.parallelism = width(s, cfg)
			s.ordinal = kinds[n.Base().Kind]
			j.ops = append(j.ops, s)
			j.parallelism = max(j.parallelism, s.parallelism)
			last = s
		}
		specs[n] = last
		kinds[n.Base().Kind]++
	}
	if len(j.ops) == 0 {
		return nil, fmt.Errorf("job %q: empty graph", g.JobName)
	}
	for _, s := range j.ops {
		for _, in := range s.inputs {
			for _, l := range in.links {
				l.settle()
			}
		}
	}
	j.maxPar = cfg.MaxParallelism
	if j.maxPar <= 0 {
		j.maxPar = types.DefaultMaxParallelism(j.parallelism)
	}
	if j.parallelism > j.maxPar {
		return nil, fmt.Errorf("job %q: parallelism %d exceeds pipeline.max-parallelism %d", g.JobName, j.parallelism, j.maxPar)
	}
	j.chain(!cfg.NoChaining)
	j.fuse()
	return j, nil
}

// onePhase reports whether a node aggregates windows in one phase although it is planned in two, and whether it is the local phase
// that is left out for that: where both would run once, the local one would only do the work of the other before it.
func onePhase(g *plan.Graph, n plan.Node, specs map[plan.Node]*opSpec, cfg *JobConfig) (whole, skip bool, err error) {
	switch n := n.(type) {
	case *plan.WindowAggregate:
		l := n.Local()
		return l != nil && specs[l] == nil, false, nil
	case *plan.LocalWindowAggregate:
		links, err := sources(n, nil, specs)
		if err != nil {
			return false, false, err
		}
		if width(&opSpec{node: n, inputs: []opInput{{links: links}}}, cfg) > 1 {
			return false, false, nil
		}
		for _, other := range g.Nodes {
			if w, ok := other.(*plan.WindowAggregate); ok && w.Local() == n && width(&opSpec{node: w}, cfg) > 1 {
				return false, false, nil
			}
		}
		return false, true, nil
	}
	return false, false, nil
}

// stages lists the operators that a node becomes.
func stages(n plan.Node) []stage {
	if c, ok := n.(*plan.Collect); ok && len(c.Enforcer.NotNull) > 0 {
		return []stage{stageEnforcer, stageWhole}
	}
	k, ok := n.(*plan.Sink)
	if !ok {
		return []stage{stageWhole}
	}
	var all []stage
	if len(k.Enforcer.NotNull) > 0 || len(k.Enforcer.Length) > 0 {
		all = append(all, stageEnforcer)
	}
	if k.Materialize {
		all = append(all, stageMaterialize)
	}
	return append(all, stageWriter)
}

// connect makes the links from the operators that feed s.
func (s *opSpec) connect(specs map[plan.Node]*opSpec) error {
	for i, in := range s.node.Base().Inputs {
		links, err := sources(in, nil, specs)
		if err != nil {
			return err
		}
		for _, l := range links {
			l.to, l.input = s, i
			if s.whole { // its exchange is by the columns of the local phase, and has one end
				l.exchange = &plan.Exchange{Info: l.exchange.Info, Dist: plan.Singleton}
			}
			l.from.outputs = append(l.from.outputs, l)
		}
		s.inputs = append(s.inputs, opInput{links: links})
	}
	return nil
}

// sources gives the links from the operators that feed an input, looking through exchanges and unions. The exchange
// next to the consumer decides.
func sources(n plan.Node, x *plan.Exchange, specs map[plan.Node]*opSpec) ([]*linkSpec, error) {
	switch n := n.(type) {
	case *plan.Exchange:
		if x == nil {
			x = n
		}
		return sources(n.Inputs[0], x, specs)
	case *plan.MiniBatchAssigner:
		return sources(n.Inputs[0], x, specs)
	case *plan.Union:
		var all []*linkSpec
		for _, in := range n.Inputs {
			links, err := sources(in, x, specs)
			if err != nil {
				return nil, err
			}
			all = append(all, links...)
		}
		return all, nil
	}
	from := specs[n]
	if l, ok := n.(*plan.LocalWindowAggregate); ok && from == nil {
		return sources(l.Inputs[0], x, specs)
	}
	if from == nil {
		return nil, fmt.Errorf("plan node %s[%d] comes after its consumer", n.Base().Kind, n.Base().ID)
	}
	return []*linkSpec{{from: from, exchange: x}}, nil
}

// width gives an operator's parallelism: its own, else behind a forward link that of its input, else the job's.
func width(s *opSpec, cfg *JobConfig) int {
	if p := s.node.Base().Parallelism; p > 0 {
		return p
	}
	switch n := s.node.(type) {
	case *plan.Collect, *plan.Values:
		return 1
	case *plan.Scan:
		if n.Source != nil && n.Source.Parallelism > 0 {
			return n.Source.Parallelism
		}
	case *plan.Sink:
		if n.Sink != nil && n.Sink.Parallelism > 0 {
			return n.Sink.Parallelism
		}
	}
	p := 0
	for _, in := range s.inputs {
		for _, l := range in.links {
			switch {
			case l.exchange == nil:
				p = max(p, l.from.parallelism)
			case l.exchange.Dist == plan.Singleton:
				return 1
			}
		}
	}
	if p == 0 {
		p = max(1, cfg.Parallelism)
	}
	return p
}

// settle decides how rows of a link are sent, once both widths are known.
func (l *linkSpec) settle() {
	switch {
	case l.exchange != nil:
		l.dist = l.exchange.Dist
	case l.to.parallelism == 1:
		l.dist = plan.Singleton
	default:
		l.dist = plan.Rebalance
	}
}

// forward reports whether subtask i sends to subtask i alone.
func (l *linkSpec) forward() bool { return l.exchange == nil && l.from.parallelism == l.to.parallelism }

// chain groups operators into vertices: forward links between operators of one width, where the consumer has a single
// producer.
func (j *jobGraph) chain(chaining bool) {
	for _, s := range j.ops {
		if chaining && len(s.inputs) == 1 && len(s.inputs[0].links) == 1 && s.inputs[0].links[0].forward() {
			v := s.inputs[0].links[0].from.vertex
			v.ops = append(v.ops, s)
			s.vertex = v
			continue
		}
		s.vertex = &vertex{ops: []*opSpec{s}, parallelism: s.parallelism}
		j.vertices = append(j.vertices, s.vertex)
	}
	for i, v := range j.vertices {
		names := make([]string, len(v.ops))
		for k, s := range v.ops {
			names[k] = vertexPart(s)
		}
		v.name = strings.Join(names, " -> ")
		h := fnv.New128a()
		fmt.Fprintf(h, "%d/%s", i, v.name)
		v.id = fmt.Sprintf("%x", h.Sum(nil))
	}
}

// fuse groups operators into tasks: as vertices, and further across an exchange between two vertices of width 1 when the
// consumer is fed by one task alone. Vertices, ids and counters stay as they are.
func (j *jobGraph) fuse() {
	for _, s := range j.ops {
		if t := fusedInto(s); t != nil {
			s.task, s.index = t, len(t.ops)
			t.ops = append(t.ops, s)
			for _, in := range s.inputs {
				in.links[0].direct = true
			}
		} else {
			s.task = &taskSpec{ops: []*opSpec{s}, parallelism: s.parallelism}
			j.tasks = append(j.tasks, s.task)
		}
		if s.vertex.task == nil {
			s.vertex.task = s.task
			s.task.vertices = append(s.task.vertices, s.vertex)
		}
	}
}

// fusedInto gives the task that an operator can be called by directly, nil if it needs a gate.
func fusedInto(s *opSpec) *taskSpec {
	var t *taskSpec
	for _, in := range s.inputs {
		if len(in.links) != 1 {
			return nil
		}
		l := in.links[0]
		sameVertex := l.from.vertex == s.vertex
		elided := l.from.parallelism == 1 && s.parallelism == 1 && l.exchange != nil
		if !sameVertex && !elided {
			return nil
		}
		if t != nil && t != l.from.task {
			return nil
		}
		t = l.from.task
	}
	return t
}

// opName is an operator's name with its number, as semantics.md 13 has it: Source: orders[1], Calc[2], orders[7].
func opName(n plan.Node, st stage) string {
	switch st {
	case stageEnforcer:
		return fmt.Sprintf("ConstraintEnforcer[%d]", n.Base().ID)
	case stageMaterialize:
		return fmt.Sprintf("SinkMaterializer[%d]", n.Base().ID)
	}
	switch n := n.(type) {
	case *plan.Scan:
		return fmt.Sprintf("Source: %s[%d]", shortName(n.Table.Name), n.ID)
	case *plan.Values:
		return fmt.Sprintf("Source: Values[%d]", n.ID)
	case *plan.Sink:
		return fmt.Sprintf("%s[%d]", shortName(n.Table.Name), n.ID)
	case *plan.Collect:
		return fmt.Sprintf("Collect[%d]", n.ID)
	}
	return fmt.Sprintf("%s[%d]", n.Base().Kind, n.Base().ID)
}

// vertexPart is an operator's name within the name of its vertex.
func vertexPart(s *opSpec) string {
	if n, ok := s.node.(*plan.Sink); ok && s.stage == stageWriter && n.Sink.Committer != nil {
		return metricsName(s) + " -> " + s.name + ": Committer"
	}
	return metricsName(s)
}

// metricsName is the name under which an operator's numbers stand.
func metricsName(s *opSpec) string {
	if _, ok := s.node.(*plan.Sink); ok && s.stage == stageWriter {
		return s.name + ": Writer"
	}
	return s.name
}

// shortName is the last part of catalog.database.table.
func shortName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
