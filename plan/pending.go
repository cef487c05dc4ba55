package plan

import (
	"runnel/expr"
	"runnel/sql"
)

// What the language has and this planner refuses by name.

func (p *planning) matchRecognize(t *sql.MatchRecognize, _ *around) (*refs, error) {
	return nil, unsupported(t, "MATCH_RECOGNIZE is")
}

func (p *planning) snapshotJoin(_ *sql.Join, _ *refs, t *sql.TableName, _ *around) (*refs, error) {
	return nil, unsupported(t, "FOR SYSTEM_TIME AS OF is")
}

// legacyWindow is a group window in GROUP BY.
type legacyWindow struct {
	time   *expr.Col
	column int
}

func isLegacyWindow(c *sql.FuncCall) bool {
	switch callName(c) {
	case "TUMBLE", "HOP", "SESSION":
		return true
	}
	return false
}

func (g *grouping) legacyKey(c *sql.FuncCall) error {
	return unsupported(c, "The group window "+callName(c)+" in GROUP BY is")
}

func (g *grouping) auxiliary(*sql.FuncCall) (expr.Expr, error) { return nil, nil }

func (g *grouping) legacyAggregate(*Calc, []int, []expr.AggCall) (Node, func(expr.Expr) expr.Expr, error) {
	return nil, nil, unsupported(g.b.stmt, "A group window is")
}

func (w *WindowJoin) props() *windowProps { return nil }
