/* SPDX-License-Identifier: MIT */
/*
 * /proc/net/snmp and /proc/net/netstat: pairs of lines with the same prefix,
 * names and then values. Names and their number differ by kernel, so columns
 * are found by name. The figures are those of the network namespace in which
 * they were read.
 */

#include "input/counters/counters.h"

static const struct counter snmp_counters[] = {
	{ "ip.InDiscards", "Ip:InDiscards", NULL, "packets that the host threw away for want of memory" },
	{ "tcp.OutSegs", "Tcp:OutSegs", NULL, "the measure of RetransSegs" },
	{ "tcp.RetransSegs", "Tcp:RetransSegs", NULL, "segments sent again, loss probes included" },
	{ "tcp.InErrs", "Tcp:InErrs", NULL, "segments that arrived damaged" },
	{ "tcp.AttemptFails", "Tcp:AttemptFails", NULL, "connections that could not be opened" },
	{ "tcp.EstabResets", "Tcp:EstabResets", NULL, "connections given up or reset" },
	{ "udp.RcvbufErrors", "Udp:RcvbufErrors", NULL, "datagrams lost at a full socket: name look-ups" },
};

static const struct counter netstat_counters[] = {
	{ "tcpext.TCPTimeouts", "TcpExt:TCPTimeouts", NULL,
	  "a retransmission timer ran out: a socket stalled at least 200 ms" },
	{ "tcpext.TCPLostRetransmit", "TcpExt:TCPLostRetransmit", NULL, "a retransmission was lost too: heavy loss" },
	{ "tcpext.TCPSpuriousRTOs", "TcpExt:TCPSpuriousRTOs", NULL, "the timer ran out needlessly: delay, not loss" },
	{ "tcpext.TCPSynRetrans", "TcpExt:TCPSynRetrans", NULL, "reconnects that were not answered" },
	{ "tcpext.TCPSpuriousRtxHostQueues", "TcpExt:TCPSpuriousRtxHostQueues", NULL,
	  "not sent again, since the first still stood in the host's own queue: the interface does not send" },
	{ "tcpext.TCPAbortOnTimeout", "TcpExt:TCPAbortOnTimeout", NULL, "connections given up after all retries" },
	{ "tcpext.TCPBacklogDrop", "TcpExt:TCPBacklogDrop", NULL, "the receiver's socket was too slow, not the wire" },
	{ "tcpext.TCPRcvQDrop", "TcpExt:TCPRcvQDrop", NULL, "no memory for the receive queue" },
	{ "tcpext.TCPZeroWindowDrop", "TcpExt:TCPZeroWindowDrop", NULL, "data that came while the window was closed" },
	{ "tcpext.TCPReqQFullDrop", "TcpExt:TCPReqQFullDrop", NULL, "a listener's queue of openings was full" },
	{ "tcpext.ListenDrops", "TcpExt:ListenDrops", NULL, "a listener refused connections" },
	{ "tcpext.ListenOverflows", "TcpExt:ListenOverflows", NULL, "a listener's accept queue was full" },
	{ "tcpext.TcpTimeoutRehash", "TcpExt:TcpTimeoutRehash", NULL, "after a timeout another way was tried (ECMP)" },
	{ "ipext.InCsumErrors", "IpExt:InCsumErrors", NULL, "packets that arrived damaged" },
};

#define COUNT_OF(a) (sizeof(a) / sizeof(a)[0])

static const char *const snmp_prefixes[] = { "Ip:", "Icmp:", "IcmpMsg:", "Tcp:", "Udp:", "UdpLite:" };
static const char *const netstat_prefixes[] = { "TcpExt:", "IpExt:", "MPTcpExt:" };

static const char *prefix_of(struct sv word, const char *const *prefixes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (sv_eq(word, sv_of(prefixes[i])))
			return prefixes[i];
	return NULL;
}

static bool has_readings_of(const struct counter_family *f, const struct counter_block *b, struct sv prefix)
{
	for (size_t i = 0; i < b->count; i++)
		if (sv_starts_with(sv_of(f->counters[b->readings[i].counter].column), prefix))
			return true;
	return false;
}

/* The columns of the counters with this prefix; those of others are not in this line. */
static enum counter_line take_names(const struct counter_family *f, struct counter_block *b, const char *prefix,
				    struct sv names)
{
	struct sv p = sv_of(prefix);

	if (has_readings_of(f, b, p))
		return COUNTER_LINE_AGAIN;
	b->header_prefix = prefix;
	b->column_count = 0;
	for (size_t i = 0; i < f->counter_count; i++)
		b->column_of[i] = -1;
	for (struct sv word = counter_word(&names); !sv_is_absent(word); word = counter_word(&names), b->column_count++)
		for (size_t i = 0; i < f->counter_count; i++) {
			struct sv column = sv_of(f->counters[i].column);

			if (sv_starts_with(column, p) && sv_eq(sv_sub(column, p.n, column.n), word))
				b->column_of[i] = (int)b->column_count;
		}
	return COUNTER_LINE_TAKEN;
}

static enum counter_line take_values(const struct counter_family *f, struct counter_block *b, const struct line *line,
				     struct sv values, const char **why)
{
	size_t n = 0, before = b->count;
	bool good = true;
	uint64_t value;

	b->header_prefix = NULL;
	for (struct sv word = counter_word(&values); !sv_is_absent(word); word = counter_word(&values), n++)
		for (size_t i = 0; i < f->counter_count; i++) {
			if (b->column_of[i] != (int)n)
				continue;
			if (sv_to_u64(word, &value))
				counter_add(b, i, -1, value, line);
			else
				good = false;
		}
	if (good && n == b->column_count) {
		b->rows++;
		return COUNTER_LINE_TAKEN;
	}
	b->count = before;
	*why = "a line of values has a number for each name in the line before it";
	return COUNTER_LINE_DAMAGED;
}

static enum counter_line take(const struct counter_family *f, const char *const *prefixes, size_t prefix_count,
			      struct counter_block *b, const struct line *line, const char **why)
{
	struct sv rest = line->text;
	const char *prefix = prefix_of(counter_word(&rest), prefixes, prefix_count);

	if (prefix == NULL)
		return COUNTER_LINE_OTHER;
	struct sv words = rest, first = counter_word(&words);
	if (sv_is_absent(first) || line->text.n > LINE_BYTES_MAX / 16) {
		*why = "names or values follow the prefix";
		return COUNTER_LINE_DAMAGED;
	}
	if (first.p[0] != '-' && (first.p[0] < '0' || first.p[0] > '9'))
		return take_names(f, b, prefix, rest);
	if (b->header_prefix == prefix)
		return take_values(f, b, line, rest, why);
	/* The names were passed over because they came a second time. */
	if (has_readings_of(f, b, sv_of(prefix)))
		return COUNTER_LINE_AGAIN;
	*why = "a line of values follows a line of names with the same prefix";
	return COUNTER_LINE_DAMAGED;
}

static enum counter_line take_snmp(struct counter_block *b, const struct line *line, const char **why)
{
	return take(&counters_snmp, snmp_prefixes, COUNT_OF(snmp_prefixes), b, line, why);
}

static enum counter_line take_netstat(struct counter_block *b, const struct line *line, const char **why)
{
	return take(&counters_netstat, netstat_prefixes, COUNT_OF(netstat_prefixes), b, line, why);
}

const struct counter_family counters_snmp = {
	.name = "snmp",
	.format = "snmp",
	.counters = snmp_counters,
	.counter_count = COUNT_OF(snmp_counters),
	.take = take_snmp,
};

const struct counter_family counters_netstat = {
	.name = "netstat",
	.format = "netstat",
	.counters = netstat_counters,
	.counter_count = COUNT_OF(netstat_counters),
	.take = take_netstat,
};
