// Package state keeps the keyed state of operators, their timers, and the checkpoints and savepoints made of both.
//
// One operator subtask owns one Keyed. It registers its states there by Descriptor and works on them directly:
//
//   - Table: key to a fixed number of words, with strings, lists, sets and sorted sets hanging off them
//   - Slices: the same, one table per open time slice, dropped as a whole
//   - Log: append-only rows with an index key to newest row (joins, top-N buffers)
//   - Timers: event-time or processing-time timers, popped in order of time
//
// Everything lives in pointer-free arenas, so that the garbage collector does not see it, and is written through one
// touch, so that a checkpoint knows what changed. At the barrier Freeze closes the epoch with a counter; Drain then
// encodes the changed records a few thousand at a time between batches, and a record of the closed epoch is encoded
// early when it is about to be written.
//
// Checkpoints go to a Store (memory or Badger) as blobs of at most 256 KB, savepoints to files of their own. Both are
// read back for any other range of key groups. docs/formats.md describes the bytes.
//
// Nothing here starts a goroutine of its own, and nothing but Store and Savepoint is safe for concurrent use.
package state
