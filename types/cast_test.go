package types

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"runnel/internal/recorded"
)

var typeText = regexp.MustCompile(`^(\w+)(?:\((\d+)(?:, ?(\d+))?\))?$`)

// parseType reads the few forms that the recorded casts use.
func parseType(t *testing.T, s string) Type {
	t.Helper()
	m := typeText.FindStringSubmatch(s)
	if m == nil {
		t.Fatalf("type %q", s)
	}
	for k, name := range kindNames {
		if name != m[1] {
			continue
		}
		typ := Of(Kind(k))
		if m[2] != "" {
			typ.Precision, _ = strconv.Atoi(m[2])
			typ.Scale, _ = strconv.Atoi(m[3])
		}
		return typ
	}
	t.Fatalf("type %q", s)
	return Type{}
}

// castText is CAST of a text to typ by the parsers of this package.
func castText(typ Type, s string) (d Datum, ok bool) {
	switch typ.Kind {
	case Boolean:
		v, ok := ParseBoolean(s)
		return BoolDatum(v), ok
	case TinyInt, SmallInt, Int, BigInt:
		lo, hi := IntRange(typ.Kind)
		v, ok := ParseInt(s, lo, hi)
		return IntDatum(v), ok
	case Float:
		v, ok := ParseFloat(s)
		return FloatDatum(v), ok
	case Double:
		v, ok := ParseDouble(s)
		return FloatDatum(v), ok
	case Decimal:
		v, ok := CastDecimal(s, typ.Precision, typ.Scale)
		if typ.Phys() == PhysInt {
			return IntDatum(int64(v.Lo)), ok
		}
		return WideDatum(v), ok
	case Date:
		v, ok := ParseDate(s)
		return IntDatum(v), ok
	case Time:
		v, ok := ParseTime(s)
		return IntDatum(v), ok
	default:
		us, ns, ok := ParseTimestamp(s, typ.Precision)
		return Datum{I: us, Lo: uint64(ns)}, ok
	}
}

func TestRecordedCasts(t *testing.T) {
	call := regexp.MustCompile(`^(?:TRY_)?CAST\(a1 AS ([^)]+\)?)\)$`)
	values, errors := 0, 0
	for _, r := range recorded.Table(t, "testdata/casts.tsv") {
		in := strings.TrimSuffix(strings.TrimPrefix(r["table"], "SELECT "), " AS a1")
		in = strings.TrimSuffix(strings.TrimPrefix(in, "CAST("), " AS STRING)")
		m := call.FindStringSubmatch(r["expression"])
		if m == nil || len(in) < 2 || in[0] != '\'' || in[len(in)-1] != '\'' {
			t.Fatalf("%s: %s of %s is not understood", r["id"], r["expression"], r["table"])
		}
		in = strings.ReplaceAll(in[1:len(in)-1], "''", "'")
		typ := parseType(t, m[1])
		want := r["value"]
		if typ.Kind == Time {
			typ.Precision = 0 // SQL expressions know TIME(0) only
		}
		d, ok := castText(typ, in)
		got := `\N`
		if ok {
			got = string(AppendText(nil, &typ, d, time.UTC))
		}
		if r["error"] != "" || want == `\N` {
			errors++
			want = `\N`
		} else {
			values++
		}
		if got != want {
			t.Errorf("%s: %q as %v: %s, want %s (%s)", r["id"], in, typ, got, want, r["error"])
		}
	}
	t.Logf("%d values, %d errors", values, errors)
}

func TestRecordedFloors(t *testing.T) {
	call := regexp.MustCompile(`^(FLOOR|CEIL)\((?:CAST\()?(DATE|TIMESTAMP) '([^']+)'(?: AS TIMESTAMP_LTZ\(3\)\))? TO (\w+)\)$`)
	n := 0
	for _, r := range recorded.Table(t, "testdata/floors.tsv") {
		m := call.FindStringSubmatch(r["expression"])
		if m == nil {
			t.Fatalf("%s: %s is not understood", r["id"], r["expression"])
		}
		unit := ParseUnit(m[4])
		var got string
		if m[2] == "DATE" {
			day, _ := ParseDate(m[3])
			f := FloorDay
			if m[1] == "CEIL" {
				f = CeilDay
			}
			got = string(AppendDate(nil, f(unit, day)))
		} else {
			us, _, _ := ParseTimestamp(m[3], 9)
			f := FloorMicros
			if m[1] == "CEIL" {
				f = CeilMicros
			}
			p := 0
			if i := strings.IndexByte(r["value"], '.'); i >= 0 {
				p = len(r["value"]) - i - 1
			}
			got = string(AppendTimestamp(nil, f(unit, us), 0, p))
		}
		if got != r["value"] {
			t.Errorf("%s: %s: %s, want %s", r["id"], r["expression"], got, r["value"])
		}
		n++
	}
	t.Logf("%d values", n)
}
