package plan

import (
	"fmt"
	"sort"
	"strings"

	"runnel/catalog"
	"runnel/sql"
	"runnel/types"
)

// Changelog modes are inferred in two steps over the tree of one sink (semantics.md 2): first which modifications flow,
// then in which encoding updates do.

// changes is a set of modifications.
type changes uint8

const (
	inserts changes = 1 << iota
	updates
	deletes

	allChanges = inserts | updates | deletes
)

// words lists the changes as messages do.
func (c changes) words() string {
	var w []string
	for k, s := range map[changes]string{inserts: "insert", updates: "update", deletes: "delete"} {
		if c&k != 0 {
			w = append(w, s)
		}
	}
	sort.Sort(sort.Reverse(sort.StringSlice(w)))
	return strings.Join(w, " and ")
}

// changesOf gives the modifications of a mode.
func changesOf(m types.ChangelogMode) changes {
	var c changes
	if m.Has(types.Insert) {
		c |= inserts
	}
	if m.Has(types.UpdateBefore) || m.Has(types.UpdateAfter) {
		c |= updates
	}
	if m.Has(types.Delete) {
		c |= deletes
	}
	return c
}

// mode gives the mode of changes in an encoding of updates.
func (c changes) mode(u encoding) types.ChangelogMode {
	var kinds []types.RowKind
	if c&inserts != 0 {
		kinds = append(kinds, types.Insert)
	}
	if c&updates != 0 {
		if u == beforeAndAfter {
			kinds = append(kinds, types.UpdateBefore)
		}
		kinds = append(kinds, types.UpdateAfter)
	}
	if c&deletes != 0 {
		kinds = append(kinds, types.Delete)
	}
	return types.ModeOf(kinds...)
}

// modes is the inference for one tree.
type modes struct {
	p    *planning
	got  map[Node]changes
	keys *keyTable
}

// insertOnly are the operators that take nothing but inserts, with the names under which they refuse.
var insertOnly = map[string]string{
	"WindowRank": "StreamPhysicalWindowRank", "WindowDeduplicate": "StreamPhysicalWindowDeduplicate", "WindowJoin": "StreamPhysicalWindowJoin",
	"IntervalJoin": "StreamPhysicalIntervalJoin", "Match": "Match Recognize", "TemporalSort": "StreamPhysicalTemporalSort",
	"OverAggregate": "StreamPhysicalOverAggregate", "Deduplicate": "StreamPhysicalDeduplicate",
}

// passing are the operators that pass the kinds of their input on.
var passing = map[string]bool{
	"Calc": true, "Correlate": true, "LookupJoin": true, "Exchange": true, "Expand": true, "MiniBatchAssigner": true,
	"WatermarkAssigner": true, "WindowTableFunction": true, "Union": true, "DropUpdateBefore": true,
}

// flow finds out which modifications every node gives, and refuses what somebody cannot take (semantics.md 2.2).
func (m *modes) flow(n Node, required changes, requester string) error {
	b := n.Base()
	below, name := allChanges, b.Kind
	switch {
	case insertOnly[b.Kind] != "":
		below, name = inserts, insertOnly[b.Kind]
	case passing[b.Kind]:
		below, name = required, requester
	}
	var in []changes
	for _, i := range b.Inputs {
		if err := m.flow(i, below, name); err != nil {
			return err
		}
		in = append(in, m.got[i])
	}
	given := m.gives(n, in)
	m.got[n] = given
	if extra := given &^ required; extra != 0 {
		return m.refuse(n, extra, requester)
	}
	return nil
}

// gives is the right-hand side of the table of semantics.md 2.2.
func (m *modes) gives(n Node, in []changes) changes {
	switch n := n.(type) {
	case *Scan:
		if n.Source == nil {
			return inserts // a table to look up; replanSources refuses to read it
		}
		return changesOf(n.Source.Mode)
	case *Values:
		return inserts
	case *GroupAggregate:
		if m.p.batch {
			return inserts
		}
		if in[0]&(updates|deletes) != 0 {
			return allChanges
		}
		return inserts | updates
	case *Limit:
		if in[0] == inserts {
			return inserts
		}
		return allChanges
	case *SortLimit, *Rank, *ChangelogNormalize:
		if m.p.batch {
			return inserts
		}
		return allChanges
	case *Deduplicate:
		if !n.Rowtime && !n.Last {
			return inserts
		}
		return allChanges
	case *GroupWindowAggregate:
		if n.Early != nil || n.Late != nil {
			if in[0]&(updates|deletes) != 0 {
				return allChanges // Flink does not say that a window whose rows have all gone is deleted
			}
			return inserts | updates
		}
		return inserts
	case *TemporalJoin:
		return in[0]
	case *Join:
		if m.p.batch {
			return inserts
		}
		if n.Join == Inner || n.Join == Semi {
			return in[0] | in[1]
		}
		return allChanges
	}
	if passing[n.Base().Kind] || n.Base().Kind == "Sink" {
		var all changes
		for _, c := range in {
			all |= c
		}
		return all
	}
	return inserts
}

// refuse names the node that first makes the changes, and, for a sink, a table that would take them.
func (m *modes) refuse(n Node, extra changes, requester string) error {
	e := catalog.Errorf(tableError, "%s doesn't support consuming %s changes which is produced by node %s", requester, extra.words(), describe(n))
	e.At = place(n)
	return e
}

// place is where a node comes from in the text.
func place(n Node) sql.Span {
	p := n.Base().Pos
	at := sql.Pos{Offset: int32(p.Offset), Line: int32(p.Line), Column: int32(p.Column)}
	return sql.Span{From: at, To: at}
}

// encoding is how updates are written.
type encoding uint8

const (
	noUpdates encoding = iota
	onlyAfter
	beforeAndAfter
)

// choice is a way to give a node's parent the encoding it asks for.
type choice struct {
	node     Node
	enc      encoding
	in       []*choice
	drop     bool // a DropUpdateBefore goes on top
	strategy RankStrategy
	key      []int // of UpdateFast
}

// encode finds a choice for a subtree, nil when there is none (semantics.md 2.3).
func (m *modes) encode(n Node, want encoding) *choice {
	if m.got[n]&updates == 0 {
		want = noUpdates
	}
	switch n := n.(type) {
	case *Scan:
		return m.encodeScan(n, want)
	case *Values:
		return &choice{node: n}
	case *ChangelogNormalize:
		return m.with(n, want, onlyAfter)
	case *GroupAggregate, *WindowAggregate, *GroupWindowAggregate, *Limit, *Sort:
		return m.with(n, want, beforeAndAfter)
	case *SortLimit, *Rank:
		return m.encodeRank(n, want)
	case *Calc:
		if n.Cond != nil && want == onlyAfter {
			return nil
		}
		return m.with(n, want, want)
	case *Join:
		return m.encodeJoin(n, want)
	case *TemporalJoin:
		return m.encodeTemporal(n, want)
	}
	if insertOnly[n.Base().Kind] != "" {
		return m.with(n, want, noUpdates)
	}
	return m.with(n, want, want)
}

// with asks every input for an encoding.
func (m *modes) with(n Node, own, below encoding) *choice {
	c := &choice{node: n, enc: own}
	for _, i := range n.Base().Inputs {
		in := m.encode(i, below)
		if in == nil {
			return nil
		}
		c.in = append(c.in, in)
	}
	return c
}

func (m *modes) encodeScan(n *Scan, want encoding) *choice {
	has := n.Source.Mode.Has
	switch {
	case want == onlyAfter && has(types.UpdateBefore):
		return &choice{node: n, enc: beforeAndAfter, drop: true}
	case want == beforeAndAfter && !has(types.UpdateBefore):
		return nil
	}
	return &choice{node: n, enc: want}
}

// encodeJoin lets a join live without the rows before updates only if each updating input has a unique key within the
// join's key: an update then stays with its partners.
func (m *modes) encodeJoin(n *Join, want encoding) *choice {
	below := want
	if want == noUpdates {
		below = beforeAndAfter
	}
	if want == onlyAfter {
		for i, keys := range [][]int{n.LeftKeys, n.RightKeys} {
			in := n.Inputs[i]
			if m.got[in]&updates != 0 && !containsKey(m.keys.within(in), keys) {
				return nil
			}
		}
	}
	return m.with(n, want, below)
}

// encodeTemporal passes the question on to the left side; the versions on the right may come in any encoding.
func (m *modes) encodeTemporal(n *TemporalJoin, want encoding) *choice {
	left := m.encode(n.Inputs[0], want)
	right := m.encode(n.Inputs[1], onlyAfter)
	if right == nil {
		right = m.encode(n.Inputs[1], beforeAndAfter)
	}
	if left == nil || right == nil {
		return nil
	}
	return &choice{node: n, enc: left.enc, in: []*choice{left, right}}
}

// apply sets the modes of a choice and puts DropUpdateBefore nodes in.
func (m *modes) apply(c *choice) Node {
	b := c.node.Base()
	for i, in := range c.in {
		b.Inputs[i] = m.apply(in)
	}
	m.strategy(c)
	b.Mode = m.got[c.node].mode(c.enc)
	if _, ok := c.node.(*Scan); ok {
		b.Mode = c.node.(*Scan).Source.Mode
	}
	if !c.drop {
		return c.node
	}
	d := &DropUpdateBefore{}
	d.Kind, d.Inputs, d.Fields, d.Pos = "DropUpdateBefore", []Node{c.node}, b.Fields, b.Pos
	d.Mode = m.got[c.node].mode(onlyAfter)
	m.got[d] = m.got[c.node]
	m.keys.copy(d, c.node)
	return d
}

// infer settles the modes of the tree under a root: a sink, the collecting sink, or, for EXPLAIN of a SELECT, the query
// itself.
func (p *planning) infer(root Node) (Node, error) {
	m := &modes{p: p, got: map[Node]changes{}, keys: newKeyTable()}
	candidates := []encoding{onlyAfter, beforeAndAfter}
	query := root
	switch r := root.(type) {
	case *Sink:
		query = r.Inputs[0]
		if err := m.flow(query, allChanges, ""); err != nil {
			return nil, err
		}
		enc, err := m.sinkWants(r)
		if err != nil {
			return nil, err
		}
		candidates = enc
	case *Collect:
		query = r.Inputs[0]
		candidates = []encoding{beforeAndAfter}
	}
	if err := m.flow(query, allChanges, ""); err != nil {
		return nil, err
	}
	for _, enc := range candidates {
		c := m.encode(query, enc)
		if c == nil {
			continue
		}
		out := m.apply(c)
		if out != query && query == root {
			return out, nil
		}
		if query != root {
			root.Base().Inputs[0] = out
			root.Base().Mode = out.Base().Mode
		}
		return root, nil
	}
	return nil, refuseAt(query, "Can't generate a valid execution plan for the given query:\n\n%s", treeText(query))
}

// refuseAt refuses at the place of a node.
func refuseAt(n Node, format string, args ...any) *catalog.Error {
	e := catalog.Errorf(tableError, format, args...)
	e.At = place(n)
	return e
}

// sinkWants asks the connector which changes it takes, and gives the encodings to try (semantics.md 2.4).
func (m *modes) sinkWants(s *Sink) ([]encoding, error) {
	query := s.Inputs[0]
	s.request.Query = m.got[query].mode(beforeAndAfter)
	sink, err := s.plan(s.request)
	if err != nil {
		return nil, sinkError(err, s)
	}
	s.Sink = sink
	if extra := m.got[query] &^ changesOf(sink.Mode); extra != 0 {
		return nil, m.refuseSink(s, extra)
	}
	before, after := sink.Mode.Has(types.UpdateBefore), sink.Mode.Has(types.UpdateAfter)
	switch {
	case after && !before:
		keys := m.keys.upsert(query)
		if len(s.PrimaryKey) > 0 && !hasKey(keys, s.PrimaryKey) {
			return []encoding{beforeAndAfter}, nil
		}
		return []encoding{onlyAfter, beforeAndAfter}, nil
	case after:
		return []encoding{beforeAndAfter}, nil
	}
	return []encoding{noUpdates}, nil
}

func sinkError(err error, s *Sink) error {
	e := connectorRefuses(err, s.at)
	e.Hint = "This is said of table '" + s.Table.Name + "'."
	return e
}

// refuseSink names the node that first makes the changes a sink does not take, and what would take them.
func (m *modes) refuseSink(s *Sink, extra changes) error {
	maker := m.maker(s.Inputs[0], extra)
	e := refuse(tableError, s.at, "Table sink '%s' doesn't support consuming %s changes which is produced by node %s", s.Table.Name, extra.words(), describe(maker))
	e.Hint = m.cure(s)
	return e
}

// maker is the node that first gives the changes: none of its inputs does.
func (m *modes) maker(n Node, extra changes) Node {
	if !passing[n.Base().Kind] {
		return n
	}
	for _, i := range n.Base().Inputs {
		if m.got[i]&extra != 0 {
			return m.maker(i, extra)
		}
	}
	return n
}

// cure words a definition of the sink that takes the query's changes.
func (m *modes) cure(s *Sink) string {
	keys := m.keys.upsert(s.Inputs[0])
	connector := s.Table.Options["connector"]
	var cols []string
	for _, k := range keys {
		if len(k) > 0 {
			for _, c := range k {
				cols = append(cols, catalog.Quote(s.names[c].Name))
			}
			break
		}
	}
	switch {
	case connector == "kafka" && len(cols) > 0:
		return fmt.Sprintf("The query updates rows by (%s). A table that takes them: the same columns with PRIMARY KEY (%s) NOT ENFORCED and "+
			"'connector' = 'upsert-kafka', 'key.format' and 'value.format' in place of 'format'; or 'format' = 'debezium-json'.",
			strings.Join(cols, ", "), strings.Join(cols, ", "))
	case connector == "kafka":
		return "The query updates rows and has no key. A table that takes them: the same with 'format' = 'debezium-json'."
	case len(cols) > 0:
		return fmt.Sprintf("The query updates rows by (%s). A table that takes them: 'connector' = 'print', or 'upsert-kafka' or 'jdbc' with PRIMARY KEY (%s) NOT ENFORCED.",
			strings.Join(cols, ", "), strings.Join(cols, ", "))
	}
	return "The query updates rows. A table that takes them: 'connector' = 'print', or 'kafka' with 'format' = 'debezium-json'."
}
