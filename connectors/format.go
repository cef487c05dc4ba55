package connectors

import (
	"time"

	"runnel/types"
)

// Format turns messages into columns and back. It is a table row like Connector; formats live in connectors/format.
type Format struct {
	Name    string
	Doc     string
	Options []Option // keys without the format's name in front
	Mode    types.ChangelogMode
	// Metadata lists the metadata columns that the format offers, keys without "value." in front.
	Metadata []Metadata
	// Decoder makes a decoder for the given columns. o holds the format's options without their prefix.
	Decoder func(FormatRequest) (Decoder, error)
	// Encoder makes an encoder.
	Encoder func(FormatRequest) (Encoder, error)
}

// FormatRequest asks for a decoder or encoder.
type FormatRequest struct {
	Fields  []types.Field
	Options Options // without the format's name in front
	Zone    *time.Location
	// Table and Prefix serve error messages: the table's name and what stands before the option keys ("json.", "value.json.").
	Table  string
	Prefix string
	// Metadata are keys of Format.Metadata; the decoder fills a column for each, behind Fields and in this order.
	Metadata []string
}

// Decoder appends the rows of messages to a batch. It is used by one goroutine.
type Decoder interface {
	// Decode appends the rows of one message, none, one or several, to the first len(Fields) columns of out and counts
	// them with Push. It must not grow out beyond BatchRows by more than the rows of one message. The message's bytes
	// will never change and may be pointed at. After an error out is as before; the error says what is wrong and
	// where in the message, and the caller adds where the message came from.
	Decode(msg []byte, out *types.Batch) error
}

// Encoder appends messages to a buffer. It is used by one goroutine.
type Encoder interface {
	// Encode appends the message of physical row i and gives the longer buffer.
	Encode(dst []byte, rows *types.Batch, i int32) ([]byte, error)
}

// NullEncoder is an Encoder that has null messages, which are not the same as empty ones: Kafka writes a record without a
// value. Null is asked before Encode, which appends nothing for such a row.
type NullEncoder interface {
	Null(rows *types.Batch, i int32) bool
}
