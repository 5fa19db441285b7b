/* SPDX-License-Identifier: MIT */
/*
 * The table of connections: each segment finds its own, and what it says is
 * passed to the parts: its direction (tcp_flow.h), the other direction's stall
 * (tcp_stall.h), the pair of hosts (tcp_pair.h). What they find is reported
 * (tcp_report.h).
 */

#include "input/capture/tcp.h"

#include <string.h>

#include "base/arena.h"
#include "input/capture/kafka.h"
#include "input/capture/tcp_activity.h"
#include "input/capture/tcp_calm.h"
#include "input/capture/tcp_conn.h"
#include "input/capture/tcp_copy.h"
#include "input/capture/tcp_key.h"
#include "input/capture/tcp_pair.h"
#include "input/capture/tcp_report.h"
#include "input/capture/tcp_sight.h"
#include "input/capture/tcp_stall.h"
#include "input/capture/tcp_table.h"

/* Open at once; the least recently active gives way. About 3 KB each. */
#define CONNECTIONS_MAX 16384

#define RTO_LEAST_US (200 * US_PER_MS)
/* The median is not the smoothed round trip, and timers tick. */
#define RTO_SLACK_US (20 * US_PER_MS)

struct tcp {
	struct arena *arena;
	struct tcp_report report;
	struct tcp_sights sights;
	struct tcp_copies *copies;
	struct tcp_pairs *pairs;
	struct kafka *kafka;
	struct tcp_table table;
	struct tcp_activity activity;
	struct tcp_conn *free;
	size_t connections;
	int64_t now_us;		/* does not go back but across a hole */
	uint64_t copy_count, late_count, evicted;
};

/* The ends of a segment's connection, the sender first. */
struct ends {
	struct tcp_address address[2];
	uint16_t port[2];
};

static struct ends ends_of(const struct segment *s)
{
	struct ends e = { .address = { { .version = s->ip_version }, { .version = s->ip_version } },
			  .port = { s->source_port, s->destination_port } };
	size_t n = s->ip_version == 6 ? 16 : 4;

	memcpy(e.address[0].bytes, s->source, n);
	memcpy(e.address[1].bytes, s->destination, n);
	return e;
}

/* ---- the end of a connection ---- */

static void stop_connecting(struct tcp_conn *c)
{
	if (c->opening.seen && !c->opening.answered)
		c->pair->connecting--;
	c->opening.answered = true;
}

/* The process may still retry: it has not waited for twice the latest interval, by which Linux backs off. */
static bool may_retry(const struct tcp_conn *c, int64_t now_us)
{
	return now_us - c->opening.last_us <= 2 * c->opening.last_wait_us + US_PER_S;
}

static void cut_opening(struct tcp *t, struct tcp_conn *c)
{
	if (!c->opening.seen || c->opening.answered)
		return;
	if (c->opening.syns > 1)
		tcp_report_syn(&t->report, c, c->opening.last_us,
			       may_retry(c, t->now_us) ? TCP_SYN_CENSORED : TCP_SYN_ABANDONED);
	stop_connecting(c);
}

static void cut_window(struct tcp *t, struct tcp_flow *f, bool censored)
{
	if (f->window_closed)
		tcp_report_zero_window(&t->report, f, f->conn->last_us, censored);
	f->window_closed = false;
}

/* All that is in progress on the connection ends with the evidence. */
static void cut(struct tcp *t, struct tcp_conn *c)
{
	cut_opening(t, c);
	for (unsigned side = TCP_A; side <= TCP_B; side++) {
		tcp_stall_cut(&c->flow[side], t->now_us, &t->report);
		tcp_report_seconds(&t->report, &c->flow[side]);
		cut_window(t, &c->flow[side], !c->closed);
	}
}

static void forget(struct tcp *t, struct tcp_conn *c)
{
	cut(t, c);
	kafka_end(t->kafka, c, t->now_us, true);
	tcp_report_connection(&t->report, c);
	tcp_conn_leave(c);
	tcp_table_remove(&t->table, c);
	tcp_activity_remove(&t->activity, c->number);
	c->in_table = false;
	tcp_pairs_release(t->pairs, c->pair);
	c->next = t->free;
	t->free = c;
	t->connections--;
}

/* ---- the start of a connection ---- */

/* With its number. */
static struct tcp_conn *take_free(struct tcp *t)
{
	struct tcp_conn *c = t->free;

	if (c != NULL) {
		t->free = c->next;
		return c;
	}
	c = arena_alloc(t->arena, sizeof *c);
	c->number = tcp_activity_number(&t->activity, c);
	return c;
}

/*
 * Whether the sender is side a. A SYN tells; else a service known to be called
 * at one of the ends; else the higher port, as ephemeral ports are (RFC 6335).
 */
static bool is_caller(const struct tcp *t, const struct segment *s, const struct ends *e)
{
	const struct tcp_pair *calls, *called;

	if ((s->flags & TCP_SYN) != 0)
		return (s->flags & TCP_ACK) == 0;
	calls = tcp_pairs_find(t->pairs, s->domain, &e->address[0], &e->address[1], e->port[1]);
	called = tcp_pairs_find(t->pairs, s->domain, &e->address[1], &e->address[0], e->port[0]);
	if ((calls != NULL && calls->certain) != (called != NULL && called->certain))
		return calls != NULL && calls->certain;
	return e->port[0] >= e->port[1];
}

static struct tcp_conn *open_connection(struct tcp *t, const struct segment *s, const struct ends *e, unsigned *side)
{
	unsigned a = is_caller(t, s, e) ? 0 : 1;
	struct tcp_conn *c;

	if (t->connections == CONNECTIONS_MAX) {
		forget(t, tcp_activity_oldest(&t->activity));
		t->evicted++;
	}
	c = take_free(t);
	*c = (struct tcp_conn){ .address = { e->address[a], e->address[!a] }, .port = { e->port[a], e->port[!a] },
				.domain = s->domain, .hash = tcp_hash(s), .first = { t->now_us, s->place },
				.in_table = true, .number = c->number };
	for (unsigned i = TCP_A; i <= TCP_B; i++) {
		c->flow[i].conn = c;
		c->flow[i].side = (uint8_t)i;
	}
	tcp_table_add(&t->table, c);
	t->connections++;
	tcp_activity_add(&t->activity, c->number);
	c->pair = tcp_pairs_hold(t->pairs, c->domain, &c->address[TCP_A], &c->address[TCP_B], c->port[TCP_B]);
	c->pair->caller_port = c->port[TCP_A];
	c->pair->certain = c->pair->certain || (s->flags & TCP_SYN) != 0;
	*side = a;
	return c;
}

/* A SYN of another sequence number than that which opened the connection: the ports are used again. */
static bool is_reuse(const struct tcp_conn *c, const struct segment *s, unsigned side)
{
	if ((s->flags & (TCP_SYN | TCP_ACK)) != TCP_SYN)
		return false;
	return side != TCP_A || !c->opening.seen || c->opening.isn != s->sequence;
}

/*
 * Tunnels and VLANs may differ by direction (Geneve's and GRE's numbers do, as
 * some virtual switches set them). So the first answer from one domain to what
 * was sent in another shows that the two are one: of this side nothing has been
 * seen there, and what it acknowledges is what was sent there.
 */
static struct tcp_conn *find_elsewhere(struct tcp *t, const struct segment *s, uint64_t hash, unsigned *side)
{
	struct tcp_conn *c;

	if (!t->copies->has_domains)
		return NULL;
	c = tcp_table_find_elsewhere(&t->table, s, hash, side);
	/* Its domain has become one with that of the segment since. */
	if (c != NULL && tcp_copies_domain(t->copies, c->domain) == s->domain) {
		c->domain = s->domain;
		return c;
	}
	if (c == NULL || (s->flags & (TCP_ACK | TCP_RST)) != TCP_ACK || c->spoke[*side] || !c->flow[!*side].synced)
		return NULL;
	if (!tcp_is_near(s->acknowledgment, c->flow[!*side].next + (c->opening.seen && !c->opening.answered)))
		return NULL;
	tcp_copies_alias(t->copies, s->domain, c->domain);
	return c;
}

/* NULL: a reset of a connection that is not known says nothing. */
static struct tcp_conn *connection_of(struct tcp *t, const struct segment *s, uint64_t hash, struct tcp_conn *likely,
				      unsigned *side)
{
	struct tcp_conn *c = likely;
	struct ends e;

	if (c == NULL || !tcp_table_is(c, s, side))
		c = tcp_table_find(&t->table, s, hash, side);

	if (c != NULL && is_reuse(c, s, *side)) {
		forget(t, c);
		c = NULL;
	} else if (c == NULL) {
		c = find_elsewhere(t, s, hash, side);
	}
	if (c != NULL) {
		tcp_activity_touch(&t->activity, c->number);
		return c;
	}
	if ((s->flags & TCP_RST) != 0)
		return NULL;
	e = ends_of(s);
	return open_connection(t, s, &e, side);
}

/* ---- what a segment says ---- */

/*
 * Linux waits for a smoothed round trip and at least TCP_RTO_MIN, 200 ms, more
 * (tcp_set_rto). What comes sooner is a fast retransmission or a tail loss probe.
 */
static bool is_timeout(const struct tcp_flow *f, enum tcp_data kind)
{
	return kind == TCP_DATA_AGAIN && f->resent_after_us >= RTO_LEAST_US &&
	       f->resent_after_us >= RTO_LEAST_US + tcp_median_us(&f->conn->pair->side[f->side].rtt) - RTO_SLACK_US;
}

static void act(struct tcp *t, struct tcp_conn *c, unsigned side, const struct tcp_mark *mark, bool is_payload)
{
	struct tcp_quiet quiet;

	if (tcp_pair_act(c->pair, side, mark, is_payload, &quiet))
		tcp_report_quiet(&t->report, c->pair, &quiet, false);
}

static void take_syn(struct tcp *t, struct tcp_conn *c, const struct segment *s)
{
	const struct tcp_mark mark = { t->now_us, s->place };
	struct tcp_opening *o = &c->opening;

	if (!o->seen) {
		*o = (struct tcp_opening){ .seen = true, .isn = s->sequence, .syns = 1, .first = mark,
					   .last_us = mark.us };
		act(t, c, TCP_A, &mark, false);
		c->pair->connecting++;
		tcp_stall_replaced(c->pair, c, mark.us);
	} else {
		o->syns++;
		o->last_wait_us = mark.us - o->last_us;
		o->last_us = mark.us;
		c->pair->side[TCP_A].trouble_us = mark.us;
		tcp_pair_kernel_packet(c->pair, TCP_A);
	}
	c->pair->syn_us = mark.us;
}

static void answer_opening(struct tcp *t, struct tcp_conn *c)
{
	struct tcp_opening *o = &c->opening;

	if (!o->seen || o->answered)
		return;
	if (o->syns > 1) {
		tcp_report_syn(&t->report, c, t->now_us, TCP_SYN_ANSWERED);
		c->pair->side[TCP_A].trouble_us = t->now_us;
	}
	stop_connecting(c);
}

static void take_syn_answer(struct tcp *t, struct tcp_conn *c)
{
	struct tcp_opening *o = &c->opening;

	if (o->seen && !o->answered && o->syns == 1)
		tcp_median_add(&c->pair->side[TCP_A].rtt, t->now_us - o->last_us);
	answer_opening(t, c);
	tcp_pair_kernel_packet(c->pair, TCP_B);
	o->answers++;
	o->answer_us = t->now_us;
}

/* The third packet of the handshake measures the way to side a. */
static void complete_opening(struct tcp *t, struct tcp_conn *c, unsigned side)
{
	struct tcp_opening *o = &c->opening;

	if (side != TCP_A || o->answers == 0 || o->acknowledged)
		return;
	if (o->answers == 1)
		tcp_median_add(&c->pair->side[TCP_B].rtt, t->now_us - o->answer_us);
	o->acknowledged = true;
}

static void take_acknowledgment(struct tcp *t, struct tcp_flow *f, uint32_t ack)
{
	struct tcp_progress progress;
	bool progressed;

	if (tcp_flow_is_acknowledged(f, ack))
		return;
	progressed = tcp_flow_acknowledge(f, ack, t->now_us, &progress);
	if (f->forgot)
		tcp_stall_forget(f);
	if (!progressed)
		return;
	tcp_stall_progress(f, &progress, t->now_us, &t->report);
	if (!progress.has_rtt)
		return;
	tcp_median_add(&f->conn->pair->side[f->side].rtt, progress.rtt_us);
	if (f->now.open)
		tcp_samples_add(&f->now.rtt, progress.rtt_us);
}

static void count_lost(struct tcp_second *s, int64_t lost_us)
{
	if (s->lost_first_us == 0 || lost_us < s->lost_first_us)
		s->lost_first_us = lost_us;
	if (lost_us > s->lost_last_us)
		s->lost_last_us = lost_us;
}

static void count_second(struct tcp *t, struct tcp_flow *f, const struct segment *s, bool again, bool timeout)
{
	int64_t second = t->now_us / US_PER_S;

	if (f->now.open && f->now.second != second)
		tcp_report_second(&t->report, f);
	if (!f->now.open)
		f->now = (struct tcp_second){ .open = true, .second = second, .mark = { t->now_us, s->place } };
	f->now.segments++;
	f->now.retransmits += again;
	if (again)
		tcp_calm_resent(f->conn->pair, second);
	f->now.timeouts += timeout;
	if (timeout)
		count_lost(&f->now, t->now_us - f->resent_after_us);
	f->now.bytes += s->payload_bytes;
	f->conn->segments++;
	f->conn->retransmits += again;
}

/* A tail loss probe, or a fast retransmission of what was only overtaken: whether it was needed the peer will say. */
static void keep_hasty(struct tcp_flow *f, const struct segment *s)
{
	f->hasty = true;
	f->hasty_from = s->sequence;
	f->hasty_to = s->sequence + s->payload_bytes;
}

/*
 * The peer had it already, and no timer had run out: the data was not lost, nor
 * was its acknowledgment overdue. (Behind a timeout it may be the acknowledgment that was lost.)
 */
static void take_duplicate(struct tcp_flow *f, const struct segment *s)
{
	if (!f->hasty || tcp_ahead(s->duplicate_to, f->hasty_from) <= 0 || tcp_ahead(f->hasty_to, s->duplicate_from) <= 0)
		return;
	f->hasty = false;
	if (f->now.open)
		f->now.needless++;
}

static void take_data(struct tcp *t, struct tcp_flow *f, const struct segment *s, enum tcp_data kind)
{
	bool timeout = is_timeout(f, kind);

	if (kind != TCP_DATA_NONE && kind != TCP_DATA_PROBE)
		count_second(t, f, s, kind == TCP_DATA_AGAIN, timeout);
	t->late_count += kind == TCP_DATA_LATE;
	if (kind == TCP_DATA_AGAIN && !timeout)
		keep_hasty(f, s);
	if (kind == TCP_DATA_AGAIN)
		tcp_stall_resent(f, timeout, t->now_us - f->resent_after_us, t->now_us);
	if (kind == TCP_DATA_NEW || kind == TCP_DATA_LATE || f->fills)
		act(t, f->conn, f->side, &(struct tcp_mark){ t->now_us, s->place }, true);
	else if ((s->flags & (TCP_SYN | TCP_FIN)) == 0)
		tcp_pair_kernel_packet(f->conn->pair, f->side);
	tcp_stall_watch(f);
}

/* A window in a SYN or RST is not an offer. */
static void take_window(struct tcp *t, struct tcp_flow *f, const struct segment *s)
{
	bool closed = s->window == 0;

	if ((s->flags & (TCP_SYN | TCP_RST | TCP_ACK)) != TCP_ACK || closed == f->window_closed)
		return;
	if (!closed)
		tcp_report_zero_window(&t->report, f, t->now_us, false);
	f->window_closed = closed;
	f->window_closed_mark = (struct tcp_mark){ t->now_us, s->place };
}

/* RFC 9293 3.10.7.3 and 3.5.3: an end believes a RST only if it fits; others are strays or forged. */
static bool is_reset_believed(const struct tcp_conn *c, const struct segment *s, unsigned side)
{
	const struct tcp_flow *f = &c->flow[side];

	if (side == TCP_B && c->opening.seen && !c->opening.answered)
		return (s->flags & TCP_ACK) != 0 && s->acknowledgment == c->opening.isn + 1;
	return !f->synced || tcp_is_near(s->sequence, f->next);
}

/* The caller takes its SYN back. */
static void abandon_opening(struct tcp *t, struct tcp_conn *c)
{
	if (!c->opening.seen || c->opening.answered)
		return;
	if (c->opening.syns > 1)
		tcp_report_syn(&t->report, c, c->opening.last_us, TCP_SYN_ABANDONED);
	stop_connecting(c);
}

/*
 * No net.reset: a connection that is refused (RST in answer to a SYN), since
 * its path works; a RST after a FIN of either side, since it ends what had
 * ended; a RST by the side that gave the connection up in a stall, whose FIN
 * could not be sent behind the data that stood.
 */
static void report_reset(struct tcp *t, const struct tcp_conn *c, const struct tcp_mark *mark, unsigned side)
{
	bool opening = c->opening.seen && !c->opening.answered;
	bool ended = c->flow[TCP_A].fin_sent || c->flow[TCP_B].fin_sent;

	if (!opening && !ended && !tcp_stall_is_left(&c->flow[side]))
		tcp_report_reset(&t->report, c, side, mark, c->flow[!side].sent_count > 0);
}

static void take_reset(struct tcp *t, struct tcp_conn *c, const struct segment *s, unsigned side)
{
	const struct tcp_mark mark = { t->now_us, s->place };

	if (!is_reset_believed(c, s, side))
		return;
	if ((s->flags & TCP_ACK) != 0)
		take_acknowledgment(t, &c->flow[!side], s->acknowledgment);
	report_reset(t, c, &mark, side);
	if (side == TCP_B && c->opening.seen && !c->opening.answered)
		tcp_report_refused(&t->report, c, &mark);
	if (side == TCP_B)
		answer_opening(t, c);
	else
		abandon_opening(t, c);
	act(t, c, side, &mark, false);
	tcp_stall_abort(&c->flow[side], t->now_us, &t->report);
	tcp_stall_refused(&c->flow[!side], t->now_us, &t->report);
	cut_window(t, &c->flow[TCP_A], false);
	cut_window(t, &c->flow[TCP_B], false);
	c->closed = true;
	kafka_end(t->kafka, c, t->now_us, false);
	tcp_conn_leave(c);
}

static void take_fin(struct tcp *t, struct tcp_conn *c, const struct segment *s, unsigned side, bool was_sent)
{
	const struct tcp_mark mark = { t->now_us, s->place };

	if (was_sent)
		return;
	act(t, c, side, &mark, false);
	tcp_stall_give_up(&c->flow[side], t->now_us, &t->report);
	tcp_conn_leave(c);
}

/*
 * A peer that only repeats itself has not heard: it shows where both ends of
 * an outage are recorded. Anything else from it is a sign on the connection.
 */
static void take_sign(struct tcp *t, struct tcp_conn *c, unsigned side, enum tcp_data kind, int64_t before_us)
{
	tcp_stall_sign(c->pair, side, kind == TCP_DATA_AGAIN, before_us, t->now_us);
	if (kind != TCP_DATA_AGAIN)
		tcp_stall_heard(&c->flow[!side], t->now_us);
}

/* Data that goes on in sequence; what is behind a gap is told by its retransmission. */
static void take_number(struct tcp *t, struct tcp_conn *c, const struct segment *s, unsigned side, enum tcp_data kind)
{
	const struct tcp_gap *gap = &c->flow[side].gap;
	struct tcp_unseen unseen;
	struct tcp_mark mark;

	if (!tcp_unseen_take(&c->numbers[side], s, t->now_us, &c->pair->side[!side].rtt, &unseen))
		return;
	mark = (struct tcp_mark){ t->now_us, s->place };
	if (kind == TCP_DATA_NEW && !(gap->open && gap->seen.us == t->now_us))
		tcp_report_unseen(&t->report, c, side, &mark, &unseen);
}

/* before_us: when the sender was heard before, on any connection. */
static void take_segment(struct tcp *t, struct tcp_conn *c, const struct segment *s, unsigned side, int64_t before_us)
{
	struct tcp_flow *f = &c->flow[side], *other = &c->flow[!side];
	bool was_closing = f->fin_sent;
	enum tcp_data kind;

	tcp_stall_settle(f, t->now_us, &t->report);
	tcp_stall_settle(other, t->now_us, &t->report);
	if ((s->flags & TCP_RST) != 0) {
		tcp_stall_sign(c->pair, side, false, before_us, t->now_us);
		take_reset(t, c, s, side);
		return;
	}
	if ((s->flags & TCP_SYN) != 0 && side == TCP_A)
		take_syn(t, c, s);
	else if ((s->flags & TCP_SYN) != 0)
		take_syn_answer(t, c);
	if ((s->flags & (TCP_SYN | TCP_ACK)) != TCP_SYN && c->presence == TCP_NOT_YET)
		tcp_conn_enter(c);
	kind = tcp_flow_send(f, s, t->now_us, other->window_closed);
	if (f->forgot)
		tcp_stall_forget(f);
	if (f->gap.open && f->gap.bare && f->gap.seen.us == t->now_us)
		tcp_stall_missed(f, t->now_us);
	if (f->fills)
		tcp_stall_filled(f, t->now_us, &t->report);
	take_sign(t, c, side, kind, before_us);
	if ((s->flags & TCP_ACK) != 0) {
		take_acknowledgment(t, other, s->acknowledgment);
		complete_opening(t, c, side);
	}
	if (s->has_duplicate)
		take_duplicate(other, s);
	take_window(t, f, s);
	take_data(t, f, s, kind);
	take_number(t, c, s, side, kind);
	if ((s->flags & TCP_FIN) != 0)
		take_fin(t, c, s, side, was_closing);
}

/* ---- public ---- */

struct tcp *tcp_new(struct event_sink sink)
{
	struct arena *a = arena_new();
	struct tcp *t = arena_alloc(a, sizeof *t);

	t->arena = a;
	t->report.sink = sink;
	t->copies = arena_alloc(a, sizeof *t->copies);
	t->pairs = tcp_pairs_new(a);
	t->kafka = kafka_new(a, &t->report);
	tcp_table_init(&t->table, a);
	tcp_activity_init(&t->activity, a);
	t->now_us = INT64_MIN;
	return t;
}

static int result(const struct tcp *t)
{
	return t->report.failed ? -1 : 0;
}

/* Only the connection that has it is told. */
static void count_copy(struct tcp *t, const struct segment *s, uint64_t hash)
{
	unsigned side;
	struct tcp_conn *c = tcp_table_find(&t->table, s, hash, &side);

	t->copy_count++;
	if (c != NULL)
		c->copies++;
}

/* Of the domain that it was first seen in. */
static struct segment in_its_domain(const struct tcp *t, const struct segment *s)
{
	struct segment inside = *s;

	inside.domain = tcp_copies_domain(t->copies, s->domain);
	return inside;
}

struct tcp_conn *tcp_expect(const struct tcp *t, const struct tcp_key *key)
{
	struct tcp_conn *likely = tcp_table_guess(&t->table, key->hash);

	tcp_copies_fetch(t->copies, key->digest);
	if (likely != NULL)
		tcp_conn_fetch(likely);
	return likely;
}

int tcp_segment(struct tcp *t, const struct segment *s)
{
	const struct tcp_key key = tcp_key_of(s);

	return tcp_segment_expected(t, s, &key, tcp_expect(t, &key));
}

int tcp_segment_expected(struct tcp *t, const struct segment *s, const struct tcp_key *key, struct tcp_conn *likely)
{
	struct segment inside;
	struct tcp_conn *c;
	int64_t before_us;
	unsigned side;
	bool is_copy;

	/* Packets of several queues may be recorded slightly out of order. */
	if (s->time_us > t->now_us)
		t->now_us = s->time_us;
	is_copy = tcp_copies_see(t->copies, s, key->digest, t->now_us);
	if (t->copies->alias_count > 0) {
		inside = in_its_domain(t, s);
		s = &inside;
	}
	if (is_copy) {
		count_copy(t, s, key->hash);
		return 0;
	}
	c = connection_of(t, s, key->hash, likely, &side);
	if (c == NULL)
		return result(t);
	c->last_us = t->now_us;
	c->spoke[side] = true;
	before_us = c->pair->side[side].heard_us;
	tcp_sight_see(&t->sights, &t->report, c, side, s);
	tcp_stall_host_heard(c->pair, side, c, t->now_us, &t->report);
	if (!c->closed)
		take_segment(t, c, s, side, before_us);
	if (!c->closed && !c->is_foreign && (s->payload_bytes > 0 || c->kafka != NULL))
		kafka_segment(t->kafka, c, side, s, t->now_us);
	return result(t);
}

enum tcp_continuity tcp_continuity(const struct tcp *t, const struct segment *s)
{
	struct segment inside = in_its_domain(t, s);
	unsigned side;
	const struct tcp_conn *c = tcp_table_find(&t->table, &inside, tcp_hash(s), &side);

	if (c == NULL || c->closed || (s->flags & (TCP_SYN | TCP_RST)) != 0)
		return TCP_CANNOT_TELL;
	if (!c->flow[side].synced || !c->flow[!side].synced)
		return TCP_CANNOT_TELL;
	if ((s->flags & TCP_ACK) != 0 && tcp_ahead(s->acknowledgment, c->flow[!side].next) > 0)
		return TCP_JUMPS;
	return tcp_ahead(s->sequence, c->flow[side].next) > 0 ? TCP_CANNOT_TELL : TCP_CONTINUES;
}

static void cut_pair(void *context, struct tcp_pair *pair)
{
	struct tcp *t = context;
	struct tcp_quiet quiet;

	for (unsigned side = TCP_A; side <= TCP_B; side++)
		if (tcp_pair_quiet(pair, side, t->now_us, &quiet))
			tcp_report_quiet(&t->report, pair, &quiet, true);
	tcp_pair_restart(pair);
}

int tcp_hole(struct tcp *t, int64_t from_us, int64_t to_us)
{
	if (from_us > t->now_us)
		t->now_us = from_us;
	tcp_pairs_each(t->pairs, cut_pair, t);
	/* At those that were not active since the hole before, nothing has changed. */
	for (struct tcp_conn *c = tcp_activity_since_hole(&t->activity); c != NULL;
	     c = tcp_activity_next(&t->activity, c->number)) {
		cut(t, c);
		kafka_cut(t->kafka, c);
		tcp_flow_unsync(&c->flow[TCP_A]);
		tcp_flow_unsync(&c->flow[TCP_B]);
		memset(c->numbers, 0, sizeof c->numbers);
	}
	tcp_activity_hole(&t->activity);
	tcp_copies_forget(t->copies);
	t->now_us = to_us;
	return result(t);
}

int tcp_finish(struct tcp *t)
{
	tcp_pairs_each(t->pairs, cut_pair, t);
	while (tcp_activity_oldest(&t->activity) != NULL)
		forget(t, tcp_activity_oldest(&t->activity));
	kafka_finish(t->kafka);
	return result(t);
}

uint64_t tcp_copies(const struct tcp *t)
{
	return t->copy_count;
}

uint64_t tcp_overtaken(const struct tcp *t)
{
	return t->late_count;
}

struct kafka_counts tcp_kafka_counts(const struct tcp *t)
{
	return kafka_counts(t->kafka);
}

uint64_t tcp_evicted(const struct tcp *t)
{
	return t->evicted;
}

void tcp_free(struct tcp *t)
{
	if (t != NULL)
		arena_free(t->arena);
}
