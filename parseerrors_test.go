package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIgnoredErrorsEndAtTheFormat: ignore-parse-errors drops lines that the format cannot read, and nothing that fails
// behind it.
func TestIgnoredErrorsEndAtTheFormat(t *testing.T) {
	a := newAsker(t, false)
	file := filepath.Join(t.TempDir(), "in.json")
	if err := os.WriteFile(file, []byte("{\"s\":\"1\"}\n{\"s\":\nnonsense\n{\"s\":\"2\"}\n{\"s\":\"x\"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if _, err := a.session.Execute(ctx, "CREATE TABLE j (s STRING) WITH ('connector' = 'filesystem', 'path' = '"+file+
		"', 'format' = 'json', 'json.ignore-parse-errors' = 'true')"); err != nil {
		t.Fatal(err)
	}
	_, rows, err := a.run(ctx, "SELECT s FROM j")
	if err != nil || rows.Len != 3 {
		t.Errorf("%d rows, want 3 (%v)", rows.Len, err)
	}
	if _, _, err = a.run(ctx, "SELECT CAST(s AS INT) FROM j"); err == nil || !strings.Contains(err.Error(), "For input string: 'x'") {
		t.Errorf("CAST('x' AS INT) behind the format: %v", err)
	}
}
