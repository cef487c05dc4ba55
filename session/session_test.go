package session

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"runnel/catalog"
	"runnel/connectors"
	"runnel/connectors/blackhole"
)

func testSession() *Session {
	return New(Options{
		Catalog: catalog.New(), Config: catalog.NewConfig(), CheckOnly: true,
		Connectors: []connectors.Connector{blackhole.Connector()},
	})
}

// TestRefusals runs statements one after the other; each gives an error that begins with the text behind "!", or none.
func TestRefusals(t *testing.T) {
	s := testSession()
	for _, c := range [...]struct{ stmt, want string }{
		{"CREATE TABLE s WITH ('connector' = 'blackhole') AS SELECT 1 AS a", ""},
		{"CREATE TABLE IF NOT EXISTS s WITH ('connector' = 'blackhole') AS SELECT 2 AS z", ""},
		{"CREATE TABLE IF NOT EXISTS s WITH ('connector' = 'blackhole') AS SELECT 1 AS a, 2 AS b", catalog.ValidationError + ": Column types of query result and sink"},
		{"REPLACE TABLE absent WITH ('connector' = 'blackhole') AS SELECT 2 AS q", catalog.TableError + ": The table `default_catalog`.`default_database`.`absent` to be replaced doesn't exist."},
		{"REPLACE TABLE s WITH ('connector' = 'blackhole') AS SELECT 2 AS q, 3 AS r", ""},
		{"INSERT INTO s SELECT 1, 2", ""},
		{"CREATE OR REPLACE TABLE n WITH ('connector' = 'blackhole') AS SELECT 2 AS q", ""},
		{"DELETE FROM s", catalog.ValidationError + ": Connector 'blackhole' can only be used as a sink."},
		{"UPDATE s SET q = 1", catalog.ValidationError + ": Connector 'blackhole' can only be used as a sink."},
		{"ANALYZE TABLE s COMPUTE STATISTICS", catalog.TableError + ": ANALYZE TABLE is not supported for streaming mode now"},
		{"ADD JAR '/none.jar'", "java.io.FileNotFoundException: jar resource [/none.jar] not found."},
		{"REMOVE JAR '/none.jar'", catalog.UnsupportedOp + ": SQL Gateway doesn't support REMOVE JAR syntax now."},
		{"CALL p(1)", catalog.UnsupportedOp + ": getProcedure is not implemented"},
		{"SHOW PROCEDURES", catalog.UnsupportedOp + ": listProcedures is not implemented"},
	} {
		_, err := s.Execute(context.Background(), c.stmt)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.stmt, err, c.want)
		}
	}
}

// TestDescribeFunction compares answers as lines of "name: value", and the beginnings of refusals.
func TestDescribeFunction(t *testing.T) {
	s := testSession()
	for _, c := range [...]struct{ stmt, want string }{
		{"DESCRIBE FUNCTION upper", "is system function: true|is temporary: false|description: in upper case."},
		{"DESC FUNCTION EXTENDED listagg", "is system function: true|is temporary: false|kind: AGGREGATE|requirements: []|is deterministic: true|supports constant folding: false|" +
			"signature: LISTAGG(text [, separator])|description: the texts that are not NULL, in the order of arrival, joined by commas or the separator."},
		{"DESCRIBE FUNCTION EXTENDED rand", "is deterministic: false|supports constant folding: false|"},
		{"DESCRIBE FUNCTION uper", catalog.ValidationError + ": Function with the identifier 'uper' doesn't exist."},
		{"CREATE FUNCTION mine AS 'a.B' LANGUAGE JAVA", ""},
		{"DESCRIBE FUNCTION mine", "is system function: false|is temporary: false|class name: a.B|function language: JAVA|resource uris: []"},
		{"DESCRIBE FUNCTION default_database.mine", "class name: a.B"},
		{"DESCRIBE FUNCTION default_database.lpad", catalog.ValidationError + ": Function with the identifier 'default_database.lpad' doesn't exist."},
	} {
		res, err := s.Execute(context.Background(), c.stmt)
		got := fmt.Sprint(err)
		if err == nil && res.Rows != nil {
			b, err := res.Rows.Next(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for k := range b.Rows() {
				lines = append(lines, b.Cols[0].At(b.Row(k)).S+": "+b.Cols[1].At(b.Row(k)).S)
			}
			got = strings.Join(lines, "|")
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", c.stmt, got, c.want)
		}
	}
}

// TestFunctionsAreFoundInOrder: a built-in function comes before one of the catalog of the same name, unless the name has a path.
func TestFunctionsAreFoundInOrder(t *testing.T) {
	s := testSession()
	for _, c := range [...]struct{ stmt, want string }{
		{"CREATE FUNCTION lpad AS 'a.Lpad'", ""},
		{"SELECT LPAD('a', 3, 'b')", ""},
		{"SELECT default_database.lpad('a', 3, 'b')", "java.lang.ClassNotFoundException: a.Lpad"},
		{"SELECT default_database.rpad('a', 3, 'b')", catalog.NameError + ": No match found for function signature rpad(<CHARACTER>, <NUMERIC>, <CHARACTER>)"},
		{"SELECT nope.rpad('a', 3, 'b')", catalog.NameError + ": No match found for function signature rpad("},
	} {
		_, err := s.Execute(context.Background(), c.stmt)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.stmt, err, c.want)
		}
	}
}

func TestInitScriptsStartNoJob(t *testing.T) {
	s := testSession()
	for stmt, allowed := range map[string]bool{
		"CREATE TABLE s (a INT) WITH ('connector' = 'blackhole')": true,
		"SET 'table.dml-sync' = 'true'":                           true,
		"SELECT 1":                                                false,
		"INSERT INTO s SELECT 1":                                  false,
		"CREATE TABLE x WITH ('connector' = 'blackhole') AS SELECT 1 AS a": false,
		"SHOW TABLES": false,
	} {
		_, err := s.Configure(context.Background(), stmt)
		if (err == nil) != allowed {
			t.Errorf("%s: %v", stmt, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), catalog.UnsupportedOp+": Unsupported statement for configuring session:"+stmt) {
			t.Errorf("%s: %v", stmt, err)
		}
	}
}

// TestJobConfig: what a job keeps of the session's options.
func TestJobConfig(t *testing.T) {
	c := catalog.NewConfig()
	set := func(key, value string) {
		t.Helper()
		if _, err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	if got := jobConfig(c); got.Parallelism != 1 || got.SlotTimeout != 0 || got.BufferTimeout != 100*time.Millisecond {
		t.Errorf("by default %+v", got)
	}
	set("parallelism.default", "3")
	set("slot.request.timeout", "5000")
	if got := jobConfig(c); got.Parallelism != 3 || got.SlotTimeout != 5*time.Second {
		t.Errorf("parallelism %d, slot timeout %s", got.Parallelism, got.SlotTimeout)
	}
	set("table.exec.resource.default-parallelism", "2")
	set("execution.buffer-timeout.enabled", "false")
	if got := jobConfig(c); got.Parallelism != 2 || got.BufferTimeout >= 0 {
		t.Errorf("parallelism %d, buffer timeout %s", got.Parallelism, got.BufferTimeout)
	}
}
