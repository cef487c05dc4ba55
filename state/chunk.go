package state

import (
	"cmp"
	"math"
	"slices"

	"runnel/types"
)

const (
	longRow = 0xFFFF // in snapshots: the length stands in the next word
	noTime  = math.MaxInt64

	// Packed rows lie in pages. A row is found by page (8 bits) and offset (16 bits), so these are limits. A chunk takes new
	// rows up to fewPages, so that some of them, put together anew, always find room.
	maxPage  = 64 << 10
	maxPages = 1 << 8
	fewPages = 112
	anyPages = 16 // so many pages are made to fit
)

// chunk is a run of rows. A row's number is made of the chunk's and its position when it was appended; a chunk that was
// thinned out keeps the positions in nums.
type chunk struct {
	rows   []uint64 // fixed words
	nums   []uint16 // nil: row i has position i
	stride int      // of form
	form   *rowForm
	number uint64
	n      int
	dead   int // rows among them that are dead
	groups []uint16
	pages  [][]byte // of packed rows, which neither move nor change
	fill   int      // bytes of the last page that are taken
	packed int      // bytes of all rows
	base   []int64  // by column: integers are packed as what they exceed it by
	expect int      // rows that it may come to
	usual  int      // bytes of a row to expect
	min    int64    // times; of rows that may be dead
	max    int64
	look   int64    // the time from which on it may pay to thin it out; noTime: never
	known  bool     // look is known
	order  []uint16 // ordered logs: indexes of rows by time, those that have left first
	left   int      // how many have left
	// unsorted: the rest of order is not by time yet.
	unsorted bool
	saved    chunkSave
}

// name gives the name of the row at index i.
func (c *chunk) name(i int) Row {
	if c.nums != nil {
		i = int(c.nums[i])
	}
	return Row(c.number<<chunkBits|uint64(i)) + 1
}

// sparse gives the words of the row with the given position in a chunk that was thinned out, nil if it is not there.
func (c *chunk) sparse(pos uint64) []uint64 {
	if i, ok := slices.BinarySearch(c.nums, uint16(pos)); ok {
		return c.nth(i)
	}
	return nil
}

// packedRow gives the packed values of a row, and what lies behind them.
func (c *chunk) packedRow(rec []uint64) []byte { return c.packedAt(rec[rowHead]) }

// packedNth gives the packed values of the row at index i and nothing else. Rows lie in their order, so that all but the last
// ones of pages end where the next one begins.
func (c *chunk) packedNth(i int) []byte {
	at := c.nth(i)[rowHead] >> placeShift
	page, from := at>>16&(maxPages-1), at&0xFFFF
	if i+1 < c.n {
		if next := c.nth(i + 1)[rowHead] >> placeShift; next>>16&(maxPages-1) == page {
			return c.pages[page][from : next&0xFFFF]
		}
	}
	p := c.pages[page][from:]
	return p[:c.form.end(p)]
}

// packedAt is packedRow by the head word.
func (c *chunk) packedAt(head uint64) []byte {
	return c.pages[head>>(placeShift+16)&(maxPages-1)][head>>placeShift&0xFFFF:]
}

// sameKey compares the key of a row.
func (c *chunk) sameKey(rec, key []uint64) bool { return c.form.sameKey(c.packedRow(rec), c.base, key) }

// place gives the end of the last page, or a new one, with room for so many bytes, and the bits of a head word that name it;
// false if it would be one page more than most.
func (c *chunk) place(room, most int) (p []byte, bits uint64, ok bool) {
	last := len(c.pages) - 1
	if last < 0 || c.fill >= maxPage || len(c.pages[last])-c.fill < room {
		if last++; last >= most {
			return nil, 0, false
		}
		c.pages, c.fill = append(c.pages, allocBytes(c.pageSize(room))), 0
		c.pages[last] = c.pages[last][:cap(c.pages[last])]
	}
	return c.pages[last][c.fill:], uint64(last)<<(placeShift+16) | uint64(c.fill)<<placeShift, true
}

// pageSize is the size of the next page: what the rows to come will take, as far as one can tell.
func (c *chunk) pageSize(room int) int {
	rows, each := c.expect-c.n, c.usual
	if rows <= 0 {
		rows = min(max(c.n, 16), chunkRows-c.n)
	}
	if c.n > 0 {
		each = c.packed/c.n + 1
	}
	n := max(room, min(rows*each+rows*each/64+room, maxPage))
	if len(c.pages) >= anyPages {
		n = max(room, maxPage)
	}
	if n > maxPage/2 {
		n = (n + 8<<10 - 1) &^ (8<<10 - 1) // as much as the runtime would take
	}
	return n
}

// setBase makes the integers of the first row what those of all rows are packed against.
func (c *chunk) setBase(cols []*types.Column, i int32) {
	c.base = make([]int64, len(cols))
	for j, col := range cols {
		if c.form.phys[j] == types.PhysInt && !col.Null(i) {
			c.base[j] = col.Int[i]
		}
	}
}

// took notes that a row took so many bytes of the last page.
func (c *chunk) took(n int) {
	c.fill += n
	c.packed += n
}

// indexFrom gives the index of the first row with at least the given position; 0 for a chunk that is gone.
func (c *chunk) indexFrom(pos uint64) int {
	if c == nil {
		return 0
	}
	if c.nums == nil {
		return int(pos)
	}
	i, _ := slices.BinarySearch(c.nums, uint16(pos))
	return i
}

// nth gives the words of the row at index i.
func (c *chunk) nth(i int) []uint64 { return c.rows[i*c.stride : (i+1)*c.stride] }

// added notes the time of a new row.
func (c *chunk) added(i int, time int64, ordered bool) {
	if i == 0 {
		c.min, c.max = time, time
	}
	c.min, c.max = min(c.min, time), max(c.max, time)
	c.known = false
	if !ordered {
		return
	}
	if n := len(c.order); n > c.left && c.form.timeOf(c.nth(int(c.order[n-1]))) > time {
		c.unsorted = true
	}
	c.order = append(c.order, uint16(i))
}

// sort puts the rows that have not left in the order of their times, then of their age.
func (c *chunk) sort() {
	if !c.unsorted {
		return
	}
	c.unsorted = false
	slices.SortFunc(c.order[c.left:], func(a, b uint16) int {
		return cmp.Or(cmp.Compare(c.form.timeOf(c.nth(int(a))), c.form.timeOf(c.nth(int(b)))), cmp.Compare(a, b))
	})
}

func (c *chunk) memory() int64 {
	n := 8*cap(c.rows) + 2*(cap(c.nums)+cap(c.order)+cap(c.groups)) + 320
	for _, p := range c.pages {
		n += cap(p) + 24
	}
	return int64(n)
}
