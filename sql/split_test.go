package sql

import (
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		script string
		want   []string // the statements; the last one in <> is the incomplete rest
	}{
		{"", nil},
		{" \n\t", nil},
		{";", nil},
		{";;\n ; ", nil},
		{"-- nothing here", nil},
		{"-- nothing; here\n/* and; here */ -- or here;", nil},
		{"SELECT 1;", []string{"SELECT 1"}},
		{"SELECT 1", []string{"<SELECT 1>"}},
		{"SELECT 1; SELECT 2;", []string{"SELECT 1", "SELECT 2"}},
		{"SELECT 1; SELECT 2", []string{"SELECT 1", "<SELECT 2>"}},
		{"SELECT 1;;\nSELECT 2;;", []string{"SELECT 1", "SELECT 2"}},
		{"SELECT 1; -- note\nSELECT 2;", []string{"SELECT 1", "SELECT 2"}},
		{"-- a\nSELECT 1 -- b;\n;", []string{"SELECT 1"}},
		{"SELECT 1 -- b;", []string{"<SELECT 1>"}},
		{"SHOW TABLES -- comment;", []string{"<SHOW TABLES>"}},
		{"SHOW --ignore;\n CREATE TABLE tbl;", []string{"SHOW --ignore;\n CREATE TABLE tbl"}},
		{"SHOW /* ignore */ CREATE TABLE \"tbl\";", []string{"SHOW /* ignore */ CREATE TABLE \"tbl\""}},
		{`SELECT '\';`, []string{`SELECT '\'`}},
		{"SELECT 'a;b', `c;d`, 'it''s;';", []string{"SELECT 'a;b', `c;d`, 'it''s;'"}},
		{"SELECT 'a\n;b';", []string{"SELECT 'a\n;b'"}},
		{"SELECT 'a;", []string{"<SELECT 'a;>"}},
		{"SELECT `a;", []string{"<SELECT `a;>"}},
		{"SELECT `a;\n1; SELECT 2;", []string{"SELECT `a;\n1", "SELECT 2"}},
		{"SELECT /* a;", []string{"<SELECT /* a;>"}},
		{"/* a;", []string{"</* a;>"}},
		{"SELECT /*+ A('x;') */ 1; SELECT // it's\n 2;", []string{"SELECT /*+ A('x;') */ 1", "SELECT // it's\n 2"}},
		{"SET a = http://h/p; RESET a;", []string{"SET a = http://h/p", "RESET a"}},
		{"SET 'a' = 'b;c';", []string{"SET 'a' = 'b;c'"}},
		{"BEGIN STATEMENT SET; INSERT INTO a SELECT 1; END;", []string{"BEGIN STATEMENT SET", "INSERT INTO a SELECT 1", "END"}},
		{"EXECUTE STATEMENT SET BEGIN\nINSERT INTO a SELECT 1;\nINSERT INTO b SELECT CASE WHEN x THEN 1 END;\nEND; SELECT 1;",
			[]string{"EXECUTE STATEMENT SET BEGIN\nINSERT INTO a SELECT 1;\nINSERT INTO b SELECT CASE WHEN x THEN 1 END;\nEND", "SELECT 1"}},
		{"EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1;", []string{"<EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1;>"}},
		{"EXECUTE STATEMENT SET BEGIN END; SHOW TABLES;", []string{"EXECUTE STATEMENT SET BEGIN END", "SHOW TABLES"}},
		{"EXPLAIN CHANGELOG_MODE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END; SELECT 1;",
			[]string{"EXPLAIN CHANGELOG_MODE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END", "SELECT 1"}},
		{"compile plan 'x' for statement set begin insert into a select 1; end; SELECT 1;",
			[]string{"compile plan 'x' for statement set begin insert into a select 1; end", "SELECT 1"}},
	} {
		pieces, rest := Split(c.script)
		var got []string
		for _, p := range pieces {
			got = append(got, p.Text)
		}
		if rest != nil {
			got = append(got, "<"+rest.Text+">")
			pieces = append(pieces, *rest)
		}
		if strings.Join(got, "\x00") != strings.Join(c.want, "\x00") {
			t.Errorf("%q\ngot  %q\nwant %q", c.script, got, c.want)
		}
		for _, p := range pieces {
			if !strings.HasPrefix(c.script[p.At.Offset:], p.Text) {
				t.Errorf("%q: %q is not at %d", c.script, p.Text, p.At.Offset)
			}
		}
	}
}

// TestPieceErrors checks that the place of an error in a piece is found again in the script.
func TestPieceErrors(t *testing.T) {
	const script = "SELECT 1;\n  SELECT 2; SELECT\n  3 4;"
	pieces := SplitAll(script)
	if len(pieces) != 3 {
		t.Fatalf("%d pieces", len(pieces))
	}
	_, err := Parse(pieces[2].Text)
	e, ok := err.(*Error)
	if !ok {
		t.Fatal(err)
	}
	moved := pieces[2].Offset(e)
	if got := moved.Span.From; got != (Pos{Offset: 33, Line: 3, Column: 5}) {
		t.Errorf("at %+v", got)
	}
	_, err = Parse("SELECT\n3 FROM")
	if err == nil || !err.(*Error).Incomplete {
		t.Errorf("not incomplete: %v", err)
	}
}

// TestClientScripts splits and parses the scripts that Flink's client ran, with its words where it refused their syntax.
func TestClientScripts(t *testing.T) {
	refused := map[string]string{
		"026-explain-advice":      "Duplicate EXPLAIN DETAIL is not allowed.",
		"032-statement-set-empty": `Encountered "END" at line 1, column 29.`,
		"037-parse-error":         "Non-query expression encountered in illegal context",
		"038-parse-error-middle":  `Encountered "b" at line 1, column 23.`,
		"056-double-quotes":       `Encountered "\"" at line 1, column 8.`,
		"092-bang-equal":          `Incorrect syntax near the keyword 'WHERE' at line 1, column 10.`,
		"094-pk-enforced":         "Flink doesn't support ENFORCED mode for PRIMARY KEY constraint. ENFORCED/NOT ENFORCED controls if the constraint checks are performed on the incoming/outgoing data. Flink does not own the data therefore the only supported mode is the NOT ENFORCED mode",
		"097-lone-words":          "Non-query expression encountered in illegal context",
	}
	for _, s := range readCorpus(t, "client.txt") {
		for _, p := range SplitAll(s.text) {
			tree, err := Parse(p.Text)
			if err == nil {
				roundTrip(t, s.name, tree)
				continue
			}
			if err.Error() != refused[s.name] {
				t.Errorf("%s: %q: %v", s.name, p.Text, err)
			}
			delete(refused, s.name)
			break // as the client does
		}
	}
	for name := range refused {
		t.Errorf("%s: no error", name)
	}
}
