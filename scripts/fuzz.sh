#!/usr/bin/env bash
# Runs every fuzz target for a short while: scripts/fuzz.sh [TIME], 10s by default.
set -euo pipefail
cd "$(dirname "$0")/.."
for dir in $(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do
  for target in $(grep -ho '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | sed 's/func //'); do
    echo "$dir $target"
    go test "$dir" -run '^$' -fuzz "^$target\$" -fuzztime "${1:-10s}" -parallel 2 | tail -1
  done
done
