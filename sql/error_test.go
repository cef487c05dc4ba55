package sql

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestErrors checks message, place and explanation of errors against testdata/errors.txt: behind each text, in lines that begin with
// "| ", what is said of it.
func TestErrors(t *testing.T) {
	const file = "testdata/errors.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	unescape := strings.NewReplacer(`\n`, "\n", `\u00a0`, "\u00a0", `\u2018`, "\u2018", `\u2019`, "\u2019")
	var out strings.Builder
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for i := 0; i < len(lines); {
		line := lines[i]
		out.WriteString(line + "\n")
		i++
		if strings.HasPrefix(line, "#") {
			continue
		}
		want := ""
		for i < len(lines) && strings.HasPrefix(lines[i], "| ") {
			want += lines[i] + "\n"
			i++
		}
		got := explain(unescape.Replace(line))
		out.WriteString(got)
		if got != want && !*update {
			t.Errorf("%s\ngot\n%swant\n%s", line, got, want)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// explain returns all that is said of a text that is no statement.
func explain(text string) string {
	_, err := Parse(text)
	if err == nil {
		return "| no error\n"
	}
	e := err.(*Error)
	s := fmt.Sprintf("| %s: %s\n", e.Class[strings.LastIndexByte(e.Class, '.')+1:], e.Msg)
	for _, d := range e.Detail(text) {
		s += "| " + d + "\n"
	}
	if e.Incomplete {
		s += "| (incomplete)\n"
	}
	return s
}

// TestCaret checks the line below in hard places: tabs, wide characters, long lines, the end of the text.
func TestCaret(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		src      string
		from, to int
		want     string
	}{
		{"abc", 1, 2, "  abc\n   ^"},
		{"abc", 3, 3, "  abc\n     ^"},
		{"", 0, 0, "  \n  ^"},
		{"a\n\tbc\nd", 3, 5, "  \tbc\n  \t^^"},
		{"表 x", 4, 5, "  表 x\n     ^"},
		{"表 x", 0, 3, "  表 x\n  ^^"},
		{"ab\ncd", 1, 4, "  ab\n   ^"},
		{long, 200, 202, "  ..." + long[:72] + "...\n  ..." + strings.Repeat(" ", 48) + "^^"},
	} {
		got := strings.Join(Caret(c.src, Span{placeOf(c.src, c.from), placeOf(c.src, c.to)}), "\n")
		want := strings.ReplaceAll(c.want, "\n  ...", "\n     ")
		if got != want {
			t.Errorf("%q %d-%d\n%s\nwant\n%s", c.src, c.from, c.to, got, want)
		}
	}
	if Caret("a", Span{}) != nil {
		t.Error("a caret nowhere")
	}
}

// TestLimits checks that what is too long or too deep is refused, and what is just inside the limits is not.
func TestLimits(t *testing.T) {
	nest := func(n int, open, inner, end string) string {
		return "SELECT " + strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	for _, c := range []struct {
		name, text, want string
	}{
		{"parentheses", nest(MaxDepth+1, "(", "1", ")"), "nests deeper"},
		{"parentheses", nest(MaxDepth-10, "(", "1", ")"), ""},
		{"subqueries", nest(MaxDepth, "(SELECT ", "1", ")"), "nests deeper"},
		{"open parentheses", nest(1<<20, "(", "", ""), "nests deeper"},
		{"calls", nest(MaxDepth, "f(", "1", ")"), "nests deeper"},
		{"signs", nest(MaxDepth+1, "- ", "1", ""), "nests deeper"},
		{"negations", nest(MaxDepth+1, "NOT ", "a", ""), "nests deeper"},
		{"cases", nest(MaxDepth, "CASE WHEN a THEN ", "1", " END"), "nests deeper"},
		{"arrays", nest(MaxDepth, "ARRAY[", "1", "]"), "nests deeper"},
		{"types", "SELECT CAST(a AS " + strings.Repeat("ARRAY<", MaxDepth) + "INT" + strings.Repeat(">", MaxDepth) + ")", "nests deeper"},
		{"postfix types", "SELECT CAST(a AS INT" + strings.Repeat(" ARRAY", MaxDepth) + ")", "nests deeper"},
		{"tables", "SELECT * FROM " + strings.Repeat("(", MaxDepth) + "t" + strings.Repeat(")", MaxDepth), "nests deeper"},
		{"queries", strings.Repeat("(", MaxDepth) + "SELECT 1" + strings.Repeat(")", MaxDepth), "nests deeper"},
		{"patterns", "SELECT * FROM t MATCH_RECOGNIZE (PATTERN (" + strings.Repeat("(", MaxDepth) + "A" + strings.Repeat(")", MaxDepth) + ") DEFINE A AS a)", "nests deeper"},
		{"grouping sets", "SELECT 1 FROM t GROUP BY " + strings.Repeat("GROUPING SETS (", MaxDepth) + "a" + strings.Repeat(")", MaxDepth), "nests deeper"},
		{"sum", "SELECT 1" + strings.Repeat(" + 1", MaxChain+1), "follow each other"},
		{"sum", "SELECT 1" + strings.Repeat(" + 1", MaxChain-1), ""},
		{"mixed sum", "SELECT 1" + strings.Repeat(" + 1 - 2", MaxChain/2-1), ""},
		{"unions", "SELECT 1" + strings.Repeat(" UNION ALL SELECT 1", MaxChain-1), ""},
		{"unions", "SELECT 1" + strings.Repeat(" UNION ALL SELECT 1", MaxChain+1), "follow each other"},
		{"joins", "SELECT * FROM t" + strings.Repeat(" JOIN t ON a", MaxChain+1), "follow each other"},
		{"joins", "SELECT * FROM t" + strings.Repeat(" JOIN t ON a", MaxChain-1), ""},
		{"commas", "SELECT * FROM t" + strings.Repeat(", t", MaxChain-1), ""},
		{"elements", "SELECT a" + strings.Repeat("[1]", MaxChain+1), "follow each other"},
		{"literal", "SELECT '" + strings.Repeat("x", MaxLiteral+1) + "'", "more than the limit"},
		{"literal", "SELECT '" + strings.Repeat("x", MaxLiteral-2) + "'", ""},
		{"digits", "SELECT " + strings.Repeat("1", MaxLiteral+1), "more than the limit"},
		{"text", strings.Repeat(" ", MaxText+1), "more than the limit"},
		{"name", "SELECT " + strings.Repeat("ä", MaxIdent), ""},
		{"name", "SELECT " + strings.Repeat("ä", MaxIdent+1), "must be less than or equal to 256 characters"},
		{"list", "SELECT " + strings.Repeat("a, ", 100000) + "a", ""},
		{"bytes", "SELECT '\xff'", "not part of a UTF-8 character"},
	} {
		tree, err := Parse(c.text)
		switch {
		case err == nil && c.want != "":
			t.Errorf("%s: no error", c.name)
		case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v", c.name, err)
		case err == nil:
			Format(tree)
			FormatFlink(tree)
			Walk(tree, func(Node) bool { return true })
		default:
			err.(*Error).Detail(c.text)
		}
	}
}
