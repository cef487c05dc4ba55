package catalog

import "strings"

// secretWords are parts of the names of options whose values nobody shall see.
var secretWords = [...]string{"password", "passwd", "secret", "token", "credential", "jaas", "access-key", "api-key"}

// Masked gives the value of an option as it may be shown: ****** when its name says that it is a secret.
func (o Option) Masked() string {
	k := strings.ToLower(o.Key)
	for _, w := range secretWords {
		if strings.Contains(k, w) {
			return "******"
		}
	}
	return o.Value
}
