package exec

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"runnel/exec/op"
	"runnel/plan"
)

// defaultMemory is what the operators of a batch job hold in memory unless the job says otherwise.
const defaultMemory = 256 << 20

// holdsRows reports whether an operator keeps its input, or groups of it, until that ends.
func holdsRows(s *opSpec) bool {
	switch s.node.(type) {
	case *plan.Sort, *plan.SortLimit, *plan.Rank, *plan.OverAggregate, *plan.GroupAggregate, *plan.Join,
		*plan.GroupWindowAggregate, *plan.Match:
		return s.batch
	}
	return false
}

// spill gives an operator its equal share of a batch job's memory, and temporary files for the rest.
func (a *attempt) spill(s *opSpec, subtask int) op.Spill {
	if !holdsRows(s) {
		return op.Spill{}
	}
	sharers := 0
	for _, o := range a.graph.ops {
		if holdsRows(o) {
			sharers += o.parallelism
		}
	}
	memory := a.cfg.Memory
	if memory <= 0 {
		memory = defaultMemory
	}
	return op.Spill{Memory: memory / int64(sharers), Create: func() (op.SpillFile, error) {
		return a.job.cluster.tempFile(a.cfg.TempDirs, subtask)
	}}
}

// tempFile makes a temporary file in one of the directories, "tmp" in the data directory if there are none. The file has
// no name any more where the system allows that: then it is gone with the process, however that ends.
func (c *Cluster) tempFile(dirs string, turn int) (op.SpillFile, error) {
	dir := os.TempDir()
	if list := strings.FieldsFunc(dirs, func(r rune) bool { return r == ',' || r == os.PathListSeparator || r == '|' }); len(list) > 0 {
		dir = list[turn%len(list)]
	} else if c.opts.Dir != "" {
		dir = filepath.Join(c.opts.Dir, "tmp")
		c.sweep.Do(func() { os.RemoveAll(dir) }) // of a process that was killed
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "runnel-rows-*")
	if err != nil {
		return nil, err
	}
	return &tempFile{File: f, named: os.Remove(f.Name()) != nil}, nil
}

// tempFile is removed when it is closed.
type tempFile struct {
	*os.File
	named bool
}

// Close removes the file.
func (f *tempFile) Close() error {
	err := f.File.Close()
	if f.named {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
