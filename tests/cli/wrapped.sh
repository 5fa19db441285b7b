# SPDX-License-Identifier: MIT
# A broker's log finds the same rebalances, at the same times, whatever it is
# wrapped in: docker's json-file, the CRI in pieces, syslog, and several at once;
# whatever its encoding and its line ends, and however people quote it.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
log=samples/refund-incident/broker-1/server.log

# rebalances INPUT: what the report says of them, less where it was read
rebalances() {
	rm -rf "$out/report"
	"$a" analyze "$1" -o "$out/report" --quiet >"$out/text" 2>"$out/err" || { cat "$out/err"; exit 1; }
	sed -n '/^ "rebalances": \[/,/^ \]/p' "$out/report/report.json" |
		grep '"\(id\|group\|generation\|start\|end\|trigger\|trigger_time\|member\|client_id\|event\|written\)":'
}

tab=$(printf '\t')
# as_json: lines to the inside of JSON strings
as_json() { sed "s/\\\\/\\\\\\\\/g; s/\"/\\\\\"/g; s/$tab/\\\\t/g"; }
# in_docker: lines to docker's objects
in_docker() { as_json | awk '{ printf "{\"log\":\"%s\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-30T15:00:00.%09dZ\"}\n", $0, NR }'; }

in_docker <"$log" >"$out/docker.log"
awk '{ t = sprintf("2026-11-30T15:00:00.%09dZ", NR)
	if (length($0) > 50)
		printf "%s stdout P %s\n%s stdout F %s\n", t, substr($0, 1, 50), t, substr($0, 51)
	else
		printf "%s stdout F %s\n", t, $0 }' "$log" >"$out/cri.log"
awk '{ printf "Nov 30 15:00:00 node-a kafka[412]: %s\n", $0 }' "$log" >"$out/syslog.log"
in_docker <"$out/cri.log" >"$out/nested.log"
in_docker <"$log" | awk '{ printf "__CURSOR=i=%d\n__REALTIME_TIMESTAMP=%d\n_HOSTNAME=node-a\nSYSLOG_IDENTIFIER=dockerd\nMESSAGE=%s\n\n", NR, 1796050800000000 + NR, $0 }' |
	gzip >"$out/journal.log"
awk '{ printf "<134>1 2026-11-30T15:00:00.%06dZ node-a kafka 412 - [mdc@32473 id=\"a\\]b\" x=\"]\"] %s\n", NR, $0 }' "$log" >"$out/rfc5424.log"
grep -n '' "$log" >"$out/grep.log"
awk '{ printf "> > %s\r\n", $0 }' "$log" >"$out/mail.log"
awk '{ printf "\033[36mkafka-1  | \033[0m%s\n", $0 }' "$log" >"$out/compose.log"
as_json <"$log" | awk '{ printf "{\"message\":\"%s\",\"namespace\":\"shop\",\"podName\":\"k-0\",\"containerName\":\"kafka\"}\n", $0 }' >"$out/stern.log"
# Two files with byte order marks, one added to the other.
lines=$(wc -l <"$log")
{ printf '\357\273\277'; head -n $((lines / 2)) "$log"; printf '\357\273\277'; tail -n +$((lines / 2 + 1)) "$log"; } >"$out/marks.log"
{ printf '\377\376'; iconv -f UTF-8 -t UTF-16LE "$log"; } >"$out/utf16le.log"
{ printf '\376\377'; sed 's/$/\r/' "$log" | iconv -f UTF-8 -t UTF-16BE; } >"$out/utf16be.log"

rebalances "$log" >"$out/plain"
[ "$(grep -c '"trigger"' "$out/plain")" -gt 10 ] || { echo "the log itself gives too few rebalances"; exit 1; }
for wrapped in docker cri syslog nested journal rfc5424 grep mail compose stern marks utf16le utf16be; do
	rebalances "$out/$wrapped.log" >"$out/got"
	cmp "$out/plain" "$out/got" || { diff "$out/plain" "$out/got" | head -20; echo "$wrapped: other rebalances"; exit 1; }
done

# Evidence is quoted as the file has it, with the number of its line there.
rm -rf "$out/report"
"$a" analyze "$out/docker.log" -o "$out/report" --quiet
grep -q '"text": "{.*stdout' "$out/report/report.json" || { echo "evidence is not the line as written"; exit 1; }

# A place's zone is taken by its name, and no other name is.
"$a" analyze "$log" --timezone Europe/Berlin -o "$out/berlin" --quiet
grep -q '"name": "Europe/Berlin"' "$out/berlin/report.json"
status=0
"$a" analyze "$log" --timezone Europe/Nowhere -o "$out/nowhere" 2>"$out/err" || status=$?
[ "$status" = 2 ] && grep -q 'Europe/Berlin' "$out/err"
