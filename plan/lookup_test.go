package plan

import (
	"strings"
	"testing"

	"runnel/sql"
)

// What Flink 1.20.5 answered to EXPLAIN CHANGELOG_MODE of these, spelling of expressions and columns that nobody reads aside. It has the jdbc connector
// filter by region itself.
const lookupDDL = `
CREATE TABLE o (id BIGINT, cust BIGINT, qty INT, region STRING, pt AS PROCTIME()) WITH ('connector' = 'datagen');
CREATE TABLE c (id BIGINT, cust BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'kafka', 'topic' = 'cust', 'properties.bootstrap.servers' = 'b:1', 'scan.startup.mode' = 'earliest-offset', 'format' = 'debezium-json');
CREATE TABLE dim (id BIGINT, label STRING, region STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', 'table-name' = 'dim');
CREATE TABLE dimi (id INT, label STRING, region STRING) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', 'table-name' = 'dim');
CREATE TABLE snk (id BIGINT, label STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 'o', 'properties.bootstrap.servers' = 'b:1', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE snkl (label STRING, id BIGINT, PRIMARY KEY (label) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 'o', 'properties.bootstrap.servers' = 'b:1', 'key.format' = 'json', 'value.format' = 'json')`

const (
	lookupQuery = "SELECT o.id, d.label FROM o JOIN dim FOR SYSTEM_TIME AS OF o.pt AS d ON o.cust = d.id"
	tryResolve  = "SET 'table.optimizer.non-deterministic-update.strategy' = 'TRY_RESOLVE'"
	cdcLookup   = "FROM (SELECT *, PROCTIME() AS pt FROM c) x JOIN dim FOR SYSTEM_TIME AS OF x.pt AS d ON x.cust = d.id"
)

func hinted4(options string) string {
	return strings.Replace(lookupQuery, "SELECT ", "SELECT /*+ LOOKUP("+options+") */ ", 1)
}

func TestLookupPlans(t *testing.T) {
	for _, tt := range []struct{ set, query, want string }{
		{"", lookupQuery, "LookupJoin(table=[default_catalog.default_database.dim], joinType=[InnerJoin], lookup=[id=cust], select=[id, cust, label], changelogMode=[I])"},
		{"", hinted4("'table'='d', 'retry-predicate'='lookup_miss', 'retry-strategy'='fixed_delay', 'fixed-delay'='10s', 'max-attempts'='3'"),
			"lookup=[id=cust], select=[id, cust, label], retry=[lookup_miss, FIXED_DELAY, 10000ms, 3]"},
		{"", hinted4("'table'='d', 'nonsense'='x'"), "lookup=[id=cust], select=[id, cust, label], changelogMode=[I])"},
		// Flink has no asynchronous jdbc; this is how it writes what can be asked so.
		{"", hinted4("'table'='d', 'async'='true', 'output-mode'='allow_unordered'"), "joinType=[InnerJoin], async=[UNORDERED, 180000ms, 100], lookup=[id=cust]"},
		{"", hinted4("'table'='d', 'async'='true', 'capacity'='7', 'timeout'='60s'"), "async=[ORDERED, 60000ms, 7]"},
		{"SET 'table.exec.async-lookup.output-mode' = 'ALLOW_UNORDERED'", hinted4("'table'='d', 'async'='true'"), "async=[UNORDERED, 180000ms, 100]"},
		{"", lookupQuery + " AND o.qty > d.id", "lookup=[id=cust], joinCondition=[>(CAST(qty AS BIGINT), id0)], select=[id, cust, qty, id0, label]"},
		{"", strings.Replace(lookupQuery, "JOIN", "LEFT JOIN", 1) + " AND UPPER(d.label) = 'X'", "lookup=[id=cust], where=[=(UPPER(label), 'X')], select=[id, cust, label]"},
		{"", lookupQuery + " AND d.region = 'EU'", "lookup=[id=cust, region='EU':STRING]"},
		{"", strings.Replace(strings.Replace(lookupQuery, "dim", "dimi", 1), "o.cust", "o.qty + 1", 1), "lookup=[id=$f5], select=[id, $f5, label]"},
		{tryResolve, "INSERT INTO snk SELECT x.id, d.label " + cdcLookup, "select=[id, cust, label], changelogMode=[I,UA,D]"},
		{tryResolve, "INSERT INTO snkl SELECT d.label, x.id " + cdcLookup, "select=[id, cust, label], upsertMaterialize=[true], changelogMode=[I,UB,UA,D])\n      +- TableSourceScan"},
		{"SET 'pipeline.name' = 'x'", "INSERT INTO snkl SELECT d.label, x.id " + cdcLookup, "select=[id, cust, label], changelogMode=[I,UB,UA,D])"},
		{tryResolve, "SELECT d.label, COUNT(*) FROM (SELECT *, PROCTIME() AS pt FROM c) x JOIN dimi FOR SYSTEM_TIME AS OF x.pt AS d ON CAST(x.cust AS INT) = d.id GROUP BY d.label",
			"label], upsertMaterialize=[true], changelogMode=[I,UB,UA,D])"},
		{tryResolve, "SELECT d.label, x.id " + cdcLookup, "select=[id, cust, label], changelogMode=[I,UA,D])"},
	} {
		s := lookupSession(t, tt.set)
		stmt, err := sql.Parse("EXPLAIN CHANGELOG_MODE " + tt.query)
		if err != nil {
			t.Fatal(err)
		}
		text, err := s.pl.Explain(stmt.(*sql.Explain))
		if err != nil {
			t.Errorf("%s: %v", tt.query, err)
			continue
		}
		_, text, _ = strings.Cut(text, "Optimized Physical Plan ==")
		text, _, _ = strings.Cut(text, "\n==")
		if !strings.Contains(text, tt.want) {
			t.Errorf("%s\n%s\nwant %s", tt.query, text, tt.want)
		}
	}
}

func lookupSession(t *testing.T, set string) *session {
	s := newSession(t)
	for _, p := range sql.SplitAll(lookupDDL) {
		s.must(p.Text)
	}
	if set != "" {
		s.must(set)
	}
	return s
}

func TestLookupRefusals(t *testing.T) {
	for query, want := range map[string]string{
		strings.Replace(lookupQuery, "dim", "dimi", 1):         "Temporal table join requires an equality condition on fields of table [default_catalog.default_database.dimi].",
		strings.Replace(lookupQuery, "o.cust =", "5 =", 1):     "Temporal table join requires an equality condition on fields of table [default_catalog.default_database.dim].",
		lookupQuery + " + 1":                                   "Temporal table join requires an equality condition on fields of table [default_catalog.default_database.dim].",
		strings.Replace(lookupQuery, "JOIN", "FULL JOIN", 1):   "Unknown join type FULL",
		hinted4("'table'='x'"):                                 "The options of following hints cannot match the name of input tables or views: \n`x` in `LOOKUP`",
		hinted4("'async'='true'"):                              "Invalid LOOKUP hint: incomplete required option(s): [Key: 'table' , default: null (fallback keys: [])]",
		hinted4("'table'='d', 'async'='true', 'capacity'='0'"): "Invalid LOOKUP hint option: capacity value should be positive integer but was 0",
		hinted4("'table'='d', 'async'='maybe'"):                "Invalid LOOKUP hint options: Could not parse value 'maybe' for key 'async'.",
		hinted4("'table'='d', 'output-mode'='x'"):              "Invalid LOOKUP hint options: Could not parse value 'x' for key 'output-mode'.",
		hinted4("'d'"): "Invalid list options in LOOKUP hint, only support key-value options.",
		hinted4("'table'='d', 'retry-predicate'='lookup_miss'"):                              "Invalid LOOKUP hint: retry options can be both null or all not null",
		hinted4(retries("x", "fixed_delay", "3")):                                            "Invalid LOOKUP hint option: unsupported retry-predicate 'x', only 'lookup_miss' is supported currently",
		hinted4(retries("lookup_miss", "x", "3")):                                            "Invalid LOOKUP hint options: Could not parse value 'x' for key 'retry-strategy'.",
		hinted4(retries("lookup_miss", "fixed_delay", "0")):                                  "Invalid LOOKUP hint option: max-attempts value should be positive integer but was 0",
		"INSERT INTO snkl SELECT CAST(UUID() AS STRING), id FROM c":                          "The column(s): EXPR$0(generated by non-deterministic function: UUID ) can not satisfy the determinism requirement",
		"SELECT COUNT(*) FROM c WHERE RAND() > 0.5":                                          "There exists non deterministic function: 'RAND' in condition:",
		"SELECT cust, LEAD(qty) OVER (PARTITION BY cust ORDER BY pt)" + "FROM o":             "LEAD Function is not supported in stream mode.",
		"SELECT LAG(qty) OVER (ORDER BY pt ROWS 3 PRECEDING) FROM o":                         "ROW/RANGE not allowed with RANK, DENSE_RANK or ROW_NUMBER functions",
		"SELECT SUM(qty) OVER (ORDER BY pt ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) FROM o": "OVER RANGE FOLLOWING windows are not supported yet.",
	} {
		_, err := lookupSession(t, tryResolve).run(query)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n%v\nwant %s", query, err, want)
		}
	}
}

func retries(predicate, strategy, attempts string) string {
	return "'table'='d', 'retry-predicate'='" + predicate + "', 'retry-strategy'='" + strategy + "', 'fixed-delay'='10s', 'max-attempts'='" + attempts + "'"
}
