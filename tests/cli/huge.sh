# SPDX-License-Identifier: MIT
# A line of 2 GB, 2 million records with one time, a flood of one message, 50 MB
# of noise: a message, bounded memory, and the rest is analysed. Nothing of that
# size lies on the disk: gzip's members may be written one behind the other.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir "$out/in"

# A program under a sanitizer reserves more than any limit.
if sh -c 'ulimit -v 1048576 && "$1" --version; exit $?' probe "$a" >"$out/text" 2>&1; then
	ulimit -v 1048576
fi

# run EXPECTED INPUT...: analyses, checks the exit code, leaves report.json
run() {
	expected=$1
	shift
	rm -rf "$out/report"
	status=0
	"$a" analyze "$@" -o "$out/report" -q >"$out/text" 2>"$out/err" || status=$?
	if [ "$status" != "$expected" ]; then
		echo "exit code $status, expected $expected: $*"
		cat "$out/err"
		exit 1
	fi
}
has() { grep -q -- "$1" "$out/report/report.json" || { echo "report.json lacks: $1"; exit 1; }; }
# rebalances N: so many were found
rebalances() {
	n=$(grep -c '^   "trigger": "session_timeout"' "$out/report/report.json" || true)
	[ "$n" = "$1" ] || { echo "$n rebalances, expected $1"; exit 1; }
}
# evicted TIME MEMBER: the coordinator's line
evicted() { echo "[2024-06-18 $1] INFO [GroupCoordinator 1]: Member $2 in group refunds has failed, removing it from the group (kafka.coordinator.group.GroupCoordinator)"; }
# repeat N FILE: its bytes N times
repeat() {
	n=$1
	while [ "$n" -gt 0 ]; do
		cat "$2"
		n=$((n - 1))
	done
}

# ---- a line of 2 GB, between two that count ----
head -c 16777216 /dev/zero | tr '\0' x | gzip -1 >"$out/x.gz"
{ evicted 10:00:30,207 m-1 | gzip; repeat 128 "$out/x.gz"; { echo; evicted 10:05:30,207 m-2; } | gzip; } >"$out/in/line.log"
run 3 "$out/in"
has '"code": "line.too_long"'
rebalances 2
rm "$out/in/line.log"

# ---- 2 million records with one time ----
i=0
while [ $i -lt 100 ]; do
	echo "[2024-06-18 10:00:30,207] INFO order $i was paid (a.B)"
	i=$((i + 1))
done >"$out/hundred"
repeat 200 "$out/hundred" | gzip -1 >"$out/records.gz"
{ evicted 10:00:30,207 m-1 | gzip; repeat 100 "$out/records.gz"; evicted 10:05:30,207 m-2 | gzip; } >"$out/in/equal.log"
run 0 "$out/in"
has '"records": 2000002'
rebalances 2
rm "$out/in/equal.log"

# ---- 100,000 times the same message with the same time ----
evicted 10:00:30,207 m-1 >"$out/message"
repeat 100 "$out/message" >"$out/hundred"
repeat 50 "$out/hundred" | gzip -1 >"$out/messages.gz"
{ repeat 20 "$out/messages.gz"; evicted 10:05:30,207 m-2 | gzip; } >"$out/in/flood.log"
run 0 "$out/in"
has '"code": "event.flood"'
has '99000 events left out'
rebalances 2
# The places are many and the report is not.
[ "$(wc -c <"$out/report/report.json")" -lt 100000 ]
grep -q 'and more than [0-9]* more)' "$out/report/report.html"
rm "$out/in/flood.log"

# ---- noise: what gzip makes of numbers, without its header ----
seq 1 400000 | gzip -9 | tail -c +100 | head -c 500000 >"$out/piece"
repeat 100 "$out/piece" >"$out/noise"
evicted 10:00:30,207 m-1 >"$out/in/server.log"
run 3 "$out/noise" "$out/in"
has 'binary data of no known kind'
rebalances 1
cp "$out/noise" "$out/in/noise.log"
run 0 "$out/in"
has 'binary data of no known kind'
rebalances 1
# In the middle of a log.
{ evicted 10:00:30,207 m-1; cat "$out/noise"; echo; evicted 10:05:30,207 m-2; } >"$out/in/server.log"
rm "$out/in/noise.log"
run 3 "$out/in"
has '"code": "log.record_too_long"'
rebalances 2
