// Package op is the meaning of every operator: what rows come in, what changes go out.
//
// An operator is single-threaded. It starts no goroutine, owns no channel and reads no clock but its Context's; the
// engine (package exec) calls it and decides about threads, exchanges, barriers and restarts.
package op
