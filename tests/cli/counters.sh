# SPDX-License-Identifier: MIT
# Counters of many tools in one folder: what each sees is a window, what is sampled
# too seldom is said, a snapshot alone is kept, and healthy twins open none.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

fails() { echo "$*"; cat "$out/text" "$out/err" 2>/dev/null; exit 1; }
# analyze NAME: with the exit code 0
analyze() {
	"$a" analyze "$out/$1" -o "$out/report" >"$out/text" 2>"$out/err" || fails "$1: exit code $?"
}
says() { grep -q "$1" "$out/text" || fails "not said: $1"; }
says_not() { ! grep -q "$1" "$out/text" || fails "said: $1"; }
json() { tr -d ' \n' <"$out/report/report.json" | grep -q "$1" || fails "not in the JSON: $1"; }

# loop FILE DROPS...: softnet_stat each second
loop() {
	file=$1
	second=0
	shift
	for drops; do
		printf '2026-11-30T10:00:0%d.000000Z\n==> /proc/net/softnet_stat <==\n' $second
		printf '%08x %08x 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n' $((second * 100)) "$drops"
		second=$((second + 1))
	done >"$file"
}

mkdir -p "$out/ill/node-a" "$out/well/node-a" "$out/coarse/node-a" "$out/alone/node-a"

loop "$out/ill/node-a/softnet.log" 0 0 5 5
analyze ill
says '^  W1 .*softnet *node-a'
says_not '^  W2 '
json '"kind":"softnet","host":"node-a","start":"2026-11-30T10:00:00.000000Z","end":"2026-11-30T10:00:03.000000Z","scope":"host","interval_ms":1000'

loop "$out/well/node-a/softnet.log" 5 5 5 5
analyze well
says 'None was found in the evidence'
says 'softnet *node-a.*1.000 s *host'

# Ten minutes apart, thousands of retransmissions.
{
	printf 'Linux 6.1.0 (node-a) \t2026-11-30 \t_x86_64_\t(2 CPU)\n\n10:00:00     active/s passive/s    iseg/s    oseg/s\n'
	printf '10:10:00         0.00      0.00     10.00     20.00\n10:20:00         0.00      0.00     10.00     20.00\nAverage:         0.00      0.00     10.00     20.00\n\n'
	printf '10:00:00     atmptf/s  estres/s retrans/s isegerr/s   orsts/s\n'
	printf '10:10:00         0.00      0.00      5.00      0.00      0.00\n10:20:00         0.00      0.00      5.00      0.00      0.00\n'
} >"$out/coarse/node-a/sar.txt"
analyze coarse
says_not '^  W1 '
says 'The samples of snmp on node-a lie 10 min apart, longer than the session timeout'
json '"scope":"namespace","interval_ms":600000'

# The verdict says what it rests on, where there is one: the sampling of the coarsest, in the chapter of windows and at the top.
eviction='[2026-11-30 10:05:31,207] INFO [GroupCoordinator 1]: Member c-1-7f in group refunds has failed, removing it from the group (kafka.coordinator.group.GroupCoordinator)'
verdict_says() { sed -n '1,/^Timeline/p' "$out/text" | tr '\n' ' ' | grep -q "$1" || fails "not said at the top: $1"; }
says_not 'verdict rests on counters'
echo "$eviction" >"$out/coarse/server.log"
analyze coarse
verdict_says 'verdict rests on counters alone. The samples of snmp on node-a lie 10 min apart, longer than the session'
echo "$eviction" >"$out/ill/server.log"
analyze ill
verdict_says 'verdict rests on counters alone. The samples of softnet on node-a lie 1.000 s apart, the others no further'

printf 'Tcp: OutSegs RetransSegs\nTcp: 1000 500\n' >"$out/alone/node-a/snmp.txt"
analyze alone
says_not '^  W1 '
says 'a single sample of snmp'
