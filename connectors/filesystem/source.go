package filesystem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"runnel/connectors"
	"runnel/types"
)

func (f files) source(r connectors.ScanRequest) (*connectors.Source, error) {
	// CSV lines are positional: every physical column is decoded, whatever the query reads.
	all := make([]int, len(r.Table.Columns))
	for i := range all {
		all[i] = i
	}
	l, err := f.layout(r.Table, all)
	if err != nil {
		return nil, err
	}
	if l.format.Decoder == nil {
		return nil, fmt.Errorf("format '%s' cannot be read", l.format.Name)
	}
	if _, err := l.format.Decoder(l.request); err != nil {
		return nil, err
	}
	every, err := r.Table.Options.Duration(monitor)
	if err != nil {
		return nil, err
	}
	s := &scan{layout: l, request: r, every: every}
	if p := r.Table.Options.Get(pattern); p != "" {
		if s.match, err = regexp.Compile("^(?:" + p + ")$"); err != nil {
			return nil, fmt.Errorf("option '%s': %w", pattern.Key, err)
		}
	}
	return &connectors.Source{
		Mode:      l.format.Mode,
		Bounded:   every == 0,
		Enumerate: func(connectors.Env) (connectors.Enumerator, error) { return &enumerator{scan: s}, nil },
		Read:      s.read,
	}, nil
}

type scan struct {
	layout
	request connectors.ScanRequest
	every   time.Duration
	match   *regexp.Regexp
}

// enumerator lists the files, one split each; a file is known by its path, later appends to it are not seen.
type enumerator struct {
	*scan
	seen map[string]bool
}

func (e *enumerator) Discover(ctx context.Context, first bool) ([]connectors.Split, error) {
	if e.seen == nil {
		e.seen = map[string]bool{}
	}
	var found []string
	err := filepath.WalkDir(e.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if n := d.Name(); p != e.dir && (strings.HasPrefix(n, ".") || strings.HasPrefix(n, "_")) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() || e.seen[p] || (e.match != nil && !e.match.MatchString(p)) {
			return nil
		}
		found = append(found, p)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) && e.every > 0 {
		return nil, nil // a watched folder may come later
	}
	if err != nil {
		return nil, fmt.Errorf("listing of %s: %w", e.dir, err)
	}
	sort.Strings(found)
	splits := make([]connectors.Split, 0, len(found))
	for _, p := range found {
		e.seen[p] = true
		wanted, err := e.wanted(p)
		if err != nil {
			return nil, err
		}
		if wanted {
			splits = append(splits, connectors.Split{ID: p, State: position{Path: p}.encode()})
		}
	}
	return splits, nil
}

// constantColumns are those that are the same for all lines of a file.
func constantColumns(t *connectors.Table) []int {
	var cols []int
	for i, c := range t.Columns {
		if c.Metadata != "" || slices.Contains(t.Partition, c.Name) {
			cols = append(cols, i)
		}
	}
	return cols
}

// wanted says whether the query needs any row of a file.
func (s *scan) wanted(path string) (bool, error) {
	if s.request.Keep == nil {
		return true, nil
	}
	vals, err := s.constants(path)
	if err != nil {
		return false, err
	}
	return s.request.Keep(func(c int) (types.Datum, bool) { v, ok := vals[c]; return v, ok }), nil
}

func (e *enumerator) Interval() time.Duration { return e.every }
func (e *enumerator) Close() error            { return nil }

// position is the state of a split: the bytes of the file (decompressed) that were read whole lines of.
type position struct {
	Path   string `json:"path"`
	Offset int64  `json:"offset"`
	Lines  int64  `json:"lines"`
	Skip   int64  `json:"skip,omitempty"` // rows of the line behind them that were given already
}

const positionVersion = 1

func (p position) encode() []byte {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // a struct of a string and two numbers
	}
	return append([]byte{positionVersion}, b...)
}

func parsePosition(s connectors.Split) (position, error) {
	var p position
	if len(s.State) == 0 || s.State[0] != positionVersion {
		return p, fmt.Errorf("file split %s: unknown state version", s.ID)
	}
	if err := json.Unmarshal(s.State[1:], &p); err != nil {
		return p, fmt.Errorf("file split %s: %w", s.ID, err)
	}
	return p, nil
}

// constants gives the values of metadata and partition columns of a file.
func (s *scan) constants(p string) (map[int]types.Datum, error) {
	info, err := os.Stat(p)
	if err != nil {
		return nil, err
	}
	vals := map[int]types.Datum{}
	for i, c := range s.request.Table.Columns {
		switch c.Metadata {
		case "file.path":
			vals[i] = types.StrDatum(p)
		case "file.name":
			vals[i] = types.StrDatum(filepath.Base(p))
		case "file.size":
			vals[i] = types.IntDatum(info.Size())
		case "file.modification-time":
			vals[i] = types.IntDatum(info.ModTime().UnixMilli() * 1000)
		}
	}
	dirs := map[string]string{}
	for _, part := range strings.Split(filepath.Dir(p), string(filepath.Separator)) {
		if k, v, ok := strings.Cut(part, "="); ok {
			dirs[k] = v
		}
	}
	for _, i := range s.partition {
		c := s.request.Table.Columns[i]
		v, ok := dirs[c.Name]
		if !ok {
			return nil, fmt.Errorf("file %s: its path names no value of partition column '%s'", p, c.Name)
		}
		if vals[i], err = partitionValue(v, s.null, c.Type); err != nil {
			return nil, fmt.Errorf("file %s: partition column '%s': %w", p, c.Name, err)
		}
	}
	return vals, nil
}
