# SPDX-License-Identifier: MIT
# An ingest that is killed, or has no room, at many points: the database opens
# and has whole inputs only, and with the same once more it is what an
# undisturbed run makes. So for a new database, and for one that was there.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
# In memory where that can be: a disk that is waited for changes nothing here, for the machine lives on.
out=$(mktemp -d -p /dev/shm 2>/dev/null) || out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
earlier=samples/jitter-always/consumer-1
sample=$out/sample
mkdir "$sample"
for part in broker-1 consumer-1 effects.csv groups-describe.log; do
	cp -rp samples/pause-and-jitter/$part "$sample"
done
# Larger than SQLite's cache, so that pages of an input that has not ended are in the file.
awk 'BEGIN {
	print "time,consumer,step,business_key,request_id,topic,partition,offset,status,note"
	note = sprintf("%1000s", "")
	for (i = 0; i < 6000; i++)
		printf "2026-11-30T18:%02d:%02dZ,consumer-1,pay,K-%d,r-%d,refunds,0,%d,success,\"%s\"\n", i / 600, i / 10 % 60, i, i, i, note
}' >"$sample/many.csv"

report() {
	"$a" report --db "$1" --format json -o "$2" --quiet 2>>"$out/err" || test $? = 3
}

# What the input itself gives: a line for each. Its clock and times depend on the others.
inputs_of() {
	awk '
	/^ "/ { section = $1 }
	section != "\"inputs\":" || /^    / { next }
	$1 ~ /^"(path|kind|format|host|size_bytes|records|events|skipped|unrecognized|lines)":$/ { line = line " " $2 }
	/^  }/ { print line; line = "" }
	' "$1" | sort
}

fail() {
	echo "$*"
	exit 1
}

# check WHAT: out/t.db as it was left, and then with the rest of it
check() {
	# One that was new may have nothing yet.
	if test "$made" = there || test -s "$out/t.db"; then
		report "$out/t.db" "$out/left.json" || test ! -s "$out/t.db" || fail "$made, $1: it does not open"
	fi
	if test -s "$out/t.db"; then
		inputs_of "$out/left.json" >"$out/left"
		comm -23 "$out/left" "$out/whole" >"$out/halves"
		test ! -s "$out/halves" || fail "$made, $1: $(cat "$out/halves")"
	fi
	"$a" ingest --db "$out/t.db" "$sample" --quiet 2>>"$out/err" || fail "$made, $1: the rest is not added"
	report "$out/t.db" "$out/t.json"
	cmp "$out/whole.json" "$out/t.json" || fail "$made, $1: not what an undisturbed run makes"
}

begin() {
	rm -f "$out"/t.db "$out"/t.db-journal
	test "$made" = new || cp "$out/earlier.db" "$out/t.db"
}

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

"$a" ingest --db "$out/earlier.db" "$earlier" --quiet 2>/dev/null
in_the_middle=0
for made in new there; do
	begin
	from=$(now_ms)
	"$a" ingest --db "$out/t.db" "$sample" --quiet 2>/dev/null
	took_ms=$(($(now_ms) - from))
	size_kb=$(($(wc -c <"$out/t.db") / 1024))
	test "$made" = new && room_kb=0 || room_kb=$(($(wc -c <"$out/earlier.db") / 1024))
	report "$out/t.db" "$out/whole.json"
	inputs_of "$out/whole.json" >"$out/whole"
	test "$(wc -l <"$out/whole")" -gt 8

	for point in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		begin
		"$a" ingest --db "$out/t.db" "$sample" --quiet 2>/dev/null &
		pid=$!
		sleep "$(awk "BEGIN { print $took_ms * $point / 15000 }")"
		kill -9 $pid 2>/dev/null || true
		wait $pid 2>/dev/null || true
		test ! -s "$out/t.db-journal" || in_the_middle=$((in_the_middle + 1))
		check "killed at $point of 15"
	done

	# A limit of files stands in for a full disk. Its unit is 512 bytes.
	for point in 1 3 5 7; do
		begin
		room=$((2 * (room_kb + (size_kb - room_kb) * point / 8)))
		status=0
		sh -c "trap '' XFSZ; ulimit -f $room; exec \"\$@\"" limited "$a" ingest --db "$out/t.db" "$sample" --quiet 2>"$out/full" || status=$?
		test $status = 1 || fail "$made, room at $point of 8: exit code $status"
		grep -q 'cannot [a-z]* ' "$out/full" || fail "$made, room at $point of 8: nothing is said"
		check "room at $point of 8"
	done
done
# A journal is there from the begin of an input to its end.
test $in_the_middle -gt 0 || fail "no kill came in the middle of an input"
