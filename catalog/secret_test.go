package catalog

import "testing"

func TestMaskSecrets(t *testing.T) {
	for in, want := range map[string]string{
		"WITH ('connector' = 'jdbc', 'password' = 'it''s', 'properties.sasl.jaas.config'='x\ny', 'username' = 'u')": "WITH ('connector' = 'jdbc', 'password' = '******', 'properties.sasl.jaas.config'='******', 'username' = 'u')",
		"SET 'my.token' = 'a'":                       "SET 'my.token' = '******'",
		"set my.password = hush":                     "set my.password = '******'",
		"SET my.password='hush me'":                  "SET my.password='******'",
		"SET 'a' = 'b'":                              "SET 'a' = 'b'",
		"SELECT a = 'password', 'password', b = 'x'": "SELECT a = 'password', 'password', b = 'x'",
		"'url' = 'jdbc:mysql://me:pw@h/d'":           "'url' = 'jdbc:mysql://me:******@h/d'",
		"/*+ OPTIONS('x.secret'='1') */":             "/*+ OPTIONS('x.secret'='******') */",
	} {
		if got := MaskSecrets(in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}
