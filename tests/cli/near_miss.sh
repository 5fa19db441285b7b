# SPDX-License-Identifier: MIT
# What was read of each input is told: lines, records, those a rule knows, those
# that are not ours, and those for which a rule may be missing.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

mkdir "$out/in"
cat >"$out/in/app.log" <<'END'
[2024-06-18 10:00:30,207] INFO [Consumer clientId=c-1, groupId=refunds] (Re-)joining group (a.B)
[2024-06-18 10:00:31,207] WARN Homegrown listener saw a rebalance of some sort (a.B)
[2024-06-18 10:00:32,207] INFO refund 7 was paid (a.B)
	max.poll.interval.ms = 300000
[2024-06-18 10:00:33,207] INFO refund 8 was paid (a.B)
END

"$a" rules test <"$out/in/app.log" >"$out/told"
grep -q '^1: layout kafka, rule consumer-healthy' "$out/told" || { cat "$out/told"; exit 1; }
grep -q '^2: layout kafka, rule none: near miss' "$out/told"
grep -q '^3: layout kafka, rule none: not ours' "$out/told"
# A setting below a message is no message.
test "$(grep -c 'near miss' "$out/told")" = 1

# Wrapped lines are tried without what is around them.
echo 'Jun 18 10:00:31 host-1 kernel: [  711.799658] nf_conntrack: nf_conntrack: table full, dropping packet' |
	"$a" rules test >"$out/told"
grep -q 'rule conntrack-table-full' "$out/told"
echo 'Jun 18 10:00:31 host-1 kernel: [  711.799658] nf_conntrack: expectation table full' | "$a" rules test >"$out/told"
grep -q 'not ours' "$out/told"

"$a" analyze "$out/in" -o "$out/report" >"$out/text"
json=$(tr -d ' \n' <"$out/report/report.json")
case $json in
*'"lines":5,"matched":1,"not_ours":2,"near_misses":{"count":1,"examples":[{"line":2,"text":"Homegrownlistenersawarebalanceofsomesort"}]}'*) ;;
*)
	grep -A12 '"unrecognized"' "$out/report/report.json"
	exit 1
	;;
esac
grep -q '1 of .*app.log speak of consumer groups' "$out/text"
