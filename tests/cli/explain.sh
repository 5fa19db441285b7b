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

# One line a piece, in order of time: aligned and written time, file with line, packet or row, and what it proves.
for id in r2 d1; do
	sed -n '/^The evidence, in order of time/,$p' "$out/$id" | sed 1,3d | grep . >"$out/chain"
	test "$(wc -l <"$out/chain")" -gt 10
	LC_ALL=C sort -s -c -k 1,1 "$out/chain"
	# set -e passes over what is negated by "!".
	if grep -v '^  [0-9:.]\{12\}  [0-9:.]\{12\}  .*\(:[0-9]\| packet [0-9]\| row [0-9]\).*\(proves\|suggests\): ' "$out/chain"; then
		exit 1
	fi
done
# Both clocks stand there where they differ, and the evidence of each link of the chain.
grep -q '^  14:13:01.44[01]  14:13:01.441  .*consumer-1/app.log:180 .* R2 .* suggests: the client learns' "$out/d1"
grep -q ' W1 .* proves: data stood unacknowledged' "$out/d1"
grep -q ' R2 .* proves: the coordinator removed a member after its session timeout' "$out/d1"
grep -q ' D1,L1 .* proves: an attempt at the step; its owner after it did too' "$out/d1"
grep -q 'consumer-2 was without partitions for' "$out/r2"
grep -q 'partitions moved: refunds-0, refunds-1, refunds-3' "$out/r2"

"$a" explain --db "$out/a.db" w1 >"$out/w1"
grep -q 'blackout on consumer-1' "$out/w1"

status=0
"$a" explain --db "$out/a.db" W9999 2>"$out/err" || status=$?
test "$status" = 1
grep -q 'there is no W9999' "$out/err"

# A host that did not get on, by its own kernel, is another cause: said where the rebalance is explained, and of no other's.
mkdir "$out/stalled"
cp -r samples/refund-incident/. "$out/stalled"
echo '2026-11-30T14:12:52.000000+00:00 consumer-1 kernel: [ 1234.567890] watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [java:1234]' \
	>"$out/stalled/consumer-1/kern.log"
"$a" ingest --db "$out/s.db" "$out/stalled" --quiet 2>/dev/null
"$a" explain --db "$out/s.db" R2 >"$out/r2"
tr '\n' ' ' <"$out/r2" | grep -q 'Meanwhile consumer-1 did not get on, as its own log tells (.*soft lockup'
grep -q 'consumer-1/kern.log:1 *R2 *suggests: the host did not get on: a pause of its processes is suggested' "$out/r2"
"$a" explain --db "$out/s.db" R4 >"$out/r4"
if grep -q 'did not get on' "$out/r4"; then exit 1; fi
