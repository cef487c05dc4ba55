// Package types holds the vocabulary of the data plane: logical types, row kinds, schemas, column batches, single
// values, decimals, time, and the binary codecs of rows and keys.
//
// It knows nothing of SQL text, expressions, state or connectors; everything else is built on it.
package types
