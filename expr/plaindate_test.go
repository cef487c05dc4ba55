package expr

import (
	"math/rand/v2"
	"testing"

	"runnel/types"
)

// TestPlainPattern compares the direct way with the general one, on texts that fit and texts that almost do.
func TestPlainPattern(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var arena types.Arena
	for _, pattern := range []string{"yyyy-MM-dd HH:mm:ss.SSS", "yyyyMMdd", "dd/MM/yyyy", "HH:mm", "yyyy-MM-dd HH:mm:ss.SSSSSS", "MM-dd", "yyyy", "ss.S"} {
		p, err := parseFormat(pattern)
		if err != nil || p.plain == nil {
			t.Fatalf("%s is not plain (%v)", pattern, err)
		}
		for range 500 {
			us := r.Int64N(500_000_000_000_000_000) - 62_000_000_000_000_000
			got, ok := p.plain.append(nil, us)
			want, err := p.Append(nil, us, 0)
			if err != nil || ok && string(got) != string(want) {
				t.Fatalf("%s of %d: %s, want %s (%v)", pattern, us, got, want, err)
			}
			for _, us := range []int64{us, us + r.Int64N(40), us + r.Int64N(2_000_000), us + r.Int64N(200_000_000_000), us - 1, us} {
				text, ok := p.plain.format(&arena, us) // beside a text that was kept
				if want, err := p.Append(nil, us, 0); err != nil || ok && text != string(want) {
					t.Fatalf("%s of %d: %s, want %s (%v)", pattern, us, text, want, err)
				}
			}
			if r.IntN(3) == 0 && len(want) > 0 {
				want[r.IntN(len(want))] = byte('0' + r.IntN(12))
			}
			s := string(want)
			if v, ok := p.plain.parse(s); ok {
				w, _, ok := p.Parse(s)
				if !ok || v != w {
					t.Fatalf("%s reads %s as %d, want %d (%t)", pattern, s, v, w, ok)
				}
			}
		}
	}
	for _, pattern := range []string{"yy", "yyy", "M", "EEE", "yyyy'T'HH", "[yyyy]", "hh", "yyyy yyyy", "SSSSSSSSS", "uuuu"} {
		if plainPatternOf(pattern) != nil {
			t.Errorf("%s is plain", pattern)
		}
	}
	if p := plainPatternOf("é"); p != nil {
		t.Errorf("é is plain")
	}
}

// TestPlainLegacyPattern compares the direct way with the general one, in zones with changes of their clocks.
func TestPlainLegacyPattern(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	direct := 0
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Africa/Monrovia"} {
		loc, err := types.ParseZone(zone)
		if err != nil {
			t.Fatal(err)
		}
		for _, pattern := range []string{"yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd HH:mm:ss.SSS", "yyyyMMdd", "HH:mm", "MM-dd", "ss.S", "-", "yyyy"} {
			p, err := newCompiler(nil, nil).parseLegacyFormat(pattern)
			if err != nil {
				t.Fatal(err)
			}
			if p.plain != nil {
				direct++
			}
			for range 2000 {
				ms := r.Int64N(400*366*types.MillisPerDay) - 120*366*types.MillisPerDay
				if r.IntN(2) == 0 {
					ms = 1_711_846_800_000 + r.Int64N(8*3_600_000) - 4*3_600_000 // a change of Berlin's clocks
				}
				got, want := p.Append(nil, ms, loc), p.LegacyPattern.Append(nil, ms, loc)
				if string(got) != string(want) {
					t.Fatalf("%s of %d in %s: %s, want %s", pattern, ms, zone, got, want)
				}
				if r.IntN(2) == 0 {
					want[r.IntN(len(want))] = byte(" 0123456789-:/x"[r.IntN(15)])
				}
				s := string(want) + []string{"", "5", " ", ".1", "\u0664", "x"}[r.IntN(6)]
				v, ok := p.Parse(s, loc)
				if w, is := p.LegacyPattern.Parse(s, loc); v != w || ok != is {
					t.Fatalf("%s reads %s in %s as %d (%t), want %d (%t)", pattern, s, zone, v, ok, w, is)
				}
			}
		}
	}
	if direct == 0 {
		t.Error("no pattern is plain")
	}
}
