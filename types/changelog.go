package types

import "strings"

// RowKind is the kind of one change. The numbers are Flink's and are stored.
type RowKind uint8

const (
	Insert       RowKind = iota // +I
	UpdateBefore                // -U, the content that is about to be replaced
	UpdateAfter                 // +U, the content that replaces it
	Delete                      // -D
)

// String gives the two characters that Flink prints: +I, -U, +U, -D.
func (k RowKind) String() string { return [...]string{"+I", "-U", "+U", "-D"}[k&3] }

// Retract reports whether the change takes a row away (-U, -D).
func (k RowKind) Retract() bool { return k == UpdateBefore || k == Delete }

// ChangelogMode is the set of row kinds that a stream may carry.
type ChangelogMode uint8

// The usual modes.
const (
	InsertOnly ChangelogMode = 1 << Insert
	Upsert     ChangelogMode = 1<<Insert | 1<<UpdateAfter | 1<<Delete
	AllKinds   ChangelogMode = 1<<Insert | 1<<UpdateBefore | 1<<UpdateAfter | 1<<Delete
)

// ModeOf gives the mode that has just these kinds.
func ModeOf(kinds ...RowKind) ChangelogMode {
	var m ChangelogMode
	for _, k := range kinds {
		m |= 1 << k
	}
	return m
}

// Has reports whether rows of kind k may occur.
func (m ChangelogMode) Has(k RowKind) bool { return m&(1<<k) != 0 }

// String prints the mode as EXPLAIN does: I,UB,UA,D.
func (m ChangelogMode) String() string {
	var parts []string
	for i, s := range [...]string{"I", "UB", "UA", "D"} {
		if m&(1<<i) != 0 {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ",")
}
