package repl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"runnel/session"
	"runnel/types"
)

// writeMachine prints a query for programs. CSV has a header and, for a changelog, the column op in front; a NULL is an empty
// field and an empty text a quoted one. JSON is one object a line, {"op": "+I", column: value, ..}, see jsonRows. NONE prints how many rows there were. A query that is cancelled leaves
// whole lines.
func (s *Shell) writeMachine(ctx context.Context, r *session.Result, mode string, took func() string) error {
	out := bufio.NewWriterSize(s.Term, 64<<10)
	if mode == "CSV" {
		csvHeader(out, r)
	}
	rows := int64(0)
	cells := newCells(r.Fields, "", s.zone())
	js := jsonRows{fields: r.Fields, zone: s.zone()}
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
				out.Write(js.row(b, i))
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
