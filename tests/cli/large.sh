#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A large log gives the same by one thread, two and three; and the same log again adds nothing, one that differs in a byte does.

set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

log=samples/refund-incident/broker-1/server.log
n=0
while [ $n -lt 100 ]; do
	cat "$log"
	n=$((n + 1))
done >"$out/large.log"
size=$(wc -c <"$out/large.log")
[ "$size" -gt 16777216 ] || { echo "the log is too small for this test: $size bytes"; exit 1; }

for threads in 1 2 3; do
	"$a" ingest -q --threads $threads --db "$out/$threads.db" "$out/large.log" 2>"$out/$threads.err"
done
cmp "$out/1.db" "$out/2.db"
cmp "$out/1.db" "$out/3.db"
cmp "$out/1.err" "$out/3.err"

inputs() {
	"$a" report --db "$out/1.db" --format json | grep -c '"kind": *"log"'
}
one=$(inputs)
cp "$out/large.log" "$out/copy.log"
"$a" ingest -q --db "$out/1.db" "$out/copy.log" 2>"$out/err"
grep -q 'passed over: the same bytes as' "$out/err"
[ "$(inputs)" -eq "$one" ]
# A byte between the samples.
cp "$out/large.log" "$out/other.log"
printf X | dd of="$out/other.log" bs=1 seek=$((size / 256 * 9 + 5000)) conv=notrunc 2>/dev/null
"$a" ingest -q --db "$out/1.db" "$out/other.log" 2>"$out/err" || true
[ "$(inputs)" -eq $((one + 1)) ]
