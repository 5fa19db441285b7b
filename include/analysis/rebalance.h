/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_REBALANCE_H
#define AFTERSHOCK_ANALYSIS_REBALANCE_H

/*
 * Rebalances as episodes (method.md 4): all lines of one group and generation
 * are one. Each has a trigger with its evidence, and a root.
 */

#include "analysis/group.h"
#include "analysis/window.h"

enum trigger {
#define TRIGGER(id, name, code, what) TRIGGER_##id,
#include "analysis/trigger.def"
#undef TRIGGER
	TRIGGER_COUNT
};

struct trigger_info {
	const char *name;
	const char *code;
	const char *what;
};
extern const struct trigger_info trigger_infos[TRIGGER_COUNT];

enum fate {
	FATE_NOT_EVICTED,
	FATE_WRONGLY_EVICTED,	/* the same process came back after its expiry: it had been alive */
	FATE_GONE,		/* no sign of life afterwards, within coverage of its log */
	FATE_UNKNOWN,
};

enum attribution {
	ATTRIBUTION_EXPLAINED,
	ATTRIBUTION_LAGGED,
	ATTRIBUTION_NONE,
	ATTRIBUTION_AMBIGUOUS,	 /* would flip within the clock's uncertainty, or a pause explains as much */
	ATTRIBUTION_NOT_NETWORK, /* its trigger is none that the network can cause, or a process pause explains it */
	ATTRIBUTION_UNOBSERVED,	 /* no jitter evidence covers its exposure */
};

/* A member without partitions, from giving them up to the next assignment. */
struct absence {
	struct sv client, host;	/* absent when not known */
	struct span span;
};

struct rebalance {
	unsigned id;		/* 1.. by start: R1, R2 ... */
	struct sv group;
	bool has_generation;
	int64_t generation;	/* the new one; the episode that empties a group has the generation it was left with */
	bool empties_group;	/* it ended with no members */
	struct ref_time trigger_time;	/* of the trigger's evidence: e in method.md 5 */
	struct span span;	/* from the first line to the assignment received */
	enum trigger trigger;
	unsigned triggers;	/* bits 1 << trigger, of all that coincided */
	enum strength trigger_strength;
	const char *trigger_basis;	/* "broker reason", "broker line", "client log", "inference" */
	struct sv trigger_clock;	/* host whose clock gave trigger_time; absent when not known */
	struct sv member;	/* whose doing it was; absent when not known */
	struct sv client;
	struct sv host;		/* of that member */
	struct sv peer;		/* its address as the broker saw it; absent when not known */
	struct sv broker_host;	/* whose log tells of it; absent when no coordinator's log does */
	bool broker_stalled;	/* members of several hosts were evicted in one millisecond: no network does that */
	bool by_disconnect;	/* coordinator_change: clients lost the connection, no coordinator is known to have moved */
	bool has_timer_reset;	/* the coordinator restarted all session timers at timer_reset, before trigger_time */
	struct ref_time timer_reset;
	bool has_last_heard;	/* a capture saw the last request that restarted the evicted member's timer (heard.h) */
	struct ref_time last_heard, last_heard_answered;	/* it arrived, and was answered */
	enum fate fate;		/* of the evicted member */
	unsigned root;		/* id of the root; its own id when it is one */
	bool is_root;
	struct absence *absences; /* of members whose logs tell, in the order of their return */
	size_t absence_count;
	struct evidence_list evidence;

	/* Filled by share_find (method.md 5). */
	bool has_exposure;	/* false: empty, the network did not cause it */
	struct span exposure;
	int64_t need_us;	/* what overlaps it for so long may be its cause (method.md 5) */
	const char *exposure_basis; /* how its length is known: "timer reset", "setting", "default"; NULL without one */
	bool observed;		/* jitter evidence covers it, or shows jitter */
	bool counted;		/* in the shares: evidence that would have shown quiet as well covers it */
	bool contained;		/* the trigger's moment lies in an outage */
	bool lagged;
	bool explained;
	enum attribution attribution;
	struct sv attribution_note;	/* one sentence why, or absent */
	bool implausible;	/* lagged, but losses alone cannot have made so long a silence of the outages seen */
	int64_t overlap_us;	/* of the exposure with jitter windows */
	int64_t pause_overlap_us;
	struct evidence_list stalls;	/* of its hosts, in the time before it: filled by stalls_find (stall.h) */
	const struct window **windows;	/* jitter windows that meet the exposure, by start */
	size_t window_count;
	const struct window **pauses;	/* process and server pauses that do */
	size_t pause_count;
	/* Filled by duplicates_find. */
	struct sv *partitions_moved;	/* "topic-3", sorted; those whose owner changed */
	size_t partitions_moved_count;
};

/* See analysis/rebalance_index.h. */
struct rebalance_index {
	const struct rebalance **by_start;
	const struct rebalance **by_group;	/* then start */
	const struct rebalance **by_generation;	/* by group, generation: those that have one and do not empty the group */
	size_t generation_count;
	const struct rebalance **by_end;
};

struct rebalances {
	struct rebalance *items;	/* by start as their lines tell it, then group */
	size_t count;
	size_t capacity;
	struct rebalance_index *index;	/* made by duplicates_find, when their spans are final */
};

int rebalances_find(struct store *s, const struct clocks *c, const struct groups *g, const struct analysis_options *o,
		    struct arena *a, struct rebalances *out);
/* NULL when there is none of that id. */
const struct rebalance *rebalances_get(const struct rebalances *r, unsigned id);
const char *fate_name(enum fate f);
const char *attribution_name(enum attribution a);

#endif
