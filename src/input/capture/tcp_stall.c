/* SPDX-License-Identifier: MIT */
/* See the header for the life of a stall; method.md 3 for what it means. */

#include "input/capture/tcp_stall.h"

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
	if (!f->given_up || f->held_left)
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

/* The cheap half first: it is asked at every acknowledgment. */
static bool is_too_long(const struct tcp_flow *f, int64_t silence_us)
{
	return silence_us > TCP_STALL_LEAST_US && silence_us > STALL_RTTS * tcp_median_us(&side_of(f)->rtt);
}

void tcp_stall_judge(struct tcp_flow *f, int64_t silence_us)
{
	if (is_too_long(f, silence_us))
		f->wait.stalled = true;
}

static void judge_silence(struct tcp_flow *f, const struct tcp_sent *head, int64_t now_us)
{
	tcp_stall_judge(f, now_us - latest(head->first.us, f->wait.heard_us));
}

void tcp_stall_forget(struct tcp_flow *f)
{
	f->forgot = false;
	leave_given_up(f);
	unlist(f);
	f->wait = (struct tcp_wait){ 0 };
}

static void stop_watching(struct tcp_flow *f)
{
	f->sent_count = 0;
	tcp_stall_forget(f);
}

static struct tcp_stall stall_of(const struct tcp_flow *f, const struct tcp_sent *head,
				 const struct tcp_accepted *before, int64_t end_us)
{
	bool known = before->known && before->sent_us < head->first.us;
	int64_t sign_us = f->wait.sign_before_us != 0 ? f->wait.sign_before_us : f->wait.sign_us;

	return (struct tcp_stall){ .mark = head->first, .has_loss = true, .start_us = known ? before->sent_us : head->first.us,
				   .end_us = end_us, .sign_us = sign_us, .lost_us = f->wait.lost_us,
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
	tcp_conn_leave(f->conn);
}

/* The latest transmission was in vain too: what was heard before it was no sign. */
static void report_in_vain(struct tcp_flow *f, int64_t end_us, bool censored, struct tcp_report *r)
{
	f->wait.sign_before_us = 0;
	report_abandoned(f, end_us, censored, r);
}

void tcp_stall_begin(struct tcp_flow *f)
{
	f->wait = (struct tcp_wait){ 0 };
	list(f);
}

void tcp_stall_resent(struct tcp_flow *f, bool timeout, int64_t lost_us, int64_t now_us)
{
	if (is_waiting(f)) {
		f->wait.retransmits++;
		f->wait.timeouts += timeout;
		f->wait.lost_us = lost_us;
		f->wait.sign_before_us = f->wait.sign_us;
		f->wait.sign_us = 0;
		if (f->listed) {
			/* To where those without a sign stand. */
			unlist(f);
			list(f);
		}
	}
	side_of(f)->trouble_us = now_us;
}

/* What was on its way when the data was sent does not count as heard all the while. */
static bool is_sign(const struct tcp_flow *f, bool again, int64_t before_us)
{
	return !again || before_us <= f->sent[0].first.us + TCP_STALL_LEAST_US;
}

void tcp_stall_sign_unacked(struct tcp_flow *f, bool again, int64_t before_us, int64_t now_us)
{
	/* Those that were not yet signed stand first, but for a few that progressed meanwhile. */
	for (int passed = 0; f != NULL && passed < FLOWS_LOOKED_AT; f = f->older) {
		if (f->wait.sign_us == 0 && is_sign(f, again, before_us))
			f->wait.sign_us = now_us;
		else
			passed++;
	}
}

/* When the head was accepted: by its last transmission, unless that is too long ago to have been answered now. */
static int64_t acceptance_us(const struct tcp_flow *f, const struct tcp_sent *head, int64_t now_us)
{
	int64_t lag = latest(ACCEPT_LAG_US, STALL_RTTS * tcp_median_us(&side_of(f)->rtt));

	return now_us - head->last_us > lag ? now_us : head->last_us;
}

/* ---- stalls held back ---- */

static void hold(struct tcp_flow *f, const struct tcp_stall *stall, int64_t now_us)
{
	f->held = true;
	f->held_stall = *stall;
	f->held_since_us = now_us;
	f->held_replaced_us = f->wait.replaced_us;
}

/* The side stayed: its connection went on, or ended by itself later. */
static void release_held(struct tcp_flow *f, struct tcp_report *r)
{
	const struct tcp_conn *c = f->conn;

	if (!f->held)
		return;
	f->held = false;
	if (!c->closed && !c->flow[TCP_A].fin_sent && !c->flow[TCP_B].fin_sent)
		tcp_conn_enter(f->conn);
	tcp_report_stall(r, f, &f->held_stall);
}

/* The side had left: the silence ended when its peer was heard elsewhere. */
static void end_held(struct tcp_flow *f, int64_t end_us, bool censored, struct tcp_report *r)
{
	f->held = f->held_left = false;
	f->held_stall.abandoned = true;
	f->held_stall.censored = censored;
	f->held_stall.end_us = end_us;
	tcp_report_stall(r, f, &f->held_stall);
	leave_given_up(f);
}

static void leave_held(struct tcp_flow *f, struct tcp_report *r)
{
	if (!f->held || f->held_left)
		return;
	if (f->held_replaced_us != 0) {
		end_held(f, f->held_replaced_us, false, r);
		return;
	}
	f->held_left = true;
	enter_given_up(f);
}

/* ---- the life of a stall ---- */

static void hear_elsewhere(struct tcp_flow *f, int64_t now_us, struct tcp_report *r)
{
	if (f->held_left)
		end_held(f, now_us, false, r);
	if (f->wait.gave_up_us == 0)
		return;
	f->wait.replaced_us = now_us;
	if (f->wait.sign_us == 0)
		f->wait.sign_us = now_us;
	leave_given_up(f);
	/* Nobody is expected there until it shows that it goes on after all. */
	tcp_conn_leave(f->conn);
	if (f->wait.ended)
		report_in_vain(f, now_us, false, r);
}

void tcp_stall_given_up_heard(struct tcp_side *waiting, const struct tcp_conn *c, int64_t now_us, struct tcp_report *r)
{
	struct tcp_flow *next;

	for (struct tcp_flow *f = waiting->given_up; f != NULL; f = next) {
		next = f->next_given_up;
		if (f->conn != c)
			hear_elsewhere(f, now_us, r);
	}
}

void tcp_stall_progress(struct tcp_flow *f, const struct tcp_progress *progress, int64_t now_us,
			struct tcp_report *r)
{
	const struct tcp_sent *head = &progress->head;

	judge_silence(f, head, now_us);
	if (f->wait.stalled && !f->wait.reported) {
		struct tcp_stall stall = stall_of(f, head, &progress->before, acceptance_us(f, head, now_us));

		/* Never sent again, it was late and not lost: what came meanwhile was late as well, and no sign. */
		if (stall.retransmits == 0)
			stall.sign_us = now_us;
		if (!f->held_left)
			release_held(f, r);
		if (!f->held)
			hold(f, &stall, now_us);
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

void tcp_stall_progress_plain(struct tcp_flow *f, int64_t now_us)
{
	side_of(f)->accepted_us = now_us;
	if (is_waiting(f)) {
		f->wait = (struct tcp_wait){ .heard_us = now_us, .sign_us = now_us };
		return;
	}
	unlist(f);
	f->wait = (struct tcp_wait){ 0 };
}

/* The last data of the side that came, or else now. */
static int64_t last_arrival_us(const struct tcp_flow *f, int64_t now_us)
{
	return f->accepted.known && f->accepted.sent_us < now_us ? f->accepted.sent_us : now_us;
}

void tcp_stall_missed(struct tcp_flow *f, int64_t now_us)
{
	f->gap_sign_us = tcp_pair_woke_us(f->conn->pair, f->side, last_arrival_us(f, now_us), now_us);
}

void tcp_stall_filled(struct tcp_flow *f, int64_t now_us, struct tcp_report *r)
{
	struct tcp_stall stall = { .mark = f->filled.seen, .start_us = last_arrival_us(f, f->filled.seen.us),
				   .end_us = now_us, .sign_us = f->gap_sign_us };

	if (!is_too_long(f, now_us - f->filled.seen.us))
		return;
	tcp_report_stall(r, f, &stall);
	side_of(f)->trouble_us = now_us;
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

static void give_up(struct tcp_flow *f, int64_t now_us, struct tcp_report *r)
{
	if (!is_waiting(f) || f->wait.reported)
		return;
	judge_silence(f, &f->sent[0], now_us);
	if (!f->wait.stalled)
		return;
	f->wait.ended = true;
	if (f->wait.replaced_us != 0) {
		report_in_vain(f, f->wait.replaced_us, false, r);
		return;
	}
	if (f->wait.gave_up_us == 0)
		f->wait.gave_up_us = now_us;
	enter_given_up(f);
}

void tcp_stall_give_up(struct tcp_flow *f, int64_t now_us, struct tcp_report *r)
{
	/* Who has been answered since is no longer giving up: it is done. */
	if (f->conn->flow[!f->side].progress_us > f->held_since_us)
		release_held(f, r);
	else
		leave_held(f, r);
	give_up(f, now_us, r);
}

void tcp_stall_abort(struct tcp_flow *f, int64_t now_us, struct tcp_report *r)
{
	leave_held(f, r);
	give_up(f, now_us, r);
	if (!f->given_up)
		stop_watching(f);
}

void tcp_stall_refused(struct tcp_flow *f, int64_t now_us, struct tcp_report *r)
{
	if (f->held && f->held_replaced_us != 0)
		leave_held(f, r);
	else if (!f->held_left)
		release_held(f, r);
	if (is_waiting(f) && !f->wait.reported) {
		judge_silence(f, &f->sent[0], now_us);
		if (f->wait.stalled)
			report_abandoned(f, f->wait.replaced_us != 0 ? f->wait.replaced_us : now_us, false, r);
	}
	stop_watching(f);
}

bool tcp_stall_is_left(const struct tcp_flow *f)
{
	return f->held || f->wait.gave_up_us != 0 || f->wait.reported;
}

void tcp_stall_settle_held(struct tcp_flow *f, int64_t now_us, struct tcp_report *r)
{
	if (now_us > f->held_since_us + HELD_US)
		release_held(f, r);
}

void tcp_stall_cut(struct tcp_flow *f, int64_t now_us, struct tcp_report *r)
{
	int64_t last_us = f->conn->last_us;

	if (f->held_left)
		end_held(f, last_us, true, r);
	release_held(f, r);
	if (is_waiting(f) && !f->wait.reported) {
		judge_silence(f, &f->sent[0], now_us);
		if (!f->wait.stalled) {
			/* Nothing to report. */
		} else if (f->wait.replaced_us != 0) {
			report_in_vain(f, f->wait.replaced_us, false, r);
		} else if (f->wait.gave_up_us != 0 || now_us - last_us > RTO_MOST_US) {
			report_in_vain(f, last_us, true, r);
		} else {
			struct tcp_stall stall = stall_of(f, &f->sent[0], &f->accepted, now_us);

			stall.censored = true;
			report_once(f, &stall, r);
		}
	}
	stop_watching(f);
}
