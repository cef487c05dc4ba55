package plan

import "runnel/sql"

// expand prints a query for SHOW CREATE VIEW with its names completed.
func (p *Planner) expand(q *sql.Query) string { return sql.FormatFlink(q) }
