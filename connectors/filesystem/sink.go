package filesystem

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"runnel/connectors"
	"runnel/types"
)

func (f files) sink(r connectors.SinkRequest) (*connectors.Sink, error) {
	if r.Overwrite {
		return nil, fmt.Errorf("INSERT OVERWRITE into filesystem table '%s' is not supported; write to another path", r.Table.Name)
	}
	l, err := f.layout(r.Table, r.Columns)
	if err != nil {
		return nil, err
	}
	if l.format.Encoder == nil {
		return nil, fmt.Errorf("format '%s' cannot be written", l.format.Name)
	}
	if _, err := l.format.Encoder(l.request); err != nil {
		return nil, err
	}
	size, err := r.Table.Options.Memory(fileSize)
	if err != nil {
		return nil, err
	}
	degree, err := r.Table.Options.Int(parallelism)
	if err != nil {
		return nil, err
	}
	for _, o := range [...]connectors.Option{rollover, rollCheck, inactivity} {
		if r.Table.Options.Get(o) == "" {
			continue
		}
		if _, err := r.Table.Options.Duration(o); err != nil {
			return nil, err
		}
	}
	policy, err := f.success(r.Table)
	if err != nil {
		return nil, err
	}
	s := &parts{layout: l, size: size, fields: r.Fields(), policy: policy}
	return &connectors.Sink{
		Mode:        l.format.Mode & r.Query,
		Parallelism: int(degree),
		Open:        s.open,
		Committer:   func(env connectors.SinkEnv) (connectors.Committer, error) { return &committer{parts: s, env: env}, nil },
	}, nil
}

// parts is a sink of part files. A file in progress is hidden (its name begins with a dot); a checkpoint's commit renames
// it.
type parts struct {
	layout
	size   int64
	fields []types.Field
	policy success
}

// closed describes a part file that waits for its checkpoint.
type closed struct {
	Temp  string `json:"temp"`
	Final string `json:"final"`
	Bytes int64  `json:"bytes"`
}

type writer struct {
	*parts
	env    connectors.SinkEnv
	encode connectors.Encoder
	lines  *types.Batch // the columns of the lines, shared with the batch being written
	open   map[string]*part
	done   []closed
	count  int
	row    []byte
}

type part struct {
	closed
	file *os.File
	out  *bufio.Writer
}

func (s *parts) open(_ context.Context, env connectors.SinkEnv) (connectors.Writer, error) {
	req := s.request
	req.Zone = env.Zone
	e, err := s.format.Encoder(req)
	if err != nil {
		return nil, err
	}
	return &writer{parts: s, env: env, encode: e, lines: &types.Batch{Cols: make([]*types.Column, len(s.columns))}, open: map[string]*part{}}, nil
}

func (w *writer) Write(_ context.Context, b *types.Batch) error {
	for k, c := range w.columns {
		w.lines.Cols[k] = b.Cols[c]
	}
	w.lines.Len, w.lines.Kinds = b.Len, b.Kinds
	for k := range b.Rows() {
		i := b.Row(k)
		p, err := w.part(b, i)
		if err != nil {
			return err
		}
		if w.row, err = w.encode.Encode(w.row[:0], w.lines, i); err != nil {
			return err
		}
		w.row = append(w.row, '\n')
		if _, err := p.out.Write(w.row); err != nil {
			return fmt.Errorf("writing of %s: %w", p.Temp, err)
		}
		if p.Bytes += int64(len(w.row)); p.Bytes >= w.size {
			if err := w.finish(filepath.Dir(p.Final)); err != nil {
				return err
			}
		}
	}
	return nil
}

// part gives the open file of the row's partition.
func (w *writer) part(b *types.Batch, i int32) (*part, error) {
	dir := w.dir
	for _, c := range w.partition {
		v := w.null
		if !b.Cols[c].Null(i) {
			v = escape(partitionText(b.Cols[c], i))
		}
		dir = filepath.Join(dir, w.fields[c].Name+"="+v)
	}
	if p := w.open[dir]; p != nil {
		return p, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("part-%s-%d-%d", w.env.Run, w.env.Subtask, w.count)
	w.count++
	p := &part{closed: closed{Temp: filepath.Join(dir, "."+name+".inprogress"), Final: filepath.Join(dir, name)}}
	var err error
	if p.file, err = os.OpenFile(p.Temp, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o644); err != nil {
		return nil, err
	}
	p.out = bufio.NewWriterSize(p.file, 64<<10)
	w.open[dir] = p
	return p, nil
}

// finish makes a folder's open file durable.
func (w *writer) finish(dir string) error {
	p := w.open[dir]
	delete(w.open, dir)
	err := p.out.Flush()
	if err == nil {
		err = p.file.Sync()
	}
	if cerr := p.file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("writing of %s: %w", p.Temp, err)
	}
	w.done = append(w.done, p.closed)
	return nil
}

func (w *writer) Prepare(context.Context, int64) ([][]byte, []byte, error) {
	for dir := range w.open {
		if err := w.finish(dir); err != nil {
			return nil, nil, err
		}
	}
	var out [][]byte
	for _, c := range w.done {
		b, err := json.Marshal(c)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, b)
	}
	w.done = nil
	return out, nil, nil
}

func (w *writer) Close() error {
	var errs []error
	for _, p := range w.open {
		errs = append(errs, p.file.Close(), os.Remove(p.Temp))
	}
	for _, c := range w.done {
		errs = append(errs, os.Remove(c.Temp))
	}
	w.open, w.done = nil, nil
	return errors.Join(errs...)
}

type committer struct {
	*parts
	env  connectors.SinkEnv
	open map[string]time.Time // partitions without their success file, with the time of their first row
}

// Recover finishes the restored files and removes what earlier runs of the same job left in progress.
func (c *committer) Recover(ctx context.Context, committables [][]byte) error {
	if err := c.incomplete(); err != nil {
		return err
	}
	if err := c.Commit(ctx, 0, committables); err != nil {
		return err
	}
	stale := map[string]bool{}
	for _, run := range c.env.PriorRuns {
		stale[run] = true
	}
	err := filepath.WalkDir(c.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		run, ok := strings.CutPrefix(d.Name(), ".part-")
		if !ok || !strings.HasSuffix(run, ".inprogress") {
			return nil
		}
		run, _, _ = strings.Cut(run, "-")
		if stale[run] {
			return os.Remove(p)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Commit renames; a file that is already in its place was committed before.
func (c *committer) Commit(_ context.Context, _ int64, committables [][]byte) error {
	for _, b := range committables {
		var f closed
		if err := json.Unmarshal(b, &f); err != nil {
			return fmt.Errorf("committable of filesystem sink: %w", err)
		}
		err := os.Rename(f.Temp, f.Final)
		if errors.Is(err, fs.ErrNotExist) {
			info, serr := os.Stat(f.Final)
			if serr != nil {
				return fmt.Errorf("part file %s of a completed checkpoint is gone: %w", f.Temp, err)
			}
			if info.Size() != f.Bytes {
				return fmt.Errorf("part file %s has %d bytes, the checkpoint says %d", f.Final, info.Size(), f.Bytes)
			}
		} else if err != nil {
			return err
		}
		c.written(filepath.Dir(f.Final))
	}
	return c.complete()
}

func (c *committer) Close() error { return nil }

// escape writes the characters that a folder name cannot hold as %XX.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < 0x20 || strings.IndexByte(`"#%'*/:=?\{}[]^`, c) >= 0 || c == 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
