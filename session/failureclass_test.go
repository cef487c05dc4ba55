package session

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// crashes are classes of Flink's own defects, whose messages are not ours.
var crashes = regexp.MustCompile(`ClassCast|ClassNotFound|NullPointer|Compile|ExceptionInInitializer|UnsupportedEncoding|IndexOutOfBounds|UnsupportedOperation|IllegalState|CodeGen|NegativeArray`)

// TestFailureClasses holds the table of classes against all failures of rows that a real Flink gave.
func TestFailureClasses(t *testing.T) {
	failure := regexp.MustCompile(`runtime\|([^|\t]+)\|([^\t]+)`)
	n := 0
	for _, name := range []string{"functions.tsv", "aggregates.tsv"} {
		b, err := os.ReadFile("../testdata/oracle/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			m := failure.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if m == nil || crashes.MatchString(m[1]) {
				continue
			}
			n++
			if got := failureClass(strings.ReplaceAll(m[2], `\\`, `\`)); got != m[1] {
				t.Errorf("%s\n got %q, want %q", m[2], got, m[1])
			}
		}
	}
	if n < 400 {
		t.Errorf("only %d failures", n)
	}
}
