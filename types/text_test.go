package types

import (
	"math/rand/v2"
	"testing"
	"time"

	"runnel/internal/cputime"
)

func TestCivil(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		day := r.Int64N(8_000_000) - 4_000_000
		y, m, d := Civil(day)
		u := time.Unix(day*86400, 0).UTC()
		if int(y) != u.Year() || m != int(u.Month()) || d != u.Day() || DayOf(y, m, d) != day {
			t.Fatalf("day %d: %d-%d-%d, want %v", day, y, m, d, u)
		}
		if got := ExtractDay(DOY, day); got != int64(u.YearDay()) {
			t.Fatalf("day %d: day of year %d, want %d", day, got, u.YearDay())
		}
		wy, w := ISOWeek(day)
		if a, b := u.ISOWeek(); int(wy) != a || w != b {
			t.Fatalf("day %d: week %d/%d, want %d/%d", day, wy, w, a, b)
		}
		if got := ExtractDay(DOW, day); got != int64(u.Weekday())+1 {
			t.Fatalf("day %d: weekday %d", day, got)
		}
		n := r.Int64N(5000) - 2500
		want := time.Date(int(y), time.Month(m)+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
		ay, am, ad := Civil(AddMonths(day, n))
		if int(ay) != want.Year() || am != int(want.Month()) || ad != min(d, DaysIn(ay, am)) {
			t.Fatalf("%d-%d-%d and %d months: %d-%d-%d", y, m, d, n, ay, am, ad)
		}
	}
	for _, c := range []struct {
		a, b string
		want int64
	}{
		{"2024-02-29", "2024-03-31", 1}, {"2024-01-31", "2024-02-29", 1}, {"2024-02-29", "2024-01-30", -1},
		{"2019-09-01", "2016-08-01", -37}, {"2024-01-15", "2024-02-14", 0}, {"2024-02-14", "2024-01-15", 0},
	} {
		a, _ := ParseDate(c.a)
		b, _ := ParseDate(c.b)
		if got := MonthsBetween(a, b, 0); got != c.want {
			t.Errorf("months from %s to %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func day(s string) int64 {
	d, ok := ParseDate(s)
	if !ok {
		panic(s)
	}
	return d
}

func micros(s string) int64 {
	us, _, ok := ParseTimestamp(s, 6)
	if !ok {
		panic(s)
	}
	return us
}

// TestText has one value of every type in the three ways of writing.
func TestText(t *testing.T) {
	shanghai, err := ParseZone("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	row := RowOf(Field{Name: "a", Type: Of(Int)}, Field{Name: "b", Type: String()})
	for _, c := range []struct {
		t                    Type
		d                    Datum
		text, shown, printed string
	}{
		{Of(Boolean), BoolDatum(true), "TRUE", "TRUE", "true"},
		{Of(Int), NullDatum(), "NULL", "<NULL>", "null"},
		{Of(Double), FloatDatum(1e10), "1.0E10", "1.0E10", "1.0E10"},
		{DecimalOf(10, 5), IntDatum(100000), "1.00000", "1.00000", "1.00000"},
		{DecimalOf(38, 18), WideDatum(Int128Of(1)), "0.000000000000000001", "0.000000000000000001", "1E-18"},
		{DecimalOf(38, 18), WideDatum(Int128{}), "0.000000000000000000", "0.000000000000000000", "0E-18"},
		{DecimalOf(9, 8), IntDatum(-12), "-0.00000012", "-0.00000012", "-1.2E-7"},
		{Bytes(), StrDatum("hi\xff"), "hi\ufffd", "x'6869ff'", "[104, 105, -1]"},
		{Of(Date), IntDatum(day("2024-06-03")), "2024-06-03", "2024-06-03", "2024-06-03"},
		{Of(Time), IntDatum(25749000), "07:09:09", "07:09:09", "07:09:09"},
		{Of(Time), IntDatum(25320000), "07:02:00", "07:02:00", "07:02"},
		{Type{Kind: Time, Precision: 3}, IntDatum(45296789), "12:34:56.789", "12:34:56.789", "12:34:56.789"},
		{Type{Kind: Time, Precision: 3}, IntDatum(45296700), "12:34:56.7", "12:34:56.7", "12:34:56.700"},
		{Type{Kind: Time, Precision: 3}, IntDatum(45296000), "12:34:56.0", "12:34:56.0", "12:34:56"},
		{Type{Kind: Time, Precision: 2}, IntDatum(45296789), "12:34:56.78", "12:34:56.78", "12:34:56.789"},
		{TimestampOf(3), IntDatum(micros("2024-06-03 07:08:09.12")), "2024-06-03 07:08:09.120", "2024-06-03 07:08:09.120", "2024-06-03T07:08:09.120"},
		{TimestampOf(0), IntDatum(micros("2024-06-03 07:02:00")), "2024-06-03 07:02:00", "2024-06-03 07:02:00", "2024-06-03T07:02"},
		{TimestampOf(3), IntDatum(micros("2024-06-03 07:02:00.123456")), "2024-06-03 07:02:00.123456", "2024-06-03 07:02:00.123456", "2024-06-03T07:02:00.123456"},
		{TimestampOf(9), WideDatum(Int128{Hi: micros("1969-12-31 23:59:59"), Lo: 1}), "1969-12-31 23:59:59.000000001", "1969-12-31 23:59:59.000000001", "1969-12-31T23:59:59.000000001"},
		{TimestampLTZOf(3), IntDatum(4001000), "1970-01-01 08:00:04.001", "1970-01-01 08:00:04.001", "1970-01-01T00:00:04.001Z"},
		{TimestampLTZOf(0), IntDatum(0), "1970-01-01 08:00:00", "1970-01-01 08:00:00", "1970-01-01T00:00:00Z"},
		{Of(IntervalMonths), IntDatum(-123), "-10-03", "-10-03", "P-10Y-3M"},
		{Of(IntervalMonths), IntDatum(12334), "+1027-10", "+1027-10", "P1027Y10M"},
		{Of(IntervalMillis), IntDatum(123456789), "+1 10:17:36.789", "+1 10:17:36.789", "PT34H17M36.789S"},
		{Of(IntervalMillis), IntDatum(-1), "-0 00:00:00.001", "-0 00:00:00.001", "PT-0.001S"},
		{ArrayOf(Of(Int)), AnyDatum(&List{[]Datum{NullDatum(), IntDatum(456)}}), "[NULL, 456]", "[NULL, 456]", "[null, 456]"},
		{ArrayOf(Bytes()), AnyDatum(&List{[]Datum{StrDatum("\x01")}}), "[\x01]", "[x'01']", "[[1]]"},
		{MapOf(String(), Of(Int)), AnyDatum(&MapValue{[]Datum{StrDatum("k")}, []Datum{IntDatum(1)}}), "{k=1}", "{k=1}", "{k=1}"},
		{MultisetOf(String()), AnyDatum(&MapValue{[]Datum{StrDatum("x")}, []Datum{IntDatum(2)}}), "{x=2}", "{x=2}", "{x=2}"},
		{row, AnyDatum(&Tuple{[]Datum{NullDatum(), StrDatum("abc")}}), "(NULL, abc)", "(NULL, abc)", "+I[null, abc]"},
	} {
		col := NewColumn(c.t, 1)
		col.Append(c.d)
		text, shown, printed := string(AppendCell(nil, col, 0, shanghai)), string(AppendShown(nil, col, 0, shanghai)), string(AppendPrinted(nil, col, 0))
		if text != c.text || shown != c.shown || printed != c.printed {
			t.Errorf("%v: %q %q %q, want %q %q %q", c.t, text, shown, printed, c.text, c.shown, c.printed)
		}
	}
	b := NewBatch([]Field{{Name: "a", Type: Of(Int)}, {Name: "b", Type: String()}})
	b.Cols[0].AppendInt(1)
	b.Cols[1].AppendNull()
	b.Push(UpdateBefore)
	if got := string(AppendPrintedRow(nil, b, 0)); got != "-U[1, null]" {
		t.Errorf("printed row: %s", got)
	}
}

func TestAppendUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"ok": "ok", "\xff\xfe": "\ufffd\ufffd", "a\xe2\x82": "a\ufffd", "\xe2\x82z": "\ufffdz", "\xf0\x9f\x98\x80": "😀",
		"\xed\xa0\x80": "\ufffd\ufffd\ufffd", "\xc0\x80": "\ufffd\ufffd", "\ufffd": "\ufffd",
	} {
		if got := string(AppendUTF8(nil, in)); got != want {
			t.Errorf("%x: %x, want %x", in, got, want)
		}
	}
}

func TestZones(t *testing.T) {
	for _, id := range []string{"PST", "EST", "utc", "Z", "+08:00", "UTC+8", "Nowhere/City", "", "Local", "GMT+25", "GMT+8:0", "../etc/passwd", "posix/UTC"} {
		if loc, err := ParseZone(id); err == nil {
			t.Errorf("%q is taken as %v", id, loc)
		}
	}
	for id, want := range map[string]int{"UTC": 0, "GMT": 0, "GMT+05:30": 19800, "GMT-8": -28800, "Asia/Shanghai": 28800, "Asia/Kolkata": 19800, "GMT+00:00": 0} {
		loc, err := ParseZone(id)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		if _, off := time.Unix(1.7e9, 0).In(loc).Zone(); off != want {
			t.Errorf("%s: offset %d, want %d", id, off, want)
		}
	}
	if LegacyZone("PST").String() != "America/Los_Angeles" || LegacyZone("utc") != time.UTC || LegacyZone("GMT+8").String() != "GMT+08:00" {
		t.Error("legacy zones")
	}
	berlin := LegacyZone("Europe/Berlin")
	for _, c := range []struct{ local, early, late string }{
		{"2024-07-01 12:00:00", "2024-07-01 10:00:00", "2024-07-01 10:00:00"},
		{"2024-03-31 02:30:00", "2024-03-31 01:30:00", "2024-03-31 01:30:00"}, // skipped: 03:30 summer time
		{"2024-03-31 03:00:00", "2024-03-31 01:00:00", "2024-03-31 01:00:00"},
		{"2024-10-27 02:30:00", "2024-10-27 00:30:00", "2024-10-27 01:30:00"}, // twice
		{"2024-10-27 03:00:00", "2024-10-27 02:00:00", "2024-10-27 02:00:00"},
		{"2024-10-27 01:59:59", "2024-10-26 23:59:59", "2024-10-26 23:59:59"},
	} {
		if got := FromLocal(micros(c.local), berlin); got != micros(c.early) {
			t.Errorf("%s: %s, want %s", c.local, AppendTimestamp(nil, got, 0, 0), c.early)
		}
		if got := FromLocalLate(micros(c.local), berlin); got != micros(c.late) {
			t.Errorf("%s, late: %s, want %s", c.local, AppendTimestamp(nil, got, 0, 0), c.late)
		}
	}
	// A window of the repeated hour fires at its second end; one that ends within the gap, when the gap does.
	for local, want := range map[string]string{"2024-10-27 03:00:00": "2024-10-27 02:00:00", "2024-03-31 02:30:00": "2024-03-31 01:00:00", "2024-10-27 02:00:00": "2024-10-27 01:00:00"} {
		if got := TimerMillis(micros(local)/1000, berlin); got != micros(want)/1000 {
			t.Errorf("timer of %s: %s, want %s", local, AppendTimestamp(nil, got*1000, 0, 0), want)
		}
	}
	if LocalMillis(MaxWatermark, berlin) != MaxWatermark || EpochMillis(MaxWatermark, berlin) != MaxWatermark {
		t.Error("the last watermark has no wall clock")
	}
}

func TestWindowStart(t *testing.T) {
	for _, c := range [][4]int64{{0, 0, 10, 0}, {9, 0, 10, 0}, {-1, 0, 10, -10}, {12, 5, 10, 5}, {4, 5, 10, -5}, {4, -5, 10, -5}, {17, 13, 10, 13}} {
		if got := WindowStart(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%v: %d", c, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"2024-02-29 12:34:56.789", "1:2:3+01", "0x1p3", "-1.5e-3d", "NaN", "yes", "\t12\n", "2024-1-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, typ := range scalarTypes {
			switch typ.Kind {
			case Char, Varchar, Binary, Varbinary, Raw, IntervalMonths, IntervalMillis:
				continue
			}
			d, ok := castText(typ, s)
			if !ok {
				continue
			}
			text := string(AppendText(nil, &typ, d, nil))
			back, ok := castText(typ, text)
			if typ.Kind == Time || typ.Kind == Float || typ.Kind == Double { // out of a day; NaN
				continue
			}
			if !ok && text[0] != '-' || ok && back != d {
				t.Fatalf("%v: %q gave %s, which gives %+v instead of %+v", typ, s, text, back, d)
			}
		}
	})
}

func BenchmarkAppendTimestamp(b *testing.B) {
	us := micros("2024-06-03 07:08:09.123")
	buf := make([]byte, 0, 32)
	b.ReportAllocs()
	cputime.PerOp(b, func() {
		for b.Loop() {
			buf = AppendTimestamp(buf[:0], us, 0, 3)
		}
	})
}

func BenchmarkParseTimestamp(b *testing.B) {
	b.ReportAllocs()
	cputime.PerOp(b, func() {
		for b.Loop() {
			ParseTimestamp("2024-06-03 07:08:09.123", 3)
		}
	})
}

func BenchmarkToLocalBerlin(b *testing.B) {
	berlin := LegacyZone("Europe/Berlin")
	us := micros("2024-06-03 07:08:09.123")
	b.ReportAllocs()
	cputime.PerOp(b, func() {
		for b.Loop() {
			ToLocal(us, berlin)
		}
	})
}

func BenchmarkFromLocalBerlin(b *testing.B) {
	berlin := LegacyZone("Europe/Berlin")
	us := micros("2024-06-03 07:08:09.123")
	b.ReportAllocs()
	cputime.PerOp(b, func() {
		for b.Loop() {
			FromLocal(us, berlin)
		}
	})
}
