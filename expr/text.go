package expr

import (
	"unicode/utf8"
)

// ascii reports whether s has no byte beyond 0x7f, so that bytes, code points and UTF-16 units are the same.
func ascii(s string) bool {
	for len(s) >= 8 {
		if (uint32(s[0])|uint32(s[1])<<8|uint32(s[2])<<16|uint32(s[3])<<24|
			uint32(s[4])|uint32(s[5])<<8|uint32(s[6])<<16|uint32(s[7])<<24)&0x80808080 != 0 {
			return false
		}
		s = s[8:]
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// runes counts code points.
func runes(s string) int {
	if ascii(s) {
		return len(s)
	}
	return utf8.RuneCountInString(s)
}

// offset gives the byte position of code point n, or len(s) when there are not so many.
func offset(s string, n int) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		if s[at] < utf8.RuneSelf {
			at++
			continue
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// units counts UTF-16 units.
func units(s string) int {
	if ascii(s) {
		return len(s)
	}
	return utf16Len(s)
}

// cutUnits gives the first n UTF-16 units. Half of a surrogate pair becomes ?, as Java writes it out.
func cutUnits(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if n >= len(s) {
		return s
	}
	for i, r := range s {
		if n <= 0 {
			return s[:i]
		}
		if r > 0xffff {
			if n == 1 {
				return s[:i] + "?"
			}
			n--
		}
		n--
	}
	return s
}

// skipUnits drops the first n UTF-16 units, with half pairs as in cutUnits.
func skipUnits(s string, n int) string {
	if n <= 0 {
		return s
	}
	for i, r := range s {
		if n <= 0 {
			return s[i:]
		}
		if r > 0xffff {
			if n == 1 {
				return "?" + s[i+4:]
			}
			n--
		}
		n--
	}
	return ""
}
