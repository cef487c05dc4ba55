package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/IBM/sarama"
)

// sinkTimeout bounds the transactional requests of a task: longer, and the task fails and is restarted.
const sinkTimeout = time.Minute

// refused says that a transaction can no longer be committed under its producer id and epoch: it was fenced, has expired,
// was ended otherwise, or its id was forgotten.
func refused(err error) bool {
	return errors.Is(err, sarama.ErrProducerFenced) || errors.Is(err, sarama.ErrInvalidProducerEpoch) ||
		errors.Is(err, sarama.ErrInvalidTxnState) || errors.Is(err, sarama.ErrInvalidProducerIDMapping)
}

// transact sends a request to the coordinator of a transactional id, again on errors that pass: real brokers answer "not
// yet" all the time. f gives the error of the answer.
func (c *client) transact(ctx context.Context, id string, limit time.Duration, f func(*sarama.Broker) error) error {
	return repeat(ctx, limit, func() error {
		b, err := c.TransactionCoordinator(id)
		if err != nil {
			return err
		}
		b.Open(c.Config())
		err = f(b)
		switch {
		case errors.Is(err, sarama.ErrNotCoordinatorForConsumer), errors.Is(err, sarama.ErrConsumerCoordinatorNotAvailable):
			c.RefreshTransactionCoordinator(id)
		case lostConnection(err):
			c.forget(b, err)
			c.RefreshTransactionCoordinator(id)
		}
		return err
	})
}

// kerror gives err, else the code of an answer.
func kerror(err error, code sarama.KError) error {
	if err != nil || code == sarama.ErrNoError {
		return err
	}
	return code
}

// initTxn starts an epoch of a transactional id: whatever transaction was open under it is aborted, and whoever used it
// before is fenced.
func (c *client) initTxn(ctx context.Context, id string, timeout, limit time.Duration) (identity, error) {
	who := identity{txn: id}
	err := c.transact(ctx, id, limit, func(b *sarama.Broker) error {
		r, err := b.InitProducerID(&sarama.InitProducerIDRequest{Version: 2, TransactionalID: &id, TransactionTimeout: timeout})
		if err == nil {
			who.id, who.epoch = r.ProducerID, r.ProducerEpoch
			err = kerror(nil, r.Err)
		}
		return err
	})
	if err != nil {
		return identity{}, fmt.Errorf("transactional id %s: %w", id, err)
	}
	return who, nil
}

// joinTxn makes partitions part of the open transaction.
func (c *client) joinTxn(ctx context.Context, who identity, topic string, partitions ...int32) error {
	err := c.transact(ctx, who.txn, sinkTimeout, func(b *sarama.Broker) error {
		r, err := b.AddPartitionsToTxn(&sarama.AddPartitionsToTxnRequest{
			Version: 1, TransactionalID: who.txn, ProducerID: who.id, ProducerEpoch: who.epoch, TopicPartitions: map[string][]int32{topic: partitions},
		})
		if err != nil {
			return err
		}
		for _, es := range r.Errors {
			for _, e := range es {
				if e.Err != sarama.ErrNoError {
					return e.Err
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("transaction %s: partitions %v of topic %s: %w", who.txn, partitions, topic, err)
	}
	return nil
}

// mark puts a group's offset into the open transaction: it becomes visible when, and only when, the transaction commits.
func (c *client) mark(ctx context.Context, who identity, m marker) error {
	err := c.transact(ctx, who.txn, sinkTimeout, func(b *sarama.Broker) error {
		r, err := b.AddOffsetsToTxn(&sarama.AddOffsetsToTxnRequest{
			Version: 1, TransactionalID: who.txn, ProducerID: who.id, ProducerEpoch: who.epoch, GroupID: m.group,
		})
		if err != nil {
			return err
		}
		return kerror(nil, r.Err)
	})
	if err == nil {
		err = repeat(ctx, sinkTimeout, func() error { return c.commitMarker(who, m) })
	}
	if err != nil {
		return fmt.Errorf("transaction %s: marker of checkpoint %d: %w", who.txn, m.checkpoint, err)
	}
	return nil
}

// marker is the proof that travels inside a transaction: an offset of the group, equal to the checkpoint id, whose
// metadata is the run. It lies at partition 0 of the topic.
type marker struct {
	group, topic, run string
	checkpoint        int64
}

func (c *client) commitMarker(who identity, m marker) error {
	b, err := c.Coordinator(m.group)
	if err != nil {
		return err
	}
	b.Open(c.Config())
	r, err := b.TxnOffsetCommit(&sarama.TxnOffsetCommitRequest{
		Version: 2, TransactionalID: who.txn, GroupID: m.group, ProducerID: who.id, ProducerEpoch: who.epoch,
		Topics: map[string][]*sarama.PartitionOffsetMetadata{m.topic: {{Partition: 0, Offset: m.checkpoint, LeaderEpoch: -1, Metadata: &m.run}}},
	})
	if err == nil {
		for _, es := range r.Topics {
			for _, e := range es {
				err = kerror(err, e.Err)
			}
		}
	}
	if err != nil {
		c.forget(b, err)
		c.RefreshCoordinator(m.group)
	}
	return err
}

// marked says whether the marker of a checkpoint has been committed by its run. It waits for transactions that still
// hold a marker of the group.
func (c *client) marked(ctx context.Context, m marker) (bool, error) {
	offsets, err := c.groupOffsets(ctx, m.group, map[string][]int32{m.topic: {0}}, true)
	if err != nil {
		return false, err
	}
	o, ok := offsets[topicPartition{m.topic, 0}]
	return ok && o.metadata == m.run && o.offset >= m.checkpoint, nil
}

// endTxn commits or aborts. It may be sent again for a transaction that has ended so already.
func (c *client) endTxn(ctx context.Context, who identity, commit bool, limit time.Duration) error {
	return c.transact(ctx, who.txn, limit, func(b *sarama.Broker) error {
		r, err := b.EndTxn(&sarama.EndTxnRequest{Version: 2, TransactionalID: who.txn, ProducerID: who.id, ProducerEpoch: who.epoch, TransactionResult: commit})
		if err != nil {
			return err
		}
		return kerror(nil, r.Err)
	})
}

// forEver is the limit of requests that are repeated until their context ends.
const forEver = time.Duration(1<<63 - 1)

// commitTxn commits, and returns when read_committed readers see the rows. The coordinator answers the first request as
// soon as the commit is certain, and refuses the second as too early until all partitions have it.
func (c *client) commitTxn(ctx context.Context, who identity) error {
	if err := c.endTxn(ctx, who, true, forEver); err != nil {
		return err
	}
	if err := c.endTxn(ctx, who, true, forEver); err != nil && !refused(err) {
		return err
	}
	return nil
}

// openTxns lists the transactional ids that have a transaction open, on all brokers.
func (c *client) openTxns(ctx context.Context) ([]string, error) {
	var ids []string
	err := repeat(ctx, sinkTimeout, func() error {
		ids = nil
		brokers, err := c.allBrokers()
		if err != nil {
			return err
		}
		defer func() {
			for _, b := range brokers {
				b.Close()
			}
		}()
		for _, b := range brokers {
			req := sarama.NewListTransactionsRequest(c.Config().Version)
			req.StateFilters = []string{sarama.TransactionStateOngoing}
			r, err := b.ListTransactions(req)
			if err == nil {
				err = kerror(nil, r.ErrorCode)
			}
			if err != nil {
				return err
			}
			for _, t := range r.TransactionStates {
				ids = append(ids, t.TransactionalID)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list of open transactions: %w", err)
	}
	return ids, nil
}

// allBrokers opens a connection to each broker of the cluster.
func (c *client) allBrokers() ([]*sarama.Broker, error) {
	addrs, err := c.brokerAddresses()
	if err != nil {
		return nil, err
	}
	var bs []*sarama.Broker
	for _, addr := range addrs {
		bs = append(bs, c.open(addr))
	}
	return bs, nil
}

// brokerAddresses gives the address of each broker by its id.
func (c *client) brokerAddresses() (map[int32]string, error) {
	b := c.LeastLoadedBroker()
	if b == nil {
		return nil, sarama.ErrOutOfBrokers
	}
	r, err := b.DescribeCluster(sarama.NewDescribeClusterRequest(c.Config().Version))
	if err == nil {
		err = kerror(nil, r.Err)
	}
	if err != nil {
		c.forget(b, err)
		return nil, err
	}
	addrs := map[int32]string{}
	for _, d := range r.Brokers {
		addrs[d.BrokerID] = net.JoinHostPort(d.Host, strconv.Itoa(int(d.Port)))
	}
	return addrs, nil
}

const (
	wishedTimeout  = time.Hour        // of transactions, as Flink's
	defaultMaximum = 15 * time.Minute // of brokers that do not say theirs
)

// txnTimeout gives transaction.timeout.ms, checked against the brokers' greatest. Unset it is an hour, or less if the
// brokers do not allow that.
func (c *client) txnTimeout(ctx context.Context) (time.Duration, error) {
	wish, err := c.props.millis("transaction.timeout.ms", 0)
	if err != nil {
		return 0, err
	}
	limit, known := c.maxTimeout(ctx)
	switch {
	case wish == 0:
		return min(wishedTimeout, limit), nil
	case known && wish > limit:
		return 0, fmt.Errorf("'properties.transaction.timeout.ms' = %d is more than the brokers allow: their transaction.max.timeout.ms is %d", wish.Milliseconds(), limit.Milliseconds())
	}
	return wish, nil
}

// maxTimeout asks a broker for transaction.max.timeout.ms.
func (c *client) maxTimeout(ctx context.Context) (time.Duration, bool) {
	limit, known := defaultMaximum, false
	repeat(ctx, 10*time.Second, func() error {
		addrs, err := c.brokerAddresses()
		if err != nil {
			return err
		}
		var r *sarama.DescribeConfigsResponse
		for id, addr := range addrs {
			b := c.open(addr)
			r, err = b.DescribeConfigs(&sarama.DescribeConfigsRequest{Version: 1, Resources: []*sarama.ConfigResource{
				{Type: sarama.BrokerResource, Name: strconv.Itoa(int(id)), ConfigNames: []string{"transaction.max.timeout.ms"}}}})
			b.Close()
			break
		}
		if r == nil {
			return err
		}
		for _, res := range r.Resources {
			for _, e := range res.Configs {
				if n, err := strconv.ParseInt(strings.TrimSpace(e.Value), 10, 64); err == nil && e.Name == "transaction.max.timeout.ms" {
					limit, known = time.Duration(n)*time.Millisecond, true
				}
			}
		}
		return nil
	})
	return limit, known
}
