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

# has PROGRAM: whether the peer is installed; says so when it is not
has() {
	command -v "$1" >/dev/null 2>&1 && return 0
	echo "  $1 is not installed: left out"
	return 1
}
