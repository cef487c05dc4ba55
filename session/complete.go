package session

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"runnel/catalog"
	"runnel/sql"
)

// Word is a candidate for the end of a text.
type Word struct {
	Text string
	// Exact says that letter case counts, as in names; other words may be written in any.
	Exact bool
	// Behind is what follows the word when it is the only candidate.
	Behind string
}

// tableWords are the words before names of tables; after each word in showWords the words in its list follow.
var (
	tableWords = map[string]bool{"FROM": true, "JOIN": true, "INTO": true, "OVERWRITE": true, "UPDATE": true, "TABLE": true, "VIEW": true,
		"DESCRIBE": true, "DESC": true, "ANALYZE": true, "COLUMNS": true, "PARTITIONS": true, "LIKE": true}
	nextWords = map[string]string{
		"SHOW": "CATALOGS COLUMNS CREATE CURRENT DATABASES FULL FUNCTIONS JARS JOBS MODULES PARTITIONS PROCEDURES TABLES USER VIEWS", "CURRENT": "CATALOG DATABASE",
		"DROP": "CATALOG DATABASE FUNCTION TABLE TEMPORARY VIEW", "ALTER": "CATALOG DATABASE FUNCTION TABLE VIEW", "TEMPORARY": "FUNCTION SYSTEM TABLE VIEW",
		"CREATE": "CATALOG DATABASE FUNCTION OR TABLE TEMPORARY VIEW", "INSERT": "INTO OVERWRITE", "GROUP": "BY", "ORDER": "BY", "PARTITION": "BY",
		"EXPLAIN": "CHANGELOG_MODE ESTIMATED_COST INSERT JSON_EXECUTION_PLAN PLAN_ADVICE SELECT STATEMENT WITH", "STOP": "JOB", "LOAD": "MODULE", "UNLOAD": "MODULE",
	}
	// bareFunctions are called without parentheses.
	bareFunctions = map[string]bool{"CURRENT_DATE": true, "CURRENT_TIME": true, "CURRENT_TIMESTAMP": true, "LOCALTIME": true, "LOCALTIMESTAMP": true}
)

// Complete gives the words that may stand where text ends, instead of its last typed bytes. Words that begin as what was typed
// does count, letter case aside; without any, the one that was most likely meant. Behind an open quote they are keys of options,
// or values of the option in front; behind a dot what its name holds; elsewhere names come before functions and keywords.
func (s *Session) Complete(text string) (typed int, words []Word) {
	pieces, rest := sql.Split(text)
	if len(pieces) > 0 || rest != nil { // only the statement at the end
		at := len(text)
		if rest != nil {
			at = int(rest.At.Offset)
		}
		text = text[at:]
	}
	c := scanEnd(text)
	last := c.words[len(c.words)-1]
	switch {
	case c.open == '\'':
		return s.completeQuoted(text, last)
	case c.open == '-':
		return 0, nil
	}
	first, before := strings.ToUpper(c.words[0]), ""
	if n := len(c.words); n > 1 {
		before = strings.ToUpper(c.words[n-2])
	}
	if (first == "SET" || first == "RESET") && len(c.words) > 1 {
		return s.completeSetting(c, first)
	}
	qualifier, name := "", last
	if dot := strings.LastIndexByte(last, '.'); dot >= 0 {
		qualifier, name = last[:dot], last[dot+1:]
	}
	typed = len(name)
	if c.open == '`' {
		typed = c.quoted
	}
	switch {
	case qualifier != "":
		words = candidates(s.inside(qualifier, c), name, true, "")
	case len(c.words) == 1 && c.open == 0:
		words = candidates(sql.StatementWords(), name, false, " ")
	case before == "USE" || before == "CATALOG" || before == "DATABASE" || before == "DATABASES":
		words = append(candidates(s.databases(), name, true, ""), candidates([]string{"CATALOG", "MODULES"}, name, false, " ")...)
	case tableWords[before] || before == "," && tableWords[c.lead]:
		words = candidates(s.tables(), name, true, " ")
		if len(words) == 0 && name != "" {
			words = candidates(sql.Keywords(), name, false, " ")
		}
	case nextWords[before] != "":
		words = candidates(strings.Fields(nextWords[before]), name, false, " ")
	case name != "" || c.open == '`':
		words = s.anything(c, name)
	}
	if len(words) == 0 && qualifier == "" && c.open == 0 && utf8.RuneCountInString(name) > 2 {
		words = s.likely(c, name)
	}
	if c.open == '`' {
		words = slices.DeleteFunc(words, func(w Word) bool { return !w.Exact })
		for i := range words {
			words[i].Text, words[i].Behind = strings.Trim(words[i].Text, "`"), "`"
		}
	} else {
		for i := range words {
			if words[i].Exact {
				words[i].Text = sql.QuoteIfNeeded(words[i].Text)
			}
		}
	}
	return typed, words
}

// textEnd is what completion knows of a statement up to the cursor.
type textEnd struct {
	words  []string // and punctuation; the last is the word at the cursor, "" for none, with the dots before it
	open   byte     // the quote that is open at the end, '-' for a comment, 0 for none
	quoted int      // length of what stands behind an open back-tick
	lead   string   // the last word of a clause: SELECT, FROM, WHERE ..
}

// scanEnd cuts text into words.
func scanEnd(text string) textEnd {
	var c textEnd
	word := ""
	flush := func() {
		if word != "" {
			c.words = append(c.words, word)
			switch w := strings.ToUpper(word); w {
			case "SELECT", "FROM", "WHERE", "ON", "BY", "HAVING", "SET", "VALUES":
				c.lead = w
			}
		}
		word = ""
	}
	for i := 0; i < len(text); {
		switch ch := text[i]; {
		case strings.HasPrefix(text[i:], "--"), strings.HasPrefix(text[i:], "/*") && !strings.HasPrefix(text[i:], "/*+"):
			flush()
			mark := "\n"
			if ch == '/' {
				mark = "*/"
			}
			n := strings.Index(text[i:], mark)
			if n < 0 {
				return textEnd{words: append(c.words, ""), open: '-', lead: c.lead}
			}
			i += n + len(mark)
		case ch == '\'' || ch == '`':
			n := strings.IndexByte(text[i+1:], ch)
			if n < 0 {
				inside := text[i+1:]
				c.words, c.open, c.quoted = append(c.words, word+inside), ch, len(inside)
				return c
			}
			if ch == '\'' {
				flush()
				c.words = append(c.words, text[i:i+n+2])
			} else {
				word += text[i+1 : i+1+n]
			}
			i += n + 2
		case ch == '.' || ch == '_' || ch == '$' || ch >= 0x80 || ch >= '0' && ch <= '9' || ch|0x20 >= 'a' && ch|0x20 <= 'z':
			word += text[i : i+1]
			i++
		default:
			flush()
			if ch > ' ' {
				c.words = append(c.words, string(ch))
			}
			i++
		}
	}
	c.words = append(c.words, word)
	return c
}

// candidates are the words that begin with prefix, sorted.
func candidates(words []string, prefix string, exact bool, behind string) []Word {
	var out []Word
	words = slices.Clone(words)
	sort.Strings(words)
	for _, w := range slices.Compact(words) {
		if len(w) >= len(prefix) && strings.EqualFold(w[:len(prefix)], prefix) {
			out = append(out, Word{w, exact, behind})
		}
	}
	return out
}

// completeSetting completes SET key = value and RESET key without quotes.
func (s *Session) completeSetting(c textEnd, first string) (int, []Word) {
	key := strings.Join(c.words[1:], "")
	value := ""
	options := configOptions()
	if k, v, ok := strings.Cut(key, "="); ok {
		key, value = k, v
		return len(value), candidates(s.optionValues(key, options), value, true, "")
	}
	behind := " = "
	if first == "RESET" {
		behind = ""
	}
	return len(key), candidates(configKeys(), key, true, behind)
}

func configKeys() []string {
	var keys []string
	for i := range catalog.ConfigKeys {
		keys = append(keys, catalog.ConfigKeys[i].Key)
	}
	return keys
}

// anything gives columns of the tables in the statement, tables, functions and keywords.
func (s *Session) anything(c textEnd, prefix string) []Word {
	words := candidates(s.columnsNear(c), prefix, true, "")
	words = append(words, candidates(s.tables(), prefix, true, "")...)
	for _, f := range candidates(s.functions(), prefix, false, "(") {
		if bareFunctions[f.Text] {
			f.Behind = " "
		}
		words = append(words, f)
	}
	for _, k := range candidates(sql.Keywords(), prefix, false, " ") {
		if !slices.ContainsFunc(words, func(w Word) bool { return !w.Exact && w.Text == k.Text }) {
			words = append(words, k)
		}
	}
	return words
}

// likely gives the word that was most likely meant.
func (s *Session) likely(c textEnd, typed string) []Word {
	all := s.anything(c, "")
	if len(c.words) == 1 {
		all = candidates(sql.StatementWords(), "", false, " ")
	}
	var names []string
	for _, w := range all {
		names = append(names, w.Text)
	}
	if best, ok := catalog.Nearest(typed, names); ok {
		return []Word{all[slices.Index(names, best)]}
	}
	return nil
}

func (s *Session) functions() []string {
	names := append(builtIn(s.opts.Catalog.CoreUsed()), s.opts.Catalog.UserFunctions(nil)...)
	for i, n := range names {
		names[i] = strings.ToUpper(n)
	}
	return names
}

// tables gives what may stand before a table: tables and views of the current database, databases and catalogs.
func (s *Session) tables() []string {
	cat, db := s.opts.Catalog.Current()
	return append(s.opts.Catalog.Names(cat, db), s.databases()...)
}

func (s *Session) databases() []string {
	names := s.opts.Catalog.Catalogs()
	if dbs, err := s.opts.Catalog.Databases(""); err == nil {
		names = append(names, dbs...)
	}
	return names
}

// inside gives what a name before a dot holds: columns of a table or its alias, tables of a database, databases of a catalog.
func (s *Session) inside(qualifier string, c textEnd) []string {
	if t, ok := c.tables()[qualifier]; ok {
		return s.columnsOf(t)
	}
	names := s.columnsOf(qualifier)
	cat, _ := s.opts.Catalog.Current()
	if catName, db, ok := strings.Cut(qualifier, "."); ok {
		return append(names, s.opts.Catalog.Names(catName, db)...)
	}
	names = append(names, s.opts.Catalog.Names(cat, qualifier)...)
	if slices.Contains(s.opts.Catalog.Catalogs(), qualifier) {
		if dbs, err := s.opts.Catalog.Databases(qualifier); err == nil {
			names = append(names, dbs...)
		}
	}
	return names
}

// columnsNear gives those of the tables in the statement; without one, those of all tables at hand.
func (s *Session) columnsNear(c textEnd) []string {
	var names []string
	for alias, t := range c.tables() {
		names = append(append(names, s.columnsOf(t)...), alias)
	}
	if len(names) == 0 {
		cat, db := s.opts.Catalog.Current()
		for _, t := range s.opts.Catalog.Names(cat, db) {
			names = append(names, s.columnsOf(t)...)
		}
	}
	return names
}

// tables finds the tables that the statement has so far, by their aliases.
func (c textEnd) tables() map[string]string {
	found := map[string]string{}
	for i := 1; i < len(c.words)-1; i++ {
		if w := strings.ToUpper(c.words[i-1]); !tableWords[w] && w != "," {
			continue
		}
		name := c.words[i]
		alias := name[strings.LastIndexByte(name, '.')+1:]
		next := i + 1
		if next < len(c.words)-1 && strings.EqualFold(c.words[next], "AS") {
			next++
		}
		if next < len(c.words)-1 && !sql.IsReserved(c.words[next]) && isName(c.words[next]) {
			alias = c.words[next]
		}
		if isName(alias) && !sql.IsReserved(alias) {
			found[alias] = name
		}
	}
	return found
}

func isName(s string) bool {
	return s != "" && (s[0] == '_' || s[0] >= 0x80 || s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z')
}

// columnsOf gives the columns of a table or view.
func (s *Session) columnsOf(name string) []string {
	parts := strings.Split(name, ".")
	cat, db := s.opts.Catalog.Current()
	p := catalog.Path{Catalog: cat, Database: db, Name: parts[len(parts)-1]}
	switch len(parts) {
	case 2:
		p.Database = parts[0]
	case 3:
		p.Catalog, p.Database = parts[0], parts[1]
	}
	var names []string
	switch o, _ := s.opts.Catalog.Find(p); t := o.(type) {
	case *catalog.Table:
		for _, c := range t.Columns {
			names = append(names, c.Name)
		}
	case *catalog.View:
		for _, f := range t.Fields {
			names = append(names, f.Name)
		}
	}
	return names
}
