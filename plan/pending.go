package plan

import (
	"runnel/sql"
)

// What the language has and this planner refuses by name.

func (p *planning) matchRecognize(t *sql.MatchRecognize, _ *around) (*refs, error) {
	return nil, unsupported(t, "MATCH_RECOGNIZE is")
}
