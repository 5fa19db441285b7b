/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_TCP_FLOW_H
#define AFTERSHOCK_INPUT_CAPTURE_TCP_FLOW_H

/*
 * One direction of a connection: which data is under way, which of it is sent
 * again, and what the peer accepts. Sequence numbers wrap; times do not go
 * back (tcp.c sees to it).
 */

#include <stdbool.h>
#include <stdint.h>

#include "input/capture/cache_line.h"
#include "input/capture/packet_place.h"
#include "input/capture/tcp.h"
#include "input/capture/tcp_median.h"

/*
 * A sequence number farther off than this is not believed until a second
 * segment agrees. Receive windows of more than that are rare; a drop of that
 * many bytes by the capture costs one segment of statistics.
 */
#define TCP_JUMP_LEAST (1 << 20)

/* How far x is ahead of y, modulo 2^32. */
static inline int32_t tcp_ahead(uint32_t x, uint32_t y)
{
	return (int32_t)(x - y);
}

static inline bool tcp_is_near(uint32_t x, uint32_t y)
{
	int32_t d = tcp_ahead(x, y);

	return d > -TCP_JUMP_LEAST && d < TCP_JUMP_LEAST;
}

/* A packet, as evidence. */
struct tcp_mark {
	int64_t us;
	struct packet_place place;
};

/* Data that the peer has not acknowledged. */
struct tcp_sent {
	struct tcp_mark first;	/* its first transmission */
	int64_t last_us;	/* its latest */
	uint32_t start, end;
	uint32_t sends;
	bool inexact;		/* several segments taken together, or one whose first transmission went unseen */
};

/* The latest data that was acknowledged. */
struct tcp_accepted {
	bool known;
	uint32_t start, end;
	int64_t sent_us;	/* the transmission that was acknowledged */
	int64_t last_us;	/* its latest transmission: it may be sent again when the acknowledgment is lost */
};

/* Data passed over: lost before the capture point, out of order, or dropped by the capture. */
struct tcp_gap {
	bool open;
	bool bare;	/* known by segments without payload alone: all that the side sent since is missing */
	uint32_t from, to;
	struct tcp_mark seen;
};

/* More are taken together with the latest: only their round trips are lost. */
#define TCP_SENT_MAX 8

/* How long the data at the head has stood, and what happened since. */
struct tcp_wait {
	int64_t heard_us;	/* latest sign of the peer on this connection since the head was sent; 0: none */
	int64_t sign_us;	/* first sign of the peer's host on any connection since the latest transmission; 0: none */
	int64_t sign_before_us;	/* the same between that and the one before */
	int64_t lost_us;	/* the latest transmission known to be lost, since another followed; 0: none */
	uint32_t retransmits, timeouts;
	bool stalled;		/* nothing was heard for longer than the threshold */
	bool reported;
	bool ended;		/* this side closed or reset the connection, which can still progress by itself */
	int64_t gave_up_us;	/* when this side turned to another connection; 0: not that we know */
	int64_t replaced_us;	/* when the peer's host was first heard on another connection after that; 0: not yet */
};

/* A stall as it is reported (event.def, net.stall). */
struct tcp_stall {
	struct tcp_mark mark;	/* the first loss, or where it shows */
	bool has_loss;		/* it was seen */
	int64_t start_us, end_us;
	int64_t sign_us, lost_us;	/* 0: none */
	uint32_t retransmits, timeouts;
	bool abandoned, censored;
};

/* The second at hand (net.second). What every segment touches stands first. */
struct tcp_second {
	bool open;
	uint32_t segments;
	int64_t second;
	uint64_t bytes;
	struct tcp_samples rtt;
	uint32_t retransmits, timeouts;
	uint32_t needless;	/* of the retransmits: no timer had run out, and the peer says that it had the data */
	/* First and latest of the transmissions whose timers ran out, when they were sent; 0: none. */
	int64_t lost_first_us, lost_last_us;
	struct tcp_mark mark;
};

#define TCP_CALM_SECONDS 10

/* Seconds before that one, which are told together (tcp_calm.h). */
struct tcp_calm {
	unsigned count;		/* 0: none */
	int64_t first, last;	/* seconds */
	struct tcp_mark mark;	/* of the first */
	uint64_t segments, bytes;
	uint64_t rtts;		/* round trips */
	uint32_t min_us, max_us;	/* of all */
	unsigned medians;
	uint32_t median_us[TCP_CALM_SECONDS];	/* of the seconds that have any */
};

struct tcp_conn;

/*
 * What every segment touches stands first, in lines of the cache: with many
 * connections, fetching them from memory is most of what a packet costs
 * (tcp_expect).
 */
struct tcp_flow {
	_Alignas(CACHE_LINE) struct tcp_conn *conn;
	uint32_t next;		/* one past the highest sequence number sent */
	uint32_t fin;		/* sequence number of the FIN */
	union {
		struct {
			bool synced;	/* next is known */
			bool fin_sent;
			/* All of sent was dropped, not accepted: whoever watches it must know (tcp_stall_forget). */
			bool forgot;
			bool jump_suspected;
			bool ack_suspected;
			bool given_up;	/* stands in that list */
			bool held;	/* a stall that waits for its verdict (tcp_stall.h) */
			bool window_closed;	/* this side offers no receive window */
		};
		uint8_t state[8];	/* all of them (tcp_flow_is_usual) */
	};
	uint8_t side;		/* which sends */
	uint8_t sent_count;
	bool listed;		/* among the unacknowledged flows of the pair's side */
	bool fills;		/* the latest segment filled the gap in "filled" */
	bool hasty;		/* data was sent again before its timer ran out: the latest */
	bool held_left;		/* its side has left: it waits for the peer to be heard elsewhere */
	int64_t resent_after_us;	/* of the latest segment; 0 unless it was sent again */
	struct tcp_gap gap;
	struct tcp_second now;
	/* Seldom: what fills up the line. */
	struct tcp_flow *next_given_up, *previous_given_up;
	int64_t gap_sign_us;	/* of a bare gap: when the side's host was first heard again; set by tcp_stall_missed */
	uint32_t hasty_from, hasty_to;
	uint32_t jump_next;	/* where the stream goes on if the jump was true */
	uint32_t ack_at;
	/* What every acknowledgment of its data touches. */
	_Alignas(CACHE_LINE) struct tcp_wait wait;
	_Alignas(CACHE_LINE) struct tcp_flow *newer;	/* unacknowledged flows of the pair's side */
	struct tcp_flow *older;
	struct tcp_accepted accepted;
	int64_t progress_us;	/* when the peer acknowledged data last */
	_Alignas(CACHE_LINE) struct tcp_sent sent[TCP_SENT_MAX];	/* by sequence */
	/* Seldom. */
	struct tcp_gap filled;	/* by the latest segment, if it fills: a bare gap, as it was */
	struct tcp_stall held_stall;
	int64_t held_since_us, held_replaced_us;
	struct tcp_mark window_closed_mark;
	struct tcp_calm calm;
};

/* From memory, for a segment of it that comes in a moment. */
static inline void tcp_flow_fetch_sender(const struct tcp_flow *f)
{
	__builtin_prefetch(f);
	__builtin_prefetch(&f->now.bytes);
	__builtin_prefetch(&f->sent);
}

/* The same, for one that acknowledges its data. */
static inline void tcp_flow_fetch_receiver(const struct tcp_flow *f)
{
	tcp_flow_fetch_sender(f);
	__builtin_prefetch(&f->wait);
	__builtin_prefetch(&f->newer);
}

/* Where it stands is known, no doubt or gap is open, and nothing is held up: nearly always. */
static inline bool tcp_flow_is_usual(const struct tcp_flow *f)
{
	static const uint8_t usual[sizeof f->state] = { true };

	return USUALLY(__builtin_memcmp(f->state, usual, sizeof usual) == 0 && !f->gap.open);
}

enum tcp_data {
	TCP_DATA_NONE,
	TCP_DATA_NEW,
	TCP_DATA_AGAIN,		/* sent again, resent_after_us after the time before */
	TCP_DATA_LATE,		/* overtaken by what was sent after it */
	TCP_DATA_PROBE,		/* keep-alive or window probe */
	TCP_DATA_DOUBTFUL,	/* far outside what was sent before: corrupt, unless the next one agrees */
};

/* Takes a segment of this direction. peer_window_closed: the other side offered no window. */
enum tcp_data tcp_flow_send(struct tcp_flow *f, const struct segment *s, int64_t now_us, bool peer_window_closed);

struct tcp_progress {
	struct tcp_sent head;	/* the oldest data before, now acknowledged at least in part */
	struct tcp_accepted before;	/* what had been accepted until now */
	bool has_rtt;
	int64_t rtt_us;
};

/*
 * Nearly always for a side that only receives: all that it sent was acknowledged
 * before, and tcp_flow_acknowledge would change nothing.
 */
static inline bool tcp_flow_is_acknowledged(const struct tcp_flow *f, uint32_t ack)
{
	return f->sent_count == 0 && f->synced && ack == f->next && !f->gap.open && !f->ack_suspected && !f->forgot;
}

/* Takes an acknowledgment of this direction's data. False when it acknowledges nothing that is under way. */
bool tcp_flow_acknowledge(struct tcp_flow *f, uint32_t ack, int64_t now_us, struct tcp_progress *out);

/* ---- of a usual direction ---- */

/* Data of the segment that was not sent before. */
static inline void tcp_flow_append(struct tcp_flow *f, uint32_t start, uint32_t end, const struct segment *s,
				   int64_t now_us)
{
	if (f->sent_count < TCP_SENT_MAX) {
		f->sent[f->sent_count++] = (struct tcp_sent){ .first = { now_us, s->place }, .last_us = now_us,
							      .start = start, .end = end, .sends = 1 };
	} else {
		f->sent[TCP_SENT_MAX - 1].end = end;
		f->sent[TCP_SENT_MAX - 1].last_us = now_us;
		f->sent[TCP_SENT_MAX - 1].inexact = true;
	}
	f->next = end;
}

/* What tcp_flow_send makes of a segment that comes next, without SYN, FIN and RST, nor the one byte of a probe. */
static inline void tcp_flow_send_next(struct tcp_flow *f, const struct segment *s, int64_t now_us)
{
	f->fills = false;
	f->resent_after_us = 0;
	if (s->payload_bytes > 0)
		tcp_flow_append(f, s->sequence, s->sequence + s->payload_bytes, s, now_us);
}

/*
 * Whether tcp_flow_accept may be called instead of tcp_flow_acknowledge, of a
 * usual flow: data under way is acknowledged, none beyond what was seen, and
 * all of it was sent once.
 */
static inline bool tcp_flow_is_accepted(const struct tcp_flow *f, uint32_t ack)
{
	if (f->sent_count == 0 || tcp_ahead(ack, f->sent[0].start) <= 0 || tcp_ahead(ack, f->next) > 0)
		return false;
	for (unsigned i = 0; i < f->sent_count && tcp_ahead(ack, f->sent[i].start) > 0; i++)
		if (f->sent[i].sends != 1)
			return false;
	return true;
}

/* No time at all, so that it can be no round trip. */
#define TCP_NO_RTT INT64_MIN
/* Gives the round trip, if it counts. */
int64_t tcp_flow_accept(struct tcp_flow *f, uint32_t ack, int64_t now_us);

/* ---- the rest ---- */

/* Forgets all that is under way and where the stream stands. */
void tcp_flow_unsync(struct tcp_flow *f);

#endif
