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
