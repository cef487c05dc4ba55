package kafka

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/IBM/sarama"
)

// missing gives the partitions in which a transaction has not been committed, as the embedded broker's log itself says.
// That broker commits partition by partition and the marker last, so a kill can come between; a real one finishes what
// it has begun. Repetitions that were begun by earlier recoveries count too.
func (m *committer) missing(ctx context.Context, c *committable) ([]txnPartition, error) {
	attempts := []*committable{c}
	if c.log != "" {
		paths, err := filepath.Glob(filepath.Join(m.dir, c.log) + ".again-*")
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("note of a repeated transaction: %w", err)
			}
			again, err := decodeCommittable(text)
			if err != nil {
				return nil, fmt.Errorf("note of a repeated transaction: %w", err)
			}
			attempts = append(attempts, again)
		}
	}
	there := map[topicPartition]bool{}
	for _, a := range attempts {
		for _, p := range a.partitions {
			ok, err := m.c.committedIn(ctx, a.who, p)
			if err != nil {
				return nil, fmt.Errorf("search of %s for the end of transaction %s: %w", p, a.who.txn, err)
			}
			there[p.topicPartition] = there[p.topicPartition] || ok
		}
	}
	var missing []txnPartition
	for _, p := range c.partitions {
		if !there[p.topicPartition] {
			missing = append(missing, p)
		}
	}
	return missing, nil
}

// committedIn searches a partition, from the transaction's first record on, for the control record that commits it.
func (c *client) committedIn(ctx context.Context, who identity, p txnPartition) (bool, error) {
	ps := []int32{p.partition}
	oldest, err := c.listOffsets(ctx, p.topic, ps, sarama.OffsetOldest, false)
	if err != nil {
		return false, err
	}
	newest, err := c.listOffsets(ctx, p.topic, ps, sarama.OffsetNewest, false)
	if err != nil {
		return false, err
	}
	end := newest[p.partition]
	for at := max(p.first, oldest[p.partition]); at < end; {
		b, err := c.leader(p.topic, p.partition)
		if err != nil {
			return false, err
		}
		req := &sarama.FetchRequest{Version: 11, MaxWaitTime: 100, MinBytes: 1, MaxBytes: answerBytes}
		req.AddBlock(p.topic, p.partition, at, fetchBytes, -1)
		resp, err := b.Fetch(req)
		if err != nil {
			return false, err
		}
		block := resp.GetBlock(p.topic, p.partition)
		if block == nil || block.Err != sarama.ErrNoError || len(block.RecordsSet) == 0 {
			return false, fmt.Errorf("fetch at offset %d of %d gave nothing", at, end)
		}
		for _, set := range block.RecordsSet {
			rb := set.RecordBatch
			if rb == nil || rb.PartialTrailingRecord {
				break
			}
			if rb.Control && rb.ProducerID == who.id && rb.ProducerEpoch == who.epoch && controlType(rb) == 1 {
				return true, nil
			}
			at = rb.LastOffset() + 1
		}
	}
	return false, nil
}
