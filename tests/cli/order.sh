# SPDX-License-Identifier: MIT
# In whichever order inputs come, in one run or several, and by several at once:
# the database knows the same, and the same is concluded.
set -eu
: "${BUILD:=build}"
a=$PWD/$BUILD/aftershock
case $BUILD in /*) a=$BUILD/aftershock ;; esac
sample=$PWD/samples
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out"

ingest() {
	"$a" ingest --quiet --db "$@" 2>>err || test $? = 3
}

# What is concluded, and of how many events: inputs by their paths below the first folder, since their ids differ.
# Sorted, since records of one instant stand in the order of their ids.
conclusions() {
	"$a" report --db "$1" --format json -o report.json --quiet 2>>err || test $? = 3
	awk '
	/^ "/ { section = $1 }
	section == "\"inputs\":" && $1 == "\"id\":" { id = $2 }
	section == "\"inputs\":" && $1 == "\"path\":" { sub(/"[^\/]*\//, "\""); path[id] = $2 }
	section == "\"inputs\":" && $1 == "\"events\":" { events += $2 }
	section == "\"inputs\":" || section == "\"problems\":" { next }
	$1 == "\"input\":" && $2 ~ /^[0-9]/ { print $1, path[$2 ~ /,$/ ? $2 : $2 ","]; next }
	{ print }
	END { print "events:", events }
	' report.json | sort >"$2"
	test "$(wc -l <"$2")" -gt 1000
	test "$(grep '^events:' "$2" | cut -d' ' -f2)" -gt 500
}

# all_ways FOLDER FOLDER: in turn, the other way round, and at once
all_ways() {
	rm -f ./*.db
	ingest turn.db "$1"
	ingest turn.db "$2"
	conclusions turn.db turn
	ingest round.db "$2"
	ingest round.db "$1"
	conclusions round.db round
	cmp turn round
	for at_once in 1 2 3; do
		rm -f once.db
		ingest once.db "$1" &
		pid=$!
		ingest once.db "$2"
		wait $pid
		conclusions once.db once
		cmp turn once
	done
}

# One run of both is the same to the byte as one after the other.
in_one_run() {
	ingest one.db "$1" "$2"
	"$a" report --db one.db --format json -o one.json --quiet
	"$a" report --db turn.db --format json -o two.json --quiet
	cmp one.json two.json
}

# halve SAMPLE: its entries by turns, hosts and exports
halve() {
	rm -rf one other
	mkdir one other
	to=one
	for entry in "$sample/$1"/*; do
		case $entry in */truth.json) continue ;; esac
		cp -rp "$entry" $to
		case $to in one) to=other ;; other) to=one ;; esac
	done
}

for run in refund-incident pause-and-jitter; do
	halve $run
	all_ways one other
	in_one_run one other
done

# The same files in two folders, but for the logs, which stand in the second twice over: each line counts as often as
# there. Of files of the same bytes one is read, whichever comes first.
for run in jitter-always pause-and-jitter; do
	rm -rf one other
	cp -rp "$sample/$run" one
	cp -rp "$sample/$run" other
	for log in broker-1/server.log consumer-1/app.log consumer-2/app.log consumer-3/app.log; do
		cat "one/$log" "one/$log" >"other/$log"
	done
	all_ways one other
done

# What is compared differs where something is missing.
halve pause-and-jitter
ingest half.db one
conclusions half.db half
if cmp -s turn half; then
	echo "half of the inputs tells what all of them do"
	exit 1
fi
