// Package web is the JobManager's REST interface of the in-process cluster: what Flink's command line and dashboard ask
// for, and what the subcommands of runnel use.
package web
