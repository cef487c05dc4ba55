package sql

import (
	"bufio"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

// script is one entry of a corpus file: a line "==== name", then its text.
type script struct{ name, text string }

func readCorpus(t testing.TB, file string) []script {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var list []script
	for _, part := range strings.Split("\n"+string(data), "\n==== ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		list = append(list, script{name, text})
	}
	return list
}

// normalise strips a tree of what does not count in comparisons: places and whether names were quoted.
func normalise(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			normalise(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			normalise(v.Index(i))
		}
	case reflect.Struct:
		switch v.Type() {
		case reflect.TypeFor[Pos]():
			v.SetZero()
			return
		case reflect.TypeFor[Ident]():
			v.FieldByName("Quoted").SetBool(false)
		}
		for i := range v.NumField() {
			normalise(v.Field(i))
		}
	}
}

// roundTrip checks that what is printed of a tree parses to an equal tree, and prints the same again.
func roundTrip(t *testing.T, what string, tree Stmt) {
	t.Helper()
	text := Format(tree)
	again, err := Parse(text)
	if err != nil {
		t.Errorf("%s: %v\nin the printed %s", what, err, text)
		return
	}
	if text2 := Format(again); text2 != text {
		t.Errorf("%s: printed\n%s\nthen\n%s", what, text, text2)
	}
	normalise(reflect.ValueOf(tree))
	normalise(reflect.ValueOf(again))
	if !reflect.DeepEqual(tree, again) {
		t.Errorf("%s: another tree after printing\n%s", what, text)
	}
}

// refusedCases are the statements of the recorded pipelines that are syntax errors, with Flink's words.
var refusedCases = map[string]string{
	"231-error-syntax":           `Encountered "price" at line 1, column 16.`,
	"233-error-reserved-word":    `Encountered "timestamp" at line 1, column 25.`,
	"239-error-key-enforced":     "Flink doesn't support ENFORCED mode for PRIMARY KEY constraint. ENFORCED/NOT ENFORCED controls if the constraint checks are performed on the incoming/outgoing data. Flink does not own the data therefore the only supported mode is the NOT ENFORCED mode",
	"258-error-insert-non-query": `Incorrect syntax near the keyword 'SHOW' at line 1, column 17.`,
	"260-error-double-quotes":    `Encountered "= \"" at line 1, column 32.`,
}

// TestCorpus parses and prints every statement of the recorded pipelines and plans.
func TestCorpus(t *testing.T) {
	refused := 0
	for _, file := range []string{"cases.txt", "plans.txt"} {
		n := 0
		for _, s := range readCorpus(t, file) {
			pieces := SplitAll(s.text)
			if len(pieces) == 0 {
				t.Errorf("%s %s: no statement", file, s.name)
			}
			for _, p := range pieces {
				n++
				tree, err := Parse(p.Text)
				if err != nil && err.Error() == refusedCases[s.name] {
					refused++
					continue
				}
				if err != nil {
					t.Errorf("%s %s: %v\n%s", file, s.name, err, strings.Join(err.(*Error).Detail(p.Text), "\n"))
					continue
				}
				roundTrip(t, file+" "+s.name, tree)
			}
		}
		t.Logf("%s: %d statements", file, n)
	}
	if refused != len(refusedCases) {
		t.Errorf("%d statements refused, want %d", refused, len(refusedCases))
	}
}

// recorded is a statement with what Flink said of it: nothing, or the first line of an error.
type recorded struct{ File, SQL, Error string }

func readRecorded(t testing.TB) []recorded {
	t.Helper()
	f, err := os.Open("testdata/statements.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []recorded
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var r recorded
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// isSyntax tells the recorded errors that this package has to find.
func isSyntax(msg string) bool {
	for _, s := range []string{"ParseException", "TokenMgrError", "SqlValidateException", "under the current SQL conformance", "Expecting alias, found",
		"Non-query expression", "Unknown character set", "not a valid datetime format", "Binary literal string", "Unicode escape", "Illegal INTERVAL literal",
		"only single statement"} {
		if strings.Contains(msg, s) && !strings.Contains(msg, "DateTimeParseException") {
			return true
		}
	}
	return false
}

// later are the recorded syntax errors that are none here: forms of later versions that help.
var later = map[string]bool{
	"SHOW VIEWS FROM default_database": true,
	"SHOW CATALOGS LIKE 'x'":           true,
	"DESCRIBE FUNCTION abs":            true,
	"EXPLAIN SELECT * FROM TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '1' MINUTE)":           true,
	"EXPLAIN SELECT id FROM o QUALIFY ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts) = 1": true,
	"SHOW MATERIALIZED TABLES": true,
}

func TestRecordedStatements(t *testing.T) {
	for _, r := range readRecorded(t) {
		if later[r.SQL] {
			tree, err := Parse(r.SQL)
			if err != nil {
				t.Errorf("%s: %v", r.SQL, err)
				continue
			}
			roundTrip(t, r.SQL, tree)
			continue
		}
		checkRecorded(t, r.SQL, r.Error)
	}
}

func TestRecordedExpressions(t *testing.T) {
	data, err := os.ReadFile("testdata/expressions.tsv")
	if err != nil {
		t.Fatal(err)
	}
	unescape := strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n")
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		f := strings.Split(line, "\t")
		class, msg, _ := strings.Cut(unescape.Replace(f[2]), "|")
		checkRecorded(t, "SELECT "+unescape.Replace(f[1])+" AS r", class+": "+msg)
	}
}

func checkRecorded(t *testing.T, text, want string) {
	t.Helper()
	tree, err := Parse(text + ";")
	switch {
	case err == nil && isSyntax(want):
		t.Errorf("%s\n\tparsed, but Flink says %s", text, want)
	case err == nil:
		roundTrip(t, text, tree)
	case !isSyntax(want):
		t.Errorf("%s\n\t%v, but Flink takes it (%s)", text, err, want)
	default:
		e := err.(*Error)
		if got := e.Class + ": " + e.Msg; got != want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", text, got, want)
		}
	}
}

// readPairs reads a file of two columns between a tab, in which line breaks, tabs and backslashes are escaped.
func readPairs(t *testing.T, file string) [][2]string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	unescape := strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")
	var list [][2]string
	for _, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		a, b, _ := strings.Cut(line, "\t")
		list = append(list, [2]string{unescape.Replace(a), unescape.Replace(b)})
	}
	return list
}

// TestFlinkErrors compares messages with those of Flink's own parser for broken statements: those of the corpus with a token left out,
// put in or replaced.
func TestFlinkErrors(t *testing.T) {
	for _, p := range readPairs(t, "flinkerrors.tsv") {
		_, err := Parse(p[0])
		if err == nil {
			t.Errorf("%s\n\tno error, want %s", p[0], p[1])
			continue
		}
		e := err.(*Error)
		if got := e.Class[strings.LastIndexByte(e.Class, '.')+1:] + ": " + e.Msg; got != p[1] {
			t.Errorf("%s\n\tgot  %s\n\twant %s", p[0], got, p[1])
		}
	}
}

// TestFlinkFormat compares FormatFlink with what Flink prints of a query.
func TestFlinkFormat(t *testing.T) {
	for _, p := range readPairs(t, "flinkformat.tsv") {
		tree, err := Parse(p[0])
		if err != nil {
			t.Errorf("%s: %v", p[0], err)
			continue
		}
		if got := FormatFlink(tree); got != p[1] {
			t.Errorf("%s\ngot\n%s\nwant\n%s", p[0], got, p[1])
		}
	}
}
