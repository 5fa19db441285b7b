# SPDX-License-Identifier: MIT
# With half of the evidence gone the conclusions weaken as they must, and none turns wrong.
set -eu
: "${BUILD:=build}"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

KEEP=$out BUILD=$BUILD sh tests/lab/halves.sh refund-incident pause-and-jitter jitter-always

# holds PART PATTERN, lacks PART PATTERN: in the report of refund-incident without PART
holds() {
	grep -q "$2" "$out/refund-incident.$1.json" || { echo "without $1 the report should hold: $2"; exit 1; }
}
lacks() {
	! grep "$2" "$out/refund-incident.$1.json" || { echo "without $1 the report should not hold: $2"; exit 1; }
}

# Without the coordinator's log nothing rests on its word: clients suspect, and that is said.
lacks no-broker '"basis": "broker'
holds no-broker '"basis": "client log"'
holds no-broker '"trigger": "session_timeout"'

# Without captures no silence is seen, only that segments were lost.
lacks no-capture '"kind": "blackout"'
holds no-capture '"kind": "loss"'
# ... and without counters all that the captures show.
holds no-counters '"kind": "blackout"'

# One consumer knows of its own evictions; of the others it sees new generations, and no path.
holds one-consumer '"trigger": "unknown"'
holds one-consumer '"attribution": "unobserved"'
holds one-consumer '"fate": "wrongly_evicted"'
holds one-path '"attribution": "unobserved"'

# A log at WARN shows no starts, so nobody is gone for want of a sign; that a commit was refused it still shows.
lacks warnings '"fate": "gone"'
holds warnings '"fate": "wrongly_evicted"'
# Without the clients' logs their captures tell that the answer found them alive; that nobody was there nothing tells.
holds network '"fate": "wrongly_evicted"'
lacks network '"fate": "gone"'
