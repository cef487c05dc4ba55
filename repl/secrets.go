package repl

import "regexp"

// secretOption finds values of options whose names say that they are secret, in WITH clauses, hints and SET.
var secretOption = regexp.MustCompile(`(?i)('[^'\n]*(?:password|secret|token|passwd|credential|jaas|sasl\.config|access-key|api-key)[^'\n]*'\s*=\s*)'(?:[^']|'')*'`)

// maskSecrets replaces secret values, for the history.
func maskSecrets(statement string) string {
	return secretOption.ReplaceAllString(statement, "$1'******'")
}
