#!/usr/bin/env bash
# Starts a real Apache Kafka, one KRaft node, for the tests that run against one:
#
#   scripts/kafka-up.sh [PORT] [DIR]     starts it on localhost:PORT (19092) with its files below DIR
#   KAFKA_BOOTSTRAP=localhost:19092 go test ./connectors/kafka/...
#   scripts/kafka-down.sh [PORT] [DIR]   stops it and drops its data
#
# It needs mvn and Java 11 or newer, and fetches about 60 MB once, into DIR. KAFKA_VERSION chooses the release.
set -euo pipefail
port=${1:-19092}
dir=${2:-${XDG_CACHE_HOME:-$HOME/.cache}/runnel-kafka}
version=${KAFKA_VERSION:-3.9.1}
dist=$dir/dist-$version
node=$dir/node-$port

fetch() {
  [ -e "$dist/complete" ] && return
  rm -rf "$dist"
  mkdir -p "$dist/libs"
  cat > "$dist/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>runnel</groupId><artifactId>kafka</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$version</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
POM
  (cd "$dist" && mvn -q dependency:copy-dependencies -DoutputDirectory=libs)
  touch "$dist/complete"
}

java_kafka() { java -Xmx768m -cp "$dist/libs/*" "$@"; }

listening() { (exec 3<>"/dev/tcp/localhost/$port") 2>/dev/null; }

fetch
if listening; then
  echo "port $port is taken" >&2
  exit 1
fi
mkdir -p "$node"
cat > "$node/server.properties" <<CONF
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@localhost:$((port + 1))
listeners=PLAINTEXT://localhost:$port,CONTROLLER://localhost:$((port + 1))
advertised.listeners=PLAINTEXT://localhost:$port
controller.listener.names=CONTROLLER
log.dirs=$node/log
num.partitions=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=2
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=2
transaction.abort.timed.out.transaction.cleanup.interval.ms=500
group.initial.rebalance.delay.ms=0
CONF
if [ ! -e "$node/log/meta.properties" ]; then
  java_kafka kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAQ -c "$node/server.properties" > "$node/format.out" 2>&1
fi
nohup java -Xmx768m -cp "$dist/libs/*" kafka.Kafka "$node/server.properties" > "$node/out" 2>&1 &
pid=$!
echo "$pid" > "$node/pid"
for _ in $(seq 300); do
  listening && { echo "localhost:$port"; exit 0; }
  kill -0 "$pid" 2>/dev/null || { tail "$node/out" >&2; exit 1; }
  sleep 0.2
done
echo "Kafka did not start within a minute" >&2
exit 1
