// Package kafka reads and writes Apache Kafka, exactly once where asked, and can be the broker itself: an embedded one
// that needs nothing installed.
//
// sarama serves as protocol, metadata, authentication and administration library. Fetching, producing and transactions
// are this package's own: a reader fetches from each leader broker and decodes records straight into columns, a writer
// fills record batches and owns its transactions (two-phase commit with a marker, see writer_txn.go and recover.go).
package kafka
