package state

import (
	"strings"
	"testing"
)

// TestTextsReplaced replaces texts over and over: they are right, those that were handed out stay, and the arena holds little
// more than what is alive.
func TestTextsReplaced(t *testing.T) {
	t.Run("kept", func(t *testing.T) { replaceTexts(t, false) })
	t.Run("reused", func(t *testing.T) { replaceTexts(t, true) })
}

// replaceTexts is TestTextsReplaced with the room of texts used again or not. If it is, texts that were handed out do not stay.
func replaceTexts(t *testing.T, reuse bool) {
	rnd := newRand(t)
	m := NewMap([]Value{{Kind: Bytes, Reuse: reuse}, {Kind: Bytes, Reuse: reuse}})
	var refs []Ref
	want := map[Ref][2]string{}
	for i := range uint64(2000) {
		r, _ := m.Upsert(testKey(i))
		refs = append(refs, r)
	}
	type held struct{ text, copy string }
	var out []held
	most := 0.0
	for i := range rounds(60000) {
		r, value := refs[rnd.IntN(len(refs))], rnd.IntN(2)
		if rnd.IntN(3) > 0 { // some are replaced more often
			r = refs[rnd.IntN(len(refs)/8)]
		}
		w := want[r]
		if s, ok := m.Bytes(r, value); ok && !reuse && rnd.IntN(20) == 0 {
			out = append(out, held{s, strings.Clone(s)})
		}
		n := rnd.IntN(200)
		if rnd.IntN(10000) == 0 {
			n = longRef + rnd.IntN(100)
		}
		if w[value] = strings.Repeat(string(rune('a'+rnd.IntN(26))), n); n == 0 && rnd.IntN(2) == 0 {
			m.FreeBytes(r, value)
		} else {
			m.PutBytes(r, value, w[value])
		}
		want[r] = w
		if i > 10000 {
			most = max(most, float64(m.text.size())/float64(m.text.live))
		}
	}
	for r, w := range want {
		for value := range w {
			if s, _ := m.Bytes(r, value); s != w[value] {
				t.Fatalf("text %d of record %d is %q, want %q", value, r, s, w[value])
			}
		}
	}
	for _, h := range out {
		if h.text != h.copy {
			t.Fatalf("a text that was handed out is %q, was %q", h.text, h.copy)
		}
	}
	if most > 1.7 {
		t.Errorf("the arena held %.2f times what was alive", most)
	} else {
		t.Logf("the arena held at most %.2f times what was alive", most)
	}
}
