package exec

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"runnel/state"
)

// metaVersion is the version of snapshotMeta. A higher one is refused by number.
const metaVersion = 1

// snapshot is a checkpoint or savepoint that is open for restoring, with the engine's own part decoded.
type snapshot struct {
	src  *state.Snapshot
	cp   *state.Checkpoint
	meta *snapshotMeta
	name string // for messages: its path, or where it is in the store
	once sync.Once
}

// snapshotMeta is the engine's part of a snapshot, as JSON in state.Checkpoint.Meta.
type snapshotMeta struct {
	Version   int                      `json:"version"`
	Type      string                   `json:"type"` // CHECKPOINT, SAVEPOINT, SYNC_SAVEPOINT
	Runs      []string                 `json:"runs"` // runs that may have left something outside
	Operators map[string]*operatorMeta `json:"operators"`
}

// operatorMeta is what the engine keeps of one operator beside its state.
type operatorMeta struct {
	Kind         string        `json:"kind"`
	Source       *SourceState  `json:"source,omitempty"`
	Writers      [][]byte      `json:"writers,omitempty"`
	Committables []Committable `json:"committables,omitempty"` // prepared but not yet committed
}

// Committable is what a writer prepared at a checkpoint.
type Committable struct {
	Checkpoint int64  `json:"checkpoint"`
	Data       []byte `json:"data"`
}

// openSnapshot decodes the engine's part of a snapshot.
func openSnapshot(src *state.Snapshot, name string) (*snapshot, error) {
	s := &snapshot{src: src, cp: src.Checkpoint, meta: &snapshotMeta{}, name: name}
	if err := json.Unmarshal(s.cp.Meta, s.meta); err != nil {
		return nil, fmt.Errorf("%s: the engine's part: %w", name, err)
	}
	if s.meta.Version != metaVersion {
		return nil, fmt.Errorf("%s: the engine's part has version %d, this program reads version %d", name, s.meta.Version, metaVersion)
	}
	return s, nil
}

// close ends the use of the snapshot, once.
func (s *snapshot) close() (err error) {
	s.once.Do(func() { err = s.src.Close() })
	return err
}

// operator gives the state of an operator, nil if there is none.
func (s *snapshot) operator(id string) *state.OperatorState {
	if s == nil {
		return nil
	}
	for i := range s.cp.Operators {
		if s.cp.Operators[i].ID == id {
			return &s.cp.Operators[i]
		}
	}
	return nil
}

// of gives the engine's part for an operator; empty if there is none.
func (s *snapshot) of(id string) *operatorMeta {
	if s != nil {
		if m := s.meta.Operators[id]; m != nil {
			return m
		}
	}
	return &operatorMeta{}
}

// keyed gives what an operator's subtasks restore their keyed state from, nil for nothing.
func (s *snapshot) keyed(id string) *state.Restored {
	st := s.operator(id)
	if st == nil {
		return nil
	}
	r := &state.Restored{}
	for _, sub := range st.Subtasks {
		if len(sub.States) > 0 {
			r.Subtasks = append(r.Subtasks, state.RestoredSubtask{SubtaskState: sub, Blobs: s.src.Blobs(id, sub.Subtask)})
		}
	}
	if len(r.Subtasks) == 0 {
		return nil
	}
	return r
}

// plain gives the snapshots of an operator's subtasks that belong to no key.
func (s *snapshot) plain(id string) [][]byte {
	st := s.operator(id)
	if st == nil {
		return nil
	}
	var all [][]byte
	for _, sub := range st.Subtasks {
		if len(sub.Operator) > 0 {
			all = append(all, sub.Operator)
		}
	}
	return all
}

// stateID is the name of an operator in snapshots: the planner's id, or one from its kind and place for operators whose
// state is no reason to refuse a restore (a watermark, a count of rows).
func stateID(s *opSpec) string {
	if id := s.node.Base().StateID; id != "" {
		switch s.stage {
		case stageEnforcer:
			return minorPrefix + id + "/enforcer"
		case stageMaterialize:
			return id + "/materializer"
		}
		return id
	}
	return fmt.Sprintf("%s%s-%d", minorPrefix, s.node.Base().Kind, s.ordinal)
}

const minorPrefix = "~"

func minor(id string) bool { return strings.HasPrefix(id, minorPrefix) }
