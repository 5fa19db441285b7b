# SPDX-License-Identifier: MIT
# The options that commands have in common do what their help says.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
unset NO_COLOR
sample=samples/refund-incident
fails() { echo "$*"; cat "$out/err" 2>/dev/null; exit 1; }
# code EXPECTED COMMAND...
code() {
	expected=$1
	shift
	status=0
	"$@" >"$out/out" 2>"$out/err" || status=$?
	[ "$status" = "$expected" ] || fails "exit code $status, expected $expected: $*"
}
says() { grep -q -- "$1" "$out/err" || fails "standard error lacks: $1"; }
rebalances() { grep -c '"trigger_time":' "$1" || true; }
member() { sed -n "s/^ *\"$2\": \(.*[^,]\),\{0,1\}$/\1/p" "$1" | head -n 1; }

# Every command has help with an example, and no option twice.
for command in analyze ingest report tune explain probe rules thresholds; do
	code 0 "$a" $command --help
	grep -A 1 '^example:$' "$out/out" | grep -q "^  aftershock $command" || fails "$command has no example"
	[ -z "$(sed -n 's/^  .. *\(--[a-z-]*\).*/\1/p' "$out/out" | sort | uniq -d)" ] || fails "$command has an option twice"
	[ -z "$(awk 'length > 112' "$out/out")" ] || fails "$command: long lines of help"
done

code 0 "$a" ingest --db "$out/a.db" "$sample" --quiet
report() { code "$1" "$a" report --db "$out/a.db" --format json -o "$out/$2.json" $3; }
report 0 all ''
all=$(rebalances "$out/all.json")
[ "$all" -gt 10 ] || fails "the sample has no rebalances"

# --group: its own is everything, another is nothing, and is told.
group=$(member "$out/all.json" group | tr -d '"')
report 0 group "--group $group"
cmp "$out/all.json" "$out/group.json"
report 3 none '--group no-such-group'
says "--group no-such-group: nothing in the evidence is of that group; the groups in it: $group\$"
[ "$(rebalances "$out/none.json")" = 0 ] || fails "rebalances of no group"
for command in tune "explain R2"; do
	# shellcheck disable=SC2086
	"$a" $command --db "$out/a.db" --group no-such-group >"$out/out" 2>"$out/err" || true
	says '--group no-such-group: nothing'
done

# --from and --to: what is before and what is after add up.
middle=2026-11-30T14:17:00Z
report 0 before "--to $middle"
report 0 after "--from $middle"
before=$(rebalances "$out/before.json") after=$(rebalances "$out/after.json")
[ "$before" -gt 0 ] && [ "$after" -gt 0 ] && [ $((before + after)) = "$all" ] || fails "$before before and $after after of $all"
report 2 wrong "--from $middle --to 2026-11-30T14:16:00Z"
says '--to lies before --from'
report 2 wrong '--from yesterday'
says 'expected a time'
# For times without a year.
printf 'Nov 30 10:00:31 broker-1 kafka[412]: [GroupCoordinator 1]: %s\n' \
	'Member c-1-7f in group refunds has failed, removing it from the group (kafka.coordinator.group.GroupCoordinator)' \
	>"$out/year.log"
code 0 "$a" analyze --from 2021-11-01 "$out/year.log" -o "$out/year" --quiet
[ "$(member "$out/year/report.json" first)" = '"2021-11-30T10:00:31.000000Z"' ] || fails "analyze --from tells no year"
code 0 "$a" ingest --from 2019-11-01T00:00:00Z --db "$out/year.db" "$out/year.log"
code 0 "$a" report --db "$out/year.db" --format json -o "$out/year.json"
[ "$(member "$out/year.json" first)" = '"2019-11-30T10:00:31.000000Z"' ] || fails "ingest --from tells no year"

# --offset: wins over every estimate; of a host that is not there it is told.
report 0 offset '--offset consumer-1=+1.5s'
grep -A 3 '"host": "consumer-1"' "$out/offset.json" | tr -d ' \n' | grep -q '"method":"option","offset_us":1500000' ||
	fails "the offset is not the user's"
report 3 offset '--offset consumer-9=+1.5s'
says '--offset consumer-9=...: no event is of that host'
report 2 offset '--offset 1.5s'
says 'HOST='

# --timezone of one host or all; --host by pattern.
log=$sample/broker-1/server.log
code 0 "$a" analyze "$log" --timezone +08:00 -o "$out/zone" --quiet
[ "$(member "$out/zone/report.json" source)" = '"option"' ] || fails "the zone is not the user's"
code 3 "$a" analyze "$log" --timezone broker-9=+08:00 -o "$out/zone" --quiet
grep -q 'broker-9=...: no input is of that host' "$out/zone/report.json" || fails "a zone of nobody is not told"
code 0 "$a" analyze "$log" --host '*server.log=broker-1' --timezone broker-1=+08:00 -o "$out/zone" --quiet
grep -q '"host": "broker-1"' "$out/zone/report.json" || fails "--host names no host"
[ "$(member "$out/zone/report.json" source)" = '"option"' ] || fails "the zone of a named host is not used"
code 3 "$a" ingest --db "$out/host.db" --host '*.txt=broker-1' "$log"
says "no input's path matches the pattern"

# --rules: others instead of those shipped.
mkdir "$out/rules"
code 1 "$a" analyze "$log" --rules "$out/none" -o "$out/rules-report"
code 0 "$a" rules list --rules rules

# --threshold: the line of the verdict.
report 0 line '--threshold 50'
[ "$(member "$out/line.json" threshold)" = 0.5 ] || [ "$(member "$out/line.json" threshold)" = 50 ] || fails "the line is not moved"
report 2 line '--threshold 0'

# --quiet: report by its exit code alone; a file that was asked for is written.
code 0 "$a" report --db "$out/a.db" --quiet
[ ! -s "$out/out" ] && [ ! -s "$out/err" ] || fails "--quiet is not"
# Quiet and without progress, for all that read or conclude.
code 0 "$a" tune --db "$out/a.db" --quiet --no-progress
[ ! -s "$out/out" ] || fails "tune --quiet is not"
code 0 "$a" explain --db "$out/a.db" --quiet --no-progress R1
[ ! -s "$out/out" ] || fails "explain --quiet is not"
code 1 "$a" explain --db "$out/a.db" --quiet R99999
code 0 "$a" report --db "$out/a.db" --quiet --no-progress
code 0 "$a" ingest --db "$out/a.db" "$sample" --quiet --color never
# --fail-on: the verdict of the sample, and all that its help names as weaker.
verdict=$(member "$out/all.json" verdict | tr -d '"') due=0
code 2 "$a" report --db "$out/a.db" --fail-on maybe
for name in $(sed -n 's/.*expected \(confirmed.*\)/\1/p' "$out/err" | sed 's/,//g; s/ or / /'); do
	[ "$name" != "$verdict" ] || due=4
	code "$due" "$a" report --db "$out/a.db" --quiet --fail-on "$name"
done
[ "$name $due" = "insufficient 4" ] || fails "the verdicts are not all named"
code 0 "$a" report --db "$out/a.db" --quiet -o "$out/quiet.txt"
test -s "$out/quiet.txt"
code 0 "$a" analyze "$log" -o "$out/quiet" --quiet
[ ! -s "$out/out" ] || fails "--quiet is not"

# Colours: not into a file, unless they are asked for.
escape=$(printf '\033')
colored() { grep -q "$escape\[" "$out/out"; }
for command in report tune "explain W1"; do
	code 0 "$a" $command --db "$out/a.db"
	if colored; then fails "$command colours a file"; fi
	code 0 "$a" $command --db "$out/a.db" --color always
	colored || fails "$command --color always has none"
done
NO_COLOR=1 code 0 "$a" report --db "$out/a.db" --color always
colored || fails "what is asked for loses against NO_COLOR"
code 2 "$a" report --db "$out/a.db" --color blue
says 'auto, always or never'
code 0 "$a" report --db "$out/a.db" --color always -o "$out/colored.txt"
if grep -q "$escape\[" "$out/colored.txt"; then fails "a file is coloured"; fi

# Progress: none without a terminal.
code 0 "$a" analyze "$log" -o "$out/progress"
if grep -q reading "$out/err"; then fails "progress without a terminal"; fi

# On a terminal: script(1) makes one.
command -v script >/dev/null && script -qec true "$out/typescript" >/dev/null 2>&1 || exit 0
on_terminal() { script -qec "$1" /dev/null </dev/null >"$out/out" 2>&1; }
on_terminal "$a analyze $log -o $out/tty"
grep -q "${escape}\[Kreading .*server.log" "$out/out" || fails "no progress on a terminal"
sed "s/.*${escape}\[K//" "$out/out" >"$out/after" # the progress line ends empty
if grep -q reading "$out/after"; then fails "progress is left on the terminal"; fi
grep -q "$escape\[[0-9;]*m" "$out/out" || fails "no colour on a terminal"
on_terminal "NO_COLOR=1 $a analyze $log -o $out/tty"
if grep -q "$escape\[[0-9;]*m" "$out/out"; then fails "NO_COLOR is not honoured"; fi
on_terminal "NO_COLOR= $a report --db $out/a.db"
grep -q "$escape\[[0-9;]*m" "$out/out" || fails "an empty NO_COLOR counts"
on_terminal "$a analyze $log -o $out/tty --no-progress --color never"
if grep -q "reading\|$escape" "$out/out"; then fails "--no-progress shows progress"; fi
on_terminal "$a ingest --db $out/tty.db $log --quiet"
if grep -q reading "$out/out"; then fails "--quiet shows progress"; fi
# A name that would move the cursor does not.
cp "$log" "$out/$(printf 'evil\033[2Jname').log"
on_terminal "$a ingest --db $out/evil.db $out/evil*"
grep -q 'reading .*evil?\[2Jname' "$out/out" || fails "the path is printed as it is"
