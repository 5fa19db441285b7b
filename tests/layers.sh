#!/bin/sh
# SPDX-License-Identifier: MIT
#
# layers.sh LAYER:USED,USED... -- HEADER:FILE,FILE...
#
# Every include of a project header must name the file's own layer or one that
# its layer uses; every third-party header stands in its own files alone. The
# tables are the Makefile's.

fail=0
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	layer=${1%%:*}
	allowed="$layer $(echo "${1#*:}" | tr , ' ')"
	for file in $(find "src/$layer" "include/$layer" -name '*.c' -o -name '*.h' -o -name '*.def' | sort); do
		for used in $(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([a-z_]*\)\/.*/\1/p' "$file" | sort -u); do
			case " $allowed " in
			*" $used "*) ;;
			*) echo "layers: $file includes $used/, which layer $layer may not use"; fail=1 ;;
			esac
		done
		if grep -Eqn '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^/]*"' "$file"; then
			echo "layers: $file includes a header without its layer"; fail=1
		fi
	done
	shift
done
shift
while [ $# -gt 0 ]; do
	header=${1%%:*}
	files=" $(echo "${1#*:}" | tr , ' ') "
	for file in $(grep -lE "^[[:space:]]*#[[:space:]]*include[[:space:]]*<$header>" -r src include); do
		case "$files" in
		*" $file "*) ;;
		*) echo "layers: $file includes <$header>, which belongs to$files"; fail=1 ;;
		esac
	done
	shift
done
[ $fail -eq 0 ] && echo "layers: no forbidden include"
exit $fail
