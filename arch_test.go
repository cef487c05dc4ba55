package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// layers is the import order, lowest first: a package imports only from lines above its own. "x/*" is every package below
// x that is not named itself. Do not change a line to make a build pass; mend the import.
var layers = [][]string{
	{"internal/cputime", "internal/recorded", "internal/javamath"},
	{"types", "sql"},
	{"expr", "state"},
	{"connectors", "gateway/wire", "gateway/client"},
	{"connectors/format"},
	{"connectors/*"},
	{"catalog"},
	{"plan", "exec/op"},
	{"exec"},
	{"session", "web"},
	{"gateway/server", "repl", "internal/testkit"},
	{"."},
}

// owners are the packages that alone may import a third-party module (test files included). "go.uber.org/goleak" may be
// used by every test.
var owners = map[string][]string{
	"github.com/dgraph-io/badger":         {"state"},
	"github.com/dgraph-io/ristretto":      {"state"},
	"github.com/IBM/sarama":               {"connectors/kafka"},
	"github.com/twmb/franz-go":            {"connectors/kafka", "connectors/kafka/kafkatest"},
	"github.com/olekukonko/tablewriter":   {"repl"},
	"github.com/mattn/go-runewidth":       {"repl"},
	"github.com/dlclark/regexp2":          {"expr"},
	"gopkg.in/yaml.v3":                    {"catalog"},
	"github.com/prometheus/client_golang": {"web"},
	"golang.org/x/term":                   {"repl", "."},
	"golang.org/x/sys":                    {"connectors/kafka", "internal/cputime", "state", "repl", "session", "."},
}

// parse gives every Go file of the module by package directory.
func parseModule(t *testing.T) (map[string]map[string]*ast.File, *token.FileSet) {
	t.Helper()
	set := token.NewFileSet()
	pkgs := map[string]map[string]*ast.File{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); p != "." && (strings.HasPrefix(n, ".") || n == "testdata" || n == "scripts") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		f, err := parser.ParseFile(set, p, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(p))
		if pkgs[dir] == nil {
			pkgs[dir] = map[string]*ast.File{}
		}
		pkgs[dir][p] = f
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pkgs, set
}

func layerOf(dir string) int {
	wild := -1
	for i, line := range layers {
		for _, p := range line {
			if p == dir {
				return i
			}
			if base, ok := strings.CutSuffix(p, "/*"); ok && strings.HasPrefix(dir, base+"/") {
				wild = i
			}
		}
	}
	return wild
}

func TestImportOrder(t *testing.T) {
	pkgs, _ := parseModule(t)
	for dir, files := range pkgs {
		own := layerOf(dir)
		if own < 0 {
			t.Errorf("package %s is not in the import order", dir)
			continue
		}
		for name, f := range files {
			external := strings.HasSuffix(f.Name.Name, "_test")
			for _, spec := range f.Imports {
				imp := strings.Trim(spec.Path.Value, `"`)
				sub, inside := strings.CutPrefix(imp, "runnel/")
				switch {
				case inside && sub != dir && !(external && strings.HasSuffix(name, "_test.go")):
					if l := layerOf(sub); l < 0 || l >= own {
						t.Errorf("%s imports %s, which does not lie below %s", name, sub, dir)
					}
				case !inside && strings.Contains(strings.Split(imp, "/")[0], "."):
					checkOwner(t, name, dir, imp)
				}
				if spec.Name != nil && spec.Name.Name == "." {
					t.Errorf("%s: dot import of %s", name, imp)
				}
			}
		}
	}
}

func checkOwner(t *testing.T, file, dir, imp string) {
	if imp == "go.uber.org/goleak" && strings.HasSuffix(file, "_test.go") {
		return
	}
	for module, dirs := range owners {
		if imp != module && !strings.HasPrefix(imp, module+"/") {
			continue
		}
		for _, d := range dirs {
			if d == dir {
				return
			}
		}
		t.Errorf("%s imports %s, which belongs to %s", file, imp, strings.Join(dirs, ", "))
		return
	}
	t.Errorf("%s imports %s, which has no owner in arch_test.go", file, imp)
}

func TestPackagesSayTheirJob(t *testing.T) {
	pkgs, _ := parseModule(t)
	for dir, files := range pkgs {
		said, product := false, false
		for name, f := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			product = true
			want := "Package " + f.Name.Name + " "
			if f.Name.Name == "main" {
				want = "Runnel "
			}
			if f.Doc != nil && strings.HasPrefix(f.Doc.Text(), want) {
				said = true
			}
		}
		if product && !said {
			t.Errorf("package %s has no package comment", dir)
		}
	}
}

func TestNoInitNoPanickyNames(t *testing.T) {
	pkgs, set := parseModule(t)
	for dir, files := range pkgs {
		switch filepath.Base(dir) {
		case "util", "utils", "common", "helpers", "misc", "base":
			t.Errorf("package %s: the name says nothing", dir)
		}
		for _, f := range files {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					t.Errorf("%s: init function", set.Position(fn.Pos()))
				}
			}
		}
	}
}

// Files over the limit do more than one job; tables aside, whose names end in _table.go.
func TestFileLength(t *testing.T) {
	const limit = 820
	pkgs, set := parseModule(t)
	var long []string
	for _, files := range pkgs {
		for name, f := range files {
			if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_table.go") {
				continue
			}
			if n := set.File(f.Pos()).LineCount(); n > limit {
				long = append(long, name)
			}
		}
	}
	sort.Strings(long)
	for _, name := range long {
		t.Errorf("%s has more than %d lines", name, limit)
	}
}

// Every package that docs/architecture.md names exists, and it names every one.
func TestArchitecturePage(t *testing.T) {
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	pkgs, _ := parseModule(t)
	for dir := range pkgs {
		if dir != "." && !strings.Contains(string(page), "`"+dir+"`") {
			t.Errorf("docs/architecture.md does not name package %s", dir)
		}
	}
}
