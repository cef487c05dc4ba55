package main

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"runnel/catalog"
	"runnel/connectors/kafka"
	"runnel/exec"
	"runnel/session"
	"runnel/sql"
)

// sqlWords cuts SQL into what a typo changes: words, numbers, quoted text, operators, blanks.
var sqlWords = regexp.MustCompile("(?s)'(?:[^']|'')*'|`[^`]*`|[A-Za-z_][A-Za-z0-9_]*|[0-9][0-9.Ee]*|\\s+|.")

// mutator makes statements out of others. Most changes keep the syntax: a word gives way to another of its class, a
// bracket to another one. The rest are typos: words left out, doubled, moved.
type mutator struct {
	*rand.Rand
	words   [][]string // of each statement
	classes map[byte][]string
	groups  [][]string // whole brackets
}

// class of the i-th word: (f)unction, (k)eyword, (i)dentifier, (s)tring, (n)umber, (o)perator, or a blank for the rest.
func class(w []string, i int) byte {
	c := w[i][0]
	switch {
	case c == '\'':
		return 's'
	case c == '`':
		return 'i'
	case c >= '0' && c <= '9':
		return 'n'
	case strings.IndexByte("+-*/%<>=", c) >= 0:
		return 'o'
	case c != '_' && (c < 'A' || c > 'z' || c > 'Z' && c < 'a'):
		return ' '
	case i+1 < len(w) && w[i+1] == "(":
		return 'f'
	case w[i] == strings.ToUpper(w[i]):
		return 'k'
	}
	return 'i'
}

// group gives the end of the bracket that opens at i, 0 for none.
func group(w []string, i int) int {
	depth := 0
	for j := i; j < len(w); j++ {
		switch w[j] {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return j + 1
			}
		}
		if depth == 0 {
			return 0
		}
	}
	return 0
}

func newMutator(t *testing.T, statements []string) (*mutator, int) {
	t.Helper()
	seed, n := uint64(time.Now().UnixNano()), 1500
	if s := os.Getenv("RUNNEL_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	if s := os.Getenv("RUNNEL_MUTATIONS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("RUNNEL_SEED=%d RUNNEL_MUTATIONS=%d", seed, n)
	m := &mutator{Rand: rand.New(rand.NewPCG(seed, 1)), classes: map[byte][]string{}}
	for _, s := range statements {
		w := sqlWords.FindAllString(s, -1)
		m.words = append(m.words, w)
		for i := range w {
			m.classes[class(w, i)] = append(m.classes[class(w, i)], w[i])
			if end := group(w, i); end > 0 && end-i < 40 {
				m.groups = append(m.groups, w[i:end])
			}
		}
	}
	return m, n
}

func one[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func (m *mutator) statement() string {
	w := slices.Clone(one(m.Rand, m.words))
	for range 1 + m.IntN(3) {
		i := m.IntN(len(w))
		switch m.IntN(12) {
		case 0:
			w = slices.Delete(w, i, min(i+1+m.IntN(3), len(w)))
		case 1:
			j := m.IntN(len(w))
			w[i], w[j] = w[j], w[i]
		case 2:
			other := one(m.Rand, m.words)
			from := m.IntN(len(other))
			w = slices.Insert(w, i, other[from:min(from+1+m.IntN(8), len(other))]...)
		case 3, 4, 5:
			if end := group(w, i); end > 0 {
				w = slices.Replace(w, i, end, one(m.Rand, m.groups)...)
				break
			}
			fallthrough
		default:
			for class(w, i) == ' ' && i+1 < len(w) {
				i++
			}
			w[i] = one(m.Rand, m.classes[class(w, i)])
		}
		if len(w) == 0 {
			break
		}
	}
	return strings.Join(w, "")
}

// slow is how long a statement of a few lines may take; anything near it hangs.
const slow = 10 * time.Second

// survives fails the test when the statement met a panic or took too long.
func survives(t *testing.T, text string, run func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), slow)
	defer cancel()
	start := time.Now()
	err := run(ctx)
	var p *exec.PanicError
	if errors.As(err, &p) {
		t.Errorf("%s\n%v\n%s", text, err, p.Stack)
	}
	if took := time.Since(start); took >= slow {
		t.Errorf("%s\ntook %s: %v", text, took, err)
	}
}

// TestMutatedStatements plans statements with typos: each works or is refused.
func TestMutatedStatements(t *testing.T) {
	var texts []string
	files, err := filepath.Glob(filepath.Join(oracleDir, "client", "statements", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal("no statements", err)
	}
	for _, f := range files {
		for _, r := range readStatements(t, f) {
			texts = append(texts, r.SQL)
		}
	}
	cases, err := filepath.Glob(filepath.Join(oracleDir, "cases", "*", "case.sql"))
	if err != nil || len(cases) == 0 {
		t.Fatal("no cases", err)
	}
	for _, f := range cases {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range sql.SplitAll(string(text)) {
			texts = append(texts, part.Text)
		}
	}
	m, n := newMutator(t, texts)
	k := kafka.New(kafka.Config{Formats: formatTable, Dir: t.TempDir()})
	defer k.Close()
	fresh := func() *session.Session {
		s := session.New(session.Options{
			Catalog: catalog.New(), Config: catalog.NewConfig(), Connectors: append(connectorTable(k), plannedJDBC), Formats: formatTable,
			Cluster: func() (*exec.Cluster, error) { return nil, io.ErrClosedPipe }, CheckOnly: true,
		})
		for _, text := range texts {
			if strings.HasPrefix(text, "CREATE TABLE") || strings.HasPrefix(text, "CREATE VIEW") {
				s.Execute(context.Background(), text)
			}
		}
		return s
	}
	s, good := fresh(), 0
	for i := range n {
		if i%200 == 199 {
			s = fresh()
		}
		text := m.statement()
		survives(t, text, func(ctx context.Context) error {
			_, err := s.Execute(ctx, text)
			if err == nil {
				good++
			}
			return err
		})
	}
	t.Logf("%d of %d are good", good, n)
}

// TestMutatedExpressions evaluates expressions with typos over rows and over constants.
func TestMutatedExpressions(t *testing.T) {
	var texts []string
	for _, e := range loadExpressions(t, "functions.tsv") {
		if e.setup == "" && (e.table == "" || !strings.HasPrefix(e.table, "SELECT")) {
			texts = append(texts, e.query())
		}
	}
	m, n := newMutator(t, texts)
	a, good := newAsker(t, m.IntN(2) == 0), 0
	for range n {
		text := m.statement()
		if !strings.HasPrefix(text, "SELECT") {
			continue
		}
		survives(t, text, func(ctx context.Context) error {
			_, _, err := a.run(ctx, text)
			if err == nil {
				good++
			}
			return err
		})
	}
	t.Logf("%d of %d are good", good, n)
}
