// Package format turns messages into columns and back: json, csv, raw and the changelog formats of Debezium, Canal, Maxwell
// and GoldenGate, with Flink's options and Flink's reading of every value.
//
// A format knows nothing of where messages come from. Decoders write straight into the columns of the current batch and
// let text point into the message.
package format

import "runnel/connectors"

// All lists the formats.
func All() []connectors.Format {
	return append([]connectors.Format{CSV(), JSON(), Raw()}, Changelogs()...)
}
