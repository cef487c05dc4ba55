package exec

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"time"

	"runnel/state"
)

// ack is what a task says when a barrier has passed it.
type ack struct {
	task    *task
	barrier *barrier
	ops     []opAck
	sinks   []state.Sink // by node: where keyed state goes; nil for none
	ended   bool         // the task's input has ended before
	at      time.Time
	// For statistics, in real time.
	sync       time.Duration // flushing and snapshotting
	startDelay time.Duration // trigger to the first barrier
	alignment  time.Duration // first to last barrier
	async      time.Duration // copying and storing keyed state
	hold       time.Duration // the longest time of it in one piece
	size       int64         // bytes written
	fullSize   int64         // bytes of the state
}

// opAck is the snapshot of one operator instance.
type opAck struct {
	spec   *opSpec
	plain  []byte              // op.Snapshotter; nil for none
	states []state.StateHandle // keyed state, once it is drained
	splits []SplitState
	writer []byte
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
	save      *state.Savepoint // where it is written
	begun     *state.Attempt   // or here; neither when nothing is kept
	finishing bool             // everybody has acknowledged; it is being stored and committed
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

// snapshot puts the acknowledgements together.
func (p *pending) snapshot(a *attempt) (*state.Checkpoint, error) {
	b := p.barrier
	cp := &state.Checkpoint{
		ID: b.id, Savepoint: b.kind.isSavepoint(), Stopped: b.kind == stopSavepoint, Drained: b.drain,
		JobID: a.job.id, JobName: a.job.name, SQL: a.graph.plan.SQL, Created: b.trigger, MaxParallelism: a.graph.maxPar,
	}
	meta := &snapshotMeta{Version: metaVersion, Type: b.kind.String(), Runs: a.job.allRuns(), Operators: map[string]*operatorMeta{}}
	for _, spec := range a.graph.ops {
		st := state.OperatorState{ID: stateID(spec), Name: spec.name, Parallelism: spec.parallelism}
		m := &operatorMeta{Kind: spec.node.Base().Kind, Source: p.sources[spec]}
		stateful := false
		for i, t := range a.bySpec[spec.task] {
			o := &p.acks[t].ops[spec.index]
			st.Subtasks = append(st.Subtasks, state.SubtaskState{Subtask: i, Groups: state.RangeOf(i, spec.parallelism, a.graph.maxPar),
				Operator: o.plain, States: o.states})
			if o.writer != nil {
				m.Writers = append(m.Writers, o.writer)
			}
			stateful = stateful || o.plain != nil || o.states != nil
		}
		for _, k := range a.sinks {
			if k.spec == spec {
				m.Committables = append(m.Committables, k.pending...)
			}
		}
		if stateful || m.Source != nil || m.Writers != nil || m.Committables != nil {
			cp.Operators = append(cp.Operators, st)
			meta.Operators[st.ID] = m
		}
	}
	text, err := json.Marshal(meta)
	if err != nil {
		return nil, fmt.Errorf("metadata of checkpoint %d: %w", b.id, err)
	}
	cp.Meta = text
	return cp, nil
}
