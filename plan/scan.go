package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"runnel/catalog"
	"runnel/connectors"
	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// The options that every table may have, whatever its connector.
var commonOptions = []connectors.Option{
	{Key: "connector"},
	{Key: "property-version"},
	{Key: "scan.watermark.emit.strategy", Kind: connectors.EnumOption, Default: "on-periodic", Values: []string{"on-event", "on-periodic"},
		Enum: "org.apache.flink.table.watermark.WatermarkEmitStrategy"},
	{Key: "scan.watermark.alignment.group"},
	{Key: "scan.watermark.alignment.max-drift", Kind: connectors.DurationOption},
	{Key: "scan.watermark.alignment.update-interval", Kind: connectors.DurationOption, Default: "1 s"},
	{Key: "scan.watermark.idle-timeout", Kind: connectors.DurationOption},
	{Key: "scan.watermark.emit.on-event.gap", Kind: connectors.IntOption, Default: "1"},
}

func commonOption(key string) connectors.Option {
	for _, o := range commonOptions {
		if o.Key == key {
			return o
		}
	}
	return connectors.Option{Key: key}
}

// use is a table in a statement: with its connector, its options after hints, and its columns as the connector sees them.
type use struct {
	table     *catalog.Table
	connector *connectors.Connector
	spec      *connectors.Table
	hinted    []catalog.Option
	at        sql.Node
}

// use resolves the connector of a table and checks its options. word is "source" or "sink", for messages.
func (p *planning) use(t *catalog.Table, hints []catalog.Option, at sql.Node, word string) (*use, error) {
	u := &use{table: t, hinted: hints, at: at}
	opts := connectors.Options{}
	for _, o := range append(append([]catalog.Option(nil), t.Options...), hints...) {
		v, err := p.substitute(o.Value)
		if err != nil {
			return nil, refuse(validation, at, "option '%s' of table '%s': %s", o.Key, t.Path, err)
		}
		opts[o.Key] = v
	}
	name := opts["connector"]
	if name == "" {
		return nil, refuse(validation, at, "Table options do not contain an option key 'connector' for discovering a connector.")
	}
	for i := range p.Connectors {
		if p.Connectors[i].Name == name {
			u.connector = &p.Connectors[i]
		}
	}
	if u.connector == nil {
		return nil, p.unknownConnector(name, at)
	}
	if word == "source" && u.connector.Source == nil && u.connector.Lookup == nil {
		return nil, refuse(validation, at, "Connector '%s' can only be used as a sink. It cannot be used as a source.", name)
	}
	if word == "sink" && u.connector.Sink == nil {
		return nil, refuse(validation, at, "Connector '%s' can only be used as a source. It cannot be used as a sink.", name)
	}
	u.spec = &connectors.Table{Name: t.Path.String(), Partition: t.Partition, Options: opts, Batch: p.batch}
	if t.PrimaryKey != nil {
		u.spec.PrimaryKey = t.PrimaryKey.Columns
	}
	for _, c := range t.Columns {
		if c.Kind == sql.ComputedColumn {
			continue
		}
		col := connectors.Column{Name: c.Name, Type: c.Type.Plain(), Virtual: c.Virtual}
		if c.Kind == sql.MetadataColumn {
			col.Metadata = c.Key
		}
		u.spec.Columns = append(u.spec.Columns, col)
	}
	if err := p.checkOptions(u); err != nil {
		return nil, err
	}
	return u, p.checkMetadata(u, word)
}

// substitute replaces ${ENV:NAME}.
func (p *planning) substitute(v string) (string, error) {
	var b strings.Builder
	for {
		i := strings.Index(v, "${ENV:")
		if i < 0 {
			b.WriteString(v)
			return b.String(), nil
		}
		n := strings.IndexByte(v[i:], '}')
		if n < 0 {
			return "", fmt.Errorf("'${ENV:' without a closing brace")
		}
		name := v[i+len("${ENV:") : i+n]
		val, ok := "", false
		if p.Env != nil {
			val, ok = p.Env(name)
		}
		if !ok {
			return "", fmt.Errorf("the environment variable %s is not set", name)
		}
		// What was put in is not looked at again.
		b.WriteString(v[:i] + val)
		v = v[i+n+1:]
	}
}

func (p *planning) unknownConnector(name string, at sql.Node) error {
	var names []string
	for _, c := range p.Connectors {
		names = append(names, c.Name)
	}
	sort.Strings(names)
	e := refuse(validation, at, "Could not find any factory for identifier '%s' that implements "+
		"'org.apache.flink.table.factories.DynamicTableFactory' in the classpath.\n\nAvailable factory identifiers are:\n\n%s",
		name, strings.Join(names, "\n"))
	e.Hint = catalog.DidYouMean(name, names)
	return e
}

// checkOptions refuses options that the connector and its formats do not know, and missing ones.
func (p *planning) checkOptions(u *use) error {
	known := append(append([]connectors.Option(nil), commonOptions...), u.connector.Options...)
	for _, key := range u.connector.Formats {
		v, ok := u.spec.Options[key]
		if !ok {
			continue
		}
		f := p.format(v)
		if f == nil {
			return p.unknownFormat(v, u)
		}
		prefix := strings.TrimSuffix(key, "format") // "", "key." or "value."
		for _, o := range f.Options {
			o.Key = prefix + v + "." + o.Key
			for i, old := range o.Old {
				o.Old = slices.Clone(o.Old)
				o.Old[i] = prefix + v + "." + old
			}
			known = append(known, o)
			if key == "value.format" { // 'json.x' is read where 'value.json.x' is meant
				o.Key = v + "." + strings.TrimPrefix(o.Key, prefix+v+".")
				o.Required = false
				known = append(known, o)
			}
		}
	}
	var wrong, missing []string
	for _, key := range u.spec.Options.Keys() {
		if !u.knows(known, key) {
			wrong = append(wrong, key)
		}
	}
	for _, o := range known {
		if _, ok := u.spec.Options.Lookup(o); o.Required && !ok {
			missing = append(missing, o.Key)
		}
	}
	if len(missing) > 0 {
		sort.Strings(missing)
		return refuse(validation, u.at, "One or more required options are missing.\n\nMissing required options are:\n\n%s", strings.Join(missing, "\n"))
	}
	if len(wrong) > 0 {
		return u.unsupportedOptions(known, wrong)
	}
	return p.checkValues(u, known)
}

// knows reports whether a key is among the known options: as it is, as an older spelling, with a column for '#', or below
// a prefix that is passed on.
func (u *use) knows(known []connectors.Option, key string) bool {
	for _, pre := range u.connector.Prefixes {
		if strings.HasPrefix(key, pre) {
			return true
		}
	}
	for _, o := range known {
		if o.Key == key || slices.Contains(o.Old, key) || o.Fields && u.matchesColumn(o.Key, key) {
			return true
		}
	}
	return false
}

// matchesColumn reports whether key is pattern with the name of a column, or of a field in it, in place of '#'.
func (u *use) matchesColumn(pattern, key string) bool {
	before, after, _ := strings.Cut(pattern, "#")
	if len(key) <= len(before)+len(after) || !strings.HasPrefix(key, before) || !strings.HasSuffix(key, after) {
		return false
	}
	name := key[len(before) : len(key)-len(after)]
	return slices.ContainsFunc(u.spec.Columns, func(c connectors.Column) bool {
		return name == c.Name || strings.HasPrefix(name, c.Name+".")
	})
}

func (u *use) unsupportedOptions(known []connectors.Option, wrong []string) error {
	var names []string
	for _, o := range known {
		if o.Key != "scan.watermark.emit.on-event.gap" {
			names = append(names, o.Key)
		}
	}
	sort.Strings(names)
	names = slices.Compact(names)
	e := refuse(validation, u.at, "Unsupported options found for '%s'.\n\nUnsupported options:\n\n%s\n\nSupported options:\n\n%s",
		u.connector.Name, strings.Join(wrong, "\n"), strings.Join(names, "\n"))
	var hints []string
	for _, w := range wrong {
		if best, ok := catalog.Nearest(w, names); ok {
			hints = append(hints, fmt.Sprintf("Did you mean '%s'?", best))
		}
	}
	e.Hint = strings.Join(hints, " ")
	return e
}

// checkValues parses every value once, so that a wrong one is refused before anything runs.
func (p *planning) checkValues(u *use, known []connectors.Option) error {
	for _, o := range known {
		if _, ok := u.spec.Options.Lookup(o); !ok {
			continue
		}
		var err error
		switch o.Kind {
		case connectors.IntOption, connectors.LongOption:
			_, err = u.spec.Options.Int(o)
		case connectors.BoolOption:
			_, err = u.spec.Options.Bool(o)
		case connectors.EnumOption:
			_, err = u.spec.Options.Enum(o)
		case connectors.DurationOption:
			_, err = u.spec.Options.Duration(o)
		case connectors.MemoryOption:
			_, err = u.spec.Options.Memory(o)
		}
		var refused *connectors.Refused
		switch {
		case errors.As(err, &refused):
			return refuse(refused.Class, u.at, "%s", refused.Msg).Cure("This is said of the value of option '%s'.", o.Key)
		case err != nil:
			return refuse(validation, u.at, "Invalid value for option '%s'.\n%s", o.Key, err)
		}
	}
	return nil
}

func (p *planning) format(name string) *connectors.Format {
	for i := range p.Formats {
		if p.Formats[i].Name == name {
			return &p.Formats[i]
		}
	}
	return nil
}

func (p *planning) unknownFormat(name string, u *use) error {
	var names []string
	for _, f := range p.Formats {
		names = append(names, f.Name)
	}
	sort.Strings(names)
	what := fmt.Sprintf("factory for identifier '%s' that implements 'org.apache.flink.table.factories.DeserializationFormatFactory'", name)
	if u.connector.Name == "filesystem" { // whose formats may also be those of whole files
		what = fmt.Sprintf("format factory for identifier '%s'", name)
	}
	e := refuse(validation, u.at, "Could not find any %s in the classpath.\n\nAvailable factory identifiers are:\n\n%s", what, strings.Join(names, "\n"))
	e.Hint = catalog.DidYouMean(name, names)
	return e
}

// checkMetadata refuses metadata columns that the connector does not have.
func (p *planning) checkMetadata(u *use, word string) error {
	var have []connectors.Metadata
	if u.connector.Metadata != nil {
		have = u.connector.Metadata(u.spec)
	}
	for _, c := range u.table.Columns {
		if c.Kind != sql.MetadataColumn || word == "sink" && c.Virtual {
			continue
		}
		found := false
		var keys []string
		for _, m := range have {
			usable := m.Readable && word == "source" || m.Writable && word == "sink"
			if usable {
				keys = append(keys, m.Key)
			}
			found = found || usable && m.Key == c.Key
		}
		if !found {
			side, verb, class := "Source", "reading", u.connector.SourceClass
			if word == "sink" {
				side, verb, class = "Sink", "writing", u.connector.SinkClass
			}
			e := refuse(validation, u.at, "Invalid metadata key '%s' in column '%s' of table '%s'. The DynamicTable%s class '%s' supports the following metadata keys for %s:\n%s",
				c.Key, c.Name, u.table.Path, side, cmp.Or(class, u.connector.Name), verb, strings.Join(keys, "\n"))
			e.Hint = catalog.DidYouMean(c.Key, keys)
			return e
		}
	}
	return nil
}

// scan binds a table as a source: the scan, a ChangelogNormalize where the source's changes need it, computed columns,
// and the watermark.
func (p *planning) scan(t *catalog.Table, hints []catalog.Option, at sql.Node) (Node, error) {
	u, err := p.use(t, hints, at, "source")
	if err != nil {
		return nil, err
	}
	s := &Scan{Table: u.spec}
	s.Kind = "TableSourceScan"
	s.Pos = pos(at)
	for i, c := range u.spec.Columns {
		s.Columns = append(s.Columns, i)
		s.Fields = append(s.Fields, types.Field{Name: c.Name, Type: c.Type})
	}
	s.hints = u.hinted
	s.source = u.connector
	if u.connector.Source == nil {
		return p.computed(s, s, u)
	}
	s.plan, s.nested = u.connector.Source, u.connector.Nested
	if s.Source, err = s.plan(connectors.ScanRequest{Table: u.spec, Columns: s.Columns}); err != nil {
		return nil, p.sourceError(err, u)
	}
	if err := p.checkSource(s, u); err != nil {
		return nil, err
	}
	return p.computed(s, p.normalised(s, u), u)
}

// sourceError gives what a connector refuses the table's name.
func (p *planning) sourceError(err error, u *use) error {
	e := connectorRefuses(err, u.at)
	e.Hint = "This is said of table '" + u.table.Path.String() + "'."
	return e
}

// checkSource refuses sources that cannot be read in this mode (semantics.md 5).
func (p *planning) checkSource(s *Scan, u *use) error {
	mode, name := s.Source.Mode, u.table.Path.String()
	if p.batch && !s.Source.Bounded {
		return refuse(validation, u.at, "Querying an unbounded table '%s' in batch mode is not allowed. The table source is unbounded.", name).
			Cure("SET 'execution.runtime-mode' = 'streaming'; or bound the source with its options.")
	}
	if p.batch && mode != types.InsertOnly {
		return refuse(tableError, u.at, "Querying a table in batch mode is currently only possible for INSERT-only table sources. "+
			"But the source for table '%s' produces other changelog messages than just INSERT.", name)
	}
	key := u.table.PrimaryKey != nil
	if mode.Has(types.UpdateBefore) && !mode.Has(types.UpdateAfter) {
		return refuse(validation, u.at, "Invalid source for table '%s'. A ScanTableSource doesn't support a changelog which contains "+
			"UPDATE_BEFORE but no UPDATE_AFTER.", name)
	}
	if mode.Has(types.UpdateAfter) && !mode.Has(types.UpdateBefore) && !key {
		return refuse(tableError, u.at, "Table '%s' produces a changelog stream that contains UPDATE_AFTER but no UPDATE_BEFORE. "+
			"This requires defining a primary key constraint on the table.", name).Cure("Add PRIMARY KEY (..) NOT ENFORCED.")
	}
	if mode != types.InsertOnly && !key && p.Config.Bool("table.exec.source.cdc-events-duplicate") {
		return refuse(tableError, u.at, "Configuration 'table.exec.source.cdc-events-duplicate' is enabled which requires the changelog "+
			"sources to define a PRIMARY KEY. However, table '%s' doesn't have a primary key.", name)
	}
	return nil
}

// normalised puts a ChangelogNormalize on a source whose updates lack the old row, or that may repeat events.
func (p *planning) normalised(s *Scan, u *use) Node {
	mode := s.Source.Mode
	upsert := mode.Has(types.UpdateAfter) && !mode.Has(types.UpdateBefore)
	if !upsert && (mode == types.InsertOnly || u.table.PrimaryKey == nil || !p.Config.Bool("table.exec.source.cdc-events-duplicate")) {
		return s
	}
	n := &ChangelogNormalize{}
	n.Kind, n.Inputs, n.Fields, n.Pos = "ChangelogNormalize", []Node{s}, s.Fields, s.Pos
	for _, k := range u.table.PrimaryKey.Columns {
		n.Keys = append(n.Keys, slices.IndexFunc(s.Fields, func(f types.Field) bool { return f.Name == k }))
	}
	return n
}

// computed puts the computed columns and the watermark on a source. in is the source with what stands on it.
func (p *planning) computed(s *Scan, in Node, u *use) (Node, error) {
	base := tableScope(fieldsIn(in))
	exprs, names := make([]expr.Expr, len(u.table.Columns)), make([]string, len(u.table.Columns))
	plain := true
	for i, c := range u.table.Columns {
		names[i] = c.Name
		var err error
		if c.Kind == sql.ComputedColumn {
			plain = false
			exprs[i], err = p.binder(base).expr(c.Expr)
		} else {
			exprs[i], err = base.resolve(sql.NewName(c.Name))
		}
		if err != nil {
			return nil, moved(err, u.at, "computed column '"+c.Name+"' of table '"+u.table.Path.String()+"'")
		}
	}
	out := in
	if !plain {
		out = newCalc(in, exprs, names, nil)
	}
	if u.table.Watermark == nil || p.batch {
		return out, nil
	}
	return p.watermark(s, out, exprs, u)
}

// moved puts an error of a definition at the place where the table is used.
func moved(err error, at sql.Node, what string) error {
	if e, ok := err.(*catalog.Error); ok {
		m := *e
		m.At = sql.Span{From: at.Pos(), To: at.End()}
		if said := "This is said of the "; !strings.Contains(m.Hint, said) { // of views in views, the innermost
			m.Hint = strings.TrimSpace(m.Hint + " " + said + what + ".")
		}
		return &m
	}
	return err
}

// watermark binds the WATERMARK clause: inside the source where the connector can do it, else in a WatermarkAssigner.
func (p *planning) watermark(s *Scan, out Node, exprs []expr.Expr, u *use) (Node, error) {
	col := u.table.Column(u.table.Watermark.Column)
	mark, err := p.binder(tableScope(fieldsIn(out))).expr(u.table.Watermark.Expr)
	if err != nil {
		return nil, moved(err, u.at, "watermark of table '"+u.table.Path.String()+"'")
	}
	w, err := p.strategy(u)
	if err != nil {
		return nil, err
	}
	rowtime := func(fields []types.Field, i int) []types.Field {
		fields = slices.Clone(fields)
		fields[i].Type.Attr = types.Rowtime
		return fields
	}
	pushed := expr.ReplaceColumns(mark, exprs)
	if !u.connector.WatermarkPushdown || !expr.Deterministic(pushed) {
		w.Column, w.Expr = col, mark
		a := &WatermarkAssigner{Mark: w}
		a.Kind, a.Inputs, a.Fields, a.Pos = "WatermarkAssigner", []Node{out}, rowtime(fieldsIn(out), col), s.Pos
		return a, nil
	}
	w.Expr, w.Column = pushed, -1
	if c, ok := exprs[col].(*expr.Col); ok {
		w.Column = c.Index
		s.Fields = rowtime(s.Fields, c.Index)
		if n, ok := out.(*ChangelogNormalize); ok {
			n.Fields = s.Fields
		} else if c, ok := out.(*Calc); ok && c.Inputs[0] != Node(s) {
			c.Inputs[0].Base().Fields = s.Fields
		}
	}
	s.Mark = w
	if c, ok := out.(*Calc); ok {
		c.Fields = rowtime(c.Fields, col)
	}
	return out, nil
}

// strategy reads the options of watermarks.
func (p *planning) strategy(u *use) (*Watermark, error) {
	o := u.spec.Options
	w := &Watermark{Interval: p.Config.Duration("pipeline.auto-watermark-interval"), Idle: p.Config.Duration("table.exec.source.idle-timeout")}
	if _, ok := o["scan.watermark.idle-timeout"]; ok {
		w.Idle, _ = o.Duration(commonOption("scan.watermark.idle-timeout"))
	}
	s, _ := o.Enum(commonOption("scan.watermark.emit.strategy"))
	w.OnEvent = s == "on-event"
	gap, _ := o.Int(commonOption("scan.watermark.emit.on-event.gap"))
	w.Gap = int(gap)
	if w.Gap < 1 {
		return nil, refuse(validation, u.at, "The option 'scan.watermark.emit.on-event.gap' must be at least 1.")
	}
	group, drift := o["scan.watermark.alignment.group"], o["scan.watermark.alignment.max-drift"]
	if (group == "") != (drift == "") {
		return nil, refuse(validation, u.at, "'scan.watermark.alignment.group' and 'scan.watermark.alignment.max-drift' must be configured together.")
	}
	if group != "" {
		w.Alignment = &Alignment{Group: group}
		w.Alignment.MaxDrift, _ = o.Duration(commonOption("scan.watermark.alignment.max-drift"))
		w.Alignment.Interval, _ = o.Duration(commonOption("scan.watermark.alignment.update-interval"))
	}
	return w, nil
}
