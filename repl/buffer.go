package repl

import (
	"slices"
	"strings"
	"unicode"
)

// maxUndo bounds the states of a text that can be taken back.
const maxUndo = 200

// buffer is the text under edit, of one or more lines, and the place of the cursor.
type buffer struct {
	text   []rune
	pos    int
	killed []rune // what was cut last
	undo   []bufferState
}

type bufferState struct {
	text []rune
	pos  int
}

// save remembers the text in front of a change.
func (b *buffer) save() {
	if len(b.undo) == maxUndo {
		b.undo = b.undo[1:]
	}
	b.undo = append(b.undo, bufferState{slices.Clone(b.text), b.pos})
}

// takeBack undoes the last change.
func (b *buffer) takeBack() {
	if n := len(b.undo); n > 0 {
		b.text, b.pos = b.undo[n-1].text, b.undo[n-1].pos
		b.undo = b.undo[:n-1]
	}
}

// set replaces the whole text and goes to its end.
func (b *buffer) set(s string) { b.text = []rune(s); b.pos = len(b.text) }

func (b *buffer) String() string { return string(b.text) }

// insert puts text in at the cursor. Letters that are typed one after the other are taken back together, word by word.
func (b *buffer) insert(s string) {
	r := []rune(s)
	if len(r) != 1 || !isWord(r[0]) || b.pos == 0 || !isWord(b.text[b.pos-1]) {
		b.save()
	}
	b.text = slices.Insert(b.text, b.pos, r...)
	b.pos += len(r)
}

// cut takes out the text from from to to and keeps it for yank, if keep is set.
func (b *buffer) cut(from, to int, keep bool) {
	if from >= to {
		return
	}
	b.save()
	if keep {
		b.killed = slices.Clone(b.text[from:to])
	}
	b.text = slices.Delete(b.text, from, to)
	b.pos = from
}

func (b *buffer) yank() { b.insert(string(b.killed)) }

// lineStart and lineEnd are the ends of the line that the cursor is in.
func (b *buffer) lineStart() int {
	i := b.pos
	for i > 0 && b.text[i-1] != '\n' {
		i--
	}
	return i
}

func (b *buffer) lineEnd() int {
	i := b.pos
	for i < len(b.text) && b.text[i] != '\n' {
		i++
	}
	return i
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// wordLeft and wordRight are the beginning of the word behind the cursor and the end of the one in front of it.
func (b *buffer) wordLeft() int {
	i := b.pos
	for i > 0 && !isWord(b.text[i-1]) {
		i--
	}
	for i > 0 && isWord(b.text[i-1]) {
		i--
	}
	return i
}

func (b *buffer) wordRight() int {
	i := b.pos
	for i < len(b.text) && !isWord(b.text[i]) {
		i++
	}
	for i < len(b.text) && isWord(b.text[i]) {
		i++
	}
	return i
}

// blankLeft is the beginning of what stands behind the cursor up to a blank.
func (b *buffer) blankLeft() int {
	i := b.pos
	for i > 0 && unicode.IsSpace(b.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(b.text[i-1]) {
		i--
	}
	return i
}

// step gives the place of the next or former character that is no combining one.
func (b *buffer) step(by int) int {
	i := b.pos + by
	for i > 0 && i < len(b.text) && runeColumns(b.text[i]) == 0 {
		i += by
	}
	return min(max(i, 0), len(b.text))
}

// vertical moves the cursor to the line above (-1) or below (1), to the same column as far as it has one; false says that
// there is no such line.
func (b *buffer) vertical(by int) bool {
	column := b.pos - b.lineStart()
	if by < 0 {
		start := b.lineStart()
		if start == 0 {
			return false
		}
		b.pos = start - 1
		b.pos = min(b.lineStart()+column, b.pos)
		return true
	}
	end := b.lineEnd()
	if end == len(b.text) {
		return false
	}
	b.pos = end + 1
	b.pos = min(b.pos+column, b.lineEnd())
	return true
}

// recase changes the case of the word in front of the cursor: of its first letter and of the others.
func (b *buffer) recase(first, others func(rune) rune) {
	b.save()
	end := b.wordRight()
	begun := false
	for i := b.pos; i < end; i++ {
		switch {
		case !isWord(b.text[i]):
		case !begun:
			b.text[i], begun = first(b.text[i]), true
		default:
			b.text[i] = others(b.text[i])
		}
	}
	b.pos = end
}

// swap exchanges the characters on both sides of the cursor.
func (b *buffer) swap() {
	at := b.pos
	if at == b.lineEnd() {
		at--
	}
	if at <= 0 || b.text[at-1] == '\n' {
		return
	}
	b.save()
	b.text[at-1], b.text[at] = b.text[at], b.text[at-1]
	b.pos = at + 1
}

// swapWords exchanges the word in front of the cursor, or around it, with the one before.
func (b *buffer) swapWords() {
	end := b.wordRight()
	b.save()
	b.pos = end
	second := b.wordLeft()
	for end > second && !isWord(b.text[end-1]) {
		end--
	}
	b.pos = second
	first := b.wordLeft()
	firstEnd := first
	for firstEnd < second && isWord(b.text[firstEnd]) {
		firstEnd++
	}
	if first == second || firstEnd == first {
		b.takeBack()
		return
	}
	swapped := slices.Concat(b.text[second:end], b.text[firstEnd:second], b.text[first:firstEnd])
	copy(b.text[first:], swapped)
	b.pos = end
}

// pasted gives pasted text the form in which it can be edited: line ends as \n, tabs as blanks, no other control characters.
func pasted(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "  ").Replace(s)
	return strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}
