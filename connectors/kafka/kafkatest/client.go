// Package kafkatest is a plain Kafka client for tests to judge by. It shares no code with the connector, whose answers it
// checks: it goes through another client library.
package kafkatest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// Client talks to one cluster. It is safe for use by several goroutines.
type Client struct {
	cl *kgo.Client
}

// limit bounds every call.
const limit = 30 * time.Second

// Dial makes a client of the cluster at addr, host:port.
func Dial(addr string) (*Client, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerBatchMaxBytes(batchBytes), kgo.MaxBufferedRecords(1<<20),
		kgo.MetadataMinAge(10*time.Millisecond), kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }),
		kgo.MaxVersions(kversion.V2_8_0())) // fetches name their topics, not ids
	if err != nil {
		return nil, fmt.Errorf("client of %s: %w", addr, err)
	}
	return &Client{cl}, nil
}

// batchBytes is the greatest size of a record batch that Produce makes: so small that a reader can be told to read little
// at a time.
const batchBytes = 2048

// Close ends the client.
func (c *Client) Close() { c.cl.Close() }

// CreateTopic makes a topic and waits until its partitions can be written.
func (c *Client) CreateTopic(name string, partitions int) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, int32(partitions), 1
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, c.cl)
	if err == nil {
		err = kerr.ErrorForCode(resp.Topics[0].ErrorCode)
	}
	for err == nil {
		var leaders []int32
		if leaders, err = c.leaders(ctx, name); err != nil || len(leaders) == partitions {
			break
		}
		err = pause(ctx)
	}
	if err != nil {
		return fmt.Errorf("topic %s: %w", name, err)
	}
	return nil
}

func pause(ctx context.Context) error {
	select {
	case <-time.After(10 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leaders gives the leader of each partition of a topic; none for a topic that is not there or not ready.
func (c *Client) leaders(ctx context.Context, topic string) ([]int32, error) {
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = &topic
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, c.cl)
	if err != nil {
		return nil, fmt.Errorf("partitions of topic %s: %w", topic, err)
	}
	parts := resp.Topics[0].Partitions
	leaders := make([]int32, len(parts))
	for _, p := range parts {
		if p.ErrorCode != 0 || p.Leader < 0 || int(p.Partition) >= len(parts) {
			return nil, nil
		}
		leaders[p.Partition] = p.Leader
	}
	return leaders, nil
}

// Produce writes values to the partitions of a topic in turn and waits until all are acknowledged.
func (c *Client) Produce(topic string, values [][]byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
	defer cancel()
	leaders, err := c.leaders(ctx, topic)
	if err != nil {
		return err
	}
	if len(leaders) == 0 {
		return fmt.Errorf("topic %s: not there", topic)
	}
	var mu sync.Mutex
	var first error
	for i, v := range values {
		c.cl.Produce(ctx, &kgo.Record{Topic: topic, Partition: int32(i % len(leaders)), Value: v}, func(_ *kgo.Record, err error) {
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				first = err
			}
		})
	}
	if err := c.cl.Flush(ctx); err != nil {
		return fmt.Errorf("topic %s: %w", topic, err)
	}
	mu.Lock()
	defer mu.Unlock()
	return first
}

// Ends gives the end of each partition of a topic, none for a topic that is not there. Committed ends are those of read_committed: the first row of an open
// transaction.
func (c *Client) Ends(topic string, committed bool) ([]int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return c.ends(ctx, topic, committed)
}

func (c *Client) ends(ctx context.Context, topic string, committed bool) ([]int64, error) {
	leaders, err := c.leaders(ctx, topic)
	if err != nil || len(leaders) == 0 {
		return nil, err
	}
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = topic
	for p := range leaders {
		part := kmsg.NewListOffsetsRequestTopicPartition()
		part.Partition, part.Timestamp = int32(p), -1
		t.Partitions = append(t.Partitions, part)
	}
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID, req.Topics = -1, []kmsg.ListOffsetsRequestTopic{t}
	if committed {
		req.IsolationLevel = 1
	}
	ends := make([]int64, len(leaders))
	resp, err := req.RequestWith(ctx, c.cl)
	if err != nil {
		return nil, fmt.Errorf("ends of topic %s: %w", topic, err)
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("end of topic %s, partition %d: %w", topic, p.Partition, err)
			}
			ends[p.Partition] = p.Offset
		}
	}
	return ends, nil
}

// Offsets gives the committed offset of a consumer group for each partition of a topic, -1 for none.
func (c *Client) Offsets(group, topic string) ([]int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	leaders, err := c.leaders(ctx, topic)
	if err != nil {
		return nil, err
	}
	t := kmsg.NewOffsetFetchRequestTopic()
	t.Topic = topic
	for p := range leaders {
		t.Partitions = append(t.Partitions, int32(p))
	}
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group, req.Topics = group, []kmsg.OffsetFetchRequestTopic{t}
	resp, err := req.RequestWith(ctx, c.cl)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	if err != nil {
		return nil, fmt.Errorf("offsets of group %s: %w", group, err)
	}
	offsets := make([]int64, len(leaders))
	for i := range offsets {
		offsets[i] = -1
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("offset of group %s for topic %s, partition %d: %w", group, topic, p.Partition, err)
			}
			offsets[p.Partition] = p.Offset
		}
	}
	return offsets, nil
}

// Committed gives the values that a read_committed reader finds in a topic at the moment, partition by partition.
func (c *Client) Committed(topic string) ([][]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
	defer cancel()
	leaders, err := c.leaders(ctx, topic)
	if err != nil {
		return nil, err
	}
	ends, err := c.ends(ctx, topic, true)
	if err != nil {
		return nil, err
	}
	var values [][]byte
	for p, end := range ends {
		for at := int64(0); at < end; {
			got, next, err := c.fetch(ctx, leaders[p], topic, int32(p), at)
			if err != nil {
				return nil, fmt.Errorf("topic %s, partition %d, from %d: %w", topic, p, at, err)
			}
			for _, r := range got {
				if r.Offset < end {
					values = append(values, r.Value)
				}
			}
			at = next
		}
	}
	return values, nil
}

// fetch reads once, read_committed.
func (c *Client) fetch(ctx context.Context, leader int32, topic string, partition int32, at int64) ([]*kgo.Record, int64, error) {
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes = partition, at, 1<<20
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.Partitions = topic, []kmsg.FetchRequestTopicPartition{part}
	req := kmsg.NewPtrFetchRequest()
	// The answer's own limit is out of reach: where it cuts, the embedded broker leaves out what was aborted.
	req.ReplicaID, req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.IsolationLevel = -1, 100, 1, 1<<30, 1
	req.SessionEpoch, req.Topics = -1, []kmsg.FetchRequestTopic{t}
	raw, err := c.cl.Broker(int(leader)).RetriableRequest(ctx, req)
	if err != nil {
		return nil, at, err
	}
	resp := raw.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return nil, at, err
	}
	if len(resp.Topics) == 0 || len(resp.Topics[0].Partitions) == 0 {
		return nil, at, nil
	}
	opts := kgo.ProcessFetchPartitionOpts{Offset: at, IsolationLevel: kgo.ReadCommitted(), Topic: topic, Partition: partition}
	got, next := kgo.ProcessFetchPartition(opts, &resp.Topics[0].Partitions[0], kgo.DefaultDecompressor(), nil)
	return got.Records, next, got.Err
}
