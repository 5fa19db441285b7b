# SPDX-License-Identifier: MIT
# Captures that are quiet, or look like trouble and are none, open no window;
# those with trouble do; and a capture that is compressed, in an archive or
# comes through a pipe says the same as the file.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
samples=samples/captures
seeds=tests/fuzz/corpus/capture

# windows INPUT...: the windows of the report, without what names the input; standard input is passed on
windows() {
	rm -rf "$out/report"
	status=0
	"$a" analyze "$@" -o "$out/report" --quiet >/dev/null 2>"$out/err" || status=$?
	[ "$status" = 0 ] || [ "$status" = 3 ] || { echo "exit code $status: $*"; cat "$out/err"; exit 1; }
	sed -n '/^ "windows": \[/,/^ \]/p' "$out/report/report.json" | grep -v '"input"'
}

# Quiet: every link type and format; then the traps, by what they may be taken for.
for quiet in "$samples/f-lp-geneve.pcap" "$samples/f-pp-nanosecs_big_endian.pcap" "$samples/f-td-bigtcp-ipv4.pcap" \
	"$samples/f-td-mptcp-v1.pcap" "$samples/t-zk-window-scale-range.pcap" "$seeds/f-zk-snap-tcp.pcap" \
	"$seeds/f-sv-defrag-ppp.pcap" "$seeds/f-ng-be-test008.pcapng" "$seeds/f-ng-be-test101.pcapng" \
	"$seeds/f-ng-le-test006.pcapng" "$seeds/f-zk-linux_dlt_sll2.pcap" \
	"$samples/t-sv-bug-5867-dupacks.pcap" "$samples/t-df-client-keep-alive.pcap" "$samples/t-sv-simple-gap2.pcap" \
	"$samples/t-ark-tcpseq_synthetic.pcap" "$seeds/t-sv-overlap2.pcap" "$seeds/t-df-l4-source-port-reuse.pcap"; do
	windows "$quiet" >"$out/windows"
	grep -q '"windows": \[\]' "$out/windows" || { echo "$quiet opens a window:"; cat "$out/windows"; exit 1; }
done

for loud in "$samples/lab-blip.pcap" "$samples/t-df-server-queue-lack.pcap" "$seeds/t-df-rtt-rtt-2.pcap"; do
	windows "$loud" >"$out/windows"
	grep -q '"kind": "blackout"' "$out/windows" || { echo "$loud opens no window"; exit 1; }
done

# The same capture, otherwise come by.
blip=$samples/lab-blip.pcap
windows "$blip" >"$out/as-file"
gzip -c "$blip" >"$out/blip.pcap.gz"
mkdir "$out/folder"
cp "$blip" "$out/folder/"
tar -C "$out/folder" -cf "$out/blip.tar" lab-blip.pcap
same() { cmp -s "$out/as-file" "$out/windows" || { echo "$1 says something else than the file"; diff "$out/as-file" "$out/windows"; exit 1; }; }
windows "$out/blip.pcap.gz" >"$out/windows"
same "compressed, it"
windows "$out/blip.tar" >"$out/windows"
same "in an archive, it"
windows - <"$blip" >"$out/windows"
same "from a file as standard input, it"
cat "$blip" | windows - >"$out/windows"
same "through a pipe, it"
gzip -dc "$out/blip.pcap.gz" | head -c 165000 | windows - >"$out/windows"
grep -q '"code": "capture.truncated"' "$out/report/report.json"
grep -q 'stopped at packet [0-9]*: the file ends inside it' "$out/report/report.json"
