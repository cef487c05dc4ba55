package plan

import (
	"errors"
	"strings"
	"testing"

	"runnel/catalog"
)

const refuseDDL = `CREATE TABLE orders (id BIGINT, cust BIGINT, item STRING, qty INT, price DECIMAL(10, 2), r ROW<a INT>, ts TIMESTAMP(3), pt AS PROCTIME(),
	WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'datagen');
CREATE TABLE p (k BIGINT, c BIGINT) WITH ('connector' = 'print');
CREATE TABLE app (k BIGINT, c BIGINT) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b:1', 'format' = 'json');
CREATE VIEW v AS SELECT id, item FROM orders;`

// The place is written as the text between >> and <<, which are taken out before the statement is planned.
func TestRefusals(t *testing.T) {
	tests := []struct{ sql, msg, hint string }{
		{"SELECT >>idd<< FROM orders", "Column 'idd' not found in any table", "Did you mean 'id'?"},
		{"SELECT\n  id,\n  >>o.prize<<\nFROM orders AS o", "Column 'prize' not found in table 'o'", "Did you mean 'price'?"},
		{"SELECT >>x.id<< FROM orders AS o", "Table 'x' not found", ""},
		{"SELECT * FROM >>order<<s2", "Object 'orders2' not found", "Did you mean 'orders'?"},
		{"SELECT >>id<< FROM orders AS a JOIN orders AS b ON a.id = b.id", "Column 'id' is ambiguous", "Put the table's name"},
		{"SELECT >>UPER(item)<< FROM orders", "No match found for function signature UPER(<CHARACTER>)", "Did you mean 'UPPER'?"},
		{"SELECT cust, >>item<<, COUNT(*) FROM orders GROUP BY cust", "Expression 'item' is not being grouped", "MAX(item)"},
		{"SELECT id FROM orders WHERE >>COUNT(*)<< > 1", "Aggregate expression is illegal in WHERE clause", "HAVING"},
		{"SELECT id FROM orders WHERE >>qty<<", "WHERE clause must be a condition", "INT"},
		{"SELECT id FROM orders ORDER BY >>price<<", "Sort on a non-time-attribute field is not supported.", "LIMIT"},
		{"SELECT r.>>b<< FROM orders", "Column 'r.b' not found in table 'orders'", "Did you mean 'a'?"},
		{"INSERT INTO >>app<< SELECT cust, COUNT(*) FROM orders GROUP BY cust",
			"Table sink 'default_catalog.default_database.app' doesn't support consuming update changes which is produced by node GroupAggregate(groupBy=[cust], select=[cust, COUNT(*) AS EXPR$1])",
			"PRIMARY KEY (`k`) NOT ENFORCED and 'connector' = 'upsert-kafka'"},
		{"INSERT INTO >>p<< SELECT cust FROM orders", "Column types of query result and sink for 'default_catalog.default_database.p' do not match.", ""},
		{"INSERT INTO p (>>kk<<) SELECT cust FROM orders", "Unknown target column 'kk'", "Did you mean 'k'?"},
		{"SELECT id FROM >>orders /*+ OPTIONS('rows-per-sec' = '1') */<<", "Unsupported options found for 'datagen'.", "Did you mean 'rows-per-second'?"},
		{"SELECT * FROM >>v /*+ OPTIONS('a' = 'b') */<<", "View '`default_catalog`.`default_database`.`v`' cannot be enriched with new options. Hints can only be applied to tables.", ""},
		{"SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(>>tss<<), INTERVAL '1' MINUTE))", "Unknown identifier 'tss'", "Did you mean 'ts'?"},
		{"SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), >>SIZ => INTERVAL '1' MINUTE<<))", "Param 'SIZ' not found in function 'TUMBLE'", "Did you mean 'SIZE'?"},
		{"SELECT INTERVAL '100' DAY", "Interval field value 100 exceeds precision of DAY(2) field", "DAY(3)"},
		{"SELECT DATE '2024-02-30x'", "Illegal DATE literal '2024-02-30x': not in format 'yyyy-MM-dd'", ""},
		{"SELECT >>99999999999999999999<<", "Numeric literal '99999999999999999999' out of range", "CAST('99999999999999999999' AS DECIMAL(38, 0))"},
		{"SELECT id FROM orders UNION ALL SELECT id, cust FROM orders", "Column count mismatch in UNION ALL", ""},
		{"SELECT >>NULL<< FROM orders", "Illegal use of 'NULL'", "CAST(NULL AS INT)"},
		{"SELECT >>SOURCE_WATERMARK()<< FROM orders",
			"SOURCE_WATERMARK() is a declarative marker function and doesn't have concrete runtime implementation. It can only be used as a single expression in WATERMARK FOR clause.",
			"No connector here makes watermarks of its own"},
		{"SELECT window_start, COUNT(*) FROM TABLE(TUMBLE((SELECT a.ts FROM orders a JOIN orders b ON a.id = b.id), DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end",
			"The window function requires the timecol is a time attribute type, but is TIMESTAMP(3).", "join"},
	}
	for _, tt := range tests {
		s := newSession(t)
		s.must(refuseDDL)
		text := strings.NewReplacer(">>", "", "<<", "").Replace(tt.sql)
		_, err := s.run(text)
		var e *catalog.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if first, _, _ := strings.Cut(e.Msg, "\n"); first != tt.msg {
			t.Errorf("%s:\n got %s\nwant %s", text, first, tt.msg)
		}
		if !strings.Contains(e.Hint, tt.hint) {
			t.Errorf("%s: hint %q, want %q", text, e.Hint, tt.hint)
		}
		if at := strings.Index(tt.sql, ">>"); at >= 0 && int(e.At.From.Offset) != at {
			t.Errorf("%s: at offset %d (%s), want %d", text, e.At.From.Offset, e.At.From, at)
		}
		if !e.At.From.IsValid() {
			t.Errorf("%s: no place", text)
		}
	}
}

func TestTableAs(t *testing.T) {
	s := newSession(t)
	s.must(ordersDDL)
	tab, g, err := s.tableAs("CREATE TABLE copy WITH ('connector' = 'print') AS SELECT id, COUNT(*) AS n FROM orders GROUP BY id")
	if err != nil {
		t.Fatal(err)
	}
	if got := tab.Create(); got != "CREATE TABLE `default_catalog`.`default_database`.`copy` (\n  `id` BIGINT,\n  `n` BIGINT NOT NULL\n) WITH (\n  'connector' = 'print'\n)\n" {
		t.Errorf("table:\n%s", got)
	}
	if g.JobName != "insert-into_default_catalog.default_database.copy" {
		t.Errorf("job %s", g.JobName)
	}
	if _, _, err := s.tableAs("CREATE TABLE copy (a INT) WITH ('connector' = 'print') AS SELECT 1"); err == nil ||
		!strings.Contains(err.Error(), "CREATE TABLE AS SELECT syntax does not support to specify explicit columns yet.") {
		t.Errorf("explicit columns: %v", err)
	}
}

// TestUnboundedInBatch: a table without an end is refused in batch mode, one with an end is read.
func TestUnboundedInBatch(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELECT id FROM orders", "Querying an unbounded table 'default_catalog.default_database.orders' in batch mode is not allowed. The table source is unbounded."},
		{"SELECT id FROM orders /*+ OPTIONS('number-of-rows' = '5') */", ""},
	} {
		s := newSession(t)
		s.must(refuseDDL + "; SET 'execution.runtime-mode' = 'batch'")
		_, err := s.run(c.sql)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.sql, err, c.want)
		}
	}
}
