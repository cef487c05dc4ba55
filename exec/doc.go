// Package exec is the in-process mini-cluster: it runs operator graphs as jobs on slots.
//
// A Cluster takes a plan.Graph, cuts it into vertices (what lies between two exchanges), runs every subtask as one
// goroutine, and looks after the job's life: slots, restarts, checkpoints, savepoints, rescaling, metrics. The meaning of
// operators is in package op; exec decides about threads, exchanges and barriers and nothing else.
//
// The walk of a row: a source task polls its reader and hands batches down its chain by plain method calls (chain.go); at
// an exchange they are gathered into batches of the edge (edge.go), whose free list is the credit, the backpressure and
// the recycling at once; at the other side a gate merges its channels (gate.go) and calls the next chain.
//
// The walk of a checkpoint: the coordinator (coordinator.go) posts a barrier to the source tasks; a task whose channels
// have all delivered it flushes, snapshots and passes it on (task.go); keyed state is drained between batches; when every
// task has acknowledged, the metadata is stored, and only then the sinks commit (commit.go).
package exec
