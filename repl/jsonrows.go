package repl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"runnel/types"
)

// jsonRows writes rows as JSON objects: numbers and booleans as such, arrays as arrays, rows and maps with text keys as
// objects, other maps as arrays of {"key": .., "value": ..}, and the rest as the text that tables show.
type jsonRows struct {
	fields []types.Field
	zone   *time.Location
	buf    []byte
}

// row gives a row as a line, valid until the next call.
func (j *jsonRows) row(b *types.Batch, i int32) []byte {
	dst := append(append(append(j.buf[:0], `{"op":"`...), b.Kind(i).String()...), '"')
	for k, f := range j.fields {
		dst = j.value(append(appendJSONText(append(dst, ','), f.Name), ':'), &f.Type, b.Cols[k].At(i))
	}
	j.buf = append(dst, '}', '\n')
	return j.buf
}

func (j *jsonRows) value(dst []byte, t *types.Type, d types.Datum) []byte {
	if d.Null {
		return append(dst, "null"...)
	}
	switch v := d.A.(type) {
	case *types.List:
		return j.list(dst, len(v.Elems), '[', ']', func(dst []byte, k int) []byte { return j.value(dst, t.Elem, v.Elems[k]) })
	case *types.Tuple:
		return j.list(dst, len(v.Fields), '{', '}', func(dst []byte, k int) []byte {
			return j.value(append(appendJSONText(dst, t.Fields[k].Name), ':'), &t.Fields[k].Type, v.Fields[k])
		})
	case *types.MapValue:
		return j.mapValue(dst, t, v)
	}
	if t.IsBinary() {
		return fmt.Appendf(dst, `"x'%x'"`, d.S)
	}
	text := types.AppendText(nil, t, d, j.zone)
	switch {
	case t.Kind == types.Boolean:
		return append(dst, bytes.ToLower(text)...)
	case t.IsNumeric() && json.Valid(text):
		return append(dst, text...)
	}
	return appendJSONText(dst, string(text)) // also NaN and infinities
}

func (j *jsonRows) mapValue(dst []byte, t *types.Type, v *types.MapValue) []byte {
	count := types.Of(types.Int)
	key, val := t.Key, t.Elem
	if t.Kind == types.Multiset {
		key, val = t.Elem, &count
	}
	if key.IsString() {
		return j.list(dst, len(v.Keys), '{', '}', func(dst []byte, k int) []byte {
			return j.value(append(appendJSONText(dst, v.Keys[k].S), ':'), val, v.Vals[k])
		})
	}
	return j.list(dst, len(v.Keys), '[', ']', func(dst []byte, k int) []byte {
		dst = j.value(append(dst, `{"key":`...), key, v.Keys[k])
		return append(j.value(append(dst, `,"value":`...), val, v.Vals[k]), '}')
	})
}

func (j *jsonRows) list(dst []byte, n int, begin, end byte, item func(dst []byte, k int) []byte) []byte {
	dst = append(dst, begin)
	for k := range n {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = item(dst, k)
	}
	return append(dst, end)
}

// appendJSONText quotes text; what is no UTF-8 becomes the replacement character.
func appendJSONText(dst []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) // a string always has a JSON form
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
