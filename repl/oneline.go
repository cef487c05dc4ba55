package repl

import "strings"

// oneLine joins a statement into one line that parses the same: line comments become block comments, line breaks outside
// quotes blanks. Line breaks inside quotes cannot be kept; they become blanks as well.
func oneLine(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "--"):
			end := strings.IndexByte(s[i:], '\n')
			if end < 0 {
				end = len(s) - i
			}
			b.WriteString("/*" + strings.ReplaceAll(strings.TrimSpace(s[i+2:i+end]), "*/", "* /") + "*/ ")
			i += end
		case s[i] == '\'' || s[i] == '`':
			end := strings.IndexByte(s[i+1:], s[i])
			if end < 0 {
				end = len(s) - i - 2
			}
			b.WriteString(strings.ReplaceAll(s[i:i+end+2], "\n", " "))
			i += end + 2
		case s[i] == '\n' || s[i] == '\r':
			b.WriteByte(' ')
			i++
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return strings.TrimSpace(b.String())
}
