# SPDX-License-Identifier: MIT
# explain follows the chain down to file and line, packet, and row.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$a" ingest --db "$out/a.db" samples/refund-incident --quiet 2>/dev/null

"$a" explain --db "$out/a.db" R2 >"$out/r2"
grep -q 'session_timeout of consumer-1' "$out/r2"
grep -q 'broker-1/server.log:[0-9]' "$out/r2"
grep -q 'has failed, removing it from the group' "$out/r2"
grep -q 'consumer-1/eth0.pcap.gz packet [0-9]' "$out/r2"
grep -q '^W[0-9]*: ' "$out/r2"
grep -q 'Side effects executed again' "$out/r2"

"$a" explain --db "$out/a.db" D1 >"$out/d1"
grep -q 'effects.csv row [0-9]' "$out/d1"
grep -q 'server.log:[0-9]' "$out/d1"
grep -q 'packet [0-9]' "$out/d1"

"$a" explain --db "$out/a.db" w1 >"$out/w1"
grep -q 'blackout on consumer-1' "$out/w1"

status=0
"$a" explain --db "$out/a.db" W9999 2>"$out/err" || status=$?
test "$status" = 1
grep -q 'there is no W9999' "$out/err"
