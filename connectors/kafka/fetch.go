package kafka

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/IBM/sarama"
)

const (
	fetchBytes  = 1 << 20   // asked of one partition at once; more costs the embedded broker three times as much
	aheadBytes  = 2 << 20   // that one partition may hold undecoded
	totalBytes  = 32 << 20  // that all partitions of a reader may hold
	answerBytes = 16 << 20  // of one fetch
	leastBytes  = 32 << 10  // asked of one partition at once, however many there are
	giantBytes  = 256 << 20 // greatest batch that is fetched

	longWait   = 500 * time.Millisecond // a fetch waits for data when all partitions are part of it
	shortWait  = 10 * time.Millisecond  // and when some are left out since they hold enough
	emptyTries = 3                      // fetches that give nothing although there is something behind

	leaderTry = 100 // attempts to find a leader, about a minute and a half
)

// fetchLimits are the consumer settings of a table.
type fetchLimits struct {
	partition int32         // bytes asked of one partition at once
	answer    int32         // bytes of a whole answer
	least     int32         // bytes that the broker waits for
	wait      time.Duration // and for how long
}

// fetchLimits reads the consumer settings, by Kafka's names and with defaults of our own.
func (p properties) fetchLimits() (l fetchLimits, err error) {
	for _, s := range []struct {
		key  string
		to   *int32
		def  int64
		from int64
	}{
		{"max.partition.fetch.bytes", &l.partition, fetchBytes, 1},
		{"fetch.max.bytes", &l.answer, answerBytes, 1},
		{"fetch.min.bytes", &l.least, 1, 0},
	} {
		n, err := p.int(s.key, s.def, s.from, math.MaxInt32)
		if err != nil {
			return l, err
		}
		*s.to = int32(n)
	}
	l.partition = min(l.partition, giantBytes)
	l.wait, err = p.millis("fetch.max.wait.ms", longWait)
	return l, err
}

// lostReason says why a partition has no fetcher.
type lostReason uint8

const (
	found      lostReason = iota
	lostNew               // just assigned
	lostLeader            // its leader changed or its connection broke
	lostOffset            // its offset is out of range
)

// fetcher fetches from one leader broker over a connection of its own.
type fetcher struct {
	r     *reader
	addr  string
	conn  *sarama.Broker
	parts []*partition // under reader.mu
}

func (f *fetcher) remove(p *partition) {
	if i := slices.Index(f.parts, p); i >= 0 {
		f.parts = slices.Delete(f.parts, i, i+1)
	}
	p.fetcher = nil
}

// addLost marks a partition for lead. r.mu is held.
func (r *reader) addLost(p *partition, why lostReason) {
	if p.fetcher != nil {
		p.fetcher.remove(p)
	}
	if p.gone {
		return
	}
	p.lost = why
	r.lost = append(r.lost, p)
	r.cond.Broadcast()
}

// lead is the goroutine that gives partitions to fetchers, until the reader closes.
func (r *reader) lead() {
	defer r.wait.Done()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.wait.Add(1)
	go func() { // ends waits of this goroutine when the reader closes
		defer r.wait.Done()
		defer cancel()
		r.mu.Lock()
		for !r.closed {
			r.cond.Wait()
		}
		r.mu.Unlock()
	}()
	for {
		r.mu.Lock()
		for len(r.lost) == 0 && !r.closed {
			r.cond.Wait()
		}
		lost := r.lost
		r.lost = nil
		closed := r.closed
		r.mu.Unlock()
		if closed {
			return
		}
		if err := r.client(ctx); err != nil {
			r.fail(err)
			return
		}
		failed := r.assignLeaders(ctx, lost)
		if len(failed) == 0 {
			continue
		}
		if pause(ctx, backoff(failed[0].since)) != nil {
			return
		}
		r.mu.Lock()
		for _, p := range failed {
			r.addLost(p, p.lost)
		}
		r.mu.Unlock()
	}
}

// client connects once.
func (r *reader) client(ctx context.Context) error {
	r.mu.Lock()
	have := r.c != nil
	r.mu.Unlock()
	if have {
		return nil
	}
	c, err := r.src.k.connect(ctx, r.src.props, false)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.c = c
	if r.closed {
		c.dialer.cut()
	}
	return nil
}

// assignLeaders finds the leaders of lost partitions and gives those for which that failed.
func (r *reader) assignLeaders(ctx context.Context, lost []*partition) (failed []*partition) {
	type placed struct {
		p    *partition
		addr string
	}
	var places []placed
	stale := map[string]bool{}
	for _, p := range lost {
		if p.lost == lostLeader && !stale[p.topic] {
			stale[p.topic] = true
			r.c.RefreshMetadata(p.topic)
		}
	}
	for _, p := range lost {
		addr, err := r.place(ctx, p)
		if err == nil {
			places = append(places, placed{p, addr})
			continue
		}
		p.since++
		if !retriable(err) || p.since >= leaderTry {
			r.fail(err)
			return nil
		}
		failed = append(failed, p)
		r.src.k.cfg.Log.Debug("kafka: partition without leader", "partition", p.id(), "error", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, pl := range places {
		if pl.p.gone || r.closed {
			continue
		}
		f := r.fetchers[pl.addr]
		if f == nil {
			f = &fetcher{r: r, addr: pl.addr}
			r.fetchers[pl.addr] = f
			r.wait.Add(1)
			go f.run()
		}
		pl.p.lost, pl.p.since, pl.p.fetcher = found, 0, f
		f.parts = append(f.parts, pl.p)
	}
	r.cond.Broadcast()
	return failed
}

// place finds the address of the partition's leader, and its offset if that is not a number yet or out of range.
func (r *reader) place(ctx context.Context, p *partition) (string, error) {
	b, err := r.c.Leader(p.topic, p.partition)
	if err != nil {
		return "", fmt.Errorf("leader of topic %s, partition %d: %w", p.topic, p.partition, err)
	}
	if p.lost == lostOffset {
		if err := r.reset(ctx, p); err != nil {
			return "", err
		}
	}
	if p.next == fromStart {
		o, err := r.c.listOffsets(ctx, p.topic, []int32{p.partition}, sarama.OffsetOldest, false)
		if err != nil {
			return "", err
		}
		r.mu.Lock()
		p.next = o[p.partition]
		r.mu.Unlock()
	}
	return b.Addr(), nil
}

// reset moves a partition whose offset is out of range to where auto.offset.reset says, which is told, or fails.
func (r *reader) reset(ctx context.Context, p *partition) error {
	ps := []int32{p.partition}
	oldest, err := r.c.listOffsets(ctx, p.topic, ps, sarama.OffsetOldest, false)
	if err != nil {
		return err
	}
	newest, err := r.c.listOffsets(ctx, p.topic, ps, sarama.OffsetNewest, false)
	if err != nil {
		return err
	}
	from, to := oldest[p.partition], newest[p.partition]
	if p.next >= from && p.next <= to {
		return nil // the broker has caught up
	}
	what := fmt.Sprintf("offset %d of topic %s, partition %d is out of range: the broker has %d to %d", p.next, p.topic, p.partition, from, to)
	target := from
	switch r.src.resetMode() {
	case "latest":
		target = to
	case "none":
		return fmt.Errorf("%s; set 'properties.auto.offset.reset' to 'earliest' or 'latest' to go on there without what is missing", what)
	}
	r.src.k.cfg.Notice(fmt.Sprintf("%s: %s; reading goes on at %d.", r.src.table.Name, what, target))
	r.mu.Lock()
	p.next = target
	r.mu.Unlock()
	return nil
}

// resetMode is properties.auto.offset.reset, else what goes with the start-up mode.
func (s *sourceSpec) resetMode() string {
	if m := s.props.reset(); m != "" {
		return m
	}
	switch s.startup.mode {
	case fromEarliest, fromOffsets:
		return "earliest"
	case fromLatest, fromTime:
		return "latest"
	}
	return "none"
}

// run fetches until the connection breaks or the reader closes. What is left of its partitions then looks for a leader
// again.
func (f *fetcher) run() {
	r := f.r
	defer r.wait.Done()
	f.conn = r.c.open(f.addr)
	defer f.conn.Close()
	for {
		parts, wait, ok := f.pick()
		if !ok {
			return
		}
		if wait == 0 {
			if err := f.skipEmpty(parts[0]); err != nil {
				f.broken(err)
				return
			}
			continue
		}
		resp, err := f.conn.Fetch(f.request(parts, wait))
		if err == nil && resp.ErrorCode != 0 {
			err = sarama.KError(resp.ErrorCode)
		}
		if err == nil {
			err = f.accept(parts, resp)
		}
		if err != nil {
			f.broken(err)
			return
		}
	}
}

// broken gives the partitions back.
func (f *fetcher) broken(err error) {
	r := f.r
	if !retriable(err) && !lostConnection(err) {
		r.fail(fmt.Errorf("fetch from %s: %w", f.addr, err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.fetchers, f.addr)
	for _, p := range slices.Clone(f.parts) {
		p.since++
		r.addLost(p, lostLeader)
	}
}

// pick waits for partitions that have room and gives them with how long the broker may wait for data; no wait is for the
// one partition that skipEmpty must look at. Partitions that the last answer had no room for come before all others: which
// ones a full answer leaves out is up to the broker and the order of the request, which sarama does not keep.
func (f *fetcher) pick() ([]*partition, time.Duration, bool) {
	r := f.r
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if r.closed || r.fatal != nil {
			return nil, 0, false
		}
		var parts, first []*partition
		wait := r.lim.wait
		for _, p := range f.parts {
			switch {
			case p.empty >= emptyTries && p.bytes == 0:
				return []*partition{p}, 0, true
			case p.bytes >= aheadBytes || r.buffered >= totalBytes:
				wait = min(wait, shortWait)
			case p.leftOut:
				first = append(first, p)
			default:
				parts = append(parts, p)
			}
		}
		if len(first) > 0 {
			return first, min(wait, shortWait), true
		}
		if len(parts) > 0 {
			return parts, wait, true
		}
		r.cond.Wait()
	}
}

func (f *fetcher) request(parts []*partition, wait time.Duration) *sarama.FetchRequest {
	lim := f.r.lim
	req := &sarama.FetchRequest{Version: 11, MaxWaitTime: int32(wait.Milliseconds()), MinBytes: lim.least, MaxBytes: lim.answer}
	most := int32(math.MaxInt32) // of one partition
	if f.r.src.props.readCommitted() {
		// Where the embedded broker cuts an answer at MaxBytes, it forgets the partition's aborted transactions, whose rows
		// would then count. The partitions' own limits bound the answer as well.
		req.Isolation, req.MaxBytes = sarama.ReadCommitted, math.MaxInt32
		most = max(lim.answer/int32(len(parts)), leastBytes)
	}
	f.r.mu.Lock()
	defer f.r.mu.Unlock()
	for _, p := range parts {
		n := p.limit
		if len(parts) > 1 {
			n = min(n, most)
		}
		req.AddBlock(p.topic, p.partition, p.next, n, -1)
	}
	return req
}

// accept takes an answer apart.
func (f *fetcher) accept(parts []*partition, resp *sarama.FetchResponse) error {
	r := f.r
	ready := false
	for _, p := range parts {
		block := resp.GetBlock(p.topic, p.partition)
		if block == nil {
			continue
		}
		rs, err := newRecords(block, r.src.props.readCommitted())
		if err != nil {
			return fmt.Errorf("topic %s, partition %d: %w", p.topic, p.partition, err)
		}
		r.mu.Lock()
		switch {
		case p.gone || p.fetcher != f:
		case block.Err == sarama.ErrOffsetOutOfRange:
			if p.bytes == 0 {
				r.addLost(p, lostOffset)
			}
		case block.Err != sarama.ErrNoError && retriable(block.Err):
			p.since++
			r.addLost(p, lostLeader)
		case block.Err != sarama.ErrNoError:
			r.mu.Unlock()
			return fmt.Errorf("topic %s, partition %d: %w", p.topic, p.partition, block.Err)
		default:
			ready = r.put(p, block, rs) || ready
		}
		r.mu.Unlock()
	}
	r.mu.Lock()
	for _, p := range parts {
		block := resp.GetBlock(p.topic, p.partition)
		p.leftOut = ready && (block == nil || len(block.RecordsSet) == 0 && p.next < p.end)
	}
	r.mu.Unlock()
	if ready {
		r.wake()
	}
	return nil
}

// put queues a chunk. r.mu is held.
func (r *reader) put(p *partition, block *sarama.FetchResponseBlock, rs records) bool {
	p.end = block.HighWaterMarkOffset
	if r.src.props.readCommitted() {
		p.end = block.LastStableOffset
	}
	next, ok := rs.end()
	if !ok {
		return r.nothing(p, block)
	}
	p.empty = 0
	c := &chunk{data: rs, from: p.next, next: next, bytes: size(rs)}
	p.next = next
	p.bytes += c.bytes
	r.buffered += c.bytes
	p.chunks = append(p.chunks, c)
	return true
}

// nothing handles an answer without a whole batch: there is no data yet, or the batch is larger than was asked for, or
// compaction has emptied the batches at the offset (see skipEmpty).
func (r *reader) nothing(p *partition, block *sarama.FetchResponseBlock) bool {
	switch {
	case block.Partial || len(block.RecordsSet) > 0:
		p.limit = min(p.limit*2, giantBytes)
	case p.next >= p.end:
		p.empty = 0
	default:
		p.empty++
	}
	return false
}

// skipEmpty steps over batches that compaction has emptied: brokers keep them for their producers' sake, and sarama hides
// them, so that their length is not known and each offset must be asked for. An answer that holds bytes but no records is
// such a batch; an answer without bytes is none, whatever the reason, and nothing is stepped over.
func (f *fetcher) skipEmpty(p *partition) error {
	r := f.r
	cfg := *r.c.Config()
	cfg.MetricRegistry = sarama.NewConfig().MetricRegistry // of this connection alone: it counts the bytes of records
	conn := sarama.NewBroker(f.addr)
	conn.Open(&cfg)
	defer conn.Close()
	start := p.next
	for {
		resp, err := conn.Fetch(f.request([]*partition{p}, shortWait))
		if err != nil {
			return err
		}
		block := resp.GetBlock(p.topic, p.partition)
		sizes, ok := cfg.MetricRegistry.Get("consumer-fetch-response-size").(interface {
			Max() int64
			Clear()
		})
		held := ok && sizes.Max() > 0
		if ok {
			sizes.Clear()
		}
		r.mu.Lock()
		if r.closed || p.gone || block == nil || block.Err != sarama.ErrNoError || block.Partial || len(block.RecordsSet) > 0 || !held || p.next >= p.end {
			p.empty = 0
			if p.next > start && !p.gone {
				p.chunks = append(p.chunks, &chunk{next: p.next})
			}
			r.mu.Unlock()
			r.wake()
			return nil
		}
		p.next++
		r.mu.Unlock()
	}
}

// size estimates the bytes that records hold.
func size(rs records) int {
	n := 0
	for _, b := range rs.batches {
		for _, rec := range b.Records {
			n += len(rec.Key) + len(rec.Value) + 32
		}
	}
	return n
}
