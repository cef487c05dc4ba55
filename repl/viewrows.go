package repl

import (
	"strings"
	"sync"

	"runnel/types"
)

// changelogRows is how many rows the CHANGELOG view keeps.
const changelogRows = 1000

// viewRows are the rows of a full-screen view: the state of the result, or its newest changes.
type viewRows struct {
	mu    sync.Mutex
	log   bool // keep changes, not state
	most  int  // rows kept, 0 for all
	rows  [][]string
	dead  int              // removed rows that still have an entry, which is nil
	index map[string][]int // entries of equal rows, oldest first, counted from the first row ever
	first int              // number of rows[0]
}

func newViewRows(log bool, most int) *viewRows {
	v := &viewRows{log: log, most: most}
	if log {
		v.most = changelogRows
	} else {
		v.index = map[string][]int{}
	}
	return v
}

// change takes one change; cells are copied.
func (v *viewRows) change(kind types.RowKind, cells []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.log {
		v.rows = append(v.rows, append([]string{kind.String()}, cells...))
		v.trim()
		return
	}
	key := strings.Join(cells, "\x00")
	if kind == types.Delete || kind == types.UpdateBefore {
		if at := v.index[key]; len(at) > 0 {
			v.remove(key, at[len(at)-1], at[:len(at)-1])
		}
		return
	}
	v.index[key] = append(v.index[key], v.first+len(v.rows))
	v.rows = append(v.rows, append([]string{}, cells...))
	v.trim()
}

// remove takes out one entry; rest are the others of equal rows.
func (v *viewRows) remove(key string, entry int, rest []int) {
	v.rows[entry-v.first] = nil
	v.dead++
	if len(rest) == 0 {
		delete(v.index, key)
	} else {
		v.index[key] = rest
	}
	if v.dead > 64 && v.dead > len(v.rows)/2 {
		v.compact()
	}
}

// compact drops the entries of removed rows.
func (v *viewRows) compact() {
	live := v.rows[:0]
	clear(v.index)
	for _, r := range v.rows {
		if r != nil {
			key := strings.Join(r, "\x00")
			v.index[key] = append(v.index[key], len(live))
			live = append(live, r)
		}
	}
	clear(v.rows[len(live):])
	v.rows, v.dead, v.first = live, 0, 0
}

// trim drops the oldest rows beyond the limit.
func (v *viewRows) trim() {
	for v.most > 0 && len(v.rows)-v.dead > v.most {
		if r := v.rows[0]; r == nil {
			v.dead--
		} else if !v.log {
			key := strings.Join(r, "\x00")
			if rest := v.index[key][1:]; len(rest) == 0 {
				delete(v.index, key)
			} else {
				v.index[key] = rest
			}
		}
		v.rows[0] = nil
		v.rows = v.rows[1:]
		v.first++
	}
}

// page gives the rows of a page, counted from 1 (more than there are, or 0, is the last), its number, and how many there are.
func (v *viewRows) page(n, height int) (rows [][]string, at, of int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	of = max(1, (len(v.rows)-v.dead+height-1)/height)
	if at = n; at < 1 || at > of {
		at = of
	}
	skip := (at - 1) * height
	for _, r := range v.rows {
		switch {
		case r == nil:
			continue
		case skip > 0:
			skip--
			continue
		case len(rows) == height:
			return rows, at, of
		}
		rows = append(rows, r)
	}
	return rows, at, of
}
