package filesystem

import (
	"fmt"
	"math"
	"net/url"

	"runnel/types"
)

var intRanges = map[types.Kind][2]int64{
	types.TinyInt: {math.MinInt8, math.MaxInt8}, types.SmallInt: {math.MinInt16, math.MaxInt16},
	types.Int: {math.MinInt32, math.MaxInt32}, types.BigInt: {math.MinInt64, math.MaxInt64},
}

// partitionText is the folder name of a partition value.
func partitionText(c *types.Column, i int32) string {
	return string(types.AppendCell(nil, c, i, nil))
}

// partitionValue reads a folder name back.
func partitionValue(s, null string, t types.Type) (types.Datum, error) {
	if s == null {
		return types.NullDatum(), nil
	}
	s, err := url.PathUnescape(s)
	if err != nil {
		return types.Datum{}, err
	}
	bad := func() (types.Datum, error) {
		return types.Datum{}, fmt.Errorf("'%s' is no value of type %s", s, t.Name())
	}
	switch {
	case t.IsString():
		return types.StrDatum(s), nil
	case t.Kind == types.Boolean:
		if v, ok := types.ParseBoolean(s); ok {
			return types.BoolDatum(v), nil
		}
		return bad()
	case t.IsInteger():
		r := intRanges[t.Kind]
		if v, ok := types.ParseInt(s, r[0], r[1]); ok {
			return types.IntDatum(v), nil
		}
		return bad()
	case t.Kind == types.Date:
		if v, ok := types.ParseDate(s); ok {
			return types.IntDatum(v), nil
		}
		return bad()
	}
	return types.Datum{}, fmt.Errorf("partition columns of type %s are not supported; use STRING, BOOLEAN, DATE or an integer", t.Name())
}
