// Package filesystem reads folders of files line by line and writes part files that appear when a checkpoint has
// completed.
package filesystem

import (
	"fmt"
	"net/url"
	"strings"

	"runnel/connectors"
	"runnel/types"
)

var (
	path        = connectors.Option{Key: "path", Required: true, Doc: "A folder, or for reading a file."}
	format      = connectors.Option{Key: "format", Required: true, Doc: "Format of the lines."}
	monitor     = connectors.Option{Key: "source.monitor-interval", Kind: connectors.DurationOption, Doc: "Look for new files this often; the source is unbounded then."}
	pattern     = connectors.Option{Key: "source.path.regex-pattern", Doc: "Only files whose whole path matches are read."}
	statistics  = connectors.Option{Key: "source.report-statistics", Kind: connectors.EnumOption, Values: []string{"ALL", "NONE"}, Default: "ALL", Doc: "Taken for compatibility; has no effect."}
	defaultName = connectors.Option{Key: "partition.default-name", Default: "__DEFAULT_PARTITION__", Doc: "Folder name of a NULL partition value."}
	fileSize    = connectors.Option{Key: "sink.rolling-policy.file-size", Kind: connectors.MemoryOption, Default: "128mb", Doc: "A part file of this size is closed before the checkpoint."}
	rollover    = connectors.Option{Key: "sink.rolling-policy.rollover-interval", Kind: connectors.DurationOption, Doc: "Taken for compatibility: each checkpoint closes its part files, so none stays open for longer."}
	rollCheck   = connectors.Option{Key: "sink.rolling-policy.check-interval", Kind: connectors.DurationOption, Doc: "Taken for compatibility, as rollover-interval."}
	inactivity  = connectors.Option{Key: "sink.rolling-policy.inactivity-interval", Kind: connectors.DurationOption, Doc: "Taken for compatibility, as rollover-interval."}
	parallelism = connectors.Option{Key: "sink.parallelism", Kind: connectors.IntOption, Doc: "Parallelism of the sink."}
)

// metadata columns of the source.
var metadata = []connectors.Metadata{
	{Key: "file.path", Type: types.String().Required(), Readable: true},
	{Key: "file.name", Type: types.String().Required(), Readable: true},
	{Key: "file.size", Type: types.Of(types.BigInt).Required(), Readable: true},
	{Key: "file.modification-time", Type: types.TimestampLTZOf(3).Required(), Readable: true},
}

// Connector gives the connector's table row. formats finds a format by name.
func Connector(formats func(string) (connectors.Format, bool)) connectors.Connector {
	f := files{formats}
	return connectors.Connector{
		Name:        "filesystem",
		SourceClass: "org.apache.flink.connector.file.table.FileSystemTableSource",
		SinkClass:   "org.apache.flink.connector.file.table.FileSystemTableSink",
		Doc:         "Files of lines in a folder, read once or watched; written as part files that appear with checkpoints.",
		Options:     []connectors.Option{path, format, monitor, pattern, statistics, defaultName, fileSize, rollover, rollCheck, inactivity, commitTrigger, commitDelay, commitPolicy, successName, parallelism},
		Formats:     []string{format.Key},
		Metadata:    func(*connectors.Table) []connectors.Metadata { return metadata },
		Limits:      func(t *connectors.Table) bool { return len(t.Partition) == 0 },
		Constant:    constantColumns,
		Source:      f.source,
		Lookup:      f.lookup,
		Sink:        f.sink,
	}
}

type files struct {
	formats func(string) (connectors.Format, bool)
}

// layout is what source and sink share of a table.
type layout struct {
	dir       string
	format    connectors.Format
	request   connectors.FormatRequest
	columns   []int // of the request's columns: those in the files' lines
	partition []int // of the request's columns: the partition columns, in their order
	null      string
}

func (f files) layout(t *connectors.Table, cols []int) (layout, error) {
	l := layout{null: t.Options.Get(defaultName)}
	var err error
	if l.dir, err = localPath(t.Options.Get(path)); err != nil {
		return l, err
	}
	name := t.Options.Get(format)
	var ok bool
	if l.format, ok = f.formats(name); !ok {
		return l, fmt.Errorf("Could not find any format factory for identifier '%s' in the classpath.", name)
	}
	at := map[string]int{}
	l.request = connectors.FormatRequest{Options: t.Options.Sub(name), Table: t.Name, Prefix: name + "."}
	isPartition := map[string]bool{}
	for _, p := range t.Partition {
		isPartition[p] = true
	}
	for i, c := range cols {
		col := t.Columns[c]
		at[col.Name] = i
		if col.Metadata == "" && !isPartition[col.Name] {
			l.columns = append(l.columns, i)
			l.request.Fields = append(l.request.Fields, types.Field{Name: col.Name, Type: col.Type})
		}
	}
	for _, p := range t.Partition {
		if i, ok := at[p]; ok {
			l.partition = append(l.partition, i)
		}
	}
	return l, nil
}

func localPath(p string) (string, error) {
	if p == "" {
		return "", fmt.Errorf("option 'path' is empty")
	}
	if !strings.Contains(p, ":/") {
		return p, nil
	}
	u, err := url.Parse(p)
	if err != nil {
		return "", fmt.Errorf("option 'path': %w", err)
	}
	if u.Scheme != "file" || (u.Host != "" && u.Host != "localhost") {
		return "", fmt.Errorf("option 'path': scheme '%s' is not supported; use a local path or file:///..", u.Scheme)
	}
	return u.Path, nil
}
