package session

import (
	"regexp"
	"slices"
	"sort"
	"strings"

	"runnel/catalog"
	"runnel/connectors"
	"runnel/sql"
)

// wordEnds are the characters between words that the shell completes.
const wordEnds = " \t\n(),.;=<>'+-*/"

// Complete gives the words that may stand where text ends: those that begin as its last word does, letter case aside.
// Behind an open quote they are keys of options, or values of the option in front; elsewhere names of tables and columns come
// before functions and keywords.
func (s *Session) Complete(text string) []string {
	word := text[strings.LastIndexAny(text, wordEnds)+1:]
	if strings.Count(text, "'")%2 == 1 {
		return s.completeQuoted(text)
	}
	if word == "" {
		return nil
	}
	var out []string
	seen := map[string]bool{}
	add := func(words []string) {
		for _, w := range beginning(words, word) {
			if !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		}
	}
	add(s.names())
	if strings.Contains(strings.ToUpper(text), "SET") {
		add(configKeys())
	}
	add(upper(append(builtIn(s.opts.Catalog.CoreUsed()), s.opts.Catalog.UserFunctions(nil)...)))
	add(sql.Keywords())
	return out
}

func upper(words []string) []string {
	for i, w := range words {
		words[i] = strings.ToUpper(w)
	}
	return words
}

// beginning sorts the words that continue prefix.
func beginning(words []string, prefix string) []string {
	var out []string
	for _, w := range words {
		if len(w) > len(prefix) && strings.EqualFold(w[:len(prefix)], prefix) {
			out = append(out, w)
		}
	}
	sort.Strings(out)
	return slices.Compact(out)
}

// optionValue matches a value that has begun, and its key.
var optionValue = regexp.MustCompile(`'([^']*)'\s*=\s*'[^']*$`)

// namedConnector finds the connector of a WITH clause.
var namedConnector = regexp.MustCompile(`(?i)'connector'\s*=\s*'([^']*)'`)

// completeQuoted completes keys and values of options in SET, RESET and WITH. Words are cut where the shell cuts them: a key
// with dots and dashes continues behind the last of them.
func (s *Session) completeQuoted(text string) []string {
	typed := text[strings.LastIndexByte(text, '\'')+1:]
	first := strings.ToUpper(firstWord(text))
	options := s.tableOptions(text)
	if first == "SET" || first == "RESET" {
		options = nil
		for i := range catalog.ConfigKeys {
			options = append(options, catalog.ConfigKeys[i].Option)
		}
	}
	var words []string
	if m := optionValue.FindStringSubmatch(text); m != nil {
		words = s.optionValues(m[1], options)
	} else {
		for _, o := range options {
			words = append(words, o.Key)
		}
	}
	words = beginning(words, typed)
	cut := strings.LastIndexAny(typed, wordEnds) + 1
	for i, w := range words {
		words[i] = w[cut:]
	}
	return words
}

func firstWord(text string) string {
	if f := strings.Fields(text); len(f) > 0 {
		return f[0]
	}
	return ""
}

// tableOptions are the options that may stand in the WITH clause at the end of text.
func (s *Session) tableOptions(text string) []connectors.Option {
	if !strings.Contains(strings.ToUpper(text), "WITH") {
		return nil
	}
	out := []connectors.Option{{Key: "connector"}}
	m := namedConnector.FindStringSubmatch(text)
	if m == nil {
		return out
	}
	for i := range s.opts.Connectors {
		if c := &s.opts.Connectors[i]; strings.EqualFold(c.Name, m[1]) {
			out = append(out, c.Options...)
			for _, key := range c.Formats {
				out = append(out, connectors.Option{Key: key})
			}
		}
	}
	return out
}

// optionValues are the values that the option key takes, as far as they can be listed.
func (s *Session) optionValues(key string, options []connectors.Option) []string {
	var words []string
	switch {
	case key == "connector":
		for i := range s.opts.Connectors {
			words = append(words, s.opts.Connectors[i].Name)
		}
		return words
	case key == "format" || strings.HasSuffix(key, ".format"):
		for i := range s.opts.Formats {
			words = append(words, s.opts.Formats[i].Name)
		}
		return words
	}
	for _, o := range options {
		switch {
		case o.Key != key:
		case o.Kind == connectors.BoolOption:
			words = append(words, "true", "false")
		default:
			words = append(words, o.Values...)
		}
	}
	return words
}

func configKeys() []string {
	var keys []string
	for i := range catalog.ConfigKeys {
		keys = append(keys, catalog.ConfigKeys[i].Key)
	}
	return keys
}

// names gives the tables of the current database with their columns, and the databases and catalogs.
func (s *Session) names() []string {
	cat, db := s.opts.Catalog.Current()
	names := s.opts.Catalog.Names(cat, db)
	for _, n := range names {
		o, ok := s.opts.Catalog.Find(catalog.Path{Catalog: cat, Database: db, Name: n})
		if !ok {
			continue
		}
		switch t := o.(type) {
		case *catalog.Table:
			for _, c := range t.Columns {
				names = append(names, c.Name)
			}
		case *catalog.View:
			for _, f := range t.Fields {
				names = append(names, f.Name)
			}
		}
	}
	names = append(names, s.opts.Catalog.Catalogs()...)
	if dbs, err := s.opts.Catalog.Databases(""); err == nil {
		names = append(names, dbs...)
	}
	return names
}
