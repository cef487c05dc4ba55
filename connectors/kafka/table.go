package kafka

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// spec is what the options of a table say, common to its source and its sink. Column numbers are indexes into the
// table's Columns.
type spec struct {
	table   *connectors.Table
	topics  []string
	pattern *regexp.Regexp // matches a whole topic name; nil with topics
	props   properties
	upsert  bool // the table is one of upsert-kafka

	value, key side
}

// side is the format of the record value or key with its columns.
type side struct {
	format  *connectors.Format // nil for a key that has none
	prefix  string             // what stands before the format's option keys: "json.", "value.json."
	columns []int
	names   []string // the columns' names as the format sees them
}

// parseTable reads what source and sink have in common. what is "scan" or "sink", factory the class that Flink's error
// for an unknown format names.
func (k *Kafka) parseTable(t *connectors.Table, what, factory string) (*spec, error) {
	s := &spec{table: t}
	if err := s.keyFormat(k.cfg.Formats, factory); err != nil {
		return nil, err
	}
	if err := s.valueFormat(k.cfg.Formats, what, factory); err != nil {
		return nil, err
	}
	if t.Options.Get(optServers) == "" {
		return nil, fmt.Errorf("One or more required options are missing.\n\nMissing required options are:\n\n%s", optServers.Key)
	}
	if err := s.topic(); err != nil {
		return nil, err
	}
	s.props = t.Options.WithPrefix(propertyPrefix)
	if err := s.props.check(); err != nil {
		return nil, err
	}
	return s, nil
}

// checks that come after the ones of source or sink alone, in Flink's order.
func (s *spec) finish() error {
	if len(s.table.PrimaryKey) > 0 && s.value.format.Mode == types.InsertOnly {
		return fmt.Errorf("The Kafka table '%s' with '%s' format doesn't support defining PRIMARY KEY constraint on the table, because it can't guarantee the semantic of primary key.",
			s.table.Name, s.value.format.Name)
	}
	return s.sides(s.table.Options.List(optKeyFields))
}

func (s *spec) topic() error {
	o := s.table.Options
	s.topics = o.List(optTopic)
	pattern, hasPattern := o.Lookup(optPattern)
	switch {
	case len(s.topics) > 0 && hasPattern:
		return fmt.Errorf("Option 'topic' and 'topic-pattern' shouldn't be set together.")
	case len(s.topics) == 0 && !hasPattern:
		return fmt.Errorf("Either 'topic' or 'topic-pattern' must be set.")
	case hasPattern:
		re, err := regexp.Compile(`^(?:` + pattern + `)$`)
		if err != nil {
			return fmt.Errorf("Could not parse value '%s' for key '%s'.: %w", pattern, optPattern.Key, err)
		}
		s.pattern = re
	}
	return nil
}

func (s *spec) keyFormat(formats []connectors.Format, factory string) error {
	name, ok := s.table.Options.Lookup(optKeyFormat)
	if !ok {
		return nil
	}
	f, err := findFormat(formats, name, factory)
	if err != nil {
		return err
	}
	s.key.format, s.key.prefix = f, "key."+name+"."
	return nil
}

func (s *spec) valueFormat(formats []connectors.Format, what, factory string) error {
	name, ok := s.table.Options.Lookup(optFormat)
	prefix := name + "."
	if !ok {
		if name, ok = s.table.Options.Lookup(optValueFormat); !ok {
			return fmt.Errorf("Could not find required %s format '%s'.", what, optValueFormat.Key)
		}
		prefix = "value." + name + "."
	}
	f, err := findFormat(formats, name, factory)
	if err != nil {
		return err
	}
	s.value.format, s.value.prefix = f, prefix
	return nil
}

func findFormat(formats []connectors.Format, name, factory string) (*connectors.Format, error) {
	var names []string
	for i := range formats {
		if formats[i].Name == name {
			return &formats[i], nil
		}
		names = append(names, formats[i].Name)
	}
	slices.Sort(names)
	return nil, fmt.Errorf("Could not find any factory for identifier '%s' that implements 'org.apache.flink.table.factories.%s' in the classpath.\n\nAvailable factory identifiers are:\n\n%s",
		name, factory, strings.Join(names, "\n"))
}

// sides deals the physical columns to key and value. fields are the columns of the key.
func (s *spec) sides(fields []string) error {
	o := s.table.Options
	prefix := o.Get(optKeyPrefix)
	include, err := o.Enum(optValueInclude)
	if err != nil {
		return err
	}
	if s.key.format == nil && len(fields) > 0 {
		return fmt.Errorf("The option '%s' can only be declared if a key format is defined using '%s'.", optKeyFields.Key, optKeyFormat.Key)
	}
	if s.key.format != nil && len(fields) == 0 {
		return fmt.Errorf("A key format '%s' requires the declaration of one or more of key fields using '%s'.", optKeyFormat.Key, optKeyFields.Key)
	}
	if err := s.keyColumns(fields, prefix); err != nil {
		return err
	}
	if include == "ALL" && prefix != "" {
		return fmt.Errorf("A key prefix is not allowed when option '%s' is set to 'ALL'. Set it to 'EXCEPT_KEY' instead to avoid field overlaps.", optValueInclude.Key)
	}
	for i, c := range s.table.Columns {
		if c.Metadata != "" || include == "EXCEPT_KEY" && slices.Contains(s.key.columns, i) {
			continue
		}
		s.value.columns = append(s.value.columns, i)
		s.value.names = append(s.value.names, c.Name)
	}
	return nil
}

func (s *spec) keyColumns(fields []string, prefix string) error {
	var selectable []string
	for _, c := range s.table.Columns {
		if c.Metadata == "" {
			selectable = append(selectable, c.Name)
		}
	}
	for _, name := range fields {
		i := slices.IndexFunc(s.table.Columns, func(c connectors.Column) bool { return c.Metadata == "" && c.Name == name })
		if i < 0 {
			return fmt.Errorf("Could not find the field '%s' in the table schema for usage in the key format. A key field must be a regular, physical column. The following columns can be selected in the '%s' option:\n[%s]",
				name, optKeyFields.Key, strings.Join(selectable, ", "))
		}
		if !strings.HasPrefix(name, prefix) {
			return fmt.Errorf("All fields in '%s' must be prefixed with '%s' when option '%s' is set but field '%s' is not prefixed.",
				optKeyFields.Key, prefix, optKeyPrefix.Key, name)
		}
		s.key.columns = append(s.key.columns, i)
		s.key.names = append(s.key.names, strings.TrimPrefix(name, prefix))
	}
	return nil
}

// request asks the side's format for a decoder or encoder of those of its columns that keep says.
func (s *spec) request(d side, keep func(column int) bool, metadata []string, zone *time.Location) connectors.FormatRequest {
	r := connectors.FormatRequest{
		Options: s.table.Options.Sub(strings.TrimSuffix(d.prefix, ".")), Zone: zone, Table: s.table.Name, Prefix: d.prefix, Metadata: metadata,
	}
	for i, c := range d.columns {
		if keep(c) {
			r.Fields = append(r.Fields, types.Field{Name: d.names[i], Type: s.table.Columns[c].Type})
		}
	}
	return r
}

// startMode is where a partition is read from or where reading of it ends.
type startMode uint8

const (
	fromEarliest startMode = iota
	fromLatest
	fromGroup
	fromTime
	fromOffsets
	unbounded
)

var startModes = map[string]startMode{
	"earliest-offset": fromEarliest, "latest-offset": fromLatest, "group-offsets": fromGroup, "timestamp": fromTime,
	"specific-offsets": fromOffsets, "unbounded": unbounded,
}

// bound is a place in every partition.
type bound struct {
	mode    startMode
	millis  int64           // fromTime
	offsets map[int32]int64 // fromOffsets, by partition
}

// readBound reads scan.startup.* or scan.bounded.*; what is "startup" or "bounded".
func (s *spec) readBound(what string, mode, offsets, millis connectors.Option) (bound, error) {
	o := s.table.Options
	name, err := o.Enum(mode)
	if err != nil {
		return bound{}, err
	}
	b := bound{mode: startModes[name]}
	missing := func(opt connectors.Option) error {
		return fmt.Errorf("'%s' is required in '%s' %s mode but missing.", opt.Key, name, what)
	}
	switch b.mode {
	case fromTime:
		if _, ok := o.Lookup(millis); !ok {
			return b, missing(millis)
		}
		b.millis, err = o.Int(millis)
	case fromOffsets:
		text, ok := o.Lookup(offsets)
		if !ok {
			return b, missing(offsets)
		}
		if len(s.topics) != 1 {
			return b, fmt.Errorf("Currently Kafka source only supports specific offset for single topic.")
		}
		b.offsets, err = parseOffsets(offsets.Key, text)
	case fromGroup:
		if what == "bounded" && s.props.group() == "" {
			return b, missing(optGroup)
		}
	}
	return b, err
}

// parseOffsets reads partition:0,offset:42;partition:1,offset:300.
func parseOffsets(key, text string) (map[int32]int64, error) {
	bad := fmt.Errorf("Invalid properties '%s' should follow the format 'partition:0,offset:42;partition:1,offset:300', but is '%s'.", key, text)
	m := map[int32]int64{}
	for _, pair := range strings.Split(strings.TrimSuffix(text, ";"), ";") {
		p, o, ok := strings.Cut(pair, ",")
		if !ok {
			return nil, bad
		}
		ps, ok1 := strings.CutPrefix(strings.TrimSpace(p), "partition:")
		os, ok2 := strings.CutPrefix(strings.TrimSpace(o), "offset:")
		if !ok1 || !ok2 {
			return nil, bad
		}
		pn, err1 := strconv.ParseInt(strings.TrimSpace(ps), 10, 32)
		on, err2 := strconv.ParseInt(strings.TrimSpace(os), 10, 64)
		if err1 != nil || err2 != nil || pn < 0 || on < 0 {
			return nil, bad
		}
		m[int32(pn)] = on
	}
	return m, nil
}
