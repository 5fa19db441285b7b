# SPDX-License-Identifier: MIT
# Thresholds are listed, chosen within their range, and told in every report.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
fails() { echo "$*"; exit 1; }
sample=samples/refund-incident

# Each row of the table is listed with its default, unit, range and reason.
"$a" thresholds >"$out/list"
[ "$(grep -c ' = [0-9]* .* ([0-9]* to [0-9]*)$' "$out/list")" = "$(grep -c '^THRESHOLD(' include/analysis/threshold.def)" ] ||
	fails "not every threshold is listed"
grep -A 1 '^blackout.least_ms = 1000 ms (500 to 600000)$' "$out/list" | grep -q 'method.md 3' || fails "no reason"

"$a" ingest --db "$out/a.db" "$sample" --quiet 2>/dev/null
blackouts() { grep -c '"kind": "blackout"' "$1" || true; }

# As they stand nothing is said of them in documents; the JSON has them all.
"$a" report --db "$out/a.db" --format json -o "$out/default.json"
"$a" report --db "$out/a.db" >"$out/default.txt"
[ "$(blackouts "$out/default.json")" -gt 5 ] || fails "the sample has no blackouts to test with"
if grep -q 'Changed thresholds' "$out/default.txt"; then fails "changed, and nothing was"; fi
grep -A 3 '"name": "blackout.least_ms"' "$out/default.json" | tr -d ' \n' |
	grep -q '"value":1000,"default":1000,"unit":"ms"' || fails "the JSON does not tell the default"

# A blackout as long as none is: they are gone, and every form of the report says why.
raised="--set blackout.least_ms=600000"
# shellcheck disable=SC2086
"$a" report --db "$out/a.db" $raised --format json -o "$out/raised.json"
[ "$(blackouts "$out/raised.json")" = 0 ] || fails "blackouts are left"
grep -A 3 '"name": "blackout.least_ms"' "$out/raised.json" | tr -d ' \n' |
	grep -q '"value":600000,"default":1000,"unit":"ms"' || fails "the JSON does not tell the change"
for format in text markdown html; do
	"$a" report --db "$out/a.db" --set blackout.least_ms=600000 --set loss.percent=2 --format $format >"$out/raised"
	grep -q 'Changed thresholds' "$out/raised" || fails "$format does not tell"
	sed -n '/Changed thresholds/,/imeline/p' "$out/raised" | tr '\n' ' ' | tr -d '\\' >"$out/chapter"
	grep -q 'blackout.least_ms.*600000.*1000.*ms.*loss.percent.*2.*1.*%' "$out/chapter" || fails "$format names not both"
	if grep -q 'delay.mads' "$out/chapter"; then fails "$format names one that was not changed"; fi
done
"$a" analyze "$sample" -o "$out/report" --set blackout.least_ms=600000 >"$out/text"
grep -q 'Changed thresholds' "$out/text" || fails "analyze does not tell"
cmp "$out/report/report.json" "$out/raised.json"
for command in "tune" "explain W1"; do
	# shellcheck disable=SC2086
	"$a" ${command% *} --db "$out/a.db" $raised $(echo "$command" | sed 's/^[a-z]*//') >"$out/text"
	grep -q 'Changed thresholds' "$out/text" || fails "$command does not tell"
done

# Set to the default: not changed.
"$a" report --db "$out/a.db" --set blackout.least_ms=1000 --format json | cmp - "$out/default.json"

# refused VALUE WORDS: exit code 2, and the message has them
refused() {
	status=0
	"$a" report --db "$out/a.db" --set "$1" >"$out/text" 2>"$out/err" || status=$?
	[ "$status" = 2 ] || fails "exit code $status of --set $1"
	grep -q -- "$2" "$out/err" || { cat "$out/err"; fails "--set $1: the message lacks: $2"; }
}
refused blackout.least_ms=499 'from 500 to 600000 ms (default 1000)'
refused blackout.least_ms=600001 'from 500 to 600000 ms'
refused blackout.least_ms=2s 'from 500 to 600000 ms'
refused blackout.least_ms= 'from 500 to 600000 ms'
refused blackout=2000 'aftershock thresholds'
refused blackout.least_ms 'aftershock thresholds'
