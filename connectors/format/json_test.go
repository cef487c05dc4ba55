package format

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"runnel/connectors"
	"runnel/internal/cputime"
	"runnel/types"
)

func jsonDecoderFor(tb testing.TB, schema string, opts connectors.Options) (connectors.Decoder, *types.Batch) {
	tb.Helper()
	fields, err := parseSchema(schema)
	if err != nil {
		tb.Fatal(err)
	}
	d, err := JSON().Decoder(connectors.FormatRequest{Fields: fields, Options: opts})
	if err != nil {
		tb.Fatal(err)
	}
	return d, types.NewBatch(fields)
}

// FuzzJSON compares with encoding/json: what that takes as an object is read, with the same values, and what is read
// without an error was JSON.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":"x","c":2.5,"d":["y",null]}`, `{"b":"\u00e9\ud83d\ude00\n","a":-0}`, `{"x":{"y":[1,{}]},"a":1e2}`,
		`{"a":"12","c":"NaN"} trailing`, "{\"b\":\"tab\there\"}", `{"d":[[1],{"k":1.50}],"b":true}`, `{"a":1,"a":2}`} {
		f.Add([]byte(s))
	}
	const schema = "a BIGINT, b STRING, c DOUBLE, d ARRAY<STRING>"
	strict, out := jsonDecoderFor(f, schema, nil)
	loose, _ := jsonDecoderFor(f, schema, connectors.Options{"ignore-parse-errors": "true"})
	f.Fuzz(func(t *testing.T, msg []byte) {
		out.Reset()
		err := strict.Decode(msg, out)
		checkEven(t, "strict", out, out.Len)
		if err == nil && out.Len == 1 && plainBytes(msg) && !json.Valid(firstObject(msg)) {
			t.Fatalf("read %q, which is no JSON", msg)
		}
		out.Reset()
		if err := loose.Decode(msg, out); err != nil {
			t.Fatalf("an error that should be ignored: %v", err)
		}
		checkEven(t, "loose", out, out.Len)
		var want map[string]json.RawMessage
		if !plainBytes(msg) || json.Unmarshal(msg, &want) != nil || want == nil || duplicateKeys(msg) {
			return
		}
		if out.Len != 1 {
			t.Fatalf("%q was not read", msg)
		}
		compareWithStandard(t, msg, want, out)
	})
}

func compareWithStandard(t *testing.T, msg []byte, want map[string]json.RawMessage, out *types.Batch) {
	t.Helper()
	var n int64
	if raw := want["a"]; len(raw) > 0 && json.Unmarshal(raw, &n) == nil && string(raw) != "null" && (out.Cols[0].Null(0) || out.Cols[0].Int[0] != n) {
		t.Fatalf("%q: a is %+v", msg, out.Cols[0].At(0))
	}
	var s string
	if raw := want["b"]; len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil && !strings.Contains(s, "\ufffd") &&
		(out.Cols[1].Null(0) || out.Cols[1].Str[0] != s) {
		t.Fatalf("%q: b is %+v, not %q", msg, out.Cols[1].At(0), s)
	}
	var fl float64
	if raw := want["c"]; len(raw) > 0 && raw[0] != '"' && raw[0] != 'n' && json.Unmarshal(raw, &fl) == nil && (out.Cols[2].Null(0) || out.Cols[2].Flt[0] != fl) {
		t.Fatalf("%q: c is %+v", msg, out.Cols[2].At(0))
	}
	var list []json.RawMessage
	if raw := want["d"]; len(raw) > 0 && raw[0] == '[' && json.Unmarshal(raw, &list) == nil {
		if out.Cols[3].Null(0) || len(out.Cols[3].Any[0].(*types.List).Elems) != len(list) {
			t.Fatalf("%q: d is %+v", msg, out.Cols[3].At(0))
		}
	}
}

// plainBytes leaves out what encoding/json sees otherwise: other encodings, and control characters within strings.
func plainBytes(msg []byte) bool {
	if !utf8.Valid(msg) || strings.HasPrefix(string(msg), "\ufeff") || strings.Contains(string(msg), `\u`) && strings.ContainsAny(string(msg), "dD") {
		return false
	}
	for _, b := range msg {
		if b < ' ' {
			return false
		}
	}
	return true
}

// firstObject cuts off what follows the first value.
func firstObject(msg []byte) []byte {
	d := json.NewDecoder(strings.NewReader(string(msg)))
	var raw json.RawMessage
	if d.Decode(&raw) != nil {
		return nil
	}
	return raw
}

func duplicateKeys(msg []byte) bool {
	d := json.NewDecoder(strings.NewReader(string(msg)))
	d.Token()
	seen := map[string]bool{}
	for d.More() {
		k, err := d.Token()
		if err != nil || seen[fmt.Sprint(k)] {
			return true
		}
		seen[fmt.Sprint(k)] = true
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			return true
		}
	}
	return false
}

func TestJSONErrors(t *testing.T) {
	d, out := jsonDecoderFor(t, "a INT, r ROW<x INT>", nil)
	for in, want := range map[string]string{
		`{"a":"x"}`:                   `Failed to deserialize JSON '{"a":"x"}'.: field a: "x" is no whole number in range at byte 5`,
		`{"a":1,"r":{"x"}}`:           `Failed to deserialize JSON '{"a":1,"r":{"x"}}'.: expected a colon behind the key at byte 15`,
		`{"r":{"x":[]}}`:              `Failed to deserialize JSON '{"r":{"x":[]}}'.: field r: field x: expected a number or a text at byte 10`,
		`[1]`:                         `Failed to deserialize JSON '[1]'.: the message is no JSON object at byte 0`,
		strings.Repeat(`{"z":`, 1100): "nested too deep",
	} {
		err := d.Decode([]byte(in), out)
		if err == nil || err.Error() != want && !(strings.HasPrefix(want, "nested") && strings.Contains(err.Error(), want)) {
			t.Errorf("%.60s: %v, want %s", in, err, want)
		}
	}
}

// TestJSONRoundTrip: what the encoder writes, the decoder reads as the same values.
func TestJSONRoundTrip(t *testing.T) {
	const schema = "a INT, b STRING, c DOUBLE, d DECIMAL(20, 3), e TIMESTAMP(3), f BYTES, g ARRAY<ROW<x DATE, y MAP<STRING, BOOLEAN>>>, h TIMESTAMP_LTZ(9)"
	rows := []string{
		`{"a":1,"b":"\"\\\n\u0001é😀","c":1.0E-5,"d":-12.5,"e":"2024-06-03 07:08:09.12","f":"AQI=","g":[{"x":"2020-02-29","y":{"k":true,"":null}},null],"h":"1969-12-31 23:59:59.999999999Z"}`,
		`{"a":null,"b":"","c":"NaN","d":1E+2,"e":"0001-01-01 00:00:00","f":"","g":[],"h":null}`,
	}
	for _, opts := range []connectors.Options{nil, {"timestamp-format.standard": "ISO-8601", "encode.decimal-as-plain-number": "true"}} {
		fields, _ := parseSchema(schema)
		e, err := JSON().Encoder(connectors.FormatRequest{Fields: fields, Options: opts})
		if err != nil {
			t.Fatal(err)
		}
		d, again := jsonDecoderFor(t, schema, opts)
		read, out := jsonDecoderFor(t, schema, nil)
		for i, row := range rows {
			if err := read.Decode([]byte(row), out); err != nil {
				t.Fatal(err)
			}
			msg, err := e.Encode(nil, out, int32(i))
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Decode(msg, again); err != nil {
				t.Fatalf("%s: %v", msg, err)
			}
			if !types.EqualRows(out.Cols, int32(i), again.Cols, int32(i)) {
				t.Errorf("%s became %s", row, msg)
			}
		}
	}
}

const benchSchema = "order_id INT, user_id INT, amount INT, status STRING, ts TIMESTAMP(3)"

var benchMessage = []byte(`{"order_id":123456,"user_id":4711,"amount":250,"status":"created","ts":"2024-06-03 07:08:09.123"}`)

func BenchmarkJSONDecode(b *testing.B) {
	d, out := jsonDecoderFor(b, benchSchema, nil)
	b.ReportAllocs()
	b.SetBytes(int64(len(benchMessage)))
	cputime.PerOp(b, func() {
		for b.Loop() {
			if out.Full() {
				out.Reset()
			}
			if err := d.Decode(benchMessage, out); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkJSONDecodeOdd(b *testing.B) {
	d, out := jsonDecoderFor(b, "a STRING, b ARRAY<INT>, c DOUBLE, d ROW<x INT, y STRING>", nil)
	msg := []byte(`{"d":{"y":"z","x":"7"},"c":1.25e3,"unknown":[1,{"a":"b"}],"b":[1,2,3],"a":"two\nlines"}`)
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

func BenchmarkJSONEncode(b *testing.B) {
	d, out := jsonDecoderFor(b, benchSchema, nil)
	if err := d.Decode(benchMessage, out); err != nil {
		b.Fatal(err)
	}
	fields, _ := parseSchema(benchSchema)
	e, _ := JSON().Encoder(connectors.FormatRequest{Fields: fields})
	buf := make([]byte, 0, 256)
	b.ReportAllocs()
	cputime.PerOp(b, func() {
		for b.Loop() {
			buf, _ = e.Encode(buf[:0], out, 0)
		}
	})
}

func BenchmarkStandardJSONDecode(b *testing.B) {
	type order struct {
		OrderID int    `json:"order_id"`
		UserID  int    `json:"user_id"`
		Amount  int    `json:"amount"`
		Status  string `json:"status"`
		Ts      string `json:"ts"`
	}
	b.ReportAllocs()
	cputime.PerOp(b, func() {
		for b.Loop() {
			var o order
			if err := json.Unmarshal(benchMessage, &o); err != nil {
				b.Fatal(err)
			}
		}
	})
}
