package kafka

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/IBM/sarama"
)

// Recover finishes what a restored snapshot has prepared, before any writer starts:
//
//  1. EndTxn(commit) with the producer id and epoch of the snapshot. It succeeds also when the commit was done already.
//  2. Transactions that later attempts of the same runs left open are aborted, so that they hold back neither readers nor
//     the markers that step 3 waits for.
//  3. Where the commit was refused, the marker tells whether the transaction was committed. If not, its rows are written
//     again from the row log under a fresh transactional id; without a log the restore stops and names what is lost.
func (m *committer) Recover(ctx context.Context, raw [][]byte) error {
	cs, err := decodeCommittables(raw)
	if err != nil {
		return err
	}
	if err := m.connect(ctx); err != nil {
		return err
	}
	defer m.c.during(ctx)()
	noted, err := notedRuns(m.dir)
	if err != nil {
		return fmt.Errorf("notes of earlier runs: %w", err)
	}
	if err := m.s.k.startRun(m.dir, m.names.run(m.env.Run)); err != nil {
		return err
	}
	why := map[*committable]error{}
	for _, c := range cs {
		err := m.c.commitTxn(ctx, c.who)
		if refused(err) {
			why[c] = err
		} else if err != nil {
			return fmt.Errorf("recovery of %s: commit of transaction %s: %w", m.s.table.Name, c.who.txn, err)
		}
	}
	if err := m.abortStrays(ctx, noted); err != nil {
		return fmt.Errorf("recovery of %s: %w", m.s.table.Name, err)
	}
	for _, c := range cs {
		if why[c] == nil {
			continue
		}
		if err := m.resolve(ctx, c, why[c]); err != nil {
			return fmt.Errorf("recovery of %s: transaction %s: %w", m.s.table.Name, c.who.txn, err)
		}
	}
	for _, c := range cs {
		m.dropLog(c)
	}
	m.sweep(noted)
	return nil
}

// abortStrays aborts the open transactions of the runs in the snapshot, and of those that died before their first
// checkpoint. Runs are named in full: the prefix alone would hit other jobs whose prefix begins with it.
func (m *committer) abortStrays(ctx context.Context, noted []string) error {
	var runs []string
	for _, r := range m.env.PriorRuns {
		runs = append(runs, m.names.run(r))
	}
	for _, r := range noted {
		if strings.HasPrefix(r, m.names.prefix+"-") && strings.HasSuffix(r, "."+short(m.names.sink)+"-") {
			runs = append(runs, r)
		}
	}
	runs = slices.DeleteFunc(runs, m.s.k.isLive)
	if len(runs) == 0 {
		return nil
	}
	ids, err := m.c.openTxns(ctx)
	if errors.Is(err, sarama.ErrUnsupportedVersion) || errors.Is(err, sarama.ErrClusterAuthorizationFailed) {
		m.s.k.once(fmt.Sprintf("%s: the broker does not list open transactions (%v): those that a killed job left open hold back read_committed readers until they time out.", m.s.table.Name, err))
		return nil
	}
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !slices.ContainsFunc(runs, func(r string) bool { return strings.HasPrefix(id, r) }) {
			continue
		}
		if _, err := m.c.initTxn(ctx, id, time.Minute, forEver); err != nil {
			return fmt.Errorf("abort of stray transaction %s: %w", id, err)
		}
		m.s.k.cfg.Log.Info("kafka: stray transaction aborted", "transaction", id, "table", m.s.table.Name)
	}
	return nil
}

// keepLogs is how long a row log is kept that the restored snapshot does not speak of: another snapshot may.
const keepLogs = 7 * 24 * time.Hour

// sweep removes what runs that are over have left: their notes, logs of transactions that were never prepared, and old
// logs.
func (m *committer) sweep(noted []string) {
	if m.dir == "" {
		return
	}
	for _, r := range noted {
		if !m.s.k.isLive(r) {
			checkpointed(m.dir, r)
		}
	}
	paths, err := filepath.Glob(filepath.Join(m.dir, "*.rows*"))
	if err != nil {
		return
	}
	live := m.s.k.liveRuns()
	for _, p := range paths {
		if slices.ContainsFunc(live, func(r string) bool { return strings.HasPrefix(filepath.Base(p), short(r)) }) {
			continue
		}
		st, err := os.Stat(p)
		if err == nil && (strings.HasSuffix(p, openSuffix) || time.Since(st.ModTime()) > keepLogs) {
			os.Remove(p)
		}
	}
}

// resolve finds out what became of a transaction whose commit was refused, and writes its rows again if they are not
// there.
func (m *committer) resolve(ctx context.Context, c *committable, why error) error {
	timeout, err := m.c.txnTimeout(ctx)
	if err != nil {
		return err
	}
	// Nobody can commit it any more behind our back.
	if _, err := m.c.initTxn(ctx, c.who.txn, timeout, forEver); err != nil {
		return err
	}
	committed, err := m.c.marked(ctx, c.mark)
	if err != nil || committed {
		return err
	}
	missing := c.partitions
	if m.c.embedded {
		if missing, err = m.missing(ctx, c); err != nil || len(missing) == 0 {
			return err
		}
	}
	err = m.replay(ctx, c, missing, timeout)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, errNoLog) {
		return fmt.Errorf("%w: the broker has dropped it uncommitted (%v): %s are lost. Restore an older checkpoint or savepoint to produce them again, and set '%s' = 'true' to have rows kept until they are committed",
			err, why, c.lost(), optRowLog.Key)
	}
	if err == nil {
		m.s.k.cfg.Notice(fmt.Sprintf("%s: the broker had lost the transaction of checkpoint %d; its %d rows were written again.", m.s.table.Name, c.mark.checkpoint, c.rows))
	}
	return err
}

// lost words the range of a transaction.
func (c *committable) lost() string {
	var parts []string
	for _, p := range c.partitions {
		parts = append(parts, fmt.Sprintf("topic %s, partition %d, from offset %d", p.topic, p.partition, p.first))
	}
	return fmt.Sprintf("%d rows of checkpoint %d (%s)", c.rows, c.mark.checkpoint, strings.Join(parts, "; "))
}

// replay writes the rows of a transaction for the given partitions again, in one transaction of a fresh id with the same
// marker.
func (m *committer) replay(ctx context.Context, c *committable, missing []txnPartition, timeout time.Duration) error {
	if c.log == "" {
		return errNoLog
	}
	path := filepath.Join(m.dir, c.log)
	if _, err := os.Stat(path); err != nil {
		return err
	}
	id := m.names.run(m.env.Run) + "again-" + short(c.who.txn) + fmt.Sprintf("-%d", c.mark.checkpoint)
	who, err := m.c.initTxn(ctx, id, timeout, forEver)
	if err != nil {
		return err
	}
	p := newProducer(m.c, m.s.limits)
	defer p.halt()
	p.begin(who)
	p.join = func(ctx context.Context, part *outPart) error {
		return m.c.joinTxn(ctx, who, part.topic, part.partition)
	}
	again := &committable{who: who, mark: c.mark}
	err = readRowLog(path, c.logBytes, func(tp topicPartition, b *outBatch) error {
		if !slices.ContainsFunc(missing, func(p txnPartition) bool { return p.topicPartition == tp }) {
			return nil
		}
		return p.put(ctx, tp, b)
	})
	if err == nil {
		err = p.drain(ctx)
	}
	if err != nil {
		return err
	}
	for _, name := range sortedKeys(p.topics) {
		for _, part := range p.topics[name].parts {
			if part.joined {
				again.partitions = append(again.partitions, txnPartition{part.topicPartition, part.first})
			}
		}
	}
	if err := m.c.mark(ctx, who, c.mark); err != nil {
		return err
	}
	// The embedded broker may die half way through the commit; missing looks for this transaction too.
	if err := writeFile(path+".again-"+short(id), again.encode()); err != nil {
		return fmt.Errorf("note of a repeated transaction: %w", err)
	}
	return m.c.commitTxn(ctx, who)
}
