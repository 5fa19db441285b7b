# SPDX-License-Identifier: MIT
# The same evidence twice changes nothing; analyze takes exactly what it is
# given; what is no database is refused. Kills: disturbed.sh.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
sample=samples/refund-incident

"$a" ingest --db "$out/a.db" "$sample" --quiet 2>/dev/null
"$a" report --db "$out/a.db" --format json -o "$out/1.json"
cp "$out/a.db" "$out/before.db"
"$a" ingest --db "$out/a.db" "$sample" --quiet 2>/dev/null
"$a" report --db "$out/a.db" --format json -o "$out/2.json"
cmp "$out/1.json" "$out/2.json"
cmp "$out/before.db" "$out/a.db"

# Made anew it is the same.
"$a" ingest --db "$out/b.db" "$sample" --quiet 2>/dev/null
"$a" report --db "$out/b.db" --format json -o "$out/3.json"
cmp "$out/1.json" "$out/3.json"

# analyze takes exactly what it is given: another incident in the same directory is not mixed with the first.
"$a" analyze "$sample" -o "$out/report" --quiet
"$a" analyze samples/pause-and-jitter -o "$out/report" --quiet
"$a" analyze samples/pause-and-jitter -o "$out/other" --quiet
# Two at once would take each other's database for their own.
status=0
flock "$out/other" "$a" analyze "$sample" -o "$out/other" --quiet 2>"$out/err" || status=$?
if [ "$status" = 0 ] || ! grep -q 'another aftershock is writing' "$out/err"; then
	echo "analyze wrote where another was writing: $status"
	exit 1
fi
cmp "$out/report/report.json" "$out/other/report.json"
# Killed in the middle, it leaves the earlier database as it was, or has put the new one in its place already.
for delay in 0.02 0.05 0.1; do
	"$a" analyze samples/pause-and-jitter -o "$out/report" --quiet
	"$a" analyze "$sample" -o "$out/report" --quiet 2>/dev/null &
	pid=$!
	sleep $delay
	kill -9 $pid 2>/dev/null || true
	wait $pid 2>/dev/null || true
	"$a" report --db "$out/report/incident.db" --format json -o "$out/after.json"
	cmp -s "$out/other/report.json" "$out/after.json" || cmp "$out/1.json" "$out/after.json"
done

echo 'this is no database, only text that goes on for a while' >"$out/text.db"
status=0
"$a" report --db "$out/text.db" 2>"$out/err" || status=$?
test "$status" = 1
grep -q 'text.db' "$out/err"

# Nowhere to write: a message and exit code 1, no half-written report.
status=0
"$a" analyze "$sample/broker-1/server.log" -o "$out/text.db" 2>"$out/err" || status=$?
test "$status" = 1
status=0
"$a" report --db "$out/a.db" -o /dev/full 2>"$out/err" || status=$?
test "$status" = 1

# No room for all of it (a limit of files stands in for a full disk): that is a failure and told, and what is there
# is whole inputs; with room again the rest is added.
status=0
sh -c "trap '' XFSZ; ulimit -f 2000; exec \"\$@\"" limited "$a" analyze "$sample" -o "$out/full" --quiet 2>"$out/err" || status=$?
test "$status" = 1
grep -q 'cannot write' "$out/err"
grep -q '"code": "store.io"' "$out/full/report.json"
status=0
sh -c "trap '' XFSZ; ulimit -f 2000; exec \"\$@\"" limited "$a" ingest "$sample" --db "$out/f.db" --quiet 2>"$out/err" || status=$?
test "$status" = 1
"$a" ingest --db "$out/f.db" "$sample" --quiet 2>/dev/null
"$a" report --db "$out/f.db" --format json -o "$out/full.json"
cmp "$out/1.json" "$out/full.json"

# Two at once into one database: each input once.
rm -f "$out"/k.db*
"$a" ingest --db "$out/k.db" "$sample" --quiet 2>/dev/null &
pid=$!
"$a" ingest --db "$out/k.db" "$sample" --quiet 2>/dev/null
wait $pid
"$a" report --db "$out/k.db" --format json -o "$out/k.json"
cmp "$out/1.json" "$out/k.json"
