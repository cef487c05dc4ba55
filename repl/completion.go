package repl

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"runnel/session"
)

// completeWord puts in what all candidates for the end of the text at the cursor have in common, and lists them when that is
// nothing more than what is there.
func (e *lineEditor) completeWord() {
	if e.complete == nil {
		return
	}
	text := string(e.buf.text[:e.buf.pos])
	n, words := e.complete(text)
	if len(words) == 0 {
		return
	}
	typed := text[len(text)-n:]
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = fitted(w, typed)
	}
	common := names[0]
	for i, name := range names {
		common = commonPrefix(common, name, !words[i].Exact)
	}
	if len(words) == 1 {
		common += words[0].Behind
	}
	if common != typed && len(common) >= len(typed) || len(words) == 1 {
		e.buf.save()
		from := e.buf.pos - utf8.RuneCountInString(typed)
		e.buf.text = slices.Concat(e.buf.text[:from], []rune(common), e.buf.text[e.buf.pos:])
		e.buf.pos = from + utf8.RuneCountInString(common)
		return
	}
	e.below = listed(names, e.keys.w, max(e.keys.h/2, 4))
}

// fitted gives a candidate the case of what was typed: names as they are, words of the language as the user writes them.
func fitted(w session.Word, typed string) string {
	if w.Exact {
		return w.Text
	}
	text := w.Text
	if last, _ := utf8.DecodeLastRuneInString(typed); unicode.IsLower(last) {
		text = strings.ToLower(text)
	}
	if len(typed) <= len(text) && strings.EqualFold(text[:len(typed)], typed) {
		return typed + text[len(typed):]
	}
	return text
}

// commonPrefix is what both texts begin with, letter case aside if fold is set.
func commonPrefix(a, b string, fold bool) string {
	n := 0
	for n < len(a) && n < len(b) {
		ra, size := utf8.DecodeRuneInString(a[n:])
		rb, _ := utf8.DecodeRuneInString(b[n:])
		if ra != rb && !(fold && unicode.ToLower(ra) == unicode.ToLower(rb)) {
			break
		}
		n += size
	}
	return a[:n]
}
