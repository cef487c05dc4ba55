package testkit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"runnel/sql"
)

// Script is a file of logic tests, see testdata/logic/README.md for the format.
type Script struct {
	Name  string // of the file, without its extension
	Steps []Step
	path  string
	lines []string
}

// Step is one thing that a script says, in the order of the file. One of SQL, Rows and Clock is set.
type Step struct {
	Line int // where it starts, from 1

	SQL     string
	Wants   []Want // what the statement gives
	Refused *Refusal
	Except  map[string]string // the kinds of run that are left out, with the reason

	Rows  *Rows
	Clock time.Duration // processing time moves on by so much
}

// Want is the changelog that a sink gets; Sink is "" for a query.
type Want struct {
	Sink     string
	Level    Level
	Changes  []Change
	from, to int // lines of the changes, from 0
}

// Refusal says that a statement is refused or its job fails, with a message that contains every line.
type Refusal struct {
	Lines    []string
	from, to int
}

// Rows is input of a table.
type Rows struct {
	Table   string
	Changes []Change
}

// Short reports whether the statement may end before its input does: it has a LIMIT.
func (s *Step) Short() bool {
	return strings.Contains(strings.ToUpper(s.SQL), "LIMIT") || strings.Contains(strings.ToUpper(s.SQL), "FETCH")
}

// Test is a statement of a script with the changelog it gives or the error.
type Test struct {
	Script *Script
	At     int // index of its step
}

// Step is the test's own step.
func (t Test) Step() *Step { return &t.Script.Steps[t.At] }

// Name is the file and the line of the statement.
func (t Test) Name() string { return fmt.Sprintf("%s/line-%d", t.Script.Name, t.Step().Line) }

// exceptions are the kinds of run that a script may leave out.
var exceptions = map[string]bool{"batch": true, "parallel": true, "restore": true}

// LoadScript reads a script.
func LoadScript(path string) (*Script, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &Script{Name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), path: path, lines: strings.Split(string(b), "\n")}
	for at := 0; at < len(s.lines); {
		if at, err = s.block(at); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return s, nil
}

// Tests gives the steps that expect something.
func (s *Script) Tests() []Test {
	var tests []Test
	for i, st := range s.Steps {
		if len(st.Wants) > 0 || st.Refused != nil {
			tests = append(tests, Test{s, i})
		}
	}
	return tests
}

// block reads what starts at a line and gives the line behind it.
func (s *Script) block(at int) (int, error) {
	line := strings.TrimSpace(s.lines[at])
	if line == "" || strings.HasPrefix(line, "#") {
		return at + 1, nil
	}
	word, rest, _ := strings.Cut(line, " ")
	end := at + 1
	for end < len(s.lines) && strings.TrimSpace(s.lines[end]) != "" {
		end++
	}
	var err error
	switch word {
	case "rows":
		err = s.rows(at, end, strings.TrimSpace(rest))
	case "changelog":
		err = s.changelog(at, end, strings.Fields(rest))
	case "error":
		err = s.refused(at, end)
	case "except":
		end = at + 1
		err = s.except(at, rest)
	case "clock":
		end = at + 1
		var d time.Duration
		if d, err = time.ParseDuration(strings.TrimPrefix(rest, "+")); err == nil {
			s.Steps = append(s.Steps, Step{Line: at + 1, Clock: d})
		}
	default:
		return s.statement(at)
	}
	if err != nil {
		err = fmt.Errorf("line %d: %w", at+1, err)
	}
	return end, err
}

// statement reads SQL up to its semicolon.
func (s *Script) statement(at int) (int, error) {
	for end := at + 1; end <= len(s.lines); end++ {
		text := strings.Join(s.lines[at:end], "\n")
		if pieces, rest := sql.Split(text); rest == nil && len(pieces) > 0 {
			if len(pieces) > 1 {
				return end, fmt.Errorf("line %d: several statements on one line", end)
			}
			s.Steps = append(s.Steps, Step{Line: at + 1, SQL: pieces[0].Text})
			return end, nil
		}
	}
	return 0, fmt.Errorf("line %d: no semicolon ends the statement", at+1)
}

func (s *Script) rows(at, end int, table string) error {
	r := &Rows{Table: table}
	for k := at + 1; k < end; k++ {
		c, err := parseChange(s.lines[k])
		if err != nil {
			return fmt.Errorf("row in line %d: %w", k+1, err)
		}
		r.Changes = append(r.Changes, c)
	}
	s.Steps = append(s.Steps, Step{Line: at + 1, Rows: r})
	return nil
}

// subject is the statement that a block speaks about.
func (s *Script) subject() (*Step, error) {
	if n := len(s.Steps); n > 0 && s.Steps[n-1].SQL != "" {
		return &s.Steps[n-1], nil
	}
	return nil, fmt.Errorf("no statement stands before it")
}

func (s *Script) changelog(at, end int, words []string) error {
	st, err := s.subject()
	if err != nil {
		return err
	}
	w := Want{from: at + 1, to: end}
	if len(words) == 0 || len(words) > 2 {
		return fmt.Errorf("want: changelog LEVEL [SINK]")
	}
	var ok bool
	if w.Level, ok = ParseLevel(words[0]); !ok {
		return fmt.Errorf("unknown level %q", words[0])
	}
	if len(words) == 2 {
		w.Sink = words[1]
	}
	for k := at + 1; k < end; k++ {
		c, err := parseChange(s.lines[k])
		if err != nil {
			return fmt.Errorf("change in line %d: %w", k+1, err)
		}
		w.Changes = append(w.Changes, c)
	}
	st.Wants = append(st.Wants, w)
	return nil
}

func (s *Script) refused(at, end int) error {
	st, err := s.subject()
	if err != nil {
		return err
	}
	r := &Refusal{from: at + 1, to: end}
	for _, l := range s.lines[at+1 : end] {
		r.Lines = append(r.Lines, strings.TrimSpace(l))
	}
	if len(r.Lines) == 0 {
		return fmt.Errorf("an error needs its text")
	}
	st.Refused = r
	return nil
}

func (s *Script) except(at int, rest string) error {
	st, err := s.subject()
	if err != nil {
		return err
	}
	what, why, _ := strings.Cut(rest, " ")
	if !exceptions[what] || strings.TrimSpace(why) == "" {
		return fmt.Errorf("want: except batch|parallel|restore REASON")
	}
	if st.Except == nil {
		st.Except = map[string]string{}
	}
	st.Except[what] = why
	return nil
}

// parseChange reads "+I 1 a 'two words' NULL".
func parseChange(line string) (Change, error) {
	line = strings.TrimSpace(line)
	if len(line) < 2 || !strings.Contains("+I-U+U-D", line[:2]) || line[0] != '+' && line[0] != '-' {
		return Change{}, fmt.Errorf("%q starts with none of +I -U +U -D", line)
	}
	c := Change{Kind: line[:2]}
	for rest := strings.TrimSpace(line[2:]); rest != ""; rest = strings.TrimSpace(rest) {
		cell, n, err := parseCell(rest)
		if err != nil {
			return c, err
		}
		c.Cells = append(c.Cells, cell)
		rest = rest[n:]
	}
	return c, nil
}

// null is how a cell shows NULL, as in the client.
const null = "<NULL>"

func parseCell(s string) (cell string, n int, err error) {
	if s[0] != '\'' {
		n = strings.IndexByte(s, ' ')
		if n < 0 {
			n = len(s)
		}
		if cell = s[:n]; cell == "NULL" {
			cell = null
		}
		return cell, n, nil
	}
	for n = 1; n < len(s); n++ {
		if s[n] != '\'' {
			continue
		}
		if n+1 == len(s) || s[n+1] != '\'' {
			return strings.ReplaceAll(s[1:n], "''", "'"), n + 1, nil
		}
		n++
	}
	return "", 0, fmt.Errorf("a quote is not closed: %s", s)
}

// Line gives the change as a line of a script.
func (c Change) Line() string {
	var b strings.Builder
	b.WriteString(c.Kind)
	for _, cell := range c.Cells {
		b.WriteByte(' ')
		switch {
		case cell == null:
			b.WriteString("NULL")
		case cell == "" || cell == "NULL" || strings.ContainsAny(cell, " '\t\n"):
			b.WriteString("'" + strings.ReplaceAll(cell, "'", "''") + "'")
		default:
			b.WriteString(cell)
		}
	}
	return b.String()
}

// Update writes the file anew with what the tests have given: logs[step][sink] takes the place of each changelog, and
// refusals[step] that of an error's text.
func (s *Script) Update(logs map[int]map[string][]Change, refusals map[int]string) error {
	var out []string
	at := 0
	replace := func(from, to int, with []string) {
		out = append(append(out, s.lines[at:from]...), with...)
		at = to
	}
	for i, st := range s.Steps {
		for _, w := range st.Wants {
			if log, ok := logs[i]; ok {
				var lines []string
				for _, c := range log[w.Sink] {
					lines = append(lines, c.Line())
				}
				replace(w.from, w.to, lines)
			}
		}
		if text, ok := refusals[i]; ok && st.Refused != nil {
			replace(st.Refused.from, st.Refused.to, []string{text})
		}
	}
	out = append(out, s.lines[at:]...)
	return os.WriteFile(s.path, []byte(strings.Join(out, "\n")), 0o644)
}
