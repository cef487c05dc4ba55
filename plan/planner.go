package plan

import (
	"errors"
	"strings"
	"time"

	"runnel/catalog"
	"runnel/connectors"
	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// Planner plans statements. It reads the catalog while it plans and keeps nothing between two calls, so one may be made
// for every statement. Refusals are *catalog.Error with their place in the text.
type Planner struct {
	Catalog *catalog.Catalog
	// Config are the options of SET; the planner reads them, a job should be given a copy.
	Config     *catalog.Config
	Connectors []connectors.Connector
	Formats    []connectors.Format
	// Env gives the values of ${ENV:NAME} in table options; nil for none.
	Env func(name string) (string, bool)
	// Runs tells why a node cannot be run; a plan with such a one is refused at its place, by EXPLAIN too. nil for all.
	Runs func(n Node, batch bool) error
	// Now is the time of constants that batch mode fixes at the start of a query; nil for time.Now.
	Now func() time.Time
	// Unfolded leaves constants to the run time. Results are the same: tests compare both.
	Unfolded bool
}

// planning is the planning of one statement.
type planning struct {
	*Planner
	batch bool
	zone  *time.Location
	// views holds the names of the views that are being expanded, against views that hold themselves.
	views   []catalog.Path
	depth   int
	queries int  // bound so far
	full    full // set while the query of a CREATE VIEW is bound
}

func (p *Planner) begin() *planning {
	return &planning{Planner: p, batch: p.Config.Batch(), zone: p.Config.Zone()}
}

// maxDepth bounds how deep queries and views may be nested.
const maxDepth = 128

// maxQueries bounds how many queries a statement may have once its views and WITH queries have been put in: each level that
// reads the one below twice doubles them.
const maxQueries = 10_000

// Query plans a SELECT that runs: its rows go to the client. text is the statement's text.
func (p *Planner) Query(q *sql.Query, text string) (*Graph, error) {
	pl := p.begin()
	root, err := pl.collect(q)
	if err != nil {
		return nil, err
	}
	return pl.finish([]Node{root}, oneLine(text), text)
}

// Insert plans an INSERT.
func (p *Planner) Insert(s *sql.Insert, text string) (*Graph, error) {
	return p.StatementSet([]*sql.Insert{s}, text)
}

// StatementSet plans several INSERTs as one job.
func (p *Planner) StatementSet(inserts []*sql.Insert, text string) (*Graph, error) {
	pl := p.begin()
	var sinks []Node
	for _, s := range inserts {
		sink, err := pl.insert(s)
		if err != nil {
			return nil, err
		}
		sinks = append(sinks, sink)
	}
	return pl.finish(sinks, insertName(sinks), text)
}

// oneLine makes a job's name out of a statement: blanks of any kind become one space.
func oneLine(text string) string {
	return strings.TrimRight(strings.Join(strings.Fields(text), " "), "; ")
}

// insertName is Flink's name for a job of inserts.
func insertName(sinks []Node) string {
	var names []string
	seen := map[string]int{}
	for _, s := range sinks {
		name := s.(*Sink).Table.Name
		if n := seen[name]; n > 0 {
			names = append(names, name+"_"+itoa(n))
		} else {
			names = append(names, name)
		}
		seen[name]++
	}
	return "insert-into_" + strings.Join(names, ",")
}

// collect plans a query with the sink that hands rows to the client.
func (p *planning) collect(q *sql.Query) (Node, error) {
	r, err := p.query(q, nil)
	if err != nil {
		return nil, err
	}
	return p.collectNode(r.node), nil
}

func (p *planning) collectNode(in Node) *Collect {
	c := &Collect{}
	c.Kind, c.Inputs = "Sink", []Node{in}
	c.Fields = append(c.Fields, in.Base().Fields...)
	c.Enforcer = p.notNull(c.Fields)
	return c
}

// TypeOf types an expression over columns; it makes the planner a catalog.Binder.
func (p *Planner) TypeOf(e sql.Expr, scope []types.Field) (types.Type, error) {
	b := p.begin().binder(tableScope(scope))
	x, err := b.expr(e)
	if err != nil {
		return types.Type{}, unknownIdentifier(err)
	}
	return x.Type(), nil
}

// unknownIdentifier puts the refusal of a column into the words that Flink has for it in the definition of a table.
func unknownIdentifier(err error) error {
	var e *catalog.Error
	if errors.As(err, &e) && e.Class == nameError {
		if rest, ok := strings.CutPrefix(e.Msg, "Column '"); ok {
			if name, ok := strings.CutSuffix(rest, "' not found in any table"); ok {
				e.Msg = "Unknown identifier '" + name + "'"
			}
		}
	}
	return err
}

// The planner is what the catalog asks for the meaning of expressions and queries.
var _ catalog.Binder = (*Planner)(nil)

// View gives the fields of a view's query and its text. It completes the names in q: tables get their path, columns their
// table.
func (p *Planner) View(q *sql.Query) ([]types.Field, string, error) {
	pl := p.begin()
	pl.full = full{}
	r, err := pl.query(q, nil)
	if err != nil {
		return nil, "", err
	}
	pl.full.complete()
	return r.node.Base().Fields, sql.FormatFlink(q), nil
}

// pos is the place of a node for data errors.
func pos(n sql.Node) expr.Pos {
	p := n.Pos()
	return expr.Pos{Line: int(p.Line), Column: int(p.Column), Offset: int(p.Offset)}
}

func (p *planning) now() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now()
}
