package types

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // zones must not depend on the machine
)

// ParseZone finds the zone of table.local-time-zone: a name of the time zone database, UTC, GMT+hh:mm, or "default" for the
// machine's zone. Letter case counts. Offsets without GMT and short ids such as PST or EST are refused, as Flink does.
func ParseZone(id string) (*time.Location, error) {
	if id == "default" {
		return time.Local, nil
	}
	if loc, ok := gmtZone(id); ok {
		return loc, nil
	}
	if loc := namedZone(id); loc != nil && !onlyShort(id) {
		return loc, nil
	}
	return nil, fmt.Errorf("Invalid time zone. The value should be a Time Zone Database (TZDB) ID such as 'America/Los_Angeles' " +
		"to include daylight saving time. Fixed offsets are supported using 'GMT-03:00' or 'GMT+03:00'. Or use 'UTC' without " +
		"time zone and daylight saving time.")
}

// LegacyZone finds a zone as java.util.TimeZone does, which CONVERT_TZ uses: short ids are known, and what is not known is
// GMT.
func LegacyZone(id string) *time.Location {
	if name, ok := shortZones[id]; ok {
		id = name
	}
	if loc, ok := gmtZone(id); ok {
		return loc
	}
	if loc := namedZone(id); loc != nil {
		return loc
	}
	return time.UTC
}

// namedZone gives nil for what is not in the database. The name's form is checked first: time.LoadLocation gives a meaning
// to "" and "Local" and reads files.
func namedZone(id string) *time.Location {
	if id == "" || id == "Local" || strings.HasPrefix(id, "posix") || strings.HasPrefix(id, "right") || len(id) > 64 {
		return nil
	}
	for i := range len(id) {
		c := id[i]
		if !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '/' || c == '_' || c == '-' || c == '+') {
			return nil
		}
	}
	loc, err := time.LoadLocation(id)
	if err != nil {
		return nil
	}
	return loc
}

// gmtZone reads GMT+h, GMT+hh, GMT+hhmm and GMT+hh:mm up to 18 hours.
func gmtZone(id string) (*time.Location, bool) {
	rest, ok := strings.CutPrefix(id, "GMT")
	if !ok || len(rest) < 2 || rest[0] != '+' && rest[0] != '-' {
		return nil, false
	}
	digits := strings.Replace(rest[1:], ":", "", 1)
	if colon := strings.IndexByte(rest, ':'); colon >= 0 && (colon != 3 || len(rest) != 6) {
		return nil, false
	}
	n := 0
	for i := range len(digits) {
		if digits[i]-'0' > 9 {
			return nil, false
		}
		n = n*10 + int(digits[i]-'0')
	}
	h, m := n, 0
	switch len(digits) {
	case 1, 2:
	case 4:
		h, m = n/100, n%100
	default:
		return nil, false
	}
	if h > 18 || m > 59 || h == 18 && m > 0 {
		return nil, false
	}
	if h == 0 && m == 0 {
		return time.UTC, true
	}
	seconds := (h*60 + m) * 60
	if rest[0] == '-' {
		seconds = -seconds
	}
	return time.FixedZone(fmt.Sprintf("GMT%c%02d:%02d", rest[0], h, m), seconds), true
}

// onlyShort reports whether the id is one that the database has but java.time knows as a short id only.
func onlyShort(id string) bool { return id == "EST" || id == "MST" || id == "HST" || id == "ROC" }

// shortZones are the short ids of java.util.TimeZone.
var shortZones = map[string]string{
	"ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires", "ART": "Africa/Cairo",
	"AST": "America/Anchorage", "BET": "America/Sao_Paulo", "BST": "Asia/Dhaka", "CAT": "Africa/Harare", "CNT": "America/St_Johns",
	"CST": "America/Chicago", "CTT": "Asia/Shanghai", "EAT": "Africa/Addis_Ababa", "ECT": "Europe/Paris",
	"IET": "America/Indiana/Indianapolis", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "MIT": "Pacific/Apia", "NET": "Asia/Yerevan",
	"NST": "Pacific/Auckland", "PLT": "Asia/Karachi", "PNT": "America/Phoenix", "PRT": "America/Puerto_Rico",
	"PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal", "VST": "Asia/Ho_Chi_Minh", "EST": "GMT-05:00", "MST": "GMT-07:00",
	"HST": "GMT-10:00",
}

// ZoneName gives a zone's id for messages and EXPLAIN.
func ZoneName(loc *time.Location) string {
	if loc == nil {
		return "UTC"
	}
	return loc.String()
}

// offsetAt is the zone's offset in seconds at an instant.
func offsetAt(sec int64, loc *time.Location) int64 {
	_, off := time.Unix(sec, 0).In(loc).Zone()
	return int64(off)
}

func isUTC(loc *time.Location) bool { return loc == nil || loc == time.UTC }

// ToLocal gives the wall clock (as if it were UTC) of an instant, both in microseconds.
func ToLocal(us int64, loc *time.Location) int64 {
	if isUTC(loc) {
		return us
	}
	return us + offsetAt(floorDiv(us, MicrosPerSecond), loc)*MicrosPerSecond
}

// FromLocal gives the instant of a wall clock reading, both in microseconds. A reading that a zone skips moves forward by
// the length of the gap; one that occurs twice is the earlier (java.time's rules).
func FromLocal(us int64, loc *time.Location) int64 {
	first, _ := instants(us, loc)
	return first
}

// FromLocalLate is FromLocal by java.util.Calendar's rule: a reading that occurs twice is the later.
func FromLocalLate(us int64, loc *time.Location) int64 {
	_, last := instants(us, loc)
	return last
}

// instants gives the first and the last instant at which the wall clock shows us; both are the shifted one in a gap.
func instants(us int64, loc *time.Location) (first, last int64) {
	if isUTC(loc) {
		return us, us
	}
	// No zone is more than a day from UTC, and no two changes are within a day of each other.
	sec := floorDiv(us, MicrosPerSecond)
	before, after := offsetAt(sec-86400, loc), offsetAt(sec+86400, loc)
	a := us - before*MicrosPerSecond
	if before == after {
		return a, a
	}
	b := us - after*MicrosPerSecond
	okA, okB := offsetAt(sec-before, loc) == before, offsetAt(sec-after, loc) == after
	switch {
	case okA && okB:
		return a, b
	case okB:
		return b, b
	default: // also the gap, where the offset before it counts
		return a, a
	}
}

// LocalMillis is ToLocal in milliseconds, as windows over TIMESTAMP_LTZ are computed; MaxWatermark stays.
func LocalMillis(ms int64, loc *time.Location) int64 {
	if isUTC(loc) || ms == MaxWatermark || ms == MinWatermark {
		return ms
	}
	return ms + offsetAt(floorDiv(ms, 1000), loc)*1000
}

// EpochMillis is FromLocal in milliseconds; MaxWatermark stays.
func EpochMillis(local int64, loc *time.Location) int64 {
	if isUTC(loc) || local == MaxWatermark || local == MinWatermark {
		return local
	}
	return FromLocal(local*1000, loc) / 1000
}

// TimerMillis gives the instant at which a window that ends at a wall clock reading fires: the later of two, so that both
// real hours of a repeated one fall into its window, and the end of a gap for a reading within it.
func TimerMillis(local int64, loc *time.Location) int64 {
	if isUTC(loc) || local == MaxWatermark || local == MinWatermark {
		return local
	}
	const hour = 3_600_000
	t1, t2 := EpochMillis(local, loc), EpochMillis(local+hour, loc)
	switch {
	case t2-t1 > hour:
		return t2 - hour
	case t1 == t2:
		return t1 - mod(t1, hour)
	default:
		return t1
	}
}
