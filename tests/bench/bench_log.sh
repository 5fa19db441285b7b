#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Reading of logs, against the tools that search them: a log in which one line
# in 2,000 is an event, and one in which it is one in 20, by 60 rules, 10 and 300.
# Ours is the whole program: it reads, matches, dates, and keeps the events in
# its database.

set -u
. tests/bench/ratio.sh
dir=$BENCH_DIR
failed=0

# events N: literal TAB pattern; those of events.tsv first, then more that look alike and never match
events() {
	awk -F '\t' -v n="$1" '
		/^#/ { next }
		count < n { print; count++ }
		END {
			verbs = split("validate reconcile propagate materialize acknowledge dispatch schedule checkpoint", verb, " ")
			nouns = split("lease epoch segment cursor watermark barrier snapshot token quota shard replica", noun, " ")
			for (; count < n; count++) {
				literal = sprintf("Failed to %s the %s of step %03d", verb[count % verbs + 1], noun[count % nouns + 1], count)
				print literal "\t" literal " at offset ([0-9]+) of ([^ ]+)"
			}
		}' tests/bench/events.tsv
}

# rules N: the same as a rules file
rules() {
	echo "use $PWD/rules/layouts.rules"
	events "$1" | awk -F '\t' '{ printf "\nrule bench-%d\nevent broker.started\nmatch %s\nexample x\nexpect -\n", NR, $2 }'
}

make_inputs() {
	sparse=$dir/sparse-$BENCH_MB.log
	dense=$dir/dense-$BENCH_MB.log
	[ -s "$sparse" ] || "$BUILD/bench_make_log" "$BENCH_MB" 2000 1 >"$sparse" || exit 1
	[ -s "$dense" ] || "$BUILD/bench_make_log" "$BENCH_MB" 20 2 >"$dense" || exit 1
	as_found "$sparse"
	as_found "$dense"
	for n in 10 60 300; do
		rules $n >"$dir/bench-$n.rules"
		events $n | cut -f 1 >"$dir/literals-$n"
		events $n | cut -f 2 >"$dir/patterns-$n"
	done
}

# ours THREADS RULES LOG: prints the command
ours() {
	echo "$BUILD/aftershock ingest -q --threads $1 --rules $dir/bench-$2.rules --db $dir/bench.db $3"
}

# peer BAR NAME PEER... -- OURS...
peer() {
	bar=$1
	name=$2
	shift 2
	has "$1" || return 0
	ratio "$bar" "$name" -- "$@" || failed=1
}

make_inputs
one=$(ours 1 60 "$sparse")
one_dense=$(ours 1 60 "$dense")
echo "logs of $BENCH_MB MB: time of the other / time of aftershock, one thread"
peer 6 "rg -c -f, 60 rules, 1 event in 2,000" rg -j 1 -c -f "$dir/patterns-60" "$sparse" -- $one
peer 2.3 "rg -c -F -f, 60 literals" rg -j 1 -c -F -f "$dir/literals-60" "$sparse" -- $one
peer - "ugrep -c -f, 60 rules" ugrep -J 1 -c -f "$dir/patterns-60" "$sparse" -- $one
peer - "grep -c -E -f, 60 rules" grep -c -E -f "$dir/patterns-60" "$sparse" -- $one
peer 2.5 "rg -c -f, 60 rules, 1 event in 20, with the store" rg -j 1 -c -f "$dir/patterns-60" "$dense" -- $one_dense
small=$dir/sparse-$((BENCH_MB / 10 + 1)).log
[ -s "$small" ] || "$BUILD/bench_make_log" $((BENCH_MB / 10 + 1)) 2000 1 >"$small"
one_small=$(ours 1 60 "$small")
peer - "lnav, a tenth of the log, only opened" lnav -n -q -c ";SELECT count(*) FROM all_logs" "$small" -- $one_small
if has mtail; then
	mkdir -p "$dir/mtail"
	{
		echo "counter events"
		while IFS= read -r pattern; do
			printf '/%s/ {\n\tevents++\n}\n' "$(printf %s "$pattern" | sed 's#/#\\/#g')"
		done <"$dir/patterns-60"
	} >"$dir/mtail/events.mtail"
	ratio - "mtail, a tenth of the log" -- mtail -one_shot -logtostderr=false -progs "$dir/mtail" -logs "$small" -- $one_small
fi

echo "time of one / time of the other, both aftershock"
ratio 1.6 "one thread / two" -- $one -- $(ours 2 60 "$sparse") || failed=1
# 300 rules may take 1.5 times as long: 10 rules / 300 rules is at least 1 / 1.5
ratio 0.667 "10 rules / 300 rules" -- $(ours 1 10 "$sparse") -- $(ours 1 300 "$sparse") || failed=1
for log in "$sparse" "$dense"; do
	peak=$("$BUILD/bench_pair" --peak "$dir" $(ours 2 60 "$log"))
	[ "$peak" -lt 64 ] && held=held || { held="NOT HELD"; failed=1; }
	echo "  peak memory on $(basename "$log"): $peak MB  bar 64: $held"
done
exit $failed
