package expr

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"runnel/types"
)

// testFields is a column of every type that functions take.
func testFields() []types.Field {
	var fs []types.Field
	for _, t := range []types.Type{
		types.Of(types.Boolean), types.Of(types.TinyInt), types.Of(types.SmallInt), types.Of(types.Int), types.Of(types.BigInt),
		types.Of(types.Float), types.Of(types.Double), types.DecimalOf(9, 2), types.DecimalOf(18, 6), types.DecimalOf(30, 10),
		types.CharOf(5), types.VarcharOf(10), types.String(), types.Bytes(), types.Of(types.Date), {Kind: types.Time},
		types.TimestampOf(0), types.TimestampOf(3), types.TimestampOf(6), types.TimestampOf(9), types.TimestampLTZOf(3),
		types.TimestampLTZOf(9), {Kind: types.IntervalMonths}, {Kind: types.IntervalMillis},
	} {
		fs = append(fs, types.Field{Name: t.Name(), Type: t})
	}
	return fs
}

func testEnv(t testing.TB) *Env {
	t.Helper()
	zone, err := types.ParseZone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.UnixMilli(1718000000000)
	return &Env{Zone: zone, Now: func() time.Time { return now }, QueryStart: now}
}

func randomBatch(r *rand.Rand, fields []types.Field, n int, nulls bool) *types.Batch {
	b := &types.Batch{Len: n}
	for _, f := range fields {
		b.Cols = append(b.Cols, randomColumn(r, f.Type, n, nulls, 12))
	}
	return b
}

// maker builds random expressions over fields: every function of the table comes up, with operands that fit or not.
type maker struct {
	r      *rand.Rand
	fields []types.Field
	funcs  []*Function
	texts  []string
}

func newMaker(r *rand.Rand, fields []types.Field) *maker {
	functionTable.once.Do(loadFunctions)
	m := &maker{r: r, fields: fields}
	seen := map[*Function]bool{}
	for _, name := range slices.Sorted(maps.Keys(functionTable.index)) { // the same ones in every run
		f := functionTable.index[name]
		if !seen[f] && !f.Nondeterministic && !f.Dynamic && f.Name != "CURRENT_WATERMARK" && f.Name != "OVERLAPS" {
			seen[f] = true
			m.funcs = append(m.funcs, f)
		}
	}
	m.texts = []string{"a", "%a%", "a_b", "yyyy-MM-dd", "HH:mm", "$.a", "UTC", "(a|b)+", "", "x", "DAY", "1", "2024-02-29 12:34:56"}
	return m
}

func (m *maker) leaf() Expr {
	switch m.r.IntN(8) {
	case 0:
		return NewInt(int64(m.r.IntN(9) - 3))
	case 1:
		return NewString(m.texts[m.r.IntN(len(m.texts))])
	case 2:
		f := m.fields[m.r.IntN(len(m.fields))]
		return NewConst(randomDatum(m.r, f.Type), f.Type)
	case 3:
		return NewSymbol([]string{"YEAR", "MONTH", "DAY", "HOUR", "SECOND", "BOTH", "LEADING"}[m.r.IntN(7)])
	}
	return NewCol(m.fields, m.r.IntN(len(m.fields)))
}

// expr gives an expression, nil when what was tried does not fit.
func (m *maker) expr(depth int) Expr {
	if depth == 0 || m.r.IntN(4) == 0 {
		return m.leaf()
	}
	sub := func() Expr {
		for range 5 {
			if e := m.expr(depth - 1); e != nil {
				return e
			}
		}
		return m.leaf()
	}
	switch m.r.IntN(10) {
	case 0:
		e, err := NewCast(sub(), m.fields[m.r.IntN(len(m.fields))].Type, m.r.IntN(2) == 0, Pos{})
		if err != nil {
			return nil
		}
		return e
	case 1:
		cond, err := NewCall([]string{"=", "<", "IS NULL", ">"}[m.r.IntN(4)], []Expr{sub(), sub()}, Pos{})
		if err != nil {
			return nil
		}
		e, err := NewCase([]When{{cond, sub()}}, sub(), Pos{})
		if err != nil {
			return nil
		}
		return e
	}
	return m.call(m.funcs[m.r.IntN(len(m.funcs))], sub)
}

// call gives a call of f with random operands, nil when they do not fit.
func (m *maker) call(f *Function, operand func() Expr) Expr {
	var args []Expr
	for range m.r.IntN(4) {
		args = append(args, operand())
	}
	if f.Name == "IN" {
		i := m.r.IntN(len(m.fields))
		args = []Expr{NewCol(m.fields, i)}
		for range 3 {
			args = append(args, NewConst(randomDatum(m.r, m.fields[i].Type), m.fields[i].Type))
		}
	}
	e, err := NewCall(f.Name, args, Pos{})
	if err != nil {
		return nil
	}
	return e
}

// calls gives calls of every function with leaves as operands.
func (m *maker) calls(each int) []Expr {
	var es []Expr
	for _, f := range m.funcs {
		for try, found := 0, 0; found < each && (try < 4000 || found == 0 && try < 200000); try++ {
			if e := m.call(f, m.operand); e != nil {
				es = append(es, e)
				found++
			}
		}
	}
	return es
}

// operand is a leaf, or an array, a map or a row.
func (m *maker) operand() Expr {
	if m.r.IntN(4) > 0 {
		return m.leaf()
	}
	f := m.fields[[...]int{3, 12}[m.r.IntN(2)]] // INT, STRING
	col := func() Expr { return NewCol(m.fields, m.r.IntN(len(m.fields))) }
	like := func() Expr { return NewConst(randomDatum(m.r, f.Type), f.Type) }
	switch m.r.IntN(3) {
	case 0:
		return must(NewCall("ARRAY", []Expr{like(), like(), like()}, Pos{}))
	case 1:
		return must(NewCall("MAP", []Expr{NewString("k"), like(), NewString("l"), like()}, Pos{}))
	}
	return must(NewCall("ROW", []Expr{col(), like()}, Pos{}))
}

// TestKernelsAgainstRows runs random expressions over random batches, with and without NULLs, whole and under
// selections, and compares row by row with EvalRow: values, NULLs, and the first failing row.
func TestKernelsAgainstRows(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	fields := testFields()
	m := newMaker(r, fields)
	env := testEnv(t)
	made, rows := map[string]int{}, 0
	exprs := m.calls(4)
	for range 2000 {
		if e := m.expr(3); e != nil && !isSymbol(e.Type()) {
			exprs = append(exprs, e)
		}
	}
	for step, e := range exprs {
		b := randomBatch(r, fields, 1+r.IntN(40), step%3 != 0)
		eval, err := Compile(e, fields, env)
		if err != nil {
			continue // e.g. a pattern in a constant that is none
		}
		Walk(e, func(e Expr) bool {
			if c, ok := e.(*Call); ok {
				made[c.Func.Name]++
			}
			return true
		})
		for _, sel := range [][]int32{types.All(b.Len), randomSelection(r, b.Len), {}} {
			rows += len(sel)
			checkRows(t, e, eval, b, sel, env)
			if t.Failed() {
				return
			}
		}
	}
	var missing []string
	for _, f := range m.funcs {
		if made[f.Name] == 0 && f.kernel != nil {
			missing = append(missing, f.Name)
		}
	}
	t.Logf("%d functions, %d rows", len(made), rows)
	if len(missing) > 0 {
		t.Errorf("these did not come up: %v", missing)
	}
}

func randomSelection(r *rand.Rand, n int) []int32 {
	var sel []int32
	for i := range int32(n) {
		if r.IntN(2) == 0 {
			sel = append(sel, i)
		}
	}
	return sel
}

func checkRows(t *testing.T, e Expr, eval Eval, b *types.Batch, sel []int32, env *Env) {
	t.Helper()
	col, err := eval(b, sel)
	failed := int32(1 << 30)
	var re *types.RowError
	if errors.As(err, &re) {
		failed = re.Row
	} else if err != nil {
		t.Errorf("%s: %v", e, err)
		return
	}
	ty := e.Type()
	for _, i := range sel {
		row := make([]types.Datum, len(b.Cols))
		for k, c := range b.Cols {
			row[k] = c.At(i)
		}
		want, wantErr := EvalRow(e, row, env)
		if i >= failed {
			if wantErr == nil || i != failed {
				t.Errorf("%s: row %d failed (%v), alone it gives %v", e, i, err, want)
			}
			return
		}
		if wantErr != nil {
			t.Errorf("%s: row %d alone fails: %v", e, i, wantErr)
			return
		}
		got := col.At(i)
		if types.Compare(&ty, &got, &want) != 0 {
			t.Errorf("%s (%s): row %d gives %v, alone %v", e, ty, i, got, want)
			return
		}
	}
	if failed != 1<<30 {
		t.Errorf("%s: row %d failed, which was not selected: %v", e, failed, err)
	}
}

// TestFiltersAgainstRows does the same for conditions.
func TestFiltersAgainstRows(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	fields := testFields()
	m := newMaker(r, fields)
	env := testEnv(t)
	done := 0
	for step := 0; step < 20000 && done < 1500; step++ {
		var conds []Expr
		for range 2 {
			if c := m.expr(2); c != nil && c.Type().Kind == types.Boolean {
				conds = append(conds, c)
			}
		}
		var e Expr
		switch {
		case len(conds) == 0:
			continue
		case step%3 == 0:
			e = NewOr(conds...)
		default:
			e = NewAnd(conds...)
		}
		b := randomBatch(r, fields, 1+r.IntN(40), step%2 == 0)
		f, err := CompileFilter(e, fields, env)
		if err != nil {
			continue
		}
		done++
		for _, sel := range [][]int32{types.All(b.Len), randomSelection(r, b.Len)} {
			var want []int32
			var fails bool
			for _, i := range sel {
				row := make([]types.Datum, len(b.Cols))
				for k, c := range b.Cols {
					row[k] = c.At(i)
				}
				d, err := EvalRow(e, row, env)
				if err != nil {
					fails = true
					break
				}
				if !d.Null && d.Bool() {
					want = append(want, i)
				}
			}
			got, err := f(b, sel, nil)
			if (err != nil) != fails {
				t.Fatalf("%s: error %v, row by row %t", e, err, fails)
			}
			if len(got) != len(want) {
				t.Fatalf("%s: %v pass, row by row %v", e, got, want)
			}
			for k := range got {
				if got[k] != want[k] {
					t.Fatalf("%s: %v pass, row by row %v", e, got, want)
				}
			}
		}
	}
	t.Logf("%d conditions", done)
}
