package catalog

import (
	"cmp"
	"strings"

	"runnel/sql"
	"runnel/types"
)

// TypeOf gives the logical type that a type name means. Precisions that are too great are quietly brought down to the
// greatest ones, as Flink does in CREATE TABLE and in CAST.
func TypeOf(t *sql.TypeName) (types.Type, error) {
	ty, err := typeOf(t)
	if err != nil {
		return types.Type{}, err
	}
	if t.Null == sql.NotNull {
		ty = ty.Required()
	}
	return ty, nil
}

var simpleTypes = map[string]types.Kind{
	"BOOLEAN": types.Boolean, "TINYINT": types.TinyInt, "SMALLINT": types.SmallInt, "INTEGER": types.Int,
	"BIGINT": types.BigInt, "FLOAT": types.Float, "DOUBLE": types.Double, "DATE": types.Date,
}

func typeOf(t *sql.TypeName) (types.Type, error) {
	if t.User != nil {
		return types.Type{}, Errorf(NameError, "Unknown identifier '%s'", t.User.Dotted()).Node(t).
			withHint(cmp.Or(otherTypes[strings.ToUpper(t.User.Dotted())], DidYouMean(t.User.Dotted(), typeNames)))
	}
	if t.Name == "REAL" {
		return types.Type{}, Errorf(TableError, "Type is not supported: REAL").Node(t).Cure("Write FLOAT.")
	}
	if k, ok := simpleTypes[t.Name]; ok {
		return types.Of(k), nil
	}
	switch t.Name {
	case "STRING":
		return types.String(), nil
	case "BYTES":
		return types.Bytes(), nil
	case "DECIMAL":
		return decimalType(t)
	case "CHAR":
		return lengthType(t, types.Char, 1)
	case "VARCHAR":
		return lengthType(t, types.Varchar, types.MaxLength)
	case "BINARY":
		return lengthType(t, types.Binary, 1)
	case "VARBINARY":
		return lengthType(t, types.Varbinary, types.MaxLength)
	case "TIME":
		// Flink's planner knows whole seconds only.
		return types.Type{Kind: types.Time}, nil
	case "TIMESTAMP":
		return timestampType(t, types.Timestamp)
	case "TIMESTAMP_LTZ":
		return timestampType(t, types.TimestampLTZ)
	case "INTERVAL":
		return intervalType(t)
	case "ARRAY", "MULTISET", "MAP":
		return collectionType(t)
	case "ROW":
		return rowType(t)
	}
	if t.Name == "RAW" && len(t.Texts) > 0 {
		return types.Type{}, Errorf("java.lang.ClassNotFoundException", "%s", t.Texts[0]).Node(t).
			Cure("There are no Java classes here; BYTES holds values that only others understand.")
	}
	return types.Type{}, Errorf(UnsupportedOp, "Type %s is not supported.", t.Name).Node(t)
}

// otherTypes are types of other dialects with what is written here.
var otherTypes = map[string]string{
	"TEXT": "Write STRING.", "CLOB": "Write STRING.", "UUID": "Write STRING.", "JSON": "Write STRING; JSON_VALUE and JSON_QUERY read it.",
	"VARCHAR2": "Write STRING or VARCHAR(n).", "NVARCHAR": "Write STRING or VARCHAR(n).", "NUMBER": "Write DECIMAL(p, s), BIGINT or DOUBLE.",
	"LONG": "Write BIGINT.", "INT64": "Write BIGINT.", "INT8": "Write BIGINT or TINYINT.", "INT32": "Write INT.", "INT4": "Write INT.", "BOOL": "Write BOOLEAN.",
	"DATETIME": "Write TIMESTAMP(3).", "TIMESTAMPTZ": "Write TIMESTAMP_LTZ(3).", "BLOB": "Write BYTES.", "BYTEA": "Write BYTES.",
	"FLOAT64": "Write DOUBLE.", "FLOAT8": "Write DOUBLE.", "MONEY": "Write DECIMAL(p, s).", "STRUCT": "Write ROW<name type, ..>.",
}

var typeNames = []string{
	"BOOLEAN", "TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "NUMERIC", "CHAR",
	"VARCHAR", "STRING", "BINARY", "VARBINARY", "BYTES", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "ARRAY", "MULTISET",
	"MAP", "ROW",
}

func (e *Error) withHint(hint string) *Error {
	if e.Hint == "" {
		e.Hint = hint
	}
	return e
}

func decimalType(t *sql.TypeName) (types.Type, error) {
	p, s := 10, 0
	if len(t.Params) > 0 {
		p = t.Params[0]
	}
	if len(t.Params) > 1 {
		s = t.Params[1]
	}
	p = min(p, 38)
	if p < 1 {
		return types.Type{}, Errorf(ValidationError, "Decimal precision must be between 1 and 38 (both inclusive).").Node(t)
	}
	if s < 0 || s > p {
		return types.Type{}, Errorf(ValidationError, "Decimal scale must be between 0 and the precision %d (both inclusive).", p).Node(t)
	}
	return types.DecimalOf(p, s), nil
}

func lengthType(t *sql.TypeName, k types.Kind, length int) (types.Type, error) {
	if len(t.Params) > 0 {
		length = t.Params[0]
	}
	if length < 0 || length > types.MaxLength {
		return types.Type{}, Errorf(NameError, "%s length %d must be between 1 and %d", t.Name, length, types.MaxLength).Node(t)
	}
	return types.Type{Kind: k, Precision: length}, nil
}

func timestampType(t *sql.TypeName, k types.Kind) (types.Type, error) {
	p := 6
	if len(t.Params) > 0 {
		p = t.Params[0]
	}
	p = min(p, 9)
	if p < 0 {
		return types.Type{}, Errorf(NameError, "%s precision %d must be between 0 and 9", t.Name, p).Node(t)
	}
	return types.Type{Kind: k, Precision: p}, nil
}

func intervalType(t *sql.TypeName) (types.Type, error) {
	if t.Interval == nil {
		return types.Type{}, Errorf(NameError, "INTERVAL needs a unit").Node(t)
	}
	switch t.Interval.First {
	case "YEAR", "QUARTER", "MONTH":
		return types.Of(types.IntervalMonths), nil
	}
	return types.Of(types.IntervalMillis), nil
}

func collectionType(t *sql.TypeName) (types.Type, error) {
	elems := make([]types.Type, len(t.Elems))
	for i, e := range t.Elems {
		var err error
		if elems[i], err = TypeOf(e); err != nil {
			return types.Type{}, err
		}
	}
	switch {
	case t.Name == "ARRAY" && len(elems) == 1:
		return types.ArrayOf(elems[0]), nil
	case t.Name == "MULTISET" && len(elems) == 1:
		return types.MultisetOf(elems[0]), nil
	case t.Name == "MAP" && len(elems) == 2:
		return types.MapOf(elems[0], elems[1]), nil
	}
	return types.Type{}, Errorf(NameError, "%s has the wrong number of element types", t.Name).Node(t)
}

func rowType(t *sql.TypeName) (types.Type, error) {
	fields := make([]types.Field, len(t.Fields))
	for i, f := range t.Fields {
		ft, err := TypeOf(f.Type)
		if err != nil {
			return types.Type{}, err
		}
		if t.Null != sql.NotNull {
			ft = ft.Optional() // as Flink's planner has it: fields of a nullable row are nullable
		}
		fields[i] = types.Field{Name: f.Name.Name, Type: ft} // comments of fields are dropped, as in Flink
	}
	return types.RowOf(fields...), nil
}
