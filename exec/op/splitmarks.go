package op

import (
	"fmt"

	"runnel/expr"
	"runnel/types"
)

// SplitWatermarks makes the watermarks of a source subtask split by split (the form that is pushed into the source). The
// subtask's watermark is the smallest of its splits that are not idle. It is no operator: the engine's source task calls
// it, and saves At of each split beside the split.
//
// Rows without a rowtime count for nothing here, they pass.
type SplitWatermarks struct {
	ctx      *Context
	fields   []types.Field
	spec     Watermarks
	eval     expr.Eval
	splits   map[string]*splitClock
	complete bool  // the enumerator has no more splits for the subtask
	sent     int64 // the watermark told downstream
	idle     bool  // as told downstream
	out      types.Batch
	marks    []types.Mark
}

type splitClock struct {
	at      int64 // greatest watermark of the split
	lastRow int64 // processing time in ms
	rows    int   // since the last on-event watermark
	idle    bool
}

// NewSplitWatermarks makes the generator of one subtask, over rows of the given fields.
func NewSplitWatermarks(fields []types.Field, spec Watermarks) *SplitWatermarks {
	return &SplitWatermarks{fields: fields, spec: spec, splits: map[string]*splitClock{}, sent: types.MinWatermark}
}

// Open compiles the expression. Watermarks and idleness go to ctx.Out.
func (s *SplitWatermarks) Open(ctx *Context) error {
	s.ctx = ctx
	s.spec.Gap = max(s.spec.Gap, 1)
	var err error
	if s.eval, err = expr.Compile(s.spec.Expr, s.fields, ctx.Env); err != nil {
		return fmt.Errorf("watermark expression %s: %w", s.spec.Expr, err)
	}
	if t := s.spec.tick(); t > 0 {
		ctx.WakeAt(ctx.Now().UnixMilli() + t)
	}
	return nil
}

// Add starts a split whose watermark is at: a saved one, or types.MinWatermark.
func (s *SplitWatermarks) Add(split string, at int64) error {
	s.splits[split] = &splitClock{at: at, lastRow: s.ctx.Now().UnixMilli()}
	return s.tell()
}

// Remove ends a split: it no longer holds the watermark back.
func (s *SplitWatermarks) Remove(split string) error {
	delete(s.splits, split)
	return s.tell()
}

// Complete says whether the enumerator has dealt all splits that it has for this subtask. A subtask without splits is
// idle only then.
func (s *SplitWatermarks) Complete(all bool) error {
	s.complete = all
	return s.tell()
}

// At is the watermark of a split, types.MinWatermark when it has none.
func (s *SplitWatermarks) At(split string) int64 {
	if c := s.splits[split]; c != nil {
		return c.at
	}
	return types.MinWatermark
}

// Rows takes notice of rows of a split and gives them back, with marks where watermarks leave with rows. The batch is
// valid until the next call. The caller emits it, the rows before a failing one too, and then fails with the error.
func (s *SplitWatermarks) Rows(split string, b *types.Batch) (*types.Batch, error) {
	c := s.splits[split]
	sel := b.Sel
	if sel == nil {
		sel = types.All(b.Len)
	}
	if c == nil || len(sel) == 0 {
		return b, nil
	}
	if s.spec.Idle > 0 {
		c.lastRow = s.ctx.Now().UnixMilli()
	}
	if c.idle {
		c.idle = false
		if err := s.tellIdle(); err != nil {
			return nil, err
		}
	}
	times, err := s.eval(b, sel)
	var failed *types.RowError
	if err != nil {
		if failed, err = rowError(err); err != nil {
			return nil, err
		}
		sel = before(sel, failed.Row)
	}
	s.note(c, times, sel)
	if len(s.marks) > 0 || failed != nil {
		if len(sel) == 0 {
			sel = types.All(0)
		}
		s.out = types.Batch{Len: b.Len, Sel: sel, Kinds: b.Kinds, Cols: b.Cols, Marks: s.marks}
		b = &s.out
	}
	if failed != nil {
		return b, dataError(s.ctx, failed, s.fields, b)
	}
	return b, nil
}

// note moves the split's clock over its rows, and collects the marks of on-event emission.
func (s *SplitWatermarks) note(c *splitClock, times *types.Column, sel []int32) {
	s.marks = s.marks[:0]
	others := types.MaxWatermark
	if s.spec.OnEvent {
		for _, o := range s.splits {
			if o != c && !o.idle {
				others = min(others, o.at)
			}
		}
	}
	for _, i := range sel {
		if !times.Null(i) {
			c.at = max(c.at, floorDiv(times.Int[i], 1000))
		}
		if !s.spec.OnEvent {
			continue
		}
		if c.rows++; c.rows < s.spec.Gap {
			continue
		}
		c.rows = 0
		if at := min(c.at, others); at > s.sent {
			s.sent = at
			s.marks = append(s.marks, types.Mark{Pos: i + 1, Time: at})
		}
	}
}

// OnTime sends the watermark that has gathered and looks for idle splits.
func (s *SplitWatermarks) OnTime(ms int64) error {
	if t := s.spec.tick(); t > 0 {
		s.ctx.WakeAt(ms + t)
	}
	if idle := s.spec.Idle.Milliseconds(); idle > 0 {
		for _, c := range s.splits {
			if ms-c.lastRow > idle {
				c.idle = true
			}
		}
	}
	return s.tell()
}

// tell sends the watermark and the idleness that the splits give, when they have changed.
func (s *SplitWatermarks) tell() error {
	at, active := types.MaxWatermark, false
	for _, c := range s.splits {
		if !c.idle {
			active = true
			at = min(at, c.at)
		}
	}
	if active && at > s.sent {
		s.sent = at
		if err := s.ctx.Out.Watermark(at); err != nil {
			return err
		}
	}
	return s.tellIdle()
}

func (s *SplitWatermarks) tellIdle() error {
	idle := len(s.splits) > 0 || s.complete
	for _, c := range s.splits {
		idle = idle && c.idle
	}
	if idle == s.idle {
		return nil
	}
	s.idle = idle
	return s.ctx.Out.Idle(idle)
}
