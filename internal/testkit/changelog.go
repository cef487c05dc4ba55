package testkit

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Change is one line of a changelog: the kind and the texts of the columns.
type Change struct {
	Kind  string // +I -U +U -D
	Cells []string
}

// UnmarshalJSON reads [kind, [cell, ..]].
func (c *Change) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&c.Kind, &c.Cells})
}

// String prints the change: +I[1, a].
func (c Change) String() string { return c.Kind + "[" + strings.Join(c.Cells, ", ") + "]" }

func (c Change) row() string { return strings.Join(c.Cells, "\x00") }

// Level says how far two changelogs must agree.
type Level uint8

// The levels, the strictest first.
const (
	Sequence Level = iota // the same changes in the same order
	Keyed                 // the same, but changes with other first columns may change places
	Bag                   // the same changes in any order
	Final                 // the same rows once applied, and nothing taken back that was not there
)

// ParseLevel reads the name of a level.
func ParseLevel(s string) (Level, bool) {
	for i, n := range [...]string{"sequence", "keyed", "bag", "final"} {
		if n == s {
			return Level(i), true
		}
	}
	return 0, false
}

// Compare says how got differs from want at the level, "" when they agree.
func Compare(level Level, want, got []Change) string {
	switch level {
	case Keyed:
		return Compare(Sequence, byFirst(want), byFirst(got))
	case Sequence:
		for i := range max(len(want), len(got)) {
			switch {
			case i >= len(got):
				return fmt.Sprintf("%d changes, want %d; first missing: %s", len(got), len(want), want[i])
			case i >= len(want):
				return fmt.Sprintf("%d changes, want %d; first too many: %s", len(got), len(want), got[i])
			case want[i].String() != got[i].String():
				return fmt.Sprintf("change %d is %s, want %s", i+1, got[i], want[i])
			}
		}
		return ""
	case Bag:
		return differ(count(want, Change.String), count(got, Change.String))
	}
	w, wrong := Apply(want)
	if wrong != "" {
		// The recording itself takes back what it never gave: only the end can be compared.
		g, _ := Apply(got)
		return differ(w, g)
	}
	g, wrong := Apply(got)
	if wrong != "" {
		return wrong
	}
	return differ(w, g)
}

// byFirst sorts changes by their first column and keeps the order of those that share it.
func byFirst(changes []Change) []Change {
	sorted := slices.Clone(changes)
	slices.SortStableFunc(sorted, func(a, b Change) int { return strings.Compare(a.Cells[0], b.Cells[0]) })
	return sorted
}

func count(changes []Change, key func(Change) string) map[string]int {
	m := map[string]int{}
	for _, c := range changes {
		m[key(c)]++
	}
	return m
}

// Apply gives the rows that a changelog leaves, with their number, and the first change that takes back a row that is
// not there.
func Apply(changes []Change) (rows map[string]int, wrong string) {
	rows = map[string]int{}
	for i, c := range changes {
		if c.Kind == "+I" || c.Kind == "+U" {
			rows[c.row()]++
			continue
		}
		if rows[c.row()] == 0 && wrong == "" {
			wrong = fmt.Sprintf("change %d, %s, takes back a row that is not there", i+1, c)
		}
		rows[c.row()]--
	}
	return rows, wrong
}

func differ(want, got map[string]int) string {
	var missing, extra []string
	for k, n := range want {
		if d := n - got[k]; d > 0 {
			missing = append(missing, fmt.Sprintf("%s (%d)", show(k), d))
		}
	}
	for k, n := range got {
		if d := n - want[k]; d > 0 {
			extra = append(extra, fmt.Sprintf("%s (%d)", show(k), d))
		}
	}
	if len(missing)+len(extra) == 0 {
		return ""
	}
	sort.Strings(missing)
	sort.Strings(extra)
	return fmt.Sprintf("missing %s; too many %s", short(missing), short(extra))
}

func show(k string) string { return strings.ReplaceAll(k, "\x00", ", ") }

func short(list []string) string {
	if len(list) > 4 {
		return fmt.Sprintf("%s .. and %d more", strings.Join(list[:4], " | "), len(list)-4)
	}
	return strings.Join(list, " | ")
}

// ParsePrinted reads lines of print sinks, "id> +I[1, a]", into one changelog per identifier. A row is one cell.
func ParsePrinted(text string) map[string][]Change {
	logs := map[string][]Change{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		id, rest, ok := strings.Cut(line, "> ")
		if !ok {
			id, rest = "", line
		}
		id, _, _ = strings.Cut(id, ":")
		if len(rest) < 4 || rest[2] != '[' || rest[len(rest)-1] != ']' {
			continue
		}
		logs[id] = append(logs[id], Change{rest[:2], []string{rest[3 : len(rest)-1]}})
	}
	return logs
}

// ApplyUpserts gives the rows that a changelog without -U leaves in a table with a key, and the first change that
// deletes what is not there.
func ApplyUpserts(changes []Change, key []int) (rows map[string]int, wrong string) {
	current := map[string]string{}
	for i, c := range changes {
		var k []string
		for _, j := range key {
			k = append(k, c.Cells[j])
		}
		id := strings.Join(k, "\x00")
		switch _, there := current[id]; {
		case c.Kind[0] == '-' && !there && wrong == "":
			wrong = fmt.Sprintf("change %d, %s, deletes a row that is not there", i+1, c)
		}
		if c.Kind[0] == '-' {
			delete(current, id)
		} else {
			current[id] = c.row()
		}
	}
	rows = map[string]int{}
	for _, r := range current {
		rows[r]++
	}
	return rows, wrong
}
