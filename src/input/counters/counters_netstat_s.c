/* SPDX-License-Identifier: MIT */
/*
 * "netstat -s" of net-tools: sections by protocol, sentences in English for old
 * counters and "Name: value" for newer ones. The sentences that matter are a
 * table, in the spellings of old and new releases.
 */

#include "input/counters/loop.h"

static const struct {
	struct sv section, sentence;
	enum counter_id counter;
} sentences[] = {
#define SENTENCE(section, text, counter) { { section, sizeof section - 1 }, { text, sizeof text - 1 }, counter }
	SENTENCE("Ip", "incoming packets discarded", IP_IN_DISCARDS),
	SENTENCE("Tcp", "failed connection attempts", TCP_ATTEMPT_FAILS),
	SENTENCE("Tcp", "connection resets received", TCP_ESTAB_RESETS),
	SENTENCE("Tcp", "segments sent out", TCP_OUT_SEGS),
	SENTENCE("Tcp", "segments send out", TCP_OUT_SEGS),
	SENTENCE("Tcp", "segments retransmitted", TCP_RETRANS_SEGS),
	SENTENCE("Tcp", "segments retransmited", TCP_RETRANS_SEGS),
	SENTENCE("Tcp", "bad segments received", TCP_IN_ERRS),
	SENTENCE("Udp", "receive buffer errors", UDP_RCVBUF_ERRORS),
	SENTENCE("TcpExt", "other TCP timeouts", TCP_TIMEOUTS),
	SENTENCE("TcpExt", "retransmits lost", TCP_LOST_RETRANSMIT),
	SENTENCE("TcpExt", "times the listen queue of a socket overflowed", TCP_LISTEN_OVERFLOWS),
	SENTENCE("TcpExt", "SYNs to LISTEN sockets dropped", TCP_LISTEN_DROPS),
	SENTENCE("TcpExt", "SYNs to LISTEN sockets ignored", TCP_LISTEN_DROPS),
	SENTENCE("TcpExt", "connections aborted due to timeout", TCP_ABORT_ON_TIMEOUT),
#undef SENTENCE
};

static const char *const sections[] = { "Ip:",	 "Icmp:",   "IcmpMsg:", "Tcp:",	     "Udp:",   "UdpLite:",
					"TcpExt:", "IpExt:", "MPTcpExt:", "Ip6:", "Icmp6:", "Udp6:", "UdpLite6:" };

static const char *section_of(struct sv text)
{
	for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
		if (sv_eq(text, sv_of(sections[i])))
			return sections[i];
	return NULL;
}

static struct sv name_of(const char *section)
{
	struct sv s = sv_of(section);

	return sv_sub(s, 0, s.n - 1);
}

/* "26 segments retransmitted" */
static bool by_sentence(struct sv section, struct sv text, enum counter_id *id, uint64_t *value)
{
	struct sv rest = text;

	if (!sv_to_u64(counter_word(&rest), value))
		return false;
	rest = sv_trim(rest);
	if (sv_ends_with(rest, SV(".")))
		rest.n--;
	for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++)
		if (sv_eq(section, sentences[i].section) && sv_eq(rest, sentences[i].sentence)) {
			*id = sentences[i].counter;
			return true;
		}
	return false;
}

/* "TCPTimeouts: 1" */
static bool by_name(struct sv section, struct sv text, enum counter_id *id, uint64_t *value)
{
	struct sv number = text, name = sv_cut(&number, ':');

	return !sv_is_absent(number) && sv_to_u64(sv_trim(number), value) && counter_by_column(section, name, id);
}

/* "time: 1796045689" is the loop's clock. */
static bool is_clock_label(struct sv name)
{
	static const struct sv labels[] = { { "time", 4 }, { "date", 4 }, { "ts", 2 }, { "timestamp", 9 }, { "epoch", 5 } };

	for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
		if (sv_eq_nocase(name, labels[i]))
			return true;
	return false;
}

/* A row of a section that is not wanted: "3 active connection openings", "InOctets: 5", "destination unreachable: 2". */
static bool is_row(struct sv text)
{
	struct sv rest = text, first = counter_word(&rest), number = text;
	uint64_t value;

	if (is_clock_label(sv_cut(&number, ':')))
		return false;
	return (sv_to_u64(first, &value) && rest.n > 1 && sv_trim(rest).p[0] >= 'A') ||
	       (!sv_is_absent(number) && sv_to_u64(sv_trim(number), &value)) || sv_ends_with(text, SV(":")) ||
	       sv_starts_with(text, SV("Detected reordering")) || sv_starts_with(text, SV("Forwarding: ")) ||
	       sv_starts_with(text, SV("Quick ack mode"));
}

enum loop_line netstat_s_take(struct loop_block *b, const struct line *line, const char **why)
{
	const char *section = section_of(line->text);
	enum counter_id id;
	uint64_t value;

	(void)why;
	if (section != NULL) {
		b->header_prefix = section;
		b->in_rows = true;
		return LOOP_LINE_TAKEN;
	}
	if (!b->in_rows || b->header_prefix == NULL)
		return LOOP_LINE_OTHER;
	struct sv name = name_of(b->header_prefix);
	if (by_sentence(name, line->text, &id, &value) || by_name(name, line->text, &id, &value)) {
		if (loop_has(b, id, SV_ABSENT))
			return LOOP_LINE_AGAIN;
		loop_add(b, id, -1, value, line);
		b->rows++;
		return LOOP_LINE_TAKEN;
	}
	if (is_row(line->text))
		return LOOP_LINE_TAKEN;
	b->in_rows = false;
	return LOOP_LINE_OTHER;
}
