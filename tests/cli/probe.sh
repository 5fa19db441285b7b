# SPDX-License-Identifier: MIT
# What the probe records is what ingest reads: to the last whole sample when it
# is killed, over several starts, with and without privileges. What it cannot
# read or write it says.
set -eu
: "${BUILD:=build}"
a=$BUILD/aftershock
# The leak checker wants to trace its process, which one that gave up its privileges does not let it.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
out=$(mktemp -d)
chmod 755 "$out"
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null || true; rm -rf "$out"' EXIT

fails() { echo "$*"; cat "$out/err" 2>/dev/null; exit 1; }
samples() { touch "$1" && grep -c '^20[0-9-]*T[0-9:]*\.[0-9]\{6\}Z$' "$1" || true; }
# until_samples FILE N: waits until the file has that many
until_samples() {
	for try in $(seq 500); do
		[ "$(samples "$1")" -ge "$2" ] && return
		sleep 0.02
	done
	fails "$1 has $(samples "$1") samples, expected $2"
}
# start FILE OPTION...: a probe in the background
start() {
	file=$1
	shift
	"$a" probe --interval 50ms -o "$file" "$@" 2>"$out/err" &
	pid=$!
}
# ends CODE SIGNAL: how it ends
ends() {
	kill -"$2" $pid
	status=0
	wait $pid || status=$?
	pid=
	[ "$status" = "$1" ] || fails "exit code $status after $2, expected $1"
}
# code EXPECTED COMMAND...
code() {
	expected=$1
	shift
	status=0
	"$@" >"$out/out" 2>"$out/err" || status=$?
	[ "$status" = "$expected" ] || fails "exit code $status, expected $expected: $*"
}
says() { grep -q -- "$1" "$out/err" || fails "standard error lacks: $1"; }
# read_back CODES INPUT: ingest takes it for counters; report.json tells
read_back() {
	rm -rf "$out/report"
	status=0
	"$a" analyze "$2" -o "$out/report" --quiet 2>"$out/err" || status=$?
	case " $1 " in *" $status "*) ;; *) fails "exit code $status of analyze $2, expected one of $1" ;; esac
	grep -q '"kind": "counters"' "$out/report/report.json" || fails "$2 is not read as counters"
}
# covers FILE N: the report covers FILE to its sample N or, when that one is torn, to the one before
covers() {
	end=$(grep -A 3 '"kind": "snmp"' "$out/report/report.json" | sed -n 's/^ *"end": "\(.*\)".*/\1/p' | sort | tail -n 1)
	grep '^20[0-9-]*T[0-9:]*\.[0-9]\{6\}Z$' "$1" | sed -n "$(($2 - 1)),$2p" | grep -q "^$end$" ||
		fails "covered to $end, which is neither sample $2 of $1 nor the one before"
}

# Until interrupted: it ends with a whole sample, and all of them are read.
start "$out/a.probe"
until_samples "$out/a.probe" 4
ends 0 INT
says "recording"
says "missed"
head -n 1 "$out/a.probe" | grep -q "^# aftershock probe .* host=$(uname -n) interval_ms=50 " || fails "no head line"
tail -n 1 "$out/a.probe" | grep -q "^# ended: $(samples "$out/a.probe") samples, " || fails "no last line"
grep -q '^==> /proc/net/snmp <==$' "$out/a.probe"
[ "$(grep -c '^==> /proc/net/netstat <==$' "$out/a.probe")" = "$(samples "$out/a.probe")" ] || fails "not all in each sample"
[ -z "$(tail -c 1 "$out/a.probe" | tr -d '\n')" ] || fails "the last line has no end"
read_back 0 "$out/a.probe"
covers "$out/a.probe" "$(samples "$out/a.probe")"
grep -q "\"host\": \"$(uname -n)\"" "$out/report/report.json" || fails "the host is not taken from the file"

# What the folder says of the host wins.
mkdir -p "$out/evidence/consumer-7"
cp "$out/a.probe" "$out/evidence/consumer-7"
read_back 0 "$out/evidence"
grep -q '"host": "consumer-7"' "$out/report/report.json" || fails "the host is not the folder's"

# Killed: what was written is there.
start "$out/k.probe"
until_samples "$out/k.probe" 4
ends 137 KILL
whole=$(samples "$out/k.probe")
read_back "0 3" "$out/k.probe"
covers "$out/k.probe" "$whole"

# Of all that it wrote nothing is unknown, and each source gives the coverage of its kind. A connection
# that lasts and sends is counted: where nobody can make one, connections that are refused.
start "$out/all.probe"
until_samples "$out/all.probe" 2
if command -v python3 >/dev/null; then
	python3 -c '
import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(1)
a = socket.create_connection(s.getsockname()); b, _ = s.accept()
for i in range(10):
    a.send(b"x" * 1000); b.recv(1000); time.sleep(0.05)'
elif command -v bash >/dev/null; then
	for try in 1 2 3; do
		bash -c ': >/dev/tcp/127.0.0.1/9' 2>/dev/null || true
	done
fi
until_samples "$out/all.probe" $(($(samples "$out/all.probe") + 3))
ends 137 KILL
read_back "0 3" "$out/all.probe"
grep -q '^   "unrecognized": 0,' "$out/report/report.json" || fails "lines of the probe are unknown"
while read -r file kind; do
	# Only Python made a connection that lasts.
	[ "$kind" != sockets ] || command -v python3 >/dev/null || continue
	# Some kernels lack it; of connections there may be none.
	grep -A 1 "^==> $file <==" "$out/all.probe" | grep -qv -e '^==>' -e '^--' || continue
	sed -n '/^ "coverage": \[/,/^ \]/p' "$out/report/report.json" | grep -q "\"kind\": \"$kind\"" ||
		fails "$file gives no coverage of $kind"
done <<END
/proc/net/softnet_stat softnet
/proc/net/stat/nf_conntrack conntrack
/proc/sys/net/netfilter/nf_conntrack_count conntrack_table
/proc/net/snmp snmp
/proc/net/netstat netstat
/proc/net/dev interface
/sys/class/net/lo/carrier_changes interface
/proc/pressure/cpu pressure
/sys/fs/cgroup.*cpu.stat cpu_quota
ss.* sockets
END
# Its segments are counted.
if command -v bash >/dev/null || command -v python3 >/dev/null; then
	grep -aq 'tcp\.OutSegs' "$out/report/incident.db" || fails "segments on loopback are not counted"
fi

# Wherever the last sample is torn, those before it are read.
size=$(wc -c <"$out/k.probe")
for torn in 1 2 37 300 700 1100 2300; do
	head -c $((size - torn)) "$out/k.probe" >"$out/torn.probe"
	read_back "0 3" "$out/torn.probe"
	covers "$out/k.probe" "$whole"
done

# Started again, it goes on in the same file.
start "$out/torn.probe"
until_samples "$out/torn.probe" $((whole + 2))
ends 0 TERM
[ "$(grep -c '^# aftershock probe ' "$out/torn.probe")" = 2 ] || fails "two starts, two head lines"
read_back "0 3" "$out/torn.probe"
covers "$out/torn.probe" "$(samples "$out/torn.probe")"

# A terminal that goes away ends it, unless nohup says otherwise: it may say so of this very test.
if ! grep -q '^SigIgn:.*[13579bdf]$' /proc/self/status; then
	start "$out/h.probe"
	until_samples "$out/h.probe" 2
	ends 0 HUP
fi
trap '' HUP
start "$out/n.probe"
trap - HUP
until_samples "$out/n.probe" 2
kill -HUP $pid
until_samples "$out/n.probe" $(($(samples "$out/n.probe") + 3))
ends 0 TERM

# By itself after its duration, to standard output.
code 0 "$a" probe --interval 20ms --duration 100ms -o - --quiet
[ ! -s "$out/err" ] || fails "--quiet is not"
[ "$(samples "$out/out")" -ge 2 ] || fails "too few samples on standard output"

# Into a pipe, until its reader goes away: a failed write with a message.
mkfifo "$out/pipe"
head -n 3 "$out/pipe" >"$out/head" &
reader=$!
code 1 timeout 30 "$a" probe --interval 20ms -o "$out/pipe"
says "pipe cannot be written: Broken pipe"
wait $reader
head -n 1 "$out/head" | grep -q '^# aftershock probe '

# Ticks that were missed are told, not made up for.
start "$out/missed.probe"
until_samples "$out/missed.probe" 2
kill -STOP $pid
before=$(samples "$out/missed.probe")
sleep 0.6
kill -CONT $pid
until_samples "$out/missed.probe" $((before + 1))
sed -n '/^# .* samples were missed before this one$/p' "$out/missed.probe" >"$out/told"
ends 0 INT
[ "$(sed 's/[^0-9]//g' "$out/told" | sort -n | tail -n 1)" -ge 5 ] || fails "missed samples are not told"

# What cannot be read, written or opened.
code 0 "$a" probe --interval 20ms --duration 50ms --cgroup "$out/none" -o "$out/c.probe"
says "$out/none/cpu.stat cannot be read (No such file or directory)"
grep -q "^# not read: $out/none/cpu.stat: " "$out/c.probe"
code 1 "$a" probe -o /dev/full
says "cannot be written: No space left"
echo '[2026-11-30 10:00:00,000] INFO started' >"$out/server.log"
cp "$out/server.log" "$out/kept.log"
code 1 "$a" probe -o "$out/server.log"
says "was not written by a probe"
cmp "$out/server.log" "$out/kept.log"
code 1 "$a" probe -o "$out/none/a.probe"
says "none/a.probe"
code 1 "$a" probe --capture no-such-if0 -o "$out/d.probe"
says "no-such-if0"
code 1 "$a" probe --user no-such-user -o "$out/d.probe"
says "no-such-user"

# Wrong usage.
code 2 "$a" probe
says "needs -o FILE"
code 2 "$a" probe --interval 1ms -o "$out/e.probe"
says "from 10ms to 1h"
code 2 "$a" probe --capture lo -o -
says "beside it"
code 2 "$a" probe --ports 9092,kafka -o "$out/e.probe"
says "port numbers"
code 2 "$a" probe --filter tcp -o "$out/e.probe"
says "needs --capture"
code 2 "$a" probe --capture lo --capture-size 1k -o "$out/e.probe"
says "from 64k"
test ! -e "$out/e.probe"

# Without privileges counters are recorded all the same, packets are refused with the reason.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	cp "$a" "$out/aftershock"
	mkdir "$out/theirs"
	chown 65534 "$out/theirs"
	plain="setpriv --reuid=65534 --regid=65534 --clear-groups $out/aftershock"
	code 0 $plain probe --interval 20ms --duration 100ms -o "$out/theirs/a.probe"
	read_back 0 "$out/theirs/a.probe"
	code 1 $plain probe --capture lo -o "$out/theirs/b.probe"
	says "packets of lo cannot be captured"
	code 1 $plain probe --user daemon -o "$out/theirs/c.probe"
	says "only root can become"
fi

# With privileges: dropped once all is open; packets lie beside the counters, in a ring.
[ "$(id -u)" = 0 ] || exit 0
if ! "$a" probe --capture lo --duration 10ms -o "$out/try.probe" 2>/dev/null; then
	exit 0 # a container without CAP_NET_RAW
fi
mkdir "$out/host-1"
start "$out/host-1/a.probe" --capture lo --capture-files 2
until_samples "$out/host-1/a.probe" 1
nobody=$(id -u nobody)
[ "$(sed -n 's/^Uid:[^0-9]*//p' /proc/$pid/status | tr -s '\t' ' ')" = "$nobody $nobody $nobody $nobody" ] || fails "still root"
grep -q '^CapPrm:.*0000000000000000$' /proc/$pid/status || fails "capabilities are left"
sent=no
if command -v bash >/dev/null; then
	for try in 1 2 3; do
		bash -c ': >/dev/tcp/127.0.0.1/9' 2>/dev/null || true
	done
	sent=yes
fi
ends 0 INT
grep -q '^# capture of lo: .*a.probe.0.pcap to .1.pcap' "$out/host-1/a.probe"
[ "$(ls -l "$out/host-1/a.probe.0.pcap" | cut -c 1-10)" = -rw------- ] || fails "packets are for all to read"
if [ $sent = yes ]; then
	tail -n 2 "$out/host-1/a.probe" | grep -q '^# capture: [1-9][0-9]* packets' || fails "no packets are told"
	# Exit code 0: the file that was not turned to is a capture without packets, no empty file.
	read_back 0 "$out/host-1"
	grep -q '"kind": "capture"' "$out/report/report.json" || fails "packets are not read"
fi
