# SPDX-License-Identifier: MIT
# A missing file, an empty directory, a text that is no log, a truncated
# capture: a clear message, the right exit code, and the rest is analysed.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
sample=samples/refund-incident

# run EXPECTED INPUT...: analyses, checks the exit code, leaves report.json
run() {
	expected=$1
	shift
	rm -rf "$out/report"
	status=0
	"$a" analyze "$@" -o "$out/report" >"$out/text" 2>"$out/err" || status=$?
	if [ "$status" != "$expected" ]; then
		echo "exit code $status, expected $expected: $*"
		cat "$out/err"
		exit 1
	fi
}
has() { grep -q -- "$1" "$out/report/report.json" || { echo "report.json lacks: $1"; exit 1; }; }

run 0 "$sample/broker-1/server.log"
has '"trigger": "session_timeout"'

run 1 "$out/missing.log" "$sample/broker-1/server.log"
grep -q 'missing.log' "$out/err"
has '"code": "input.unreadable"'
has '"trigger": "session_timeout"'

mkdir "$out/empty"
run 3 "$out/empty" "$sample/broker-1/server.log"
has '"code": "input.empty"'
has '"trigger": "session_timeout"'

printf 'Dear diary,\nnothing happened today.\n' >"$out/diary.txt"
run 3 "$out/diary.txt" "$sample/broker-1/server.log"
has '"code": "input.skipped"'
has '"trigger": "session_timeout"'

: >"$out/nothing.log"
run 3 "$out/nothing.log" "$sample/broker-1/server.log"
has 'input.skipped'

gzip -dc "$sample/consumer-1/eth0.pcap.gz" >"$out/whole.pcap"
head -c 300000 "$out/whole.pcap" >"$out/cut.pcap"
run 3 "$out/cut.pcap" "$sample/broker-1/server.log"
has '"code": "capture.truncated"'
has '"trigger": "session_timeout"'

head -c 100000 "$sample/consumer-1/eth0.pcap.gz" >"$out/cut.pcap.gz"
run 3 "$out/cut.pcap.gz" "$sample/broker-1/server.log"
has '"trigger": "session_timeout"'
has '"kind": "capture"'

head -c 4096 /dev/zero >"$out/zeros"
run 3 "$out/zeros" "$sample/broker-1/server.log"
has 'input.skipped'

# The kind is the content's, whatever the name.
cp "$sample/broker-1/server.log" "$out/holiday.pcap"
run 0 "$out/holiday.pcap"
has '"kind": "log"'

# An archive of the folder gives what the folder gives.
tar -C "$sample" -czf "$out/evidence.tar.gz" broker-1 consumer-1 effects.csv
run 0 "$out/evidence.tar.gz"
has '"trigger": "session_timeout"'
has 'evidence.tar.gz!consumer-1/app.log'
has '"host": "consumer-1"'

# Standard input.
rm -rf "$out/report"
"$a" analyze - -o "$out/report" --quiet <"$sample/broker-1/server.log"
has '"trigger": "session_timeout"'
