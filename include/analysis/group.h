/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_GROUP_H
#define AFTERSHOCK_ANALYSIS_GROUP_H

/*
 * Consumer groups: their members, on which host each lives, and their
 * settings with where each value comes from.
 */

#include "analysis/clock.h"

/* A setting is known from the client's config dump, or what the coordinator stored of it (its evidence), or not at all. */
struct setting {
	bool known;
	int64_t value;
	struct evidence source;
};

struct member {
	struct sv member_id;
	struct sv client_id;	/* absent when not known */
	struct sv host;		/* whose log speaks for it; absent when not known */
	struct sv instance_id;	/* group.instance.id; absent for dynamic members */
	struct sv peer;		/* its address as the broker saw it, bare; absent when not known */
	struct ref_time first, last;	/* first and last event that names it */
};

struct group {
	struct sv name;
	struct sv protocol;	/* "classic", "consumer"; absent when not known */
	struct sv client_version; /* of Kafka's own client library, the first that a member's log tells; absent when none does */
	struct member *members;	/* by first appearance */
	size_t member_count;
	size_t member_capacity;
	size_t *by_id;		/* places in members, by member id */
	/* The most common value over the members' config dumps of this group. */
	struct setting session_timeout_ms;
	struct setting heartbeat_interval_ms;
	struct setting max_poll_interval_ms;
	struct setting max_poll_records;
	struct setting request_timeout_ms;
	struct setting auto_commit_interval_ms;
	struct setting enable_auto_commit;	/* 0 or 1 */
	struct sv coordinator;	/* host:port as clients, or kafka-consumer-groups, name it, the latest; absent when not known */
	bool coordinator_changed;	/* more than one was found */
};

struct groups {
	struct group *items;	/* by name */
	size_t count;
};

int groups_find(struct store *s, const struct clocks *c, const struct analysis_options *o, struct arena *a,
		struct groups *out);
struct group *groups_get(const struct groups *g, struct sv name);
const struct member *group_member(const struct group *g, struct sv member_id);
/*
 * Kafka's defaults where a setting is not known, for arithmetic that must have one, by the client's version: 45000,
 * 3000, 300000, 30000 from Kafka 3.0 on, and where the version is not known either. Under the consumer protocol the
 * broker sets session and heartbeat, 45000 and 5000 by default, and the clients' values are without effect.
 */
int64_t group_session_timeout_ms(const struct group *g);
int64_t group_heartbeat_interval_ms(const struct group *g);
int64_t group_max_poll_interval_ms(const struct group *g);
int64_t group_request_timeout_ms(const struct group *g);

#endif
