/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_TCP_STALL_H
#define AFTERSHOCK_INPUT_CAPTURE_TCP_STALL_H

/*
 * Stalls: data that stands unacknowledged while nothing is heard (method.md
 * 3). The life of one:
 *
 *   tcp_stall_watch      data is under way: the flow is watched
 *   tcp_stall_heard      a sign on the connection: was it silent for too long before?
 *   tcp_stall_host_heard a packet of the host on any connection: it ends what was given up
 *   tcp_stall_sign       the same, once it is known what it is: the path works
 *   tcp_stall_progress   data was accepted: the stall, if it was one, is over
 *   tcp_stall_replaced, _give_up, _abort   the side turned elsewhere: over when the peer is heard there
 *   tcp_stall_refused    the peer knows nothing of the connection
 *   tcp_stall_cut        the evidence ends
 *
 * A connection that its owner gave up may still progress when its next
 * retransmission gets through, long after the replacement worked. Which of the
 * two ended the silence shows only by what follows: a FIN or RST says that the
 * owner had left. So such a stall is held back for a moment.
 */

#include "input/capture/tcp_conn.h"
#include "input/capture/tcp_report.h"

/*
 * Most segments change nothing of this: so the question whether there is
 * anything to do is asked in line, and those that do it stand apart.
 */
void tcp_stall_begin(struct tcp_flow *f);
static inline void tcp_stall_watch(struct tcp_flow *f)
{
	if (f->sent_count > 0 && !f->listed)
		tcp_stall_begin(f);
}

/* What was under way is not known any more. */
void tcp_stall_forget(struct tcp_flow *f);
/* Data was sent again: what was sent before, at lost_us, did not arrive. */
void tcp_stall_resent(struct tcp_flow *f, bool timeout, int64_t lost_us, int64_t now_us);
/* The detector applies its own, stricter rule; this one keeps every delayed acknowledgment out. */
#define TCP_STALL_LEAST_US (500 * US_PER_MS)
/* It was silent for so long at least: was it too long? */
void tcp_stall_judge(struct tcp_flow *f, int64_t silence_us);
static inline void tcp_stall_heard(struct tcp_flow *f, int64_t now_us)
{
	int64_t since_us;

	if (f->sent_count == 0)
		return;
	since_us = f->sent[0].first.us > f->wait.heard_us ? f->sent[0].first.us : f->wait.heard_us;
	if (SELDOM(now_us - since_us > TCP_STALL_LEAST_US))
		tcp_stall_judge(f, now_us - since_us);
	f->wait.heard_us = now_us;
}

/* side: whose packet it was, on connection c. */
void tcp_stall_given_up_heard(struct tcp_side *waiting, const struct tcp_conn *c, int64_t now_us, struct tcp_report *r);
static inline void tcp_stall_host_heard(struct tcp_pair *p, unsigned side, const struct tcp_conn *c, int64_t now_us,
					struct tcp_report *r)
{
	tcp_pair_hear(p, side, now_us);
	if (SELDOM(p->side[!side].given_up != NULL))
		tcp_stall_given_up_heard(&p->side[!side], c, now_us, r);
}

/*
 * side: whose packet it was; again: it only repeats; before_us: the packet of
 * the side before it. A peer whose packets come all the while and only repeat
 * themselves has not heard: that the other way works is no sign for this one.
 */
void tcp_stall_sign_unacked(struct tcp_flow *f, bool again, int64_t before_us, int64_t now_us);
static inline void tcp_stall_sign(struct tcp_pair *p, unsigned side, bool again, int64_t before_us, int64_t now_us)
{
	struct tcp_flow *f = p->side[!side].unacked;

	if (f == NULL)
		return;
	/* Nearly always it is alone. */
	if (again || f->older != NULL)
		tcp_stall_sign_unacked(f, again, before_us, now_us);
	else if (f->wait.sign_us == 0)
		f->wait.sign_us = now_us;
}

/* tcp_flow_acknowledge gave progress. The host was heard before (tcp_stall_host_heard), and the connection too. */
void tcp_stall_progress(struct tcp_flow *f, const struct tcp_progress *progress, int64_t now_us,
			struct tcp_report *r);
/*
 * The same of a usual flow that does not stand in a stall, whose data was sent
 * once, and whose connection was heard just now: no stall can have ended.
 */
void tcp_stall_progress_plain(struct tcp_flow *f, int64_t now_us);
/* Side a opens connection c: flows of the pair that stand still may have been given up for it. */
void tcp_stall_replaced(struct tcp_pair *p, const struct tcp_conn *c, int64_t now_us);
/* f's side closed its connection (FIN); what it sent may yet be accepted. */
void tcp_stall_give_up(struct tcp_flow *f, int64_t now_us, struct tcp_report *r);
/* f's side reset its connection. */
void tcp_stall_abort(struct tcp_flow *f, int64_t now_us, struct tcp_report *r);
/* The peer of f reset the connection: it is heard, and the data will not be accepted. */
void tcp_stall_refused(struct tcp_flow *f, int64_t now_us, struct tcp_report *r);
/* Data known to have been sent did not come: f->gap was opened, and is bare. */
void tcp_stall_missed(struct tcp_flow *f, int64_t now_us);
/*
 * Data known to have been sent came at last (f->filled): its side had been
 * sending it in vain, with the capture on the peer's side of the outage.
 */
void tcp_stall_filled(struct tcp_flow *f, int64_t now_us, struct tcp_report *r);
/* Whether f's side may have given the connection up in a stall. */
bool tcp_stall_is_left(const struct tcp_flow *f);
/* A held stall whose time is up. */
void tcp_stall_settle_held(struct tcp_flow *f, int64_t now_us, struct tcp_report *r);
static inline void tcp_stall_settle(struct tcp_flow *f, int64_t now_us, struct tcp_report *r)
{
	if (f->held && !f->held_left)
		tcp_stall_settle_held(f, now_us, r);
}

/* Ends what is in progress on f and stops watching it. */
void tcp_stall_cut(struct tcp_flow *f, int64_t now_us, struct tcp_report *r);

#endif
