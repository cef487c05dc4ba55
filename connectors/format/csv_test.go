package format

import (
	"testing"

	"runnel/connectors"
	"runnel/internal/cputime"
	"runnel/types"
)

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"1,x,2.5,a;b", `1,"x ""y""",2, `, "#c\n1,\\n,3,", "\r\n", `"`, "1,2,3,4,5"} {
		f.Add([]byte(s), ",", "\"", "\\")
	}
	fields, _ := parseSchema("a INT, b STRING, c DOUBLE, d ARRAY<STRING>")
	f.Fuzz(func(t *testing.T, msg []byte, sep, quote, escape string) {
		opts := connectors.Options{"field-delimiter": sep, "quote-character": quote, "escape-character": escape, "allow-comments": "true"}
		req := connectors.FormatRequest{Fields: fields, Options: opts}
		d, err := CSV().Decoder(req)
		if err != nil {
			return
		}
		out := types.NewBatch(fields)
		err = d.Decode(msg, out)
		checkEven(t, "csv", out, out.Len)
		if err != nil && out.Len != 0 {
			t.Fatalf("%d rows with %v", out.Len, err)
		}
	})
}

// TestCSVRoundTrip: with the usual characters what is written is read as the same values.
func TestCSVRoundTrip(t *testing.T) {
	fields, _ := parseSchema("a INT, b STRING, c DOUBLE, d DECIMAL(9, 2), e TIMESTAMP(3), f ARRAY<STRING>, g ROW<x INT, y DATE>, h BYTES")
	for _, opts := range []connectors.Options{{"null-literal": "NIL"}, {"null-literal": "NIL", "field-delimiter": ";", "array-element-delimiter": ","},
		{"null-literal": "NIL", "quote-character": "'", "escape-character": "^"}} {
		req := connectors.FormatRequest{Fields: fields, Options: opts}
		d, err := CSV().Decoder(req)
		if err != nil {
			t.Fatal(err)
		}
		e, err := CSV().Encoder(req)
		if err != nil {
			t.Fatal(err)
		}
		in := types.NewBatch(fields)
		rows := [][]string{
			{"1", "'plain'", "1.5", "10.00", "TIMESTAMP '2024-06-03 07:08:09.120'", "ARRAY['a', 'b']", "ROW(1, DATE '2024-02-29')", "x'00ff'"},
			{"-7", "'a,b;c \"q\" ''s'' ^ \\ x'", "NULL", "NULL", "NULL", "ARRAY['']", "ROW(-1, CAST(NULL AS DATE))", "x''"},
			{"NULL", "''", "'NaN'", "-0.05", "TIMESTAMP '1969-12-31 23:59:59.999'", "ARRAY['long enough to be quoted without a look']", "ROW(CAST(NULL AS INT), DATE '1999-01-01')", "NULL"},
		}
		out := types.NewBatch(fields)
		for i, row := range rows {
			for k, x := range row {
				in.Cols[k].Append(evaluate(t, x, fields[k].Type))
			}
			in.Push(types.Insert)
			msg, err := e.Encode(nil, in, int32(i))
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Decode(msg, out); err != nil {
				t.Errorf("%s: %v", msg, err)
				continue
			}
			for k := range fields {
				same := types.EqualCells(in.Cols[k], int32(i), out.Cols[k], int32(i))
				lost := k == 5 && i == 1 // an array of one empty text has no form of its own
				if same == lost {
					t.Errorf("%v, %s: %+v became %+v", opts, msg, in.Cols[k].At(int32(i)), out.Cols[k].At(int32(i)))
				}
			}
		}
	}
}

func BenchmarkCSVDecode(b *testing.B) {
	fields, _ := parseSchema(benchSchema)
	d, _ := CSV().Decoder(connectors.FormatRequest{Fields: fields})
	out := types.NewBatch(fields)
	msg := []byte(`123456,4711,250,created,"2024-06-03 07:08:09.123"`)
	b.ReportAllocs()
	cputime.PerOp(b, func() {
		for b.Loop() {
			if out.Full() {
				out.Reset()
			}
			if err := d.Decode(msg, out); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCSVEncode(b *testing.B) {
	fields, _ := parseSchema(benchSchema)
	req := connectors.FormatRequest{Fields: fields}
	d, _ := CSV().Decoder(req)
	e, _ := CSV().Encoder(req)
	out := types.NewBatch(fields)
	if err := d.Decode([]byte(`123456,4711,250,created,"2024-06-03 07:08:09.123"`), out); err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 0, 256)
	b.ReportAllocs()
	cputime.PerOp(b, func() {
		for b.Loop() {
			buf, _ = e.Encode(buf[:0], out, 0)
		}
	})
}
