// Package testkit runs SQL in an in-process cluster for tests: recorded cases, logic tests, changelogs in and out, with
// checkpoints, stops and changes of parallelism in the middle.
package testkit
