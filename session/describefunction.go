package session

import (
	"strconv"
	"strings"

	"runnel/catalog"
	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// describeFunction answers DESCRIBE FUNCTION, in the rows of Flink 2 and with what the table of functions says of it.
func (s *Session) describeFunction(st *sql.Describe) (*Result, error) {
	name := st.Name.Last()
	row := func(k, v string) []types.Datum { return []types.Datum{types.StrDatum(k), types.StrDatum(v)} }
	fields := []types.Field{{Name: "info name", Type: types.String()}, {Name: "info value", Type: types.String()}}
	if f, ok := s.opts.Catalog.FindFunction(st.Name); ok && (len(st.Name.Parts) > 1 || !known(name)) {
		return answer(fields, [][]types.Datum{
			row("is system function", "false"), row("is temporary", "false"), row("class name", f.Class),
			row("function language", f.Language), row("resource uris", "[]"),
		}), nil
	}
	if len(st.Name.Parts) > 1 || !s.opts.Catalog.CoreUsed() || !known(name) {
		e := catalog.Errorf(catalog.ValidationError, "Function with the identifier '%s' doesn't exist.", st.Name.Dotted()).Node(st.Name)
		return nil, e.Cure("%s", strings.TrimSpace(catalog.DidYouMean(strings.ToLower(name), builtIn(true))+" SHOW FUNCTIONS lists them."))
	}
	kind, doc, sure := "SCALAR", "", true
	if f := expr.Lookup(name); f != nil {
		doc, sure = f.Doc, !f.Nondeterministic
	} else {
		kind, doc = "AGGREGATE", expr.LookupAggregate(name).Doc
	}
	rows := [][]types.Datum{row("is system function", "true"), row("is temporary", "false")}
	signature, text, _ := strings.Cut(doc, ": ")
	if st.Extended {
		rows = append(rows, row("kind", kind), row("requirements", "[]"), row("is deterministic", strconv.FormatBool(sure)),
			row("supports constant folding", strconv.FormatBool(sure && kind == "SCALAR")), row("signature", signature))
	}
	return answer(fields, append(rows, row("description", text))), nil
}

// known tells whether a function is built in.
func known(name string) bool { return expr.Lookup(name) != nil || expr.LookupAggregate(name) != nil }
