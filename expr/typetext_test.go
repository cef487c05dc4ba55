package expr

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"runnel/types"
)

// typeReader reads types as types.Type.String writes them.
type typeReader struct {
	s  string
	at int
}

func parseType(t testing.TB, text string) types.Type {
	t.Helper()
	r := &typeReader{s: text}
	ty := r.read()
	if r.at != len(r.s) {
		t.Fatalf("type %q at %d", text, r.at)
	}
	return ty
}

func (r *typeReader) take(word string) bool {
	if strings.HasPrefix(r.s[r.at:], word) {
		r.at += len(word)
		return true
	}
	return false
}

func (r *typeReader) word() string {
	start := r.at
	for r.at < len(r.s) && (r.s[r.at] == '_' || r.s[r.at] >= 'A' && r.s[r.at] <= 'Z') {
		r.at++
	}
	return r.s[start:r.at]
}

// numbers reads (p) or (p, s).
func (r *typeReader) numbers() (ns []int) {
	if !r.take("(") {
		return nil
	}
	end := r.at + strings.IndexByte(r.s[r.at:], ')')
	for part := range strings.SplitSeq(r.s[r.at:end], ", ") {
		n, err := strconv.Atoi(part)
		if err != nil {
			panic(fmt.Sprint("type ", r.s))
		}
		ns = append(ns, n)
	}
	r.at = end + 1
	return ns
}

var plainKinds = map[string]types.Kind{"NULL": types.Null, "BOOLEAN": types.Boolean, "TINYINT": types.TinyInt, "SMALLINT": types.SmallInt,
	"INT": types.Int, "BIGINT": types.BigInt, "FLOAT": types.Float, "DOUBLE": types.Double, "DECIMAL": types.Decimal, "CHAR": types.Char,
	"VARCHAR": types.Varchar, "BINARY": types.Binary, "VARBINARY": types.Varbinary, "DATE": types.Date, "TIME": types.Time,
	"TIMESTAMP": types.Timestamp, "TIMESTAMP_LTZ": types.TimestampLTZ}

func (r *typeReader) read() types.Type {
	var t types.Type
	switch w := r.word(); w {
	case "STRING":
		t = types.String()
	case "BYTES":
		t = types.Bytes()
	case "INTERVAL":
		t = r.interval()
	case "ARRAY", "MULTISET":
		r.take("<")
		t = types.ArrayOf(r.read())
		if w == "MULTISET" {
			t.Kind = types.Multiset
		}
		r.take(">")
	case "MAP":
		r.take("<")
		k := r.read()
		r.take(", ")
		t = types.MapOf(k, r.read())
		r.take(">")
	case "ROW":
		r.take("<")
		t.Kind = types.Row
		for !r.take(">") {
			r.take(", ")
			r.take("`")
			end := r.at + strings.IndexByte(r.s[r.at:], '`')
			name := r.s[r.at:end]
			r.at = end + 2
			t.Fields = append(t.Fields, types.Field{Name: name, Type: r.read()})
		}
	default:
		t.Kind = plainKinds[w]
		for i, n := range r.numbers() {
			if i == 0 {
				t.Precision = n
			} else {
				t.Scale = n
			}
		}
	}
	t.NotNull = r.take(" NOT NULL")
	return t
}

func (r *typeReader) interval() types.Type {
	r.take(" ")
	start := r.at
	first := r.word()
	for r.numbers(); r.take(" TO "); r.numbers() {
		r.word()
	}
	t := types.Type{Kind: types.IntervalMillis, Unit: r.s[start:r.at]}
	if first == "YEAR" || first == "MONTH" {
		t.Kind = types.IntervalMonths
	}
	return t
}
