package expr

import (
	"strings"

	"runnel/types"
)

// urlFunctions take addresses apart and encode them.
func urlFunctions() []Function {
	return []Function{
		{Name: "PARSE_URL", Doc: "PARSE_URL(url, part [, key]): HOST, PATH, QUERY, REF, PROTOCOL, AUTHORITY, FILE or USERINFO, or the value of a key in the query.",
			safe: true, bind: takes("CHARACTER, CHARACTER, [CHARACTER]").toMaybe(giveText),
			kernel: boxed(false, func(*Call) func([]types.Datum) (types.Datum, error) {
				return func(row []types.Datum) (types.Datum, error) {
					v, ok := parseURL(row[0].S, row[1].S)
					if ok && len(row) == 3 {
						ok = row[1].S == "QUERY"
						if ok {
							v, ok = queryValue(v, row[2].S)
						}
					}
					if !ok {
						return types.NullDatum(), nil
					}
					return types.StrDatum(v), nil
				}
			})},
		{Name: "URL_ENCODE", Doc: "URL_ENCODE(text): encoded as in a form.", safe: true, bind: takes("CHARACTER").to(giveText),
			kernel: arenaPure1(urlEncode)},
		{Name: "URL_DECODE", Doc: "URL_DECODE(text): the opposite of URL_ENCODE; NULL for a wrong escape.", safe: true,
			bind: takes("CHARACTER").toMaybe(giveText), kernel: rows1(urlDecode)},
	}
}

// urlProtocols are those that java.net.URL knows.
var urlProtocols = map[string]bool{"http": true, "https": true, "ftp": true, "file": true, "jar": true, "mailto": true, "jrt": true, "jmod": true}

// parseURL gives a part of an address as java.net.URL does.
func parseURL(url, part string) (string, bool) {
	url = strings.TrimFunc(url, func(r rune) bool { return r <= ' ' })
	url = strings.TrimPrefix(url, "url:")
	scheme, rest, ok := strings.Cut(url, ":")
	protocol := strings.ToLower(scheme)
	if !ok || !urlProtocols[protocol] {
		return "", false
	}
	rest, ref, hasRef := strings.Cut(rest, "#")
	authority := ""
	hasAuthority := strings.HasPrefix(rest, "//")
	if hasAuthority {
		rest = rest[2:]
		end := strings.IndexAny(rest, "/?")
		if end < 0 {
			end = len(rest)
		}
		authority, rest = rest[:end], rest[end:]
	}
	path, query, hasQuery := strings.Cut(rest, "?")
	user, host, hasUser := "", authority, false
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, host, hasUser = authority[:at], authority[at+1:], true
	}
	host, ok = hostOf(host)
	if !ok {
		return "", false
	}
	switch part {
	case "HOST":
		return host, true
	case "PATH":
		return path, true
	case "QUERY":
		return query, hasQuery
	case "REF":
		return ref, hasRef
	case "PROTOCOL":
		return protocol, true
	case "AUTHORITY":
		return authority, hasAuthority
	case "FILE":
		if hasQuery {
			path += "?" + query
		}
		return path, true
	case "USERINFO":
		return user, hasUser
	}
	return "", false
}

// hostOf cuts the port off; false when it is no number.
func hostOf(host string) (string, bool) {
	if strings.HasPrefix(host, "[") {
		end := strings.IndexByte(host, ']')
		if end < 0 {
			return "", false
		}
		return host[:end+1], end+1 == len(host) || host[end+1] == ':'
	}
	h, port, _ := strings.Cut(host, ":")
	for _, c := range port {
		if c < '0' || c > '9' {
			return "", false
		}
	}
	return h, true
}

// queryValue gives the value of a key in a query.
func queryValue(query, key string) (string, bool) {
	for pair := range strings.SplitSeq(query, "&") {
		if k, v, ok := strings.Cut(pair, "="); ok && k == key {
			return v, true
		}
	}
	return "", false
}

func urlEncode(a *types.Arena, s string) string {
	buf := a.Buf()
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '-', c == '*', c == '_':
			buf = append(buf, c)
		case c == ' ':
			buf = append(buf, '+')
		default:
			buf = append(buf, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return a.Take(buf)
}

func urlDecode(s string) (string, error) {
	var b []byte
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '+':
			b = append(b, ' ')
		case '%':
			if i+2 >= len(s) {
				return "", errNull
			}
			c, err := unhex(s[i+1 : i+3])
			if err != nil {
				return "", err
			}
			b = append(b, c...)
			i += 2
		default:
			b = append(b, s[i])
		}
	}
	return string(types.AppendUTF8(nil, string(b))), nil
}
