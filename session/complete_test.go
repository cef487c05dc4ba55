package session

import (
	"context"
	"fmt"
	"testing"
)

func TestComplete(t *testing.T) {
	s := testSession()
	if _, err := s.Execute(context.Background(), "CREATE TABLE upper_orders (total INT, `order` INT, `日本` STRING) WITH ('connector' = 'blackhole')"); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"SELECT upp":              "3 upper_orders UPPER",
		"SELECT upper_orders.tot": "3 total",
		"SELECT u.tot":            "3",
		"SELECT 1 FROM upper_orders AS u WHERE u.": "0 `order` total 日本",
		"SELECT TOT":                             "3 total",
		"select tot FROM x; SELECT tot":          "3 total",
		"SELECT * FROM ":                         "0 default_catalog default_database upper_orders",
		"SELECT * FROM upper_orders u JOIN up":   "2 upper_orders ",
		"SELECT 1 FROM upper_orders u GROUP ":    "0 BY ",
		"SELECT ord FROM upper_orders WHERE ord": "3 `order` ORDER ORDINALITY",
		"SELECT `or":                             "2 order`",
		"SELECT 日":                               "3 日本",
		"INSERT INTO default_database.":          "0 upper_orders",
		"SHOW TABL":                              "4 TABLES ",
		"sel":                                    "3 SELECT ",
		"SELCT":                                  "5 SELECT ",
		"SELECT uper":                            "4 UPPER(",
		"SELECT CURRENT_TIMES":                   "13 CURRENT_TIMESTAMP ",
		"SET 'table.dml-s":                       "11 table.dml-sync' = '",
		"SET table.dml-s":                        "11 table.dml-sync = ",
		"SET table.dml-sync = t":                 "1 true",
		"RESET 'table.dml-syn":                   "13 table.dml-sync'",
		"SET 'sql-client.execution.result-mode' = 'c":    "1 CHANGELOG CSV",
		"SET 'sql-client.display.color-schema' = 'vs":    "2 VS2010'",
		"SET 'table.dml-sync' = 't":                      "1 true'",
		"SET 'nobody.knows' = 't":                        "1",
		"CREATE TABLE t (a INT) WITH ('conn":             "4 connector' = '",
		"CREATE TABLE t (a INT) WITH ('connector' = 'bl": "2 blackhole'",
		"SELECT '":           "0",
		"SELECT ":            "0",
		"SELECT 1 -- sel":    "0",
		"SELECT 'it''s' fro": "3 FROM_BASE64 FROM_UNIXTIME FROM",
	} {
		typed, words := s.Complete(text)
		got := fmt.Sprint(typed)
		for _, w := range words {
			got += " " + w.Text
			if len(words) == 1 {
				got += w.Behind
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
