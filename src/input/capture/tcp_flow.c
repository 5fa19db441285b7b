/* SPDX-License-Identifier: MIT */
/*
 * Segments of one direction and the acknowledgments of its data in; out comes
 * what each is (new, sent again, a probe ...) and what was accepted. RFC 9293
 * for the arithmetic, RFC 6298 (Karn) for which round trips count.
 */

#include "input/capture/tcp_flow.h"

#include <string.h>

/* Segments overtake one another within a few ms; what comes later was lost and sent again. */
#define REORDER_MOST_US (3 * US_PER_MS)

static void insert_sent(struct tcp_flow *f, unsigned at, const struct tcp_sent *item)
{
	memmove(&f->sent[at + 1], &f->sent[at], (f->sent_count - at) * sizeof f->sent[0]);
	f->sent[at] = *item;
	f->sent_count++;
}

static void remove_sent(struct tcp_flow *f, unsigned n)
{
	f->sent_count = (uint8_t)(f->sent_count - n);
	memmove(&f->sent[0], &f->sent[n], f->sent_count * sizeof f->sent[0]);
}

/* A segment that fills a gap takes its place among what is under way. */
static void insert_filler(struct tcp_flow *f, uint32_t start, uint32_t end, const struct segment *s, int64_t now_us)
{
	const struct tcp_sent item = { .start = start, .end = end, .first = { now_us, s->place }, .last_us = now_us,
				       .sends = 1, .inexact = true };
	unsigned at = 0;

	while (at < f->sent_count && tcp_ahead(f->sent[at].start, start) < 0)
		at++;
	if (f->sent_count < TCP_SENT_MAX)
		insert_sent(f, at, &item);
	if (tcp_ahead(start, f->gap.from) <= 0)
		f->gap.from = end;
	f->gap.open = tcp_ahead(f->gap.to, f->gap.from) > 0;
}

static enum tcp_data again_after(struct tcp_flow *f, int64_t last_us, int64_t now_us)
{
	f->resent_after_us = now_us - last_us;
	return TCP_DATA_AGAIN;
}

/* Data seen before. The oldest part of it decides whether its timer had run out. */
static enum tcp_data sent_again(struct tcp_flow *f, uint32_t start, uint32_t end, int64_t now_us)
{
	enum tcp_data kind = TCP_DATA_NONE;

	for (unsigned i = 0; i < f->sent_count; i++) {
		struct tcp_sent *item = &f->sent[i];

		if (tcp_ahead(end, item->start) <= 0 || tcp_ahead(item->end, start) <= 0)
			continue;
		if (kind == TCP_DATA_NONE)
			kind = again_after(f, item->last_us, now_us);
		item->last_us = now_us;
		item->sends++;
	}
	if (kind != TCP_DATA_NONE)
		return kind;
	/* Acknowledged already: the acknowledgment was lost between the capture and the sender. */
	if (f->accepted.known && tcp_ahead(end, f->accepted.start) > 0 && tcp_ahead(f->accepted.end, start) > 0) {
		kind = again_after(f, f->accepted.last_us, now_us);
		f->accepted.last_us = now_us;
		return kind;
	}
	return again_after(f, now_us, now_us);
}

/* The first transmission of what fills a gap came before the gap was seen. */
static enum tcp_data filler_kind(struct tcp_flow *f, int64_t now_us)
{
	if (now_us - f->gap.seen.us <= REORDER_MOST_US)
		return TCP_DATA_LATE;
	return again_after(f, f->gap.seen.us, now_us);
}

static enum tcp_data old_data(struct tcp_flow *f, const struct segment *s, uint32_t start, uint32_t end,
			      int64_t now_us)
{
	bool fills = f->gap.open && tcp_ahead(start, f->gap.from) >= 0 && tcp_ahead(end, f->gap.to) <= 0;

	if (!fills)
		return sent_again(f, start, end, now_us);
	insert_filler(f, start, end, s, now_us);
	return filler_kind(f, now_us);
}

/* A segment without payload stands behind data that did not come by: what was sent is known, when is not. */
static void take_bare(struct tcp_flow *f, const struct segment *s, uint32_t at, int64_t now_us)
{
	if (!f->synced || !tcp_is_near(at, f->next) || tcp_ahead(at, f->next) <= 0)
		return;
	if (!f->gap.open)
		f->gap = (struct tcp_gap){ .open = true, .bare = true, .from = f->next, .seen = { now_us, s->place } };
	if (f->gap.bare)
		f->gap.to = at;
}

/* The start of a bare gap has come. */
static enum tcp_data fill_bare(struct tcp_flow *f, uint32_t end, int64_t now_us)
{
	enum tcp_data kind = filler_kind(f, now_us);

	f->filled = f->gap;
	f->fills = true;
	f->gap.from = end;
	f->gap.seen.us = now_us;
	f->gap.open = tcp_ahead(f->gap.to, end) > 0;
	f->sent[f->sent_count - 1].inexact = true;
	return kind;
}

static enum tcp_data new_data(struct tcp_flow *f, const struct segment *s, uint32_t start, uint32_t end,
			      int64_t now_us)
{
	bool is_known = f->gap.open && f->gap.bare && start == f->gap.from && tcp_ahead(f->gap.to, start) > 0;

	if (tcp_ahead(start, f->next) > 0)
		f->gap = (struct tcp_gap){ .open = true, .from = f->next, .to = start, .seen = { now_us, s->place } };
	tcp_flow_append(f, start, end, s, now_us);
	if (f->fin_sent && f->fin == end)
		f->next++;
	return is_known ? fill_bare(f, end, now_us) : TCP_DATA_NEW;
}

/* From the oldest data under way on, all is plausible however far back. */
static bool is_plausible(const struct tcp_flow *f, uint32_t start)
{
	if (tcp_is_near(start, f->next))
		return true;
	return f->sent_count > 0 && tcp_ahead(start, f->sent[0].start) >= 0 && tcp_ahead(start, f->next) < 0;
}

/* False: not believed yet. */
static bool believe(struct tcp_flow *f, uint32_t start, uint32_t end)
{
	if (is_plausible(f, start)) {
		f->jump_suspected = false;
		return true;
	}
	if (!f->jump_suspected || !tcp_is_near(start, f->jump_next)) {
		f->jump_suspected = true;
		f->jump_next = end;
		return false;
	}
	/* Two agree: the stream does go on there. */
	tcp_flow_unsync(f);
	f->synced = true;
	f->next = start;
	return true;
}

/* RFC 9293 3.8.4: nothing, or one byte of no meaning, just below what comes next; 3.8.6.1: a byte beyond the window. */
static bool is_probe(const struct tcp_flow *f, const struct segment *s, bool peer_window_closed)
{
	if (s->payload_bytes > 1 || (s->flags & (TCP_SYN | TCP_FIN | TCP_RST)) != 0)
		return false;
	if (s->sequence == f->next - 1 && f->sent_count == 0)
		return true;
	return s->payload_bytes == 1 && s->sequence == f->next && peer_window_closed;
}

static enum tcp_data take_data(struct tcp_flow *f, const struct segment *s, uint32_t start, int64_t now_us)
{
	uint32_t end = start + s->payload_bytes;

	if (!believe(f, start, end))
		return TCP_DATA_DOUBTFUL;
	if (tcp_ahead(start, f->next) >= 0)
		return new_data(f, s, start, end, now_us);
	if (tcp_ahead(end, f->next) > 0) {
		/* Old and new in one, as Linux does when it collapses its queue: the old part names it. */
		uint32_t middle = f->next;
		enum tcp_data kind = old_data(f, s, start, middle, now_us);

		new_data(f, s, middle, end, now_us);
		return kind;
	}
	return old_data(f, s, start, end, now_us);
}

static void take_fin(struct tcp_flow *f, uint32_t at)
{
	if (f->fin_sent)
		return;
	f->fin_sent = true;
	f->fin = at;
	if (at == f->next)
		f->next++;
}

enum tcp_data tcp_flow_send(struct tcp_flow *f, const struct segment *s, int64_t now_us, bool peer_window_closed)
{
	uint32_t start = s->sequence + ((s->flags & TCP_SYN) != 0);
	enum tcp_data kind = TCP_DATA_NONE;

	f->fills = false;
	f->resent_after_us = 0;
	if ((s->flags & TCP_RST) != 0)
		return TCP_DATA_NONE;
	if (!f->synced) {
		f->synced = true;
		f->next = start;
	}
	if (is_probe(f, s, peer_window_closed))
		return TCP_DATA_PROBE;
	if (s->payload_bytes > 0)
		kind = take_data(f, s, start, now_us);
	else if ((s->flags & TCP_SYN) == 0)
		take_bare(f, s, start, now_us);
	if ((s->flags & TCP_FIN) != 0)
		take_fin(f, start + s->payload_bytes);
	return kind;
}

/* Beyond all that was seen: data that the capture missed, if a second one says so too. */
static bool believe_ack(struct tcp_flow *f, uint32_t ack)
{
	bool agrees = f->ack_suspected && tcp_ahead(ack, f->ack_at) >= 0 && tcp_is_near(ack, f->ack_at);

	if (!agrees) {
		f->ack_suspected = true;
		f->ack_at = ack;
		return false;
	}
	f->ack_suspected = false;
	f->gap.open = false;
	f->next = ack;
	return true;
}

/* To what was seen: where the stream stands is left open while the acknowledgment is not believed. */
static bool clip_ack(struct tcp_flow *f, uint32_t *ack)
{
	if (tcp_ahead(*ack, f->next) <= 0) {
		f->ack_suspected = false;
		return true;
	}
	if (!believe_ack(f, *ack) && !tcp_is_near(*ack, f->next))
		return false;
	*ack = f->next;
	return true;
}

/*
 * Data inside a gap is acknowledged: the stream was there, and what lies
 * beyond the gap came from a corrupt sequence number (or from past a drop of
 * the capture, in which case it will be met again). The peer knows best.
 */
static void forget_beyond_gap(struct tcp_flow *f, uint32_t ack)
{
	while (f->sent_count > 0 && tcp_ahead(f->sent[f->sent_count - 1].start, ack) >= 0)
		f->sent_count--;
	f->forgot = f->forgot || f->sent_count == 0;
	f->next = ack;
	f->gap.open = false;
}

/* Takes off all that is acknowledged whole; false when that is nothing. */
static bool accept_whole(struct tcp_flow *f, uint32_t ack, int64_t now_us, struct tcp_progress *out)
{
	unsigned whole = 0;
	int64_t sent_us = INT64_MIN;
	bool exact = true;

	for (; whole < f->sent_count && tcp_ahead(ack, f->sent[whole].end) >= 0; whole++) {
		const struct tcp_sent *item = &f->sent[whole];

		if (item->last_us > sent_us)
			sent_us = item->last_us;
		/* After a retransmission none counts, nor what was held up behind one (Karn). */
		exact = exact && item->sends == 1 && !item->inexact;
	}
	if (whole == 0)
		return false;
	f->accepted = (struct tcp_accepted){ true, f->sent[whole - 1].start, f->sent[whole - 1].end, sent_us,
					     f->sent[whole - 1].last_us };
	out->has_rtt = exact;
	out->rtt_us = now_us - f->sent[whole - 1].first.us;
	remove_sent(f, whole);
	return true;
}

/* The acknowledgment ends inside the oldest item. */
static void accept_part(struct tcp_flow *f, uint32_t ack)
{
	struct tcp_sent *head = &f->sent[0];

	f->accepted = (struct tcp_accepted){ true, head->start, ack, head->inexact ? head->first.us : head->last_us,
					     head->last_us };
	head->start = ack;
}

int64_t tcp_flow_accept(struct tcp_flow *f, uint32_t ack, int64_t now_us)
{
	int64_t sent_us = INT64_MIN, rtt_us = TCP_NO_RTT;
	unsigned whole = 0;
	bool exact = true;

	f->progress_us = now_us;
	/* As accept_whole does. What filled a gap was sent after what stands behind it. */
	for (; whole < f->sent_count && tcp_ahead(ack, f->sent[whole].end) >= 0; whole++) {
		sent_us = f->sent[whole].last_us > sent_us ? f->sent[whole].last_us : sent_us;
		exact = exact && !f->sent[whole].inexact;
	}
	if (whole > 0) {
		const struct tcp_sent *last = &f->sent[whole - 1];

		f->accepted = (struct tcp_accepted){ true, last->start, last->end, sent_us, last->last_us };
		rtt_us = exact ? now_us - last->first.us : TCP_NO_RTT;
		if (whole < f->sent_count)
			remove_sent(f, whole);
		else
			f->sent_count = 0;
	}
	if (f->sent_count > 0 && tcp_ahead(ack, f->sent[0].start) > 0)
		accept_part(f, ack);
	return rtt_us;
}

bool tcp_flow_acknowledge(struct tcp_flow *f, uint32_t ack, int64_t now_us, struct tcp_progress *out)
{
	if (!f->synced) {
		f->synced = true;
		f->next = ack;
		return false;
	}
	if (!clip_ack(f, &ack))
		return false;
	if (f->gap.open && !f->gap.bare && tcp_ahead(ack, f->gap.from) > 0 && tcp_ahead(ack, f->gap.to) < 0)
		forget_beyond_gap(f, ack);
	if (f->gap.open && tcp_ahead(ack, f->gap.to) >= 0)
		f->gap.open = false;
	if (f->sent_count == 0 || tcp_ahead(ack, f->sent[0].start) <= 0)
		return false;
	f->progress_us = now_us;
	out->head = f->sent[0];
	out->before = f->accepted;
	out->has_rtt = false;
	out->rtt_us = 0;
	if (!accept_whole(f, ack, now_us, out) || (f->sent_count > 0 && tcp_ahead(ack, f->sent[0].start) > 0))
		accept_part(f, ack);
	return true;
}

void tcp_flow_unsync(struct tcp_flow *f)
{
	f->synced = false;
	f->forgot = f->forgot || f->sent_count > 0;
	f->sent_count = 0;
	f->accepted.known = false;
	f->gap.open = false;
	f->jump_suspected = false;
	f->ack_suspected = false;
}
