#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Analyses every recorded incident and grades the report against its truth.
# Every line must be right.

set -u
: "${BUILD:=build}"
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
fail=0
for truth in samples/*/truth.json; do
	[ -e "$truth" ] || continue
	run=$(dirname "$truth")
	echo "$run"
	"$BUILD/aftershock" analyze "$run" -o "$out/report" --quiet || fail=1
	"$BUILD/lab_check" "$out/report/report.json" "$truth" || fail=1
	rm -rf "$out/report"
done
exit $fail
