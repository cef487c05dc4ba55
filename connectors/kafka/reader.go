package kafka

import (
	"fmt"
	"sync"
	"sync/atomic"

	"runnel/connectors"
)

// reader reads the partitions of one subtask. Its goroutines fetch ahead: one for each leader broker, and one that finds
// leaders (fetch.go). Decoding is done in Poll, by the task.
type reader struct {
	src  *sourceSpec
	env  connectors.Env
	wake func()
	c    *client
	dec  *decoding
	lim  fetchLimits

	// Of the task's goroutine.
	parts []*partition // assigned and not ended
	turn  int          // where Poll looks first
	err   error        // sticky

	mu       sync.Mutex
	cond     *sync.Cond // signalled when a partition needs a leader, room is made, or the reader closes
	closed   bool
	fatal    error // of the goroutines
	buffered int   // bytes that all partitions hold
	fetchers map[string]*fetcher
	lost     []*partition // without a fetcher
	wait     sync.WaitGroup
}

// partition is one split that is being read.
type partition struct {
	split    // of the task's goroutine, but topicPartition and stop are never changed
	chunk    *chunk
	consumed atomic.Int64 // offset of the last record given, -1 before the first; for whoever looks at metrics

	// Under reader.mu.
	chunks  []*chunk
	bytes   int   // of chunks and chunk
	next    int64 // offset to fetch next
	limit   int32 // bytes to fetch at once
	fetcher *fetcher
	lost    lostReason
	since   int  // failed attempts to find the leader
	empty   int  // fetches that gave nothing although there should be something
	leftOut bool // the last answer gave rows of others only, and there may be some
	end     int64
	gone    bool // ended or reader closed
}

// chunk is what one fetch gave for one partition.
type chunk struct {
	data  records
	from  int64 // the offset that was asked for; batches may begin before it
	next  int64 // the offset behind it
	bytes int
}

func (s *sourceSpec) read(env connectors.Env, wake func()) (connectors.Reader, error) {
	dec, err := newDecoding(s, env.Zone)
	if err != nil {
		return nil, err
	}
	r := &reader{src: s, env: env, wake: wake, dec: dec, lim: s.limits, fetchers: map[string]*fetcher{}}
	r.cond = sync.NewCond(&r.mu)
	if env.Metrics != nil {
		env.Metrics("pendingRecords", r.pending)
	}
	r.wait.Add(1)
	go r.lead()
	return r, nil
}

// pending is the number of records known to be there and not yet polled.
func (r *reader) pending() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := int64(0)
	for _, f := range r.fetchers {
		for _, p := range f.parts {
			if d := p.end - p.next; d > 0 {
				n += d
			}
			for _, c := range p.chunks {
				n += int64(c.data.count())
			}
		}
	}
	return n
}

func (r *reader) Assign(splits []connectors.Split) error {
	var added []*partition
	for _, c := range splits {
		s, err := decodeSplit(c)
		if err != nil {
			return err
		}
		p := &partition{split: s, next: s.offset, limit: r.lim.partition, lost: lostNew}
		p.consumed.Store(max(s.offset-1, -1))
		if r.env.Metrics != nil {
			r.env.Metrics(fmt.Sprintf("KafkaSourceReader.topic.%s.partition.%d.currentOffset", p.topic, p.partition), p.consumed.Load)
		}
		added = append(added, p)
	}
	r.parts = append(r.parts, added...)
	r.mu.Lock()
	for _, p := range added {
		if !p.finished() {
			r.addLost(p, lostNew)
		}
	}
	r.mu.Unlock()
	return nil
}

// finished says that the partition has been read to its stop.
func (p *partition) finished() bool { return p.stop != noStop && p.offset >= p.stop }

func (r *reader) Poll() (connectors.Polled, error) {
	if r.err != nil {
		return connectors.Polled{}, r.err
	}
	for range r.parts {
		r.turn++
		if r.turn >= len(r.parts) {
			r.turn = 0
		}
		p := r.parts[r.turn]
		if p.finished() {
			return r.finish(p), nil
		}
		if !r.take(p) {
			continue
		}
		polled, err := r.decode(p)
		if err != nil {
			r.err = err
			return connectors.Polled{}, err
		}
		if polled.Rows != nil || polled.Ended {
			return polled, nil
		}
	}
	r.mu.Lock()
	r.err = r.fatal
	r.mu.Unlock()
	return connectors.Polled{}, r.err
}

// take makes sure that the partition has a chunk, if one was fetched.
func (r *reader) take(p *partition) bool {
	if p.chunk != nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(p.chunks) == 0 {
		return false
	}
	p.chunk = p.chunks[0]
	p.chunks = append(p.chunks[:0], p.chunks[1:]...)
	p.advance(p.chunk.from)
	return true
}

// drop forgets the partition's chunk, which has been decoded, and lets the next be fetched.
func (r *reader) drop(p *partition) {
	r.mu.Lock()
	p.bytes -= p.chunk.bytes
	r.buffered -= p.chunk.bytes
	r.cond.Broadcast()
	r.mu.Unlock()
	p.chunk = nil
}

// decode fills the batch from the partition's chunks. An error is held back until the rows before it have been given.
func (r *reader) decode(p *partition) (connectors.Polled, error) {
	d := r.dec
	d.begin()
	for !d.full() && !p.finished() && r.take(p) {
		rec, ok := p.chunk.data.next(p.offset)
		if !ok {
			p.advance(p.chunk.next)
			r.drop(p)
			continue
		}
		if p.stop != noStop && rec.offset >= p.stop {
			p.advance(p.stop)
			break
		}
		p.advance(rec.offset)
		whole, err := d.record(p, &rec)
		if err != nil {
			if d.out.Len > 0 {
				break // met again by the next poll, since the record was not passed
			}
			return connectors.Polled{}, err
		}
		if !whole {
			break
		}
		p.chunk.data.pass()
		p.advance(rec.offset + 1)
	}
	if p.offset > 0 {
		p.consumed.Store(p.offset - 1)
	}
	if p.finished() {
		polled := r.finish(p)
		polled.Rows, polled.Times = d.rows()
		return polled, nil
	}
	rows, times := d.rows()
	return connectors.Polled{Split: p.id(), Rows: rows, Times: times, More: true}, nil
}

// advance moves the position forward, never back.
func (p *partition) advance(offset int64) {
	if offset > p.offset {
		p.offset, p.skip = offset, 0
	}
}

// finish takes a partition that is at its stop out of the reader.
func (r *reader) finish(p *partition) connectors.Polled {
	r.mu.Lock()
	p.gone = true
	r.buffered -= p.bytes
	p.chunks, p.bytes = nil, 0
	if p.fetcher != nil {
		p.fetcher.remove(p)
	}
	r.cond.Broadcast()
	r.mu.Unlock()
	p.chunk = nil
	for i, q := range r.parts {
		if q == p {
			r.parts = append(r.parts[:i], r.parts[i+1:]...)
			break
		}
	}
	return connectors.Polled{Split: p.id(), Ended: true, More: true}
}

func (r *reader) Snapshot() ([]connectors.Split, error) {
	splits := make([]connectors.Split, 0, len(r.parts))
	for _, p := range r.parts {
		splits = append(splits, p.encode())
	}
	return splits, nil
}

func (r *reader) Close() error {
	r.mu.Lock()
	r.closed = true
	c := r.c
	r.cond.Broadcast()
	r.mu.Unlock()
	if c != nil {
		c.dialer.cut()
	}
	r.wait.Wait()
	if r.c != nil {
		r.c.close()
	}
	return nil
}

// fail ends the reader: the next poll that finds nothing else gives the error.
func (r *reader) fail(err error) {
	r.mu.Lock()
	if r.fatal == nil && !r.closed {
		r.fatal = fmt.Errorf("reading %s: %w", r.src.table.Name, err)
	}
	r.mu.Unlock()
	r.wake()
}
