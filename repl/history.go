package repl

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// historyLimit is how many statements of former sessions are kept.
const historyLimit = 5000

// history are the statements of this and former sessions, oldest first, and the file that keeps them: a line for each,
// "<epoch ms>:<statement>" with line breaks as \n and backslashes doubled, as Flink's client writes it.
type history struct {
	path    string
	entries []string
}

var (
	escapeLine   = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", "")
	unescapeLine = strings.NewReplacer(`\\`, `\`, `\n`, "\n")
)

// openHistory reads the file, which is made if need be; only its owner can read it.
func openHistory(path string) (*history, error) {
	h := &history{path: path}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("history folder: %w", err)
	}
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("history: %w", err)
	}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\r\n")
		if stamp, rest, ok := strings.Cut(line, ":"); ok {
			if _, err := strconv.ParseInt(stamp, 10, 64); err == nil {
				line = unescapeLine.Replace(rest)
			}
		}
		if line != "" {
			h.entries = append(h.entries, line)
		}
	}
	if len(h.entries) > historyLimit+historyLimit/10 {
		h.entries = h.entries[len(h.entries)-historyLimit:]
		lines := strings.SplitAfter(strings.TrimRight(string(b), "\n"), "\n")
		b = []byte(strings.Join(lines[max(0, len(lines)-historyLimit):], "") + "\n")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			return nil, fmt.Errorf("history: %w", err)
		}
	}
	return h, nil
}

// add keeps a statement, unless it repeats the one before.
func (h *history) add(statement string) error {
	if n := len(h.entries); statement == "" || n > 0 && h.entries[n-1] == statement {
		return nil
	}
	h.entries = append(h.entries, statement)
	f, err := os.OpenFile(h.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	_, err = fmt.Fprintf(f, "%d:%s\n", time.Now().UnixMilli(), escapeLine.Replace(statement))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// find gives the index of the next entry from at on, downwards or upwards, that match takes; -1 for none.
func (h *history) find(at, by int, match func(string) bool) int {
	for ; at >= 0 && at < len(h.entries); at += by {
		if match(h.entries[at]) {
			return at
		}
	}
	return -1
}
