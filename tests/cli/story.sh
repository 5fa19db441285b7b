# SPDX-License-Identifier: MIT
# The first screen: what happened, what it cost, what to change, and what is missing.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
in=samples/refund-incident
fails() { echo "$*"; cat "$out/story"; exit 1; }

# story INPUT...: the chapters before the figures, each paragraph one line
story() {
	"$a" analyze "$@" -o "$out/o" >"$out/text" 2>/dev/null || [ $? = 3 ]
	sed '/^The figures$/,$d' "$out/text" | awk '/^  \*|^$|^[^ ]/ { printf "\n" } { sub(/^    /, " "); printf "%s", $0 } END { printf "\n" }' \
		>"$out/story"
}
says() { grep -q -- "$1" "$out/story" || fails "the story lacks: $1"; }
says_not() { if grep -q -- "$1" "$out/story"; then fails "the story has: $1"; fi; }

story "$in"
# Each cause with its trigger, its window, and what came of it; pauses are not the network's.
says 'R2,W1: 14:12:53.620, session_timeout of consumer-1.* The network: .*records were delivered again; .*side effects were executed twice: '
says 'R8,W6: .* Not the network: the process did not send'
says 'W6: process_pause, seen on consumer-3: '
# No effect is told twice or left out: those of the causes, of the rest, and of no rebalance are all.
sum=$(sed -n 's/.*[;*] \([0-9]*\) side effects* w[a-z]* executed twice.*/\1/p' "$out/story" | awk '{ n += $1 } END { print n }')
all=$(sed -n 's/^\([0-9]*\) of [0-9]* side effects were executed more than once.*/\1/p' "$out/text")
[ "$sum" = "$all" ] || fails "the causes have $sum effects, all are $all"
# The books, counted here from the books themselves.
keys=$(awk -F, 'FNR > 1 { key = FILENAME ~ /channel/ ? $3 : $2; n[key] += FILENAME ~ /channel/ ? 1 : -1 }
	END { for (k in n) { all++; bad += n[k] != 0 } print bad " of " all }' "$in/channel.csv" "$in/ledger.csv")
says "The books of channel and ledger disagree on $keys business keys"
says '6 side effects were executed twice for another reason (6 sent twice by the caller): '
says 'session.timeout.ms = [0-9]* (now 6000): [0-9]* rebalances and [0-9]* duplicates would not have been'
says 'Would have held: business + step, hybrid. Would not: message ([0-9]* missed)'
says_not 'What is missing'

# Of logs alone nothing is told of money or of the network, and what would tell it is.
story "$in"/broker-1/server.log "$in"/consumer-?/app.log
says 'Whether any side effect was executed twice is not known'
says '^What is missing'
says 'The hosts of 4 inputs, '
says 'The network at 19 of the 19 root rebalances: '
says 'an export of the side effects tells'
says 'The session timeout: nothing here speaks for another one'
says_not 'Proof of'
says_not 'side effects were executed twice:'

# Clients alone prove no trigger.
story "$in"/consumer-?/app.log
says 'Proof of [0-9]* of the [0-9]* triggers: '

# Nothing at all: neither a story nor advice.
mkdir "$out/none"
story "$out/none"
says 'Rebalances: nothing tells of any'
says 'damaged or passed over: 1 entry under Problems'
says_not '^What happened'
says_not '^What to change'
