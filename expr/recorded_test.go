package expr

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"runnel/types"
)

// recordedLine is an expression that a real Flink 1.20.5 evaluated: testdata/recorded.tsv has up to 45 of each group of
// functions.tsv, written as trees so that no parser is needed. The whole recording, and where we differ on purpose, is
// the planner's test.
type recordedLine struct {
	id, setup, form, typ, want string
}

func recordedLines(t *testing.T) []recordedLine {
	t.Helper()
	f, err := os.Open("testdata/recorded.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []recordedLine
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		c := strings.Split(s.Text(), "\t")
		want, err := strconv.Unquote(c[4])
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, recordedLine{c[0], c[1], c[2], c[3], want})
	}
	return lines
}

// treeReader builds an expression from its form: ("NAME" operands), (lit "type" "text"), (cast "type" x), (try "type" x),
// (case cond value .. else), (field n x), (sym "WORD"), (null), (json ..). With columns set, literals are put into
// columns, so that nothing is constant.
type treeReader struct {
	t       testing.TB
	s       string
	at      int
	columns bool
	fields  []types.Field
	batch   *types.Batch
}

func (r *treeReader) take(b byte) bool {
	if r.at < len(r.s) && r.s[r.at] == b {
		r.at++
		return true
	}
	return false
}

func (r *treeReader) blank() { r.take(' ') }

func (r *treeReader) text() string {
	q, err := strconv.QuotedPrefix(r.s[r.at:])
	if err != nil {
		r.t.Fatalf("%s at %d", r.s, r.at)
	}
	r.at += len(q)
	s, _ := strconv.Unquote(q)
	return s
}

func (r *treeReader) word() string {
	start := r.at
	for r.at < len(r.s) && r.s[r.at] != ' ' && r.s[r.at] != ')' {
		r.at++
	}
	return r.s[start:r.at]
}

func (r *treeReader) number() int {
	r.blank()
	n, err := strconv.Atoi(r.word())
	if err != nil {
		r.t.Fatalf("%s at %d", r.s, r.at)
	}
	return n
}

// rest reads the operands up to the closing parenthesis.
func (r *treeReader) rest() (es []Expr, err error) {
	for {
		r.blank()
		if r.take(')') {
			return es, err
		}
		e, sub := r.expr()
		if sub != nil && err == nil {
			err = sub
		}
		es = append(es, e)
	}
}

func (r *treeReader) expr() (Expr, error) {
	if !r.take('(') {
		r.t.Fatalf("%s at %d", r.s, r.at)
	}
	if r.s[r.at] == '"' {
		name := r.text()
		columns := r.columns
		negative := columns && name == "-" && strings.HasPrefix(r.s[r.at:], " (lit") && oneOperand(r.s[r.at:])
		r.columns = columns && !negative
		args, err := r.rest()
		r.columns = columns
		if err != nil {
			return NewNull(), err
		}
		e, err := r.checked(NewCall(name, args, Pos{}))
		if k, ok := e.(*Const); ok && negative {
			return r.column(k.T, k.Value), nil
		}
		return e, err
	}
	switch head := r.word(); head {
	case "lit":
		return r.literal()
	case "null":
		r.take(')')
		return NewNull(), nil
	case "sym":
		r.blank()
		e := NewSymbol(r.text())
		r.take(')')
		return e, nil
	case "cast", "try":
		r.blank()
		ty := parseType(r.t, r.text())
		args, err := r.rest()
		if err != nil {
			return NewNull(), err
		}
		return r.checked(NewCast(args[0], ty, head == "try", Pos{}))
	case "case":
		return r.caseOf()
	case "field":
		n := r.number()
		args, err := r.rest()
		if err != nil {
			return NewNull(), err
		}
		return r.checked(NewField(args[0], n))
	case "json":
		return r.json()
	default:
		r.t.Fatalf("%s: %s", r.s, head)
	}
	return nil, nil
}

// checked gives an operand that can be passed on even after an error.
func (r *treeReader) checked(e Expr, err error) (Expr, error) {
	if err != nil {
		return NewNull(), err
	}
	return e, nil
}

func (r *treeReader) literal() (Expr, error) {
	r.blank()
	ty := parseType(r.t, r.text())
	d := types.NullDatum()
	if r.take(' ') {
		d = r.value(ty, r.text())
	}
	r.take(')')
	if !r.columns {
		return &Const{Value: d, T: ty}, nil
	}
	return r.column(ty, d), nil
}

// column puts a value into a column of its own.
func (r *treeReader) column(ty types.Type, d types.Datum) Expr {
	i := len(r.fields)
	r.fields = append(r.fields, types.Field{Name: "a" + strconv.Itoa(i), Type: ty})
	col := types.NewColumn(ty, 3)
	col.Append(d)
	col.AppendNull()
	col.Append(d)
	r.batch.Cols = append(r.batch.Cols, col)
	return NewCol(r.fields, i)
}

// oneOperand reports whether a literal is the only operand: -1 and not 2 - 1.
func oneOperand(s string) bool {
	end := strings.Index(s, ")")
	return end >= 0 && strings.HasPrefix(s[end:], "))")
}

func (r *treeReader) value(ty types.Type, text string) types.Datum {
	switch {
	case ty.IsInterval():
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			r.t.Fatal(err)
		}
		return types.IntDatum(n)
	case ty.IsBinary():
		b, err := hex.DecodeString(text)
		if err != nil {
			r.t.Fatal(err)
		}
		return types.StrDatum(string(b))
	case ty.IsString():
		return types.StrDatum(text)
	}
	d, err := Evaluate(must(NewCast(NewConst(types.StrDatum(text), types.String()), ty, false, Pos{})), &Env{})
	if err != nil {
		r.t.Fatal(err)
	}
	return d
}

func (r *treeReader) caseOf() (Expr, error) {
	args, err := r.rest()
	if err != nil {
		return NewNull(), err
	}
	var whens []When
	for len(args) > 1 {
		whens = append(whens, When{args[0], args[1]})
		args = args[2:]
	}
	var els Expr
	if len(args) == 1 {
		els = args[0]
	}
	return r.checked(NewCase(whens, els, Pos{}))
}

func (r *treeReader) json() (Expr, error) {
	r.blank()
	name := r.text()
	r.blank()
	var c JSONClauses
	if ret := r.text(); ret != "" {
		ty := parseType(r.t, ret)
		c.Returning = &ty
	}
	c.Wrapper, c.Nulls = JSONWrapper(r.number()), NullTreatment(r.number())
	columns := r.columns
	r.columns = false
	for _, on := range []*JSONOn{&c.OnEmpty, &c.OnError} {
		on.Behavior = JSONBehavior(r.number())
		r.blank()
		d, err := r.expr()
		if err != nil {
			return NewNull(), err
		}
		if on.Behavior == JSONDefault {
			on.Default = d
		}
	}
	r.columns = columns && name != "JSON_OBJECT"
	args, err := r.rest()
	r.columns = columns
	if err != nil {
		return NewNull(), err
	}
	return r.checked(NewJSONCall(name, args, c, Pos{}))
}

func recordedEnv(t *testing.T, setup string) *Env {
	t.Helper()
	env := &Env{Zone: time.UTC}
	for kv := range strings.SplitSeq(setup, ";") {
		switch k, v, _ := strings.Cut(kv, "="); k {
		case "table.local-time-zone":
			zone, err := types.ParseZone(v)
			if err != nil {
				return nil
			}
			env.Zone = zone
		case "table.exec.legacy-cast-behaviour":
			env.LegacyCast = strings.EqualFold(v, "ENABLED")
		}
	}
	return env
}

// plain gives t without interval qualifiers, which Flink drops from the types of results.
func plain(t types.Type) types.Type {
	t.Unit = ""
	if t.Key != nil {
		k := plain(*t.Key)
		t.Key = &k
	}
	if t.Elem != nil {
		e := plain(*t.Elem)
		t.Elem = &e
	}
	for i, f := range t.Fields {
		if i == 0 {
			t.Fields = append([]types.Field(nil), t.Fields...)
		}
		t.Fields[i].Type = plain(f.Type)
	}
	return t
}

// TestRecordedFolded evaluates the recorded expressions as constants.
func TestRecordedFolded(t *testing.T) {
	values, failures := 0, 0
	for _, l := range recordedLines(t) {
		env := recordedEnv(t, l.setup)
		if env == nil {
			failures++ // a zone that is refused before any expression
			continue
		}
		r := &treeReader{t: t, s: l.form}
		e, err := r.expr()
		if err == nil {
			if got := plain(e.Type()).String(); got != l.typ && l.typ != "" {
				t.Errorf("%s %s: type %s, want %s", l.id, l.form, got, l.typ)
			}
			e, err = Fold(e, env)
		}
		got := "!"
		if err == nil {
			if _, ok := e.(*Const); !ok && Deterministic(e) {
				t.Errorf("%s %s was not folded: %s", l.id, l.form, e)
				continue
			}
			var d types.Datum
			if d, err = Evaluate(e, env); err == nil {
				got = shown(plain(e.Type()), d, env)
			}
		}
		if got != l.want && !sameSet(got, l.want) {
			t.Errorf("%s %s: %s (%v), want %s", l.id, l.form, got, err, l.want)
		}
		if l.want == "!" {
			failures++
		} else {
			values++
		}
	}
	t.Logf("%d values, %d failures", values, failures)
	if values < 3000 || failures < 800 {
		t.Error("lines are missing")
	}
}

// TestRecordedAtRunTime evaluates them with their literals in columns, for a row between others under a selection.
func TestRecordedAtRunTime(t *testing.T) {
	done, constant := 0, 0
	for _, l := range recordedLines(t) {
		env := recordedEnv(t, l.setup)
		if env == nil || l.typ == "" {
			continue
		}
		r := &treeReader{t: t, s: l.form, columns: true, batch: &types.Batch{Len: 3}}
		e, err := r.expr()
		if err != nil || plain(e.Type()).String() != l.typ {
			constant++ // the type depends on a literal: ROUND's digits, a key of JSON_OBJECT
			continue
		}
		eval, err := Compile(e, r.fields, env)
		if err != nil {
			t.Errorf("%s %s: %v", l.id, l.form, err)
			continue
		}
		got := "!"
		col, err := eval(r.batch, []int32{0, 2})
		var re *types.RowError
		if err == nil {
			got = string(types.AppendShown(nil, col, 2, env.Zone))
			if col.Null(2) {
				got = `\N`
			}
		} else if !errors.As(err, &re) || re.Row != 0 {
			t.Errorf("%s %s: %v at another row than the first", l.id, l.form, err)
		}
		if got != l.want && !sameSet(got, l.want) && !foldedOnly(l) {
			t.Errorf("%s %s over columns: %s (%v), want %s", l.id, l.form, got, err, l.want)
		}
		done++
	}
	t.Logf("%d lines, %d more need their literals", done, constant)
}

func shown(ty types.Type, d types.Datum, env *Env) string {
	if d.Null {
		return `\N`
	}
	c := types.NewColumn(ty, 1)
	c.Append(d)
	return string(types.AppendShown(nil, c, 0, env.Zone))
}

// sameSet compares the entries of maps without their order.
func sameSet(a, b string) bool {
	return strings.HasPrefix(a, "{") && strings.Contains(a, "=") && sameEntries(a, b)
}

// foldedOnly names the lines whose literals mean something else than columns do: a text that is compared with a time, and
// an operand of AND that makes a failing one before it unnecessary.
func foldedOnly(l recordedLine) bool {
	return l.id == "e.and.011" || l.want == "!" && (strings.HasPrefix(l.id, "e.comparison.83") || strings.HasPrefix(l.id, "e.is-distinct-from.1") ||
		strings.HasPrefix(l.id, "e.op.166"))
}

func TestTypeReader(t *testing.T) {
	for _, s := range []string{"INT", "DECIMAL(10, 2) NOT NULL", "ARRAY<INT NOT NULL> NOT NULL", "MAP<STRING, ROW<`a` INT, `b` TIMESTAMP(3)>>",
		"INTERVAL DAY TO SECOND", "MULTISET<CHAR(3)>", "TIMESTAMP_LTZ(9) NOT NULL"} {
		if got := fmt.Sprint(parseType(t, s)); got != s {
			t.Errorf("%s is read as %s", s, got)
		}
	}
}
