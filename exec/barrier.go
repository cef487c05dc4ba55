package exec

import (
	"time"

	"runnel/state"
)

// checkpointKind says why a barrier runs through the job.
type checkpointKind uint8

const (
	periodicCheckpoint checkpointKind = iota
	manualCheckpoint
	savepoint       // kept by the user, does not commit, is not used for recovery
	stopSavepoint   // sources hold after the barrier; commits; then the job finishes
	finalCheckpoint // after the end of all input; commits; then the job finishes
)

// String gives the checkpoint type as REST shows it.
func (k checkpointKind) String() string {
	switch k {
	case savepoint:
		return "SAVEPOINT"
	case stopSavepoint:
		return "SYNC_SAVEPOINT"
	default:
		return "CHECKPOINT"
	}
}

func (k checkpointKind) isSavepoint() bool { return k == savepoint || k == stopSavepoint }

// barrier is one checkpoint on its way through the job. It is shared and immutable.
type barrier struct {
	id        int64
	kind      checkpointKind
	drain     bool  // stopSavepoint: event time ends before the barrier
	keep      bool  // state is stored; false for the final round of a job without checkpointing
	completed int64 // the newest checkpoint of the attempt that was complete when this one began, 0 for none
	trigger   time.Time
	// sink takes the keyed state of a subtask.
	sink func(operator string, subtask int, groups state.Range) state.Sink
}
