/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_CLOCK_H
#define AFTERSHOCK_ANALYSIS_CLOCK_H

/*
 * One reference clock for all hosts (method.md 2). The only place where a
 * host_time becomes a ref_time.
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
	CLOCK_LINKS,	   /* enclosed from both sides */
	CLOCK_ONE_SIDED,   /* bounded from one side: offset 0 when the bound allows it, else the bound */
	CLOCK_ASSUMED,	   /* no link at all: offset 0, uncertainty unknown */
	CLOCK_CONTRADICTORY, /* bounds exclude one another, with drift too: a step; offset 0, uncertainty unknown, said so */
};

/* before happened before after, on whichever hosts. */
struct clock_link {
	struct evidence before;
	struct evidence after;
};

struct host_clock {
	struct sv host;
	enum clock_method method;
	int64_t offset_us;	/* this clock minus the reference, at since */
	double drift_ppm;	/* growth of the offset; 0 unless no constant offset fits the bounds */
	struct host_time since;
	bool has_uncertainty;
	int64_t uncertainty_us;	/* the true offset lies within offset +- uncertainty */
	size_t links_forward;	/* links that bound the offset from above */
	size_t links_backward;	/* ... from below */
	struct clock_link tightest[2]; /* the links that bound it most, [0] from above, [1] from below */
	bool has_tightest[2];
	bool has_zone;		/* the offset is no skew but a time zone that was not written (method.md 2) */
	struct zone zone;	/* the times were written so far east of the zone in which they were read */
};

struct clocks {
	struct sv reference;	/* host; absent when the events that would choose it name none */
	struct host_clock *hosts;	/* all hosts that events name, by name */
	size_t count;
};

/*
 * 0 or -1. The reference is the broker with most coordinator events, else the
 * host with most events; never one with an --offset of its own while another is
 * left. Events without a host are taken together as one host: the reference if
 * they are the coordinator's.
 */
int clocks_find(struct store *s, const struct analysis_options *o, struct arena *a, struct clocks *out);
/* An absent or unknown host is taken to be on the reference clock. */
struct ref_time clock_to_ref(const struct clocks *c, struct sv host, struct host_time t);
/* 0 for the reference; *known false when nothing bounds it, and 0 then. */
int64_t clock_uncertainty_us(const struct clocks *c, struct sv host, bool *known);
/* Keeps them in the database, for people who query it (store_save_clocks). 0 or -1. */
int clocks_save(const struct clocks *c, struct store *s);
const char *clock_method_name(enum clock_method m);

#endif
