#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs every test of the build in $BUILD and prints one closing line. Called by
# "make test", which has built what it needs.

set -u
export TZ=UTC LC_ALL=C
: "${BUILD:=build}"
passed=0
failed=0
log=$BUILD/test.log
: >"$log"

# check NAME COMMAND...: one test; its output is shown when it fails
check() {
	name=$1
	shift
	if "$@" >"$BUILD/test.out" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $name"
		tail -n 60 "$BUILD/test.out"
	fi
	{ echo "== $name"; cat "$BUILD/test.out"; } >>"$log"
}

# cmocka NAME PROGRAM: counts each test of a cmocka program
cmocka() {
	name=$1
	"$2" >"$BUILD/test.out" 2>&1
	status=$?
	ok=$(grep -c '^\[       OK \]' "$BUILD/test.out")
	bad=$(grep '^\[  FAILED  \] [^0-9]' "$BUILD/test.out" | sort -u | wc -l)
	if [ $status -ne 0 ] && [ "$bad" -eq 0 ]; then
		bad=1 # it crashed, or a sanitizer ended it
	fi
	if [ "$ok" -eq 0 ] && [ "$bad" -eq 0 ]; then
		bad=1 # it ran no test at all
	fi
	passed=$((passed + ok))
	failed=$((failed + bad))
	if [ "$bad" -ne 0 ]; then
		echo "FAILED: $name"
		grep -v '^\[ RUN\|^\[       OK' "$BUILD/test.out" | tail -n 60
	fi
	{ echo "== $name"; cat "$BUILD/test.out"; } >>"$log"
}

for source in tests/unit/*/test_*.c; do
	name=${source#tests/unit/}
	name=${name%.c}
	cmocka "$name" "$BUILD/unit/$name"
done
for source in tests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	check "$name (corpus)" "$BUILD/fuzz/$name" "tests/fuzz/corpus/${name#fuzz_}"
done
for rules in rules/*.rules; do
	check "rules check $rules" "$BUILD/aftershock" rules check "$rules"
done
for script in tests/cli/*.sh; do
	check "$script" sh "$script"
done
for case in tests/golden/*/; do
	check "$case" sh tests/golden.sh "$(basename "$case")"
done
check "lab" sh tests/lab/check.sh

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
