package repl

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"runnel/session"
	"runnel/types"
)

// writeMachine prints a query for programs. CSV has a header and, for a changelog, the column op in front; a NULL is an empty
// field and an empty text a quoted one. JSON is one object a line, {"op": "+I", column: value, ..}: numbers and booleans as
// such, other values as the text that tables show. NONE prints how many rows there were. A query that is cancelled leaves
// whole lines.
func (s *Shell) writeMachine(ctx context.Context, r *session.Result, mode string, took func() string) error {
	out := bufio.NewWriterSize(s.Term, 64<<10)
	if mode == "CSV" {
		csvHeader(out, r)
	}
	rows := int64(0)
	cells := newCells(r.Fields, "", s.zone())
	for {
		b, err := r.Rows.Next(ctx)
		if errors.Is(err, io.EOF) || err != nil && ctx.Err() != nil {
			break
		}
		if err != nil {
			out.Flush()
			return err
		}
		for k := range b.Rows() {
			i := b.Row(k)
			rows++
			switch mode {
			case "CSV":
				csvRow(out, r, b, i, cells.of(b, i))
			case "JSON":
				jsonRow(out, r, b, i, cells.of(b, i))
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	if mode == "NONE" {
		fmt.Fprintf(out, "Received a total of %d %s%s\n", rows, plural("row", rows > 1), took())
	}
	return out.Flush()
}

func csvHeader(out *bufio.Writer, r *session.Result) {
	if !r.Batch {
		out.WriteString("op,")
	}
	for j, f := range r.Fields {
		if j > 0 {
			out.WriteByte(',')
		}
		csvField(out, f.Name)
	}
	out.WriteByte('\n')
}

func csvRow(out *bufio.Writer, r *session.Result, b *types.Batch, i int32, cells []string) {
	if !r.Batch {
		out.WriteString(b.Kind(i).String() + ",")
	}
	for j, c := range cells {
		if j > 0 {
			out.WriteByte(',')
		}
		if !b.Cols[j].Null(i) {
			csvField(out, c)
		}
	}
	out.WriteByte('\n')
}

// csvField quotes as RFC 4180 says, and empty text, which would be a NULL.
func csvField(out *bufio.Writer, s string) {
	if s == "" || strings.ContainsAny(s, ",\"\r\n") {
		s = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	out.WriteString(s)
}

func jsonRow(out *bufio.Writer, r *session.Result, b *types.Batch, i int32, cells []string) {
	out.WriteString(`{"op":"` + b.Kind(i).String() + `"`)
	for j, c := range cells {
		out.WriteByte(',')
		out.Write(jsonText(r.Fields[j].Name))
		out.WriteByte(':')
		switch {
		case b.Cols[j].Null(i):
			out.WriteString("null")
		case r.Fields[j].Type.Kind == types.Boolean:
			out.WriteString(strings.ToLower(c))
		case bareNumber(r.Fields[j].Type.Kind) && json.Valid([]byte(c)):
			out.WriteString(c)
		default: // also NaN and infinities
			out.Write(jsonText(c))
		}
	}
	out.WriteString("}\n")
}

func bareNumber(k types.Kind) bool {
	switch k {
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt, types.Decimal, types.Float, types.Double:
		return true
	}
	return false
}

// jsonText quotes text; what is no UTF-8 becomes the replacement character.
func jsonText(s string) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) // a string always has a JSON form
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}
