/* SPDX-License-Identifier: MIT */
/*
 * One event of one client that several of its lines tell of: the ERROR and the
 * WARN of one failure, the consumer's line and that of the application's
 * listener. It is one piece of evidence with several places.
 */

#include "analysis/echo.h"

#include <stdlib.h>

#include "analysis/episode.h"
#include "analysis/grant.h"

/* Longer lists are compared as they are written, so that hostile input costs no square. */
#define LIST_BYTES_MAX 4096

/* What clients say more than once, each time in other words. */
static const enum event_type echoing[] = {
	EVENT_CLIENT_SUSPECTS_SESSION, EVENT_CLIENT_POLL_TIMEOUT, EVENT_CLIENT_MEMBERSHIP_LOST, EVENT_CLIENT_COORDINATOR_LOST,
	EVENT_COMMIT_FAILED,	       EVENT_PARTITIONS_ASSIGNED, EVENT_PARTITIONS_REVOKED,	EVENT_PARTITIONS_LOST,
};

static bool is_echoing(enum event_type type)
{
	for (size_t i = 0; i < sizeof echoing / sizeof *echoing; i++) {
		if (echoing[i] == type)
			return true;
	}
	return false;
}

/* Who it is, and what of: a line that does not say so may be about the same. */
static bool are_alike(const struct event *x, const struct event *y)
{
	static const enum event_field texts[] = { FIELD_GROUP, FIELD_CLIENT, FIELD_MEMBER, FIELD_INSTANCE, FIELD_TOPIC };
	static const enum event_field numbers[] = { FIELD_GENERATION, FIELD_PARTITION, FIELD_OFFSET };

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct sv a = event_text(x, texts[i]), b = event_text(y, texts[i]);

		if (a.n > 0 && b.n > 0 && !sv_eq(a, b))
			return false;
	}
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		if (event_has(x, numbers[i]) && event_has(y, numbers[i]) &&
		    event_int_or(x, numbers[i], 0) != event_int_or(y, numbers[i], 0))
			return false;
	}
	return true;
}

static bool names_partition(struct sv partitions, struct sv topic, int64_t partition)
{
	struct sv rest = partitions, its_topic = SV_ABSENT;
	int64_t number;

	while (partitions_next(&rest, &its_topic, &number)) {
		if (number == partition && sv_eq(its_topic, topic))
			return true;
	}
	return false;
}

static bool holds_all(struct sv partitions, struct sv of)
{
	struct sv rest = of, topic = SV_ABSENT;
	int64_t number;

	while (partitions_next(&rest, &topic, &number)) {
		if (!names_partition(partitions, topic, number))
			return false;
	}
	return true;
}

/* Each client writes lists in its own way. */
static bool are_same_partitions(const struct event *x, const struct event *y)
{
	struct sv a = event_text(x, FIELD_PARTITIONS), b = event_text(y, FIELD_PARTITIONS);

	if (sv_agree(a, b))
		return true;
	return a.n <= LIST_BYTES_MAX && b.n <= LIST_BYTES_MAX && holds_all(a, b) && holds_all(b, a);
}

bool echo_is(const struct event *x, const struct event *y)
{
	return x->type == y->type && is_echoing(x->type) && llabs(x->time.us - y->time.us) <= EVIDENCE_ECHO_US &&
	       sv_eq(x->host, y->host) && are_alike(x, y) && are_same_partitions(x, y);
}

struct evidence *echo_find(const struct episode *ep, const struct event *e)
{
	for (size_t i = ep->told_count; i > 0 && is_echoing(e->type); i--) {
		if (ep->told[i - 1]->id != e->id && echo_is(ep->told[i - 1], e))
			return &ep->r.evidence.items[i - 1];
	}
	return NULL;
}
