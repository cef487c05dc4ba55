#!/usr/bin/env bash
# Writes testdata/oracle/pending.txt anew from what fails now: the name and the first line of the reason.
set -euo pipefail
cd "$(dirname "$0")/.."
: > testdata/oracle/pending.txt
go test -run 'TestOracle$' . 2>&1 | awk '/^    --- FAIL: TestOracle\//{name=$3; sub("TestOracle/","",name); getline; sub(/^ *oracle_test.go:[0-9]+: /,""); print name "  " substr($0,1,150)}' > /tmp/pending.$$ || true
mv /tmp/pending.$$ testdata/oracle/pending.txt
wc -l < testdata/oracle/pending.txt
