package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestClientTranscripts runs the recorded scripts of Flink's client with --echo and compares what is printed, after the
// normalisation of the recordings. Deliberate differences are listed in transcripts.differences.txt with their reason, what
// does not exist yet in transcripts.pending.txt.
func TestClientTranscripts(t *testing.T) {
	differences, pending := listFile(t, "transcripts.differences.txt"), listFile(t, "transcripts.pending.txt")
	dirs, err := filepath.Glob(filepath.Join(oracleDir, "client", "[0-9]*"))
	if err != nil || len(dirs) == 0 {
		t.Fatal("no transcripts", err)
	}
	bin := buildProgram(t)
	agree := 0
	for _, dir := range dirs {
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			why := transcript(t, bin, dir)
			reason, listed := differences[name]
			if what, waiting := pending[name]; waiting {
				if why == "" {
					t.Errorf("agrees: take it off transcripts.pending.txt")
				}
				t.Skipf("pending: %s\n%s", what, why)
			}
			switch {
			case why == "" && listed:
				t.Errorf("agrees: take it off transcripts.differences.txt")
			case why != "" && listed:
				t.Logf("different on purpose: %s", reason)
			case why != "":
				t.Error(why)
			default:
				agree++
			}
		})
	}
	fmt.Printf("client transcripts: %d of %d agree, %d are listed as different, %d pending\n", agree, len(dirs), len(differences), len(pending))
}

// transcript says at which line the output differs.
func transcript(t *testing.T, bin, dir string) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(dir, "script.sql"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(dir, "normal.txt"))
	if err != nil {
		t.Fatal(err)
	}
	// The recordings use a folder whose name has nine characters, since it shows in tables.
	const folder = "/tmp/dir0"
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if in, err := os.ReadFile(filepath.Join(dir, "in.csv")); err == nil {
		if err := os.WriteFile(filepath.Join(folder, "in.csv"), in, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"--ephemeral", "--echo", "-D", "table.local-time-zone=UTC", "-f", filepath.Join(dir, "script.sql")}
	if init, err := os.ReadFile(filepath.Join(dir, "init.sql")); err == nil {
		name := filepath.Join(folder, "init.sql")
		if err := os.WriteFile(name, init, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append([]string{"-i", name}, args...)
	}
	cmd := exec.Command(bin, args...)
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	got := normalise(string(script), out.String())
	wantLines, gotLines := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	if anyOrder[filepath.Base(dir)] {
		sortRows(wantLines)
		sortRows(gotLines)
	}
	return firstDifference(wantLines, gotLines)
}

// anyOrder are the recordings of batch queries without ORDER BY, whose rows may come in any order.
var anyOrder = map[string]bool{"059-cjk-widths": true}

// sortRows sorts lines of tables that follow each other.
func sortRows(lines []string) {
	for i := 0; i < len(lines); i++ {
		end := i
		for end < len(lines) && strings.HasPrefix(lines[end], "| ") {
			end++
		}
		slices.Sort(lines[i:end])
		i = max(i, end)
	}
}

func firstDifference(want, got []string) string {
	for i := range max(len(want), len(got)) {
		var w, g string
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		if w != g {
			return fmt.Sprintf("line %d\n got: %.300s\nwant: %.300s", i+1, g, w)
		}
	}
	return ""
}

var normalForms = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`(?m)^Job ID: [0-9a-f]{32}$`), "Job ID: <job-id>"},
	{regexp.MustCompile(`\(\d+\.\d\d seconds\)`), "(<t> seconds)"},
	{regexp.MustCompile(`(?m)^Command history file path: .*$`), "Command history file path: <history>"},
	{regexp.MustCompile(`(?m)^\tat .*\n`), ""},
	{regexp.MustCompile(`(?m)^\t\.\.\. \d+ more\n`), ""},
	{regexp.MustCompile(`\nWas expecting(?: one of)?:\n(?:    .*\n?)+`), "\n"},
	{regexp.MustCompile(`"id" : \d+`), `"id" : <n>`},
	{regexp.MustCompile(`("contents" : ")\[\d+\]:`), `${1}[<n>]:`},
	{regexp.MustCompile(`(?m)("type" : ".*)\[\d+\]`), `${1}[<n>]`},
	{regexp.MustCompile(`(sql-gateway-)[0-9a-f-]{36}`), `${1}<session>`},
	{regexp.MustCompile(`-{120,}`), "<line>"},
	{regexp.MustCompile(` {120,}`), "<pad>"},
}

// normalise brings output into the form of the recordings: no colours, no echo of statements, no ids and times. Lines of
// an error that begin with two blanks are ours.
func normalise(script, out string) string {
	out = regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(out, "")
	out = strings.ReplaceAll(out, "\r", "")
	parts := regexp.MustCompile(`(?m)^Flink SQL> `).Split(out, -1)
	rest := clientStatements(strings.ReplaceAll(script, "\r", ""))
	for i := 1; i < len(parts); i++ {
		stmt := ""
		if len(rest) > 0 {
			stmt, rest = rest[0], rest[1:]
		}
		parts[i] = withoutEcho(parts[i], strings.ReplaceAll(stmt, "\n", "\n> "))
	}
	out = withoutDetail(strings.Join(parts, "Flink SQL> "))
	for _, f := range normalForms {
		out = f.from.ReplaceAllString(out, f.to)
	}
	return out
}

var closing = regexp.MustCompile(`[)\]}]`)

func withoutEcho(p, echo string) string {
	n := 0
	for n < len(p) && n < len(echo) && p[n] == echo[n] {
		n++
	}
	if n < len(echo) {
		last := 0
		for _, m := range closing.FindAllStringIndex(echo[:n], -1) {
			last = m[1]
		}
		n = last
	}
	return p[n:]
}

// withoutDetail takes out the explanation that we print below the lines of an error.
func withoutDetail(out string) string {
	var kept []string
	in := false
	for _, line := range strings.Split(out, "\n") {
		switch {
		case strings.Contains(line, "[ERROR]"):
			in = true
		case strings.HasPrefix(line, "Flink SQL> "):
			in = false
		case in && strings.HasPrefix(line, "  "):
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

// clientStatements cuts a script as Flink's client does: at a line end where the text so far ends in ';' outside quotes
// and comments.
func clientStatements(script string) []string {
	script = strings.TrimSpace(script)
	if !strings.HasSuffix(script, ";") {
		script += ";"
	}
	var out []string
	buf, open := "", false
	for _, line := range strings.Split(script, "\n") {
		if open {
			buf += "\n" + line
		} else {
			buf, open = line, true
		}
		if statementDone(buf) {
			out, open = append(out, buf), false
		}
	}
	if open {
		out = append(out, buf)
	}
	return out
}

var (
	setBegin = regexp.MustCompile(`(?i)\bSTATEMENT\s+SET\s+BEGIN\b`)
	setEnd   = regexp.MustCompile(`(?i)\bEND\s*;\s*$`)
)

func statementDone(buf string) bool {
	state := ""
	for i := 0; i < len(buf); i++ {
		two := buf[i:min(i+2, len(buf))]
		switch {
		case state == "" && (buf[i] == '\'' || buf[i] == '`'):
			state = buf[i : i+1]
		case state == "" && two == "--":
			state = "--"
		case state == "" && two == "/*":
			state = "/*"
			i++
		case (state == "'" || state == "`") && buf[i:i+1] == state:
			state = ""
		case state == "--" && buf[i] == '\n':
			state = ""
		case state == "/*" && two == "*/":
			state = ""
			i++
		}
	}
	if state != "" || !strings.HasSuffix(strings.TrimSpace(buf), ";") {
		return false
	}
	if setBegin.MatchString(buf) {
		return setEnd.MatchString(buf)
	}
	return true
}
