package main

import (
	"runnel/connectors"
	"runnel/connectors/blackhole"
	"runnel/connectors/datagen"
	"runnel/connectors/filesystem"
	"runnel/connectors/format"
	"runnel/connectors/kafka"
	"runnel/connectors/nexmark"
	"runnel/connectors/print"
)

// formatTable lists every format.
var formatTable = format.All()

func findFormat(name string) (connectors.Format, bool) {
	for _, f := range formatTable {
		if f.Name == name {
			return f, true
		}
	}
	return connectors.Format{}, false
}

// connectorTable lists every connector.
func connectorTable(k *kafka.Kafka) []connectors.Connector {
	return []connectors.Connector{
		blackhole.Connector(),
		datagen.Connector(),
		filesystem.Connector(findFormat),
		k.Connector(),
		k.Upsert(),
		nexmark.Connector(),
		print.Connector(),
	}
}
