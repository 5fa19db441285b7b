# SPDX-License-Identifier: MIT
# Wrong usage is told from failure, help from error, and both name what was expected.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# code EXPECTED COMMAND...: the exit code, with standard error kept in $out/err
code() {
	expected=$1
	shift
	status=0
	"$@" >"$out/out" 2>"$out/err" || status=$?
	if [ "$status" != "$expected" ]; then
		echo "exit code $status, expected $expected: $*"
		cat "$out/err"
		exit 1
	fi
}
says() { grep -q -- "$1" "$out/err" || { echo "standard error lacks: $1"; cat "$out/err"; exit 1; }; }

code 2 "$a"
code 2 "$a" frobnicate
says "no command frobnicate"
code 0 "$a" --help
code 0 "$a" --version
code 0 "$a" help
grep -q '^usage: aftershock COMMAND' "$out/out"
code 0 "$a" help tune
grep -q '^usage: aftershock tune' "$out/out"
for command in analyze ingest report tune explain rules; do
	code 0 "$a" "$command" --help
	grep -q '^example:' "$out/out"
done
code 2 "$a" analyze
says "needs an INPUT"
code 2 "$a" analyze --threshold 101 samples
says "from 1 to 100"
code 2 "$a" analyze --no-such-option samples
says "no option of this command (see --help)"
code 2 "$a" report --db x --timezone=UTC
says "^aftershock: --timezone is no option of this command, but of analyze, ingest (see --help)"
code 2 "$a" analyze --quiet=3 samples
says '^aftershock: --quiet takes no argument$'
code 2 "$a" report -zq --db x
says '^aftershock: -z is no option of this command (see --help)$'
code 2 "$a" analyze --timezone Mars samples
says "expected"
code 2 "$a" explain --db x
code 2 "$a" rules
code 1 "$a" report --db "$out/none.db"
says "none.db"
says "'aftershock ingest --db $out/none.db INPUT' makes an incident database"
test ! -e "$out/none.db"
code 2 "$a" analyze --as core samples
says 'expected log, capture, counters, snapshot or table$'

# The report's directory and those above it are made; a file in their way is told.
: >"$out/empty.txt"
code 3 "$a" analyze "$out/empty.txt" -o "$out/deep/er/report"
test -s "$out/deep/er/report/report.html"
if grep -q '^Next:' "$out/out"; then echo "of nothing there is something to explain"; exit 1; fi
code 1 "$a" analyze "$out/empty.txt" -o "$out/empty.txt/report"
says "empty.txt/report cannot be made a directory: Not a directory"
code 0 "$a" analyze samples/refund-incident -o "$out/one"
next=$(sed -n 's/^Next: aftershock \(.*\) \([A-Z]1\) .*/\1 \2/p' "$out/out")
code 0 "$a" $next
