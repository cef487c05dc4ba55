package op

import (
	"time"

	"runnel/state"
	"runnel/types"
)

// UpsertMaterializer stands in front of a sink whose primary key is not the key by which its input keeps order. It keeps
// the rows of each primary key in order of arrival, and gives the last of them as the current one: +I for the first, +U
// when another becomes the last, -D when none is left. It never gives -U.
type UpsertMaterializer struct {
	keyedRows
	inputKey []int // an upsert key of the input: rows with the same one replace each other; nil: none known
	id       rowBytes
	words    []uint64
	kept     []*types.Column // of inputKey
}

// NewUpsertMaterializer makes the operator; rows are kept by primaryKey.
func NewUpsertMaterializer(in []types.Field, primaryKey, inputKey []int, ttl time.Duration) *UpsertMaterializer {
	return &UpsertMaterializer{keyedRows: keyedRows{in: in, key: primaryKey, ttl: ttl}, inputKey: inputKey}
}

// Open registers the state.
func (u *UpsertMaterializer) Open(ctx *Context) error {
	id := u.in
	if u.inputKey != nil {
		id = pick(u.in, u.inputKey)
	}
	u.id = newRowBytes(id)
	// An element's words tell it from others: its row, or its input key.
	return u.open(ctx, []state.Value{{Kind: state.List, Elem: []state.Value{keptRow}}}, u.row)
}

func (u *UpsertMaterializer) row(b *types.Batch, k int, i int32) error {
	m := u.table.Of(u.keys.group[k])
	u.words = state.AppendBytes(u.words[:0], u.idOf(b, i))
	if b.Kind(i).Retract() {
		if r := m.Find(u.keys.at(k)); r != 0 {
			return u.remove(m, r, b, i)
		}
		return nil
	}
	r, fresh := m.Upsert(u.keys.at(k))
	m.Touch(r)
	rows := m.Collection(0)
	e := state.Ref(0)
	if u.inputKey != nil {
		e = rows.Find(r, u.words)
	}
	if e == 0 {
		e, _ = rows.Add(r, u.words)
	}
	rows.PutBytes(e, 0, u.rows.of(b, i))
	if fresh {
		return u.give(b, i, types.Insert)
	}
	return u.give(b, i, types.UpdateAfter)
}

func (u *UpsertMaterializer) remove(m *state.Map, r state.Ref, b *types.Batch, i int32) error {
	rows := m.Collection(0)
	e := rows.Find(r, u.words)
	if e == 0 {
		return nil // expired, or never there
	}
	last := rows.Last(r) == e
	rows.Remove(r, e)
	m.Touch(r)
	if rows.Len(r) == 0 {
		m.Delete(r)
		return u.give(b, i, types.Delete)
	}
	if !last {
		return nil
	}
	kept, _ := rows.Bytes(rows.Last(r), 0)
	return u.giveKept(m.Key(r), kept, types.UpdateAfter)
}

// idOf gives the bytes by which a row is told from others.
func (u *UpsertMaterializer) idOf(b *types.Batch, i int32) string {
	if u.inputKey == nil {
		return u.id.of(b, i)
	}
	u.kept = u.kept[:0]
	for _, c := range u.inputKey {
		u.kept = append(u.kept, b.Cols[c])
	}
	return u.id.of(&types.Batch{Cols: u.kept}, i)
}
