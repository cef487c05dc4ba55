package kafka

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// decoding turns records into the columns of one batch: value fields straight into them by the value format, key fields
// and metadata beside them.
type decoding struct {
	out   *types.Batch // what is given to the task
	times []int64

	value connectors.Decoder
	view  *types.Batch // the columns of out that the value format fills, and the owner of the kinds

	key     connectors.Decoder // nil without a key format
	keys    *types.Batch
	fromKey []keyColumn
	deleted []keyColumn     // upsert: the columns of the key
	absent  []*types.Column // upsert: the other ones, NULL in a row that a tombstone deletes
	upsert  bool

	meta []metaColumn
	raw  []*types.Column // those of view that are not in out, since they are cast first

	pile *types.Batch // rows of a message that has more of them than fit, nil until needed
	zone *time.Location
}

// keyColumn is a column of out that comes from the record key.
type keyColumn struct {
	col  int // of keys
	dest *types.Column
}

func newDecoding(src *sourceSpec, zone *time.Location) (*decoding, error) {
	s, req := src.spec, src.req
	d := &decoding{out: types.NewBatch(req.Fields()), view: &types.Batch{}, zone: zone, upsert: s.upsert}
	at := map[int]*types.Column{} // table column -> column of out
	for i, c := range req.Columns {
		at[c] = d.out.Cols[i]
	}
	for _, c := range s.value.columns {
		if at[c] != nil {
			d.view.Cols = append(d.view.Cols, at[c])
		}
	}
	var formatMeta []string
	for _, c := range req.Columns {
		col := s.table.Columns[c]
		if col.Metadata == "" {
			continue
		}
		if m, ok := s.formatMetadata(col.Metadata); ok {
			formatMeta = append(formatMeta, m.Key)
			if err := d.formatMeta(s, col, m.Type, at[c]); err != nil {
				return nil, err
			}
			continue
		}
		m, err := newMetaColumn(s, col, at[c], zone)
		if err != nil {
			return nil, err
		}
		d.meta = append(d.meta, m)
	}
	var err error
	d.value, err = s.value.format.Decoder(s.request(s.value, func(c int) bool { return at[c] != nil }, formatMeta, zone))
	if err != nil {
		return nil, err
	}
	if s.key.format != nil {
		err = d.keySide(s, at, zone)
	}
	return d, err
}

// formatMeta has a metadata column filled by the value format, with a cast between if it was declared with another type.
func (d *decoding) formatMeta(s *spec, col connectors.Column, is types.Type, dest *types.Column) error {
	if holds(col.Type, is) {
		d.view.Cols = append(d.view.Cols, dest)
		return nil
	}
	c, err := newMetaCast(s, col, is, d.zone)
	if err != nil {
		return err
	}
	raw := types.NewColumn(is, types.BatchRows)
	d.view.Cols, d.raw = append(d.view.Cols, raw), append(d.raw, raw)
	d.meta = append(d.meta, metaColumn{dest, func(_ *record, _ *partition, n int) error {
		if n == 0 {
			return nil
		}
		c.in.Reset()
		c.in.Cols[0].AppendFrom(raw, int32(raw.Len()-1)) // the rows of a message share it
		c.in.Push(types.Insert)
		return c.fill(dest, n)
	}})
	return nil
}

func (d *decoding) keySide(s *spec, at map[int]*types.Column, zone *time.Location) (err error) {
	r := s.request(s.key, func(int) bool { return true }, nil, zone)
	if d.key, err = s.key.format.Decoder(r); err != nil {
		return err
	}
	d.keys = types.NewBatch(r.Fields)
	for i, c := range s.key.columns {
		if at[c] == nil {
			continue
		}
		d.deleted = append(d.deleted, keyColumn{i, at[c]})
		// A column that is part of both comes from the value.
		if !slices.Contains(s.value.columns, c) {
			d.fromKey = append(d.fromKey, keyColumn{i, at[c]})
		}
	}
	for _, c := range s.value.columns {
		if at[c] != nil && !slices.Contains(s.key.columns, c) {
			d.absent = append(d.absent, at[c])
		}
	}
	return nil
}

// begin empties the batch.
func (d *decoding) begin() {
	d.out.Kinds = nil
	d.out.Reset()
	d.view.Reset()
	d.times = d.times[:0]
}

func (d *decoding) full() bool { return d.view.Len >= types.BatchRows }

// rows gives the batch, nil when it is empty.
func (d *decoding) rows() (*types.Batch, []int64) {
	if d.view.Len == 0 {
		return nil, nil
	}
	return d.out, d.times
}

// record appends the rows of a message that have not been given yet. whole is false when there are more of them than the
// batch can take: the position then stays at the message and p.skip counts what was given.
func (d *decoding) record(p *partition, rec *record) (whole bool, err error) {
	before := d.view.Len
	keyRows := 1
	if d.key != nil {
		d.keys.Reset()
		if err := d.key.Decode(rec.Key, d.keys); err != nil {
			return false, p.dataError(rec, "key", rec.Key, err)
		}
		keyRows = d.keys.Len
	}
	n, err := d.values(p, rec, keyRows)
	if err != nil {
		return false, err
	}
	for range n {
		d.times = append(d.times, rec.millis())
	}
	for i := range d.meta {
		if err := d.meta[i].add(rec, p, n); err != nil {
			d.truncate(before)
			return false, p.dataError(rec, "metadata", rec.Value, err)
		}
	}
	d.out.Len, d.out.Kinds = d.view.Len, d.view.Kinds
	if p.skip == 0 && d.view.Len <= types.BatchRows {
		return true, nil
	}
	return d.cut(p, before), nil
}

// values appends the rows of a record but for its metadata, and counts them.
func (d *decoding) values(p *partition, rec *record, keyRows int) (int, error) {
	if d.upsert && rec.Value == nil {
		return d.tombstone(keyRows), nil
	}
	before := d.view.Len
	if err := d.value.Decode(rec.Value, d.view); err != nil {
		d.view.Truncate(before)
		return 0, p.dataError(rec, "value", rec.Value, err)
	}
	n := d.view.Len - before
	if d.upsert {
		d.updates(before, n)
	}
	if keyRows != 1 {
		d.multiply(before, n, keyRows)
		return n * keyRows, nil
	}
	for _, k := range d.fromKey {
		for range n {
			k.dest.AppendFrom(d.keys.Cols[k.col], 0)
		}
	}
	return n, nil
}

// multiply makes the rows from before on the product of key rows and value rows, the key rows inside: Flink's order.
func (d *decoding) multiply(before, n, keyRows int) {
	values := &types.Batch{}
	for _, c := range d.view.Cols {
		v := types.NewColumn(c.Type, n)
		for i := before; i < before+n; i++ {
			v.AppendFrom(c, int32(i))
		}
		values.Cols = append(values.Cols, v)
	}
	for i := range n {
		values.Kinds = append(values.Kinds, d.view.Kind(int32(before+i)))
	}
	d.view.Truncate(before)
	for i := range n {
		for k := range keyRows {
			d.view.AppendRow(values, int32(i), values.Kinds[i])
			for _, kc := range d.fromKey {
				kc.dest.AppendFrom(d.keys.Cols[kc.col], int32(k))
			}
		}
	}
}

// cut handles a message whose rows were given in part or do not fit: with rows of other messages before it, it is taken
// back and met again by the next poll; alone, as many of its rows as fit are given.
func (d *decoding) cut(p *partition, before int) (whole bool) {
	n := d.out.Len - before
	rest := n - int(p.skip)
	if before > 0 && before+rest > types.BatchRows {
		d.truncate(before)
		return false
	}
	give := min(rest, types.BatchRows-before)
	if d.pile == nil {
		d.pile = &types.Batch{}
		for _, c := range d.out.Cols {
			d.pile.Cols = append(d.pile.Cols, types.NewColumn(c.Type, give))
		}
	}
	d.pile.Reset()
	for i := range give {
		row := int32(before + int(p.skip) + i)
		d.pile.AppendRow(d.out, row, d.out.Kind(row))
	}
	millis := int64(0)
	if n > 0 {
		millis = d.times[before]
	}
	d.truncate(before)
	for i := range give {
		for j, c := range d.out.Cols {
			c.AppendFrom(d.pile.Cols[j], int32(i))
		}
		for _, c := range d.raw {
			c.AppendNull() // has been cast already
		}
		d.view.Push(d.pile.Kind(int32(i)))
		d.times = append(d.times, millis)
	}
	d.out.Len, d.out.Kinds = d.view.Len, d.view.Kinds
	if give < rest {
		p.skip += int64(give)
		return false
	}
	return true
}

func (d *decoding) truncate(n int) {
	d.view.Truncate(n)
	for _, c := range d.out.Cols {
		if c.Len() > n {
			c.Truncate(n)
		}
	}
	d.out.Len, d.out.Kinds = d.view.Len, d.view.Kinds
	d.times = d.times[:n]
}

// millis is the record's timestamp.
func (r *record) millis() int64 {
	if r.batch.LogAppendTime {
		return r.batch.MaxTimestamp.UnixMilli()
	}
	return r.batch.FirstTimestamp.UnixMilli() + r.TimestampDelta.Milliseconds()
}

// shownBytes is how much of a message an error shows.
const shownBytes = 120

// dataError says which message could not be read.
func (p *partition) dataError(rec *record, part string, msg []byte, err error) error {
	shown := msg
	cut := ""
	if len(shown) > shownBytes {
		shown, cut = shown[:shownBytes], fmt.Sprintf(" and %d bytes more", len(msg)-shownBytes)
	}
	return &types.DataError{
		Place: fmt.Sprintf("topic %s, partition %d, offset %d (%s)", p.topic, p.partition, rec.offset, part),
		Row:   strconv.Quote(string(shown)) + cut, Err: err,
	}
}
