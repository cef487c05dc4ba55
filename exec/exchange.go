package exec

import (
	"runnel/plan"
	"runnel/types"
)

// link is one outlet of an operator: the next operator of the chain, or an exchange to other tasks.
type link interface {
	emit(b *types.Batch) error
	watermark(ms int64) error
	idle(idle bool) error
	end() error // the operator has given everything; the last watermark is implied
}

// exchange sends rows of one subtask to the subtasks of a consumer. It is a link.
type exchange struct {
	edges  []*edge
	dist   plan.Distribution
	route  router
	next   int       // rebalance: the edge of the next row
	sel    [][]int32 // per edge: the rows for it, reused
	marks  [][]types.Mark
	target []int32 // per row: its edge, reused
}

// router says for every live row of a batch which edge it takes.
type router func(b *types.Batch, dst []int32)

func newExchange(edges []*edge, dist plan.Distribution, route router) *exchange {
	x := &exchange{
		edges: edges, dist: dist, route: route,
		sel: make([][]int32, len(edges)), marks: make([][]types.Mark, len(edges)),
		target: make([]int32, types.BatchRows),
	}
	for t := range x.sel {
		x.sel[t] = []int32{} // not nil, which would mean all rows
	}
	return x
}

func (x *exchange) emit(b *types.Batch) error {
	switch {
	case x.dist == plan.Singleton || len(x.edges) == 1:
		if err := x.whole(x.edges[0], b); err != nil {
			return err
		}
		for _, e := range x.edges[1:] {
			if err := marksOnly(e, b); err != nil {
				return err
			}
		}
		return nil
	case x.dist == plan.Broadcast:
		for _, e := range x.edges {
			if err := x.whole(e, b); err != nil {
				return err
			}
		}
		return nil
	}
	return x.scatter(b)
}

// whole sends all live rows to one edge.
func (x *exchange) whole(e *edge, b *types.Batch) error {
	marks := b.Marks
	if b.Sel != nil && len(marks) > 0 {
		marks = x.marks[0][:0]
		k := 0
		for _, m := range b.Marks {
			for k < len(b.Sel) && b.Sel[k] < m.Pos {
				k++
			}
			marks = append(marks, types.Mark{Pos: int32(k), Time: m.Time})
		}
		x.marks[0] = marks
	}
	return e.append(b, b.Sel, marks)
}

func marksOnly(e *edge, b *types.Batch) error {
	if len(b.Marks) == 0 {
		return nil
	}
	last := [1]types.Mark{{Time: b.Marks[len(b.Marks)-1].Time}}
	return e.append(&types.Batch{Cols: b.Cols}, nil, last[:])
}

// scatter sends each row to the edge that it belongs to. Every edge gets every mark, at the place where it lies among the
// rows of that edge.
func (x *exchange) scatter(b *types.Batch) error {
	rows := b.Rows()
	target := x.target[:rows]
	if x.dist == plan.Rebalance {
		for k := range target {
			target[k] = int32(x.next)
			if x.next++; x.next == len(x.edges) {
				x.next = 0
			}
		}
	} else {
		x.route(b, target)
	}
	for t := range x.sel {
		x.sel[t], x.marks[t] = x.sel[t][:0], x.marks[t][:0]
	}
	marks := b.Marks
	for k, t := range target {
		i := b.Row(k)
		for len(marks) > 0 && marks[0].Pos <= i {
			x.mark(marks[0].Time)
			marks = marks[1:]
		}
		x.sel[t] = append(x.sel[t], i)
	}
	for _, m := range marks {
		x.mark(m.Time)
	}
	for t, e := range x.edges {
		if len(x.sel[t]) == 0 && len(x.marks[t]) == 0 {
			continue
		}
		if err := e.append(b, x.sel[t], x.marks[t]); err != nil {
			return err
		}
	}
	return nil
}

func (x *exchange) mark(ms int64) {
	for t := range x.edges {
		pos := int32(len(x.sel[t]))
		if n := len(x.marks[t]); n > 0 && x.marks[t][n-1].Pos == pos {
			x.marks[t][n-1].Time = ms
		} else {
			x.marks[t] = append(x.marks[t], types.Mark{Pos: pos, Time: ms})
		}
	}
}

func (x *exchange) watermark(ms int64) error {
	b := types.Batch{Marks: []types.Mark{{Time: ms}}}
	for _, e := range x.edges {
		if err := e.append(&b, nil, b.Marks); err != nil {
			return err
		}
	}
	return nil
}

func (x *exchange) idle(idle bool) error {
	kind := elemActive
	if idle {
		kind = elemIdle
	}
	return x.control(element{kind: kind})
}

func (x *exchange) end() error { return x.control(element{kind: elemEnd}) }

func (x *exchange) control(el element) error {
	for _, e := range x.edges {
		if err := e.control(el); err != nil {
			return err
		}
	}
	return nil
}

func (x *exchange) flush() error {
	for _, e := range x.edges {
		if err := e.flush(); err != nil {
			return err
		}
	}
	return nil
}
