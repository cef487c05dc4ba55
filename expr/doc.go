// Package expr holds typed expressions: their tree, the tables of scalar and aggregate functions, implicit casts, and
// the compiler that turns a tree into vector kernels.
//
// The binder (package plan) builds trees from syntax; operators (package exec/op) run compiled ones. Nothing here knows
// SQL text, tables, state or connectors.
package expr
