package sql

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what is printed into testdata/forms.txt")

// TestForms parses every form of the grammar, compares what is printed of it, and parses that again.
func TestForms(t *testing.T) {
	const file = "testdata/forms.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		out.WriteString(line + "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		want := line
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "-> ") {
			i++
			want = lines[i][3:]
		}
		tree, err := Parse(line)
		if err != nil {
			t.Errorf("%s\n%v\n%s", line, err, strings.Join(err.(*Error).Detail(line), "\n"))
			continue
		}
		got := Format(tree)
		if got != line {
			out.WriteString("-> " + got + "\n")
		}
		if got != want && !*update {
			t.Errorf("%s\nprints %s\nwant   %s", line, got, want)
		}
		checkSpans(t, line, tree)
		roundTrip(t, line, tree)
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// checkSpans checks that every node lies inside of the one above it, and none is without a place.
func checkSpans(t *testing.T, text string, tree Node) {
	t.Helper()
	var check func(n Node, from, to int32)
	check = func(n Node, from, to int32) {
		first := true
		Walk(n, func(c Node) bool {
			if first {
				first = false
				return true
			}
			a, b := c.Pos().Offset, c.End().Offset
			if !c.Pos().IsValid() || a < from || b > to || a > b {
				t.Errorf("%s: %T %q at %d-%d is not inside of %T at %d-%d", text, c, Format(c), a, b, n, from, to)
			}
			check(c, a, b)
			return false
		})
	}
	check(tree, tree.Pos().Offset, tree.End().Offset)
}
