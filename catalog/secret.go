package catalog

import (
	"regexp"
	"strings"
)

// secretWords are parts of the names of options whose values nobody shall see.
var secretWords = [...]string{"password", "passwd", "secret", "token", "credential", "jaas", "access-key", "api-key"}

const masked = "******"

// Masked gives the value of an option as it may be shown: ****** when its name says that it is a secret.
func (o Option) Masked() string {
	k := strings.ToLower(o.Key)
	for _, w := range secretWords {
		if strings.Contains(k, w) {
			return masked
		}
	}
	return o.Value
}

var (
	quotedOption = regexp.MustCompile(`'((?:[^'\n]|'')*)'(\s*=\s*)'((?:[^']|'')*)'`)
	plainOption  = regexp.MustCompile(`(?i)^(\s*SET\s+)([^\s'=;]+)(\s*=\s*)('[^']*'|[^\s;]+)`)
	urlLogin     = regexp.MustCompile(`(\w://[^\s'/:@]+:)[^\s'/@]+@`)
)

// MaskSecrets replaces the secret values of options in the text of a statement, and passwords in URLs.
func MaskSecrets(statement string) string {
	s := quotedOption.ReplaceAllStringFunc(statement, func(kv string) string {
		m := quotedOption.FindStringSubmatch(kv)
		if (Option{m[1], m[3]}).Masked() == masked {
			return "'" + m[1] + "'" + m[2] + "'" + masked + "'"
		}
		return kv
	})
	if m := plainOption.FindStringSubmatch(s); m != nil && (Option{m[2], m[4]}).Masked() == masked {
		s = m[1] + m[2] + m[3] + "'" + masked + "'" + s[len(m[0]):]
	}
	return urlLogin.ReplaceAllString(s, "${1}"+masked+"@")
}
