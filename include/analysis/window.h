/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_WINDOW_H
#define AFTERSHOCK_ANALYSIS_WINDOW_H

/*
 * Jitter windows, process pauses, and what was covered by evidence (method.md
 * 1 and 3).
 */

#include "analysis/clock.h"
#include "model/span.h"

enum window_kind {
#define WINDOW(id, name, jitter, severity, what, remedy) WINDOW_##id,
#include "analysis/window.def"
#undef WINDOW
	WINDOW_KIND_COUNT
};

struct window_kind_info {
	const char *name;
	bool is_jitter;
	const char *severity;	/* "high", "medium" */
	const char *what;
	const char *remedy;	/* where to put it right; NULL when the evidence does not name the place */
};
extern const struct window_kind_info window_kind_infos[WINDOW_KIND_COUNT];

enum measure_id {
#define MEASURE(id, name, how) MEASURE_##id,
#include "analysis/measure.def"
#undef MEASURE
	MEASURE_COUNT
};

struct measure {
	const char *name;	/* with its unit: "retransmits", "silence_ms" */
	bool known;
	int64_t value;
};

#define WINDOW_MEASURES_MAX MEASURE_COUNT

struct window {
	unsigned id;		/* 1.. in order of start: W1, W2 ... */
	enum window_kind kind;	/* the gravest of kinds, in the order of window.def */
	unsigned kinds;		/* bits 1 << kind, of all that were merged */
	/* All of it, with requests that waited longer than the silence lasted. This is what attribution uses. */
	struct span span;
	/* The silence of the path, where it is not all of it: from the last data accepted to the next (method.md 3). */
	struct span silence;
	bool has_silence;
	/* The longest time around it between two requests that restarted a client's session timer (heard.h). */
	struct span heard;
	bool has_heard;
	/* The outage: from the first loss to the first sign of a working path; equal to span where not known. */
	struct span outage;
	bool has_outage;
	/* From the first to the last segment that is known to be lost: the outage lasted at least so long. */
	struct span lost;
	bool has_lost;
	bool censored;		/* in progress when the evidence ended */
	const char *source;	/* the evidence of its gravest kind: "capture", "softnet", "conntrack", "netstat" */
	struct sv host;		/* on which it was seen; absent when not known */
	struct sv path_a;	/* address of the calling host, without port; absent for windows of a host */
	struct sv path_b;	/* address and port called */
	struct sv caller;	/* host that path_a belongs to; absent when not known */
	bool seen_elsewhere;	/* host is not the calling one (a broker's capture, a mirror port): it is the caller's window */
	int64_t resolution_us;	/* of its finest evidence's times: 0 for packets, a second or a sample's interval else */
	struct measure measures[WINDOW_MEASURES_MAX];
	size_t measure_count;
	struct evidence_list evidence;
};

struct coverage {
	struct sv kind;		/* "capture", "softnet", "conntrack", "netstat", "snmp", "log", "snapshot", "effects" */
	struct sv host;
	struct span span;
	struct sv scope;	/* of counters: "host", "namespace", "cgroup", "unknown"; absent else */
	int64_t interval_us;	/* of counters: between two samples, the longest of those that are of one sort; 0 else */
	bool is_coarse;		/* sampled so seldom that these counters open no window, and that their quiet says nothing */
	bool sees_callers;	/* a capture on the called side, or between: it saw the paths of other hosts too */
};

struct windows {
	struct window *items;	/* by start, then host */
	size_t count;
	size_t capacity;
	struct coverage *coverage;
	size_t coverage_count;
	size_t coverage_capacity;
	/* Process and server pauses stand among items too; is_jitter of their kind tells. */
};

/*
 * Runs every detector, merges what overlaps or lies closer than the heartbeat
 * interval on one path, and numbers the windows. heartbeat_ms: the group's, or
 * 3000 (Kafka's default) when it is not known. 0 or -1.
 */
int windows_find(struct store *s, const struct clocks *c, const struct analysis_options *o, int64_t heartbeat_ms,
		 struct arena *a, struct windows *out);

bool window_is_jitter(const struct window *w);
/* From the last data that the path accepted to the next. */
struct span window_silence_of_path(const struct window *w);
/* What the coordinator lived through: between two requests that it heard; where these are not known, the silence of the path. */
struct span window_silence(const struct window *w);
/* NULL when it is not known. */
const struct measure *window_measure(const struct window *w, enum measure_id id);
/*
 * Whether it is on this host: for a path, on the calling one. A host that is
 * not known, on either side, matches all, and then *certain is false.
 */
bool window_concerns(const struct window *w, struct sv host, bool *certain);
/*
 * The counters whose samples lie furthest apart, if by more than a limit such as
 * the session timeout: what happened between two of them has no exact place.
 * NULL when all are finer.
 */
const struct coverage *windows_coarsest(const struct windows *w, int64_t limit_us);
/*
 * The time in which jitter on this host (absent: any) could have been seen
 * (method.md 1): by its captures, its counters, or captures that show the paths of others.
 */
struct span_set windows_coverage(const struct windows *w, struct sv host, struct arena *a);

#endif
