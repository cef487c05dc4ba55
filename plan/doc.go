// Package plan turns a bound statement into an operator graph: it binds names against the catalog, types expressions,
// rewrites, infers changelog modes and keys, and explains.
//
// It reads no data and starts nothing; package exec runs its graphs. A graph holds no syntax tree.
package plan
