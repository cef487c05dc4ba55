package format

import (
	"fmt"

	"runnel/connectors"
	"runnel/types"
)

// Options of json.
var (
	optFailOnMissing = connectors.Option{Key: "fail-on-missing-field", Kind: connectors.BoolOption, Default: "false",
		Doc: "Fail when a message lacks a field of the schema; an explicit null counts as present."}
	optIgnoreErrors = connectors.Option{Key: "ignore-parse-errors", Kind: connectors.BoolOption, Default: "false",
		Doc: "Make a field that cannot be read NULL and drop a message that cannot be parsed, instead of failing."}
	optTimestampStandard = connectors.Option{Key: "timestamp-format.standard", Default: "SQL",
		Doc: "Form of timestamps: SQL (2024-06-03 07:08:09.12, with a Z for TIMESTAMP_LTZ) or ISO-8601 (2024-06-03T07:08:09.12)."}
	optNullKeyMode = connectors.Option{Key: "map-null-key.mode", Default: "FAIL",
		Doc: "What to do with a NULL key of a MAP on writing: FAIL, DROP the entry, or write the LITERAL."}
	optNullKeyLiteral = connectors.Option{Key: "map-null-key.literal", Default: "null",
		Doc: "Key that stands for NULL when map-null-key.mode is LITERAL."}
	optPlainDecimal = connectors.Option{Key: "encode.decimal-as-plain-number", Kind: connectors.BoolOption, Default: "false",
		Doc: "Write DECIMAL without an exponent."}
	optIgnoreNulls = connectors.Option{Key: "encode.ignore-null-fields", Kind: connectors.BoolOption, Default: "false",
		Doc: "Leave fields that are NULL out of written objects."}
	optParser = connectors.Option{Key: "decode.json-parser.enabled", Kind: connectors.BoolOption, Default: "true",
		Doc: "Read fields as they come. Set to false, messages are read as the changelog formats read them: the last of equal keys " +
			"wins, numbers in STRING columns are written anew, and values of the wrong kind are taken more leniently."}
)

// JSON is the format "json".
func JSON() connectors.Format {
	return connectors.Format{
		Name: "json",
		Doc:  "One JSON object per message; its keys are the column names.",
		Options: []connectors.Option{optFailOnMissing, optIgnoreErrors, optTimestampStandard, optNullKeyMode, optNullKeyLiteral,
			optPlainDecimal, optIgnoreNulls, optParser},
		Mode:    types.InsertOnly,
		Decoder: newJSONDecoder,
		Encoder: newJSONEncoder,
	}
}

// flag is a boolean option and where its value goes.
type flag struct {
	to  *bool
	opt connectors.Option
}

// readFlags reads boolean options; the first bad one is the error.
func readFlags(o connectors.Options, flags ...flag) error {
	for _, f := range flags {
		v, err := o.Bool(f.opt)
		if err != nil {
			return err
		}
		*f.to = v
	}
	return nil
}

// isoTimestamps tells whether timestamps have the ISO-8601 form.
func isoTimestamps(r connectors.FormatRequest) (bool, error) {
	switch v := r.Options.Get(optTimestampStandard); v {
	case "SQL":
		return false, nil
	case "ISO-8601":
		return true, nil
	default:
		return false, fmt.Errorf("Unsupported value '%s' for %s. Supported values are [SQL, ISO-8601].", v, optTimestampStandard.Key)
	}
}

// jsonTypeError says why a column of type t cannot be JSON; nil if it can.
func jsonTypeError(t types.Type) error {
	switch t.Kind {
	case types.Map, types.Multiset:
		key, val := t.Key, t.Elem
		if t.Kind == types.Multiset {
			key, val = t.Elem, nil
		}
		if !key.IsString() {
			return &connectors.Refused{Class: "java.lang.UnsupportedOperationException",
				Msg: "JSON format doesn't support non-string as key type of map. The type is: " + t.Name()}
		}
		if val != nil {
			return jsonTypeError(*val)
		}
	case types.Array:
		return jsonTypeError(*t.Elem)
	case types.Row:
		for _, f := range t.Fields {
			if err := jsonTypeError(f.Type); err != nil {
				return err
			}
		}
	case types.Raw, types.Descriptor:
		return fmt.Errorf("JSON format doesn't support the type %s", t.Name())
	}
	return nil
}

func jsonFieldsError(fields []types.Field) error {
	for _, f := range fields {
		if err := jsonTypeError(f.Type); err != nil {
			return fmt.Errorf("%w\nThe column is %s.", err, f.Name)
		}
	}
	return nil
}
