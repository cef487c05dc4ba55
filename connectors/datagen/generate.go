package datagen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// generator makes the values of one column.
type generator struct {
	field    types.Field
	sequence bool
	first    int64
	nulls    float64
	make     func(*noise, *types.Column) // appends one random value
	src      *noise
}

// noise is what random values are made of.
type noise struct {
	*rand.Rand
	now func() time.Time
}

func (g *generator) start(r *rand.Rand, now func() time.Time) { g.src = &noise{r, now} }

// fill appends n values; row is the number of the first row in the source, step the distance to the next one.
func (g *generator) fill(c *types.Column, n int, row, step int64) {
	for i := range int64(n) {
		switch {
		case g.nulls > 0 && g.src.Float64() < g.nulls:
			c.AppendNull()
		case g.sequence:
			appendSequence(c, g.first+row+i*step)
		default:
			g.make(g.src, c)
		}
	}
}

func appendSequence(c *types.Column, v int64) {
	switch {
	case c.Type.Kind == types.Decimal:
		appendDecimal(c, float64(v))
	case c.Type.Kind == types.Float:
		c.AppendFloat(float64(float32(v)))
	case c.Phys() == types.PhysFloat:
		c.AppendFloat(float64(v))
	case c.Phys() == types.PhysStr:
		c.AppendStr(strconv.FormatInt(v, 10))
	default:
		c.AppendInt(v)
	}
}

func newGenerator(f types.Field, o connectors.Options) (generator, error) {
	g := generator{field: f}
	first, _, ok, err := sequence(f, o)
	if err != nil {
		return g, err
	}
	if ok {
		switch {
		case f.Type.IsInteger(), f.Type.IsNumeric(), f.Type.IsString():
		default:
			return g, fmt.Errorf("column '%s': a sequence of %s is not supported; use the random kind", f.Name, f.Type)
		}
	}
	g.sequence, g.first = ok, first
	if v := optionOf(o, nullRate, f.Name); v != "" {
		if g.nulls, err = strconv.ParseFloat(v, 64); err != nil || g.nulls < 0 || g.nulls > 1 {
			return g, fmt.Errorf("Could not parse value '%s' for key '%s'.: a share between 0 and 1 is expected", v, at(nullRate, f.Name).Key)
		}
	}
	if !ok {
		g.make, err = random(f.Name, f.Type, o)
	}
	return g, err
}

// random gives the generator of random values of a type; path is the column's name with those of nested fields.
func random(path string, t types.Type, o connectors.Options) (func(*noise, *types.Column), error) {
	switch t.Kind {
	case types.Boolean:
		return func(r *noise, c *types.Column) { c.AppendBool(r.Uint64()&1 == 0) }, nil
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt, types.IntervalMonths, types.IntervalMillis:
		return randomInt(path, t, o)
	case types.Float, types.Double, types.Decimal:
		return randomFloat(path, t, o)
	case types.Char, types.Varchar, types.Binary, types.Varbinary:
		return randomBytes(path, t, o)
	case types.Date:
		return func(r *noise, c *types.Column) { c.AppendInt(floorDiv(r.now().Unix(), 86400)) }, nil
	case types.Time:
		return func(r *noise, c *types.Column) {
			ms := r.now().UnixMilli()
			c.AppendInt(ms - floorDiv(ms, 86400000)*86400000)
		}, nil
	case types.Timestamp, types.TimestampLTZ:
		return randomTimestamp(path, o)
	}
	return randomNested(path, t, o)
}

var intRanges = map[types.Kind][2]int64{
	types.TinyInt: {math.MinInt8, math.MaxInt8}, types.SmallInt: {math.MinInt16, math.MaxInt16},
	types.Int: {math.MinInt32, math.MaxInt32}, types.BigInt: {math.MinInt64, math.MaxInt64},
	types.IntervalMonths: {0, 120000}, types.IntervalMillis: {0, math.MaxInt64},
}

func randomInt(path string, t types.Type, o connectors.Options) (func(*noise, *types.Column), error) {
	lo, hi := intRanges[t.Kind][0], intRanges[t.Kind][1]
	for _, b := range [...]struct {
		opt connectors.Option
		to  *int64
	}{{minimum, &lo}, {maximum, &hi}} {
		key := at(b.opt, path)
		v, set := o[key.Key]
		if !set {
			continue
		}
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < intRanges[t.Kind][0] || n > intRanges[t.Kind][1] {
			return nil, fmt.Errorf("Could not parse value '%s' for key '%s'.: For input string: %q", v, key.Key, v)
		}
		*b.to = n
	}
	if lo > hi {
		return nil, fmt.Errorf("column '%s': min %d is greater than max %d", path, lo, hi)
	}
	span := uint64(hi) - uint64(lo) + 1 // 0 is the full range
	return func(r *noise, c *types.Column) {
		if span == 0 {
			c.AppendInt(int64(r.Uint64()))
			return
		}
		c.AppendInt(lo + int64(r.Uint64N(span)))
	}, nil
}

func randomFloat(path string, t types.Type, o connectors.Options) (func(*noise, *types.Column), error) {
	lo, hi := math.SmallestNonzeroFloat64, math.MaxFloat64
	switch t.Kind {
	case types.Float:
		lo, hi = math.SmallestNonzeroFloat32, math.MaxFloat32
	case types.Decimal:
		hi = math.Pow10(t.Precision-t.Scale) - math.Pow10(-t.Scale)
	}
	for _, b := range [...]struct {
		opt connectors.Option
		to  *float64
	}{{minimum, &lo}, {maximum, &hi}} {
		key := at(b.opt, path)
		v, set := o[key.Key]
		if !set {
			continue
		}
		x, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return nil, fmt.Errorf("Could not parse value '%s' for key '%s'.: For input string: %q", v, key.Key, v)
		}
		*b.to = x
	}
	if lo > hi {
		return nil, fmt.Errorf("column '%s': min %g is greater than max %g", path, lo, hi)
	}
	return func(r *noise, c *types.Column) {
		x := r.Float64()
		v := lo*(1-x) + hi*x // lo + x*(hi-lo) may overflow
		switch t.Kind {
		case types.Decimal:
			appendDecimal(c, v)
		case types.Float:
			c.AppendFloat(float64(float32(v)))
		default:
			c.AppendFloat(v)
		}
	}, nil
}

func randomTimestamp(path string, o connectors.Options) (func(*noise, *types.Column), error) {
	past, err := o.Duration(at(maxPast, path))
	if err != nil {
		return nil, err
	}
	return func(r *noise, c *types.Column) {
		ms := r.now().UnixMilli()
		if past > 0 {
			ms -= r.Int64N(past.Milliseconds() + 1)
		}
		if c.Phys() == types.PhysWide {
			c.AppendWide(types.Int128{Hi: ms * 1000})
			return
		}
		c.AppendInt(ms * 1000)
	}, nil
}

const hexDigits = "0123456789abcdef"

func randomBytes(path string, t types.Type, o connectors.Options) (func(*noise, *types.Column), error) {
	fixed := t.Kind == types.Char || t.Kind == types.Binary
	text := t.IsString()
	n := int64(t.Precision)
	if !fixed {
		n = min(n, 100)
	}
	key := at(length, path)
	if v, set := o[key.Key]; set {
		if fixed {
			return nil, fmt.Errorf("Custom length for fixed-length type (CHAR/BINARY) field '%s' is not supported.", path)
		}
		given, err := o.Int(key)
		if err != nil {
			return nil, err
		}
		if given < 0 || given > int64(t.Precision) {
			return nil, fmt.Errorf("Custom length '%s' for variable-length type (VARCHAR/STRING/VARBINARY/BYTES) field '%s' should be shorter than '%d' defined in the schema.", v, path, t.Precision)
		}
		n = given
	}
	if n > 1<<20 {
		return nil, fmt.Errorf("column '%s': random values of %d characters; at most %d are made", path, n, 1<<20)
	}
	variable, err := o.Bool(at(varLen, path))
	if err != nil {
		return nil, err
	}
	if variable && fixed {
		return nil, fmt.Errorf("Only supports specifying '%s' option for variable-length types (VARCHAR/STRING/VARBINARY/BYTES). The type of field '%s' is not within this range.", "var-len", path)
	}
	return func(r *noise, c *types.Column) {
		size := n
		if variable && n > 0 {
			size = r.Int64N(n) + 1
		}
		b := make([]byte, size)
		for i := range b {
			if v := r.Uint64(); text {
				b[i] = hexDigits[v&15]
			} else {
				b[i] = byte(v)
			}
		}
		c.AppendStr(string(b))
	}, nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
