package format

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"runnel/connectors"
	"runnel/internal/recorded"
	"runnel/types"
)

// The tables in testdata are what a real Flink 1.20.5 read and wrote. Every line is judged; the lines on which we differ
// on purpose are listed in testdata/differences.tsv with the reason.

// message undoes the writing of bytes; nil is a null message.
func message(s string, hexed bool) []byte {
	if s == `\N` {
		return nil
	}
	if hexed && strings.HasPrefix(s, "x'") && strings.HasSuffix(s, "'") {
		b, err := hex.DecodeString(s[2 : len(s)-1])
		if err == nil {
			return b
		}
	}
	return []byte(s)
}

// tally counts what agrees and reports what does not.
type tally struct {
	values, errors, elsewhere int
	differs                   map[string]string
	met                       map[string]bool
}

func newTally(t *testing.T) *tally {
	c := &tally{differs: map[string]string{}, met: map[string]bool{}}
	for _, r := range recorded.Table(t, "testdata/differences.tsv") {
		c.differs[r["id"]] = r["reason"]
	}
	return c
}

// judge takes one line: same says whether we agree with Flink.
func (c *tally) judge(t *testing.T, id string, isError, same bool, report string) {
	t.Helper()
	if reason, listed := c.differs[id]; listed {
		c.met[id] = true
		if same {
			t.Errorf("%s agrees now, but is listed as different: %s", id, reason)
		}
		return
	}
	if !same {
		t.Errorf("%s: %s", id, report)
	}
	if isError {
		c.errors++
	} else {
		c.values++
	}
}

// end reports the counts, and listed lines of the file (by the first letter of their ids) that were not met.
func (c *tally) end(t *testing.T, letter string) {
	t.Helper()
	for id := range c.differs {
		if strings.HasPrefix(id, letter) && !c.met[id] {
			t.Errorf("%s is listed as different, but there is no such line", id)
		}
	}
	t.Logf("%d value rows and %d error rows agree; %d differ on purpose, %d are not a format's affair", c.values, c.errors, len(c.met), c.elsewhere)
}

// formatOf finds a format and checks the option keys as the connector would.
func formatOf(t *testing.T, r map[string]string) (connectors.Format, connectors.Options, error) {
	t.Helper()
	i := slices.IndexFunc(All(), func(f connectors.Format) bool { return f.Name == r["format"] })
	f := All()[i]
	opts := connectors.Options{}
	if r["options"] != "" {
		if err := json.Unmarshal([]byte(r["options"]), &opts); err != nil {
			t.Fatalf("%s: %v", r["id"], err)
		}
	}
	for k := range opts {
		known := slices.ContainsFunc(f.Options, func(o connectors.Option) bool { return o.Key == k })
		if !known || k == optParser.Key && strings.HasSuffix(r["group"], " strict") {
			return f, opts, fmt.Errorf("unsupported option %s", k)
		}
	}
	return f, opts, nil
}

// request makes the request; errors are those of the CREATE TABLE.
func request(r map[string]string, opts connectors.Options) (connectors.FormatRequest, error) {
	fields, err := parseSchema(r["schema"])
	req := connectors.FormatRequest{Fields: fields, Options: opts, Zone: time.UTC, Table: "t", Prefix: r["format"] + "."}
	if r["metadata"] != "" {
		req.Metadata = strings.Split(r["metadata"], ",")
	}
	return req, err
}

// decodedFields gives the columns that a decoder fills: those of the table and the metadata.
func decodedFields(f connectors.Format, req connectors.FormatRequest) []types.Field {
	fields := slices.Clone(req.Fields)
	for _, key := range req.Metadata {
		for _, m := range f.Metadata {
			if m.Key == key {
				fields = append(fields, types.Field{Name: key, Type: m.Type})
			}
		}
	}
	return fields
}

func TestRecordedDecode(t *testing.T) {
	c := newTally(t)
	for _, r := range recorded.Table(t, "testdata/decode.tsv") {
		if strings.HasPrefix(r["error"], "ddl|") {
			c.elsewhere++ // the parser's affair
			continue
		}
		got, fields, err := decodeRecorded(t, r)
		want := ""
		if r["error"] == "" {
			want = r["result"]
		}
		same := (err != nil) == (r["error"] != "")
		if same && err == nil {
			same = sameRows(t, fields, got, want)
		}
		c.judge(t, r["id"], r["error"] != "", same, fmt.Sprintf("[%s] %s %s (%s) %q:\n got  %s %v\n want %s %s",
			r["group"], r["format"], r["options"], r["schema"], r["input"], got, err, want, r["error"]))
	}
	c.end(t, "d.")
}

// decodeRecorded gives the rows as the table writes them, and their columns.
func decodeRecorded(t *testing.T, r map[string]string) (string, []types.Field, error) {
	f, opts, err := formatOf(t, r)
	if err != nil {
		return "", nil, err
	}
	req, err := request(r, opts)
	if err != nil {
		return "", nil, err
	}
	d, err := f.Decoder(req)
	if err != nil {
		return "", nil, err
	}
	fields := decodedFields(f, req)
	out := types.NewBatch(fields)
	msg := message(r["input"], true)
	if r["input"] == "" {
		msg = []byte{}
	}
	if err := d.Decode(msg, out); err != nil {
		checkEven(t, r["id"], out, 0)
		return "", nil, err
	}
	checkEven(t, r["id"], out, out.Len)
	once := out.Len
	if err := d.Decode(msg, out); err != nil || out.Len != 2*once { // behind other rows, with used buffers
		t.Errorf("%s: the second time: %d rows, %v", r["id"], out.Len, err)
	}
	out.Truncate(once)
	checkEven(t, r["id"], out, once)
	var rows [][]any
	for i := range int32(out.Len) {
		cells := []any{}
		for _, col := range out.Cols {
			if col.Null(i) {
				cells = append(cells, nil)
			} else {
				cells = append(cells, string(types.AppendShown(nil, col, i, time.UTC)))
			}
		}
		rows = append(rows, []any{out.Kind(i).String(), cells})
	}
	if rows == nil {
		return "[]", fields, nil
	}
	b, _ := json.Marshal(rows)
	return string(b), fields, nil
}

// checkEven makes sure that every column has the given number of rows.
func checkEven(t *testing.T, id string, b *types.Batch, n int) {
	t.Helper()
	for k, c := range b.Cols {
		if c.Len() != n || b.Len != n {
			t.Fatalf("%s: column %d has %d rows, the batch %d, not %d", id, k, c.Len(), b.Len, n)
		}
	}
}

var tokens = regexp.MustCompile(`[{}\[\](), ]+`)

// sameRows compares rows; where a column holds a map, the order of its entries does not count.
func sameRows(t *testing.T, fields []types.Field, got, want string) bool {
	if got == want {
		return true
	}
	var g, w [][]any
	if json.Unmarshal([]byte(got), &g) != nil || json.Unmarshal([]byte(want), &w) != nil {
		t.Fatalf("not JSON: %s %s", got, want)
	}
	if len(g) != len(w) {
		return false
	}
	for i := range g {
		gc, wc := g[i][1].([]any), w[i][1].([]any)
		if g[i][0] != w[i][0] || len(gc) != len(wc) {
			return false
		}
		for k := range gc {
			if gc[k] == wc[k] {
				continue
			}
			gs, _ := gc[k].(string)
			ws, _ := wc[k].(string)
			if !strings.Contains(fields[k].Type.Name(), "MAP<") && !strings.Contains(fields[k].Type.Name(), "MULTISET<") ||
				!slices.Equal(bag(gs), bag(ws)) {
				return false
			}
		}
	}
	return true
}

func bag(s string) []string {
	parts := tokens.Split(s, -1)
	sort.Strings(parts)
	return parts
}

func TestRecordedEncode(t *testing.T) {
	c := newTally(t)
	for _, r := range recorded.Table(t, "testdata/encode.tsv") {
		if strings.HasPrefix(r["error"], "ddl|") {
			c.elsewhere++
			continue
		}
		got, err := encodeRecorded(t, r)
		same := (err != nil) == (r["error"] != "")
		if same && err == nil && got != r["output"] {
			same = strings.Contains(r["schema"], "MAP<") || strings.Contains(r["schema"], "MULTISET<")
			same = same && slices.Equal(jsonBag(got), jsonBag(r["output"]))
		}
		c.judge(t, r["id"], r["error"] != "", same, fmt.Sprintf("[%s] %s %s (%s) %s:\n got  %q %v\n want %q %s",
			r["group"], r["format"], r["options"], r["schema"], r["row"], got, err, r["output"], r["error"]))
	}
	c.end(t, "e.")
}

func jsonBag(s string) []string {
	parts := regexp.MustCompile(`[{}\[\],]+`).Split(s, -1)
	sort.Strings(parts)
	return parts
}

// encodeRecorded gives the message as the table writes it.
func encodeRecorded(t *testing.T, r map[string]string) (string, error) {
	f, opts, err := formatOf(t, r)
	if err != nil {
		return "", err
	}
	req, err := request(r, opts)
	if err != nil {
		return "", err
	}
	e, err := f.Encoder(req)
	if err != nil {
		return "", err
	}
	var exprs []string
	if err := json.Unmarshal([]byte(r["row"]), &exprs); err != nil {
		t.Fatalf("%s: %v", r["id"], err)
	}
	b := types.NewBatch(req.Fields)
	for i, x := range exprs {
		b.Cols[i].Append(evaluate(t, x, req.Fields[i].Type))
	}
	kind := types.Insert
	for kind.String() != r["kind"] {
		kind++
	}
	b.Push(kind)
	out, err := e.Encode(nil, b, 0)
	if err != nil {
		return "", err
	}
	if n, ok := e.(connectors.NullEncoder); ok && n.Null(b, 0) {
		return `\N`, nil
	}
	if r["format"] == "raw" && !req.Fields[0].Type.IsString() || strings.HasPrefix(r["output"], "x'") && r["format"] == "raw" {
		return "x'" + hex.EncodeToString(out) + "'", nil
	}
	return string(out), nil
}
