package exec

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

// ack is what a task says when a barrier has passed it.
type ack struct {
	task    *task
	barrier *barrier
	ops     []opAck
	at      time.Time
	// For statistics, in real time.
	sync       time.Duration // flushing and snapshotting
	startDelay time.Duration // trigger to the first barrier
	alignment  time.Duration // first to last barrier
	async      time.Duration // copying and storing keyed state
	size       int64         // bytes written
	fullSize   int64         // bytes of the state
}

// opAck is the snapshot of one operator instance.
type opAck struct {
	spec         *opSpec
	plain        []byte
	hasPlain     bool
	splits       []SplitState
	writer       []byte
	hasWriter    bool
	committables [][]byte
}

// pending is a checkpoint in flight.
type pending struct {
	barrier   *barrier
	req       *request
	acks      map[*task]*ack
	wanted    []*task
	sources   map[*opSpec]*SourceState
	stats     *CheckpointStats
	stopTimer func()
	finishing bool // everybody has acknowledged; it is being stored and committed
}

func newPending(a *attempt, b *barrier, r *request) *pending {
	p := &pending{barrier: b, req: r, acks: map[*task]*ack{}, wanted: a.tasks, sources: map[*opSpec]*SourceState{}}
	p.stats = a.job.checkpoints.begin(a, b)
	return p
}

func (p *pending) add(a *attempt, k *ack) {
	p.acks[k.task] = k
	for _, o := range k.ops {
		if s := p.sources[o.spec]; s != nil {
			s.Splits = append(s.Splits, o.splits...)
		}
	}
	a.job.checkpoints.acknowledge(p.stats, k)
}

func (p *pending) complete() bool { return len(p.acks) == len(p.wanted) }

// missing names the tasks that have not acknowledged.
func (p *pending) missing() string {
	var names []string
	for _, t := range p.wanted {
		if p.acks[t] == nil {
			names = append(names, fmt.Sprintf("%s (%d/%d)", t.spec.name(), t.subtask+1, t.spec.parallelism))
		}
	}
	sort.Strings(names)
	const show = 3
	more := ""
	if n := len(names) - show; n > 0 {
		names, more = names[:show], fmt.Sprintf(" and %d more", n)
	}
	return "not acknowledged by " + strings.Join(names, ", ") + more
}

// abandon lets go of what has been gathered.
func (p *pending) abandon() { p.acks = nil }

// snapshot puts the acknowledgements together.
func (p *pending) snapshot(a *attempt) *Snapshot {
	s := &Snapshot{
		Version: snapshotVersion, Job: a.job.id, Name: a.job.name, SQL: a.graph.plan.SQL, Checkpoint: p.barrier.id,
		Type: p.barrier.kind.String(), Time: p.barrier.trigger, MaxParallelism: a.graph.maxPar, Runs: a.job.allRuns(),
		Identities: a.job.identities,
	}
	for _, spec := range a.graph.ops {
		st := OperatorState{ID: stateID(spec), Name: spec.name, Kind: spec.node.Base().Kind, Parallelism: spec.parallelism}
		st.Source = p.sources[spec]
		keep := st.Source != nil
		for _, t := range a.bySpec[spec.task] {
			o := &p.acks[t].ops[spec.index]
			if o.hasPlain {
				st.Plain = append(st.Plain, o.plain)
				keep = true
			}
			if o.hasWriter {
				st.Writers = append(st.Writers, o.writer)
				keep = true
			}
		}
		for _, k := range a.sinks {
			if k.spec == spec {
				st.Committables = append(st.Committables, k.pending...)
			}
		}
		if keep {
			s.Operators = append(s.Operators, st)
		}
	}
	return s
}
