# SPDX-License-Identifier: MIT
#
# For the bench_*.sh: ratios of two commands, run in turn in pairs, so that what
# else the machine does falls on both alike. Sourced; needs $BENCH_DIR, $BENCH_PAIRS
# and the timer $BUILD/bench_pair.

# ratio BAR NAME -- COMMAND OF THE PEER ... -- OUR COMMAND ...
# Prints the median of peer / ours with its spread; says whether the BAR ("-": none) is held. Output of both
# goes to files: some tools stop at the first match when it is thrown away.
ratio() {
	"$BUILD/bench_pair" "$BENCH_PAIRS" "$BENCH_DIR" "$@"
}

# as_found FILE: has it read from the disk, as files are that lie there. The kernel keeps a file in pieces as large as
# it was read or written in, and which these are is worth a fifth of every reader's time, and half of its spread.
as_found() {
	dd of="$1" oflag=nocache conv=notrunc,fdatasync count=0 2>/dev/null
	cat "$1" >/dev/null
}

# has PROGRAM: whether the peer is installed; says so when it is not
has() {
	command -v "$1" >/dev/null 2>&1 && return 0
	echo "  $1 is not installed: left out"
	return 1
}
