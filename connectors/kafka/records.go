package kafka

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/IBM/sarama"
)

// records walks the record batches of one fetch of one partition in offset order. Control batches and, under
// read_committed, rows of aborted transactions are stepped over.
type records struct {
	batches []*sarama.RecordBatch
	aborted []*sarama.AbortedTransaction // nil under read_uncommitted; sorted by FirstOffset
	doomed  map[int64]bool               // producers whose open transaction will be aborted
	record  int                          // within batches[0]
	opened  bool                         // batches[0] was looked at
}

// record is one message with what its batch says of it.
type record struct {
	*sarama.Record
	offset int64
	batch  *sarama.RecordBatch
}

// newRecords takes what a fetch gave.
func newRecords(block *sarama.FetchResponseBlock, committed bool) (records, error) {
	var rs records
	for _, set := range block.RecordsSet {
		if set.RecordBatch == nil {
			return rs, fmt.Errorf("messages in the format of before Kafka 0.11, which is not supported")
		}
		if !set.RecordBatch.PartialTrailingRecord {
			rs.batches = append(rs.batches, set.RecordBatch)
		}
	}
	if committed && len(block.AbortedTransactions) > 0 {
		rs.aborted = slices.Clone(block.AbortedTransactions)
		slices.SortFunc(rs.aborted, func(a, b *sarama.AbortedTransaction) int { return int(min(max(a.FirstOffset-b.FirstOffset, -1), 1)) })
		rs.doomed = map[int64]bool{}
	}
	return rs, nil
}

// end gives the offset behind the last batch.
func (rs *records) end() (int64, bool) {
	if len(rs.batches) == 0 {
		return 0, false
	}
	return rs.batches[len(rs.batches)-1].LastOffset() + 1, true
}

// count is the number of records left, control records included.
func (rs *records) count() int {
	n := -rs.record
	for _, b := range rs.batches {
		n += len(b.Records)
	}
	return n
}

// next gives the first record at or after from without passing it.
func (rs *records) next(from int64) (record, bool) {
	for len(rs.batches) > 0 {
		b := rs.batches[0]
		if !rs.opened {
			rs.opened = true
			if rs.dropped(b) || b.LastOffset() < from {
				rs.drop()
				continue
			}
		}
		for ; rs.record < len(b.Records); rs.record++ {
			if r := b.Records[rs.record]; b.FirstOffset+r.OffsetDelta >= from {
				return record{r, b.FirstOffset + r.OffsetDelta, b}, true
			}
		}
		rs.drop()
	}
	return record{}, false
}

// pass steps over the record that next gave.
func (rs *records) pass() { rs.record++ }

func (rs *records) drop() {
	rs.batches[0] = nil
	rs.batches, rs.record, rs.opened = rs.batches[1:], 0, false
}

// dropped says whether the batch holds no rows for the reader, and keeps track of aborted transactions.
func (rs *records) dropped(b *sarama.RecordBatch) bool {
	for len(rs.aborted) > 0 && rs.aborted[0].FirstOffset <= b.LastOffset() {
		rs.doomed[rs.aborted[0].ProducerID] = true
		rs.aborted = rs.aborted[1:]
	}
	if b.Control {
		if rs.doomed != nil && abortMarker(b) {
			delete(rs.doomed, b.ProducerID)
		}
		return true
	}
	return b.IsTransactional && rs.doomed[b.ProducerID]
}

// abortMarker says whether a control batch ends a transaction by abort: its record's key is version and type, two bytes
// each, and type 0 is abort.
func abortMarker(b *sarama.RecordBatch) bool { return controlType(b) == 0 }

// controlType gives the type of a control batch: 0 abort, 1 commit, -1 something else.
func controlType(b *sarama.RecordBatch) int {
	if !b.Control || len(b.Records) == 0 || len(b.Records[0].Key) < 4 {
		return -1
	}
	return int(binary.BigEndian.Uint16(b.Records[0].Key[2:]))
}
