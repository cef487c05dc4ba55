package expr

import (
	"errors"
	"fmt"

	"runnel/types"
)

// DataError turns the error of an Eval or Filter into the error that ends a job: it adds the expression and, when it is
// known, its place in the SQL text. Operator and row are for the caller to add. An error that no row caused is given
// back as it is.
func DataError(e Expr, err error) error {
	var re *types.RowError
	if !errors.As(err, &re) {
		return err
	}
	place := e.String()
	if p := firstPos(e); p != (Pos{}) {
		place = fmt.Sprintf("line %d, column %d: %s", p.Line, p.Column, place)
	}
	return &types.DataError{Place: place, Err: re.Err}
}

// firstPos gives the first known position in e.
func firstPos(e Expr) (p Pos) {
	Walk(e, func(e Expr) bool {
		if p != (Pos{}) {
			return false
		}
		switch e := e.(type) {
		case *Call:
			p = e.Pos
		case *Cast:
			p = e.Pos
		}
		return p == (Pos{})
	})
	return p
}
