package expr

import (
	"math/rand/v2"
	"strconv"
	"syscall"
	"testing"
	"time"

	"runnel/types"
)

// cpu is the processor time that the process has used: benchmarks here report it instead of the wall clock.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchRows runs f over full batches and reports nanoseconds of processor time per row.
func benchRows(b *testing.B, f func()) {
	b.ReportAllocs()
	f()
	b.ResetTimer()
	start := cpu()
	for range b.N {
		f()
	}
	b.ReportMetric(float64(cpu()-start)/float64(b.N)/types.BatchRows, "cpu-ns/row")
	b.ReportMetric(0, "ns/op")
}

// benchFields are what generated rows have.
func benchFields() []types.Field {
	f := func(n string, t types.Type) types.Field { return types.Field{Name: n, Type: t} }
	return []types.Field{
		f("i", types.Of(types.Int)), f("j", types.Of(types.Int)), f("l", types.Of(types.BigInt)), f("d", types.Of(types.Double)),
		f("dec", types.DecimalOf(10, 2)), f("wide", types.DecimalOf(30, 4)), f("s", types.String()), f("t", types.String()),
		f("num", types.String()), f("dt", types.Of(types.Date)), f("ts", types.TimestampOf(3)), f("ltz", types.TimestampLTZOf(3)),
		f("tx", types.String()), f("js", types.String()),
	}
}

func benchBatch(nulls bool) *types.Batch {
	r := rand.New(rand.NewPCG(1, 2))
	b := &types.Batch{Len: types.BatchRows}
	words := []string{"apple", "Banana split", "cherry pie", "straw-berry", "1234 main street", "order-00042"}
	for _, f := range benchFields() {
		c := types.NewColumn(f.Type, types.BatchRows)
		for range types.BatchRows {
			if nulls && r.IntN(20) == 0 {
				c.AppendNull()
				continue
			}
			switch f.Name {
			case "i", "j", "l":
				c.AppendInt(int64(r.IntN(1_000_000)) + 1)
			case "d":
				c.AppendFloat(r.Float64() * 1000)
			case "dec":
				c.AppendInt(int64(r.IntN(10_000_000)))
			case "wide":
				c.AppendWide(types.Int128{Hi: int64(r.IntN(1000)), Lo: r.Uint64()})
			case "s", "t":
				c.AppendStr(words[r.IntN(len(words))])
			case "num":
				c.AppendStr(strconv.Itoa(r.IntN(1_000_000)))
			case "dt":
				c.AppendInt(int64(19000 + r.IntN(1000)))
			case "ts", "ltz":
				c.AppendInt(1718000000000000 + int64(r.IntN(1_000_000))*1000)
			case "tx":
				c.AppendStr("2024-06-0" + strconv.Itoa(1+r.IntN(9)) + " 12:34:56.789")
			case "js":
				c.AppendStr(`{"id": ` + strconv.Itoa(r.IntN(1000)) + `, "name": "widget", "tags": ["a", "b"], "price": 12.5}`)
			}
		}
		b.Cols = append(b.Cols, c)
	}
	return b
}

// BenchmarkFunctions lists what calls cost per row, over short strings and small numbers.
func BenchmarkFunctions(b *testing.B) {
	fields := benchFields()
	col := func(name string) Expr {
		for i, f := range fields {
			if f.Name == name {
				return NewCol(fields, i)
			}
		}
		panic(name)
	}
	call := func(name string, args ...Expr) Expr { return must(NewCall(name, args, Pos{})) }
	str, num, sym := NewString, NewInt, NewSymbol
	cast := func(e Expr, t types.Type) Expr { return must(NewCast(e, t, false, Pos{})) }
	json := func(name, path string) Expr {
		return must(NewJSONCall(name, []Expr{col("js"), str(path)}, JSONClauses{}, Pos{}))
	}
	for _, c := range []struct {
		name string
		e    Expr
	}{
		{"i+j", call("+", col("i"), col("j"))}, {"i*2", call("*", col("i"), num(2))}, {"i/j", call("/", col("i"), col("j"))},
		{"MOD(i,97)", call("MOD", col("i"), num(97))}, {"d*d", call("*", col("d"), col("d"))},
		{"dec+dec", call("+", col("dec"), col("dec"))}, {"dec*dec", call("*", col("dec"), col("dec"))},
		{"dec/dec", call("/", col("dec"), call("+", col("dec"), num(1)))}, {"wide*dec", call("*", col("wide"), col("dec"))},
		{"i<j", call("<", col("i"), col("j"))}, {"i=5", call("=", col("i"), num(5))}, {"s=t", call("=", col("s"), col("t"))},
		{"s='x'", call("=", col("s"), str("apple"))}, {"i IN (..)", call("IN", col("i"), num(1), num(2), num(3))},
		{"CASE", must(NewCase([]When{{call(">", col("i"), num(500000)), col("i")}}, col("j"), Pos{}))},
		{"COALESCE", call("COALESCE", col("i"), col("j"))},
		{"AND", call("AND", call(">", col("i"), num(5)), call("<", col("j"), num(900000)))},
		{"LIKE 'a%'", call("LIKE", col("s"), str("a%"))}, {"LIKE '%an%'", call("LIKE", col("s"), str("%an%"))},
		{"LIKE '%a_e%'", call("LIKE", col("s"), str("%a_e%"))},
		{"SUBSTRING", call("SUBSTRING", col("s"), num(2), num(3))}, {"CONCAT", call("CONCAT", col("s"), str("-"), col("t"))},
		{"||", call("||", col("s"), col("t"))}, {"UPPER", call("UPPER", col("s"))}, {"LOWER", call("LOWER", col("s"))},
		{"TRIM", call("TRIM", col("s"))}, {"CHAR_LENGTH", call("CHAR_LENGTH", col("s"))}, {"REPLACE", call("REPLACE", col("s"), str("e"), str("EE"))},
		{"POSITION", call("POSITION", str("an"), col("s"))}, {"LPAD", call("LPAD", col("num"), num(10), str("0"))},
		{"SPLIT_INDEX", call("SPLIT_INDEX", col("s"), str("-"), num(0))}, {"INITCAP", call("INITCAP", col("s"))},
		{"REVERSE", call("REVERSE", col("s"))}, {"MD5", call("MD5", col("s"))}, {"HEX", call("HEX", col("i"))},
		{"REGEXP", call("REGEXP", col("s"), str("an+a"))}, {"REGEXP_EXTRACT", call("REGEXP_EXTRACT", col("s"), str("([a-z]+)-([a-z]+)"), num(2))},
		{"REGEXP_REPLACE", call("REGEXP_REPLACE", col("s"), str("[0-9]+"), str("#"))},
		{"DATE_FORMAT", call("DATE_FORMAT", col("ts"), str("yyyy-MM-dd HH:mm"))},
		{"DATE_FORMAT ltz", call("DATE_FORMAT", col("ltz"), str("yyyy-MM-dd HH:mm"))},
		{"TO_TIMESTAMP", call("TO_TIMESTAMP", col("tx"))}, {"TO_TIMESTAMP fmt", call("TO_TIMESTAMP", col("tx"), str("yyyy-MM-dd HH:mm:ss.SSS"))},
		{"EXTRACT YEAR", call("EXTRACT", sym("YEAR"), col("ts"))}, {"EXTRACT HOUR ltz", call("EXTRACT", sym("HOUR"), col("ltz"))},
		{"FLOOR TO HOUR", call("FLOOR", col("ts"), sym("HOUR"))}, {"TIMESTAMPDIFF", call("TIMESTAMPDIFF", sym("DAY"), col("ts"), col("ts"))},
		{"ts+1s", call("+", col("ts"), NewConst(types.IntDatum(1000), types.Type{Kind: types.IntervalMillis}))},
		{"CAST INT TO STRING", cast(col("i"), types.String())}, {"CAST STRING TO INT", cast(col("num"), types.Of(types.Int))},
		{"CAST DOUBLE TO STRING", cast(col("d"), types.String())}, {"CAST STRING TO DOUBLE", cast(col("num"), types.Of(types.Double))},
		{"CAST STRING TO DECIMAL", cast(col("num"), types.DecimalOf(10, 2))}, {"CAST DECIMAL TO STRING", cast(col("dec"), types.String())},
		{"CAST TS TO STRING", cast(col("ts"), types.String())}, {"CAST STRING TO TS", cast(col("tx"), types.TimestampOf(3))},
		{"CAST INT TO DOUBLE", cast(col("i"), types.Of(types.Double))}, {"CAST BIGINT TO INT", cast(col("l"), types.Of(types.Int))},
		{"CAST INT TO DECIMAL", cast(col("i"), types.DecimalOf(12, 2))}, {"CAST TS TO LTZ", cast(col("ts"), types.TimestampLTZOf(3))},
		{"JSON_VALUE", json("JSON_VALUE", "$.name")}, {"JSON_VALUE price", json("JSON_VALUE", "$.price")}, {"JSON_EXISTS", json("JSON_EXISTS", "$.id")},
		{"JSON_QUERY", json("JSON_QUERY", "$.tags")}, {"ROUND", call("ROUND", col("d"), num(2))}, {"ROUND dec", call("ROUND", col("dec"), num(1))},
		{"ABS", call("ABS", col("i"))}, {"POWER", call("POWER", col("d"), num(2))}, {"GREATEST", call("GREATEST", col("i"), col("j"))},
		{"ROW", call("ROW", col("i"), col("s"))}, {"ARRAY", call("ARRAY", col("i"), col("j"))},
	} {
		for _, nulls := range []bool{false, true} {
			name := c.name
			if nulls {
				name += "/nulls"
			}
			b.Run(name, func(b *testing.B) {
				batch, env := benchBatch(nulls), testEnv(b)
				eval, err := Compile(c.e, fields, env)
				if err != nil {
					b.Fatal(err)
				}
				sel := types.All(batch.Len)
				benchRows(b, func() {
					if _, err := eval(batch, sel); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	}
}

// BenchmarkFilterProject is SELECT i*2, j+i, CASE .. END FROM t WHERE MOD(i, 97) > 10 AND j < 900000.
func BenchmarkFilterProject(b *testing.B) {
	fields := benchFields()
	i, j := Expr(NewCol(fields, 0)), Expr(NewCol(fields, 1))
	call := func(name string, args ...Expr) Expr { return must(NewCall(name, args, Pos{})) }
	cond := NewAnd(call(">", call("MOD", i, NewInt(97)), NewInt(10)), call("<", j, NewInt(900000)))
	exprs := []Expr{call("*", i, NewInt(2)), call("+", j, i),
		must(NewCase([]When{{call(">", i, j), i}}, j, Pos{}))}
	for _, nulls := range []bool{false, true} {
		b.Run(map[bool]string{false: "dense", true: "nulls"}[nulls], func(b *testing.B) {
			batch := benchBatch(nulls)
			filter, err := CompileFilter(cond, fields, nil)
			if err != nil {
				b.Fatal(err)
			}
			var evals []Eval
			for _, e := range exprs {
				ev, err := Compile(e, fields, nil)
				if err != nil {
					b.Fatal(err)
				}
				evals = append(evals, ev)
			}
			var sel []int32
			benchRows(b, func() {
				sel, _ = filter(batch, types.All(batch.Len), sel[:0])
				for _, ev := range evals {
					if _, err := ev(batch, sel); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
