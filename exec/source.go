package exec

import (
	"fmt"
	"slices"

	"runnel/connectors"
	"runnel/exec/op"
	"runnel/plan"
	"runnel/types"
)

// sourceLoop is the life of a source task: it polls its reader, makes watermarks per split, hands the rows to the chain,
// and between two polls works on barriers and new splits.
type sourceLoop struct {
	t      *task
	n      *node
	scan   *connectors.Source
	reader connectors.Reader
	marks  *watermarks

	final bool // no splits will come any more
	held  bool // a stop-with-savepoint barrier has passed: nothing is read until its outcome is known
	ended bool // everything has been read and said
}

// scanOp stands for a source in the list of operators; its rows come from the loop.
type scanOp struct{}

func (scanOp) Open(*op.Context) error          { return nil }
func (scanOp) Process(int, *types.Batch) error { return nil }
func (scanOp) Watermark(int, int64) error      { return nil }
func (scanOp) Idle(int, bool) error            { return nil }
func (scanOp) Close() error                    { return nil }

func (s *sourceLoop) open() error {
	r, err := s.scan.Read(s.t.env(s.n), s.t.mail.poke)
	if err != nil {
		return s.n.fail(fmt.Errorf("opening the reader: %w", err))
	}
	s.reader = r
	if err := s.marks.open(); err != nil {
		return s.n.fail(err)
	}
	return nil
}

func (s *sourceLoop) close() error {
	if s.reader == nil {
		return nil
	}
	if err := s.reader.Close(); err != nil {
		return s.n.fail(fmt.Errorf("closing the reader: %w", err))
	}
	return nil
}

func (s *sourceLoop) loop() error {
	t := s.t
	for {
		if err := t.between(); err != nil {
			return err
		}
		if !s.held && !s.ended && !s.marks.paused() {
			p, err := s.reader.Poll()
			if err != nil {
				return s.n.fail(err)
			}
			if err := s.polled(p); err != nil {
				return err
			}
			if p.More {
				continue
			}
		}
		again, err := t.dry()
		if err != nil {
			return err
		}
		if again {
			continue
		}
		s.await()
	}
}

func (s *sourceLoop) await() {
	s.t.idleTime.begin()
	defer s.t.idleTime.end()
	select {
	case <-s.t.mail.wake:
	case <-s.t.ctx.Done():
	}
}

// polled hands rows on and notes the end of a split.
func (s *sourceLoop) polled(p connectors.Polled) error {
	if p.Rows != nil && p.Rows.Rows() > 0 {
		b, failed := s.marks.rows(p.Split, p.Rows)
		if b != nil {
			s.t.at = s.n
			if err := s.n.Emit(b); err != nil {
				return err
			}
			s.t.at = nil
		}
		if failed != nil {
			return s.n.fail(failed)
		}
		if err := s.marks.emitted(p.Split); err != nil {
			return err
		}
	}
	if p.Ended {
		s.marks.endSplit(p.Split)
		return s.settle()
	}
	return nil
}

func (s *sourceLoop) onTime(ms int64) error { return s.marks.onTime(ms) }

// settle ends the output once every split has ended and no further ones can come; when some may still come, a subtask
// without any is idle.
func (s *sourceLoop) settle() error {
	switch {
	case s.ended:
		return nil
	case s.final && s.marks.live() == 0:
		return s.end()
	}
	return s.marks.checkIdle()
}

// end says that no row follows, once.
func (s *sourceLoop) end() error {
	if s.ended {
		return nil
	}
	s.ended = true
	s.marks.leave()
	if err := s.n.endOutput(); err != nil {
		return err
	}
	s.t.run.ended(s.t)
	return nil
}

// assign is the letter that brings splits. known says that the enumerator has dealt all that it has found: a subtask
// without any is idle then. final: it will never find more.
func (s *sourceLoop) assign(splits []connectors.Split, wms []int64, known, final bool) error {
	if len(splits) > 0 {
		if err := s.reader.Assign(splits); err != nil {
			return s.n.fail(fmt.Errorf("assigning splits: %w", err))
		}
	}
	for i, sp := range splits {
		wm := types.MinWatermark
		if wms != nil {
			wm = wms[i]
		}
		if err := s.marks.add(sp.ID, wm); err != nil {
			return err
		}
	}
	s.final = final
	s.marks.knows = s.marks.knows || known
	return s.settle()
}

// snapshot gives the splits in reading, each with its watermark.
func (s *sourceLoop) snapshot() ([]SplitState, error) {
	splits, err := s.reader.Snapshot()
	if err != nil {
		return nil, s.n.fail(fmt.Errorf("snapshot of the reader: %w", err))
	}
	out := make([]SplitState, len(splits))
	for i, sp := range splits {
		out[i] = SplitState{ID: sp.ID, State: slices.Clone(sp.State), Watermark: s.marks.of(sp.ID)}
	}
	return out, nil
}

// onBarrier is the letter that starts a checkpoint at a source.
func (s *sourceLoop) onBarrier(b *barrier) error {
	if b.kind == stopSavepoint {
		s.held = true
		if b.drain {
			if err := s.end(); err != nil {
				return err
			}
		}
	}
	return s.t.checkpoint(b)
}

// SplitPauser is a Reader that can leave single splits unread. With watermark alignment it is told which ones are to
// rest, each time the set changes; a Reader without it rests as a whole, and only when its slowest split is too far ahead.
type SplitPauser interface {
	Pause(ids []string) error
}

// newSource makes the loop of a scan.
func newSource(t *task, n *node, scan *connectors.Source, mark *plan.Watermark) *sourceLoop {
	s := &sourceLoop{t: t, n: n, scan: scan}
	s.marks = newWatermarks(s, mark)
	return s
}
