// Package expr holds typed expressions: their tree, the tables of scalar and aggregate functions, implicit casts, and
// the compiler that turns a tree into vector kernels.
//
// The binder (package plan) builds trees from syntax; operators (package exec/op) run compiled ones. Nothing here knows
// SQL text, tables, state or connectors.
//
// # From a call to a kernel
//
// NewCall looks a function up, lets its row of the table check the operands (signature.go), insert implicit casts
// (rules.go) and derive the type, and may rewrite the call into simpler nodes: BETWEEN becomes two comparisons, IF a
// Case. Fold replaces constant parts by values, with the kernels that run later, so that folding and running cannot
// differ. Compile makes a closure per node. A closure owns its output column and evaluates the rows that a selection
// names; NULLs are combined a word of the bitmap at a time where the value loop may run over them, and skipped where a
// NULL row must not be looked at. CASE, AND, OR and COALESCE hand narrowed selections down. When an operand fails at a
// row, the selection is cut there and the rows before it are finished (run in compile.go), because one of them may fail
// in an outer function.
//
// # Families
//
// Functions stand in one table, made of a slice per family: logic, compare, membership, arith and decimal, conditional,
// strings, search, encoding, url, inspect, pattern (with regex and similar), math, datetime, dateformat and now,
// collection and array, json. Casts are in cast*.go: each conversion is written once for a single value, from which both
// the kernel over columns and the conversion of nested elements are made.
//
// # Aggregates
//
// An Accumulator is a handful of functions over the slots of one group's record: words in place, and byte strings and
// collections behind a Store, which exec/op implements over package state. The accumulators of MIN and MAX that take
// rows back keep a sorted set of values with counts; lists keep the order of arrival. wordcode.go has the encoding of
// values as words, which is stored and therefore versioned.
package expr
