package expr

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"runnel/internal/cputime"
	"runnel/types"
)

// benchRows runs f over full batches and reports nanoseconds of processor time per row.
func benchRows(b *testing.B, f func()) {
	b.ReportAllocs()
	f()
	b.ResetTimer()
	start := cputime.Process()
	for range b.N {
		f()
	}
	b.ReportMetric(float64(cputime.Process()-start)/float64(b.N)/types.BatchRows, "cpu-ns/row")
	b.ReportMetric(0, "ns/op")
}

// benchFields are what generated rows have.
func benchFields() []types.Field {
	f := func(n string, t types.Type) types.Field { return types.Field{Name: n, Type: t} }
	num, text := types.Of(types.Int), types.String()
	return []types.Field{
		f("i", num), f("j", num), f("l", types.Of(types.BigInt)), f("n", num), f("p", types.Of(types.Boolean)), f("q", types.Of(types.Boolean)),
		f("d", types.Of(types.Double)), f("unit", types.Of(types.Double)), f("f", types.Of(types.Float)),
		f("dec", types.DecimalOf(10, 2)), f("wide", types.DecimalOf(30, 4)), f("s", text), f("t", text), f("num", text), f("frac", text),
		f("dt", types.Of(types.Date)), f("tm", types.Type{Kind: types.Time}), f("ts", types.TimestampOf(3)), f("ltz", types.TimestampLTZOf(3)),
		f("tx", text), f("day", text), f("js", text), f("deep", text), f("bin", types.Bytes()), f("hex", text), f("b64", text), f("ip", text), f("url", text),
		f("quoted", text), f("pairs", text), f("arr", types.Type{Kind: types.Array, Elem: &num}), f("list", types.Type{Kind: types.Array, Elem: &text}),
		f("kv", types.Type{Kind: types.Map, Key: &text, Elem: &num}),
	}
}

func benchBatch(nulls bool) *types.Batch {
	r := rand.New(rand.NewPCG(1, 2))
	b := &types.Batch{Len: types.BatchRows}
	for _, f := range benchFields() {
		c := types.NewColumn(f.Type, types.BatchRows)
		for range types.BatchRows {
			if nulls && r.IntN(20) == 0 {
				c.AppendNull()
				continue
			}
			c.Append(benchDatum(r, f.Name))
		}
		b.Cols = append(b.Cols, c)
	}
	return b
}

// benchDatum is a value of the column of that name.
func benchDatum(r *rand.Rand, column string) types.Datum {
	words := []string{"apple", "Banana split", "cherry pie", "straw-berry", "1234 main street", "order-00042"}
	number, word := r.IntN(1_000_000), words[r.IntN(len(words))]
	text := types.StrDatum
	switch column {
	case "n":
		return types.IntDatum(int64(1 + number%4))
	case "p", "q":
		return types.BoolDatum(number%2 == 0)
	case "d", "unit":
		return types.FloatDatum(r.Float64() * map[string]float64{"d": 1000, "unit": 1}[column])
	case "f":
		return types.FloatDatum(float64(float32(r.Float64() * 1000)))
	case "dec":
		return types.IntDatum(int64(r.IntN(10_000_000)))
	case "wide":
		return types.WideDatum(types.Int128{Hi: int64(r.IntN(1000)), Lo: r.Uint64()})
	case "s", "t", "bin":
		return text(word)
	case "num":
		return text(strconv.Itoa(number))
	case "frac":
		return text(strconv.FormatFloat(r.Float64()*1000, 'g', -1, 64))
	case "dt":
		return types.IntDatum(int64(19000 + number%1000))
	case "tm":
		return types.IntDatum(int64(number % 86400 * 1000))
	case "ts", "ltz":
		return types.IntDatum(1718000000000000 + int64(number)*1000)
	case "tx":
		return text("2024-06-0" + strconv.Itoa(1+number%9) + " 12:34:56.789")
	case "day":
		return text("2024-06-0" + strconv.Itoa(1+number%9))
	case "js":
		return text(`{"id": ` + strconv.Itoa(number%1000) + `, "name": "widget", "tags": ["a", "b"], "price": 12.5}`)
	case "deep":
		return text(`{"id": ` + strconv.Itoa(number%1000) + `, "at": {"city": "Bonn", "zip": null}}`)
	case "hex":
		return text(hex.EncodeToString([]byte(word)))
	case "b64":
		return text(base64.StdEncoding.EncodeToString([]byte(word)))
	case "ip":
		return text("10.0.0." + strconv.Itoa(number%256))
	case "url":
		return text("http://example.org/path?k=" + strconv.Itoa(number) + "&m=a+b")
	case "quoted":
		return text(strconv.Quote(word))
	case "pairs":
		return text("a=1,b=" + word)
	case "arr":
		return types.AnyDatum(&types.List{Elems: []types.Datum{types.IntDatum(int64(number % 10)), types.IntDatum(3), types.IntDatum(int64(number))}})
	case "list":
		return types.AnyDatum(&types.List{Elems: []types.Datum{text(word), text(strconv.Itoa(number))}})
	case "kv":
		return types.AnyDatum(&types.MapValue{Keys: []types.Datum{text("a"), text("b")}, Vals: []types.Datum{types.IntDatum(1), types.IntDatum(int64(number))}})
	}
	return types.IntDatum(int64(number + 1))
}

// benchLine is a line of the benchmark: an expression and the functions whose cost it shows.
type benchLine struct {
	name  string
	e     Expr
	shows []string
}

// benchMaker writes the lines of the benchmark shortly.
type benchMaker struct {
	fields []types.Field
	lines  []benchLine
}

// col is a column of the generated rows.
func (m *benchMaker) col(name string) Expr {
	for i, f := range m.fields {
		if f.Name == name {
			return NewCol(m.fields, i)
		}
	}
	panic(name)
}

// call calls a function; numbers and texts among its arguments are constants.
func (m *benchMaker) call(name string, args ...any) Expr {
	es := make([]Expr, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case int:
			es[i] = NewInt(int64(a))
		case string:
			es[i] = NewString(a)
		case Expr:
			es[i] = a
		}
	}
	return must(NewCall(name, es, Pos{}))
}

func (m *benchMaker) add(name string, e Expr, shows ...string) {
	m.lines = append(m.lines, benchLine{name, e, shows})
}

// fn is a line of a function that is called by its own name, detail tells it from other lines of the function.
func (m *benchMaker) fn(name, detail string, args ...any) {
	m.add(strings.TrimSpace(name+" "+detail), m.call(name, args...), name)
}

// each is a line each for functions of the same arguments.
func (m *benchMaker) each(names string, args ...any) {
	for _, name := range strings.Split(names, ", ") {
		m.fn(name, "", args...)
	}
}

func (m *benchMaker) cast(name string, e Expr, t types.Type) {
	m.add("CAST "+name, must(NewCast(e, t, false, Pos{})))
}

func (m *benchMaker) json(name, detail string, args ...any) {
	es := make([]Expr, len(args))
	for i, a := range args {
		if s, ok := a.(string); ok {
			a = NewString(s)
		}
		es[i] = a.(Expr)
	}
	m.add(strings.TrimSpace(name+" "+detail), must(NewJSONCall(name, es, JSONClauses{}, Pos{})), name)
}

// benchLines are lines for every function of the table.
func benchLines() []benchLine {
	m := &benchMaker{fields: benchFields()}
	m.operators()
	m.texts()
	m.regexes()
	m.numbers()
	m.times()
	m.casts()
	m.nested()
	return m.lines
}

func (m *benchMaker) operators() {
	i, j, s, t, p, q := m.col("i"), m.col("j"), m.col("s"), m.col("t"), m.col("p"), m.col("q")
	dec, wide, d := m.col("dec"), m.col("wide"), m.col("d")
	m.each("+, -, *, /, %, MOD, =, <>, <, <=, >, >=, IS DISTINCT FROM, IS NOT DISTINCT FROM, COALESCE, IFNULL, NULLIF, GREATEST, LEAST", i, j)
	m.fn("*", "constant", i, 2)
	m.fn("MOD", "constant", i, 97)
	m.fn("*", "DOUBLE", d, d)
	m.fn("+", "DECIMAL", dec, dec)
	m.fn("*", "DECIMAL", dec, dec)
	m.fn("/", "DECIMAL", dec, m.call("+", dec, 1))
	m.fn("*", "wide DECIMAL", wide, dec)
	m.fn("=", "constant", i, 5)
	m.fn("=", "text", s, t)
	m.fn("=", "text, constant", s, "apple")
	m.fn("<", "text", s, t)
	m.fn("IN", "", i, 1, 2, 3)
	m.fn("IN", "text", s, "apple", "pear", "plum")
	m.fn("NOT IN", "", i, 1, 2, 3)
	m.each("AND, OR", p, q)
	m.fn("AND", "of comparisons", m.call(">", i, 5), m.call("<", j, 900000))
	m.each("NOT, IS TRUE, IS FALSE, IS UNKNOWN, IS NOT TRUE, IS NOT FALSE, IS NOT UNKNOWN", p)
	m.each("IS NULL, IS NOT NULL", i)
	m.each("BETWEEN, NOT BETWEEN, BETWEEN SYMMETRIC, NOT BETWEEN SYMMETRIC", i, 10, 500000)
	m.fn("IF", "", p, i, j)
	m.add("CASE", must(NewCase([]When{{m.call(">", i, 500000), i}}, j, Pos{})))
	m.add("CASE text", must(NewCase([]When{{m.call("=", s, "apple"), t}, {m.call("<", i, 5), s}}, NewString("no"), Pos{})))
	m.fn("TYPEOF", "", i)
	m.fn("HASH_CODE", "", s)
	m.each("UUID, CURRENT_DATABASE")
}

func (m *benchMaker) texts() {
	i, n, s, t, num := m.col("i"), m.col("n"), m.col("s"), m.col("t"), m.col("num")
	bin, hex, ip, url, quoted := m.col("bin"), m.col("hex"), m.col("ip"), m.col("url"), m.col("quoted")
	m.fn("LIKE", "'a%'", s, "a%")
	m.fn("LIKE", "'%an%'", s, "%an%")
	m.fn("LIKE", "'%a_e%'", s, "%a_e%")
	m.fn("NOT LIKE", "", s, "a%")
	m.each("CONCAT, ||", s, t)
	m.fn("CONCAT", "three", s, "-", t)
	m.fn("CONCAT_WS", "", "-", s, t)
	m.each("UPPER, LOWER, INITCAP, REVERSE, CHAR_LENGTH, ASCII, BTRIM, LTRIM, RTRIM, MD5, SHA1, SHA224, SHA256, SHA384, SHA512, "+
		"TO_BASE64, HEX, JSON_QUOTE, URL_ENCODE, IS_ALPHA", s)
	m.fn("SHA2", "", s, 256)
	m.fn("TRIM", "", s)
	m.fn("SUBSTRING", "", s, 2, 3)
	m.each("LEFT, RIGHT", s, 3)
	m.fn("REPEAT", "", s, n)
	m.each("LPAD, RPAD", num, 10, "0")
	m.fn("REPLACE", "", s, "e", "EE")
	m.fn("TRANSLATE", "", s, "aei", "AEI")
	m.fn("OVERLAY", "", s, "xx", 2, 3)
	m.each("POSITION, LOCATE", "an", s)
	m.each("INSTR, STARTSWITH, ENDSWITH, SPLIT", s, "an")
	m.fn("SPLIT_INDEX", "", s, "-", 0)
	m.fn("ELT", "", n, s, t, "x", "y")
	m.each("IS_DIGIT, IS_DECIMAL", num)
	m.fn("CHR", "", n)
	m.fn("BIN", "", i)
	m.fn("HEX", "INT", i)
	m.each("UNHEX", hex)
	m.fn("FROM_BASE64", "", m.col("b64"))
	m.each("DECODE", bin, "UTF-8")
	m.each("ENCODE", s, "UTF-8")
	m.each("IS_VALID_UTF8, MAKE_VALID_UTF8", bin)
	m.each("INET_ATON", ip)
	m.each("INET_NTOA", m.col("l"))
	m.fn("URL_DECODE", "", url)
	m.fn("PARSE_URL", "", url, "HOST")
	m.fn("PARSE_URL", "key", url, "QUERY", "k")
	m.fn("STR_TO_MAP", "", m.col("pairs"))
	m.fn("JSON_UNQUOTE", "", quoted)
}

func (m *benchMaker) regexes() {
	s := m.col("s")
	m.fn("REGEXP", "", s, "an+a")
	m.fn("REGEXP_EXTRACT", "", s, "([a-z]+)-([a-z]+)", 2)
	m.fn("REGEXP_EXTRACT_ALL", "", s, "([a-z]+)")
	m.fn("REGEXP_REPLACE", "", s, "[0-9]+", "#")
	m.each("REGEXP_COUNT, REGEXP_INSTR, REGEXP_SUBSTR", s, "[0-9]+")
	m.each("SIMILAR TO, NOT SIMILAR TO", s, "(a|b)%")
}

func (m *benchMaker) numbers() {
	i, l, d, unit, dec := m.col("i"), m.col("l"), m.col("d"), m.col("unit"), m.col("dec")
	m.each("ABS, SIGN", i)
	m.each("SIN, COS, TAN, COT, SQRT, LN, LOG, LOG2, LOG10, ATAN, DEGREES, RADIANS, CEIL, FLOOR", d)
	m.each("ASIN, ACOS, EXP, SINH, COSH, TANH", unit)
	m.fn("POWER", "2", d, 2)
	m.each("POWER, ATAN2", d, unit)
	m.fn("LOG", "base", 3, d)
	m.each("ROUND, TRUNCATE", d, 2)
	m.fn("ROUND", "DECIMAL", dec, 1)
	m.fn("FLOOR", "DECIMAL", dec)
	m.each("PI, E, RAND")
	m.fn("RAND_INTEGER", "", 100)
	m.fn("-", "BIGINT", l)
}

func (m *benchMaker) times() {
	sym := func(s string) Expr { return NewSymbol(s) }
	ts, ltz, tx, dt, tm, l := m.col("ts"), m.col("ltz"), m.col("tx"), m.col("dt"), m.col("tm"), m.col("l")
	millis := func(n int64) Expr { return NewConst(types.IntDatum(n), types.Type{Kind: types.IntervalMillis}) }
	m.fn("DATE_FORMAT", "", ts, "yyyy-MM-dd HH:mm")
	m.fn("DATE_FORMAT", "LTZ", ltz, "yyyy-MM-dd HH:mm")
	m.fn("DATE_FORMAT", "text", tx, "yyyy-MM-dd")
	m.fn("TO_TIMESTAMP", "", tx)
	m.fn("TO_TIMESTAMP", "pattern", tx, "yyyy-MM-dd HH:mm:ss.SSS")
	m.fn("TO_DATE", "", m.col("day"))
	m.fn("TO_DATE", "pattern", m.col("day"), "yyyy-MM-dd")
	m.fn("TO_TIMESTAMP_LTZ", "", l, 3)
	m.fn("FROM_UNIXTIME", "", l)
	m.fn("UNIX_TIMESTAMP", "of text", m.call("CONCAT", m.col("day"), " 12:34:56"))
	m.fn("CONVERT_TZ", "", m.call("CONCAT", m.col("day"), " 12:34:56"), "UTC", "Europe/Berlin")
	m.fn("EXTRACT", "YEAR", sym("YEAR"), ts)
	m.fn("EXTRACT", "HOUR of LTZ", sym("HOUR"), ltz)
	m.each("YEAR, QUARTER, MONTH, WEEK, DAYOFYEAR, DAYOFMONTH, DAYOFWEEK", dt)
	m.each("HOUR, MINUTE, SECOND", ts)
	m.fn("FLOOR", "TO HOUR", ts, sym("HOUR"))
	m.fn("CEIL", "TO MONTH", dt, sym("MONTH"))
	m.fn("TIMESTAMPDIFF", "", sym("DAY"), ts, m.call("+", ts, millis(100_000_000)))
	m.fn("TIMESTAMPDIFF", "MONTH", sym("MONTH"), ts, m.call("+", ts, millis(100_000_000)))
	m.fn("TIMESTAMPADD", "MONTH", sym("MONTH"), 1, ts)
	m.fn("MINUS_DATE", "", ts, ts, sym("DAY"))
	m.fn("+", "interval", ts, millis(1000))
	m.fn("OVERLAPS", "", tm, tm, tm, tm)
	m.each("NOW, CURRENT_DATE, CURRENT_TIME, CURRENT_TIMESTAMP, CURRENT_ROW_TIMESTAMP, LOCALTIME, LOCALTIMESTAMP, PROCTIME, UNIX_TIMESTAMP")
	rowtime := ltz.Type()
	rowtime.Attr = types.Rowtime
	m.fn("CURRENT_WATERMARK", "", &Col{Index: ltz.(*Col).Index, Name: "ltz", T: rowtime})
	m.fn("PROCTIME_MATERIALIZE", "", m.call("PROCTIME"))
}

func (m *benchMaker) casts() {
	i, d, num, dec, ts, tx := m.col("i"), m.col("d"), m.col("num"), m.col("dec"), m.col("ts"), m.col("tx")
	m.cast("INT TO STRING", i, types.String())
	m.cast("STRING TO INT", num, types.Of(types.Int))
	m.cast("DOUBLE TO STRING", d, types.String())
	m.cast("FLOAT TO STRING", m.col("f"), types.String())
	m.cast("STRING TO DOUBLE", num, types.Of(types.Double))
	m.cast("STRING TO DOUBLE, digits", m.col("frac"), types.Of(types.Double))
	m.cast("STRING TO DECIMAL", num, types.DecimalOf(10, 2))
	m.cast("DECIMAL TO STRING", dec, types.String())
	m.cast("wide DECIMAL TO STRING", m.col("wide"), types.String())
	m.cast("TIMESTAMP TO STRING", ts, types.String())
	m.cast("STRING TO TIMESTAMP", tx, types.TimestampOf(3))
	m.cast("STRING TO DATE", m.col("day"), types.Of(types.Date))
	m.cast("DATE TO STRING", m.col("dt"), types.String())
	m.cast("BOOLEAN TO STRING", m.col("p"), types.String())
	m.cast("INT TO DOUBLE", i, types.Of(types.Double))
	m.cast("BIGINT TO INT", m.col("l"), types.Of(types.Int))
	m.cast("DOUBLE TO INT", d, types.Of(types.Int))
	m.cast("DOUBLE TO DECIMAL", d, types.DecimalOf(12, 2))
	m.cast("INT TO DECIMAL", i, types.DecimalOf(12, 2))
	m.cast("TIMESTAMP TO LTZ", ts, types.TimestampLTZOf(3))
	m.cast("STRING TO CHAR", m.col("s"), types.CharOf(10))
	m.cast("ARRAY TO STRING", m.col("arr"), types.String())
}

func (m *benchMaker) nested() {
	js, deep, i, s, arr, kv, list := m.col("js"), m.col("deep"), m.col("i"), m.col("s"), m.col("arr"), m.col("kv"), m.col("list")
	m.json("JSON_VALUE", "", js, "$.name")
	m.json("JSON_VALUE", "number", js, "$.price")
	m.json("JSON_VALUE", "deep", deep, "$.at.city")
	m.json("JSON_VALUE", "of nothing", js, "$.no")
	m.json("JSON_EXISTS", "", js, "$.id")
	m.json("JSON_QUERY", "", js, "$.tags")
	m.json("JSON_QUERY", "object", deep, "$.at")
	m.json("JSON_OBJECT", "", "id", i, "name", s)
	m.json("JSON_ARRAY", "", i, s)
	m.each("JSON_STRING, IS JSON SCALAR, IS NOT JSON SCALAR", s)
	m.each("IS JSON VALUE, IS JSON OBJECT, IS JSON ARRAY, IS NOT JSON VALUE, IS NOT JSON OBJECT, IS NOT JSON ARRAY", js)
	m.each("ROW", i, s)
	m.each("ARRAY", i, m.col("j"))
	m.each("MAP", "a", i, "b", i)
	m.each("CARDINALITY, ARRAY_DISTINCT, ARRAY_MAX, ARRAY_MIN, ARRAY_REVERSE, ARRAY_SORT", arr)
	m.each("ARRAY_APPEND, ARRAY_PREPEND, ARRAY_CONTAINS, ARRAY_POSITION, ARRAY_REMOVE", arr, 3)
	m.each("ARRAY_CONCAT, ARRAY_UNION, ARRAY_EXCEPT, ARRAY_INTERSECT", arr, arr)
	m.fn("ARRAY_SLICE", "", arr, 2, 3)
	m.fn("ARRAY_JOIN", "", list, "-")
	m.fn("ELEMENT", "", m.call("ARRAY", i))
	m.fn("ITEM", "", arr, 2)
	m.fn("ITEM", "of a map", kv, "b")
	m.each("MAP_KEYS, MAP_VALUES, MAP_ENTRIES", kv)
	m.fn("MAP_UNION", "", kv, kv)
	m.fn("MAP_FROM_ARRAYS", "", list, list)
}

// TestBenchmarkIsWhole holds the benchmark and the table of functions together.
func TestBenchmarkIsWhole(t *testing.T) {
	shown, names := map[*Function]bool{}, map[string]bool{}
	for _, l := range benchLines() {
		if names[l.name] {
			t.Errorf("two lines are called %s", l.name)
		}
		names[l.name] = true
		for _, name := range l.shows {
			shown[Lookup(name)] = true
		}
	}
	for name, f := range functionTable.index {
		if !shown[f] {
			t.Errorf("no line of the benchmark shows %s", name)
		}
	}
}

// BenchmarkFunctions lists what calls cost per row, over short strings and small numbers.
func BenchmarkFunctions(b *testing.B) {
	fields := benchFields()
	for _, l := range benchLines() {
		for _, nulls := range []bool{false, true} {
			name := l.name
			if nulls {
				name += "/nulls"
			}
			b.Run(name, func(b *testing.B) {
				batch, env := benchBatch(nulls), testEnv(b)
				eval, err := Compile(l.e, fields, env)
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

// BenchmarkFilterBetween is WHERE j BETWEEN i AND i + j, as a join asks it of pairs.
func BenchmarkFilterBetween(b *testing.B) {
	fields := benchFields()
	i, j := Expr(NewCol(fields, 0)), Expr(NewCol(fields, 1))
	sum := must(NewCall("+", []Expr{i, j}, Pos{}))
	filter, err := CompileFilter(must(NewCall("BETWEEN", []Expr{j, i, sum}, Pos{})), fields, nil)
	if err != nil {
		b.Fatal(err)
	}
	batch := benchBatch(false)
	var sel []int32
	benchRows(b, func() { sel, _ = filter(batch, types.All(batch.Len), sel[:0]) })
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
