/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_DETECT_H
#define AFTERSHOCK_ANALYSIS_DETECT_H

/*
 * The detectors: each turns events into windows of one kind. A new detector is
 * one function and one row of detectors[].
 */

#include "analysis/window.h"

/* A threshold: a row, so that it can be shown and changed. */
struct threshold {
	const char *name;	/* "blackout.least_ms" */
	int64_t value;
	const char *unit;
	int64_t least, most;
	const char *reason;	/* with the section of method.md */
};

struct detect_context {
	struct store *store;
	const struct clocks *clocks;
	int64_t heartbeat_ms;
	struct arena *arena;
	struct windows *out;
};

struct detector {
	enum window_kind kind;
	const char *evidence;	/* what it reads: "capture", "softnet" ... */
	int (*find)(const struct detect_context *ctx);	/* appends to ctx->out; 0 or -1 */
	const struct threshold *thresholds;
	size_t threshold_count;
};

extern const struct detector detectors[];
extern const size_t detector_count;

#endif
