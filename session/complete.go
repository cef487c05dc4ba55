package session

import (
	"sort"
	"strings"

	"runnel/catalog"
	"runnel/sql"
)

// Complete gives the words that may stand where text ends: those that begin as its last word does, letter case aside.
// Names of tables, columns and options come before keywords.
func (s *Session) Complete(text string) []string {
	word := text[strings.LastIndexAny(text, " \t\n(),;=<>'+-*/")+1:]
	if word == "" {
		return nil
	}
	var out []string
	seen := map[string]bool{}
	add := func(words []string) {
		sort.Strings(words)
		for _, w := range words {
			if len(w) > len(word) && strings.EqualFold(w[:len(word)], word) && !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		}
	}
	add(s.names())
	if strings.Contains(strings.ToUpper(text), "SET") {
		var keys []string
		for i := range catalog.ConfigKeys {
			keys = append(keys, catalog.ConfigKeys[i].Key)
		}
		add(keys)
	}
	add(sql.Keywords())
	return out
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
