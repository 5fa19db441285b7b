/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_CLOCK_H
#define AFTERSHOCK_ANALYSIS_CLOCK_H

/*
 * One reference clock for all hosts (method.md 2). The only place where a
 * host_time becomes a ref_time.
 *
 * Two things are kept apart. A zone belongs to an input: a log may be in local
 * time while the capture of the same host is in UTC. A clock belongs to a host,
 * and all its inputs share it.
 *
 * Links are pairs of events with a known order on two hosts. An ordered pair
 * bounds the offset from one side; pairs in both directions enclose it.
 */

#include "analysis/evidence.h"
#include "analysis/options.h"
#include "store/query.h"

enum clock_method {
	CLOCK_REFERENCE,   /* is the reference */
	CLOCK_OPTION,	   /* the user's --offset */
	CLOCK_LINKS,	   /* enclosed from both sides, at least for a part of the time */
	CLOCK_ONE_SIDED,   /* bounded from one side: offset 0 when the bound allows it, else the bound */
	CLOCK_DAEMONS,	   /* no link at all, but by its own time daemon and the reference's */
	CLOCK_ASSUMED,	   /* no link at all: offset 0, uncertainty unknown */
	CLOCK_CONTRADICTORY, /* bounds exclude one another, and steps cannot be told: offset 0, uncertainty unknown, said so */
};

/* before happened before after, on whichever hosts. */
struct clock_link {
	struct evidence before;
	struct evidence after;
};

/* A clock between two times at which it was set. Times are by the host's own clock, zones taken off. */
struct clock_piece {
	struct host_time since;	/* it begins; INT64_MIN for the first */
	struct host_time first, last; /* of its links; known is what lies between, and the more uncertain the farther from it */
	int64_t offset_us;	/* this clock minus the reference, at first */
	double drift_ppm;	/* growth of the offset; 0 unless no constant offset fits the bounds */
	int64_t step_us;	/* by how much the clock was set when it began; 0 for the first */
	struct host_time set_after, set_before;	/* it was set between these two times that it showed; not of the first */
	bool is_told;		/* the step, by the host's own daemon */
	struct evidence told;
	bool has_uncertainty;
	int64_t uncertainty_us;	/* from first to last the true offset lies within offset +- uncertainty */
	struct host_time best;	/* where it is known best */
	int64_t best_uncertainty_us;
	double growth_ppm;	/* of the uncertainty, away from there */
	size_t links_forward, links_backward;
	struct clock_link tightest[2];
	bool has_tightest[2];
};

struct host_clock {
	struct sv host;
	enum clock_method method;
	/* Of the first piece, which as a rule is the only one. */
	int64_t offset_us;	/* this clock minus the reference, at since */
	double drift_ppm;	/* growth of the offset; 0 unless no constant offset fits the bounds */
	struct host_time since;
	bool has_uncertainty;
	int64_t uncertainty_us;	/* the true offset lies within offset +- uncertainty, over the time of the links */
	struct clock_link tightest[2]; /* the links that bound it most, [0] from above, [1] from below */
	bool has_tightest[2];
	/* Of all pieces. */
	size_t links_forward;	/* links that bound the offset from above */
	size_t links_backward;	/* ... from below */
	size_t links_refuted;	/* links that the others contradict: two messages taken for one */
	size_t told_refuted;	/* steps that the host's own daemon tells of, and that links on both sides exclude */
	const struct clock_piece *pieces; /* in order; more than one when the clock was set. NULL without links */
	size_t piece_count;
	int64_t step_us;	/* in which its coarsest log writes times: 1 s, 1 ms, 1 us; 0 when it has no lines that link */
	bool has_zone;		/* an input of it was written in another zone than was assumed; see input_zone */
	struct zone zone;	/* ... the first such input's */
};

/* An input whose times are in a zone that it does not write, and that differs from the one they were read in. */
struct input_zone {
	int64_t input;
	struct zone zone;	/* so far east of the zone in which it was read */
};

/* What a host's time daemon says of its clock, by the host's own. */
struct clock_daemon {
	struct sv host;
	size_t readings;
	struct host_time first, last;
	int64_t least_us, most_us;	/* the clock less true time, as read */
	bool has_bound;			/* each reading says how wrong it may be */
	int64_t low_us, high_us;	/* the same, with that */
	bool is_against_reference;	/* the reference's daemon was read meanwhile, and bounds it as well */
	struct host_time both_from, both_to;
	int64_t ahead_least_us, ahead_most_us; /* this clock less the reference, by both */
	bool is_contradicted;		/* by links, or by the user */
};

struct clocks {
	struct sv reference;	/* host; absent when the events that would choose it name none */
	struct host_clock *hosts;	/* all hosts that events name, by name */
	size_t count;
	struct input_zone *zones;	/* by input */
	size_t zone_count;
	const struct clock_daemon *daemons;	/* by first reading */
	size_t daemon_count;
};

/*
 * 0 or -1. The reference is the broker with most coordinator events, else the
 * host with most events; never one with an --offset of its own while another is
 * left. Events without a host are taken together as one host: the reference if
 * they are the coordinator's.
 */
int clocks_find(struct store *s, const struct analysis_options *o, struct arena *a, struct clocks *out);

/* An event's time: its input's zone and its host's clock taken off. */
struct ref_time clock_event_to_ref(const struct clocks *c, const struct event *e);
/* Any time that an input wrote. An absent or unknown host is taken to be on the reference clock. */
struct ref_time clock_input_to_ref(const struct clocks *c, int64_t input, struct sv host, struct host_time t);
/* The same for times that are in UTC by nature (captures, counters). */
struct ref_time clock_to_ref(const struct clocks *c, struct sv host, struct host_time t);
/* NULL when the input was read in the zone in which it was written. */
const struct zone *clock_zone_of(const struct clocks *c, int64_t input);

/* At any time of its links; 0 for the reference; *known false when nothing bounds it, and 0 then. Whole seconds are part of it. */
int64_t clock_uncertainty_us(const struct clocks *c, struct sv host, bool *known);
/* Near to one instant: less close to links, more far from them and where the clock may or may not have been set already. */
int64_t clock_uncertainty_at_us(const struct clocks *c, struct sv host, struct ref_time t, bool *known);

/* Keeps them in the database, for people who query it (store_save_clocks). 0 or -1. */
int clocks_save(const struct clocks *c, struct store *s);
const char *clock_method_name(enum clock_method m);

#endif
