// Package catalog holds what a session knows by name: catalogs, databases, tables, views and functions, and the options
// of SET.
//
// Objects are immutable once stored: ALTER stores a changed copy, so a plan may keep what it looked up. All of it lives
// in memory and is safe for concurrent use. The package knows the syntax of DDL and the rules of Flink 1.20 for it; what
// an expression or a query means it asks a [Binder], which package plan implements.
package catalog
