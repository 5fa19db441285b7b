#!/bin/sh
# SPDX-License-Identifier: MIT
#
# halves.sh [NAME...]     analyses recorded runs with a part of the evidence taken away, a part at a time,
#                         and fails when a report says what is not true; without NAME all runs
#
# What is not said, or left open, is fine: a conclusion may weaken with its evidence, and none may turn wrong.
# Prints a line for each run and part: run, part, verdict. KEEP=DIR keeps the reports, as DIR/NAME.PART.json.

set -u
: "${BUILD:=build}"
: "${RUNS:=tests/lab/runs}"
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
fail=0

parts="no-broker no-capture no-counters one-consumer one-path warnings network"

# take PART: takes it from the evidence in $out/half
take() {
	case "$1" in
	no-broker) rm -rf "$out"/half/broker-* ;;
	no-capture) find "$out/half" -name '*.pcap*' -exec rm {} + ;;
	no-counters) find "$out/half" \( -name 'softnet*' -o -name 'conntrack*' -o -name 'netstat*' -o -name 'snmp*' \) -exec rm {} + ;;
	one-consumer) find "$out/half" -mindepth 1 -maxdepth 1 ! -name consumer-1 -exec rm -rf {} + ;;
	one-path) find "$out/half" -mindepth 1 -maxdepth 1 -name 'consumer-*' ! -name consumer-1 -exec rm -rf {} + ;;
	network) find "$out/half" -mindepth 1 -maxdepth 1 -name 'consumer-*' | while read -r host; do rm -f "$host"/app*.log*; done ;;
	warnings)
		# The lines of a lower level, with what continues them.
		find "$out/half" -path '*/consumer-*/app*.log' | while read -r log; do
			awk '/(^|[^A-Z])(TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)([^A-Z]|$)/ { keep = /(^|[^A-Z])(WARN|WARNING|ERROR|FATAL)([^A-Z]|$)/ } keep' "$log" >"$out/kept"
			cp "$out/kept" "$log"
		done
		;;
	esac
}

# judge NAME PART TRUTH
judge() {
	"$BUILD/aftershock" analyze "$out/half" -o "$out/report" --quiet >/dev/null 2>"$out/errors"
	code=$?
	if [ $code -ne 0 ] && [ $code -ne 3 ]; then
		echo "$1 $2: exit code $code"
		cat "$out/errors"
		fail=1
		return
	fi
	[ -z "${KEEP:-}" ] || cp "$out/report/report.json" "$KEEP/$1.$2.json"
	printf '%s %s %s\n' "$1" "$2" "$(sed -n 's/^  *"verdict": "\(.*\)",*$/\1/p' "$out/report/report.json")"
	if ! "$BUILD/lab_check" --weaker "$out/report/report.json" "$3" >"$out/grades"; then
		grep -v ' 0 untrue' "$out/grades" | sed 's/^/    /'
		fail=1
	fi
}

# spread TRUTH: lays its evidence out in $out/whole
spread() {
	rm -rf "$out/whole"
	mkdir "$out/whole"
	case "$1" in
	*/truth.json) cp -R "$(dirname "$1")/." "$out/whole" && rm "$out/whole/truth.json" ;;
	*)
		"$BUILD/unpack" "${1%.truth.json}.tar.xz" "$out/whole" || exit 1
		set -- "$out"/whole/*
		[ $# -ne 1 ] || { mv "$1" "$out/inner" && rmdir "$out/whole" && mv "$out/inner" "$out/whole"; }
		;;
	esac
}

wanted=" $* "
for truth in samples/*/truth.json "$RUNS"/*.truth.json; do
	case "$truth" in
	*/truth.json) name=$(basename "$(dirname "$truth")") ;;
	*) name=$(basename "$truth" .truth.json) ;;
	esac
	case "$wanted" in
	"  " | *" $name "*) ;;
	*) continue ;;
	esac
	spread "$truth"
	for part in $parts; do
		rm -rf "$out/half" "$out/report"
		cp -R "$out/whole" "$out/half"
		take "$part"
		[ -n "$(find "$out/half" -type f)" ] && judge "$name" "$part" "$truth"
	done
done
exit $fail
