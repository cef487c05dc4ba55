package exec

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"runnel/plan"
	"runnel/state"
	"runnel/types"
)

// Latest as Restore.Path takes the newest retained checkpoint or stop-savepoint of a job of the same name.
const Latest = "latest"

// RestoreReport says what a job was, or would have been, restored from, and what becomes of every operator's state.
type RestoreReport struct {
	// Path is the savepoint or checkpoint; "" when the job starts empty, be it that nothing was asked for or that Latest
	// found nothing.
	Path       string
	Latest     bool // Latest was asked for
	Checkpoint int64
	Savepoint  bool
	Operators  []OperatorFit
	Notes      []string
}

// Fit is what becomes of an operator's state.
type Fit uint8

const (
	Kept        Fit = iota
	StartsEmpty     // the operator is new
	LetGo           // nobody takes the state, and that is allowed (ignore-unclaimed-state)
	Unclaimed       // nobody takes the state: the restore is refused
	Misfit          // the state means something else now: the restore is refused
)

// String is the word in reports.
func (f Fit) String() string {
	return [...]string{"kept", "starts empty", "let go", "not claimed", "does not fit"}[f]
}

// OperatorFit is the line of one operator.
type OperatorFit struct {
	Operator string // its name, e.g. GroupAggregate[4]
	ID       string // its stable id
	Fit      Fit
	Why      string // records kept, or the differences
}

// String is the line as it is printed.
func (f OperatorFit) String() string {
	s := fmt.Sprintf("%s: %s", f.Operator, f.Fit)
	if f.Why != "" {
		s += " (" + f.Why + ")"
	}
	return s
}

// RestoreError refuses a restore, before anything has started.
type RestoreError struct {
	Path     string
	Problems []string
	Report   RestoreReport
	Advice   string
	Err      error // the cause, if it is not the comparison
}

func (e *RestoreError) Error() string {
	return fmt.Sprintf("restoring from %s: %s", e.Path, strings.Join(e.Problems, "; "))
}

// Unwrap gives the cause.
func (e *RestoreError) Unwrap() error { return e.Err }

// Cure is what to do about it.
func (e *RestoreError) Cure() string { return e.Advice }

// Restore says what the job was restored from at its submission.
func (j *Job) Restore() RestoreReport { return j.report }

// prepare finds and compares what the job is to be restored from. Nothing of the job runs yet.
func (j *Job) prepare(ctx context.Context) error {
	point, claim, err := j.findPoint()
	if err != nil || point == nil {
		return err
	}
	s, err := j.openPoint(*point)
	if err != nil {
		return j.unreadable(point.path, err)
	}
	err = j.compare(ctx, s)
	if cerr := s.close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	j.from, j.lastCompleted = point, s.cp.ID
	j.lastID = s.cp.ID
	j.runs = slices.Clone(s.meta.Runs)
	if claim != nil {
		j.kept.all = append(j.kept.all, *claim)
	}
	return nil
}

// findPoint gives what the configuration asks to restore from, nil for nothing. A checkpoint that Latest finds belongs to
// the job from then on: claim.
func (j *Job) findPoint() (point *restorePoint, claim *kept, err error) {
	path := j.cfg.Restore.Path
	j.report = RestoreReport{Path: path}
	if path != Latest {
		if path == "" {
			return nil, nil, nil
		}
		return &restorePoint{path: path}, nil, nil
	}
	j.report.Path, j.report.Latest = "", true
	found, unreadable := state.Latest(j.cluster.publishRoot(&j.cfg), j.cfg.Checkpoint.SavepointDir, j.name)
	for _, u := range unreadable {
		j.report.Notes = append(j.report.Notes, "not readable: "+u.Error())
	}
	switch {
	case found == nil && len(unreadable) > 0: // one of them may be the job's: starting empty would forget it without a word
		return nil, nil, &RestoreError{
			Path: Latest, Problems: texts(unreadable), Report: j.report, Err: errors.Join(unreadable...),
			Advice: "no checkpoint or savepoint of the job can be read. Name another path in 'execution.state-recovery.path', or remove what is damaged or start without restoring to begin empty",
		}
	case found == nil:
		return nil, nil, nil
	}
	j.report.Path = found.Dir
	if p := found.Published; p != nil {
		store, err := j.cluster.stores.get(j.cfg.Checkpoint.InMemory)
		if err != nil {
			return nil, nil, err
		}
		if store.Dir() == p.Store {
			claim = &kept{at: p.Location, path: found.Dir}
		}
	}
	return &restorePoint{path: found.Dir}, claim, nil
}

// unreadable refuses a restore from what is not there or is damaged, and names the newest state of the job that can be read.
func (j *Job) unreadable(path string, err error) error {
	advice := "name another savepoint or checkpoint in 'execution.state-recovery.path', or start without one to begin empty"
	if other, _ := state.Latest(j.cluster.publishRoot(&j.cfg), j.cfg.Checkpoint.SavepointDir, j.name); other != nil && other.Dir != path {
		advice += ". The newest that the job left: " + other.Dir
	}
	return &RestoreError{Path: path, Problems: []string{err.Error()}, Report: j.report, Advice: advice, Err: err}
}

func texts(errs []error) []string {
	s := make([]string, len(errs))
	for i, err := range errs {
		s[i] = err.Error()
	}
	return s
}

// compare checks a snapshot against the job and writes the report.
func (j *Job) compare(ctx context.Context, s *snapshot) error {
	r := &j.report
	r.Checkpoint, r.Savepoint = s.cp.ID, s.cp.Savepoint
	if r.Path == "" {
		r.Path = s.name
	}
	var problems []string
	if s.cp.Drained {
		r.Notes = append(r.Notes, "the job was stopped with drain: its event time has ended, and windows that were open have fired")
	}
	if p := j.adoptMaxParallelism(s.cp.MaxParallelism); p != "" {
		problems = append(problems, p)
	}
	fits, err := j.fits(ctx, s)
	if err != nil {
		return err
	}
	r.Operators = fits
	for _, f := range fits {
		if f.Fit == Unclaimed || f.Fit == Misfit {
			problems = append(problems, f.String())
		}
	}
	now, err := j.identify(ctx)
	if err != nil {
		return err
	}
	for id, was := range s.cp.Identities {
		if is, ok := now[id]; ok && is != was {
			problems = append(problems, fmt.Sprintf("%s spoke to %s and would now speak to %s, whose data it does not know", id, was, is))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	slices.Sort(problems)
	return &RestoreError{Path: r.Path, Problems: problems, Report: *r, Advice: "restore the statement that the state was made by, or " +
		"start without it (without --resume, and RESET 'execution.state-recovery.path'). To let go state that no operator claims, SET " +
		"'execution.state-recovery.ignore-unclaimed-state' = 'true'"}
}

// adoptMaxParallelism takes the number of key groups over from a snapshot; it says what is wrong if that cannot be.
func (j *Job) adoptMaxParallelism(saved int) string {
	switch {
	case saved <= 0:
		return ""
	case j.cfg.MaxParallelism > 0 && j.cfg.MaxParallelism != saved:
		return fmt.Sprintf("pipeline.max-parallelism is %d, the state was made with %d", j.cfg.MaxParallelism, saved)
	case j.graph.parallelism > saved:
		return fmt.Sprintf("parallelism %d exceeds the maximum of %d that the state was made with", j.graph.parallelism, saved)
	}
	j.graph.maxPar = saved
	return ""
}

// fits compares operator by operator, by stable id and by what each state means.
func (j *Job) fits(ctx context.Context, s *snapshot) ([]OperatorFit, error) {
	var fits []OperatorFit
	taken := map[string]bool{}
	for _, spec := range j.graph.ops {
		id := stateID(spec)
		saved := s.operator(id)
		taken[id] = true
		switch {
		case saved != nil && !minor(id):
			f, err := j.fit(ctx, spec, saved)
			if err != nil {
				return nil, err
			}
			fits = append(fits, f)
		case saved == nil && (hasKeyedState(spec) || len(spec.inputs) == 0):
			fits = append(fits, OperatorFit{Operator: spec.name, ID: id, Fit: StartsEmpty, Why: "not in the snapshot"})
		}
	}
	for _, saved := range s.cp.Operators {
		if taken[saved.ID] || minor(saved.ID) {
			continue
		}
		f := OperatorFit{Operator: saved.Name, ID: saved.ID, Fit: Unclaimed, Why: "no operator of the statement takes its state"}
		if j.cfg.Restore.AllowUnclaimed {
			f.Fit = LetGo
		}
		fits = append(fits, f)
	}
	return fits, nil
}

// fit compares one operator's states.
func (j *Job) fit(ctx context.Context, spec *opSpec, saved *state.OperatorState) (OperatorFit, error) {
	f := OperatorFit{Operator: spec.name, ID: saved.ID, Fit: Kept}
	if !hasKeyedState(spec) {
		return f, nil
	}
	wanted, err := j.descriptors(ctx, spec)
	if err != nil {
		return f, err
	}
	old, records := map[string]state.Descriptor{}, int64(0)
	for _, sub := range saved.Subtasks {
		for _, h := range sub.States {
			old[h.Descriptor.Name] = h.Descriptor
			records += h.Records
		}
	}
	var why []string
	for _, d := range wanted {
		was, ok := old[d.Name]
		delete(old, d.Name)
		if !ok {
			continue
		}
		for _, diff := range d.Diff(was) {
			f.Fit = Misfit
			why = append(why, fmt.Sprintf("state %s: %s", d.Name, diff))
		}
	}
	for name := range old {
		if !j.cfg.Restore.AllowUnclaimed {
			f.Fit = Misfit
		}
		why = append(why, fmt.Sprintf("state %s is no longer there", name))
	}
	slices.Sort(why)
	if f.Fit == Kept {
		why = append(why, fmt.Sprintf("%d %s", records, plural(int(records), "record")))
	}
	f.Why = strings.Join(why, "; ")
	return f, nil
}

// descriptors opens an operator on empty state, without running it, to learn what states it keeps.
func (j *Job) descriptors(ctx context.Context, spec *opSpec) (ds []state.Descriptor, err error) {
	o, err := j.cluster.operators(spec)
	if err != nil {
		return nil, err
	}
	a := &attempt{job: j, graph: j.graph, cfg: &j.cfg, clock: j.cluster.clock, log: slog.New(slog.DiscardHandler)}
	n := newNode(&task{run: a}, spec, o)
	keyed := state.NewKeyed(state.Config{Operator: spec.name, Groups: state.RangeOf(0, 1, j.graph.maxPar)})
	c := a.operatorContext(n)
	c.Ctx, c.Out, c.State, c.WakeAt, c.Wake = ctx, nowhere{}, keyed, func(int64) {}, func() {}
	err = o.Open(c)
	if err == nil {
		keyed.Freeze(state.Freeze{Checkpoint: 1, Savepoint: true})
		for done := false; !done && err == nil; {
			done, err = keyed.Drain(drainStep, nowhere{})
		}
	}
	if err == nil {
		for _, h := range keyed.Snapshot() {
			ds = append(ds, h.Descriptor)
		}
	}
	return ds, errors.Join(err, o.Close())
}

// nowhere takes what an operator or a state has to say and forgets it.
type nowhere struct{}

func (nowhere) Emit(*types.Batch) error         { return nil }
func (nowhere) Watermark(int64) error           { return nil }
func (nowhere) Idle(bool) error                 { return nil }
func (nowhere) Buffer(size int) []byte          { return make([]byte, 0, size) }
func (nowhere) Put(state.BlobRef, []byte) error { return nil }

// identify asks sources and sinks which outside system they speak to; the answers are kept.
func (j *Job) identify(ctx context.Context) (map[string]string, error) {
	j.idMu.Lock()
	defer j.idMu.Unlock()
	if j.identities != nil {
		return j.identities, nil
	}
	ids := map[string]string{}
	for _, spec := range j.graph.ops {
		var ask func(context.Context) (string, error)
		switch n := spec.node.(type) {
		case *plan.Scan:
			ask = n.Source.Identity
		case *plan.Sink:
			if spec.stage == stageWriter {
				ask = n.Sink.Identity
			}
		}
		if ask == nil {
			continue
		}
		id, err := ask(ctx)
		if err != nil {
			return nil, &OperatorError{Operator: spec.name, Err: fmt.Errorf("asking the outside system for its identity: %w", err)}
		}
		ids[stateID(spec)] = id
	}
	j.identities = ids
	return ids, nil
}

// bounded reports whether all input of the job ends.
func (a *attempt) bounded() bool {
	for _, s := range a.graph.ops {
		if n, ok := s.node.(*plan.Scan); ok && !n.Source.Bounded {
			return false
		}
	}
	return true
}

// DisposeSavepoint removes a savepoint from disk. A checkpoint is refused: it goes with its job.
func DisposeSavepoint(path string) error {
	m, err := state.ReadMetadata(path)
	if err != nil {
		return fmt.Errorf("disposing of a savepoint: %w", err)
	}
	if m.Savepoint == nil {
		return fmt.Errorf("disposing of a savepoint: %s is a checkpoint, which its job drops when it is no longer needed", path)
	}
	return state.DeleteSavepoint(path)
}
