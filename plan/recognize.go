package plan

import (
	"runnel/catalog"
)

// recognize finds the special cases of joins and ranks.
func (p *planning) recognize(n Node) (Node, error) {
	if err := p.retime(n); err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *Join:
		return p.recognizeJoin(n)
	case *Calc:
		return p.recognizeRank(n)
	}
	return n, nil
}

// refuseRest refuses what is left after the rules and cannot be run: OVER windows that no top-N was made of and that a
// stream cannot have, windows of uneven steps.
func (p *planning) refuseRest(n Node) (Node, error) {
	switch n := n.(type) {
	case *OverAggregate:
		return n, p.checkOver(n)
	case *WindowTableFunction:
		if w := n.Window; w.Kind == Cumulate && w.Size%w.Slide != 0 {
			e := refuseAt(n, "CumulativeWindowAssigner requires size must be an integral multiple of step.")
			e.Class = catalog.ArgumentError
			return nil, e
		}
	}
	return n, nil
}
