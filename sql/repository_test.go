package sql

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRepositoryStatements parses every statement of the repository's scripts, logic tests and recorded statements, and what is
// printed of it again: the trees are equal. Statements that are syntax errors are none of this test's.
func TestRepositoryStatements(t *testing.T) {
	scripts, statements := 0, 0
	take := func(file, text string) {
		if tree, err := Parse(text); err == nil {
			statements++
			roundTrip(t, file+": "+text, tree)
		}
	}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		ext := filepath.Ext(path)
		if ext != ".sql" && ext != ".test" && ext != ".jsonl" {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		scripts++
		text := string(b)
		switch ext {
		case ".jsonl":
			for line := range strings.Lines(text) {
				var r struct{ SQL string }
				if err := json.Unmarshal([]byte(line), &r); err == nil && r.SQL != "" {
					take(path, r.SQL)
				}
			}
			return nil
		case ".test":
			text = logicStatements(text)
		}
		for _, p := range SplitAll(text) {
			take(path, p.Text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if scripts < 100 || statements < 2500 {
		t.Errorf("only %d files with %d statements", scripts, statements)
	}
	t.Logf("%d files, %d statements", scripts, statements)
}

// logicStatements gives the statements of a logic test: all but the blocks of rows and results.
func logicStatements(text string) string {
	var b strings.Builder
	inBlock, inStatement := false, false
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		word, _, _ := strings.Cut(line, " ")
		switch {
		case strings.TrimSpace(line) == "":
			inBlock = false
		case inBlock:
		case !inStatement && (strings.HasPrefix(line, "#") || word == "clock" || word == "except"):
		case !inStatement && (word == "rows" || word == "changelog" || word == "error"):
			inBlock = true
		default:
			b.WriteString(line + "\n")
			inStatement = !strings.HasSuffix(strings.TrimSpace(line), ";")
		}
	}
	return b.String()
}
