package types

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"runnel/internal/cputime"
)

// TestJavaDouble has values that a real JVM 17 printed.
func TestJavaDouble(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want string
	}{
		{1, "1.0"}, {100, "100.0"}, {1e7, "1.0E7"}, {9999999, "9999999.0"}, {12345678.9, "1.23456789E7"}, {0.001, "0.001"},
		{1e-4, "1.0E-4"}, {1.0 / 3, "0.3333333333333333"}, {math.MaxFloat64, "1.7976931348623157E308"},
		{math.SmallestNonzeroFloat64, "4.9E-324"}, {math.Copysign(0, -1), "-0.0"}, {math.NaN(), "NaN"}, {math.Inf(1), "Infinity"},
		{math.Inf(-1), "-Infinity"}, {2e23, "1.9999999999999998E23"}, {8.41e21, "8.409999999999999E21"}, {1e23, "9.999999999999999E22"},
		{1e21, "1.0E21"}, {1e22, "1.0E22"}, {123456789012345680, "1.2345678901234568E17"}, {16777216, "1.6777216E7"},
		{2.2250738585072014e-308, "2.2250738585072014E-308"}, {9007199254740993, "9.007199254740992E15"}, {-1e-3, "-0.001"},
		{1e100, "1.0E100"}, {3.4e38, "3.4E38"}, {0.1, "0.1"}, {1.1, "1.1"}, {2e-3, "0.002"}, {0.0009999, "9.999E-4"}, {1e6, "1000000.0"},
		{1.17549435e-38, "1.17549435E-38"}, {5e-5, "5.0E-5"}, {100e0 / 3, "33.333333333333336"}, {1e10, "1.0E10"}, {-123.456, "-123.456"},
	} {
		if got := string(AppendDouble(nil, c.f)); got != c.want {
			t.Errorf("%v: %s, want %s", c.f, got, c.want)
		}
	}
	for _, c := range []struct {
		f    float32
		want string
	}{
		{1e10, "1.0E10"}, {16777216, "1.6777216E7"}, {123456789012345680, "1.23456791E17"}, {1.17549435e-38, "1.17549435E-38"},
		{2e-44, "2.0E-44"}, {9007199254740993, "9.0071993E15"}, {0.1, "0.1"}, {1e23, "1.0E23"}, {12345678.9, "1.2345679E7"}, {33554432, "3.3554432E7"},
		{float32(math.Inf(1)), "Infinity"}, {1.1, "1.1"}, {0, "0.0"}, {math.MaxFloat32, "3.4028235E38"}, {math.SmallestNonzeroFloat32, "1.4E-45"},
		{27272.727, "27272.727"}, {8.41e21, "8.41E21"},
	} {
		if got := string(AppendFloat(nil, float64(c.f))); got != c.want {
			t.Errorf("FLOAT %v: %s, want %s", c.f, got, c.want)
		}
	}
}

// TestJavaDoubleReadsBack: whatever the digits, they stand for the same number, with at most two more digits than needed.
func TestJavaDoubleReadsBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	longer := 0
	for i := range 200000 {
		f := math.Float64frombits(r.Uint64())
		switch i % 4 {
		case 1:
			f = float64(r.IntN(1_000_000_000)) / float64(pow10[r.IntN(12)])
		case 2:
			f = float64(r.Int64() >> r.IntN(63))
		case 3:
			f = math.Ldexp(1, r.IntN(2098)-1074)
		}
		if f != f || math.IsInf(f, 0) {
			continue
		}
		text := AppendDouble(nil, f)
		back, err := strconv.ParseFloat(string(text), 64)
		if err != nil || back != f {
			t.Fatalf("%v: %s", f, text)
		}
		if i%4 != 3 && len(text) > len(strconv.FormatFloat(f, 'E', -1, 64))+3 { // powers of two get long texts now and then
			longer++
		}
		g := math.Float32frombits(r.Uint32())
		text = AppendFloat(nil, float64(g))
		if back, err := strconv.ParseFloat(string(text), 32); g == g && !math.IsInf(float64(g), 0) && (err != nil || float32(back) != g) {
			t.Fatalf("FLOAT %v: %s", g, text)
		}
	}
	if longer > 100 {
		t.Errorf("%d texts are much longer than the shortest", longer)
	}
}

func BenchmarkAppendDouble(b *testing.B) {
	for name, f := range map[string]float64{"price": 1234.56, "third": 1.0 / 3, "small": 1.23e-20, "huge": 1.7e300} {
		b.Run(name, func(b *testing.B) {
			buf := make([]byte, 0, 32)
			b.ReportAllocs()
			cputime.PerOp(b, func() {
				for b.Loop() {
					buf = AppendDouble(buf[:0], f)
				}
			})
		})
	}
}
