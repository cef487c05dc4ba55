package state

import "time"

// ValueKind says what a word of a record's value is.
type ValueKind uint8

const (
	Word   ValueKind = iota // the word itself
	Bytes                   // a byte string of any length: text, an encoded row
	List                    // elements in the order of Add; equal ones may repeat
	Set                     // distinct elements, in the order of their first Add
	Sorted                  // distinct elements in the unsigned order of their words
)

// String gives the kind's name as descriptors print it.
func (k ValueKind) String() string {
	return [...]string{"word", "bytes", "list", "set", "sorted"}[k]
}

// Value is one word of a record's value. A Word is read and written directly (Map.Get, Map.Touch), Bytes with Map.Bytes
// and Map.PutBytes, the collections with Map.Collection.
type Value struct {
	Kind ValueKind
	Elem []Value // what each element of a collection carries beside its own words: Word and Bytes only
	// Loose elements of a Set are not chained. That is for sets that only grow: adding is cheaper, and walking through a set
	// or taking something out looks at the elements of all owners. Checkpoints do not show the difference.
	Loose bool
	// Short says that elements are hardly ever looked for: there is no index, and no tree of a Sorted value. Its sets are to be
	// short, or most Adds go close to the end: Add and Find walk from there, Seek from the front. In lists Find walks from the
	// front. It is not for Sets. Checkpoints do not show the difference.
	Short bool
	// Reuse says that the room of Bytes that are replaced or go away is used again, if all Bytes of a record say so: what
	// Map.Bytes gives is valid until the next PutBytes, FreeBytes or deletion. Checkpoints do not show the difference.
	Reuse bool
}

// Words gives n values of kind Word.
func Words(n int) []Value { return make([]Value, n) }

// layout is what all maps of one state share: the form of a record, and the mark of the open epoch.
//
// A record is a header word, the key's words, the values, the TTL stamp if there is a TTL, and words that are not part
// of a snapshot: the links of an element to its neighbours, and for each collection of an owner its ends and its size.
type layout struct {
	values []Value
	ttl    int64 // ms, 0: none
	clock  *clock
	vals   int // words after the key that are part of a snapshot: values and stamp
	hidden int // words behind them that are not
	links  []int
	bytes  []int // the indexes of values of kind Bytes
	kids   []*layout
	kidOf  []int     // value -> index into kids, -1
	elemOf ValueKind // for the elements of a collection: its kind; Word otherwise
	loose  bool      // elements that are not chained
	short  bool      // elements without slots (but while a state is restored) and tree
	reuse  bool      // the room of texts is used again

	live    int                               // records in all maps
	track   bool                              // part of checkpoints
	loads   bool                              // while a state is restored
	cur     uint64                            // mark of records written in the open epoch
	closed  uint64                            // mark of records of the closed epoch that were not drained
	freeze  uint32                            // counts freezes
	full    bool                              // the last freeze wants every record
	done    int64                             // the newest checkpoint that had completed at the last freeze
	ckpt    int64                             // the checkpoint of the last freeze
	onMove  func(m *Map, moved func(Ref) Ref) // told of every compaction
	shared  *unit                             // of all maps, if they have one in common
	scratch []uint64
}

// clock is the processing time that TTL stamps use, in ms.
type clock struct{ now int64 }

func newLayout(values []Value, ttl time.Duration, c *clock, track bool) *layout {
	l := &layout{values: values, ttl: ttl.Milliseconds(), clock: c, track: track, cur: 1, closed: 2, reuse: true}
	l.vals = len(values)
	if l.ttl > 0 {
		l.vals++
	}
	l.links, l.kidOf = make([]int, len(values)), make([]int, len(values))
	for i, v := range values {
		l.kidOf[i] = -1
		switch v.Kind {
		case Bytes:
			l.bytes = append(l.bytes, i)
			l.reuse = l.reuse && v.Reuse
		case List, Set, Sorted:
			kid := newLayout(v.Elem, 0, c, track)
			kid.elemOf, kid.loose, kid.short = v.Kind, v.Loose, v.Short
			l.kidOf[i] = len(l.kids)
			l.kids = append(l.kids, kid)
			if v.Loose {
				continue
			}
			kid.hidden = elemLinks(v)
			l.links[i] = l.vals + l.hidden
			l.hidden += 2
		}
	}
	return l
}

// elemLinks is the number of hidden words of an element: neighbours, and the chain of equal elements or the tree.
func elemLinks(v Value) int {
	if v.Kind == Set || v.Short {
		return 1
	}
	return 2
}

// each calls f for the layout and those of its collections.
func (l *layout) each(f func(*layout)) {
	f(l)
	for _, k := range l.kids {
		f(k)
	}
}
