package repl

import (
	"testing"
	"time"

	"runnel/types"
)

func TestJSONRows(t *testing.T) {
	intArray := types.ArrayOf(types.Of(types.Int))
	row := types.RowOf(types.Field{Name: "x", Type: types.Of(types.Int)}, types.Field{Name: "y \"", Type: types.String()})
	fields := []types.Field{{Name: "v"}}
	text := types.StrDatum
	for _, c := range []struct {
		t    types.Type
		d    types.Datum
		want string
	}{
		{types.Of(types.Boolean), types.BoolDatum(true), `true`},
		{types.Of(types.Double), types.FloatDatum(1e10), `1.0E10`},
		{types.String(), text("a\"\n<é"), `"a\"\n<é"`},
		{types.Bytes(), text("\x00\xff"), `"x'00ff'"`},
		{types.Of(types.Date), types.IntDatum(1), `"1970-01-02"`},
		{intArray, types.AnyDatum(&types.List{Elems: []types.Datum{types.IntDatum(1), types.NullDatum()}}), `[1,null]`},
		{types.ArrayOf(types.Bytes()), types.AnyDatum(&types.List{Elems: []types.Datum{text("\x01")}}), `["x'01'"]`},
		{row, types.AnyDatum(&types.Tuple{Fields: []types.Datum{types.IntDatum(1), text("z")}}), `{"x":1,"y \"":"z"}`},
		{types.MapOf(types.String(), intArray), types.AnyDatum(&types.MapValue{Keys: []types.Datum{text("k")}, Vals: []types.Datum{types.AnyDatum(&types.List{})}}), `{"k":[]}`},
		{types.MapOf(types.Of(types.Int), types.String()), types.AnyDatum(&types.MapValue{Keys: []types.Datum{types.IntDatum(1)}, Vals: []types.Datum{text("a")}}), `[{"key":1,"value":"a"}]`},
		{types.MultisetOf(types.String()), types.AnyDatum(&types.MapValue{Keys: []types.Datum{text("k")}, Vals: []types.Datum{types.IntDatum(2)}}), `{"k":2}`},
		{intArray, types.NullDatum(), `null`},
	} {
		fields[0].Type = c.t
		b := types.NewBatch(fields)
		b.Cols[0].Append(c.d)
		b.Push(types.Insert)
		j := jsonRows{fields: fields, zone: time.UTC}
		if got, want := string(j.row(b, 0)), `{"op":"+I","v":`+c.want+"}\n"; got != want {
			t.Errorf("%s: %s, want %s", c.t, got, want)
		}
	}
}
