#!/bin/sh
# SPDX-License-Identifier: MIT
#
# lint.sh LIBRARIES: what compilers and checkers find without running anything:
# gcc -fanalyzer, clang's warnings, clang-tidy, cppcheck. A tool that is not
# installed is named and left out.

set -u
cflags="-std=c11 -D_DEFAULT_SOURCE -Iinclude -DAFTERSHOCK_PREFIX=\"/usr/local\" $(pkg-config --cflags $1)"
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wcast-qual -Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla -Wformat=2"
sources=$(find src -name '*.c' | sort)
fail=0

have() { command -v "$1" >/dev/null 2>&1 || { echo "lint: $1 is not installed, left out"; return 1; }; }

# gcc loses sight of pointers that are kept in arrays of structs and calls them leaks; make asan looks for real ones.
if have gcc; then
	for f in $sources; do
		gcc $cflags -O2 -fanalyzer -Wno-analyzer-malloc-leak -Werror -c -o /dev/null "$f" || fail=1
	done
fi
if have clang; then
	for f in $sources; do
		clang $cflags $warnings -Werror -fsyntax-only "$f" || fail=1
	done
fi
# Left out of clang-tidy: what -Wconversion says better, arrays of pointers (sizeof-expression), va_copy (valist, wrong in
# clang 14), and the order of members of tables.
if have clang-tidy; then
	clang-tidy --quiet --warnings-as-errors='*' --checks='-*,bugprone-*,cert-*,clang-analyzer-*,-bugprone-macro-parentheses,-bugprone-easily-swappable-parameters,-bugprone-assignment-in-if-condition,-bugprone-implicit-widening-of-multiplication-result,-bugprone-narrowing-conversions,-bugprone-sizeof-expression,-clang-analyzer-optin.performance.Padding,-clang-analyzer-valist.Uninitialized,-bugprone-reserved-identifier,-cert-dcl37-c,-cert-dcl51-cpp,-cert-err33-c,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling' \
		$sources -- $cflags 2>/dev/null || fail=1
fi
if have cppcheck; then
	cppcheck --quiet --std=c11 --error-exitcode=1 --enable=warning,performance,portability --inline-suppr \
		--suppress=missingInclude -Iinclude -DAFTERSHOCK_PREFIX='""' src || fail=1
fi
[ $fail -eq 0 ] && echo "lint: nothing found"
exit $fail
