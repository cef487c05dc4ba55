package expr

import (
	"errors"
	"math/rand/v2"

	"runnel/types"
)

// javaRandom is java.util.Random's generator: a 48-bit linear congruence.
type javaRandom struct{ seed uint64 }

func newJavaRandom(seed int64) *javaRandom {
	return &javaRandom{seed: (uint64(seed) ^ 0x5DEECE66D) & (1<<48 - 1)}
}

func (r *javaRandom) next(bits uint) int32 {
	r.seed = (r.seed*0x5DEECE66D + 0xB) & (1<<48 - 1)
	return int32(r.seed >> (48 - bits))
}

func (r *javaRandom) double() float64 {
	hi := int64(r.next(26)) << 27
	return float64(hi+int64(r.next(27))) / (1 << 53)
}

var errBound = errors.New("bound must be positive")

// below gives a number from 0 up to bound.
func (r *javaRandom) below(bound int32) (int32, error) {
	if bound <= 0 {
		return 0, errBound
	}
	if bound&-bound == bound {
		return int32(int64(bound) * int64(r.next(31)) >> 31), nil
	}
	for {
		bits := r.next(31)
		v := bits % bound
		if bits-v+(bound-1) >= 0 {
			return v, nil
		}
	}
}

// randKernel is RAND and RAND_INTEGER. A constant seed starts one generator for the operator; another one starts a new
// generator for each row.
func randKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	whole := call.Func.Name == "RAND_INTEGER"
	seeded := len(args) == 2 || len(args) == 1 && !whole
	gen := newJavaRandom(int64(rand.Uint64()))
	fixedSeed := !seeded
	if seeded {
		if k, ok := constOf(call.Args[0]); ok && !k.Null {
			gen, fixedSeed = newJavaRandom(k.I), true
		}
	}
	return datums(call.T, args, func(row []types.Datum) (types.Datum, error) {
		for _, d := range row {
			if d.Null {
				return d, nil
			}
		}
		g := gen
		if !fixedSeed {
			g = newJavaRandom(row[0].I)
		}
		if !whole {
			return types.FloatDatum(g.double()), nil
		}
		v, err := g.below(int32(row[len(row)-1].I))
		return types.IntDatum(int64(v)), err
	}), nil
}
