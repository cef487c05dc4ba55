package exec

import (
	"fmt"
	"strings"
	"time"
)

// snapshotVersion is the version of the Snapshot form.
const snapshotVersion = 1

// Snapshot is the metadata of a checkpoint or savepoint: everything but the keyed state, which lies beside it. It is
// stored as JSON so that it can be read.
type Snapshot struct {
	Version        int               `json:"version"`
	Job            string            `json:"job"`
	Name           string            `json:"name"`
	SQL            string            `json:"sql"`
	Checkpoint     int64             `json:"checkpoint"`
	Type           string            `json:"type"` // CHECKPOINT, SAVEPOINT, SYNC_SAVEPOINT
	Time           time.Time         `json:"time"`
	MaxParallelism int               `json:"maxParallelism"`
	Runs           []string          `json:"runs"`                 // run ids that may have left something outside
	Identities     map[string]string `json:"identities,omitempty"` // operator id -> the outside system it spoke to
	Operators      []OperatorState   `json:"operators"`
}

// OperatorState is what a snapshot holds of one operator, all subtasks together.
type OperatorState struct {
	ID           string        `json:"id"` // plan.Info.StateID
	Name         string        `json:"name"`
	Kind         string        `json:"kind"`
	Parallelism  int           `json:"parallelism"`
	Plain        [][]byte      `json:"plain,omitempty"`  // op.Snapshotter, by subtask
	Source       *SourceState  `json:"source,omitempty"` // scans
	Writers      [][]byte      `json:"writers,omitempty"`
	Committables []Committable `json:"committables,omitempty"` // prepared but not yet committed
}

// Committable is what a writer prepared at a checkpoint.
type Committable struct {
	Checkpoint int64  `json:"checkpoint"`
	Data       []byte `json:"data"`
}

// operator gives the state of an operator, nil if there is none.
func (s *Snapshot) operator(id string) *OperatorState {
	for i := range s.Operators {
		if s.Operators[i].ID == id {
			return &s.Operators[i]
		}
	}
	return nil
}

// stateID is the name of an operator in snapshots: the planner's id, or one from its kind and place for operators whose
// state is no reason to refuse a restore (a watermark, a count of rows).
func stateID(s *opSpec) string {
	if id := s.node.Base().StateID; id != "" {
		switch s.stage {
		case stageEnforcer:
			return id + "/enforcer"
		case stageMaterialize:
			return id + "/materializer"
		}
		return id
	}
	return fmt.Sprintf("%s%s-%d", minorPrefix, s.node.Base().Kind, s.ordinal)
}

const minorPrefix = "~"

func minor(id string) bool { return strings.HasPrefix(id, minorPrefix) }
