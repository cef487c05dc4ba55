package session

import (
	"regexp"
	"strings"

	"runnel/expr"
)

// cures say what helps against refusals whose place says nothing of it, by a part of their first line.
var cures = []struct{ holds, cure string }{
	{"Illegal mixing of types in CASE", "The branches want one type: CAST them."},
	{"requires the timecol to be TIMESTAMP", "DESCRIPTOR names a time attribute: a column with a WATERMARK, or one that is PROCTIME()."},
	{"Window aggregate can only be defined over a time attribute", "A time attribute is a column with a WATERMARK, or one that is PROCTIME()."},
	{"requires size must be an integral multiple of slide", "The slide stands first: make the size a multiple of it."},
	{"MONTH and YEAR time unit are not supported", "Windows have a fixed length: INTERVAL '30' DAY."},
	{"Call to auxiliary group function", "Put the window function with the same arguments into GROUP BY, or group TABLE(TUMBLE(..)) by its window_start and window_end."},
	{"is assigned more than once", "Name each column once."},
	{"Column count mismatch in", "The queries on both sides have to give as many columns."},
	{"Type mismatch in column", "CAST one side to the type of the other."},
	{"A regular Column named", "Give one of them another name."},
	{"is not defined in the table schema, at", "WATERMARK names a column of the table: define it, as TIMESTAMP(3) or TIMESTAMP_LTZ(3)."},
	{"the time field type is STRING", "A computed column makes one: name AS TO_TIMESTAMP(text)."},
	{"the time field type is BIGINT", "A computed column makes one: name AS TO_TIMESTAMP_LTZ(number, 3)."},
	{"Invalid data type of time field", "Declare the column as TIMESTAMP(3) or TIMESTAMP_LTZ(3)."},
	{"already exists in Catalog", "IF NOT EXISTS keeps the one there is, DROP makes way."},
	{"A database with name [", "SHOW DATABASES; lists what there are, CREATE DATABASE makes one."},
	{"A catalog with name [", "SHOW CATALOGS; lists what there are, CREATE CATALOG makes one."},
	{"Object '", "SHOW TABLES; lists what there is."},
	{"doesn't exist or is a temporary table", "SHOW TABLES; lists what there is."},
	{"can only be used as a sink", "It keeps no rows: read the tables that it is filled from."},
	{"can only be used as a source", "It makes rows and takes none."},
	{"Illegal DATE literal", "Such as DATE '2024-06-30'; months have two digits and go to 12."},
	{"Illegal TIMESTAMP literal", "Such as TIMESTAMP '2024-06-30 23:59:59.999', with a blank between date and time."},
	{"Illegal TIME literal", "Such as TIME '23:59:59'."},
	{"Illegal interval literal format", "Such as INTERVAL '5' MINUTE or INTERVAL '1 12' DAY TO HOUR."},
	{"Binary literal string must contain", "Such as X'0AFF'."},
	{"You must specify either rowtime or proctime for order by", "Add ORDER BY with a time attribute: a column with a WATERMARK, or one that is PROCTIME()."},
	{"All types in a comparison should support", "CAST them to one type."},
	{"Parameters must be of the same type", "CAST them to one type."},
	{"Values passed to VALUES operator", "The rows want as many values, of one type in each place: CAST them."},
	{"Map requires an even number", "Keys and values alternate: MAP['a', 1, 'b', 2]."},
	{"Cast function cannot convert value of type BIGINT to type DATE", "CAST(TO_TIMESTAMP_LTZ(seconds, 0) AS DATE) makes one of seconds since 1970."},
	{"Cast function cannot convert", "There is no conversion between these types; by way of STRING there may be one."},
	{"Number of columns must match number of query columns", "The list of names and the query differ in the number of columns."},
	{"Decimal scale must be between", "DECIMAL(p, s) has p digits, s of them behind the point."},
	{"Decimal precision must be between", "DECIMAL(p, s) has p digits, s of them behind the point."},
	{"VIEW definition and input fields not match", "Name as many columns as the query has, or none."},
	{"List of column aliases must have same degree", "Name all columns, or the table alone."},
	{"Aggregate expression is illegal in this place", "A column is computed of its own row."},
	{"The column `", "Another name is free to take."},
}

// signature finds the function that a refusal is about.
var signature = regexp.MustCompile(`^(?:Invalid number of arguments to function|Cannot apply) '([A-Z_0-9]+)'`)

// cureOf gives what helps against a refusal, "" for nothing known.
func cureOf(msg string) string {
	first, _, _ := strings.Cut(msg, "\n")
	if m := signature.FindStringSubmatch(first); m != nil {
		if f := expr.Lookup(m[1]); f != nil {
			return f.Doc
		}
		if a := expr.LookupAggregate(m[1]); a != nil {
			return a.Doc
		}
	}
	for _, c := range cures {
		if strings.Contains(msg, c.holds) {
			return c.cure
		}
	}
	return ""
}

// cured adds what helps to an error that shows its place and nothing else.
func cured(e *Error) *Error {
	if cure := cureOf(e.Msg); cure != "" && len(e.Detail) == 2 {
		e.Detail = append(e.Detail, "  "+cure)
	}
	return e
}
