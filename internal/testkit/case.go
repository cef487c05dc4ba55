package testkit

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Case is a recorded pipeline: SQL, inputs, and what Flink gave.
type Case struct {
	Name string
	Text string // prelude and case, with the folder's path filled in
	// Level is the level at which results must agree: the weaker of the case's and of what Flink itself kept.
	Level  Level
	Select []Change // of the last statement, a query; nil when the case writes to print sinks
	Query  bool
	Print  map[string][]Change // by print identifier
	Error  *CaseError
}

// CaseError says that the case is refused or fails.
type CaseError struct {
	Class, Text, When, Outer string
}

// LoadCase reads a case folder. prelude is the file that goes in front.
func LoadCase(dir, prelude string) (*Case, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	pre, err := os.ReadFile(prelude)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "case.sql"))
	if err != nil {
		return nil, err
	}
	var meta struct{ Compare string }
	if err := readJSON(filepath.Join(dir, "case.json"), &meta); err != nil {
		return nil, err
	}
	var want struct {
		Stable *string
		Select *struct {
			Changelog []Change
		}
		Print map[string][]Change
		Error *CaseError
	}
	if err := readJSON(filepath.Join(dir, "expected.json"), &want); err != nil {
		return nil, err
	}
	c := &Case{Name: filepath.Base(dir), Text: strings.ReplaceAll(string(pre)+"\n"+string(text), "${DIR}", dir), Error: want.Error}
	if want.Stable == nil {
		return nil, fmt.Errorf("case %s: Flink's own result is not stable", c.Name)
	}
	if c.Error == nil {
		level, ok := ParseLevel(meta.Compare)
		stable, ok2 := ParseLevel(*want.Stable)
		if !ok || !ok2 {
			return nil, fmt.Errorf("case %s: levels %q and %q", c.Name, meta.Compare, *want.Stable)
		}
		c.Level = max(level, stable)
	}
	if want.Select != nil {
		c.Query, c.Select = true, want.Select.Changelog
	}
	c.Print = want.Print
	return c, nil
}

func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
