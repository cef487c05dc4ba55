package kafka

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// txnWriter writes in transactions, one for each epoch between two checkpoints, and prepares them for the committer.
//
// Transactional ids are <prefix>-<run>-<subtask>-<slot>. While one transaction waits for its checkpoint to complete, the
// next is written under another slot. A slot is used again only after the commit of the last checkpoint that speaks of
// it, and then with InitProducerID first: so producer id and epoch name one transaction for ever, and committing it once
// more can never commit another's rows.
type txnWriter struct {
	*writer
	names   names
	timeout time.Duration
	logDir  string // "" when rows are not logged
	slots   []*slot
	cur     *slot // the open transaction, nil before the epoch's first batch
}

// slot is one transactional id of a writer.
type slot struct {
	n         int
	who       identity
	log       *rowLog
	prepared  *committable // waits for its commit; nil when the slot is free
	mentioned int64        // the last checkpoint that speaks of it
}

// names makes the names that a sink's transactions go by. The sink is part of the run's name, so that two sinks of a job
// with one prefix do not fence each other.
type names struct {
	prefix, sink string
}

func (n names) run(run string) string { return n.prefix + "-" + run + "." + short(n.sink) + "-" }

func (n names) txn(run string, subtask, slot int) string {
	return n.run(run) + strconv.Itoa(subtask) + "-" + strconv.Itoa(slot)
}

// group names the consumer group that holds a slot's markers. It has the slot in it since the wait for stable offsets
// would else last until the next slot's transaction ends.
func (n names) group(subtask, slot int) string {
	return n.prefix + "-" + short(n.sink) + "-" + strconv.Itoa(subtask) + "-" + strconv.Itoa(slot)
}

// short is a text's hash in 8 hex digits.
func short(s string) string {
	h := fnv.New32a()
	h.Write([]byte(s))
	return hex.EncodeToString(h.Sum(nil))
}

// dir is where a sink keeps its files.
func (s *sinkSpec) dir(env connectors.SinkEnv) string {
	return filepath.Join(env.Dir, "kafka-"+short(env.Sink))
}

// keepsRows says whether the rows of open transactions are logged.
func (s *sinkSpec) keepsRows(c *client) bool {
	return s.rowLog == "true" || s.rowLog == "auto" && c.embedded
}

func (s *sinkSpec) openTxn(ctx context.Context, env connectors.SinkEnv) (connectors.Writer, error) {
	w, err := s.openWriter(ctx, env)
	if err != nil {
		return nil, err
	}
	defer w.c.during(ctx)()
	t := &txnWriter{writer: w, names: names{s.prefix, env.Sink}}
	if t.timeout, err = w.c.txnTimeout(ctx); err != nil {
		w.Close()
		return nil, fmt.Errorf("sink %s: %w", s.table.Name, err)
	}
	dir := s.dir(env)
	if s.rowLog == "true" && dir == "" {
		w.Close()
		return nil, fmt.Errorf("sink %s: '%s' = 'true' needs a data directory", s.table.Name, optRowLog.Key)
	}
	if s.keepsRows(w.c) && dir != "" {
		t.logDir = dir
		w.p.keep = func(part *outPart, b *outBatch) error { return t.cur.log.add(part, b) }
	}
	w.p.join = t.join
	if err := s.k.startRun(dir, t.names.run(env.Run)); err != nil {
		w.Close()
		return nil, err
	}
	return t, nil
}

// join makes a partition part of the epoch's transaction, which it begins if need be.
func (w *txnWriter) join(ctx context.Context, part *outPart) error {
	if w.cur == nil {
		if err := w.begin(ctx); err != nil {
			return err
		}
	}
	return w.c.joinTxn(ctx, w.cur.who, part.topic, part.partition)
}

// begin starts a transaction in a free slot.
func (w *txnWriter) begin(ctx context.Context) error {
	s := w.free()
	who, err := w.c.initTxn(ctx, w.names.txn(w.env.Run, w.env.Subtask, s.n), w.timeout, sinkTimeout)
	if err != nil {
		return err
	}
	s.who, s.log = who, nil
	if w.logDir != "" {
		if s.log, err = createRowLog(w.logDir, fmt.Sprintf("%s%d-%d-%d.rows", short(w.names.run(w.env.Run)), w.env.Subtask, s.n, who.epoch)); err != nil {
			return err
		}
	}
	w.p.begin(who)
	w.cur = s
	return nil
}

func (w *txnWriter) free() *slot {
	for _, s := range w.slots {
		if s.prepared == nil {
			return s
		}
	}
	s := &slot{n: len(w.slots)}
	w.slots = append(w.slots, s)
	return s
}

// begin makes what is sent from now on part of a new epoch of a transactional id. Nothing may be unacknowledged.
func (p *producer) begin(who identity) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.who = who
	for _, t := range p.topics {
		for _, part := range t.parts {
			part.joined, part.seq, part.first = false, 0, -1
		}
	}
}

// Write implements connectors.Writer.
func (w *txnWriter) Write(ctx context.Context, rows *types.Batch) error {
	return w.writer.Write(ctx, rows)
}

// Prepare ends the epoch: all rows acknowledged, the marker in the transaction, the row log on disk. A transaction
// without rows makes no committable. Transactions of earlier checkpoints that are not known to be committed are spoken of
// again, for a checkpoint that failed is never committed by itself.
func (w *txnWriter) Prepare(ctx context.Context, checkpoint int64) ([][]byte, []byte, error) {
	defer w.c.during(ctx)()
	err := w.p.drain(ctx)
	if err == nil && w.cur != nil {
		err = w.prepare(ctx, checkpoint)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("writing %s: %w", w.s.table.Name, err)
	}
	var out [][]byte
	for _, s := range w.slots {
		if s.prepared != nil {
			s.mentioned = checkpoint
			out = append(out, s.prepared.encode())
		}
	}
	return out, nil, nil
}

func (w *txnWriter) prepare(ctx context.Context, checkpoint int64) error {
	s := w.cur
	c := &committable{who: s.who}
	w.p.mu.Lock()
	for _, name := range sortedKeys(w.p.topics) {
		for _, part := range w.p.topics[name].parts {
			if part.joined {
				c.partitions = append(c.partitions, txnPartition{part.topicPartition, part.first})
				c.rows += int64(part.seq)
			}
		}
	}
	w.p.mu.Unlock()
	c.mark = marker{group: w.names.group(w.env.Subtask, s.n), topic: c.partitions[0].topic, run: w.env.Run, checkpoint: checkpoint}
	if err := w.c.mark(ctx, s.who, c.mark); err != nil {
		return err
	}
	if s.log != nil {
		if err := s.log.finish(); err != nil {
			return err
		}
		c.log, c.logBytes = s.log.name, s.log.bytes
	}
	s.prepared, w.cur = c, nil
	w.p.begin(identity{id: -1, epoch: -1})
	return nil
}

// Committed frees the slots whose transactions are known to be committed.
func (w *txnWriter) Committed(checkpoint int64) {
	for _, s := range w.slots {
		if s.prepared != nil && s.mentioned <= checkpoint {
			if s.prepared.log != "" {
				os.Remove(filepath.Join(w.logDir, s.prepared.log))
			}
			s.prepared = nil
		}
	}
}

// abortTimeout bounds the abort of an open transaction when the task ends; the broker does it later by itself.
const abortTimeout = 700 * time.Millisecond

// Close gives the open transaction up, so that it does not hold back readers until it times out. Prepared ones stay: they
// belong to their checkpoints.
func (w *txnWriter) Close() error {
	err := w.writer.Close()
	if w.cur == nil {
		return err
	}
	if w.cur.log != nil {
		w.cur.log.drop()
	}
	ctx, cancel := context.WithTimeout(context.Background(), abortTimeout)
	defer cancel()
	if c, e := w.s.k.connect(ctx, w.s.props, false); e == nil {
		defer c.close()
		defer c.during(ctx)()
		if e := c.endTxn(ctx, w.cur.who, false, abortTimeout); e != nil && !refused(e) {
			w.s.k.cfg.Log.Warn("kafka: abort of an open transaction", "transaction", w.cur.who.txn, "error", e)
		}
	}
	return err
}

// startRun notes in dir, durably, that a run is about to open transactions, and that it lives in this process. A run
// that dies before its first checkpoint is in no snapshot; by the note its transactions are found and aborted all the
// same.
func (k *Kafka) startRun(dir, run string) error {
	k.mu.Lock()
	k.live[run] = true
	k.mu.Unlock()
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("directory of a Kafka sink: %w", err)
	}
	path := filepath.Join(dir, short(run)+".run")
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := writeFile(path, []byte(run)); err != nil {
		return fmt.Errorf("note of a Kafka sink's run: %w", err)
	}
	return nil
}

// endRun says that the run's writers are gone.
func (k *Kafka) endRun(run string) {
	k.mu.Lock()
	delete(k.live, run)
	k.mu.Unlock()
}

// isLive says whether writers of the run may be open in this process.
func (k *Kafka) isLive(run string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.live[run]
}

// liveRuns gives the runs whose writers may be open in this process.
func (k *Kafka) liveRuns() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return sortedKeys(k.live)
}

// checkpointed forgets the note of a run: from its first completed checkpoint on, snapshots speak of it, and what it has
// prepared must not be aborted by somebody who restores none.
func checkpointed(dir, run string) {
	os.Remove(filepath.Join(dir, short(run)+".run"))
}

// notedRuns gives the runs whose notes are still there.
func notedRuns(dir string) ([]string, error) {
	if dir == "" {
		return nil, nil
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.run"))
	if err != nil {
		return nil, err
	}
	var runs []string
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		runs = append(runs, string(text))
	}
	return runs, nil
}
