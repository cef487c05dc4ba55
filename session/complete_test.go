package session

import (
	"context"
	"strings"
	"testing"
)

func TestComplete(t *testing.T) {
	s := testSession()
	if _, err := s.Execute(context.Background(), "CREATE TABLE upper_orders (total INT) WITH ('connector' = 'blackhole')"); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"SELECT upp":              "upper_orders UPPER",
		"SELECT upper_orders.tot": "total",
		"SELECT tot":              "total",
		"SHOW TABL":               "TABLE TABLES TABLESAMPLE",
		"SET 'table.dml-s":        "sync",
		"SET 'table.dml":          "dml-sync",
		"RESET 'table.dml-syn":    "sync",
		"SET 'sql-client.execution.result-mode' = 'c":    "CHANGELOG CSV",
		"SET 'table.dml-sync' = 't":                      "true",
		"SET 'nobody.knows' = 't":                        "",
		"CREATE TABLE t (a INT) WITH ('conn":             "connector",
		"CREATE TABLE t (a INT) WITH ('connector' = 'bl": "blackhole",
		"SELECT '":         "",
		"SELECT ":          "",
		"SELECT 'it''s' f": "",
	} {
		got := strings.Join(s.Complete(text), " ")
		if text == "SELECT 'it''s' f" {
			if !strings.Contains(got, "FROM") {
				t.Errorf("%s: %q", text, got)
			}
			continue
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
