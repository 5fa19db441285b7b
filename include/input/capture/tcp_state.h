/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_TCP_STATE_H
#define AFTERSHOCK_INPUT_CAPTURE_TCP_STATE_H

/* What the parts of tcp share beside connections and pairs. */

#include "base/arena.h"
#include "input/capture/tcp_activity.h"
#include "input/capture/tcp_copy.h"
#include "input/capture/tcp_pair.h"
#include "input/capture/tcp_report.h"
#include "input/capture/tcp_table.h"

struct kafka;

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

/* If the side is quiet. */
void tcp_tell_quiet(struct tcp *t, const struct tcp_pair *p, unsigned side, int64_t now_us);

/* The process of a side does something: sends new payload, opens or closes. */
static inline void tcp_act(struct tcp *t, struct tcp_conn *c, unsigned side, const struct tcp_mark *mark,
			   bool is_payload)
{
	if (tcp_pair_may_be_quiet(c->pair, side, mark->us))
		tcp_tell_quiet(t, c->pair, side, mark->us);
	tcp_pair_act(c->pair, side, mark, is_payload);
}

#endif
