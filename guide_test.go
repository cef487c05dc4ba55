package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"runnel/expr"
)

// TestFunctionGuide holds docs/functions.md to the tables of functions; RUNNEL_UPDATE=1 writes it anew.
func TestFunctionGuide(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Functions\n\nWhat `SHOW FUNCTIONS` lists, with what `DESCRIBE FUNCTION` says. Operators are not listed: arithmetic, comparisons, `AND`, `LIKE`,\n" +
		"`BETWEEN`, `IS NULL` and the others of SQL. NULL in gives NULL out unless the text says otherwise.\n\n## Scalar functions\n\n| call | what it gives |\n|---|---|\n")
	for _, f := range expr.Functions() {
		also := ""
		if len(f.Aliases) > 0 {
			also = " Also `" + strings.Join(f.Aliases, "`, `") + "`."
		}
		guideLine(&b, f.Name, f.Doc, also)
	}
	b.WriteString("\n## Aggregates\n\n| call | what it gives |\n|---|---|\n")
	for _, a := range expr.Aggregates() {
		if !strings.HasPrefix(a.Name, "$") { // of plans only
			guideLine(&b, a.Name, a.Doc, "")
		}
	}
	const path = "docs/functions.md"
	if os.Getenv("RUNNEL_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if contents(t, path) != b.String() {
		t.Errorf("%s is not what the tables of functions say: RUNNEL_UPDATE=1 go test . -run %s", path, t.Name())
	}
}

func guideLine(b *strings.Builder, name, doc, also string) {
	call, text, ok := strings.Cut(doc, ": ")
	if !ok {
		call, text = name, doc
	}
	bar := strings.NewReplacer("|", `\|`)
	fmt.Fprintf(b, "| `%s` | %s%s |\n", bar.Replace(call), bar.Replace(text), also)
}
