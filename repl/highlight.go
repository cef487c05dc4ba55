package repl

import (
	"strings"
	"unicode"

	"runnel/sql"
)

// scheme is the colours of a statement under edit, as parameters of the terminal's SGR sequence; "" is the terminal's own.
type scheme struct {
	keyword, other, comment, hint, quoted, ident string
}

// schemes are the values of sql-client.display.color-schema; an unknown one colours nothing.
var schemes = map[string]scheme{
	"DARK":      {"1;34", "37", "3;90", "1;90", "32", "36"},
	"LIGHT":     {"1;31", "30", "3;90", "1;90", "32", "36"},
	"CHESTER":   {"1;34", "37", "3;32", "1;32", "31", "36"},
	"DRACULA":   {"1;35", "37", "3;36", "1;36", "32", "31"},
	"SOLARIZED": {"1;33", "34", "3;90", "1;90", "32", "31"},
	"VS2010":    {"1;34", "37", "3;32", "1;32", "31", "35"},
	"OBSIDIAN":  {"1;32", "37", "3;90", "1;90", "31", "35"},
	"GESHI":     {"1;38;2;153;51;51", "37", "3;38;2;128;128;128", "1;38;2;128;128;128", "38;2;102;204;102", "38;2;0;0;153"},
}

// highlight gives the colour of each character of a statement, nil for none.
func highlight(text []rune, name string) []string {
	c, ok := schemes[strings.ToUpper(name)]
	if !ok {
		return nil
	}
	out := make([]string, len(text))
	for i := 0; i < len(text); {
		end, colour := part(text, i, c)
		for ; i < end; i++ {
			out[i] = colour
		}
	}
	return out
}

// part gives the end and the colour of what begins at i: a word, a quoted text, a comment, or one character.
func part(text []rune, i int, c scheme) (end int, colour string) {
	begins := func(s string) bool { return i+len(s) <= len(text) && string(text[i:i+len(s)]) == s }
	switch r := text[i]; {
	case begins("--"):
		return until(text, i, "\n"), c.comment
	case begins("/*+"):
		return until(text, i+2, "*/"), c.hint
	case begins("/*"):
		return until(text, i+2, "*/"), c.comment
	case r == '\'':
		return until(text, i+1, "'"), c.quoted
	case r == '`':
		return until(text, i+1, "`"), c.ident
	case isWord(r):
		for end = i + 1; end < len(text) && (isWord(text[end]) || text[end] == '$'); end++ {
		}
		if unicode.IsLetter(r) && sql.IsKeyword(string(text[i:end])) {
			return end, c.keyword
		}
		return end, c.other
	}
	return i + 1, c.other
}

// until gives the place behind the next mark, or the end of the text.
func until(text []rune, from int, mark string) int {
	for i := from; i+len(mark) <= len(text); i++ {
		if string(text[i:i+len(mark)]) == mark {
			return i + len(mark)
		}
	}
	return len(text)
}
