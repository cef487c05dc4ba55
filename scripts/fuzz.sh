#!/usr/bin/env bash
# Runs every fuzz target for a short while: scripts/fuzz.sh [TIME], 10s by default.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(mktemp)
trap 'rm -f "$out"' EXIT
for dir in $(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do
  for target in $(grep -ho '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | sed 's/func //'); do
    echo "$dir $target"
    if go test "$dir" -run '^$' -fuzz "^$target\$" -fuzztime "${1:-10s}" -parallel 2 >"$out" 2>&1; then
      tail -1 "$out"
    elif grep -q 'context deadline exceeded' "$out" && ! grep -q 'Failing input written' "$out"; then
      # Go's fuzzer sometimes takes the end of its own time for a failure; a failure of the code leaves an input.
      echo "time is up"
    else
      cat "$out"
      exit 1
    fi
  done
done
