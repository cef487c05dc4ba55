package session

import (
	"regexp"
	"strings"

	"runnel/catalog"
	"runnel/connectors"
	"runnel/sql"
)

var (
	// optionValue matches a value that has begun, and its key.
	optionValue = regexp.MustCompile(`'([^']*)'\s*=\s*'[^']*$`)
	// namedOption finds the options of a WITH clause that have values.
	namedOption = regexp.MustCompile(`'([^']*)'\s*=\s*'([^']*)'`)
	withClause  = regexp.MustCompile(`(?i)\bWITH\s*\(|/\*\+\s*OPTIONS\s*\(`)
)

// completeQuoted completes keys and values of options in SET, RESET, WITH and hints; typed is what stands behind the open
// quote.
func (s *Session) completeQuoted(text, typed string) (int, []Word) {
	set, end := false, "' = '"
	var options []connectors.Option
	switch first, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(text)), " "); first {
	case "RESET":
		end = "'"
		fallthrough
	case "SET":
		set = true
		options = configOptions()
	default:
		options = s.tableOptions(text)
	}
	var words []string
	if m := optionValue.FindStringSubmatch(text); m != nil {
		words, end = s.optionValues(m[1], options), "'"
	} else {
		there := map[string]bool{}
		if !set {
			for _, m := range namedOption.FindAllStringSubmatch(text, -1) {
				there[m[1]] = true
			}
		}
		for _, o := range options {
			if !there[o.Key] {
				words = append(words, o.Key)
			}
		}
	}
	return len(typed), candidates(words, typed, true, end)
}

func configOptions() []connectors.Option {
	var options []connectors.Option
	for i := range catalog.ConfigKeys {
		options = append(options, catalog.ConfigKeys[i].Option)
	}
	return options
}

// tableOptions are the options that may stand in the WITH clause or hint at the end of text.
func (s *Session) tableOptions(text string) []connectors.Option {
	begins := withClause.FindAllStringIndex(text, -1)
	if begins == nil {
		return nil
	}
	begin := begins[len(begins)-1][0]
	given := map[string]string{}
	for _, m := range namedOption.FindAllStringSubmatch(text[begin:], -1) {
		given[m[1]] = m[2]
	}
	out := []connectors.Option{{Key: "connector"}}
	for i := range s.opts.Connectors {
		c := &s.opts.Connectors[i]
		if c.Name != given["connector"] {
			continue
		}
		for _, o := range c.Options {
			out = append(out, perColumn(o, text[:begin])...)
		}
		for _, key := range c.Formats {
			out = append(out, connectors.Option{Key: key})
			out = append(out, s.formatOptions(given[key], strings.TrimSuffix(key, "format"))...)
		}
	}
	return out
}

// formatOptions are those of a format, below the prefix "", "key." or "value.".
func (s *Session) formatOptions(name, prefix string) []connectors.Option {
	var out []connectors.Option
	for i := range s.opts.Formats {
		if f := &s.opts.Formats[i]; f.Name == name {
			for _, o := range f.Options {
				o.Key = prefix + name + "." + o.Key
				out = append(out, o)
			}
		}
	}
	return out
}

// perColumn gives an option for each column of the CREATE TABLE in front of the WITH clause, if it is one per column.
func perColumn(o connectors.Option, head string) []connectors.Option {
	if !o.Fields {
		return []connectors.Option{o}
	}
	stmt, err := sql.Parse(head + " WITH ('connector' = 'x')")
	if err != nil {
		return nil
	}
	var out []connectors.Option
	if t, ok := stmt.(*sql.CreateTable); ok {
		for _, e := range t.Elements {
			if c, ok := e.(*sql.ColumnDef); ok {
				named := o
				named.Key = strings.Replace(o.Key, "#", c.Name.Last(), 1)
				out = append(out, named)
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
