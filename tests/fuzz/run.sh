#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh TARGET SECONDS: coverage-guided fuzzing with clang's libFuzzer, from
# the target's corpus. New inputs go to build/fuzzing/new/TARGET; a crash stops it and
# leaves its input in the current directory.

set -eu
target=${1:?usage: make fuzz TARGET=name}
seconds=${2:-60}
make --no-print-directory BUILD=build/fuzzing CC=clang CFLAGS="-O1 -g" SANITIZE="-fsanitize=address,undefined,fuzzer-no-link" \
	build/fuzzing/libinput.a build/fuzzing/libstore.a build/fuzzing/libmodel.a build/fuzzing/libbase.a >/dev/null
mkdir -p "build/fuzzing/new/$target"
clang -std=c11 -D_DEFAULT_SOURCE -Iinclude -O1 -g -fsanitize=address,undefined,fuzzer "tests/fuzz/fuzz_$target.c" \
	-Wl,--start-group build/fuzzing/libinput.a build/fuzzing/libstore.a build/fuzzing/libmodel.a build/fuzzing/libbase.a -Wl,--end-group \
	$(pkg-config --libs libpcre2-8 libpcap sqlite3 libarchive zlib liblzma libzstd json-c) -o "build/fuzzing/fuzz_$target"
"build/fuzzing/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 "build/fuzzing/new/$target" "tests/fuzz/corpus/$target"
