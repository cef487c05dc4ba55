package format

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"runnel/connectors"
	"runnel/internal/cputime"
	"runnel/types"
)

// changeDecoderFor makes a decoder of a changelog format and a batch for its columns.
func changeDecoderFor(tb testing.TB, name, schema, metadata string, opts connectors.Options) (connectors.Decoder, *types.Batch) {
	tb.Helper()
	f := changelogFormat(tb, name)
	req, err := request(map[string]string{"schema": schema, "format": name, "metadata": metadata}, opts)
	if err != nil {
		tb.Fatal(err)
	}
	d, err := f.Decoder(req)
	if err != nil {
		tb.Fatal(err)
	}
	return d, types.NewBatch(decodedFields(f, req))
}

func changelogFormat(tb testing.TB, name string) connectors.Format {
	tb.Helper()
	for _, f := range Changelogs() {
		if f.Name == name {
			return f
		}
	}
	tb.Fatalf("no format %s", name)
	return connectors.Format{}
}

// rowsText writes the rows of a batch in one line: +I(1, a) -D(2, NULL).
func rowsText(b *types.Batch) string {
	var rows []string
	for i := range int32(b.Len) {
		var cells []string
		for _, c := range b.Cols {
			if c.Null(i) {
				cells = append(cells, "NULL")
			} else {
				cells = append(cells, string(types.AppendShown(nil, c, i, time.UTC)))
			}
		}
		rows = append(rows, b.Kind(i).String()+"("+strings.Join(cells, ", ")+")")
	}
	return strings.Join(rows, " ")
}

// TestChanges holds what the recorded messages leave out.
func TestChanges(t *testing.T) {
	ignore := connectors.Options{optIgnoreErrors.Key: "true"}
	for _, c := range []struct {
		name, format, metadata string
		opts                   connectors.Options
		message, rows, err     string
	}{
		{name: "operation first", format: "debezium-json", message: `{"op":"u","after":{"id":2},"before":{"id":1}}`, rows: "-U(1, NULL) +U(2, NULL)"},
		{name: "equal images", format: "debezium-json", message: `{"after":{"id":1,"name":"x"},"op":"c","after":{"id":2}}`, rows: "+I(2, NULL)"},
		{name: "unused image in error", format: "debezium-json", message: `{"before":{"id":"x"},"after":{"id":1},"op":"c"}`,
			err: `Corrupt Debezium JSON message '{"before":{"id":"x"},"after":{"id":1},"op":"c"}'.: field id: "x" is no whole number in range at byte 16`},
		{name: "unused image in error, ignored", format: "debezium-json", opts: ignore, message: `{"before":{"id":"x"},"after":{"id":1},"op":"c"}`, rows: "+I(1, NULL)"},
		{name: "second image in error, ignored", format: "debezium-json", opts: ignore, message: `{"before":{"id":1},"after":5,"op":"u"}`},
		{name: "second payload", format: "debezium-json", opts: connectors.Options{"schema-include": "true"},
			message: `{"payload":{"after":{"id":1},"op":"c"},"payload":{"before":{"id":2},"op":"d"}}`, rows: "-D(2, NULL)"},
		{name: "payload taken back", format: "debezium-json", opts: connectors.Options{"schema-include": "true"},
			message: `{"payload":{"after":{"id":1},"op":"c"},"payload":null}`, err: `Corrupt Debezium JSON message '{"payload":{"after":{"id":1},"op":"c"},"payload":null}'.: member "payload" is missing or null at byte 49`},
		{name: "broken behind the images", format: "debezium-json", message: `{"after":{"id":1},"op":"c"`,
			err: `Corrupt Debezium JSON message '{"after":{"id":1},"op":"c"'.: expected a comma or the end of the object at byte 26`},
		{name: "time beyond all bounds", format: "debezium-json", metadata: "ingestion-timestamp", message: `{"after":{},"op":"c","ts_ms":9000000000000000000}`,
			err: `Corrupt Debezium JSON message '{"after":{},"op":"c","ts_ms":9000000000000000000}'.: metadata ingestion-timestamp: the value is no timestamp at byte 48`},
		{name: "schema without schema-include", format: "debezium-json", metadata: "schema", message: `{"after":{},"op":"c","schema":{"a": 1}}`, rows: `+I(NULL, NULL, {"a":1})`},
		{name: "number as operation", format: "ogg-json", message: `{"op_type":5}`, err: `Corrupt Ogg JSON message '{"op_type":5}'.: Unknown "op_type" value "5" at byte 11`},
		{name: "named in a nested object", format: "canal-json", message: `{"type":"UPDATE","data":[{"id":1,"name":"a"}],"old":[{"x":{"name":"a"}}]}`, rows: "-U(1, NULL) +U(1, a)"},
		{name: "rows before the bad one stay", format: "canal-json", opts: ignore, message: `{"type":"INSERT","data":[{"id":1},7,{"id":2}]}`, rows: "+I(1, NULL)"},
		{name: "old image too many", format: "canal-json", message: `{"type":"UPDATE","data":[{"id":1}],"old":[{},{"id":"x"}]}`,
			err: `Corrupt Canal JSON message '{"type":"UPDATE","data":[{"id":1}],"old":[{},{"id":"x"}]}'.: field id: "x" is no whole number in range at byte 51`},
		{name: "update of no rows", format: "canal-json", message: `{"type":"UPDATE","data":[]}`},
		{name: "table that is null", format: "canal-json", opts: connectors.Options{"table.include": "nul+"}, message: `{"type":"DELETE","data":[{"id":1}],"table":null}`, rows: "-D(1, NULL)"},
		{name: "look-ahead", format: "canal-json", opts: connectors.Options{"table.include": "(?!tmp_).*"}, message: `{"type":"DELETE","data":[{"id":1}],"table":"tmp_1"}`},
		{name: "kinds as they are", format: "changelog-json", message: `{"data":{"id":1,"name":"a"},"op":"-U"}`, rows: "-U(1, a)"},
		{name: "no kind", format: "changelog-json", message: `{"data":{"id":1,"name":"a"},"op":"U"}`, err: `Corrupt changelog JSON message '{"data":{"id":1,"name":"a"},"op":"U"}'.: Unknown "op" value "U" at byte 33`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, out := changeDecoderFor(t, c.format, "id INT, name STRING", c.metadata, c.opts)
			got := ""
			if err := d.Decode([]byte(c.message), out); err != nil {
				got = err.Error()
			}
			checkEven(t, c.name, out, out.Len)
			if got != c.err || rowsText(out) != c.rows {
				t.Errorf("got  %s %s\nwant %s %s", rowsText(out), got, c.rows, c.err)
			}
		})
	}
}

// TestChangesRoundTrip: what is written is read as the same rows; only changelog-json keeps the halves of an update.
func TestChangesRoundTrip(t *testing.T) {
	const schema = "id INT, name STRING"
	for _, f := range Changelogs() {
		d, out := changeDecoderFor(t, f.Name, schema, "", nil)
		req, _ := request(map[string]string{"schema": schema, "format": f.Name}, nil)
		e, err := f.Encoder(req)
		if err != nil {
			t.Fatal(err)
		}
		rows, want := types.NewBatch(req.Fields), ""
		for kind := types.Insert; kind <= types.Delete; kind++ {
			rows.Cols[0].AppendInt(int64(kind))
			rows.Cols[1].AppendStr("quote \" and ü")
			rows.Push(kind)
			read := kind
			if f.Name != "changelog-json" {
				read = []types.RowKind{types.Insert, types.Delete, types.Insert, types.Delete}[kind]
			}
			want += fmt.Sprintf(" %s(%d, quote \" and ü)", read, kind)
		}
		for i := range int32(rows.Len) {
			msg, err := e.Encode([]byte("x"), rows, i)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Decode(msg[1:], out); err != nil {
				t.Fatal(err)
			}
		}
		if got := rowsText(out); got != want[1:] {
			t.Errorf("%s: got  %s\nwant %s", f.Name, got, want[1:])
		}
	}
}

// FuzzChanges: no message makes a decoder panic or leaves its columns uneven, and with errors ignored there is none.
func FuzzChanges(f *testing.F) {
	for _, s := range []string{`{"before":{"id":1},"after":{"id":2,"name":"x"},"op":"u","op_type":"U","source":{"db":"d","ts_ms":"5"},"ts_ms":1}`,
		`{"data":[{"id":1},{"name":"\u00e9"}],"old":[{"id":null},{}],"type":"UPDATE","sqlType":{"id":4},"pkNames":["id"]}`,
		`{"data":{"id":1},"old":{"name":[1,{"id":2}]},"type":"update","ts":5}`, `{"payload":{"op":"d","before":{"id":"x"}}}`, `null`} {
		f.Add([]byte(s))
	}
	type pair struct {
		strict, loose connectors.Decoder
		out           *types.Batch
	}
	var pairs []pair
	for _, format := range Changelogs() {
		var keys []string
		for _, m := range format.Metadata {
			keys = append(keys, m.Key)
		}
		const schema = "id INT, name STRING, a ARRAY<ROW<x INT>>"
		strict, out := changeDecoderFor(f, format.Name, schema, strings.Join(keys, ","), nil)
		loose, _ := changeDecoderFor(f, format.Name, schema, strings.Join(keys, ","), connectors.Options{optIgnoreErrors.Key: "true"})
		pairs = append(pairs, pair{strict, loose, out})
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		for _, p := range pairs {
			p.out.Reset()
			err := p.strict.Decode(msg, p.out)
			checkEven(t, "strict", p.out, p.out.Len)
			if err != nil && p.out.Len != 0 {
				t.Fatalf("%d rows beside %v", p.out.Len, err)
			}
			if err := p.loose.Decode(msg, p.out); err != nil {
				t.Fatalf("an error that should be ignored: %v", err)
			}
			checkEven(t, "loose", p.out, p.out.Len)
		}
	})
}

// BenchmarkChanges reads an update of five columns with the usual members around it.
func BenchmarkChanges(b *testing.B) {
	const old, new = `{"order_id":1000001,"user_id":4711,"amount":250,"method":"card","ts":"2024-06-03 07:08:09.120"}`,
		`{"order_id":1000001,"user_id":4711,"amount":251,"method":"card","ts":"2024-06-03 07:08:10.120"}`
	for name, msg := range map[string]string{
		"debezium-json": `{"before":` + old + `,"after":` + new + `,"source":{"version":"2.5.0.Final","connector":"mysql","name":"shop","ts_ms":1717398489000,` +
			`"snapshot":"false","db":"shop","table":"orders","server_id":1,"file":"binlog.000003","pos":10524,"row":0},"op":"u","ts_ms":1717398489120,"transaction":null}`,
		"maxwell-json": `{"database":"shop","table":"orders","type":"update","ts":1717398489,"xid":8414,"commit":true,"data":` + new +
			`,"old":{"amount":250,"ts":"2024-06-03 07:08:09.120"}}`,
		"canal-json": `{"data":[` + new + `],"database":"shop","es":1717398489000,"id":42,"isDdl":false,"mysqlType":{"order_id":"int","user_id":"int"},` +
			`"old":[{"amount":250,"ts":"2024-06-03 07:08:09.120"}],"pkNames":["order_id"],"sql":"","sqlType":{"order_id":4},"table":"orders","ts":1717398489120,"type":"UPDATE"}`,
	} {
		b.Run(name, func(b *testing.B) {
			d, out := changeDecoderFor(b, name, "order_id INT, user_id INT, amount INT, `method` STRING, ts TIMESTAMP(3)", "", nil)
			b.SetBytes(int64(len(msg)))
			b.ReportAllocs()
			cputime.PerOp(b, func() {
				for range b.N {
					if out.Len >= types.BatchRows {
						out.Reset()
					}
					if err := d.Decode([]byte(msg), out); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
