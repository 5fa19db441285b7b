# SPDX-License-Identifier: MIT
# Captures alone, without a line of any log, tell which member was evicted when and why. What is
# expected stands in the run's truth: generation 2 by session timeout at 14:34:02.9, a fault of the
# network; generation 3 when consumer-1 came back.
set -eu
: "${BUILD:=build}"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir "$out/evidence"
"$BUILD/unpack" tests/lab/runs/blackout-long.tar.xz "$out/evidence"
find "$out/evidence" -type f ! -name '*.pcap.gz' -delete
"$BUILD/aftershock" analyze "$out/evidence" -o "$out/report" --quiet 2>/dev/null || test $? = 3
awk '
{ gsub(/[",]/, "") }
$1 == "generation:" { generation = $2 }
$1 == "trigger:" { trigger = $2 }
$1 == "trigger_time:" { time = substr($2, 12, 10) }
$1 == "basis:" && basis == "" { basis = $2 }
$1 == "host:" { host = $2 }
$1 == "fate:" { fate = $2 }
$1 == "attribution:" && generation != "" { print generation, trigger, basis, host, fate, $2, generation == 2 ? time : ""; generation = basis = "" }
' "$out/report/report.json" >"$out/seen"
grep -qx '1 member_join wire consumer-[123] not_evicted [a-z_]* ' "$out/seen" &&
	grep -qx '2 session_timeout wire consumer-1 wrongly_evicted explained 14:34:02.[89]' "$out/seen" &&
	grep -qx '3 member_rejoin wire consumer-1 not_evicted explained ' "$out/seen" && test "$(wc -l <"$out/seen")" = 3 || {
	cat "$out/seen"
	exit 1
}
