package expr

import (
	"fmt"

	"runnel/types"
)

// jsonAggregates write JSON from many rows.
func jsonAggregates() []Aggregate {
	text := types.VarcharOf(2000).Required()
	object := func(args []types.Type) (types.Type, error) {
		if len(args) != 2 {
			return types.Type{}, aggCount("JSON_OBJECTAGG", 2)
		}
		if !args[0].IsString() {
			return types.Type{}, aggMisfit("JSON_OBJECTAGG", args, "'JSON_OBJECTAGG(<CHARACTER>, <ANY>)'")
		}
		if msg := jsonWritable(args[1]); msg != "" {
			return types.Type{}, &TypeError{Msg: msg}
		}
		return text, nil
	}
	array := func(args []types.Type) (types.Type, error) {
		if len(args) != 1 {
			return types.Type{}, aggCount("JSON_ARRAYAGG", 1)
		}
		if msg := jsonWritable(args[0]); msg != "" {
			return types.Type{}, &TypeError{Msg: msg}
		}
		return text, nil
	}
	return []Aggregate{
		{Name: "JSON_OBJECTAGG", Sure: true, Doc: "JSON_OBJECTAGG([KEY] key VALUE value [{NULL | ABSENT} ON NULL]): an object as JSON; keys must be unique.",
			Result: object, bind: func(b *aggBinding) (*Accumulator, error) { return bindObjectAgg(b), nil }},
		{Name: "JSON_ARRAYAGG", Sure: true, Doc: "JSON_ARRAYAGG(value [{NULL | ABSENT} ON NULL]): an array as JSON, in the order of arrival.",
			Result: array, bind: func(b *aggBinding) (*Accumulator, error) { return bindArrayAggJSON(b), nil }},
	}
}

// appendJSONAt writes row i of a column; a text that JSON_OBJECT or JSON_ARRAY made goes in as it is.
func appendJSONAt(dst []byte, c *types.Column, i int32, made bool) ([]byte, error) {
	d := c.At(i)
	if made && !d.Null {
		return append(dst, d.S...), nil
	}
	return appendJSON(dst, c.Type, d)
}

// bindObjectAgg keeps a sorted set of the keys, each with its value as JSON.
func bindObjectAgg(b *aggBinding) *Accumulator {
	keyArg, valArg := b.args[0], b.args[1]
	absent, made := b.nulls == NullsSkipped, b.made
	code := newWordCode(types.String())
	var buf []byte
	var arena types.Arena
	put := func(set Elems, words []uint64, text string) error {
		e, inserted := set.Add(words)
		if !inserted {
			return fmt.Errorf("Key '%s' is already present. Duplicate keys are not allowed in JSON_OBJECTAGG. Please ensure that keys are unique.",
				appendWordText(nil, words))
		}
		set.PutBytes(e, 0, text)
		return nil
	}
	counts := func(batch *types.Batch, i int32) bool {
		return !batch.Cols[keyArg].Null(i) && !(absent && batch.Cols[valArg].Null(i))
	}
	key := func(batch *types.Batch, i int32) []uint64 {
		if counts(batch, i) {
			return code.encode(batch.Cols[keyArg], i)
		}
		return nil
	}
	return withPartial(&Accumulator{
		Slots: []Slot{{Kind: SortedSlot, Elem: []SlotKind{BytesSlot}}},
		Codec: 1,
		Add: func(_ []uint64, st Store, batch *types.Batch, i int32) (err error) {
			if batch.Cols[keyArg].Null(i) {
				return fmt.Errorf("Null keys are not allowed in JSON_OBJECTAGG")
			}
			if !counts(batch, i) {
				return nil
			}
			if buf, err = appendJSONAt(buf[:0], batch.Cols[valArg], i, made); err != nil {
				return err
			}
			return put(st.Elems(0), code.encode(batch.Cols[keyArg], i), string(buf))
		},
		Retract: func(_ []uint64, st Store, batch *types.Batch, i int32) error {
			if counts(batch, i) {
				removeFirst(st.Elems(0), code.encode(batch.Cols[keyArg], i))
			}
			return nil
		},
		Merge: func(_ []uint64, st Store, _ []uint64, fromStore Store) error {
			set, from := st.Elems(0), fromStore.Elems(0)
			for e := from.Next(0); e != 0; e = from.Next(e) {
				text, _ := from.Bytes(e, 0)
				if err := put(set, from.Words(e), text); err != nil {
					return err
				}
			}
			return nil
		},
		Value: func(_ []uint64, st Store, out *types.Column) error {
			set := st.Elems(0)
			buf = append(buf[:0], '{')
			for e := set.Next(0); e != 0; e = set.Next(e) {
				if len(buf) > 1 {
					buf = append(buf, ',')
				}
				buf = append(appendJSONString(buf, string(appendWordText(nil, set.Words(e)))), ':')
				text, _ := set.Bytes(e, 0)
				buf = append(buf, text...)
			}
			out.AppendStr(arena.Copy(append(buf, '}')))
			return nil
		},
	}, key)
}

// bindArrayAggJSON keeps the list of the values as JSON.
func bindArrayAggJSON(b *aggBinding) *Accumulator {
	arg, made := b.args[0], b.made
	keep := b.nulls == NullsKept
	code := newWordCode(types.String())
	var buf []byte
	var arena types.Arena
	words := func(batch *types.Batch, i int32) ([]uint64, error) {
		var err error
		if buf, err = appendJSONAt(buf[:0], batch.Cols[arg], i, made); err != nil {
			return nil, err
		}
		code.words = code.words[:0]
		code.text(string(buf))
		return code.words, nil
	}
	return &Accumulator{
		Slots: []Slot{{Kind: ListSlot}},
		Codec: 1,
		Add: func(_ []uint64, st Store, batch *types.Batch, i int32) error {
			if !keep && batch.Cols[arg].Null(i) {
				return nil
			}
			w, err := words(batch, i)
			if err == nil {
				st.Elems(0).Add(w)
			}
			return err
		},
		Retract: func(_ []uint64, st Store, batch *types.Batch, i int32) error {
			if !keep && batch.Cols[arg].Null(i) {
				return nil
			}
			w, err := words(batch, i)
			if err == nil {
				removeFirst(st.Elems(0), w)
			}
			return err
		},
		Merge: mergeLists(0),
		Value: func(_ []uint64, st Store, out *types.Column) error {
			list := st.Elems(0)
			buf = append(buf[:0], '[')
			for e := list.Next(0); e != 0; e = list.Next(e) {
				if len(buf) > 1 {
					buf = append(buf, ',')
				}
				buf = appendWordText(buf, list.Words(e))
			}
			out.AppendStr(arena.Copy(append(buf, ']')))
			return nil
		},
	}
}
