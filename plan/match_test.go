package plan

import (
	"errors"
	"strings"
	"testing"

	"runnel/catalog"
)

// What MATCH_RECOGNIZE refuses, in Flink's words where it has some.
func TestMatchRefusals(t *testing.T) {
	for _, tt := range []struct{ clauses, msg string }{
		{"MEASURES A.id AS r PATTERN (A B) DEFINE A AS A.id > 1", "You must specify either rowtime or proctime for order by."},
		{"ORDER BY id MEASURES A.id AS r PATTERN (A B) DEFINE A AS A.id > 1", "You must specify either rowtime or proctime for order by as the first one."},
		{"ORDER BY ts + INTERVAL '1' SECOND MEASURES A.id AS r PATTERN (A B) DEFINE A AS A.id > 1", "ORDER BY of MATCH_RECOGNIZE wants columns, this is an expression"},
		{"PARTITION BY id + 1 ORDER BY ts MEASURES A.id AS r PATTERN (A B) DEFINE A AS A.id > 1", "PARTITION BY of MATCH_RECOGNIZE wants columns, this is an expression"},
		{"ORDER BY ts PATTERN (A B) DEFINE A AS A.id > 1", "Columns ambiguously defined: {}"},
		{"ORDER BY ts MEASURES A.id AS r PATTERN (A PERMUTE(B, C)) DEFINE A AS A.id > 1",
			"Expression not supported: PATTERN_PERMUTE(_UTF-16LE'B', _UTF-16LE'C'). Currently, CEP doesn't support PERMUTE patterns."},
		{"ORDER BY ts MEASURES A.id AS r PATTERN (A {- B -} C) DEFINE A AS A.id > 1",
			"Expression not supported: PATTERN_EXCLUDE(_UTF-16LE'B'). Currently, CEP doesn't support '{-' '-}' patterns."},
		{"ORDER BY ts MEASURES A.id AS r PATTERN (^ A B) DEFINE A AS A.id > 1", "An anchor, ^ or $, in a pattern is not supported yet."},
		{"ORDER BY ts MEASURES A.id AS r PATTERN (A{0} C) DEFINE A AS A.id > 1", "The to should be a number greater than or equal to from: 1."},
		{"ORDER BY ts MEASURES A.id AS r PATTERN (A{3,2} C) DEFINE A AS A.id > 1", "The to should be a number greater than or equal to from: 3."},
		{"ORDER BY ts MEASURES A.id AS r PATTERN (A+ B* C) DEFINE A AS A.id > 1", "Optional pattern cannot be preceded by greedy pattern"},
		{"ORDER BY ts MEASURES A.id AS r PATTERN (A{10001} C) DEFINE A AS A.id > 1", "A quantifier of more than 10000 is not supported."},
		{"ORDER BY ts MEASURES A.id AS r PATTERN (A B{2,3}) DEFINE A AS A.id > 1",
			"Greedy quantifiers are not allowed as the last element of a Pattern yet. Finish your pattern with either a simple variable or reluctant quantifier."},
		{"ORDER BY ts MEASURES A.id AS r PATTERN (A? B? C*?) DEFINE A AS A.id > 1",
			"Patterns that can produce empty matches are not supported. There must be at least one non-optional state."},
		{"ORDER BY ts MEASURES A.id AS r AFTER MATCH SKIP TO FIRST X PATTERN (A B) DEFINE A AS A.id > 1", "Unknown pattern 'X'"},
		{"ORDER BY ts MEASURES A.id AS r PATTERN (A B) SUBSET C = (A, X) DEFINE A AS A.id > 1", "Unknown pattern 'X'"},
		{"ORDER BY ts MEASURES X.id AS r PATTERN (A B) DEFINE A AS A.id > 1", "Table 'X' not found"},
		{"ORDER BY ts MEASURES A.nope AS r PATTERN (A B) DEFINE A AS A.id > 1", "Column 'nope' not found in table 'A'"},
		{"ORDER BY ts MEASURES nope AS r PATTERN (A B) DEFINE A AS A.id > 1", "Column 'nope' not found in any table"},
		{"ORDER BY ts MEASURES A.id AS r PATTERN (A B) DEFINE A AS A.id > 1, A AS A.id > 2", "Pattern variable 'A' has already been defined"},
		{"ORDER BY ts MEASURES A.id AS r PATTERN (A B) DEFINE A AS A.id", "DEFINE clause must be a condition"},
		{"ORDER BY ts MEASURES SUM(DISTINCT A.id) AS r PATTERN (A B) DEFINE A AS A.id > 1", "DISTINCT/ALL not allowed with SUM(DISTINCT `A`.`id`) function"},
		{"ORDER BY ts MEASURES MATCH_NUMBER() AS r PATTERN (A B) DEFINE A AS A.id > 1", "No match found for function signature MATCH_NUMBER ()."},
		{"ORDER BY ts MEASURES PREV(A.id) AS r PATTERN (A B) DEFINE A AS A.id > 1", "Cannot use PREV/NEXT in MEASURE 'PREV(`A`.`id`, 1)'"},
		{"ORDER BY ts MEASURES LAST(A.id + B.id) AS r PATTERN (A B) DEFINE A AS A.id > 1", "Multiple pattern variables in 'LAST(`A`.`id` + `B`.`id`, 0)'"},
		{"ORDER BY ts MEASURES SUM(id + A.id) AS r PATTERN (A B) DEFINE A AS A.id > 1", "Multiple pattern variables in 'SUM(`id` + `A`.`id`)'"},
		{"ORDER BY ts MEASURES LAST(A.id, -1) AS r PATTERN (A B) DEFINE A AS A.id > 1", "LAST wants a whole number of rows, not below 0"},
		{"ORDER BY ts MEASURES LAST(FIRST(A.id)) AS r PATTERN (A B) DEFINE A AS A.id > 1", "Cannot nest PREV/NEXT under LAST/FIRST 'FIRST(`A`.`id`, 0)'"},
		{"ORDER BY ts MEASURES A.id AS r PATTERN (A B) DEFINE A AS RUNNING LAST(A.id) > 1", "Cannot use RUNNING/FINAL in DEFINE 'RUNNING LAST(`A`.`id`, 0)'"},
		{"ORDER BY ts MEASURES RUNNING LAST(A.id) AS r PATTERN (A B) DEFINE A AS A.id > 1", "Unsupported call: RUNNING"},
	} {
		s := newSession(t)
		s.must(refuseDDL)
		_, err := s.run("SELECT * FROM orders MATCH_RECOGNIZE (" + tt.clauses + ")")
		var e *catalog.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", tt.clauses, err)
			continue
		}
		if first, _, _ := strings.Cut(e.Msg, "\n"); first != tt.msg {
			t.Errorf("%s:\n got %s\nwant %s", tt.clauses, first, tt.msg)
		}
	}
	s := newSession(t)
	s.must(refuseDDL)
	_, err := s.run("SELECT * FROM (SELECT cust, COUNT(*) AS id, PROCTIME() AS pt FROM orders GROUP BY cust) MATCH_RECOGNIZE (" +
		"ORDER BY pt MEASURES A.id AS r PATTERN (A B) DEFINE A AS A.id > 1)")
	want := "Match Recognize doesn't support consuming update changes which is produced by node GroupAggregate(groupBy=[cust], select=[cust, COUNT(*) AS id])"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("an updating input: %v", err)
	}
}

func TestMatchInBatch(t *testing.T) {
	s := newSession(t)
	s.must(refuseDDL + "; CREATE TABLE f (id BIGINT, ts TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json'); SET 'execution.runtime-mode' = 'batch'")
	q := "SELECT * FROM f MATCH_RECOGNIZE (ORDER BY %s MEASURES A.id AS r PATTERN (A B) DEFINE A AS A.id > 1)"
	s.must(strings.Replace(q, "%s", "ts", 1))
	_, err := s.run(strings.Replace(q, "%s", "id", 1))
	if err == nil || !strings.Contains(err.Error(), "First column of ORDER BY must be of type TIMESTAMP") {
		t.Errorf("an order by no time: %v", err)
	}
}

// A column without a variable is one of all rows in a view too.
func TestMatchInView(t *testing.T) {
	s := newSession(t)
	g := s.must(refuseDDL + `;
		CREATE VIEW mv AS SELECT * FROM orders MATCH_RECOGNIZE (PARTITION BY cust ORDER BY ts MEASURES SUM(id) AS s, LAST(id) AS l PATTERN (A B) DEFINE A AS id > 1);
		SELECT * FROM mv`)
	want := "measures=[FINAL(SUM(*.id)) AS s, FINAL(LAST(*.id, 0)) AS l]"
	for _, n := range g.Nodes {
		if m, ok := n.(*Match); ok && !strings.Contains(m.Desc, want) {
			t.Errorf("got %s, want %s", m.Desc, want)
		}
	}
}

// The texts are those of a real Flink.
func TestMatchDescription(t *testing.T) {
	s := newSession(t)
	g := s.must(`CREATE TABLE o (id INT NOT NULL, cust STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'datagen');
		SELECT * FROM o MATCH_RECOGNIZE (PARTITION BY cust ORDER BY ts, price DESC MEASURES A.id AS r, LAST(A.id) AS l, FIRST(A.id, 1) AS f,
		SUM(A.price * 2) + 1 AS s, COUNT(*) AS c, price AS p, LAST(price) AS lp, MATCH_ROWTIME() AS mt, MATCH_PROCTIME() AS mp, FINAL LAST(A.id) AS fl
		AFTER MATCH SKIP TO LAST B PATTERN (A+ B{2,3}? C* D) WITHIN INTERVAL '10' MINUTE
		DEFINE A AS A.id > 1 AND price > 2 AND LAST(A.price, 1) > 2 AND SUM(A.price) > 5, B AS B.price > LAST(A.price), D AS cust = 'x')`)
	want := "Match(partitionBy=[cust], orderBy=[ts ASC, price DESC], measures=[FINAL(A.id) AS r, FINAL(LAST(A.id, 0)) AS l, FINAL(FIRST(A.id, 1)) AS f, " +
		"FINAL(+(SUM(*(A.price, 2)), 1)) AS s, FINAL(COUNT()) AS c, FINAL(*.price) AS p, FINAL(LAST(*.price, 0)) AS lp, FINAL(MATCH_ROWTIME()) AS mt, " +
		"FINAL(MATCH_PROCTIME()) AS mp, FINAL(LAST(A.id, 0)) AS fl], rowsPerMatch=[ONE ROW PER MATCH], after=[SKIP TO LAST _UTF-16LE'B'], " +
		"pattern=[(((PATTERN_QUANTIFIER(_UTF-16LE'A', 1, -1, false), PATTERN_QUANTIFIER(_UTF-16LE'B', 2, 3, true)), " +
		"PATTERN_QUANTIFIER(_UTF-16LE'C', 0, -1, false)), _UTF-16LE'D')], define=[{A=AND(>(PREV(A.$0, 0), 1), >(LAST(*.$2, 0), 2), " +
		">(LAST(A.$2, 1), 2), >(SUM(A.$2), 5)), B=>(PREV(B.$2, 0), LAST(A.$2, 0)), D==(LAST(*.$1, 0), 'x')}])"
	for _, n := range g.Nodes {
		if m, ok := n.(*Match); ok {
			if m.Desc != want {
				t.Errorf("got\n%s\nwant\n%s", m.Desc, want)
			}
			if want := "WITHIN: the rows of partial matches, until these are 10 min old"; m.Bound != want {
				t.Errorf("the bound is %q, want %q", m.Bound, want)
			}
			return
		}
	}
	t.Error("no Match in the plan")
}
