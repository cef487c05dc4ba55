package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"runnel/expr"
	"runnel/session"
)

// A reason is why an expression is refused or fails. An error row agrees when ours and Flink's are the same.
const (
	bySyntax     = "syntax"
	byName       = "unknown name"
	byArguments  = "number or types of arguments"
	byConversion = "unsupported conversion"
	byValue      = "value out of range or unparsable"
	byZero       = "division by zero"
	byConstraint = "NOT NULL"
	byCrash      = "crash"
	byNothing    = "no reason"
)

// reasons maps a failure's class and message to its reason; the first row that fits counts. Classes are given without
// their packages and "" fits all; messages are patterns. The rows serve Flink's failures and ours, which mostly keep
// Flink's words. What is not supported, and what fits no row, never agrees.
var reasons = []struct{ class, message, reason string }{
	{"", "not supported yet|supported only|^panic:|context deadline", byNothing},

	// Flink's own crashes: in its planner, in generated code, in class loading.
	{"AssertionError|MatchError|NullPointerException|ExceptionInInitializerError|NoClassDefFoundError", "", byCrash},
	{"ClassNotFoundException|ArrayIndexOutOfBoundsException|NoSuchElementException|CannotPlanException", "", byCrash},
	{"CompileException", "", byCrash},
	{"UnsupportedOperationException", "^class org.apache.calcite", byCrash},
	{"IllegalArgumentException", "^Illegal type: NULL", byCrash},
	{"CodeGenException", "^Mismatch of function's argument data type", byCrash},

	{"", "^Column '.*' is NOT NULL, however", byConstraint},

	{"ParseException|TokenMgrError", "", bySyntax},
	{"", "^String literal continued|^Unicode escape|^Unknown character set|^Illegal use of dynamic parameter", bySyntax},
	{"", "is not a valid datetime format|^Bang equal|^Illegal INTERVAL literal", bySyntax},

	{"", "^No match found for function signature|^Column '.*' not found|^Unknown (identifier|field)|^(Object|Table) '.*' not found", byName},

	{"", "/ by zero|Division by zero|Division undefined", byZero},

	{"", "^Cast function cannot convert|^Unsupported cast from|^The cast from .* is not allowed|^implicit type conversion", byConversion},

	{"", "^Illegal (DATE|TIME|TIMESTAMP) literal|literal '.*' out of range|out of range: |^Interval field value|^Illegal interval literal", byValue},
	{"", "^Binary literal string|^Array element access needs an index|^Invalid time zone|^Invalid escape|^Invalid regular expression", byValue},
	{"", "^For input string|could not be parsed|^Invalid (value|date)|^Cannot parse|no number that fits|Infinite or NaN|^empty String|^multiple points", byValue},
	{"NumberFormatException|DateTimeException|PatternSyntaxException|UnsupportedEncodingException|NoSuchAlgorithmException", "", byValue},
	{"", "^(Illegal|Unknown|Too many) pattern|^Pattern |^Unable to extract|^Unsupported field|[Uu]nsupported encoding|^Unsupported algorithm", byValue},
	{"", "^Strict jsonpath|^Empty result of JSON|^No results for path|^the JSON value|^class java[.].* cannot be cast to class java", byValue},
	{"", "^Array has more than one|must be positive|base64 character|^Invalid function MAP_FROM_ARRAYS call|is already present", byValue},
	{"", "precision .*for function TO_TIMESTAMP_LTZ|^The precision ", byValue},
	{"", "^SingleValueAggFunction|^class .* cannot be cast", byValue},
	{"", "^Unclosed |near index \\d", byValue},

	{"", "^Cannot apply '|^Invalid (input arguments|argument type|number of arguments)|^All (types|arguments)|^Parameters must be|^Illegal use of", byArguments},
	{"", "^Illegal mixing|^Illegal on empty|^Illegal on error|^Could not (infer|find)|^Type |^Expected |clause must be|^Decimal |^DECIMAL |^All arguments|^The argument requires|^CURRENT_WATERMARK|^Aggregate expression|precision is not supported|^Values passed to IN|^ORDER BY unexpected|^Cannot specify|^Unsupported (type|unit|call|argument|array|casting)", byArguments},
	{"", "^unit |^Unit |^String expression type|^Integer expression type|^Comparable type|^TIMESTAMP_LTZ only|aggregate function does not|^Require at least|^Map requires", byArguments},
	{"", "^The null type is reserved|^GROUPING operator|^SOURCE_WATERMARK", byArguments},
}

type reasonRow struct {
	class, message *regexp.Regexp
	reason         string
}

var compiledReasons = func() (rows []reasonRow) {
	for _, r := range reasons {
		rows = append(rows, reasonRow{regexp.MustCompile("^(?:" + r.class + ")$"), regexp.MustCompile(r.message), r.reason})
		if r.class == "" {
			rows[len(rows)-1].class = regexp.MustCompile("")
		}
	}
	return rows
}()

var signature = regexp.MustCompile(`^No match found for function signature (\w+)\(`)

// reasonOf gives the reason of a failure. A signature that does not exist is an unknown name, or wrong arguments of a
// known one: Flink has one message for both.
func reasonOf(class, message string) string {
	class = class[strings.LastIndex(class, ".")+1:]
	if m := signature.FindStringSubmatch(message); m != nil && (expr.Lookup(m[1]) != nil || expr.LookupAggregate(m[1]) != nil) {
		return byArguments
	}
	for _, r := range compiledReasons {
		if r.class.MatchString(class) && r.message.MatchString(message) {
			return r.reason
		}
	}
	return byNothing
}

// failed writes our failure: its reason and first line.
func failed(e expression, err error) string {
	class, message := ours(err)
	return fmt.Sprintf("! %s: %s", e.reason(class, message), firstLine(err.Error()))
}

// reason is reasonOf, but a conversion that the expression does not ask for is one of the types of its arguments.
func (e expression) reason(class, message string) string {
	r := reasonOf(class, message)
	if r == byConversion && !strings.HasPrefix(e.text, "CAST(") && !strings.HasPrefix(e.text, "TRY_CAST(") {
		return byArguments
	}
	return r
}

func ours(err error) (class, message string) {
	var e *session.Error
	if errors.As(err, &e) {
		return e.Class, firstLine(e.Msg)
	}
	return "", firstLine(err.Error())
}

// judgeError compares a recorded failure, phase|class|message, with ours.
func judgeError(e expression, want string, err error, ours string) string {
	p := strings.SplitN(want, "|", 3)
	for len(p) < 3 {
		p = append(p, "")
	}
	flinks := e.reason(p[1], p[2])
	switch {
	case err == nil:
		return fmt.Sprintf("no error, want %s: %s", flinks, want)
	case flinks == byNothing || !strings.HasPrefix(ours, "! "+flinks+":"):
		return fmt.Sprintf("%s, want %s: %s", ours, flinks, want)
	}
	return ""
}
