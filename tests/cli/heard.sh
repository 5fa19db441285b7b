# SPDX-License-Identifier: MIT
# The heartbeats of the wire equal the broker's timers: an eviction comes one session timeout after
# the last request that the coordinator had of the member, within 100 ms, in every run with
# captures. (It counts from when the broker took the request: between its arrival and its answer.)
set -eu
: "${BUILD:=build}"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# check EVIDENCE EVICTIONS: all of session timeout 6 s
check() {
	"$BUILD/aftershock" analyze "$1" -o "$out/report" --quiet 2>/dev/null || test $? = 3
	awk -v wanted="$2" -v run="$1" '
	function seconds(text) { return substr(text, 12, 2) * 3600 + substr(text, 15, 2) * 60 + substr(text, 18, 9) }
	{ gsub(/[",]/, "") }
	$1 == "trigger_time:" { evicted = seconds($2) }
	$1 == "last_heard:" { heard = seconds($2) }
	$1 == "last_heard_answered:" {
		n++
		if (evicted - heard < 5.9 || evicted - seconds($2) > 6.1) {
			print run ": evicted " evicted - heard " s after its last heartbeat arrived, " evicted - seconds($2) " after the answer"
			bad = 1
		}
	}
	END {
		if (n != wanted) { print run ": " n " evictions, not " wanted; bad = 1 }
		exit bad
	}' "$out/report/report.json"
	rm -rf "$out/report"
}

check samples/refund-incident 11
check tests/lab/runs/blackout-long.tar.xz 1
check tests/lab/runs/two-hosts.tar.xz 1
check tests/lab/runs/storm.tar.xz 1
check tests/lab/runs/pause.tar.xz 1
check tests/lab/runs/kafka-2.8-blackout.tar.xz 1
check tests/lab/runs/client-sarama.tar.xz 1
check tests/lab/runs/client-franz-go.tar.xz 1
check tests/lab/runs/client-kcat.tar.xz 1
