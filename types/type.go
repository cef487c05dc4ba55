package types

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind is the root of a logical type, without its parameters.
type Kind uint8

// The kinds of Flink SQL 1.20. Their order has no meaning; codecs store the number, so existing ones keep theirs.
const (
	Null Kind = iota // the type of a bare NULL; castable to every nullable type
	Boolean
	TinyInt
	SmallInt
	Int
	BigInt
	Float
	Double
	Decimal // Precision 1..38, Scale 0..Precision
	Char    // Precision is the length in code points; Char(0) is the type of ''
	Varchar // Precision is the greatest length; MaxLength is STRING
	Binary
	Varbinary // MaxLength is BYTES
	Date
	Time           // Precision 0..9
	Timestamp      // Precision 0..9, without time zone
	TimestampLTZ   // Precision 0..9, an instant shown in the session's zone
	IntervalMonths // year-month interval, held in months
	IntervalMillis // day-time interval, held in milliseconds
	Array          // Elem
	Map            // Key, Elem
	Multiset       // Elem
	Row            // Fields
	Raw            // opaque bytes; Class names the foreign class
	Descriptor     // argument of window table functions; exists in plans only
)

// MaxLength is the length of STRING and BYTES.
const MaxLength = 2147483647

// TimeAttr says whether a TIMESTAMP or TIMESTAMP_LTZ column is a time attribute.
type TimeAttr uint8

const (
	NoAttr   TimeAttr = iota
	Rowtime           // an event-time attribute: it carries a watermark
	Proctime          // the processing time of the job's clock
)

// Type is a logical type with its nullability. It is a small value: copy it, never change one that is shared.
type Type struct {
	Kind      Kind
	NotNull   bool
	Attr      TimeAttr
	Precision int     // see Kind
	Scale     int     // DECIMAL only
	Key       *Type   // MAP only
	Elem      *Type   // ARRAY, MAP (the value), MULTISET
	Fields    []Field // ROW
	Class     string  // RAW only
	Unit      string  // intervals: the qualifier as Flink prints it, e.g. "DAY(3) TO SECOND(6)"; not part of equality
}

// Field is a named column of a schema or of a ROW type.
type Field struct {
	Name    string
	Type    Type
	Comment string
	// Origin says in a plan where the values come from: a column of a table, an expression over such. "" when unknown.
	Origin string
}

// Source is the origin, or the name where that is unknown.
func (f Field) Source() string {
	if f.Origin != "" {
		return f.Origin
	}
	return f.Name
}

// Phys is the slice of a Column that holds the values of a type.
type Phys uint8

const (
	PhysInt   Phys = iota // Column.Int
	PhysFloat             // Column.Flt
	PhysWide              // Column.Wide
	PhysStr               // Column.Str
	PhysAny               // Column.Any
)

// Phys gives the physical form of the values of t. BOOLEAN is 0 or 1, DATE days since 1970-01-01, TIME milliseconds of
// the day, TIMESTAMP and TIMESTAMP_LTZ up to precision 6 microseconds since 1970-01-01 00:00 (UTC for LTZ), DECIMAL up
// to 18 digits its unscaled value, intervals months or milliseconds: all PhysInt. Wider decimals are unscaled Int128,
// TIMESTAMP(7..9) a Wide with microseconds in Hi and the nanoseconds (0..999) of that microsecond in Lo.
func (t Type) Phys() Phys {
	switch t.Kind {
	case Float, Double:
		return PhysFloat
	case Decimal:
		if t.Precision > 18 {
			return PhysWide
		}
		return PhysInt
	case Timestamp, TimestampLTZ:
		if t.Precision > 6 {
			return PhysWide
		}
		return PhysInt
	case Char, Varchar, Binary, Varbinary, Raw:
		return PhysStr
	case Array, Map, Multiset, Row:
		return PhysAny
	default:
		return PhysInt
	}
}

// Of makes a nullable type without parameters, or with Flink's default ones.
func Of(k Kind) Type {
	t := Type{Kind: k}
	switch k {
	case Decimal:
		t.Precision = 10
	case Char, Binary:
		t.Precision = 1
	case Varchar, Varbinary:
		t.Precision = MaxLength
	case Timestamp, TimestampLTZ:
		t.Precision = 6
	}
	return t
}

// String is VARCHAR(2147483647), nullable.
func String() Type { return Type{Kind: Varchar, Precision: MaxLength} }

// Bytes is VARBINARY(2147483647), nullable.
func Bytes() Type { return Type{Kind: Varbinary, Precision: MaxLength} }

// DecimalOf is DECIMAL(p, s), nullable.
func DecimalOf(p, s int) Type { return Type{Kind: Decimal, Precision: p, Scale: s} }

// TimestampOf is TIMESTAMP(p), nullable.
func TimestampOf(p int) Type { return Type{Kind: Timestamp, Precision: p} }

// TimestampLTZOf is TIMESTAMP_LTZ(p), nullable.
func TimestampLTZOf(p int) Type { return Type{Kind: TimestampLTZ, Precision: p} }

// CharOf is CHAR(n), nullable.
func CharOf(n int) Type { return Type{Kind: Char, Precision: n} }

// VarcharOf is VARCHAR(n), nullable.
func VarcharOf(n int) Type { return Type{Kind: Varchar, Precision: n} }

// ArrayOf is ARRAY<elem>, nullable.
func ArrayOf(elem Type) Type { return Type{Kind: Array, Elem: &elem} }

// MapOf is MAP<key, value>, nullable.
func MapOf(key, value Type) Type { return Type{Kind: Map, Key: &key, Elem: &value} }

// MultisetOf is MULTISET<elem>, nullable.
func MultisetOf(elem Type) Type { return Type{Kind: Multiset, Elem: &elem} }

// RowOf is ROW<fields>, nullable.
func RowOf(fields ...Field) Type { return Type{Kind: Row, Fields: fields} }

// Required gives t with NOT NULL.
func (t Type) Required() Type { t.NotNull = true; return t }

// Optional gives t as nullable.
func (t Type) Optional() Type { t.NotNull = false; return t }

// Nullable gives t with the given nullability.
func (t Type) Nullable(null bool) Type { t.NotNull = !null; return t }

// Plain gives t without its time attribute.
func (t Type) Plain() Type { t.Attr = NoAttr; return t }

// IsTimeAttr reports whether t is an event-time or processing-time attribute.
func (t Type) IsTimeAttr() bool { return t.Attr != NoAttr }

// IsInteger reports whether t is TINYINT, SMALLINT, INT or BIGINT.
func (t Type) IsInteger() bool { return t.Kind >= TinyInt && t.Kind <= BigInt }

// IsNumeric reports whether t is an integer, FLOAT, DOUBLE or DECIMAL.
func (t Type) IsNumeric() bool { return t.Kind >= TinyInt && t.Kind <= Decimal }

// IsString reports whether t is CHAR or VARCHAR.
func (t Type) IsString() bool { return t.Kind == Char || t.Kind == Varchar }

// IsBinary reports whether t is BINARY or VARBINARY.
func (t Type) IsBinary() bool { return t.Kind == Binary || t.Kind == Varbinary }

// IsTemporal reports whether t is DATE, TIME, TIMESTAMP or TIMESTAMP_LTZ.
func (t Type) IsTemporal() bool { return t.Kind >= Date && t.Kind <= TimestampLTZ }

// IsInterval reports whether t is one of the interval types.
func (t Type) IsInterval() bool { return t.Kind == IntervalMonths || t.Kind == IntervalMillis }

// Equal reports whether t and u are the same type, nullability included, time attribute and interval qualifier not.
func (t Type) Equal(u Type) bool {
	return t.NotNull == u.NotNull && t.SameIgnoringNull(u)
}

// SameIgnoringNull reports whether t and u are the same but for the nullability at the top.
func (t Type) SameIgnoringNull(u Type) bool {
	if t.Kind != u.Kind || t.Precision != u.Precision || t.Scale != u.Scale || t.Class != u.Class {
		return false
	}
	if !samePtr(t.Key, u.Key) || !samePtr(t.Elem, u.Elem) || len(t.Fields) != len(u.Fields) {
		return false
	}
	for i := range t.Fields {
		if t.Fields[i].Name != u.Fields[i].Name || !t.Fields[i].Type.Equal(u.Fields[i].Type) {
			return false
		}
	}
	return true
}

func samePtr(a, b *Type) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

// String prints t as Flink's DESCRIBE and TYPEOF do, NOT NULL included, without the time attribute.
func (t Type) String() string {
	if t.NotNull && t.Kind != Null {
		return t.Name() + " NOT NULL"
	}
	return t.Name()
}

// Name prints t without its own nullability; nested types keep theirs.
func (t Type) Name() string {
	switch t.Kind {
	case Decimal:
		return fmt.Sprintf("DECIMAL(%d, %d)", t.Precision, t.Scale)
	case Varchar:
		if t.Precision == MaxLength {
			return "STRING"
		}
	case Varbinary:
		if t.Precision == MaxLength {
			return "BYTES"
		}
	case IntervalMonths, IntervalMillis:
		if t.Unit != "" {
			return "INTERVAL " + t.Unit
		}
	case Array, Multiset:
		return kindNames[t.Kind] + "<" + t.Elem.String() + ">"
	case Map:
		return "MAP<" + t.Key.String() + ", " + t.Elem.String() + ">"
	case Row:
		return t.rowName()
	case Raw:
		return "RAW('" + t.Class + "', ?)"
	}
	switch t.Kind {
	case Char, Varchar, Binary, Varbinary, Time, Timestamp, TimestampLTZ:
		return kindNames[t.Kind] + "(" + strconv.Itoa(t.Precision) + ")"
	}
	return kindNames[t.Kind]
}

func (t Type) rowName() string {
	var b strings.Builder
	b.WriteString("ROW<")
	for i, f := range t.Fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("`" + strings.ReplaceAll(f.Name, "`", "``") + "` " + f.Type.String())
		if f.Comment != "" {
			b.WriteString(" '" + strings.ReplaceAll(f.Comment, "'", "''") + "'")
		}
	}
	b.WriteString(">")
	return b.String()
}

var kindNames = [...]string{
	Null: "NULL", Boolean: "BOOLEAN", TinyInt: "TINYINT", SmallInt: "SMALLINT", Int: "INT", BigInt: "BIGINT",
	Float: "FLOAT", Double: "DOUBLE", Decimal: "DECIMAL", Char: "CHAR", Varchar: "VARCHAR", Binary: "BINARY",
	Varbinary: "VARBINARY", Date: "DATE", Time: "TIME", Timestamp: "TIMESTAMP", TimestampLTZ: "TIMESTAMP_LTZ",
	IntervalMonths: "INTERVAL MONTH", IntervalMillis: "INTERVAL SECOND(3)", Array: "ARRAY", Map: "MAP",
	Multiset: "MULTISET", Row: "ROW", Raw: "RAW", Descriptor: "DESCRIPTOR",
}
