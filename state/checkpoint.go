package state

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"
)

// Checkpoint is all that is known about a completed checkpoint or savepoint but the bytes of its states. It is kept as
// JSON: behind the marker in a Store, in a file named _metadata of a savepoint.
type Checkpoint struct {
	Format         string            `json:"format,omitempty"` // "savepoint"
	Version        int               `json:"version"`
	ID             int64             `json:"id"`
	Savepoint      bool              `json:"savepoint,omitempty"`
	Stopped        bool              `json:"stopped,omitempty"` // the job was stopped with it
	Drained        bool              `json:"drained,omitempty"` // after the last watermark: not fit to go on from
	JobID          string            `json:"jobId"`
	JobName        string            `json:"jobName"`
	SQL            string            `json:"sql,omitempty"`
	Created        time.Time         `json:"created"`
	MaxParallelism int               `json:"maxParallelism"`
	Identities     map[string]string `json:"identities,omitempty"` // outside systems by operator id, e.g. Kafka cluster ids
	Meta           json.RawMessage   `json:"meta,omitempty"`       // the engine's own: splits, committables, run ids
	Operators      []OperatorState   `json:"operators"`
	Files          []File            `json:"files,omitempty"` // savepoints only
}

// OperatorState is the part of one operator.
type OperatorState struct {
	ID          string         `json:"id"` // stable, see design of operator ids
	Name        string         `json:"name"`
	Parallelism int            `json:"parallelism"`
	Subtasks    []SubtaskState `json:"subtasks"`
}

// SubtaskState is the part of one subtask of an operator.
type SubtaskState struct {
	Subtask  int           `json:"subtask"`
	Groups   Range         `json:"groups"`
	Operator []byte        `json:"operator,omitempty"` // state that belongs to no key, as the operator wrote it
	States   []StateHandle `json:"states,omitempty"`
}

// StateHandle says what a state is and which blobs hold it.
type StateHandle struct {
	Descriptor Descriptor `json:"descriptor"`
	Records    int64      `json:"records"` // live records or rows at the barrier
	Bytes      int64      `json:"bytes"`   // of all blobs
	NewBytes   int64      `json:"newBytes"`
	Blobs      BlobRefs   `json:"blobs"` // in the order in which they are to be read
}

// BlobRef names a blob. Checkpoint and Seq are unique within one subtask of one operator and one attempt of the job.
type BlobRef struct {
	Checkpoint int64
	Seq        uint32
	First      uint16 // key groups that occur
	Last       uint16
	Part       uint8 // which arena of the state: its records, or the elements of a value
	Bytes      uint32
}

// groups gives the key groups as a Range.
func (r BlobRef) groups() Range { return Range{int32(r.First), int32(r.Last)} }

// BlobRefs is a list of blobs. In JSON it is one short text, as there may be thousands.
type BlobRefs []BlobRef

// MarshalJSON writes base64 of varints.
func (r BlobRefs) MarshalJSON() ([]byte, error) {
	b := binary.AppendUvarint(nil, uint64(len(r)))
	var last int64
	for _, x := range r {
		b = binary.AppendVarint(b, x.Checkpoint-last)
		last = x.Checkpoint
		for _, v := range [...]uint64{uint64(x.Seq), uint64(x.First), uint64(x.Last), uint64(x.Part), uint64(x.Bytes)} {
			b = binary.AppendUvarint(b, v)
		}
	}
	return json.Marshal(base64.RawStdEncoding.EncodeToString(b))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *BlobRefs) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("list of blobs: %w", err)
	}
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return fmt.Errorf("list of blobs: %w", err)
	}
	d := varints{b: b}
	n := d.uvarint()
	if n > uint64(len(b)) {
		return fmt.Errorf("list of blobs: %d blobs in %d bytes", n, len(b))
	}
	refs := make(BlobRefs, 0, n)
	var last int64
	for range n {
		last += d.varint()
		refs = append(refs, BlobRef{Checkpoint: last, Seq: uint32(d.uvarint()), First: uint16(d.uvarint()),
			Last: uint16(d.uvarint()), Part: uint8(d.uvarint()), Bytes: uint32(d.uvarint())})
	}
	if d.bad || len(d.b) > 0 {
		return fmt.Errorf("list of blobs: damaged")
	}
	*r = refs
	return nil
}

// varints reads varints; bad is set at the first one that is cut short.
type varints struct {
	b   []byte
	bad bool
}

func (d *varints) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *varints) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

// Sink takes the blobs of one subtask's snapshot.
type Sink interface {
	// Buffer gives an empty buffer for a blob of about so many bytes.
	Buffer(size int) []byte
	// Put takes a blob. The data is the sink's from then on.
	Put(ref BlobRef, data []byte) error
}

// BlobReader gives the blobs of one subtask of one operator of a checkpoint. It may be called by several goroutines.
type BlobReader interface {
	Blob(ref BlobRef) ([]byte, error)
}

// Restored is what one operator's subtask restores from: the former subtasks, each with the reader of its blobs.
type Restored struct {
	Subtasks []RestoredSubtask
}

// RestoredSubtask is one former subtask.
type RestoredSubtask struct {
	SubtaskState
	Blobs BlobReader
}

// File is one data file of a savepoint.
type File struct {
	Name     string `json:"name"`
	Operator string `json:"operator"`
	Subtask  int    `json:"subtask"`
	Bytes    int64  `json:"bytes"`
	CRC      uint32 `json:"crc32c"`
}
