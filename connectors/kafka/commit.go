package kafka

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"runnel/connectors"
)

// committer commits the transactions that the writers of a sink have prepared.
type committer struct {
	s     *sinkSpec
	env   connectors.SinkEnv
	names names
	dir   string
	c     *client
	done  [2]map[identity]bool // committed by the last call and the one before: they may be spoken of once more
	first bool                 // no checkpoint of this run has been committed yet
}

func (s *sinkSpec) committer(env connectors.SinkEnv) (connectors.Committer, error) {
	c := &committer{s: s, env: env, names: names{s.prefix, env.Sink}, dir: s.dir(env), first: true}
	c.done[0], c.done[1] = map[identity]bool{}, map[identity]bool{}
	return c, nil
}

func (m *committer) connect(ctx context.Context) error {
	if m.c != nil && m.c.dead() {
		m.c.close()
		m.c = nil
	}
	if m.c != nil {
		return nil
	}
	c, err := m.s.k.connect(ctx, m.s.props, false)
	m.c = c
	return err
}

// Commit implements connectors.Committer.
func (m *committer) Commit(ctx context.Context, checkpoint int64, raw [][]byte) error {
	cs, err := decodeCommittables(raw)
	if err != nil {
		return err
	}
	if err := m.connect(ctx); err != nil {
		return err
	}
	defer m.c.during(ctx)()
	done := map[identity]bool{}
	for _, c := range cs {
		if !m.done[0][c.who] && !m.done[1][c.who] {
			err := m.c.commitTxn(ctx, c.who)
			if refused(err) {
				err = m.resolve(ctx, c, err)
			}
			if err != nil {
				return fmt.Errorf("commit of checkpoint %d to %s: transaction %s: %w", checkpoint, m.s.table.Name, c.who.txn, err)
			}
			m.dropLog(c)
		}
		done[c.who] = true
	}
	m.done[1], m.done[0] = m.done[0], done
	if m.first {
		m.first = false
		checkpointed(m.dir, m.names.run(m.env.Run))
	}
	return nil
}

// dropLog removes the row log of a transaction that is committed.
func (m *committer) dropLog(c *committable) {
	if c.log == "" || m.dir == "" {
		return
	}
	path := filepath.Join(m.dir, c.log)
	os.Remove(path)
	if again, err := filepath.Glob(path + ".again*"); err == nil {
		for _, p := range again {
			os.Remove(p)
		}
	}
}

// Close implements connectors.Committer.
func (m *committer) Close() error {
	m.s.k.endRun(m.names.run(m.env.Run))
	if m.c != nil {
		m.c.close()
	}
	return nil
}
