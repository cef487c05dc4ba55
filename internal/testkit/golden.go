package testkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Continue restores the job of a query, or of an INSERT into a capturing table, from the savepoint in dir and gives the changes that come from there on. The savepoint
// lies in the middle of the input. write makes it first.
func Continue(t Test, s Setting, dir string, write bool) (changes []Change, err error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), patience, errors.New("the test hangs"))
	defer cancel()
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	p, done := open(t, Variant{Backend: "hashmap", Parallelism: 1}, s)
	defer func() {
		if cerr := done(ctx); err == nil && cerr != nil {
			err = cerr
		}
	}()
	if err := p.setUp(ctx); err != nil {
		return nil, err
	}
	text := t.Step().SQL
	if _, query := parseQuery(text); query {
		if text, err = p.captured(ctx, text); err != nil {
			return nil, err
		}
	}
	if write {
		if err := p.savepoint(ctx, text, dir); err != nil {
			return nil, err
		}
	}
	before := len(p.caught())
	if err := p.set("execution.state-recovery.path", dir); err != nil {
		return nil, err
	}
	res, err := p.session.Execute(ctx, text)
	if err != nil {
		return nil, err
	}
	j, ok := p.cluster.Job(res.JobID)
	if !ok {
		return nil, fmt.Errorf("job %s is gone", res.JobID)
	}
	if err := p.events.running(ctx, j); err != nil {
		return nil, err
	}
	// Block by block, so that the order of several inputs is that of the script.
	for _, st := range p.stages() {
		p.feed.Release(st.limit)
		if err := p.settle(ctx, j); err != nil {
			return nil, err
		}
	}
	p.feed.Finish()
	err = j.Wait(ctx)
	return p.caught()[before:], err
}

// caught gives what the one sink of the job has got.
func (p *player) caught() []Change {
	for _, changes := range p.capture.All() {
		return changes
	}
	return nil
}

// savepoint runs a statement to the middle of its input and stops it with a savepoint in dir.
func (p *player) savepoint(ctx context.Context, text, dir string) error {
	res, err := p.session.Execute(ctx, text)
	if err != nil {
		return err
	}
	j, ok := p.cluster.Job(res.JobID)
	if !ok {
		return fmt.Errorf("job %s is gone", res.JobID)
	}
	if err := p.events.running(ctx, j); err != nil {
		return err
	}
	for _, st := range p.stages() {
		if st.limit > p.feed.total/2 {
			break
		}
		p.feed.Release(st.limit)
		if err := p.settle(ctx, j); err != nil {
			return err
		}
	}
	made, err := j.Stop(ctx, filepath.Join(p.dir, "savepoints"), false)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.CopyFS(dir, os.DirFS(made))
}
