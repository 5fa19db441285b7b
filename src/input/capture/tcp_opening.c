/* SPDX-License-Identifier: MIT */
/* See input/capture/tcp_opening.h. */

#include "input/capture/tcp_opening.h"

#include "input/capture/tcp_stall.h"

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

void tcp_opening_cut(struct tcp *t, struct tcp_conn *c)
{
	if (!c->opening.seen || c->opening.answered)
		return;
	if (c->opening.syns > 1)
		tcp_report_syn(&t->report, c, c->opening.last_us,
			       may_retry(c, t->now_us) ? TCP_SYN_CENSORED : TCP_SYN_ABANDONED);
	stop_connecting(c);
}

void tcp_opening_syn(struct tcp *t, struct tcp_conn *c, const struct segment *s)
{
	const struct tcp_mark mark = { t->now_us, s->place };
	struct tcp_opening *o = &c->opening;

	if (!o->seen) {
		*o = (struct tcp_opening){ .seen = true, .isn = s->sequence, .syns = 1, .first = mark,
					   .last_us = mark.us };
		c->is_opening = false;
		tcp_act(t, c, TCP_A, &mark, false);
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

void tcp_opening_answered(struct tcp *t, struct tcp_conn *c)
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

void tcp_opening_syn_answer(struct tcp *t, struct tcp_conn *c)
{
	struct tcp_opening *o = &c->opening;

	if (o->seen && !o->answered && o->syns == 1)
		tcp_median_add(&c->pair->side[TCP_A].rtt, t->now_us - o->last_us);
	tcp_opening_answered(t, c);
	tcp_pair_kernel_packet(c->pair, TCP_B);
	o->answers++;
	c->is_opening = !o->acknowledged;
	o->answer_us = t->now_us;
}

/* The third packet of the handshake measures the way to side a. */
void tcp_opening_complete(struct tcp *t, struct tcp_conn *c, unsigned side)
{
	struct tcp_opening *o = &c->opening;

	if (side != TCP_A || !c->is_opening)
		return;
	if (o->answers == 1)
		tcp_median_add(&c->pair->side[TCP_B].rtt, t->now_us - o->answer_us);
	o->acknowledged = true;
	c->is_opening = false;
}

/* The caller takes its SYN back. */
void tcp_opening_abandon(struct tcp *t, struct tcp_conn *c)
{
	if (!c->opening.seen || c->opening.answered)
		return;
	if (c->opening.syns > 1)
		tcp_report_syn(&t->report, c, c->opening.last_us, TCP_SYN_ABANDONED);
	stop_connecting(c);
}
