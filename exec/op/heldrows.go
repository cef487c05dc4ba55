package op

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"runnel/types"
)

// heldRows are input rows that were on their way when a snapshot was taken. A subtask takes up those of every Of-th former
// subtask.
type heldRows struct {
	*types.Batch
	fields []types.Field
	codec  *types.RowCodec
}

func newHeldRows(ctx *Context, fields []types.Field, snapshots [][]byte) (heldRows, error) {
	h := heldRows{fields: fields, codec: newRowBytes(fields).codec, Batch: types.NewBatch(fields)}
	for k, s := range snapshots {
		if k%ctx.Of != ctx.Subtask {
			continue
		}
		if err := h.decode(s); err != nil {
			return h, fmt.Errorf("rows that were on their way: %w", err)
		}
	}
	return h, nil
}

// take gives the rows and holds none any more.
func (h *heldRows) take() *types.Batch {
	b := h.Batch
	h.Batch = types.NewBatch(h.fields)
	return b
}

// encode writes the version of the row codec, the names and types of the columns, and the rows with their kinds; nothing when there are none.
func (h *heldRows) encode() ([]byte, error) {
	if h.Batch == nil || h.Len == 0 {
		return nil, nil
	}
	b := []byte{types.RowCodecVersion}
	b = appendText(b, h.describe())
	for _, i := range h.Live() {
		b = append(b, byte(h.Kind(i)))
		b = h.codec.Append(b, h.Cols, i)
	}
	return b, nil
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// describe names the columns, so that rows of another form are refused.
func (h *heldRows) describe() string {
	var s strings.Builder
	for _, f := range h.fields {
		fmt.Fprintf(&s, "%s %s, ", f.Name, f.Type.Plain().Optional())
	}
	return s.String()
}

func (h *heldRows) decode(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	n, w := binary.Uvarint(b[1:])
	if b[0] != types.RowCodecVersion || w <= 0 || uint64(len(b)-1-w) < n {
		return errors.New("unknown form")
	}
	b = b[1+w:]
	if was := string(b[:n]); was != h.describe() {
		return fmt.Errorf("their columns were %sthey are %s", was, h.describe())
	}
	for b = b[n:]; len(b) > 0; {
		kind := types.RowKind(b[0])
		rest, err := h.codec.Decode(b[1:], h.Cols)
		if err != nil {
			return err
		}
		h.Push(kind)
		b = rest
	}
	return nil
}
