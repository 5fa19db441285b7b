# SPDX-License-Identifier: MIT
# A broker's log finds the same rebalances, at the same times, when it comes
# out of a log store: as a document, an array, CSV, or the journal's export
# format; and when it was rotated, fetched or shipped twice.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
log=samples/refund-incident/broker-1/server.log

# rebalances INPUT...: what the report says of them, less where it was read
rebalances() {
	rm -rf "$out/report"
	"$a" analyze "$@" -o "$out/report" --quiet >"$out/text" 2>"$out/err" || { cat "$out/err"; exit 1; }
	sed -n '/^ "rebalances": \[/,/^ \]/p' "$out/report/report.json" |
		grep '"\(id\|group\|generation\|start\|end\|trigger\|trigger_time\|member\|client_id\|written\)":'
}
same() {
	what=$1
	shift
	rebalances "$@" >"$out/got"
	cmp "$out/plain" "$out/got" || { diff "$out/plain" "$out/got" | head -20; echo "$what: other rebalances"; exit 1; }
}

tab=$(printf '\t')
# as_json: lines to the inside of JSON strings
as_json() { sed "s/\\\\/\\\\\\\\/g; s/\"/\\\\\"/g; s/$tab/\\\\t/g" "$log"; }

as_json | awk 'BEGIN { print "{\n \"events\": [" }
	{ printf "%s  {\n   \"logStreamName\": \"s\",\n   \"timestamp\": %d,\n   \"message\": \"%s\",\n   \"eventId\": \"%d\"\n  }", (NR > 1 ? ",\n" : ""), 1796050800000 + NR, $0, NR }
	END { print "\n ]\n}" }' >"$out/cloudwatch.json"
as_json | awk 'BEGIN { printf "[" }
	{ printf "%s{\"insertId\":\"i%d\",\"timestamp\":\"2026-11-30T15:00:00.%09dZ\",\"textPayload\":\"%s\"}", (NR > 1 ? "," : ""), NR, NR, $0 }
	END { printf "]" }' >"$out/gcp.json"
as_json | awk 'BEGIN { printf "{\"status\":\"success\",\"data\":{\"resultType\":\"streams\",\"result\":[{\"stream\":{\"app\":\"kafka\"},\"values\":[" }
	{ printf "%s[\"17960508%011d\",\"%s\"]", (NR > 1 ? "," : ""), NR, $0 }
	END { print "]}]}}" }' >"$out/loki.json"
{ echo '_raw,_time,host'; sed 's/"/""/g' "$log" | awk '{ printf "\"%s\",2026-11-30T15:00:00.%06d+0000,broker-1\n", $0, NR }'; } >"$out/splunk.csv"
awk '{ printf "__CURSOR=i=%d\n__REALTIME_TIMESTAMP=%d\nSYSLOG_IDENTIFIER=kafka\nMESSAGE=%s\n\n", NR, 1796050800000000 + NR, $0 }' "$log" >"$out/journal.export"

rebalances "$log" >"$out/plain"
[ "$(grep -c '"trigger"' "$out/plain")" -gt 10 ] || { echo "the log itself gives too few rebalances"; exit 1; }
for export in cloudwatch.json gcp.json loki.json splunk.csv journal.export; do
	same "$export" "$out/$export"
done

# One entry in ten shipped twice, and the whole of it exported twice.
as_json | awk '{ for (i = 0; i < (NR % 10 ? 1 : 2); i++)
	printf "{\"insertId\":\"i%d\",\"timestamp\":\"2026-11-30T15:00:00.%09dZ\",\"textPayload\":\"%s\"}\n", NR, NR, $0 }' >"$out/shipped.jsonl"
same "shipped twice" "$out/shipped.jsonl"
grep -q 'log.repeated' "$out/report/report.json" || { echo "what was shipped twice is not told"; exit 1; }
same "exported twice" "$out/gcp.json" "$out/shipped.jsonl"

# Rotated with a seam of hundred lines; fetched twice, the second time with less at its start.
lines=$(wc -l <"$log")
mkdir "$out/broker-1"
head -n $((lines / 2 + 50)) "$log" >"$out/broker-1/server.log.1"
tail -n +$((lines / 2 - 50)) "$log" >"$out/broker-1/server.log"
same "rotated" "$out/broker-1/server.log.1" "$out/broker-1/server.log"
grep -q 'event.repeated' "$out/report/report.json" || { echo "the seam is not told"; exit 1; }
tail -n +$((lines / 3)) "$log" >"$out/fetched.log"
same "fetched twice" "$log" "$out/fetched.log"
