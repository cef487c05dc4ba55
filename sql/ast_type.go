package sql

// Nullability is what is written behind a type.
type Nullability uint8

// The nullabilities; the zero value is "not written", which means nullable.
const (
	NullUnspecified Nullability = iota
	Nullable
	NotNull
)

// TypeName is a type as written in DDL or CAST. It is syntax only: nothing is checked but the shape.
type TypeName struct {
	Span
	// Name is the one spelling of the type, in upper case: BOOLEAN TINYINT SMALLINT INTEGER BIGINT FLOAT REAL DOUBLE DECIMAL CHAR
	// VARCHAR STRING BINARY VARBINARY BYTES DATE TIME TIMESTAMP TIMESTAMP_LTZ INTERVAL ARRAY MULTISET MAP ROW RAW STRUCTURED VARIANT
	// BITMAP. INT is INTEGER, DEC and NUMERIC are DECIMAL, DOUBLE PRECISION is DOUBLE, CHARACTER VARYING is VARCHAR, WITH
	// LOCAL TIME ZONE is TIMESTAMP_LTZ, and so on. It is empty when User is set.
	Name string
	// User is the name of a user-defined type, else nil.
	User *Name
	// Params are the length, or the precision and scale, as far as they are written.
	Params []int
	// Elems are the element of ARRAY and MULTISET, or key and value of MAP.
	Elems []*TypeName
	// Fields are the fields of ROW and STRUCTURED.
	Fields []*TypeField
	// Texts are the strings of RAW('class', 'serializer') and STRUCTURED<'class', ..>.
	Texts []string
	// Interval is the qualifier of INTERVAL.
	Interval *IntervalQualifier
	Null     Nullability
}

// TypeField is a field of a ROW type.
type TypeField struct {
	Span
	Name    Ident
	Type    *TypeName
	Comment *Literal // nil without one
}
