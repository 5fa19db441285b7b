# SPDX-License-Identifier: MIT
# The sample's logs and captures without its exports: what was delivered again is
# told, of effects nothing, and what nobody recorded is unknown, not zero.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
in=samples/refund-incident

# has_not WORDS FILE
has_not() {
	if grep -q "$1" "$2"; then
		echo "$2 has \"$1\""
		exit 1
	fi
}

"$a" analyze "$in"/consumer-* "$in"/broker-* -o "$out/o" >"$out/text" 2>/dev/null
grep -q "^Offsets handled again" "$out/text"
grep -q "whether any was executed twice is not known" "$out/text"
has_not "Side effects executed twice" "$out/text"
grep -q '"records": null' "$out/o/report.json"
# The reason stands at each: no record was seen twice, an offset was restored.
"$a" explain --db "$out/o/incident.db" L1 >"$out/explained" 2>/dev/null
grep -q "nothing in the evidence shows each record" "$out/explained"

# With the exports the effects are told, and how many records came twice.
"$a" analyze "$in" -o "$out/o" >"$out/text" 2>/dev/null
grep -q "^Side effects executed twice" "$out/text"
has_not "^Offsets handled again" "$out/text"
"$a" explain --db "$out/o/incident.db" L1 >"$out/explained" 2>/dev/null
grep -q "[1-9][0-9]* records were handled by" "$out/explained"
