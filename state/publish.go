package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Published is the _metadata file of a completed checkpoint: a pointer into the store, with what is needed to choose
// among checkpoints.
type Published struct {
	Format     string    `json:"format"` // "checkpoint"
	Version    int       `json:"version"`
	JobID      string    `json:"jobId"`
	JobName    string    `json:"jobName"`
	Checkpoint int64     `json:"checkpoint"`
	Created    time.Time `json:"created"`
	Store      string    `json:"store"`              // directory of the store
	Relative   string    `json:"relative,omitempty"` // the same, seen from the directory of the file
	Location   Location  `json:"location"`
}

const publishedFormat = "checkpoint"

// Publish makes a completed checkpoint of a store on disk a path to restore from: dir/<job id>/chk-<n>/_metadata. It is
// written last, when the checkpoint is durable.
func (s *Store) Publish(dir string, cp *Checkpoint, at Location) (path string, err error) {
	if s.Dir() == "" {
		return "", fmt.Errorf("publishing %s: a store in memory has no path", at)
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("publishing %s: %w", at, err)
	}
	path = filepath.Join(dir, cp.JobID, fmt.Sprintf("chk-%d", cp.ID))
	if err := os.MkdirAll(path, 0o755); err != nil {
		return "", fmt.Errorf("publishing %s: %w", at, err)
	}
	p := Published{Format: publishedFormat, Version: checkpointVersion, JobID: cp.JobID, JobName: cp.JobName,
		Checkpoint: cp.ID, Created: cp.Created, Store: s.Dir(), Location: at}
	if rel, err := filepath.Rel(path, s.Dir()); err == nil {
		p.Relative = filepath.ToSlash(rel)
	}
	if err := writeMetadata(path, p); err != nil {
		return "", fmt.Errorf("publishing %s: %w", at, err)
	}
	return path, nil
}

// Unpublish removes what Publish wrote. It comes before the checkpoint is dropped.
func Unpublish(path string) error {
	if err := os.Remove(filepath.Join(path, MetadataFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("unpublishing: %w", err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("unpublishing: %w", err)
	}
	_ = os.Remove(filepath.Dir(path)) // fails as long as the job has others
	return nil
}

// Metadata is a _metadata file: of a savepoint, or of a published checkpoint.
type Metadata struct {
	Dir       string
	Savepoint *Checkpoint // nil: Published is set
	Published *Published
}

// JobName is the name of the job that wrote it.
func (m *Metadata) JobName() string {
	if m.Savepoint != nil {
		return m.Savepoint.JobName
	}
	return m.Published.JobName
}

// Created is the time at which it was triggered.
func (m *Metadata) Created() time.Time {
	if m.Savepoint != nil {
		return m.Savepoint.Created
	}
	return m.Published.Created
}

// Describe says what it is, in a few words.
func (m *Metadata) Describe() string {
	if m.Savepoint != nil {
		return fmt.Sprintf("savepoint %s of %s", m.Dir, m.Created().Format(time.DateTime))
	}
	return fmt.Sprintf("checkpoint %d of %s (%s)", m.Published.Checkpoint, m.Created().Format(time.DateTime), m.Dir)
}

// ReadMetadata reads a _metadata file. path is the file, or its directory; file: in front of it is left out.
func ReadMetadata(path string) (*Metadata, error) {
	if rest, ok := strings.CutPrefix(path, "file:"); ok {
		path = "/" + strings.TrimLeft(rest, "/")
	}
	if filepath.Base(path) == MetadataFile {
		path = filepath.Dir(path)
	}
	dir, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, MetadataFile))
	if err != nil {
		return nil, fmt.Errorf("neither savepoint nor checkpoint: %w", err)
	}
	var head struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("%s: metadata: %w", dir, err)
	}
	m := &Metadata{Dir: dir}
	if head.Format != publishedFormat {
		if m.Savepoint, err = parseCheckpoint(text); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		return m, nil
	}
	m.Published = &Published{}
	if err := json.Unmarshal(text, m.Published); err != nil {
		return nil, fmt.Errorf("%s: metadata: %w", dir, err)
	}
	if v := m.Published.Version; v != checkpointVersion {
		return nil, fmt.Errorf("%s: metadata has version %d, this program reads version %d", dir, v, checkpointVersion)
	}
	return m, nil
}

// OpenPath opens a savepoint or a published checkpoint for restoring. A checkpoint in another store than this one is
// read from there.
func (s *Store) OpenPath(path string) (*Snapshot, error) {
	m, err := ReadMetadata(path)
	if err != nil {
		return nil, err
	}
	if m.Savepoint != nil {
		return openSavepoint(m.Dir, m.Savepoint)
	}
	p := m.Published
	from := p.Store
	if rel := filepath.Join(m.Dir, filepath.FromSlash(p.Relative)); p.Relative != "" && isDir(rel) {
		from = rel
	}
	if from == s.Dir() {
		return s.Open(p.Location)
	}
	if !isDir(from) {
		return nil, fmt.Errorf("%s: the checkpoint store %s is not there", m.Dir, from)
	}
	other, err := OpenBadgerStore(from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Dir, err)
	}
	snap, err := other.Open(p.Location)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", m.Dir, err), other.Close())
	}
	inner := snap.close
	snap.close = func() error { return errors.Join(inner(), other.Close()) }
	return snap, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Find gives the savepoints and published checkpoints in a directory of checkpoints and one of savepoints, the newest
// first. Either may be empty or missing. What cannot be read is given as errors.
func Find(checkpoints, savepoints string) (found []*Metadata, unreadable []error) {
	var files []string
	for _, pattern := range []string{filepath.Join(escapeGlob(checkpoints), "*", "chk-*", MetadataFile),
		filepath.Join(escapeGlob(savepoints), "savepoint-*", MetadataFile)} {
		if filepath.IsAbs(pattern) {
			names, _ := filepath.Glob(pattern)
			files = append(files, names...)
		}
	}
	for _, f := range files {
		if strings.HasSuffix(filepath.Dir(f), ".inprogress") {
			continue
		}
		m, err := ReadMetadata(f)
		if err != nil {
			unreadable = append(unreadable, err)
			continue
		}
		found = append(found, m)
	}
	slices.SortStableFunc(found, func(a, b *Metadata) int { return b.Created().Compare(a.Created()) })
	return found, unreadable
}

// escapeGlob makes a directory's name an absolute pattern that matches only it.
func escapeGlob(dir string) string {
	if dir == "" {
		return ""
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(abs)
}

// Latest gives what a job of the given name goes on from: the newest retained checkpoint, or the newest savepoint with
// which it was stopped, whichever is newer. nil: there is none. A savepoint after a drain is not fit to go on from.
func Latest(checkpoints, savepoints, jobName string) (*Metadata, []error) {
	found, unreadable := Find(checkpoints, savepoints)
	for _, m := range found {
		if m.JobName() != jobName || m.Savepoint != nil && (!m.Savepoint.Stopped || m.Savepoint.Drained) {
			continue
		}
		return m, unreadable
	}
	return nil, unreadable
}
