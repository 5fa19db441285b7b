#!/bin/sh
# SPDX-License-Identifier: MIT
#
# golden.sh CASE            runs tests/golden/CASE and compares
# golden.sh --bless CASE    shows what would change, and takes it over
#
# A case has "args" (the INPUT arguments, one a line), "expected.txt" (the text
# report), and "facts" (lines "path = value" that report.json must hold, worked
# out from the sources and not from the program).

set -u
: "${BUILD:=build}"
bless=
if [ "${1:-}" = --bless ]; then
	bless=1
	shift
fi
case=tests/golden/${1:?usage: golden.sh [--bless] CASE}
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

# shellcheck disable=SC2046
"$BUILD/aftershock" analyze $(cat "$case/args") -o "$out/report" --color never >"$out/text" 2>"$out/errors"
code=$?
sed "s|$out/report|REPORT|g" "$out/text" >"$out/actual.txt"
printf 'exit code %d\n' "$code" >>"$out/actual.txt"
cat "$out/errors" >>"$out/actual.txt"

if [ -n "$bless" ]; then
	diff -u "$case/expected.txt" "$out/actual.txt"
	cp "$out/actual.txt" "$case/expected.txt"
	exit 0
fi
fail=0
diff -u "$case/expected.txt" "$out/actual.txt" || fail=1
"$BUILD/facts" "$out/report/report.json" "$case/facts" || fail=1

# The same evidence again changes nothing, byte for byte.
cp "$out/report/report.json" "$out/first.json"
cp "$out/report/report.html" "$out/first.html"
# shellcheck disable=SC2046
"$BUILD/aftershock" analyze $(cat "$case/args") -o "$out/report" --quiet 2>/dev/null
cmp "$out/first.json" "$out/report/report.json" || fail=1
cmp "$out/first.html" "$out/report/report.html" || fail=1
exit $fail
