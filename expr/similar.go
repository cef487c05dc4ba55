package expr

import (
	"fmt"
	"strings"
)

// similarClasses are the names within [: :] that SIMILAR TO knows, as what stands inside brackets in Java.
var similarClasses = []struct{ name, set string }{
	{"[:ALPHA:]", `\p{Alpha}`}, {"[:alpha:]", `\p{Alpha}`}, {"[:UPPER:]", `\p{Upper}`}, {"[:upper:]", `\p{Upper}`},
	{"[:LOWER:]", `\p{Lower}`}, {"[:lower:]", `\p{Lower}`}, {"[:DIGIT:]", `\d`}, {"[:digit:]", `\d`},
	{"[:SPACE:]", ` `}, {"[:space:]", ` `}, {"[:WHITESPACE:]", `\s`}, {"[:whitespace:]", `\s`},
	{"[:ALNUM:]", `\p{Alnum}`}, {"[:alnum:]", `\p{Alnum}`},
}

// similarSpecials are the characters that an escape may stand before. As an escape they may not stand for themselves.
const similarSpecials = `_%[]()^-|*+?{}`

// similarToRegex turns a SIMILAR TO pattern into a Java pattern for the whole text; escape is -1 for none. As in Flink a
// dot and a ^ keep their meaning of regular expressions, while $ and the backslash mean themselves.
func similarToRegex(pattern string, escape rune) (string, error) {
	var b strings.Builder
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		if r == escape {
			i++
			special := strings.ContainsRune(similarSpecials, escape)
			if i == len(runes) || special && runes[i] == escape ||
				!strings.ContainsRune(similarSpecials, runes[i]) && runes[i] != escape {
				return "", fmt.Errorf("Invalid escape sequence '%s', %d", pattern, i)
			}
			writeLiteral(&b, runes[i])
			continue
		}
		switch r {
		case '_':
			b.WriteByte('.')
		case '%':
			b.WriteString(`(?s:.*)`)
		case '[':
			n, err := similarSet(&b, runes[i:], escape, pattern)
			if err != nil {
				return "", err
			}
			i += n - 1
		case '\\', '$':
			writeLiteral(&b, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String(), nil
}

func writeLiteral(b *strings.Builder, r rune) {
	if strings.ContainsRune(`\.+*?()|[]{}^$-&`, r) {
		b.WriteByte('\\')
	}
	b.WriteRune(r)
}

// similarSet reads a bracket expression and gives its length.
func similarSet(b *strings.Builder, runes []rune, escape rune, pattern string) (int, error) {
	b.WriteByte('[')
	i := 1
	if i < len(runes) && runes[i] == '^' {
		b.WriteByte('^')
		i++
	}
	for ; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == ']':
			b.WriteByte(']')
			return i + 1, nil
		case r == escape && i+1 < len(runes):
			i++
			writeLiteral(b, runes[i])
		case r == '[':
			rest := string(runes[i:])
			found := false
			for _, c := range similarClasses {
				if strings.HasPrefix(rest, c.name) {
					b.WriteString(c.set)
					i += len(c.name) - 1
					found = true
					break
				}
			}
			if !found {
				return 0, fmt.Errorf("Invalid regular expression '%s'", pattern)
			}
		case r == '&':
			b.WriteString(`\&`)
		default:
			b.WriteRune(r)
		}
	}
	return 0, fmt.Errorf("Invalid regular expression '%s'", pattern)
}
