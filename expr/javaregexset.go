package expr

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// knownProperty asks for a general category or script of Unicode.
func knownProperty(name string) bool {
	if _, ok := unicode.Categories[name]; ok {
		return true
	}
	_, ok := unicode.Scripts[name]
	return ok
}

// class reads a bracket expression of Java's, which may hold others and intersect with them, and gives an atom.
func (p *regexParser) class() (string, error) {
	if p.depth++; p.depth > maxRegexDepth {
		return "", p.fail("Pattern is nested too deeply")
	}
	defer func() { p.depth-- }()
	p.at++
	negated := false
	if p.more() && p.in[p.at] == '^' {
		negated = true
		p.at++
	}
	var parts []classPart // intersected with each other
	part, first := classPart{}, true
	for {
		if !p.more() {
			return "", p.fail("Unclosed character class")
		}
		switch c := p.in[p.at]; {
		case c == ']' && !first:
			p.at++
			parts = append(parts, part)
			return p.intersect(parts, negated), nil
		case strings.HasPrefix(p.in[p.at:], "&&"):
			p.at += 2
			parts = append(parts, part)
			part = classPart{}
			continue
		case c == '[':
			atom, err := p.class()
			if err != nil {
				return "", err
			}
			part.atoms = append(part.atoms, atom)
		default:
			if err := p.classItem(&part); err != nil {
				return "", err
			}
		}
		first = false
	}
}

// classPart is a union: characters and ranges as they stand inside brackets, and whole atoms that cannot.
type classPart struct {
	set   []byte
	atoms []string
}

// atom gives the union as one atom.
func (c classPart) atom() string {
	var all []string
	if len(c.set) > 0 {
		all = append(all, "["+string(c.set)+"]")
	}
	all = append(all, c.atoms...)
	switch len(all) {
	case 0:
		return `[^\s\S]`
	case 1:
		return all[0]
	}
	return "(?:" + strings.Join(all, "|") + ")"
}

// intersect joins the parts by look-ahead. A plain set stays one.
func (p *regexParser) intersect(parts []classPart, negated bool) string {
	if len(parts) == 1 {
		part := parts[0]
		if len(part.atoms) == 0 {
			if negated {
				return "[^" + string(part.set) + "]"
			}
			return part.atom()
		}
		if !negated {
			return part.atom()
		}
		p.backtrack = true
		return "(?:(?!" + part.atom() + `)[\s\S])`
	}
	p.backtrack = true
	var b strings.Builder
	b.WriteString("(?:")
	if negated {
		b.WriteString("(?!")
	}
	for _, part := range parts[:len(parts)-1] {
		b.WriteString("(?=" + part.atom() + ")")
	}
	b.WriteString(parts[len(parts)-1].atom())
	if negated {
		b.WriteString(`)[\s\S]`)
	}
	b.WriteString(")")
	return b.String()
}

// classItem reads a character, a range or an escape.
func (p *regexParser) classItem(part *classPart) error {
	lo, isChar, err := p.classChar(part)
	if err != nil || !isChar {
		return err
	}
	// A range, unless the dash is the last character.
	if strings.HasPrefix(p.in[p.at:], "-") && p.at+1 < len(p.in) && p.in[p.at+1] != ']' && p.in[p.at+1] != '[' {
		at := p.at
		p.at++
		hi, isChar, err := p.classChar(&classPart{})
		if err != nil {
			return err
		}
		if !isChar || hi < lo {
			p.at = at
			return p.fail("Illegal character range")
		}
		part.set = fmt.Appendf(part.set, `\x{%x}-\x{%x}`, lo, hi)
		return nil
	}
	part.set = appendLiteral(part.set, lo)
	return nil
}

// classChar reads one character; a set is added to part instead.
func (p *regexParser) classChar(part *classPart) (rune, bool, error) {
	if p.in[p.at] != '\\' {
		r, size := utf8.DecodeRuneInString(p.in[p.at:])
		p.at += size
		return r, true, nil
	}
	if p.at+1 >= len(p.in) {
		return 0, false, p.fail("Unclosed character class")
	}
	if p.in[p.at+1] == 'Q' {
		p.at += 2
		text, _, _ := strings.Cut(p.in[p.at:], `\E`)
		p.at = min(p.at+len(text)+2, len(p.in))
		for _, r := range text {
			part.set = appendLiteral(part.set, r)
		}
		return 0, false, nil
	}
	set, negated, r, err := p.escapeSet()
	switch {
	case err != nil:
		return 0, false, err
	case set == "":
		return r, true, nil
	case negated:
		part.atoms = append(part.atoms, "[^"+set+"]")
	default:
		part.set = append(part.set, set...)
	}
	return 0, false, nil
}
