package expr

import (
	"bytes"
)

// A bag is an ordered multiset of byte keys in a Heap: a treap whose priorities are hashes of the keys, so that its shape
// depends on the content alone. Its state is one word, the reference of the root.
//
// A node is: left, right (8 bytes each), priority (4), length of the key (4), count (8), two words for the user of the
// bag (8 each), rest of the key (8, a text, 0 for none), then the first bagInline bytes of the key.
const (
	nodeLeft  = 0
	nodeRight = 8
	nodePrio  = 16
	nodeLen   = 20
	nodeCount = 24
	nodeUser  = 32 // and 40
	nodeRest  = 48
	nodeKey   = 56
	bagInline = 1024
)

func word(block []byte, at int) uint64       { return order.Uint64(block[at:]) }
func setWord(block []byte, at int, v uint64) { order.PutUint64(block[at:], v) }

// bagHash is FNV-1a with a last mix; fixed for ever, since stored priorities depend on it.
func bagHash(key []byte) uint32 {
	h := uint64(14695981039346656037)
	for _, c := range key {
		h = (h ^ uint64(c)) * 1099511628211
	}
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return uint32(h>>32) | 1
}

// bagCompare orders key against the key of a node.
func bagCompare(h Heap, key []byte, ref uint64) int {
	block := h.Bytes(ref, false)
	n := int(order.Uint32(block[nodeLen:]))
	if n <= bagInline {
		return bytes.Compare(key, block[nodeKey:nodeKey+n])
	}
	m := min(len(key), bagInline)
	if c := bytes.Compare(key[:m], block[nodeKey:nodeKey+bagInline]); c != 0 || m < bagInline {
		if c == 0 {
			return -1
		}
		return c
	}
	return -compareText(h, word(block, nodeRest), string(key[m:]))
}

// bagFind gives the node of a key, or 0.
func bagFind(h Heap, root uint64, key []byte) uint64 {
	for root != 0 {
		c := bagCompare(h, key, root)
		if c == 0 {
			return root
		}
		block := h.Bytes(root, false)
		if c < 0 {
			root = word(block, nodeLeft)
		} else {
			root = word(block, nodeRight)
		}
	}
	return 0
}

// bagAdd adds delta to the count of a key and gives its node, or 0 when the count has become 0 and the node is gone. A
// count may be negative: an out-of-order changelog takes a value back before it brings it.
func bagAdd(h Heap, root *uint64, key []byte, delta int64) uint64 {
	if ref := bagFind(h, *root, key); ref != 0 {
		block := h.Bytes(ref, true)
		n := int64(word(block, nodeCount)) + delta
		if n != 0 {
			setWord(block, nodeCount, uint64(n))
			return ref
		}
		*root = bagDelete(h, *root, key)
		return 0
	}
	ref := bagNode(h, key, delta)
	*root = bagInsert(h, *root, ref, key)
	return ref
}

func bagNode(h Heap, key []byte, count int64) uint64 {
	n := min(len(key), bagInline)
	rest := uint64(0)
	if len(key) > n {
		rest = newText(h, key[n:])
	}
	ref := h.Alloc(nodeKey + n)
	block := h.Bytes(ref, true)
	order.PutUint32(block[nodePrio:], bagHash(key))
	order.PutUint32(block[nodeLen:], uint32(len(key)))
	setWord(block, nodeCount, uint64(count))
	setWord(block, nodeRest, rest)
	copy(block[nodeKey:], key[:n])
	return ref
}

func priority(h Heap, ref uint64) uint32 { return order.Uint32(h.Bytes(ref, false)[nodePrio:]) }

func child(h Heap, ref uint64, side int) uint64 { return word(h.Bytes(ref, false), side) }

func setChild(h Heap, ref uint64, side int, to uint64) {
	if child(h, ref, side) != to {
		setWord(h.Bytes(ref, true), side, to)
	}
}

// bagInsert puts the node ref, whose key is not there, below root and gives the new root.
func bagInsert(h Heap, root, ref uint64, key []byte) uint64 {
	if root == 0 {
		return ref
	}
	if priority(h, ref) > priority(h, root) {
		l, r := bagSplit(h, root, key)
		setChild(h, ref, nodeLeft, l)
		setChild(h, ref, nodeRight, r)
		return ref
	}
	side := nodeLeft
	if bagCompare(h, key, root) > 0 {
		side = nodeRight
	}
	setChild(h, root, side, bagInsert(h, child(h, root, side), ref, key))
	return root
}

// bagSplit parts a tree into the keys below and above key.
func bagSplit(h Heap, root uint64, key []byte) (l, r uint64) {
	if root == 0 {
		return 0, 0
	}
	if bagCompare(h, key, root) < 0 {
		l, r = bagSplit(h, child(h, root, nodeLeft), key)
		setChild(h, root, nodeLeft, r)
		return l, root
	}
	l, r = bagSplit(h, child(h, root, nodeRight), key)
	setChild(h, root, nodeRight, l)
	return root, r
}

// bagDelete takes the node of key out and frees it.
func bagDelete(h Heap, root uint64, key []byte) uint64 {
	c := bagCompare(h, key, root)
	if c == 0 {
		block := h.Bytes(root, false)
		l, r, rest := word(block, nodeLeft), word(block, nodeRight), word(block, nodeRest)
		freeText(h, rest)
		h.Free(root)
		return bagJoin(h, l, r)
	}
	side := nodeLeft
	if c > 0 {
		side = nodeRight
	}
	setChild(h, root, side, bagDelete(h, child(h, root, side), key))
	return root
}

// bagJoin makes one tree of two, all keys of l being below those of r.
func bagJoin(h Heap, l, r uint64) uint64 {
	switch {
	case l == 0:
		return r
	case r == 0:
		return l
	case priority(h, l) > priority(h, r):
		setChild(h, l, nodeRight, bagJoin(h, child(h, l, nodeRight), r))
		return l
	}
	setChild(h, r, nodeLeft, bagJoin(h, l, child(h, r, nodeLeft)))
	return r
}

// bagEnd gives the node of the smallest key (side nodeLeft) or of the greatest (nodeRight) among those with a positive
// count; 0 when there is none.
func bagEnd(h Heap, root uint64, side int) uint64 {
	if root == 0 {
		return 0
	}
	if ref := bagEnd(h, child(h, root, side), side); ref != 0 {
		return ref
	}
	if int64(child(h, root, nodeCount)) > 0 {
		return root
	}
	return bagEnd(h, child(h, root, nodeLeft+nodeRight-side), side)
}

// appendKey appends the key of a node.
func appendKey(dst []byte, h Heap, ref uint64) []byte {
	block := h.Bytes(ref, false)
	n := int(order.Uint32(block[nodeLen:]))
	dst = append(dst, block[nodeKey:nodeKey+min(n, bagInline)]...)
	if rest := word(block, nodeRest); rest != 0 {
		dst = appendText(dst, h, rest)
	}
	return dst
}

// bagWalk calls f for the nodes in the order of their keys until f gives an error.
func bagWalk(h Heap, root uint64, f func(ref uint64) error) error {
	if root == 0 {
		return nil
	}
	if err := bagWalk(h, child(h, root, nodeLeft), f); err != nil {
		return err
	}
	right := child(h, root, nodeRight)
	if err := f(root); err != nil {
		return err
	}
	return bagWalk(h, right, f)
}

// bagFree frees all nodes.
func bagFree(h Heap, root uint64) {
	if root == 0 {
		return
	}
	block := h.Bytes(root, false)
	l, r, rest := word(block, nodeLeft), word(block, nodeRight), word(block, nodeRest)
	bagFree(h, l)
	freeText(h, rest)
	h.Free(root)
	bagFree(h, r)
}
