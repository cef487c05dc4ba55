package session

import "strings"

// failureClasses are the Java classes under which users of Flink know what rows can fail with, by how the message begins and what
// else is in it. The first that fits counts.
var failureClasses = []struct{ begins, holds, class string }{
	{"Column '", "' is NOT NULL, however, a null value is being written into it.", "org.apache.flink.table.api.TableException"},
	{"For input string: '", "'. ", "java.lang.NumberFormatException"},
	{"For input string: '", "'.", "java.time.DateTimeException"},
	{`For input string: "`, "", "java.lang.NumberFormatException"},
	{"Character ", " is neither a decimal digit number", "java.lang.NumberFormatException"},
	{"empty String", "", "java.lang.NumberFormatException"},
	{"/ by zero", "", "java.lang.ArithmeticException"},
	{"Division ", "", "java.lang.ArithmeticException"},
	{"Text '", "' could not be parsed", "java.time.format.DateTimeParseException"},
	{"Invalid value for ", "(valid values ", "java.time.DateTimeException"},
	{"Unable to ", "temporal", "java.time.DateTimeException"},
	{"Unsupported field: ", "", "java.time.temporal.UnsupportedTemporalTypeException"},
	{"Illegal pattern character", "", "java.lang.IllegalArgumentException"},
	{"Unknown pattern letter", "", "java.lang.IllegalArgumentException"},
	{"Too many pattern letters", "", "java.lang.IllegalArgumentException"},
	{"Pattern includes reserved character", "", "java.lang.IllegalArgumentException"},
	{"nthAppearance must be positive", "", "java.lang.IllegalArgumentException"},
	{"Illegal base", " character", "java.lang.IllegalArgumentException"},
	{"Cannot parse '", " as BOOLEAN.", "org.apache.flink.table.api.TableException"},
	{"The precision value '", "", "org.apache.flink.table.api.TableException"},
	{"Strict jsonpath mode", "", "org.apache.flink.table.api.TableRuntimeException"},
	{"Empty result of JSON_", "", "org.apache.flink.table.api.TableRuntimeException"},
	{"No results for path: ", "", "org.apache.flink.table.shaded.com.jayway.jsonpath.PathNotFoundException"},
	{"Array has more than one element.", "", "java.lang.RuntimeException"},
	{"Invalid regular expression '", "", "java.lang.RuntimeException"},
	{"Invalid escape ", "", "org.apache.flink.table.api.ValidationException"},
	{"bound must be positive", "", "java.lang.IllegalArgumentException"},
	{"multiple points", "", "java.lang.NumberFormatException"},
	{"SHA-", " MessageDigest not available", "java.security.NoSuchAlgorithmException"},
	{"SOURCE_WATERMARK() is a declarative marker function", "", "org.apache.flink.table.api.TableException"},
	{"Invalid function MAP_FROM_ARRAYS call:", "", "org.apache.flink.util.FlinkRuntimeException"},
	{"Key '", "' is already present.", "org.apache.flink.table.api.TableException"},
	{"SingleValueAggFunction received more than one element.", "", "org.apache.flink.table.api.TableRuntimeException"},
	{"Unclosed group near index", "", "java.util.regex.PatternSyntaxException"},
}

// failureClass gives the Java class of a row's failure, "" where it is not known.
func failureClass(msg string) string {
	for _, f := range failureClasses {
		if strings.HasPrefix(msg, f.begins) && strings.Contains(msg, f.holds) {
			return f.class
		}
	}
	return ""
}
