package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"runnel/types"
)

// limits are the producer settings of a table.
type limits struct {
	batch      int   // bytes of a record batch at which it is sent
	memory     int64 // bytes that may wait for acknowledgement
	delivery   time.Duration
	idempotent bool
	acks       sarama.RequiredAcks
	codec      sarama.CompressionCodec
}

// limits reads the producer settings. batch.size is taken as a lower bound only: what Flush does makes small batches
// where latency matters.
func (p properties) limits() (limits, error) {
	l := limits{acks: p.acks(), codec: p.codec(), idempotent: !strings.EqualFold(strings.TrimSpace(p["enable.idempotence"]), "false")}
	l.idempotent = l.idempotent && l.acks == sarama.WaitForAll
	request, err := p.int("max.request.size", 1<<20, 1024, int64(sarama.MaxRequestSize))
	if err != nil {
		return l, err
	}
	size, err := p.int("batch.size", 0, 0, int64(sarama.MaxRequestSize))
	if err != nil {
		return l, err
	}
	l.batch = int(max(min(request/2, 512<<10), min(size, request*3/4)))
	if l.memory, err = p.int("buffer.memory", 32<<20, 1<<20, 1<<40); err != nil {
		return l, err
	}
	l.delivery, err = p.millis("delivery.timeout.ms", 2*time.Minute)
	return l, err
}

// identity is what the broker knows a producer by. Without one (id -1) nothing guards against doubles.
type identity struct {
	txn   string // transactional id, "" for none
	id    int64
	epoch int16
}

// producer sends record batches of one task. add, send, flush and drain are called by the task; answers come from sarama's
// goroutines; failed batches are sent again, in order, by a goroutine of its own that runs as long as there are any.
type producer struct {
	c      *client
	lim    limits
	who    identity
	topics map[string]*outTopic
	// join is called before the first batch of a partition in a transaction; nil without one.
	join func(ctx context.Context, part *outPart) error
	// keep is called with each batch before it is sent; nil when rows are not logged.
	keep func(part *outPart, b *outBatch) error

	ctx    context.Context
	cancel context.CancelFunc

	mu        sync.Mutex
	cond      *sync.Cond
	err       error // the first failure, for good
	waiting   int64 // bytes that are not acknowledged
	repairing bool
	repairs   []*outPart // partitions that need repair
	wait      sync.WaitGroup
	spare     []*outBatch
}

// outTopic is a topic that is written.
type outTopic struct {
	name   string
	parts  []*outPart
	sticky int // the partition that rows without key go to; moves on with every batch
}

// outPart is a partition that is written.
type outPart struct {
	topicPartition
	of     *outTopic
	open   *outBatch // being filled, nil when empty
	joined bool      // part of the running transaction
	first  int64     // offset of the running transaction's first batch, -1 before it is known
	seq    int32     // sequence number of the next batch

	// Under producer.mu.
	queue     []*outBatch // not acknowledged, in order
	flying    int         // of these, sent and unanswered
	repairing bool        // batches wait for producer.repair instead of being sent
}

// outBatch is a record batch: keys and values in one buffer, records by their ends in it.
type outBatch struct {
	buf    []byte
	recs   []sarama.Record
	ptrs   []*sarama.Record
	ends   []recordEnd
	start  int // of the record being added
	millis int64
	latest int64
	seq    int32
	failed time.Time // when it failed first
	tries  int
}

// recordEnd says where a record's key and value end in the buffer; -1 is a null key or value.
type recordEnd struct{ from, key, value int }

func newProducer(c *client, lim limits) *producer {
	p := &producer{c: c, lim: lim, who: identity{id: -1, epoch: -1}, topics: map[string]*outTopic{}}
	p.cond = sync.NewCond(&p.mu)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// identify gets a producer id that is not transactional, against doubles by repeated requests.
func (p *producer) identify(ctx context.Context) error {
	return repeat(ctx, 30*time.Second, func() error {
		b := p.c.LeastLoadedBroker()
		if b == nil {
			return sarama.ErrOutOfBrokers
		}
		r, err := b.InitProducerID(&sarama.InitProducerIDRequest{Version: 2})
		if err == nil && r.Err != sarama.ErrNoError {
			err = r.Err
		}
		if err != nil {
			p.c.forget(b, err)
			return err
		}
		p.who = identity{id: r.ProducerID, epoch: r.ProducerEpoch}
		return nil
	})
}

// topic gives a topic with its present partitions.
func (p *producer) topic(ctx context.Context, name string) (*outTopic, error) {
	t := p.topics[name]
	if t == nil {
		t = &outTopic{name: name}
	}
	ps, err := p.c.Partitions(name)
	if err != nil || len(ps) == 0 {
		err = repeat(ctx, 20*time.Second, func() error {
			if err := p.c.RefreshMetadata(name); err != nil {
				return err
			}
			ps, err = p.c.Partitions(name)
			return err
		})
	}
	if err != nil {
		if isUnknownTopic(err) {
			return nil, fmt.Errorf("topic '%s' does not exist at %s and the broker does not create it", name, p.c.props.servers())
		}
		return nil, fmt.Errorf("partitions of topic '%s': %w", name, err)
	}
	for n := len(t.parts); n < len(ps); n++ {
		t.parts = append(t.parts, &outPart{topicPartition: topicPartition{name, int32(n)}, of: t, first: -1})
	}
	p.topics[name] = t
	return t, nil
}

// room waits until another record fits into memory and gives the partition with an open batch.
func (p *producer) room(ctx context.Context, part *outPart) (*outPart, error) {
	if part.open != nil {
		return part, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting > p.lim.memory {
		if err := p.sleepUntil(ctx, func() bool { return p.waiting <= p.lim.memory }); err != nil {
			return nil, err
		}
	}
	if p.err != nil {
		return nil, p.err
	}
	if n := len(p.spare); n > 0 {
		part.open, p.spare = p.spare[n-1], p.spare[:n-1]
	} else {
		part.open = &outBatch{}
	}
	part.open.reset()
	return part, nil
}

// sleepUntil waits for a condition, the first failure or the end of ctx. p.mu is held.
func (p *producer) sleepUntil(ctx context.Context, ok func() bool) error {
	defer context.AfterFunc(ctx, func() {
		p.mu.Lock()
		p.cond.Broadcast()
		p.mu.Unlock()
	})()
	for !ok() && p.err == nil && ctx.Err() == nil {
		p.cond.Wait()
	}
	if p.err != nil {
		return p.err
	}
	return context.Cause(ctx)
}

func (b *outBatch) reset() {
	b.buf, b.recs, b.ends = b.buf[:0], b.recs[:0], b.ends[:0]
	b.failed, b.tries = time.Time{}, 0
}

// begin starts a record with its key.
func (b *outBatch) begin(key []byte, hasKey bool) {
	b.start = len(b.buf)
	end := recordEnd{from: b.start, key: -1}
	if hasKey {
		b.buf = append(b.buf, key...)
		end.key = len(b.buf)
	}
	b.ends = append(b.ends, end)
}

// undo takes the record back.
func (b *outBatch) undo() {
	b.buf, b.ends = b.buf[:b.start], b.ends[:len(b.ends)-1]
}

// end finishes the record, whose value has been appended to the buffer unless it is null.
func (b *outBatch) end(millis int64, null bool) {
	b.ends[len(b.ends)-1].value = len(b.buf)
	if null {
		b.ends[len(b.ends)-1].value = -1
	}
	n := len(b.recs)
	if n == 0 {
		b.millis, b.latest = millis, millis
	}
	b.latest = max(b.latest, millis)
	b.recs = append(b.recs, sarama.Record{OffsetDelta: int64(n), TimestampDelta: time.Duration(millis-b.millis) * time.Millisecond})
}

// headers gives the record that was just added the headers of a MAP<STRING, BYTES>.
func (b *outBatch) headers(c *types.Column, i int32) {
	if c.Null(i) {
		return
	}
	m, ok := c.Any[i].(*types.MapValue)
	if !ok {
		return
	}
	rec := &b.recs[len(b.recs)-1]
	for j, k := range m.Keys {
		h := &sarama.RecordHeader{Key: []byte(k.S)}
		if !m.Vals[j].Null {
			h.Value = []byte(m.Vals[j].S)
		}
		rec.Headers = append(rec.Headers, h)
	}
}

func (b *outBatch) full(limit int) bool { return len(b.buf)+16*len(b.recs) >= limit }

// seal points the records at their bytes.
func (b *outBatch) seal() {
	b.ptrs = b.ptrs[:0]
	for i := range b.recs {
		e, r := b.ends[i], &b.recs[i]
		from := e.from
		if e.key >= 0 {
			r.Key, from = b.buf[e.from:e.key:e.key], e.key
		}
		if e.value >= 0 {
			r.Value = b.buf[from:e.value:e.value]
		}
		b.ptrs = append(b.ptrs, r)
	}
}

// request makes the produce request of a sealed batch.
func (p *producer) request(part *outPart, b *outBatch) *sarama.ProduceRequest {
	first := time.UnixMilli(b.millis)
	rb := &sarama.RecordBatch{
		Version: 2, Codec: p.lim.codec, CompressionLevel: sarama.CompressionLevelDefault, FirstTimestamp: first, MaxTimestamp: time.UnixMilli(b.latest),
		LastOffsetDelta: int32(len(b.ptrs) - 1), ProducerID: p.who.id, ProducerEpoch: p.who.epoch, FirstSequence: -1,
		Records: b.ptrs, IsTransactional: p.who.txn != "",
	}
	if p.who.id >= 0 {
		rb.FirstSequence = b.seq
	}
	req := &sarama.ProduceRequest{Version: 7, RequiredAcks: p.lim.acks, Timeout: 30000}
	if p.who.txn != "" {
		req.TransactionalID = &p.who.txn
	}
	req.AddBatch(part.topic, part.partition, rb)
	return req
}

// nextSequence adds n to a sequence number, which wraps to 0 behind the greatest.
func nextSequence(seq int32, n int) int32 { return int32((int64(seq) + int64(n)) & 0x7fffffff) }

// send seals the partition's open batch and sends it.
func (p *producer) send(ctx context.Context, part *outPart) error {
	b := part.open
	if b == nil || len(b.recs) == 0 {
		return nil
	}
	if p.join != nil && !part.joined {
		if err := p.join(ctx, part); err != nil {
			return err
		}
		part.joined = true
	}
	b.seal()
	if p.keep != nil {
		if err := p.keep(part, b); err != nil {
			return err
		}
	}
	part.open = nil
	part.of.sticky++
	return p.dispatch(part, b)
}

// dispatch sends a sealed batch, or leaves it to repair if batches before it have failed.
func (p *producer) dispatch(part *outPart, b *outBatch) error {
	b.seq = part.seq
	part.seq = nextSequence(part.seq, len(b.ptrs))

	p.mu.Lock()
	if err := p.err; err != nil {
		p.mu.Unlock()
		return err
	}
	p.waiting += int64(len(b.buf))
	part.queue = append(part.queue, b)
	if part.repairing {
		p.mu.Unlock()
		return nil
	}
	part.flying++
	p.mu.Unlock()

	leader, err := p.c.leader(part.topic, part.partition)
	if err == nil {
		err = leader.AsyncProduce(p.request(part, b), func(r *sarama.ProduceResponse, err error) { p.answered(part, b, r, err) })
	}
	if err != nil || p.lim.acks == sarama.NoResponse {
		p.answered(part, b, nil, err)
	}
	return nil
}

// put sends a sealed batch as it is and waits for the answer.
func (p *producer) put(ctx context.Context, tp topicPartition, b *outBatch) error {
	t, err := p.topic(ctx, tp.topic)
	if err != nil {
		return err
	}
	if int(tp.partition) >= len(t.parts) {
		return fmt.Errorf("topic %s has no partition %d any more", tp.topic, tp.partition)
	}
	part := t.parts[tp.partition]
	if !part.joined {
		if err := p.join(ctx, part); err != nil {
			return err
		}
		part.joined = true
	}
	if err := p.dispatch(part, b); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sleepUntil(ctx, func() bool { return len(part.queue) == 0 })
}

// errNoAnswer stands for a produce answer that does not speak of the batch.
var errNoAnswer = errors.New("the broker's answer leaves the batch out")

// outcome takes the answer for a batch apart.
func (p *producer) outcome(part *outPart, r *sarama.ProduceResponse, err error) (int64, error) {
	if err != nil || p.lim.acks == sarama.NoResponse {
		return -1, err
	}
	block := r.GetBlock(part.topic, part.partition)
	if block == nil {
		return -1, errNoAnswer
	}
	switch block.Err {
	case sarama.ErrNoError:
		return block.Offset, nil
	case sarama.ErrDuplicateSequenceNumber: // an earlier attempt arrived
		return -1, nil
	}
	return -1, block.Err
}

// answered handles the answer to a batch that send sent. It runs in sarama's goroutine, or in the task's when nothing was
// sent.
func (p *producer) answered(part *outPart, b *outBatch, r *sarama.ProduceResponse, err error) {
	offset, err := p.outcome(part, r, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	part.flying--
	switch {
	case err == nil:
		p.acknowledged(part, b, offset)
	case p.again(part, b, err):
		b.failed, b.tries = time.Now(), b.tries+1
		if !part.repairing {
			part.repairing = true
			p.repairs = append(p.repairs, part)
		}
		if !p.repairing && p.ctx.Err() == nil {
			p.repairing = true
			p.wait.Add(1)
			go p.repair()
		}
	default:
		p.fail(part, b, err)
	}
	p.cond.Broadcast()
}

// again says whether a batch that failed so may be sent again: besides passing errors, one that came too early because a
// batch before it failed.
func (p *producer) again(part *outPart, b *outBatch, err error) bool {
	if retriable(err) || errors.Is(err, errNoAnswer) {
		return true
	}
	return errors.Is(err, sarama.ErrOutOfOrderSequenceNumber) && len(part.queue) > 0 && part.queue[0] != b
}

// fail keeps the first failure. p.mu is held.
func (p *producer) fail(part *outPart, b *outBatch, err error) {
	if p.err != nil {
		return
	}
	if errors.Is(err, sarama.ErrMessageSizeTooLarge) {
		err = fmt.Errorf("%w: the batch has %d records of %d bytes; raise the topic's max.message.bytes or lower 'properties.max.request.size'", err, len(b.ptrs), len(b.buf))
	}
	p.err = fmt.Errorf("batch of %d records for topic %s, partition %d: %w", len(b.ptrs), part.topic, part.partition, err)
}

// acknowledged takes a batch out. p.mu is held.
func (p *producer) acknowledged(part *outPart, b *outBatch, offset int64) {
	i := slices.Index(part.queue, b)
	if i < 0 {
		return
	}
	if part.first < 0 {
		part.first = offset
	}
	part.queue = slices.Delete(part.queue, i, i+1)
	p.waiting -= int64(len(b.buf))
	if len(p.spare) < 16 && b.buf != nil && cap(b.buf) <= 4<<20 {
		p.spare = append(p.spare, b)
	}
}

// repair sends failed batches again, partition by partition and in order, until there are none.
func (p *producer) repair() {
	defer p.wait.Done()
	for {
		p.mu.Lock()
		var part *outPart
		if len(p.repairs) > 0 {
			part = p.repairs[0]
		}
		for part != nil && part.flying > 0 && p.err == nil {
			p.cond.Wait()
		}
		if part == nil || p.err != nil {
			p.repairing = false
			p.mu.Unlock()
			return
		}
		if len(part.queue) == 0 {
			part.repairing = false
			p.repairs = p.repairs[1:]
			p.mu.Unlock()
			continue
		}
		b := part.queue[0]
		p.mu.Unlock()
		if b.tries > 0 && pause(p.ctx, backoff(b.tries-1)) != nil {
			p.stop(errCut)
			return
		}
		p.resend(part, b)
	}
}

// stop ends repair with an error.
func (p *producer) stop(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.repairing = false
	if p.err == nil {
		p.err = err
	}
	p.cond.Broadcast()
}

// resend sends one batch and waits for the answer.
func (p *producer) resend(part *outPart, b *outBatch) {
	if b.tries > 0 {
		p.c.RefreshMetadata(part.topic)
	}
	var r *sarama.ProduceResponse
	leader, err := p.c.leader(part.topic, part.partition)
	if err == nil {
		if r, err = leader.Produce(p.request(part, b)); err != nil {
			p.c.forget(leader, err)
		}
	}
	offset, err := p.outcome(part, r, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil:
		p.acknowledged(part, b, offset)
	case p.again(part, b, err) && (b.failed.IsZero() || time.Since(b.failed) < p.lim.delivery):
		if b.failed.IsZero() {
			b.failed = time.Now()
		}
		b.tries++
	default:
		p.fail(part, b, err)
	}
	p.cond.Broadcast()
}

// flush sends all open batches.
func (p *producer) flush(ctx context.Context) error {
	for _, t := range p.topics {
		for _, part := range t.parts {
			if err := p.send(ctx, part); err != nil {
				return err
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// drain sends all open batches and waits until everything is acknowledged.
func (p *producer) drain(ctx context.Context) error {
	if err := p.flush(ctx); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sleepUntil(ctx, func() bool {
		for _, t := range p.topics {
			for _, part := range t.parts {
				if len(part.queue) > 0 {
					return false
				}
			}
		}
		return true
	})
}

// halt ends the producer and leaves its client alone; what is not acknowledged is given up.
func (p *producer) halt() {
	p.cancel()
	p.stop(errCut)
	p.wait.Wait()
}

// close ends the producer and cuts its client's connections.
func (p *producer) close() {
	p.c.dialer.cut()
	p.halt()
}
