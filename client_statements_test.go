package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"runnel/catalog"
	"runnel/connectors"
	"runnel/connectors/kafka"
	"runnel/exec"
	"runnel/session"
	"runnel/types"
)

// recordedStatement is one statement of a session with Flink and what that answered.
type recordedStatement struct {
	SQL     string   `json:"sql"`
	Error   string   `json:"error"`
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
}

// TestClientStatements runs the recorded statements, a file in one session. What has to agree: whether a statement fails, class
// and first line of the error, names of columns, and rows. EXPLAIN has to plan; plans are compared in package plan.
// Deliberate differences are listed in statements.differences.txt by file:line, with the group that docs/differences.md explains.
func TestClientStatements(t *testing.T) {
	differences := listFile(t, "statements.differences.txt")
	files, err := filepath.Glob(filepath.Join(oracleDir, "client", "statements", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal("no statements", err)
	}
	total, agree := 0, 0
	for _, file := range files {
		s := recordingSession(t)
		for i, r := range readStatements(t, file) {
			place := fmt.Sprintf("%s:%d", strings.TrimSuffix(filepath.Base(file), ".jsonl"), i+1)
			why := answersAlike(s, r)
			group, listed := differences[place]
			total++
			switch {
			case why == "" && listed:
				t.Errorf("%s agrees: take it off statements.differences.txt (%s)", place, group)
			case why == "":
				agree++
			case !listed:
				t.Errorf("%s %s\n%s", place, r.SQL, why)
			}
		}
	}
	fmt.Printf("client statements: %d of %d agree, %d are listed as different\n", agree, total, len(differences))
}

func readStatements(t *testing.T, file string) []recordedStatement {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []recordedStatement
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var r recordedStatement
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// recordingSession is a session as the program makes it, and a JDBC connector that can only be planned: the recordings
// look up in such tables and contact nothing.
func recordingSession(t *testing.T) *session.Session {
	t.Helper()
	k := kafka.New(kafka.Config{Formats: formatTable, Dir: t.TempDir()})
	cluster := exec.New(exec.Options{Slots: 8, Check: true, Dir: t.TempDir(), Stdout: io.Discard, Stderr: io.Discard})
	t.Cleanup(func() {
		if err := errors.Join(cluster.Close(context.Background()), k.Close()); err != nil {
			t.Error(err)
		}
	})
	config := catalog.NewConfig()
	if _, err := config.Set("table.local-time-zone", "UTC"); err != nil {
		t.Fatal(err)
	}
	return session.New(session.Options{
		Catalog: catalog.New(), Config: config, Connectors: append(connectorTable(k), plannedJDBC), Formats: formatTable,
		Cluster: func() (*exec.Cluster, error) { return cluster, nil },
	})
}

var plannedJDBC = connectors.Connector{
	Name: "jdbc", Options: []connectors.Option{{Key: "url", Required: true}, {Key: "table-name", Required: true}},
	Source: func(connectors.ScanRequest) (*connectors.Source, error) {
		return &connectors.Source{Mode: types.InsertOnly, Bounded: true}, nil
	},
	Sink: func(r connectors.SinkRequest) (*connectors.Sink, error) {
		return &connectors.Sink{Mode: r.Query &^ types.ModeOf(types.UpdateBefore)}, nil
	},
	Lookup: func(connectors.LookupRequest) (connectors.Lookup, error) { return nil, errors.New("not in a test") },
}

// answersAlike says how our answer differs from the recorded one, "" if it does not.
func answersAlike(s *session.Session, r recordedStatement) string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	res, err := s.Execute(ctx, strings.TrimSuffix(r.SQL, ";")+";") // as it was recorded
	if err != nil || res.Rows == nil {
		return sameAnswer(r, res, nil, err)
	}
	defer res.Rows.Close()
	rows, err := readRows(ctx, res)
	return sameAnswer(r, res, rows, err)
}

func sameAnswer(r recordedStatement, res *session.Result, rows [][]string, err error) string {
	firstLine := func(s string) string {
		line, _, _ := strings.Cut(s, "\n")
		return strings.TrimSpace(line)
	}
	switch {
	case r.Error != "" && err == nil:
		return " got: success\nwant: " + r.Error
	case r.Error != "":
		if got, want := firstLine(err.Error()), firstLine(r.Error); got != want {
			return fmt.Sprintf(" got: %s\nwant: %s", got, want)
		}
		return ""
	case err != nil:
		return fmt.Sprintf(" got: %s\nwant: success", err)
	case strings.HasPrefix(r.SQL, "EXPLAIN"):
		return ""
	}
	var got, want []string
	for _, row := range rows {
		got = append(got, strings.Join(row, "|"))
	}
	for _, row := range r.Rows {
		var cells []string
		for _, v := range row {
			cells = append(cells, recordedCell(v))
		}
		want = append(want, strings.Join(cells, "|"))
	}
	if res.Kind == session.Table || res.Kind == session.Query {
		var names []string
		for _, f := range res.Fields {
			names = append(names, f.Name)
		}
		if len(r.Columns) > 0 {
			got, want = append([]string{strings.Join(names, "|")}, got...), append([]string{strings.Join(r.Columns, "|")}, want...)
		}
	} else {
		got = []string{"OK"}
		if len(r.Columns) == 1 && r.Columns[0] == "job id" {
			want = []string{"OK"}
		}
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		return firstDifference(want, got)
	}
	return ""
}

func readRows(ctx context.Context, res *session.Result) ([][]string, error) {
	var rows [][]string
	for {
		b, err := res.Rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		for k := range b.Rows() {
			var row []string
			for j := range res.Fields {
				i := b.Row(k)
				row = append(row, gatewayCell(b.Cols[j], i, res.Fields[j].Type))
			}
			rows = append(rows, row)
		}
	}
}

// gatewayCell gives a value the form that the recordings have of Flink's gateway.
func gatewayCell(c *types.Column, i int32, t types.Type) string {
	if c.Null(i) {
		return "null"
	}
	text := string(types.AppendShown(nil, c, i, time.UTC))
	switch {
	case t.Kind == types.Timestamp || t.Kind == types.TimestampLTZ:
		return strings.Replace(text, " ", "T", 1)
	case t.IsBinary():
		return base64.StdEncoding.EncodeToString([]byte(c.At(i).S))
	}
	return text
}

// recordedCell gives a recorded value the form of a shown one.
func recordedCell(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strings.ToUpper(fmt.Sprint(v))
	case string:
		return v
	case []any:
		var elems []string
		for _, e := range v {
			elems = append(elems, recordedCell(e))
		}
		return "[" + strings.Join(elems, ", ") + "]"
	}
	return fmt.Sprint(v)
}
