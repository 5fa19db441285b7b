#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Analyses every recorded run and grades the reports against their truths.
#
# check.sh              a table of all runs, what is wrong, and the figures over all; fails when an
#                       aspect that tests/lab/right lists is not right, or one more of it is
# check.sh --bless      writes tests/lab/right anew: what is right today
# check.sh NAME...      these runs alone, a line for each aspect
#
# The table is honest: what is not right stands in it. "." says that the run has nothing of the kind.

set -u
: "${BUILD:=build}"
: "${RUNS:=tests/lab/runs}"
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
right=tests/lab/right
# Analysed with parts of their evidence too: each kind of cause, client and protocol once. halves.sh does it with all runs.
parted="both-ends blackout-long flapping-path quiet-hour conntrack-deleted reset-long broker-pause crash-restart static-expiry \
	cooperative-blackout kip848-blackout kafka-2.8-slow-handler client-franz-go client-aiokafka clock-behind lost-steps"

# evidence TRUTH: what is analysed for it, a folder or an archive beside it
evidence() {
	case "$1" in
	*/truth.json) dirname "$1" ;;
	*) echo "${1%.truth.json}.tar.xz" ;;
	esac
}

# name TRUTH
name() {
	case "$1" in
	*/truth.json) basename "$(dirname "$1")" ;;
	*) basename "$1" .truth.json ;;
	esac
}

truths=$(ls samples/*/truth.json "$RUNS"/*.truth.json 2>/dev/null)

if [ $# -gt 0 ] && [ "$1" != --bless ]; then
	fail=0
	for truth in $truths; do
		for wanted in "$@"; do
			[ "$wanted" = "$(name "$truth")" ] || continue
			echo "$wanted"
			"$BUILD/aftershock" analyze "$(evidence "$truth")" -o "$out/report" --quiet || fail=1
			"$BUILD/lab_check" "$out/report/report.json" "$truth" || fail=1
			rm -rf "$out/report"
		done
	done
	exit $fail
fi

for truth in $truths; do
	"$BUILD/aftershock" analyze "$(evidence "$truth")" -o "$out/report" --quiet 2>>"$out/errors"
	[ $? -eq 0 ] || [ $? -eq 3 ] || echo "$(name "$truth"): aftershock failed" >>"$out/errors"
	"$BUILD/lab_check" --raw "$(name "$truth")" "$out/report/report.json" "$truth" >>"$out/raw"
	rm -rf "$out/report"
done

awk -F '\t' '
$1 == "grade" {
	if (!($2 in seen)) { seen[$2] = 1; runs[++n] = $2 }
	if (!($3 in known)) { known[$3] = 1; aspects[++m] = $3 }
	good = $6 == 0 && $4 == $5
	cell[$2, $3] = $5 == 0 && good ? "." : $4 "/" $5 (good ? "" : "!")
	if (!good) wrong[++w] = $2 ", " $3 ": " $7
	total[$3] += $5; hit[$3] += $4; extra[$3] += $6 - ($5 - $4)
}
$1 == "edge" { edges++; s = $3 < 0 ? -$3 : $3; e = $4 < 0 ? -$4 : $4; sum_s += s; sum_e += e; if (s > max_s) max_s = s; if (e > max_e) max_e = e }
$1 == "trigger" { confusion[$3, $4]++; t[$3] = 1; t[$4] = 1 }
END {
	printf "%-26s", "run"
	for (j = 1; j <= m; j++) printf " %12s", aspects[j]
	print ""
	for (i = 1; i <= n; i++) {
		printf "%-26s", runs[i]
		for (j = 1; j <= m; j++) printf " %12s", cell[runs[i], aspects[j]]
		print ""
	}
	print "\nwhat is wrong:"
	for (i = 1; i <= w; i++) print "  " wrong[i]
	if (w == 0) print "  nothing"
	print "\nover all runs:"
	for (j = 1; j <= m; j++) {
		more = (extra[aspects[j]] > 0) ? ", " extra[aspects[j]] " more reported" : ""
		printf "  %-13s %5d of %5d right%s\n", aspects[j], hit[aspects[j]], total[aspects[j]], more
	}
	if (edges > 0) printf "  window edges: start off by %d ms on average, %d at most; end by %d, %d at most (%d windows)\n", sum_s / edges, max_s, sum_e / edges, max_e, edges
	print "\ntriggers, in truth and as reported:"
	for (a in t) for (b in t) if (confusion[a, b] > 0) printf("  %-20s %-20s %5d%s\n", a, b, confusion[a, b], (a == b) ? "" : "  wrong") | "sort"
	close("sort")
}' "$out/raw"
[ -s "$out/errors" ] && cat "$out/errors"

# With a part of the evidence taken away the conclusions may weaken, and none may turn wrong.
printf '\nwith a part of the evidence:\n'
halves=0
sh tests/lab/halves.sh $parted >"$out/halves" 2>&1 || halves=1
awk '/^    /{ print "  " run ":" $0; next } { run = $1 " " $2; n++ } END { print "  " n " reports" }' "$out/halves"

awk -F '\t' '$1 == "grade" && $6 == 0 && $4 == $5 { print $2, $3 }' "$out/raw" | LC_ALL=C sort >"$out/right"
if [ "${1:-}" = --bless ]; then
	cp "$out/right" "$right"
	exit 0
fi
LC_ALL=C sort "$right" >"$out/expected"
lost=$(LC_ALL=C comm -23 "$out/expected" "$out/right")
gained=$(LC_ALL=C comm -13 "$out/expected" "$out/right")
[ -n "$gained" ] && printf '\nright now, and not yet in %s (check.sh --bless):\n%s\n' "$right" "$(echo "$gained" | awk '{ a[$1] = a[$1] " " $2 } END { for (r in a) print "  " r ":" a[r] }' | sort)"
[ -z "$lost" ] && exit $halves
printf '\nexpected to be right, and wrong:\n%s\n' "$lost"
exit 1
