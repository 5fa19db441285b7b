/* SPDX-License-Identifier: MIT */
/* See the header for the life of a stall; method.md 3 for what it means. */

#include "input/tcp_stall.h"

/* The detector applies its own, stricter rule; this one keeps every delayed acknowledgment out. */
#define STALL_LEAST_US (500 * US_PER_MS)
#define STALL_RTTS 4
/* How long a FIN or RST may be on its way after the progress of a connection that may have been given up. */
#define HELD_US (1 * US_PER_S)
/* An acknowledgment later than this after the last transmission (and more round trips) is when it was accepted. */
#define ACCEPT_LAG_US (50 * US_PER_MS)
/* Linux gives up, or sends again, within TCP_RTO_MAX (120 s): a flow silent for longer is dead. */
#define RTO_MOST_US (130 * US_PER_S)
/* So many flows of a pair are looked at for one new connection. */
#define FLOWS_LOOKED_AT 64

static struct tcp_side *side_of(const struct tcp_flow *f)
{
	return &f->conn->pair->side[f->side];
}

static int64_t latest(int64_t x, int64_t y)
{
	return x > y ? x : y;
}

/* ---- the lists of the pair ---- */

static void unlist(struct tcp_flow *f)
{
	if (!f->listed)
		return;
	if (f->newer != NULL)
		f->newer->older = f->older;
	else
		side_of(f)->unacked = f->older;
	if (f->older != NULL)
		f->older->newer = f->newer;
	f->newer = f->older = NULL;
	f->listed = false;
}

static void list(struct tcp_flow *f)
{
	struct tcp_side *side = side_of(f);

	f->older = side->unacked;
	if (f->older != NULL)
		f->older->newer = f;
	side->unacked = f;
	f->listed = true;
}

static void leave_given_up(struct tcp_flow *f)
{
	if (!f->given_up)
		return;
	if (f->previous_given_up != NULL)
		f->previous_given_up->next_given_up = f->next_given_up;
	else
		side_of(f)->given_up = f->next_given_up;
	if (f->next_given_up != NULL)
		f->next_given_up->previous_given_up = f->previous_given_up;
	f->next_given_up = f->previous_given_up = NULL;
	f->given_up = false;
}

static void enter_given_up(struct tcp_flow *f)
{
	struct tcp_side *side = side_of(f);

	if (f->given_up)
		return;
	f->next_given_up = side->given_up;
	if (f->next_given_up != NULL)
		f->next_given_up->previous_given_up = f;
	side->given_up = f;
	f->given_up = true;
}

/* ---- one flow ---- */

static bool is_waiting(const struct tcp_flow *f)
{
	return f->sent_count > 0;
}

static int64_t threshold_us(const struct tcp_flow *f)
{
	return latest(STALL_LEAST_US, STALL_RTTS * tcp_median_us(&side_of(f)->rtt));
}

static void judge_silence(struct tcp_flow *f, const struct tcp_sent *head, int64_t now_us)
{
	int64_t since = latest(head->first.us, f->wait.heard_us);

	if (now_us - since > threshold_us(f))
		f->wait.stalled = true;
}

static void stop_watching(struct tcp_flow *f)
{
	f->sent_count = 0;
	leave_given_up(f);
	unlist(f);
	f->wait = (struct tcp_wait){ 0 };
}

static struct tcp_stall stall_of(const struct tcp_flow *f, const struct tcp_sent *head,
				 const struct tcp_accepted *before, int64_t end_us)
{
	bool known = before->known && before->sent_us < head->first.us;

	return (struct tcp_stall){ .mark = head->first, .start_us = known ? before->sent_us : head->first.us,
				   .end_us = end_us, .sign_us = f->wait.sign_us,
				   .retransmits = f->wait.retransmits, .timeouts = f->wait.timeouts };
}

static void report_once(struct tcp_flow *f, const struct tcp_stall *stall, struct tcp_report *r)
{
	if (!f->wait.reported)
		tcp_report_stall(r, f, stall);
	f->wait.reported = true;
	side_of(f)->trouble_us = latest(side_of(f)->trouble_us, stall->end_us);
}

static void report_abandoned(struct tcp_flow *f, int64_t end_us, bool censored, struct tcp_report *r)
{
	struct tcp_stall stall = stall_of(f, &f->sent[0], &f->accepted, end_us);

	stall.abandoned = true;
	stall.censored = censored;
	report_once(f, &stall, r);
	leave_given_up(f);
}

void tcp_stall_watch(struct tcp_flow *f)
{
	if (!is_waiting(f) || f->listed)
		return;
	f->wait = (struct tcp_wait){ 0 };
	list(f);
}

void tcp_stall_resent(struct tcp_flow *f, bool timeout, int64_t now_us)
{
	if (is_waiting(f)) {
		f->wait.retransmits++;
		f->wait.timeouts += timeout;
	}
	side_of(f)->trouble_us = now_us;
}

void tcp_stall_heard(struct tcp_flow *f, int64_t now_us)
{
	if (!is_waiting(f))
		return;
	judge_silence(f, &f->sent[0], now_us);
	f->wait.heard_us = now_us;
}

/* Those of the list that were not yet signed stand first. */
static void sign_unacked(struct tcp_side *side, int64_t now_us)
{
	for (struct tcp_flow *f = side->unacked; f != NULL && f->wait.sign_us == 0; f = f->older)
		f->wait.sign_us = now_us;
}

void tcp_stall_host_heard(struct tcp_pair *p, unsigned side, const struct tcp_conn *c, int64_t now_us,
			  struct tcp_report *r)
{
	struct tcp_side *waiting = &p->side[!side];
	struct tcp_flow *next;

	sign_unacked(waiting, now_us);
	for (struct tcp_flow *f = waiting->given_up; f != NULL; f = next) {
		next = f->next_given_up;
		if (f->conn == c)
			continue;
		f->wait.replaced_us = now_us;
		leave_given_up(f);
		if (f->wait.ended)
			report_abandoned(f, now_us, false, r);
	}
}

/* When the head was accepted: by its last transmission, unless that is too long ago to have been answered now. */
static int64_t acceptance_us(const struct tcp_flow *f, const struct tcp_sent *head, int64_t now_us)
{
	int64_t lag = latest(ACCEPT_LAG_US, STALL_RTTS * tcp_median_us(&side_of(f)->rtt));

	return now_us - head->last_us > lag ? now_us : head->last_us;
}

static void hold(struct tcp_flow *f, const struct tcp_stall *stall, int64_t now_us)
{
	f->held = true;
	f->held_stall = *stall;
	f->held_replaced_us = f->wait.replaced_us;
	f->held_until_us = now_us + HELD_US;
}

static void release_held(struct tcp_flow *f, bool left, struct tcp_report *r)
{
	if (!f->held)
		return;
	f->held = false;
	if (left) {
		f->held_stall.abandoned = true;
		f->held_stall.end_us = f->held_replaced_us;
	}
	tcp_report_stall(r, f, &f->held_stall);
}

void tcp_stall_progress(struct tcp_flow *f, const struct tcp_progress *progress, int64_t now_us,
			struct tcp_report *r)
{
	const struct tcp_sent *head = &progress->head;

	judge_silence(f, head, now_us);
	if (f->wait.stalled && !f->wait.reported) {
		struct tcp_stall stall = stall_of(f, head, &progress->before, acceptance_us(f, head, now_us));

		if (f->wait.replaced_us != 0)
			hold(f, &stall, now_us);
		else
			tcp_report_stall(r, f, &stall);
	}
	if (f->wait.stalled || head->sends > 1)
		side_of(f)->trouble_us = now_us;
	side_of(f)->accepted_us = now_us;
	leave_given_up(f);
	if (!is_waiting(f)) {
		stop_watching(f);
		return;
	}
	/* The next data has a wait of its own, and the peer is heard just now. */
	f->wait = (struct tcp_wait){ .heard_us = now_us, .sign_us = now_us };
}

void tcp_stall_replaced(struct tcp_pair *p, const struct tcp_conn *c, int64_t now_us)
{
	for (unsigned side = TCP_A; side <= TCP_B; side++) {
		struct tcp_flow *f = p->side[side].unacked;

		for (int i = 0; f != NULL && i < FLOWS_LOOKED_AT; i++, f = f->older) {
			if (f->conn == c || f->wait.gave_up_us != 0)
				continue;
			judge_silence(f, &f->sent[0], now_us);
			if (!f->wait.stalled)
				continue;
			f->wait.gave_up_us = now_us;
			/* What side b sent waits for side a, and this very SYN is heard from there. */
			if (side == TCP_B)
				f->wait.replaced_us = now_us;
			else
				enter_given_up(f);
		}
	}
}

void tcp_stall_give_up(struct tcp_flow *f, int64_t now_us, struct tcp_report *r)
{
	release_held(f, true, r);
	if (!is_waiting(f) || f->wait.reported)
		return;
	judge_silence(f, &f->sent[0], now_us);
	if (!f->wait.stalled)
		return;
	f->wait.ended = true;
	if (f->wait.replaced_us != 0) {
		report_abandoned(f, f->wait.replaced_us, false, r);
		return;
	}
	if (f->wait.gave_up_us == 0)
		f->wait.gave_up_us = now_us;
	enter_given_up(f);
}

void tcp_stall_abort(struct tcp_flow *f, int64_t now_us, struct tcp_report *r)
{
	tcp_stall_give_up(f, now_us, r);
	if (!f->given_up)
		stop_watching(f);
}

void tcp_stall_refused(struct tcp_flow *f, int64_t now_us, struct tcp_report *r)
{
	release_held(f, true, r);
	if (is_waiting(f) && !f->wait.reported) {
		judge_silence(f, &f->sent[0], now_us);
		if (f->wait.stalled)
			report_abandoned(f, f->wait.replaced_us != 0 ? f->wait.replaced_us : now_us, false, r);
	}
	stop_watching(f);
}

void tcp_stall_settle(struct tcp_flow *f, int64_t now_us, struct tcp_report *r)
{
	if (f->held && now_us > f->held_until_us)
		release_held(f, false, r);
}

void tcp_stall_cut(struct tcp_flow *f, int64_t now_us, struct tcp_report *r)
{
	int64_t last_us = f->conn->last_us;

	release_held(f, false, r);
	if (is_waiting(f) && !f->wait.reported) {
		judge_silence(f, &f->sent[0], now_us);
		if (!f->wait.stalled) {
			/* Nothing to report. */
		} else if (f->wait.replaced_us != 0) {
			report_abandoned(f, f->wait.replaced_us, false, r);
		} else if (f->wait.gave_up_us != 0 || now_us - last_us > RTO_MOST_US) {
			report_abandoned(f, last_us, true, r);
		} else {
			struct tcp_stall stall = stall_of(f, &f->sent[0], &f->accepted, now_us);

			stall.censored = true;
			report_once(f, &stall, r);
		}
	}
	stop_watching(f);
}
