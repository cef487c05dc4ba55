package types

import "strings"

// DataError is a failure that the data itself causes: an expression, decoding, a constraint, a missing before-image. It
// would fail again, so a job that meets one fails at once whatever its restart strategy (unless
// restart-strategy.on-data-error says restart). Everything else, I/O of connectors and stores, may be restarted.
type DataError struct {
	Operator string // the operator that met it, e.g. "Calc[2]"; empty until somebody knows
	Place    string // where the row comes from or where the expression stands: "topic t, partition 0, offset 17", "line 3, column 8"
	Row      string // the row or the beginning of the bytes, cut to a readable length
	Err      error  // the cause
}

// Error names the cause first, then operator, place and row.
func (e *DataError) Error() string {
	var b strings.Builder
	b.WriteString(e.Err.Error())
	for _, p := range [...][2]string{{"operator", e.Operator}, {"at", e.Place}, {"row", e.Row}} {
		if p[1] != "" {
			b.WriteString("; " + p[0] + " " + p[1])
		}
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *DataError) Unwrap() error { return e.Err }

// RowError says at which physical row of a batch a vector operation failed. The rows before it are whole: the caller
// lets them through and then fails.
type RowError struct {
	Row int32
	Err error
}

func (e *RowError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *RowError) Unwrap() error { return e.Err }
