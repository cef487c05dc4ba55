package main

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"runnel/internal/recorded"
)

// judge says how our answer differs from the recorded one, "" when it agrees, and gives our answer.
func (a *asker) judge(e expression) (why, ours string) {
	if e.manyRows() {
		return a.judgeRows(e)
	}
	typ, rows, err := a.ask(e)
	if err == nil && len(rows) != 1 {
		return fmt.Sprintf("%d rows", len(rows)), ""
	}
	if err != nil {
		ours = failed(e, err)
	} else {
		ours = typ + " " + shownRow(rows[0])
	}
	switch {
	case e.err != "":
		return judgeError(e, e.err, err, ours), ours
	case err != nil:
		return "error: " + ours, ours
	case typ != e.typ:
		return fmt.Sprintf("type %s, want %s", typ, e.typ), ours
	case e.value == "*":
		return "", ours
	}
	return differs(e.typ, rows[0], undone(e.value)), ours
}

// manyRows reports whether the recorded value is a list, one entry per row of the table.
func (e expression) manyRows() bool {
	return e.err == "" && strings.HasPrefix(e.value, "[") && e.table != "" && !strings.HasPrefix(e.table, "SELECT") &&
		(!strings.HasPrefix(e.id, "g.") || strings.Contains(e.table, "GROUP BY"))
}

// undone gives a recorded value without the escapes of the file, nil for NULL.
func undone(value string) *string {
	if value == `\N` {
		return nil
	}
	s := recorded.Unescape(value)
	return &s
}

func shownRow(s *string) string {
	if s == nil {
		return `\N`
	}
	return *s
}

// differs compares a value with the recorded one.
func differs(typ string, got, want *string) string {
	switch {
	case want == nil && got == nil:
		return ""
	case got == nil:
		return "NULL, want " + *want
	case want == nil:
		return fmt.Sprintf("%q, want NULL", *got)
	case *got != *want && sorted(typ, *got) != sorted(typ, *want):
		return fmt.Sprintf("%q, want %q", *got, *want)
	}
	return ""
}

// sorted brings the entries of a map or multiset into one order, since Flink's is that of its hash map.
func sorted(typ, s string) string {
	if !strings.HasPrefix(typ, "MAP") && !strings.HasPrefix(typ, "MULTISET") || len(s) < 2 {
		return s
	}
	parts := strings.Split(s[1:len(s)-1], ", ")
	sort.Strings(parts)
	return strings.Join(parts, ", ")
}

// recordedRow is an entry of a list of rows: a value, or the failure of the row when it is asked alone.
type recordedRow struct {
	value *string
	err   string
}

func (r *recordedRow) UnmarshalJSON(b []byte) error {
	var failure struct{ Error string }
	if len(b) > 0 && b[0] == '{' {
		err := json.Unmarshal(b, &failure)
		r.err = "runtime|" + failure.Error
		return err
	}
	return json.Unmarshal(b, &r.value)
}

// judgeRows compares the rows of a table. Where some fail, each is asked alone, as the recording did.
func (a *asker) judgeRows(e expression) (why, ours string) {
	var want []recordedRow
	if err := json.Unmarshal([]byte(recorded.Unescape(e.value)), &want); err != nil {
		return "recorded value: " + err.Error(), ""
	}
	typ, rows, err := a.ask(e)
	got := make([]string, len(want))
	say := func(i int, s string) {
		if s != "" && why == "" {
			why = fmt.Sprintf("row %d: %s", i+1, s)
		}
	}
	if err == nil && len(rows) != len(want) {
		return fmt.Sprintf("%d rows, want %d", len(rows), len(want)), ""
	}
	for i, w := range want {
		err := err
		var row *string
		if err != nil {
			one := e
			one.table = fmt.Sprintf("SELECT * FROM %s WHERE id = %d", e.table, i+1)
			var alone []*string
			typ, alone, err = a.ask(one)
			if err == nil && len(alone) != 1 {
				return fmt.Sprintf("row %d: %d rows", i+1, len(alone)), ""
			}
			if err == nil {
				row = alone[0]
			}
		} else {
			row = rows[i]
		}
		if got[i] = shownRow(row); err != nil {
			got[i] = failed(e, err)
		}
		switch {
		case w.err != "":
			say(i, judgeError(e, w.err, err, got[i]))
		case err != nil:
			say(i, "error: "+got[i])
		default:
			say(i, differs(e.typ, row, w.value))
		}
	}
	ours = typ + " [" + strings.Join(got, ", ") + "]"
	if why == "" && typ != e.typ {
		why = fmt.Sprintf("type %s, want %s", typ, e.typ)
	}
	return why, ours
}
