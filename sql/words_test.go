package sql

import (
	goast "go/ast"
	goparser "go/parser"
	gotoken "go/token"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestWordsOfParser checks that every word that the parser asks for is in the list of words: one that is not would never be found.
func TestWordsOfParser(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	methods := []string{"is", "accept", "acceptAll", "expect", "oneOf"}
	n := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := goparser.ParseFile(gotoken.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		goast.Inspect(file, func(n1 goast.Node) bool {
			call, ok := n1.(*goast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*goast.SelectorExpr)
			if !ok || !slices.Contains(methods, sel.Sel.Name) {
				return true
			}
			for _, a := range call.Args {
				if lit, ok := a.(*goast.BasicLit); ok && lit.Kind == gotoken.STRING {
					w, _ := strconv.Unquote(lit.Value)
					if words[w] == 0 {
						t.Errorf("%s: %s(%q): no such word", f.Name(), sel.Sel.Name, w)
					}
					n++
				}
			}
			return true
		})
	}
	if n < 300 {
		t.Errorf("only %d words found in the parser", n)
	}
	var more []string
	for _, f := range showForms {
		more = append(more, f.words...)
	}
	for _, list := range [][]string{likeFeatures, statementWords} {
		more = append(more, list...)
	}
	for w := range units {
		more = append(more, w)
	}
	for w := range addUnits {
		more = append(more, w)
	}
	for w := range intervalUnits {
		more = append(more, w)
	}
	for w := range simpleTypes {
		more = append(more, w)
	}
	for w := range exprWords {
		more = append(more, w)
	}
	for _, w := range more {
		if words[w] == 0 {
			t.Errorf("%q: no such word", w)
		}
	}
}

func TestReserved(t *testing.T) {
	list := ReservedWords()
	if len(list) != 403 || !slices.IsSorted(list) { // Flink's 404 less END-EXEC, which is no word to this lexer
		t.Errorf("%d reserved words", len(list))
	}
	for _, w := range list {
		if !IsReserved(strings.ToLower(w)) || QuoteIfNeeded(w) != "`"+w+"`" {
			t.Errorf("%s is not reserved", w)
		}
		if _, err := Parse("CREATE TABLE t (" + w + " INT)"); err == nil {
			switch w {
			case "CONSTRAINT", "PRIMARY", "UNIQUE", "WATERMARK":
			default:
				t.Errorf("%s is a name without back-ticks", w)
			}
		}
		if _, err := Parse("SELECT `" + w + "` AS `" + w + "` FROM `" + w + "`"); err != nil {
			t.Errorf("%s in back-ticks: %v", w, err)
		}
	}
	if IsReserved("id") || IsReserved("OPTIONS") || !slices.Contains(Keywords(), "OPTIONS") || !slices.Contains(StatementWords(), "SELECT") {
		t.Error("words that are not reserved")
	}
	for name, want := range map[string]string{"a": "a", "a b": "`a b`", "a`b": "`a``b`", "": "``", "1a": "`1a`", "key": "`key`", "été": "été", "$x": "$x"} {
		if got := QuoteIfNeeded(name); got != want {
			t.Errorf("%q becomes %s, want %s", name, got, want)
		}
	}
}

// TestPlainWords checks that the words of the grammar that are not reserved are names wherever one stands.
func TestPlainWords(t *testing.T) {
	for _, w := range Keywords() {
		if IsReserved(w) {
			continue
		}
		for _, text := range []string{"SELECT x." + w + " AS " + w + " FROM " + w + " AS " + w, "CREATE TABLE " + w + " (" + w + " INT, b ROW<" + w + " INT>)",
			"INSERT INTO " + w + " (" + w + ") SELECT " + w + " FROM a", "SELECT " + w + " + 1 FROM t ORDER BY " + w} {
			tree, err := Parse(text)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			roundTrip(t, text, tree)
		}
	}
}

// TestWalk checks that Walk finds every node of the corpus, by comparing it with a search by reflection.
func TestWalk(t *testing.T) {
	data, err := os.ReadFile("testdata/forms.txt")
	if err != nil {
		t.Fatal(err)
	}
	missed := map[string]bool{}
	for _, line := range strings.Split(string(data), "\n") {
		tree, err := Parse(line)
		if err != nil {
			continue
		}
		walked := map[Node]bool{}
		Walk(tree, func(n Node) bool {
			if walked[n] {
				t.Fatalf("%s: %T twice", line, n)
			}
			walked[n] = true
			return true
		})
		reflectNodes(reflect.ValueOf(tree), func(n Node) {
			if !walked[n] {
				missed[reflect.TypeOf(n).String()] = true
			}
		})
	}
	for m := range missed {
		t.Errorf("%s is not visited", m)
	}
	tree, _ := Parse("SELECT a, f(b) FROM t WHERE c IN (SELECT d FROM u)")
	var names []string
	for _, n := range Inspect[*Name](tree) {
		names = append(names, n.Dotted())
	}
	if got := strings.Join(names, " "); got != "a f b t c d u" {
		t.Errorf("names %s", got)
	}
}

// reflectNodes calls f for every pointer to a node that is v or below it.
func reflectNodes(v reflect.Value, f func(Node)) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			reflectNodes(v.Elem(), f)
		}
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		switch n := v.Interface().(type) {
		case *Ident, *IntervalQualifier, *JSONClauses:
		case Node:
			f(n)
		}
		reflectNodes(v.Elem(), f)
	case reflect.Slice:
		for i := range v.Len() {
			reflectNodes(v.Index(i), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				reflectNodes(v.Field(i), f)
			}
		}
	}
}
