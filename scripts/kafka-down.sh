#!/usr/bin/env bash
# Stops the Kafka that kafka-up.sh started, and drops its data:  scripts/kafka-down.sh [PORT] [DIR]
set -euo pipefail
port=${1:-19092}
dir=${2:-${XDG_CACHE_HOME:-$HOME/.cache}/runnel-kafka}
node=$dir/node-$port
if [ -e "$node/pid" ]; then
  pid=$(cat "$node/pid")
  kill "$pid" 2>/dev/null || true
  for _ in $(seq 100); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.2
  done
  kill -KILL "$pid" 2>/dev/null || true
fi
rm -rf "$node"
