package format

import (
	"fmt"

	"runnel/connectors"
	"runnel/types"
)

// A changelog format wraps row images in an object that says what happened to them: debezium-json, canal-json,
// maxwell-json, ogg-json, and changelog-json, which writes down the row kinds as they are. They differ in names and in
// where the old image stands, so each is an envelope in a table and one decoder and one encoder serve them all.

// envelope describes a changelog format.
type envelope struct {
	name string // of the format
	who  string // its name in errors
	doc  string

	op       string // the member that names the operation
	new, old string // the members that hold the images after and before; old is "" for none
	ops      []operation
	// list: the images are arrays with an element for each changed row.
	list bool
	// partial: old holds the changed columns only; the others are as in new.
	partial bool

	write    [4]wrapping // by row kind
	metadata []changeMeta
	options  []connectors.Option
}

// operation is what a message's operation makes of its images.
type operation struct {
	word     string
	old, new types.RowKind // noRow: the image gives no row
}

// noRow marks an image that gives no row.
const noRow types.RowKind = 0xff

// wrapping is how a row of one kind is written: before and after its image. bare is without the image that is null.
type wrapping struct {
	before, after         string
	bareBefore, bareAfter string
}

// changeMeta is a metadata column of a changelog format and where it is read.
type changeMeta struct {
	key  string
	t    types.Type
	from string // the member of the message (with schema-include: of its payload)
	json types.Type
	sub  string // the key within the member, which is an object of texts
	// outer: the member is one of the message also with schema-include.
	outer bool
	unit  int64 // of a time, in microseconds
	form  metaForm
}

// metaForm is how a metadata value is made from the member.
type metaForm uint8

const (
	metaPlain metaForm = iota
	metaUnits          // a whole number of units since the epoch
	metaText           // a timestamp as a text, cut to milliseconds
)

// Options of single changelog formats.
var (
	optSchemaInclude = connectors.Option{Key: "schema-include", Kind: connectors.BoolOption, Default: "false",
		Doc: "The messages carry their schema, as Kafka Connect writes them: what happened is in the member payload. Not for sinks."}
	optDatabase = connectors.Option{Key: "database.include",
		Doc: "Regular expression that the whole database name of a message must match; others are skipped."}
	optTable = connectors.Option{Key: "table.include",
		Doc: "Regular expression that the whole table name of a message must match; others are skipped."}
)

// images gives the wrappings of a format with a member for each image, the other null.
func images(op, insert, delete string) [4]wrapping {
	put := wrapping{`{"before":null,"after":`, `,"` + op + `":"` + insert + `"}`, `{"after":`, `,"` + op + `":"` + insert + `"}`}
	take := wrapping{`{"before":`, `,"after":null,"` + op + `":"` + delete + `"}`, `{"before":`, `,"` + op + `":"` + delete + `"}`}
	return [4]wrapping{types.Insert: put, types.UpdateBefore: take, types.UpdateAfter: put, types.Delete: take}
}

// oneImage gives the wrappings of a format with one member for the image. words are by row kind.
func oneImage(op, open, end string, words [4]string) (ws [4]wrapping) {
	for k, word := range words {
		pre, post := `{"data":`+open, end+`,"`+op+`":"`+word+`"}`
		ws[k] = wrapping{pre, post, pre, post}
	}
	return ws
}

func textMeta(key, from string) changeMeta {
	return changeMeta{key: key, t: types.String(), from: from, json: types.String()}
}

func timeMeta(key, from string, unit int64) changeMeta {
	return changeMeta{key: key, t: types.TimestampLTZOf(3), from: from, json: types.Of(types.BigInt), unit: unit, form: metaUnits}
}

// sourceMeta is a metadata column of Debezium's source object.
func sourceMeta(key, sub string) changeMeta {
	return changeMeta{key: key, t: types.String(), from: "source", json: types.MapOf(types.String(), types.String()), sub: sub}
}

// envelopes is the table of changelog formats.
func envelopes() []envelope {
	const millis, seconds = 1000, 1_000_000
	names := types.ArrayOf(types.String())
	schema, properties, origin := textMeta("schema", "schema"), sourceMeta("source.properties", ""), sourceMeta("source.timestamp", "ts_ms")
	schema.outer = true
	properties.t = properties.json
	origin.t, origin.unit, origin.form = types.TimestampLTZOf(3), millis, metaUnits
	oggTime := func(key, from string) changeMeta {
		return changeMeta{key: key, t: types.TimestampLTZOf(6), from: from, json: types.String(), form: metaText}
	}
	return []envelope{
		{
			name: "debezium-json", who: "Debezium", doc: "Changes as Debezium writes them: before, after and op.",
			op: "op", new: "after", old: "before",
			ops: []operation{{"c", noRow, types.Insert}, {"r", noRow, types.Insert}, {"u", types.UpdateBefore, types.UpdateAfter},
				{"d", types.Delete, noRow}},
			write: images("op", "c", "d"),
			metadata: []changeMeta{schema, timeMeta("ingestion-timestamp", "ts_ms", millis), origin, sourceMeta("source.database", "db"),
				sourceMeta("source.schema", "schema"), sourceMeta("source.table", "table"), properties},
			options: []connectors.Option{optSchemaInclude},
		},
		{
			name: "canal-json", who: "Canal", doc: "Changes as Canal writes them: arrays data and old, and type.",
			op: "type", new: "data", old: "old", list: true, partial: true,
			ops: []operation{{"INSERT", noRow, types.Insert}, {"UPDATE", types.UpdateBefore, types.UpdateAfter},
				{"DELETE", noRow, types.Delete}, {"CREATE", noRow, noRow}},
			write: oneImage("type", "[", "]", [4]string{"INSERT", "DELETE", "INSERT", "DELETE"}),
			metadata: []changeMeta{textMeta("database", "database"), textMeta("table", "table"),
				{key: "sql-type", t: types.MapOf(types.String(), types.Of(types.Int)), from: "sqlType", json: types.MapOf(types.String(), types.Of(types.Int))},
				{key: "pk-names", t: names, from: "pkNames", json: names},
				timeMeta("ingestion-timestamp", "ts", millis), timeMeta("event-timestamp", "es", millis)},
			options: []connectors.Option{optDatabase, optTable},
		},
		{
			name: "maxwell-json", who: "Maxwell", doc: "Changes as Maxwell writes them: data, old and type.",
			op: "type", new: "data", old: "old", partial: true,
			ops: []operation{{"insert", noRow, types.Insert}, {"update", types.UpdateBefore, types.UpdateAfter},
				{"delete", noRow, types.Delete}},
			write: oneImage("type", "", "", [4]string{"insert", "delete", "insert", "delete"}),
			metadata: []changeMeta{textMeta("database", "database"), textMeta("table", "table"),
				{key: "primary-key-columns", t: names, from: "primary_key_columns", json: names}, timeMeta("ingestion-timestamp", "ts", seconds)},
		},
		{
			name: "ogg-json", who: "Ogg", doc: "Changes as GoldenGate writes them: before, after and op_type.",
			op: "op_type", new: "after", old: "before",
			ops:   []operation{{"I", noRow, types.Insert}, {"U", types.UpdateBefore, types.UpdateAfter}, {"D", types.Delete, noRow}},
			write: images("op_type", "I", "D"),
			metadata: []changeMeta{textMeta("table", "table"), {key: "primary-keys", t: names, from: "primary_keys", json: names},
				oggTime("ingestion-timestamp", "current_ts"), oggTime("event-timestamp", "op_ts")},
		},
		{
			name: "changelog-json", who: "changelog", doc: "Rows with their kind as it is: data, and op, which is +I, -U, +U or -D.",
			op: "op", new: "data",
			ops: []operation{{"+I", noRow, types.Insert}, {"-U", noRow, types.UpdateBefore}, {"+U", noRow, types.UpdateAfter},
				{"-D", noRow, types.Delete}},
			write: oneImage("op", "", "", [4]string{"+I", "-U", "+U", "-D"}),
		},
	}
}

// Changelogs gives the changelog formats.
func Changelogs() []connectors.Format {
	var fs []connectors.Format
	for _, e := range envelopes() {
		f := connectors.Format{
			Name: e.name, Doc: e.doc,
			Options: append([]connectors.Option{optIgnoreErrors, optTimestampStandard, optNullKeyMode, optNullKeyLiteral, optPlainDecimal,
				optIgnoreNulls}, e.options...),
			Mode:    types.AllKinds,
			Decoder: func(r connectors.FormatRequest) (connectors.Decoder, error) { return newChangeDecoder(&e, r) },
			Encoder: func(r connectors.FormatRequest) (connectors.Encoder, error) { return newChangeEncoder(&e, r) },
		}
		for _, m := range e.metadata {
			f.Metadata = append(f.Metadata, connectors.Metadata{Key: m.key, Type: m.t, Readable: true})
		}
		fs = append(fs, f)
	}
	return fs
}

// changeEncoder writes changes: +I and +U put a row, -U and -D take it away.
type changeEncoder struct {
	row   *jsonEncoder
	write [4]wrapping
}

func newChangeEncoder(e *envelope, r connectors.FormatRequest) (connectors.Encoder, error) {
	if v, err := r.Options.Bool(optSchemaInclude); err != nil || v {
		if err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s JSON serialization doesn't support '%s%s' option been set to true.", e.who, r.Prefix, optSchemaInclude.Key)
	}
	row, err := newJSONEncoder(r)
	if err != nil {
		return nil, err
	}
	c := &changeEncoder{row: row.(*jsonEncoder), write: e.write}
	if c.row.ignoreNulls {
		for k := range c.write {
			w := &c.write[k]
			w.before, w.after = w.bareBefore, w.bareAfter
		}
	}
	return c, nil
}

// Encode implements connectors.Encoder.
func (c *changeEncoder) Encode(dst []byte, rows *types.Batch, i int32) ([]byte, error) {
	start := len(dst)
	w := &c.write[rows.Kind(i)&3]
	dst, err := c.row.Encode(append(dst, w.before...), rows, i)
	if err != nil {
		return dst[:start], err
	}
	return append(dst, w.after...), nil
}
