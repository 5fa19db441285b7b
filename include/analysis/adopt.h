/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_ADOPT_H
#define AFTERSHOCK_ANALYSIS_ADOPT_H

/*
 * Whose a client's line is that names no group: librdkafka names its client.id
 * alone. Others (the coordinator's member ids, kafka-consumer-groups) know of
 * which group that client is; when they know of one group alone, it is it.
 */

#include "base/arena.h"
#include "model/event.h"

struct membership {
	struct sv client;
	struct sv group;
};

struct memberships {
	struct membership *items;
	size_t count;
	size_t capacity;
	size_t sort_at;
};

/* Either may be absent: then nothing is learned. */
void memberships_add(struct memberships *m, struct arena *a, struct sv client, struct sv group);
/* Before the first adoption, after the last addition. */
void memberships_sort(struct memberships *m);
/* The event; of a client's that has no group and is adopted, a copy that has it. */
const struct event *memberships_adopt(const struct memberships *m, const struct event *e, struct arena *a);

#endif
