package plan

import (
	"strings"

	"runnel/expr"
	"runnel/types"
)

// LocalWindowAggregate is the local phase of a WindowAggregate. Rows: the keys, the start of the window where the input holds it,
// the end of the slice, how many rows there were, accumulators. Where one task has all rows, the two phases run as one operator.
type LocalWindowAggregate struct {
	Info
	Window           Window
	Keys             []int
	Aggs             []expr.AggCall
	Attached         bool // as in WindowAggregate
	StartCol, EndCol int
	Retract          bool // the input may take rows back
}

// windowPhases puts the local phase in front of the exchange of a WindowAggregate by event time.
func (p *planning) windowPhases(n Node) Node {
	w, ok := n.(*WindowAggregate)
	if !ok || !p.inPhases(w.Aggs) || !w.Window.Rowtime || w.Window.Kind == Session {
		return n
	}
	x, ok := w.Inputs[0].(*Exchange)
	if !ok {
		return n
	}
	in := x.Inputs[0].Base()
	l := &LocalWindowAggregate{
		Window: w.Window, Keys: w.Keys, Aggs: w.Aggs, Attached: w.Attached, StartCol: w.StartCol, EndCol: w.EndCol,
		Retract: in.Mode != types.InsertOnly,
	}
	l.Kind, l.Inputs, l.Pos, l.Mode = "LocalWindowAggregate", []Node{x.Inputs[0]}, w.Pos, in.Mode
	for _, k := range w.Keys {
		l.Fields = append(l.Fields, in.Fields[k])
	}
	if w.Attached {
		l.Fields = append(l.Fields, in.Fields[w.StartCol])
	}
	number := types.Of(types.BigInt).Required()
	l.Fields = append(l.Fields, types.Field{Name: l.sliceEnd(), Type: number}, types.Field{Name: "rows", Type: number},
		types.Field{Name: "accumulators", Type: types.Bytes().Required()})
	x.Inputs[0], x.Fields = l, l.Fields
	w.Kind, w.Keys = "GlobalWindowAggregate", identity(len(w.Keys))
	if len(x.Keys) > 0 {
		x.Keys = w.Keys
	}
	return w
}

// sliceEnd is the name that plans give the end of the slice.
func (n *LocalWindowAggregate) sliceEnd() string {
	if n.Attached {
		return "$window_end"
	}
	return "$slice_end"
}

// Local gives the local phase, nil for none.
func (n *WindowAggregate) Local() *LocalWindowAggregate {
	if n.Kind != "GlobalWindowAggregate" {
		return nil
	}
	return below(n).(*LocalWindowAggregate)
}

// Over gives the columns over which the calls stand, the keys among them, and whether rows may be taken back: those of the input,
// or of the local phase.
func (n *WindowAggregate) Over() (fields []types.Field, keys []int, retract bool) {
	if l := n.Local(); l != nil {
		return fieldsIn(l.Inputs[0]), l.Keys, l.Retract
	}
	in := n.Inputs[0].Base()
	return in.Fields, n.Keys, in.Mode&^types.InsertOnly != 0
}

// text is the select list of a local phase. HOP counts rows, as windows without any are not given.
func (n *LocalWindowAggregate) text() string {
	counts := n.Retract || n.Window.Kind == Hop && !n.Attached
	return localText(n.Keys, n.Aggs, fieldsIn(n.Inputs[0]), n.Retract, counts, "slice_end('w$) AS "+n.sliceEnd())
}

// globalText is the select list of a WindowAggregate that merges.
func (n *WindowAggregate) globalText() string {
	fields, keys, retract := n.Over()
	t := newPhaseTexts(n.Aggs, fields, retract, false)
	return strings.Join(append(t.results(fields, keys, n.Aggs), propTexts(n)...), ", ")
}
