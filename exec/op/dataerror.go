package op

import (
	"errors"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"runnel/types"
)

// splitMarks gives the marks that lie at or before a row that failed.
func splitMarks(marks []types.Mark, row int32) []types.Mark {
	return marks[:sort.Search(len(marks), func(i int) bool { return marks[i].Pos > row })]
}

// rowError takes the row out of the error of a vector operation, or gives err back if it names none.
func rowError(err error) (*types.RowError, error) {
	var re *types.RowError
	if errors.As(err, &re) {
		return re, nil
	}
	return nil, err
}

// before gives the rows of sel that come before row.
func before(sel []int32, row int32) []int32 {
	return sel[:sort.Search(len(sel), func(k int) bool { return sel[k] >= row })]
}

// dataError makes the error of a row that failed: cause and place from failed, operator from ctx, and the row's text.
func dataError(ctx *Context, failed *types.RowError, fields []types.Field, b *types.Batch) error {
	de := &types.DataError{Err: failed.Err}
	var inner *types.DataError
	if errors.As(failed.Err, &inner) {
		*de = *inner
	}
	if de.Operator == "" {
		de.Operator = ctx.Name
	}
	if de.Row == "" {
		de.Row = rowText(fields, b, failed.Row, ctx.Env.Zone)
	}
	return de
}

// rowText writes a row for an error message: name=value, cut to a readable length.
func rowText(fields []types.Field, b *types.Batch, row int32, loc *time.Location) string {
	const most = 300
	var s strings.Builder
	for i, f := range fields {
		if i >= len(b.Cols) || s.Len() > most {
			break
		}
		if i > 0 {
			s.WriteString(", ")
		}
		s.WriteString(f.Name + "=")
		s.Write(types.AppendShown(nil, b.Cols[i], row, loc))
	}
	t := s.String()
	if len(t) <= most {
		return t
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(t[cut]) {
		cut--
	}
	return t[:cut] + ".."
}
