package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

// client is a sarama client with what this package adds: connections that a cancelled context cuts, the way to the
// embedded broker, and the requests that are not sarama's own. Every source, sink and committer part has one of its own.
type client struct {
	sarama.Client
	k        *Kafka
	props    properties
	embedded bool
	dialer   *dialer
}

// connect opens a client. create lets topics that are asked for come into being. Cancelling ctx afterwards changes
// nothing: see during.
func (k *Kafka) connect(ctx context.Context, props properties, create bool) (*client, error) {
	cfg, err := props.config(create)
	if err != nil {
		return nil, err
	}
	who, err := k.choose(ctx, props)
	if err != nil {
		return nil, err
	}
	embedded := who.embedded()
	d := &dialer{k: k, who: who, conns: map[net.Conn]struct{}{}}
	cfg.Net.Proxy.Enable, cfg.Net.Proxy.Dialer = true, d
	if embedded {
		cfg.Metadata.AllowAutoTopicCreation = true
	}
	c := &client{k: k, props: props, embedded: embedded, dialer: d}
	if c.Client, err = sarama.NewClient(props.addresses(), cfg); err != nil {
		return nil, fmt.Errorf("client of %s: %w", props.servers(), err)
	}
	return c, nil
}

// close ends the client and everything that waits on it.
func (c *client) close() {
	c.dialer.cut()
	c.Client.Close()
}

// during cuts the client's connections for good as soon as ctx ends, so that no request outlives it. The function that it
// gives must be called when the guarded work is done.
func (c *client) during(ctx context.Context) func() bool { return context.AfterFunc(ctx, c.dialer.cut) }

// dead says that a context has cut the client: whoever goes on needs another.
func (c *client) dead() bool {
	c.dialer.mu.Lock()
	defer c.dialer.mu.Unlock()
	return c.dialer.done
}

// open gives a connection to a broker that is not shared with anybody, so that a long poll holds up nobody else.
func (c *client) open(addr string) *sarama.Broker {
	b := sarama.NewBroker(addr)
	b.Open(c.Config())
	return b
}

// clusterID asks a broker for the id of the cluster.
func (c *client) clusterID() (string, error) {
	b := c.LeastLoadedBroker()
	if b == nil {
		return "", sarama.ErrOutOfBrokers
	}
	if ok, err := b.Connected(); !ok {
		return "", unreachable(c.props, err)
	}
	r, err := b.DescribeCluster(sarama.NewDescribeClusterRequest(c.Config().Version))
	if err == nil && r.Err == sarama.ErrNoError {
		return r.ClusterID, nil
	}
	m, err := b.GetMetadata(sarama.NewMetadataRequest(c.Config().Version, nil))
	if err != nil {
		return "", err
	}
	if m.ClusterID == nil {
		return "", errors.New("the broker has none")
	}
	return *m.ClusterID, nil
}

// unreachable words a failure to connect.
func unreachable(props properties, err error) error {
	if err == nil {
		err = sarama.ErrOutOfBrokers
	}
	return fmt.Errorf("no broker answers at %s: %w", props.servers(), err)
}

// dialer makes sarama's connections: to the embedded broker whatever the address says, else to the address. It knows all
// connections, so that a cancelled task can cut them.
type dialer struct {
	k   *Kafka
	who choice

	mu    sync.Mutex
	done  bool
	conns map[net.Conn]struct{}
}

var errCut = errors.New("the connection was cut: the task has ended")

const dialTimeout = 10 * time.Second

// Dial is sarama's proxy interface.
func (d *dialer) Dial(network, addr string) (net.Conn, error) {
	d.mu.Lock()
	done := d.done
	d.mu.Unlock()
	if done {
		return nil, errCut
	}
	switch d.who.Broker {
	case elsewhereBroker:
		addr = d.who.Via
	case embeddedBroker:
		ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
		defer cancel()
		a, err := d.k.host.address(ctx, d.k.cfg.Embedded == EmbeddedAllowed)
		if err != nil {
			return nil, err
		}
		addr = a
	}
	conn, err := net.DialTimeout(network, addr, dialTimeout)
	if err != nil {
		if d.who.Broker == realBroker && d.k.standsFor([]string{addr}) {
			err = fmt.Errorf("%w (a real broker was chosen for %s once; to choose anew, remove %s)", err, addr, d.k.choicePath())
		}
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done {
		conn.Close()
		return nil, errCut
	}
	d.conns[conn] = struct{}{}
	return &trackedConn{Conn: conn, d: d}, nil
}

// cut closes all connections and lets none be opened any more.
func (d *dialer) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = true
	for c := range d.conns {
		c.Close()
	}
	clear(d.conns)
}

// trackedConn leaves the dialer's list when it is closed.
type trackedConn struct {
	net.Conn
	d *dialer
}

func (c *trackedConn) Close() error {
	c.d.mu.Lock()
	delete(c.d.conns, c.Conn)
	c.d.mu.Unlock()
	return c.Conn.Close()
}

// retriable says that the same request may succeed a little later.
func retriable(err error) bool {
	var k sarama.KError
	if errors.As(err, &k) {
		switch k {
		case sarama.ErrUnknownTopicOrPartition, sarama.ErrLeaderNotAvailable, sarama.ErrNotLeaderForPartition, sarama.ErrRequestTimedOut,
			sarama.ErrBrokerNotAvailable, sarama.ErrReplicaNotAvailable, sarama.ErrNetworkException, sarama.ErrOffsetsLoadInProgress,
			sarama.ErrConsumerCoordinatorNotAvailable, sarama.ErrNotCoordinatorForConsumer, sarama.ErrNotEnoughReplicas,
			sarama.ErrNotEnoughReplicasAfterAppend, sarama.ErrKafkaStorageError, sarama.ErrFencedLeaderEpoch, sarama.ErrUnknownLeaderEpoch,
			sarama.ErrConcurrentTransactions, sarama.ErrUnstableOffsetCommit, sarama.ErrThrottlingQuotaExceeded, sarama.ErrOffsetNotAvailable:
			return true
		}
		return false
	}
	return lostConnection(err)
}

// lostConnection says that the request or its answer was lost on the way.
func lostConnection(err error) bool {
	var certificate *tls.CertificateVerificationError
	if errors.Is(err, errCut) || errors.As(err, &certificate) || errors.Is(err, sarama.ErrSASLAuthenticationFailed) {
		return false
	}
	var n net.Error
	return errors.As(err, &n) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, sarama.ErrNotConnected) || errors.Is(err, sarama.ErrOutOfBrokers)
}

// pause waits d or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// backoff gives the wait before the i-th repetition, 20 ms to 1 s.
func backoff(i int) time.Duration { return min(20*time.Millisecond<<min(i, 6), time.Second) }

// repeat calls f until it succeeds, fails for good, the time is over or ctx ends.
func repeat(ctx context.Context, limit time.Duration, f func() error) error {
	start := time.Now()
	for i := 0; ; i++ {
		err := f()
		if err == nil || ctx.Err() != nil {
			return err
		}
		if !retriable(err) || time.Since(start) > limit {
			return err
		}
		if pause(ctx, backoff(i)) != nil {
			return err
		}
	}
}

// leader gives the connected leader of a partition.
func (c *client) leader(topic string, partition int32) (*sarama.Broker, error) {
	b, err := c.Leader(topic, partition)
	if err != nil {
		return nil, err
	}
	b.Open(c.Config())
	return b, nil
}

// listOffsets resolves, for each partition of a topic, the first offset at or after a time in milliseconds
// (sarama.OffsetOldest and OffsetNewest are such times); -1 when there is none.
func (c *client) listOffsets(ctx context.Context, topic string, partitions []int32, millis int64, committed bool) (map[int32]int64, error) {
	found := map[int32]int64{}
	err := repeat(ctx, time.Minute, func() error {
		byBroker := map[*sarama.Broker][]int32{}
		for _, p := range partitions {
			if _, ok := found[p]; ok {
				continue
			}
			b, err := c.leader(topic, p)
			if err != nil {
				return err
			}
			byBroker[b] = append(byBroker[b], p)
		}
		for b, ps := range byBroker {
			if err := c.askOffsets(b, topic, ps, millis, committed, found); err != nil {
				c.forget(b, err)
				c.RefreshMetadata(topic)
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("offsets of topic %s: %w", topic, err)
	}
	return found, nil
}

func (c *client) askOffsets(b *sarama.Broker, topic string, partitions []int32, millis int64, committed bool, found map[int32]int64) error {
	req := sarama.NewOffsetRequest(c.Config().Version)
	if committed {
		req.IsolationLevel = sarama.ReadCommitted
	}
	for _, p := range partitions {
		req.AddBlock(topic, p, millis, 1)
	}
	r, err := b.GetAvailableOffsets(req)
	if err != nil {
		return err
	}
	for _, p := range partitions {
		block := r.GetBlock(topic, p)
		if block == nil {
			return sarama.ErrIncompleteResponse
		}
		if block.Err != sarama.ErrNoError {
			return block.Err
		}
		found[p] = block.Offset
	}
	return nil
}

// forget closes a connection that a request has lost, so that the next attempt opens it anew.
func (c *client) forget(b *sarama.Broker, err error) {
	if !lostConnection(err) {
		return
	}
	if ok, _ := b.Connected(); ok {
		b.Close()
	}
}

// groupOffsets gives the committed offsets of a group; partitions without one are left out. stable waits for the end of
// transactions that hold offsets of the group.
func (c *client) groupOffsets(ctx context.Context, group string, partitions map[string][]int32, stable bool) (map[topicPartition]committedOffset, error) {
	found := map[topicPartition]committedOffset{}
	err := repeat(ctx, 2*time.Minute, func() error {
		clear(found)
		b, err := c.Coordinator(group)
		if err != nil {
			return err
		}
		b.Open(c.Config())
		req := &sarama.OffsetFetchRequest{Version: 7, ConsumerGroup: group, RequireStable: stable}
		for t, ps := range partitions {
			for _, p := range ps {
				req.AddPartition(t, p)
			}
		}
		r, err := b.FetchOffset(req)
		if err == nil && r.Err == sarama.ErrGroupIDNotFound {
			return nil // the embedded broker says so of a group that has committed nothing
		}
		if err == nil {
			err = kerror(nil, r.Err)
		}
		if err != nil {
			c.forget(b, err)
			c.RefreshCoordinator(group)
			return err
		}
		for t, ps := range partitions {
			for _, p := range ps {
				block := r.GetBlock(t, p)
				if block == nil || block.Err == sarama.ErrNoError && block.Offset < 0 {
					continue // kfake leaves out what it does not know, Kafka answers -1
				}
				if block.Err != sarama.ErrNoError {
					return block.Err
				}
				found[topicPartition{t, p}] = committedOffset{block.Offset, block.Metadata}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("committed offsets of group %s: %w", group, err)
	}
	return found, nil
}

// topicPartition names a partition.
type topicPartition struct {
	topic     string
	partition int32
}

func (tp topicPartition) String() string { return fmt.Sprintf("%s-%d", tp.topic, tp.partition) }

// committedOffset is what a group has committed for a partition.
type committedOffset struct {
	offset   int64
	metadata string
}

// commitOffsets writes offsets of a group without being its member.
func (c *client) commitOffsets(ctx context.Context, group string, offsets map[topicPartition]int64) error {
	err := repeat(ctx, 30*time.Second, func() error {
		b, err := c.Coordinator(group)
		if err != nil {
			return err
		}
		b.Open(c.Config())
		req := sarama.NewOffsetCommitRequest(c.Config(), group)
		for tp, o := range offsets {
			req.AddBlock(tp.topic, tp.partition, o, 0, "")
		}
		r, err := b.CommitOffset(req)
		if err == nil {
			for _, ps := range r.Errors {
				for _, e := range ps {
					if e != sarama.ErrNoError {
						err = e
					}
				}
			}
		}
		if err != nil {
			c.forget(b, err)
			c.RefreshCoordinator(group)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("offsets of consumer group %s: %w", group, err)
	}
	return nil
}
