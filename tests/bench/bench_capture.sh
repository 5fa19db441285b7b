#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Reading of captures with Kafka in them, the whole of "aftershock ingest",
# against the tools that analyse captures; and its memory, whatever the size of
# the file and for ten thousand connections.

set -u
. tests/bench/ratio.sh

# Kafka's dissector is told the port, and asked for what is decoded here.
TSHARK_MB=100
MEMORY_MB=64
CONNECTIONS=10000
failed=0

# made MB NAME [CONNECTIONS [SNAPLEN]]: the capture, made once
made() {
	file=$BENCH_DIR/$2
	megabytes=$1
	shift 2
	[ -s "$file" ] || "$BUILD/gen_capture" "$megabytes" "$file" "$@" || exit 1
	as_found "$file"
}

# ours FILE: prints the command
ours() {
	echo "$BUILD/aftershock ingest -q --db $BENCH_DIR/bench.db $1"
}

# memory NAME FILE: the peak of reading it
memory() {
	peak=$("$BUILD/bench_pair" --peak "$BENCH_DIR" $(ours "$2")) || { failed=1; return; }
	held=held
	[ "$peak" -lt "$MEMORY_MB" ] || { held="NOT HELD"; failed=1; }
	printf '  %-46s %7d  MB  bar %d: %s\n' "$1" "$peak" "$MEMORY_MB" "$held"
}

echo "captures ($BENCH_MB MB, Kafka):"
made "$BENCH_MB" "capture-$BENCH_MB.pcap"
whole=$file
if has tcptrace; then
	ratio 6 "tcptrace / aftershock" -- tcptrace -n -l -r "$whole" -- $(ours "$whole") || failed=1
fi
made "$BENCH_MB" "capture-$BENCH_MB-96.pcap" 400 96
cut=$file
if has tcptrace; then
	ratio - "tcptrace / aftershock, 96 bytes of each" -- tcptrace -n -l -r "$cut" -- $(ours "$cut") || failed=1
fi
made "$TSHARK_MB" "capture-$TSHARK_MB.pcap"
if has tshark; then
	ratio 100 "tshark -T fields / aftershock, $TSHARK_MB MB" -- \
		tshark -n -r "$file" -d tcp.port==9092,kafka -T fields -e tcp.stream -e tcp.len -e tcp.analysis.retransmission \
		-e tcp.analysis.ack_rtt -e kafka.api_key -e kafka.correlation_id -- $(ours "$file") || failed=1
fi
memory "memory, $BENCH_MB MB" "$whole"
made 200 "capture-$CONNECTIONS.pcap" "$CONNECTIONS"
memory "memory, $CONNECTIONS connections" "$file"
exit $failed
