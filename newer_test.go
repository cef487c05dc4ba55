package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNewerFunctions asks what functions of versions after 1.20 give: testdata/newer.tsv has expressions and their values as
// the documentation of those versions has them. Flink 1.20, which all recordings are from, knows none of them.
func TestNewerFunctions(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "newer.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")[1:]
	for _, unfolded := range []bool{false, true} {
		a := newAsker(t, unfolded)
		for _, line := range lines {
			c := strings.Split(line, "\t")
			e := expression{text: strings.ReplaceAll(c[0], `\\`, `\`), value: c[1]}
			typ, rows, err := a.ask(e)
			switch {
			case err != nil || len(rows) != 1:
				t.Errorf("%s: %d rows, %v", e.text, len(rows), err)
			default:
				if why := differs(typ, rows[0], undone(e.value)); why != "" {
					t.Errorf("%s: %s", e.text, why)
				}
			}
		}
	}
}
