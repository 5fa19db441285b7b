/* SPDX-License-Identifier: MIT */
/* See input/capture/tcp_take.h. */

#include "input/capture/tcp_take.h"

#include "input/capture/cache_line.h"
#include "input/capture/kafka.h"
#include "input/capture/tcp_calm.h"
#include "input/capture/tcp_opening.h"
#include "input/capture/tcp_stall.h"

#define RTO_LEAST_US (200 * US_PER_MS)
/* The median is not the smoothed round trip, and timers tick. */
#define RTO_SLACK_US (20 * US_PER_MS)

/*
 * Linux waits for a smoothed round trip and at least TCP_RTO_MIN, 200 ms, more
 * (tcp_set_rto). What comes sooner is a fast retransmission or a tail loss probe.
 */
static bool is_timeout(const struct tcp_flow *f, enum tcp_data kind)
{
	return kind == TCP_DATA_AGAIN && f->resent_after_us >= RTO_LEAST_US &&
	       f->resent_after_us >= RTO_LEAST_US + tcp_median_us(&f->conn->pair->side[f->side].rtt) - RTO_SLACK_US;
}

void tcp_tell_quiet(struct tcp *t, const struct tcp_pair *p, unsigned side, int64_t now_us)
{
	struct tcp_quiet quiet;

	if (tcp_pair_quiet(p, side, now_us, &quiet))
		tcp_report_quiet(&t->report, p, &quiet, false);
}

void tcp_take_window_end(struct tcp *t, struct tcp_flow *f, bool censored)
{
	if (f->window_closed)
		tcp_report_zero_window(&t->report, f, f->conn->last_us, censored);
	f->window_closed = false;
}

static void take_rtt(struct tcp_flow *f, int64_t rtt_us)
{
	tcp_median_add(&f->conn->pair->side[f->side].rtt, rtt_us);
	if (f->now.open)
		tcp_samples_add(&f->now.rtt, rtt_us);
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
	if (progress.has_rtt)
		take_rtt(f, progress.rtt_us);
}

static void count_lost(struct tcp_second *s, int64_t lost_us)
{
	if (s->lost_first_us == 0 || lost_us < s->lost_first_us)
		s->lost_first_us = lost_us;
	if (lost_us > s->lost_last_us)
		s->lost_last_us = lost_us;
}

static void begin_second(struct tcp *t, struct tcp_flow *f, const struct segment *s, int64_t second)
{
	tcp_report_second(&t->report, f);
	f->now = (struct tcp_second){ .open = true, .second = second, .mark = { t->now_us, s->place } };
}

/* A segment with payload. */
static inline void count_segment(struct tcp *t, struct tcp_flow *f, const struct segment *s)
{
	int64_t second = t->now_us / US_PER_S;

	if (SELDOM(!f->now.open || f->now.second != second))
		begin_second(t, f, s, second);
	f->now.segments++;
	f->now.bytes += s->payload_bytes;
	f->conn->segments++;
}

/* That was sent again. */
static void count_again(struct tcp *t, struct tcp_flow *f, bool timeout)
{
	f->now.retransmits++;
	f->conn->retransmits++;
	tcp_calm_resent(f->conn->pair, f->now.second);
	f->now.timeouts += timeout;
	if (timeout)
		count_lost(&f->now, t->now_us - f->resent_after_us);
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
		count_segment(t, f, s);
	if (kind == TCP_DATA_AGAIN)
		count_again(t, f, timeout);
	t->late_count += kind == TCP_DATA_LATE;
	if (kind == TCP_DATA_AGAIN && !timeout)
		keep_hasty(f, s);
	if (kind == TCP_DATA_AGAIN)
		tcp_stall_resent(f, timeout, t->now_us - f->resent_after_us, t->now_us);
	if (kind == TCP_DATA_NEW || kind == TCP_DATA_LATE || f->fills)
		tcp_act(t, f->conn, f->side, &(struct tcp_mark){ t->now_us, s->place }, true);
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
		tcp_opening_answered(t, c);
	else
		tcp_opening_abandon(t, c);
	tcp_act(t, c, side, &mark, false);
	tcp_stall_abort(&c->flow[side], t->now_us, &t->report);
	tcp_stall_refused(&c->flow[!side], t->now_us, &t->report);
	tcp_take_window_end(t, &c->flow[TCP_A], false);
	tcp_take_window_end(t, &c->flow[TCP_B], false);
	c->closed = true;
	kafka_end(t->kafka, c, t->now_us, false);
	tcp_conn_leave(c);
}

static void take_fin(struct tcp *t, struct tcp_conn *c, const struct segment *s, unsigned side, bool was_sent)
{
	const struct tcp_mark mark = { t->now_us, s->place };

	if (was_sent)
		return;
	tcp_act(t, c, side, &mark, false);
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
static void tell_unseen(struct tcp *t, struct tcp_conn *c, const struct segment *s, unsigned side,
			const struct tcp_left_out *left_out)
{
	const struct tcp_mark mark = { t->now_us, s->place };
	const struct tcp_gap *gap = &c->flow[side].gap;
	struct tcp_unseen unseen;

	if (tcp_unseen_since(left_out, t->now_us, &c->pair->side[!side].rtt, &unseen) &&
	    !(gap->open && gap->seen.us == t->now_us))
		tcp_report_unseen(&t->report, c, side, &mark, &unseen);
}

static inline void take_number(struct tcp *t, struct tcp_conn *c, const struct segment *s, unsigned side, bool is_new)
{
	struct tcp_left_out left_out = tcp_unseen_take(&c->numbers[side], s, t->now_us);

	if (left_out.packets > 0 && is_new)
		tell_unseen(t, c, s, side, &left_out);
}

void tcp_take_any(struct tcp *t, struct tcp_conn *c, const struct segment *s, unsigned side, int64_t before_us)
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
		tcp_opening_syn(t, c, s);
	else if ((s->flags & TCP_SYN) != 0)
		tcp_opening_syn_answer(t, c);
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
		tcp_opening_complete(t, c, side);
	}
	if (s->has_duplicate)
		take_duplicate(other, s);
	take_window(t, f, s);
	take_data(t, f, s, kind);
	take_number(t, c, s, side, kind == TCP_DATA_NEW);
	if ((s->flags & TCP_FIN) != 0)
		take_fin(t, c, s, side, was_closing);
}

/* ---- by far the commonest segment ---- */

/* No flag but ACK and PSH, and nothing to say beside what it acknowledges and carries. */
static inline bool is_plain(const struct segment *s)
{
	return USUALLY((s->flags & (TCP_SYN | TCP_FIN | TCP_RST | TCP_ACK)) == TCP_ACK && s->window != 0 &&
		       !s->has_duplicate && s->payload_bytes != 1);
}

/* For a usual flow: what take_acknowledgment does when nothing was sent again and there is no stall. */
static inline void take_plain_acknowledgment(struct tcp *t, struct tcp_flow *f, uint32_t ack)
{
	int64_t rtt_us;

	if (f->sent_count == 0 && ack == f->next)
		return;
	if (SELDOM(f->wait.stalled || !tcp_flow_is_accepted(f, ack))) {
		take_acknowledgment(t, f, ack);
		return;
	}
	rtt_us = tcp_flow_accept(f, ack, t->now_us);
	if (rtt_us != TCP_NO_RTT)
		take_rtt(f, rtt_us);
	tcp_stall_progress_plain(f, t->now_us);
}

/*
 * A plain segment that comes next, on a connection where all is as usual: of
 * tcp_take_any there remains this, in the same order. (What comes next is
 * neither sent again nor late, fills no gap, and is no probe; and no stall is
 * held, no opening goes on, no window is closed.)
 */
static void take_plain(struct tcp *t, struct tcp_conn *c, const struct segment *s, unsigned side, int64_t before_us)
{
	struct tcp_flow *f = &c->flow[side], *other = &c->flow[!side];

	tcp_flow_send_next(f, s, t->now_us);
	tcp_stall_sign(c->pair, side, false, before_us, t->now_us);
	tcp_stall_heard(other, t->now_us);
	take_plain_acknowledgment(t, other, s->acknowledgment);
	if (s->payload_bytes > 0) {
		count_segment(t, f, s);
		tcp_act(t, c, side, &(struct tcp_mark){ t->now_us, s->place }, true);
	} else {
		tcp_pair_kernel_packet(c->pair, side);
	}
	tcp_stall_watch(f);
	take_number(t, c, s, side, s->payload_bytes > 0);
}

void tcp_take(struct tcp *t, struct tcp_conn *c, const struct segment *s, unsigned side, int64_t before_us)
{
	if (USUALLY(is_plain(s) && s->sequence == c->flow[side].next && tcp_conn_is_usual(c) &&
		    tcp_flow_is_usual(&c->flow[side]) && tcp_flow_is_usual(&c->flow[!side])))
		take_plain(t, c, s, side, before_us);
	else
		tcp_take_any(t, c, s, side, before_us);
}
