# SPDX-License-Identifier: MIT
# Identifiers that were masked before the logs were handed on are not known: two
# that look alike are no duplicate, and no member of two evictions.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

lacks() {
	if grep -e "$1" "$out/report/report.json"; then
		exit 1
	fi
}

# $1: the key of both payments.
payments() {
	cat >"$out/in/effects.csv" <<END
time,business_key,step,status
2024-06-18T10:00:01.100Z,$1,payment,success
2024-06-18T10:00:09.100Z,$1,payment,success
END
}
mkdir "$out/in"
payments ORD-1234
"$a" analyze "$out/in" -o "$out/report" -q
grep -q '"business_key": "ORD-1234"' "$out/report/report.json"
payments '****1234'
"$a" analyze "$out/in" -o "$out/report" -q
lacks '"business_key": "\*\*\*\*1234"'
grep -q '"code": "event.masked"' "$out/report/report.json"

# Two evictions of two members, whose ids are masked alike: both are counted, of nobody that is known.
rm "$out/in/effects.csv"
cat >"$out/in/server.log" <<'END'
[2024-06-18 10:00:30,207] INFO [GroupCoordinator 1]: Member <redacted> in group refunds has failed, removing it from the group (kafka.coordinator.group.GroupCoordinator)
[2024-06-18 10:00:30,208] INFO [GroupCoordinator 1]: Preparing to rebalance group refunds in state PreparingRebalance with old generation 4 (__consumer_offsets-31) (reason: removing member <redacted> on heartbeat expiration) (kafka.coordinator.group.GroupCoordinator)
[2024-06-18 10:00:31,208] INFO [GroupCoordinator 1]: Stabilized group refunds generation 5 (__consumer_offsets-31) with 2 members (kafka.coordinator.group.GroupCoordinator)
[2024-06-18 10:05:30,207] INFO [GroupCoordinator 1]: Member <redacted> in group refunds has failed, removing it from the group (kafka.coordinator.group.GroupCoordinator)
[2024-06-18 10:05:30,208] INFO [GroupCoordinator 1]: Preparing to rebalance group refunds in state PreparingRebalance with old generation 5 (__consumer_offsets-31) (reason: removing member <redacted> on heartbeat expiration) (kafka.coordinator.group.GroupCoordinator)
[2024-06-18 10:05:31,208] INFO [GroupCoordinator 1]: Stabilized group refunds generation 6 (__consumer_offsets-31) with 1 members (kafka.coordinator.group.GroupCoordinator)
END
"$a" analyze "$out/in" -o "$out/report" -q
test "$(grep -c '"trigger": "session_timeout"' "$out/report/report.json")" = 2
lacks '"member_id": "<redacted>"'
lacks '"member": "'
