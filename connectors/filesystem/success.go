package filesystem

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"runnel/connectors"
)

var (
	commitTrigger = connectors.Option{Key: "sink.partition-commit.trigger", Kind: connectors.EnumOption, Values: []string{"process-time", "partition-time"}, Default: "process-time", Doc: "When a partition is complete: process-time, the delay after its first row."}
	commitDelay   = connectors.Option{Key: "sink.partition-commit.delay", Kind: connectors.DurationOption, Default: "0 s", Doc: "How long after its first row a partition is complete."}
	commitPolicy  = connectors.Option{Key: "sink.partition-commit.policy.kind", Doc: "success-file: a complete partition gets an empty file that says so."}
	successName   = connectors.Option{Key: "sink.partition-commit.success-file.name", Default: "_SUCCESS", Doc: "Name of that file."}
)

// success says which partitions get a file that tells readers that they are complete.
type success struct {
	name  string // "" for none
	delay time.Duration
}

func (f files) success(t *connectors.Table) (success, error) {
	kinds := t.Options.Get(commitPolicy)
	trigger, err := t.Options.Enum(commitTrigger)
	if err != nil {
		return success{}, err
	}
	if trigger == "partition-time" {
		return success{}, fmt.Errorf("'%s' = 'partition-time' is not supported, as sinks do not see the watermark: use process-time with a '%s'", commitTrigger.Key, commitDelay.Key)
	}
	var s success
	if s.delay, err = t.Options.Duration(commitDelay); err != nil {
		return success{}, err
	}
	for _, k := range strings.Split(kinds, ",") {
		switch k = strings.TrimSpace(k); k {
		case "":
		case "success-file":
			s.name = t.Options.Get(successName)
		case "metastore":
			return success{}, fmt.Errorf("Can not configure a 'metastore' partition commit policy for a file system table. You can only configure 'metastore' partition commit policy for a hive table.")
		default:
			return success{}, fmt.Errorf("'%s' = '%s' is not supported: no classes are loaded; success-file is there", commitPolicy.Key, k)
		}
	}
	if s.name != filepath.Base(s.name) && s.name != "" {
		return success{}, fmt.Errorf("'%s' = '%s' is no file name", successName.Key, s.name)
	}
	return s, nil
}

// written notes that a partition has got a file.
func (c *committer) written(dir string) {
	if c.policy.name == "" || len(c.partition) == 0 {
		return
	}
	if c.open == nil {
		c.open = map[string]time.Time{}
	}
	if _, ok := c.open[dir]; !ok {
		c.open[dir] = c.now()
	}
}

// complete gives the partitions their file whose time has come. A job whose input ends does not wait.
func (c *committer) complete() error {
	for dir, since := range c.open {
		if !c.env.Bounded && c.now().Sub(since) < c.policy.delay {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, c.policy.name), nil, 0o644); err != nil {
			return fmt.Errorf("completing partition %s: %w", dir, err)
		}
		delete(c.open, dir)
	}
	return nil
}

// incomplete finds the partitions that earlier runs of the job have left without their file, or with rows newer than it.
func (c *committer) incomplete() error {
	if c.policy.name == "" || len(c.partition) == 0 || len(c.env.PriorRuns) == 0 {
		return nil
	}
	err := filepath.WalkDir(c.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), "part-") {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		dir := filepath.Dir(p)
		if done, err := os.Stat(filepath.Join(dir, c.policy.name)); err == nil && !done.ModTime().Before(info.ModTime()) {
			return nil
		}
		c.written(dir)
		if info.ModTime().Before(c.open[dir]) {
			c.open[dir] = info.ModTime()
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (c *committer) now() time.Time {
	if c.env.Now == nil {
		return time.Now()
	}
	return c.env.Now()
}
