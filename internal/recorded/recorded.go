// Package recorded reads the tables of testdata that a real Flink 1.20.5 produced.
package recorded

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Null is the cell of a NULL.
const Null = `\N`

var escapes = regexp.MustCompile(`\\(t|n|r|\\|u[0-9a-f]{4})`)

// Unescape undoes the escapes of a cell; Null stays as it is.
func Unescape(s string) string {
	return escapes.ReplaceAllStringFunc(s, func(e string) string {
		switch e[1] {
		case 't':
			return "\t"
		case 'n':
			return "\n"
		case 'r':
			return "\r"
		case 'u':
			n, _ := strconv.ParseUint(e[2:], 16, 32)
			return string(rune(n))
		}
		return `\`
	})
}

// Table reads a file of tab-separated lines under a line of names: for each line its cells by name.
func Table(t testing.TB, file string) []map[string]string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	names := strings.Split(lines[0], "\t")
	var rows []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, cell := range strings.Split(line, "\t") {
			row[names[i]] = Unescape(cell)
		}
		rows = append(rows, row)
	}
	return rows
}
