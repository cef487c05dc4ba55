// Package repl is the shell: it reads statements from a terminal, a pipe or a script, hands them to an Executor, and
// shows results, print sinks and news of jobs through the one owner of the terminal.
//
// It knows neither planner nor engine.
package repl
