// Package connectors is the contract between the engine and the systems outside: what a connector says of itself (its
// options, what it can read and write), and how its sources, sinks and lookups are driven.
//
// A connector lives in a directory of its own below this one, formats (bytes to columns and back) below
// connectors/format. The program's main function lists them in one literal; nothing registers itself.
package connectors
