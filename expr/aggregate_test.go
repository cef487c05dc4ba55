package expr

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"runnel/types"
)

// group is the state of one group in tests.
type group struct {
	acc   *Accumulator
	words []uint64
	store *memStore
}

func newGroup(t testing.TB, acc *Accumulator) *group {
	return &group{acc, make([]uint64, len(acc.Slots)), newStore(t, acc.Slots)}
}

func (g *group) value(t testing.TB) string {
	t.Helper()
	out := types.NewColumn(g.acc.Type, 1)
	if err := g.acc.Value(g.words, g.store, out); err != nil {
		return "error: " + err.Error()
	}
	return string(types.AppendShown(nil, out, 0, nil))
}

func bindAgg(t testing.TB, name string, retract bool, nulls NullTreatment, ts ...types.Type) *Accumulator {
	t.Helper()
	f := LookupAggregate(name)
	if f == nil {
		t.Fatalf("no aggregate %s", name)
	}
	rt, err := f.Result(ts)
	if err != nil {
		t.Fatal(err)
	}
	call := AggCall{Func: f, Filter: -1, T: rt, Nulls: nulls}
	var fields []types.Field
	for i, ty := range ts {
		call.Args = append(call.Args, i)
		fields = append(fields, types.Field{Type: ty})
	}
	acc, err := Bind(call, fields, retract, &Env{})
	if err != nil {
		t.Fatal(err)
	}
	return acc
}

// column makes a column of a type from texts, by the cast from text; "-" is NULL.
func column(t testing.TB, ty types.Type, texts ...string) *types.Column {
	t.Helper()
	col := types.NewColumn(ty, len(texts))
	for _, s := range texts {
		if s == "-" {
			col.AppendNull()
			continue
		}
		e, err := NewCast(NewConst(types.StrDatum(s), types.String()), ty, false, Pos{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := Evaluate(e, &Env{})
		if err != nil {
			t.Fatal(err)
		}
		col.Append(d)
	}
	return col
}

// TestAggregates has values that a real Flink gave (aggregates.tsv), and those of its documentation.
func TestAggregates(t *testing.T) {
	dec := types.DecimalOf(10, 2)
	for _, c := range []struct {
		name string
		t    types.Type
		in   string
		want string
	}{
		{"COUNT", types.Of(types.Int), "1 - 3", "2"},
		{"SUM", types.Of(types.TinyInt), "100 100 - 1", "-55"},
		{"SUM", types.Of(types.Int), "2000000000 2000000000", "-294967296"},
		{"SUM", types.Of(types.Int), "- -", "<NULL>"},
		{"SUM", types.Of(types.Float), "1.5 2.25 0.5", "4.25"},
		{"SUM", dec, "10.25 -3.10 0.01", "7.16"},
		{"SUM", types.DecimalOf(38, 18), "99999999999999999999.999999999999999999 1", "<NULL>"},
		{"SUM", types.DecimalOf(38, 18), "99999999999999999999.999999999999999999 1 -2.5", "99999999999999999998.499999999999999999"},
		{"AVG", types.Of(types.Int), "1 2", "1"},
		{"AVG", types.Of(types.Int), "-1 -2", "-1"},
		{"AVG", types.DecimalOf(5, 2), "1.00 2.00", "1.500000"},
		{"AVG", types.Of(types.Double), "0.5 4.75 4.75", "3.3333333333333335"},
		{"MIN", types.Of(types.Int), "3 - 1 2", "1"},
		{"MAX", types.String(), "pear apple - fig é", "é"},
		{"MIN", types.String(), "pear apple fig", "apple"},
		{"MAX", types.DecimalOf(38, 18), "1 -2.5 2.5", "2.500000000000000000"},
		{"MAX", types.TimestampOf(3), "2024-02-29_10:00:00.123 1999-12-31_23:59:59.999", "2024-02-29 10:00:00.123"},
		{"MAX", types.TimestampOf(9), "2024-02-29_10:00:00.123456789 2024-02-29_10:00:00.123456788", "2024-02-29 10:00:00.123456789"},
		{"VAR_POP", types.Of(types.Int), "2900 2500 2600", "28889"},
		{"VAR_POP", dec, "0.01 0.02 0.02", "0.000022"},
		{"VAR_SAMP", dec, "0.01 0.02 0.02", "0.000034"},
		{"STDDEV_POP", dec, "0.01 0.02 0.02", "0.004690"},
		{"STDDEV_SAMP", dec, "0.01 0.02 0.02", "0.005831"},
		{"VAR_POP", dec, "10.25 -3.10 0.01 0.02 0.02 99999999.99", "1388888848611128.787358"},
		{"VAR_POP", types.Of(types.Double), "0.5 4.75 4.75", "4.013888888888888"},
		{"VAR_SAMP", types.Of(types.Double), "0.5 4.75 4.75", "6.020833333333332"},
		{"STDDEV_SAMP", types.Of(types.Double), "0.5 4.75 4.75", "2.4537386440559095"},
		{"STDDEV", types.Of(types.Float), "0.5 0.25 0.25", "0.14433755"},
		{"VARIANCE", types.Of(types.Float), "0.5 0.25 0.25", "0.020833328"},
		{"STDDEV_POP", types.Of(types.Float), "0.5 0.25 0.25", "0.117851116"},
		{"STDDEV_SAMP", types.Of(types.Double), "1", "<NULL>"},
		{"FIRST_VALUE", types.Of(types.Int), "- 3 5", "3"},
		{"LAST_VALUE", types.Of(types.Int), "3 5 -", "5"},
		{"FIRST_VALUE", types.String(), "- b a", "b"},
		{"LAST_VALUE", types.TimestampOf(9), "2024-02-29_10:00:00.123456789", "2024-02-29 10:00:00.123456789"},
		{"SINGLE_VALUE", types.String(), "a", "a"},
		{"SINGLE_VALUE", types.String(), "a b", "error"},
		{"LISTAGG", types.String(), "a - b", "a,b"},
		{"LISTAGG", types.String(), "-", "<NULL>"},
		{"ARRAY_AGG", types.Of(types.Int), "1 - 2", "[1, NULL, 2]"},
		{"ARRAY_AGG", types.Of(types.Int), "", "<NULL>"},
		{"COLLECT", types.String(), "a - a b", "{a=2, b=1}"},
		{"COLLECT", types.String(), "-", "{}"},
		{"JSON_ARRAYAGG", dec, "10.25 -3.10 - 0.01", "[10.25,-3.1,0.01]"},
		{"JSON_ARRAYAGG", types.Of(types.Float), "1.5 NaN", `[1.5,"NaN"]`},
		{"APPROX_COUNT_DISTINCT", types.String(), "a - a b", "2"},
	} {
		for _, retract := range []bool{false, true} {
			acc := bindAgg(t, c.name, retract, NullsDefault, c.t)
			g := newGroup(t, acc)
			texts := strings.Fields(strings.ReplaceAll(c.in, "_", "_"))
			for i := range texts {
				texts[i] = strings.ReplaceAll(texts[i], "_", " ")
			}
			b := &types.Batch{Len: len(texts), Cols: []*types.Column{column(t, c.t, texts...)}}
			var err error
			for i := range texts {
				if e := acc.Add(g.words, g.store, b, int32(i)); e != nil {
					err = e
				}
			}
			got := g.value(t)
			if err != nil {
				got = "error"
			}
			if got != c.want {
				t.Errorf("%s over %s (%s), retract %t: %s, want %s", c.name, c.t, c.in, retract, got, c.want)
			}
		}
	}
}

func TestJSONObjectAgg(t *testing.T) {
	acc := bindAgg(t, "JSON_OBJECTAGG", true, NullsDefault, types.String(), types.Of(types.Int))
	g := newGroup(t, acc)
	b := &types.Batch{Len: 4, Cols: []*types.Column{column(t, types.String(), "pear", "fig", "", "a\"b"),
		column(t, types.Of(types.Int), "4", "3", "-", "1")}}
	for i := range int32(4) {
		if err := acc.Add(g.words, g.store, b, i); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := g.value(t), `{"":null,"a\"b":1,"fig":3,"pear":4}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err := acc.Add(g.words, g.store, b, 0); err == nil {
		t.Error("a key came twice without an error")
	}
	if err := acc.Retract(g.words, g.store, b, 1); err != nil {
		t.Fatal(err)
	}
	if got, want := g.value(t), `{"":null,"a\"b":1,"pear":4}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestRetraction adds and takes back rows in random order and compares with accumulators that saw only what is left.
func TestRetraction(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	kinds := []types.Type{types.Of(types.Int), types.Of(types.Double), types.String(), types.DecimalOf(10, 2), types.DecimalOf(30, 4),
		types.TimestampOf(3), types.TimestampOf(9), types.Of(types.Boolean)}
	for _, name := range []string{"COUNT", "SUM", "AVG", "MIN", "MAX", "VAR_POP", "STDDEV_SAMP", "FIRST_VALUE", "LAST_VALUE",
		"LISTAGG", "ARRAY_AGG", "COLLECT", "JSON_ARRAYAGG"} {
		for _, ty := range kinds {
			if _, err := LookupAggregate(name).Result([]types.Type{ty}); err != nil {
				continue
			}
			acc := bindAgg(t, name, true, NullsDefault, ty)
			b := &types.Batch{Len: 64, Cols: []*types.Column{randomColumn(r, ty, 64, true, 6)}}
			g := newGroup(t, acc)
			var live []int32
			for range 300 {
				if len(live) > 0 && r.IntN(2) == 0 {
					k := r.IntN(len(live))
					if err := acc.Retract(g.words, g.store, b, live[k]); err != nil {
						t.Fatal(err)
					}
					live = removeOldestEqual(b.Cols[0], live, live[k])
				} else {
					i := int32(r.IntN(64))
					if err := acc.Add(g.words, g.store, b, i); err != nil {
						t.Fatal(err)
					}
					live = append(live, i)
				}
				fresh := newGroup(t, acc)
				for _, i := range live {
					if err := acc.Add(fresh.words, fresh.store, b, i); err != nil {
						t.Fatal(err)
					}
				}
				got, want := g.value(t), fresh.value(t)
				if got != want && !(ty.Kind == types.Double && name != "MIN" && name != "MAX") && !(name == "COLLECT" && sameEntries(got, want)) {
					t.Fatalf("%s over %s: %s, want %s", name, ty, got, want)
				}
			}
			checkMerge(t, acc, b, live, name == "COLLECT")
		}
	}
}

// removeOldestEqual is what taking a value back means where order counts: the first equal one goes.
func removeOldestEqual(c *types.Column, live []int32, i int32) []int32 {
	at := slices.IndexFunc(live, func(j int32) bool { return types.CompareCells(c, i, c, j) == 0 })
	return slices.Delete(live, at, at+1)
}

func sameEntries(a, b string) bool {
	x, y := strings.Split(strings.Trim(a, "{}"), ", "), strings.Split(strings.Trim(b, "{}"), ", ")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// checkMerge compares the merge of two halves with the whole.
func checkMerge(t *testing.T, acc *Accumulator, b *types.Batch, rows []int32, bag bool) {
	t.Helper()
	whole, left, right := newGroup(t, acc), newGroup(t, acc), newGroup(t, acc)
	for k, i := range rows {
		half := left
		if k >= len(rows)/2 {
			half = right
		}
		for _, g := range []*group{whole, half} {
			if err := acc.Add(g.words, g.store, b, i); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := acc.Merge(left.words, left.store, right.words, right.store); err != nil {
		t.Fatal(err)
	}
	got, want := left.value(t), whole.value(t)
	if got != want && !(bag && sameEntries(got, want)) && b.Cols[0].Type.Kind != types.Double {
		t.Errorf("merged %s, want %s", got, want)
	}
}

// randomColumn makes n values out of a small number of different ones, some NULL.
func randomColumn(r *rand.Rand, t types.Type, n int, nulls bool, distinct int) *types.Column {
	c := types.NewColumn(t, n)
	pool := make([]types.Datum, distinct)
	for i := range pool {
		pool[i] = randomDatum(r, t)
	}
	for range n {
		if nulls && r.IntN(5) == 0 {
			c.AppendNull()
			continue
		}
		c.Append(pool[r.IntN(distinct)])
	}
	return c
}

func randomDatum(r *rand.Rand, t types.Type) types.Datum {
	edge := []int64{0, 1, -1, 2, 7, 10, 100, -128, 127}
	n := edge[r.IntN(len(edge))]
	if r.IntN(3) == 0 {
		n = r.Int64() - r.Int64()
	}
	switch t.Kind {
	case types.Boolean:
		return types.IntDatum(n & 1)
	case types.TinyInt, types.SmallInt, types.Int:
		return types.IntDatum(wrap(t.Kind, n))
	case types.Float:
		return types.FloatDatum(float64(float32(n) / 4))
	case types.Double:
		return types.FloatDatum(float64(n) / 8)
	case types.Decimal:
		d := types.Int128Of(n)
		for !d.Fits(t.Precision) {
			d = cutDigits(d, 1)
		}
		if t.Phys() == types.PhysWide {
			return types.WideDatum(d)
		}
		return types.IntDatum(int64(d.Lo))
	case types.Date:
		return types.IntDatum(n % 40000)
	case types.Time:
		return types.IntDatum(floorMod(n, 86400) * 1000)
	case types.Timestamp, types.TimestampLTZ:
		us := n % 4_000_000_000_000_000
		if t.Phys() == types.PhysWide {
			return types.WideDatum(types.Int128{Hi: us, Lo: uint64(floorMod(n, 1000))})
		}
		unit := pow10(6 - t.Precision)
		return types.IntDatum(floorDiv(us, unit) * unit)
	case types.IntervalMonths:
		return types.IntDatum(n % 1000)
	case types.IntervalMillis:
		return types.IntDatum(n % 1_000_000_000)
	}
	words := []string{"", "a", "b", "ab", "abc", "Hello, World", "é😀", " pad ", "1", "-12.5", "a%b_c", "日本語", "x\ny"}
	return types.StrDatum(words[r.IntN(len(words))])
}

func TestWordCode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, ty := range []types.Type{types.Of(types.BigInt), types.Of(types.Double), types.DecimalOf(38, 3), types.String(), types.TimestampOf(9)} {
		for _, nulls := range []bool{false, true} {
			code := newWordCode(ty)
			code.nulls = nulls
			c := randomColumn(r, ty, 200, nulls, 40)
			if ty.Kind == types.Varchar {
				for i := range 20 {
					c.AppendStr(strings.Repeat("abcdefg\x00", i)[:i*7])
				}
			}
			for i := range int32(c.Len()) {
				a := slices.Clone(code.encode(c, i))
				out := types.NewColumn(ty, 1)
				if err := code.decode(a, out); err != nil {
					t.Fatal(err)
				}
				if types.CompareCells(out, 0, c, i) != 0 {
					t.Fatalf("%s: %v came back as %v", ty, c.At(i), out.At(0))
				}
				for j := range int32(c.Len()) {
					if got, want := slices.Compare(a, code.encode(c, j)), types.CompareCells(c, i, c, j); got != want {
						t.Fatalf("%s: words of %v and %v compare %d, want %d", ty, c.At(i), c.At(j), got, want)
					}
				}
			}
		}
	}
}

func TestAggregateTable(t *testing.T) {
	for _, a := range Aggregates() {
		if a.Doc == "" || a.Result == nil || a.bind == nil && !a.Window {
			t.Errorf("%s is not whole", a.Name)
		}
	}
	if _, err := Bind(AggCall{Func: LookupAggregate("ROW_NUMBER")}, nil, false, nil); err == nil {
		t.Error("a window function was bound")
	}
	for _, c := range []struct {
		name string
		args []types.Type
		want string
	}{
		{"SUM", []types.Type{types.String()}, "Cannot apply 'SUM' to arguments of type 'SUM(<VARCHAR(2147483647)>)'. Supported form(s): 'SUM(<NUMERIC>)'"},
		{"MAX", []types.Type{types.ArrayOf(types.Of(types.Int))}, "Max aggregate function does not support type: ''ARRAY''.\nPlease re-check the data type."},
		{"LISTAGG", []types.Type{types.Of(types.Int)}, "Cannot apply 'LISTAGG' to arguments of type 'LISTAGG(<INTEGER>)'. Supported form(s): 'LISTAGG(<CHARACTER>)'"},
	} {
		_, err := LookupAggregate(c.name).Result(c.args)
		if fmt.Sprint(err) != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}
