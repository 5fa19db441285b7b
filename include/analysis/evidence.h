/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_EVIDENCE_H
#define AFTERSHOCK_ANALYSIS_EVIDENCE_H

/*
 * What a conclusion rests on: events, by their place and text, so that a
 * reader can open the file at that line or packet.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/event.h"

struct evidence {
	int64_t event;		/* id in the store */
	enum event_type type;
	enum strength strength;
	struct place place;
	struct host_time written;	/* as its host wrote it */
	struct ref_time time;		/* on the reference clock */
	struct sv host;
	struct sv text;			/* the line, for text inputs; else a short rendering of the fields */
	struct sv role;			/* what it shows here: "the coordinator removed the member"; a literal */
	struct place *also;		/* where else the same is said: by another line, or another appender */
	size_t also_count, also_capacity;
	bool also_more;			/* and at places beyond EVIDENCE_ALSO_MAX, which are not kept */
};

struct evidence_list {
	struct evidence *items;
	size_t count;
	size_t capacity;
	int64_t greatest;	/* event id in it: a greater one is new without a search */
};

/* One event as evidence. Its texts are e's, but for the rendering, which is the arena's. role is a literal. */
struct evidence evidence_of(struct arena *a, const struct event *e, struct ref_time time, const char *role);

/* Two lines of one host that are written within so long, and say the same of the same client, tell of one event. */
#define EVIDENCE_ECHO_US (100 * US_PER_MS)

/* A line that is written on and on proves no more at its hundredth place than at its tenth. */
#define EVIDENCE_ALSO_MAX 64

/* The place says the same: noted, unless it is known. */
void evidence_echo(struct evidence *e, struct arena *a, const struct place *place);

/*
 * Appends unless the event is there already (an event that is in no store, id 0,
 * is always new), or the same line of the same host: that is one more place. e's
 * texts must outlive the list (they do when loaded by query_load).
 */
void evidence_add(struct evidence_list *list, struct arena *a, const struct event *e, struct ref_time time,
		  const char *role);
/* Appends one whose event is known not to be there. */
void evidence_push(struct evidence_list *list, struct arena *a, const struct evidence *one);
/* By time, then event id. */
void evidence_sort(struct evidence_list *list);

#endif
