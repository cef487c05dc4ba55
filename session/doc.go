// Package session executes statements for one client: it parses, dispatches by the family of the statement, plans, and
// hands jobs to the cluster. It is also the Go API for programs that embed runnel.
package session
