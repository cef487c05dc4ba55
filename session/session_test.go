package session

import (
	"context"
	"strings"
	"testing"

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
