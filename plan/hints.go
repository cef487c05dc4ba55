package plan

import (
	"slices"
	"strings"
	"time"

	"runnel/connectors"
	"runnel/sql"
)

// forever as a time to live keeps state whatever table.exec.state.ttl says.
const forever = -1 * time.Nanosecond

// queryHints are the hints behind SELECT that mean something here.
type queryHints struct {
	ttl     map[string]time.Duration // STATE_TTL, by alias
	lookups map[string]*lookupHint   // LOOKUP, by alias
	// named lists the aliases that each hint names, for the check that they exist.
	named []hintName
}

type hintName struct {
	hint, alias string
	at          sql.Node
}

// joinHints choose between the joins of batch mode, of which there is one here.
var joinHints = []string{"BROADCAST", "SHUFFLE_HASH", "SHUFFLE_MERGE", "NEST_LOOP"}

// queryHints reads the hints of a SELECT.
func (p *planning) queryHints(hints []*sql.Hint) (*queryHints, error) {
	q := &queryHints{ttl: map[string]time.Duration{}, lookups: map[string]*lookupHint{}}
	for _, h := range hints {
		name := strings.ToUpper(h.Name.Name)
		switch {
		case slices.Contains(joinHints, name):
			for _, a := range h.Args {
				q.named = append(q.named, hintName{name, hintText(a.Value), a})
			}
		case name == "STATE_TTL":
			if err := q.stateTTL(h); err != nil {
				return nil, err
			}
		case name == "LOOKUP":
			if err := q.lookup(h); err != nil {
				return nil, err
			}
		default:
			return nil, refuse("java.lang.AssertionError", h, "Hint: %s should be registered in the HintStrategyTable", h.Name.Name).
				Cure("Hints of a SELECT are STATE_TTL, LOOKUP, %s; OPTIONS stands behind a table.", strings.Join(joinHints, ", "))
		}
	}
	return q, nil
}

func (q *queryHints) stateTTL(h *sql.Hint) error {
	own := map[string]time.Duration{}
	for _, a := range h.Args {
		if a.Key == nil {
			return refuse(validation, a, "The STATE_TTL hint wants 'alias' = 'duration' pairs.")
		}
		d, err := connectors.ParseDuration(hintText(a.Value))
		if err != nil {
			return refuse(validation, a, "Invalid STATE_TTL hint: %s", err)
		}
		if d == 0 {
			d = forever
		}
		alias := hintText(a.Key)
		own[alias] = d // the last one of a hint counts, the first one of several hints
		q.named = append(q.named, hintName{"STATE_TTL", alias, a})
	}
	for alias, d := range own {
		if _, ok := q.ttl[alias]; !ok {
			q.ttl[alias] = d
		}
	}
	return nil
}

// check refuses hints that name no table of the FROM clause.
func (q *queryHints) check(tables []scopeTable) error {
	for _, n := range q.named {
		if !slices.ContainsFunc(tables, func(t scopeTable) bool { return t.alias == n.alias }) {
			return refuse(validation, n.at, "The options of following hints cannot match the name of input tables or views: \n`%s` in `%s`", n.alias, n.hint)
		}
	}
	return nil
}

// ttlOf gives the hinted time to live of a FROM item, 0 without one.
func (e *around) ttlOf(r *refs) time.Duration {
	if len(r.tables) != 1 {
		return 0
	}
	return e.ttl[r.tables[0].alias]
}
