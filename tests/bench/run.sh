#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Measures the program against others and against itself: every bench_*.sh of
# this directory in turn. Called by "make bench", which has built what they need.
#
# BUILD            where the program and the generators are (build)
# BENCH_DIR        where inputs are made, and kept ($BUILD/bench)
# BENCH_MB         size of each made input (1000)
# BENCH_PAIRS      pairs for each ratio (5)
# BENCH_ONLY       names of parts, blank between them: log, capture (all)
#
# A bar is a ratio that must be held; one that is not is said, and makes the
# exit code 1. A peer that is not installed is said, and left out.

set -u
export LC_ALL=C TZ=UTC
: "${BUILD:=build}"
: "${BENCH_DIR:=$BUILD/bench}"
: "${BENCH_MB:=1000}"
: "${BENCH_PAIRS:=5}"
: "${BENCH_ONLY:=}"
export BUILD BENCH_DIR BENCH_MB BENCH_PAIRS
mkdir -p "$BENCH_DIR" || exit 1

failed=0
for part in tests/bench/bench_*.sh; do
	name=${part##*/bench_}
	name=${name%.sh}
	case " ${BENCH_ONLY:-$name} " in
	*" $name "*) sh "$part" || failed=1 ;;
	esac
done
exit $failed
