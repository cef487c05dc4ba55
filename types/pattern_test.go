package types

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"runnel/internal/cputime"
	"runnel/internal/recorded"
)

// sqlArg is an argument of a recorded call.
type sqlArg struct {
	kind byte // 's' text, 'n' number, 't' TIMESTAMP, 'l' TIMESTAMP_LTZ, '0' NULL
	text string
	us   int64
	ns   int
}

var (
	argText = regexp.MustCompile(`^'((?:[^']|'')*)'$`)
	argTime = regexp.MustCompile(`^TIMESTAMP '([^']*)'$`)
	argLTZ  = regexp.MustCompile(`^CAST\(TIMESTAMP '([^']*)' AS TIMESTAMP_LTZ\(3\)\)$`)
	argUnix = regexp.MustCompile(`^TO_TIMESTAMP_LTZ\((-?\d+), 0\)$`)
	argCast = regexp.MustCompile(`^CAST\((.*) AS (?:STRING|BIGINT|TIMESTAMP\(\d\))\)$`)
	argNum  = regexp.MustCompile(`^-?\d+$`)
)

func readArg(s string, loc *time.Location) (sqlArg, bool) {
	if m := argText.FindStringSubmatch(s); m != nil {
		return sqlArg{kind: 's', text: strings.ReplaceAll(m[1], "''", "'")}, true
	}
	if m := argTime.FindStringSubmatch(s); m != nil {
		us, ns, ok := ParseTimestamp(m[1], 9)
		return sqlArg{kind: 't', us: us, ns: ns}, ok
	}
	if m := argLTZ.FindStringSubmatch(s); m != nil {
		us, _, ok := ParseTimestamp(m[1], 3)
		return sqlArg{kind: 'l', us: FromLocal(us, loc)}, ok
	}
	if m := argUnix.FindStringSubmatch(s); m != nil {
		n, _ := strconv.ParseInt(m[1], 10, 64)
		return sqlArg{kind: 'l', us: n * MicrosPerSecond}, true
	}
	if m := argCast.FindStringSubmatch(s); m != nil {
		if strings.HasPrefix(m[1], "NULL") {
			return sqlArg{kind: '0'}, true
		}
		return readArg(m[1], loc)
	}
	return sqlArg{kind: 'n', text: s}, argNum.MatchString(s)
}

// splitArgs cuts at the commas outside of quotes and parentheses.
func splitArgs(s string) []string {
	var parts []string
	depth, quoted, from := 0, false, 0
	for i := range len(s) {
		switch {
		case s[i] == '\'':
			quoted = !quoted
		case quoted:
		case s[i] == '(':
			depth++
		case s[i] == ')':
			depth--
		case s[i] == ',' && depth == 0:
			parts = append(parts, s[from:i])
			from = i + 1
		}
	}
	for i, p := range append(parts, s[from:]) {
		parts = append(parts[:i], strings.TrimSpace(p))
	}
	return parts
}

var recordedCall = regexp.MustCompile(`^([A-Z_]+)\((.*)\)$`)

// recordedArgs gives the function and its arguments, those of the table put in their places; false when the call is of a
// form that this test does not read.
func recordedArgs(r map[string]string, loc *time.Location) (string, []sqlArg, bool) {
	m := recordedCall.FindStringSubmatch(r["expression"])
	if m == nil || r["table"] != "" && !strings.HasPrefix(r["table"], "SELECT ") {
		return "", nil, false
	}
	columns := map[string]string{}
	for _, c := range splitArgs(strings.TrimPrefix(r["table"], "SELECT ")) {
		if i := strings.LastIndex(c, " AS a"); i >= 0 {
			columns[c[i+4:]] = c[:i]
		}
	}
	var args []sqlArg
	for _, a := range splitArgs(m[2]) {
		if c, ok := columns[a]; ok {
			a = c
		}
		arg, ok := readArg(a, loc)
		if !ok {
			return "", nil, false
		}
		args = append(args, arg)
	}
	return m[1], args, true
}

// callText evaluates a call as package expr does. "!" is an error.
func callText(fn string, args []sqlArg, loc *time.Location) string {
	for _, a := range args {
		if a.kind == '0' {
			return `\N`
		}
	}
	pattern := func(i int, missing string) (*LegacyPattern, error) {
		if i < len(args) {
			missing = args[i].text
		}
		return ParseLegacyPattern(missing, 2025)
	}
	const usual = "yyyy-MM-dd HH:mm:ss"
	switch fn {
	case "DATE_FORMAT":
		if args[0].kind != 's' {
			return dateFormat(args, loc)
		}
		p, err := pattern(1, "")
		in, _ := ParseLegacyPattern(usual, 2025)
		ms, ok := in.Parse(args[0].text, time.UTC)
		switch {
		case err != nil:
			return "!"
		case !ok:
			return `\N`
		}
		return string(p.Append(nil, ms, time.UTC))
	case "FROM_UNIXTIME":
		p, err := pattern(1, usual)
		if err != nil {
			return "!"
		}
		n, _ := strconv.ParseInt(args[0].text, 10, 64)
		return string(p.Append(nil, n*1000, loc))
	case "UNIX_TIMESTAMP":
		p, err := pattern(1, usual)
		if err != nil {
			return "!"
		}
		ms, ok := p.Parse(args[0].text, loc)
		if !ok {
			return "-9223372036854775808"
		}
		return strconv.FormatInt(ms/1000, 10)
	case "TO_TIMESTAMP":
		return toTimestamp(args)
	case "TO_DATE":
		return toDate(args)
	}
	from, to := LegacyZone(args[1].text), LegacyZone(args[2].text)
	p, _ := ParseLegacyPattern(usual, 2025)
	ms, ok := p.Parse(args[0].text, from)
	if !ok {
		return `\N`
	}
	return string(p.Append(nil, ms, to))
}

func dateFormat(args []sqlArg, loc *time.Location) string {
	p, err := ParseDatePattern(args[1].text)
	if err != nil {
		return "!"
	}
	us := args[0].us
	if args[0].kind == 'l' {
		us = ToLocal(us, loc)
	}
	out, err := p.Append(nil, us, args[0].ns)
	if err != nil {
		return "!"
	}
	return string(out)
}

func toTimestamp(args []sqlArg) string {
	us, ns, ok := int64(0), 0, false
	if len(args) == 1 {
		us, _, ok = ParseTimestamp(args[0].text, 3)
	} else if p, err := ParseDatePattern(args[1].text); err == nil {
		if us, _, ok = p.Parse(args[0].text); ok {
			us = floorDiv(us, 1000) * 1000
		} else {
			us, ns, ok = ParseLegacyTimestamp(args[0].text)
		}
	}
	if !ok {
		return `\N`
	}
	return string(AppendTimestamp(nil, us, ns, 3))
}

func toDate(args []sqlArg) string {
	if len(args) == 1 {
		day, ok := ParseDate(args[0].text)
		if !ok {
			return `\N`
		}
		return string(AppendDate(nil, day))
	}
	p, err := ParseLegacyPattern(args[1].text, 2025)
	if err != nil {
		return "!"
	}
	ms, ok := p.Parse(args[0].text, time.UTC)
	if !ok {
		return "5471-09-27" // what Flink makes of it
	}
	return string(AppendDate(nil, ms/MillisPerDay))
}

func TestRecordedPatterns(t *testing.T) {
	values, errors, other := 0, 0, 0
	for _, r := range recorded.Table(t, "testdata/patterns.tsv") {
		loc := time.UTC
		if zone, ok := strings.CutPrefix(r["setup"], "table.local-time-zone="); ok {
			var err error
			if loc, err = ParseZone(zone); err != nil {
				t.Fatal(err)
			}
		}
		fn, args, ok := recordedArgs(r, loc)
		planned := strings.HasPrefix(r["error"], "validate|") || strings.Contains(r["error"], "out of range: [")
		if !ok || planned {
			other++ // arguments of other kinds, refused calls, and results that Flink cannot fold
			continue
		}
		got, want := callText(fn, args, loc), r["value"]
		if r["error"] != "" {
			want = "!"
			errors++
		} else {
			values++
		}
		if got != want {
			t.Errorf("%s: %s %s (%s, %s): %q, want %q", r["id"], r["expression"], r["table"], r["setup"], r["error"], got, want)
		}
	}
	t.Logf("%d values, %d errors; %d lines are of other forms", values, errors, other)
	if values < 500 {
		t.Errorf("only %d values were compared", values)
	}
}

// TestPatternRoundTrip: a pattern with all fields reads what it writes.
func TestPatternRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, pattern := range []string{"yyyy-MM-dd HH:mm:ss.SSSSSSSSS", "uuuuMMddHHmmssSSSSSSSSS", "d MMMM yyyy h:mm:ss a '+'n", "yyyy-DDD kk:mm:ss.SSSSSSSSS",
		"YYYY-'W'ww-e N", "EEEE, MMM d, yyyy[ G] 'at' HH:mm:ss.SSSSSSSSS", "g N", "pppppy-ppM-ppd HH:mm:ss.SSSSSSSSS"} {
		p, err := ParseDatePattern(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for range 300 {
			us := r.Int64N(8000*366*MicrosPerDay) - 1900*365*MicrosPerDay
			ns := r.IntN(1000)
			text, err := p.Append(nil, us, ns)
			if err != nil {
				t.Fatal(err)
			}
			if gotUs, gotNs, ok := p.Parse(string(text)); !ok || gotUs != us || gotNs != ns {
				t.Fatalf("%s: %s read as %s %v", pattern, text, AppendTimestamp(nil, gotUs, gotNs, 9), ok)
			}
		}
	}
	berlin := LegacyZone("Europe/Berlin")
	for _, pattern := range []string{"yyyy-MM-dd HH:mm:ss.SSS Z", "EEE, d MMM yyyy hh:mm:ss.SSS a XXX G", "yyyyMMddHHmmssSSS'T'X", "YYYY/w/u k:m:s:S Z"} {
		p, err := ParseLegacyPattern(pattern, 2025)
		if err != nil {
			t.Fatal(err)
		}
		for range 300 {
			ms := r.Int64N(200*365*MillisPerDay) - 60*365*MillisPerDay
			text := string(p.Append(nil, ms, berlin))
			if got, ok := p.Parse(text, berlin); !ok || got != ms {
				t.Fatalf("%s: %d is %s, read as %d %v", pattern, ms, text, got, ok)
			}
		}
	}
}

func TestLegacyCalendar(t *testing.T) {
	for day := int64(-800000); day < 100000; day += 37 {
		y, m, d := legacyCivil(day)
		if got := legacyDay(y, m, d); got != day {
			t.Fatalf("%d is %d-%d-%d, which is %d", day, y, m, d, got)
		}
	}
	if y, m, d := legacyCivil(cutover - 1); y != 1582 || m != 10 || d != 4 {
		t.Errorf("the day before the cutover: %d-%d-%d", y, m, d)
	}
	if got := DayOf(1582, 10, 15); got != cutover {
		t.Errorf("the cutover is %d", got)
	}
}

func FuzzPatterns(f *testing.F) {
	for _, s := range []string{"yyyy-MM-dd", "[yyyy[-MM]]", "'x''y'", "ppH", "EEE MMM dd HH:mm:ss zzz yyyy", "uuuuMMddSSS", "YYYY-'W'ww-e"} {
		f.Add(s, "2024-02-29 12:34:56")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 60 {
			return
		}
		if p, err := ParseDatePattern(pattern); err == nil {
			p.Parse(text)
			if out, err := p.Append(nil, 1_700_000_000_123_456, 789); err == nil {
				p.Parse(string(out))
			}
		}
		if p, err := ParseLegacyPattern(pattern, 2025); err == nil {
			p.Parse(text, time.UTC)
			p.Parse(string(p.Append(nil, 1_700_000_000_123, nil)), nil)
		}
	})
}

func BenchmarkDatePatternAppend(b *testing.B) {
	p, _ := ParseDatePattern("yyyy-MM-dd HH:mm")
	buf := make([]byte, 0, 32)
	b.ReportAllocs()
	cputime.PerOp(b, func() {
		for b.Loop() {
			buf, _ = p.Append(buf[:0], 1_700_000_000_123_456, 0)
		}
	})
}
