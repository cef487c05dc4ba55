package session

import (
	"fmt"
	"strings"

	"runnel/catalog"
	"runnel/sql"
)

// ddl changes the catalog.
func (s *Session) ddl(stmt sql.Stmt) (*Result, error) {
	var err error
	switch st := stmt.(type) {
	case *sql.CreateTable:
		err = s.opts.Catalog.CreateTable(st, s.planner())
	case *sql.CreateView:
		err = s.opts.Catalog.CreateView(st, s.planner())
	default:
		return nil, unsupported(stmt)
	}
	if err != nil {
		return nil, err
	}
	return &Result{Kind: Done}, nil
}

// unsupported refuses a statement by its words.
func unsupported(stmt sql.Stmt) error {
	words := strings.Fields(stmt.String())
	what := strings.Join(words[:min(2, len(words))], " ")
	return catalog.Errorf(catalog.UnsupportedOp, "%s", fmt.Sprintf("%s is not supported.", what)).Node(stmt)
}
