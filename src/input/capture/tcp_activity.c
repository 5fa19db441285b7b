/* SPDX-License-Identifier: MIT */
/* See the header. */

#include "input/capture/tcp_activity.h"

void tcp_activity_init(struct tcp_activity *t, struct arena *a)
{
	*t = (struct tcp_activity){ .arena = a };
	/* Of itself, both ways: nothing is there. */
	tcp_activity_number(t, NULL);
}

uint32_t tcp_activity_number(struct tcp_activity *t, struct tcp_conn *c)
{
	ARENA_PUSH(t->arena, t->link, t->count, t->capacity)->conn = c;
	return (uint32_t)(t->count - 1);
}
