package repl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"runnel/session"
	"runnel/types"
)

// show prints a result.
func (s *Shell) show(ctx context.Context, r *session.Result, begin time.Time, p *progress) error {
	const info = "[INFO] "
	switch r.Kind {
	case session.Checked:
		return nil
	case session.Done:
		s.Term.Message(info + "Execute statement succeeded.")
		return nil
	case session.Submitted:
		s.Term.Message(info + "Submitting SQL update statement to the cluster...")
		s.Term.Message(info + "SQL update statement has been successfully submitted to the cluster:")
		s.Term.Message("Job ID: " + r.JobID + "\n")
		return nil
	case session.Completed:
		s.Term.Message(info + "Complete execution of the SQL update statement.")
		return nil
	}
	defer r.Rows.Close()
	if r.Kind == session.Table {
		return s.showTable(ctx, r, p)
	}
	p.job.Store(&r.JobID)
	took := func() string {
		if strings.EqualFold(s.Exec.Option("sql-client.display.print-time-cost"), "false") {
			return ""
		}
		return fmt.Sprintf(" (%.2f seconds)", time.Since(begin).Seconds())
	}
	mode := strings.ToUpper(s.Exec.Option("sql-client.execution.result-mode"))
	switch {
	case mode == "CSV", mode == "JSON", mode == "NONE":
		return s.writeMachine(ctx, r, mode, took)
	case mode == "CHANGELOG" && r.Batch && s.Keys != nil:
		return &session.Error{Class: "org.apache.flink.table.client.gateway.SqlExecutionException", Msg: "Results of batch queries can only be served in table or tableau mode."}
	case s.Keys != nil && !s.watching && (mode == "TABLE" || mode == "CHANGELOG"):
		return s.fullScreen(ctx, r, mode == "CHANGELOG")
	case r.Batch:
		rows, err := s.readAll(ctx, r, nullText, p)
		if err != nil {
			return err
		}
		return s.writeTable(ctx, r, rows, s.columnWidth(), took())
	}
	return s.showChangelog(ctx, r, took, p)
}

// columnWidth is the width of columns whose type has none of its own.
func (s *Shell) columnWidth() int {
	for _, key := range [...]string{"sql-client.display.max-column-width", "table.display.max-column-width"} {
		if n, err := strconv.Atoi(s.Exec.Option(key)); err == nil && n > 0 {
			return n
		}
	}
	return 30
}

// showChangelog prints a streaming query as it happens.
func (s *Shell) showChangelog(ctx context.Context, r *session.Result, took func() string, p *progress) error {
	t := newTableau(s.Term, r.Fields, s.columnWidth(), s.measure())
	if screen := s.Term.Width(); screen > 0 {
		if out := t.fitTo(screen); len(out) > 0 {
			s.Term.Notice("[NOTE] " + fmt.Sprintf("Too wide for %d columns, not shown: %s. SET 'sql-client.execution.result-mode' = 'TABLE'; shows all, arrows scroll.",
				screen, strings.Join(out, ", ")))
		}
	}
	if err := t.begin(); err != nil {
		return err
	}
	cells := newCells(r.Fields, nullText, s.zone())
	cells.clean = s.Term.TTY()
	for {
		b, err := r.Rows.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			if err := t.end(); err != nil {
				return err
			}
			fmt.Fprintf(s.Term, "Received a total of %d %s%s\n", t.rows, plural("row", t.rows > 1), took())
			return nil
		case err != nil && ctx.Err() != nil:
			t.out.Flush()
			why := ""
			if t.rows == 0 {
				why = s.why(r.JobID)
			}
			fmt.Fprintf(s.Term, "Query terminated, received a total of %d %s%s\n", t.rows, plural("row", t.rows > 1), took())
			if why != "" {
				s.Term.Notice("[NOTE] " + "Why no row: " + why)
			}
			return nil
		case err != nil:
			t.out.Flush()
			return err
		}
		for k := range b.Rows() {
			i := b.Row(k)
			t.row(b.Kind(i), cells.of(b, i))
		}
		p.rows.Store(t.rows)
		if err := t.out.Flush(); err != nil {
			return err
		}
	}
}

func plural(word string, many bool) string {
	if many {
		return word + "s"
	}
	return word
}

// showTable prints a bounded answer.
func (s *Shell) showTable(ctx context.Context, r *session.Result, p *progress) error {
	rows, err := s.readAll(ctx, r, "", p)
	if err != nil {
		return err
	}
	return s.writeTable(ctx, r, rows, 0, "")
}

// writeTable prints rows, or pages through them where the terminal cannot hold them.
func (s *Shell) writeTable(ctx context.Context, r *session.Result, rows [][]string, most int, took string) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintf(s.Term, "Empty set%s\n", took)
		return err
	}
	t := table{rows: rows, most: most, by: s.measure(), narrow: s.Term.Width()}
	for _, f := range r.Fields {
		t.names = append(t.names, f.Name)
	}
	var text bytes.Buffer
	if err := t.write(&text); err != nil {
		return err
	}
	if s.fits(text.Bytes()) {
		if _, err := s.Term.Write(text.Bytes()); err != nil {
			return err
		}
	} else if err := s.page(ctx, text.String(), 3); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.Term, "%d %s in set%s\n", len(rows), plural("row", len(rows) > 1), took)
	return err
}

// readAll collects the rows of a bounded result.
func (s *Shell) readAll(ctx context.Context, r *session.Result, null string, p *progress) ([][]string, error) {
	cells := newCells(r.Fields, null, s.zone())
	cells.clean = s.Term.TTY() && r.Kind == session.Query
	var rows [][]string
	for {
		b, err := r.Rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		for k := range b.Rows() {
			rows = append(rows, append([]string(nil), cells.of(b, b.Row(k))...))
		}
		p.rows.Store(int64(len(rows)))
	}
}

// zone is the session's time zone; TIMESTAMP_LTZ shows in it.
func (s *Shell) zone() *time.Location {
	name := s.Exec.Option("table.local-time-zone")
	if name == "" || name == "default" {
		return time.Local
	}
	z, err := types.ParseZone(name)
	if err != nil {
		return time.UTC // the statement that set it was refused; nothing better is known here
	}
	return z
}

// cells renders rows as text.
type cells struct {
	fields []types.Field
	null   string
	zone   *time.Location
	clean  bool // control characters become blanks, for a terminal
	buf    []byte
	out    []string
}

func newCells(fields []types.Field, null string, zone *time.Location) *cells {
	return &cells{fields: fields, null: null, zone: zone, out: make([]string, len(fields))}
}

// of gives the texts of a row, valid until the next call.
func (c *cells) of(b *types.Batch, i int32) []string {
	for j := range c.fields {
		if b.Cols[j].Null(i) {
			c.out[j] = c.null
			continue
		}
		c.buf = types.AppendShown(c.buf[:0], b.Cols[j], i, c.zone)
		if c.out[j] = string(c.buf); c.clean {
			c.out[j] = shown(c.out[j])
		}
	}
	return c.out
}

var commands = [...][2]string{
	{"HELP", "Prints the available commands."},
	{"QUIT/EXIT", "Leaves the shell; a statement set that was begun is given up."},
	{"CLEAR", "Clears the screen."},
	{"SET", "Sets a session option: SET 'key' = 'value'; without anything behind it lists them."},
	{"RESET", "Resets an option, or all: RESET 'key';"},
	{"INSERT INTO", "Runs an INSERT as a job in the background."},
	{"SELECT", "Runs a query and shows its changes as they come; Ctrl-C ends it."},
	{"CREATE TABLE", "Makes a table of a connector's rows; Tab behind 'connector' = ' and behind a comma lists what can stand there."},
	{"SHOW TABLES", "Lists the tables; DESCRIBE t and SHOW CREATE TABLE t show one; SHOW FUNCTIONS lists what can be called."},
	{"EXPLAIN", "Shows how a query would run, its changelog modes and what bounds its state."},
	{"BEGIN STATEMENT SET", "Begins a set of INSERTs that run as one job."},
	{"END", "Ends the set and submits it."},
	{"SHOW JOBS", "Lists the jobs with their states."},
	{`\watch`, "Repeats the last statement every two seconds, or as often as said: \\watch 5; Ctrl-C ends it."},
	{"STOP JOB", "Stops a job: STOP JOB 'id' [WITH SAVEPOINT] [WITH DRAIN];"},
}

func (s *Shell) help() error {
	var b strings.Builder
	b.WriteString("The following commands are available:\n\n")
	for _, c := range commands {
		lines := []string{c[1]}
		if w := s.Term.Width(); w > 60 {
			lines = wrap(c[1], w-33)
		}
		fmt.Fprintf(&b, "%-19s\t\t%s\n", c[0], strings.Join(lines, "\n"+strings.Repeat(" ", 32)))
	}
	b.WriteString("\nHint: Make sure that a statement ends with \";\" for finalizing (multi-line) statements.\n")
	if s.Keys != nil {
		b.WriteString("Keys: Tab completes, Up and Ctrl-R find former statements, Ctrl-C gives up what is typed or ends what runs, Ctrl-D leaves.\n")
	}
	_, err := io.WriteString(s.Term, b.String())
	return err
}
