package plan

import "runnel/types"

// more describes the operators over ranks, time and windows.
func (d *describer) more(n Node, in []types.Field) { d.add("select", names(n.Base().Fields)) }

// exchangesMore distributes the inputs of the same operators.
func (p *planning) exchangesMore(n Node) {}

// stateMore says what bounds their state.
func (p *planning) stateMore(n Node, forever func(what string)) {}

// recognize finds the special cases of joins and ranks.
func (p *planning) recognize(n Node) (Node, error) {
	if j, ok := n.(*Join); ok {
		return p.recognizeJoin(j)
	}
	return n, nil
}
