package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestCoverage holds docs/coverage.tsv against testdata/features.tsv, the list of Flink's features: each has a line, which
// names a test that is there, or says why there is none. It prints how many are which.
func TestCoverage(t *testing.T) {
	var features []string
	for line := range strings.Lines(contents(t, "testdata/features.tsv")) {
		features = append(features, strings.TrimSpace(line))
	}
	pending := map[string]bool{}
	for _, list := range []string{"testdata/oracle/pending.txt", "testdata/oracle/values.differences.tsv", "connectors/format/testdata/differences.tsv"} {
		for line := range strings.Lines(contents(t, list)) {
			pending[strings.Fields(line + " -")[0]] = true
		}
	}
	files, counts, n := map[string]string{}, map[string]int{}, 0
	for line := range strings.Lines(contents(t, "docs/coverage.tsv")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "area\t") {
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) != 4 {
			t.Fatalf("docs/coverage.tsv: %q has %d columns, want 4", line, len(cells))
		}
		if name := cells[0] + "\t" + cells[1]; n >= len(features) || features[n] != name {
			t.Fatalf("docs/coverage.tsv: line %d of the features is %q; testdata/features.tsv has another there", n+1, name)
		}
		n++
		kind, why := judge(cells[3], files, pending)
		if counts[kind]++; why != "" {
			t.Errorf("docs/coverage.tsv: %s: %s: %s", cells[0], cells[1], why)
		}
	}
	if n != len(features) {
		t.Errorf("docs/coverage.tsv ends before %q", features[n])
	}
	t.Logf("%d features: %d with a test, %d not supported, %d open", n, counts["test"], counts["not supported"], counts["open"])
}

// judge says what shows a feature, and what is wrong with that.
func judge(shown string, files map[string]string, pending map[string]bool) (kind, wrong string) {
	if shown == "open" {
		return "open", ""
	}
	if why, ok := strings.CutPrefix(shown, "not supported: "); ok {
		if why == "" {
			return "not supported", "the reason is missing"
		}
		return "not supported", ""
	}
	path, text, ok := strings.Cut(shown, " ~ ")
	if !ok || text == "" {
		return "test", fmt.Sprintf("%q is neither a test nor a reason", shown)
	}
	if !strings.HasSuffix(path, "_test.go") && !strings.Contains("/"+path, "/testdata/") {
		return "test", path + " is no test"
	}
	if rest, ok := strings.CutPrefix(path, "testdata/oracle/cases/"); ok {
		if name, _, _ := strings.Cut(rest, "/"); pending[name] {
			return "test", name + " is pending"
		}
	}
	if strings.HasSuffix(path, ".tsv") && pending[text] {
		return "test", text + " is listed as a difference"
	}
	if _, ok := files[path]; !ok {
		b, err := os.ReadFile(path)
		if err != nil {
			return "test", err.Error()
		}
		files[path] = string(b)
	}
	if !strings.Contains(files[path], text) {
		return "test", fmt.Sprintf("%s does not hold %q", path, text)
	}
	return "test", ""
}

func contents(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
