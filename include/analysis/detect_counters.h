/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_DETECT_COUNTERS_H
#define AFTERSHOCK_ANALYSIS_DETECT_COUNTERS_H

/*
 * What the detectors of counters share: the growth of some counters between two
 * samples of one host, added up over its CPUs, and a window where it says so.
 */

#include "analysis/detect.h"

#define DETECT_COLUMNS_MAX 12

struct counter_column {
	const char *counter;
	enum measure_id measure; /* MEASURE_COUNT: it is shown in none */
};

/* The counters that one detector reads of one kind of samples. */
struct counter_columns {
	const char *evidence; /* as in coverage */
	const struct counter_column *columns;
	size_t column_count;
};

/* What the growth is added up over. */
enum counter_series {
	SERIES_OF_HOST,	  /* all of it */
	SERIES_OF_DEVICE, /* each interface or cgroup apart */
	SERIES_OF_PATH,	  /* each pair of addresses apart: its windows are of that path */
};

/* The interval between two samples that is being added up. */
struct counter_interval {
	bool in_use;
	const struct path *series;
	int64_t input;		   /* two samplers of one host are added up apart */
	int64_t start_us, end_us;  /* by the host's clock */
	int64_t growth[DETECT_COLUMNS_MAX];
	struct event *events; /* its rows, the first few */
	size_t event_count, more;
	struct span_set covered; /* by these samples on this host */
	bool has_covered;
};

struct counter_collector {
	const struct detect_context *ctx;
	const struct counter_columns *counters;
	enum counter_series of;
	enum window_kind kind;
	const char *role;
	/* Whether the growth opens a window, with the host's span at hand. */
	bool (*is_window)(struct counter_collector *c, const struct counter_interval *i, struct span span);
	void *state; /* the detector's own */
	int64_t *inputs; /* that cover some time with this evidence */
	size_t input_count, input_capacity;
	struct counter_interval *items;
	size_t capacity;
};

/* Walks all growth; opens a window for each interval that is covered, fine enough, and one. 0 or -1. */
int detect_collect(struct counter_collector *c);
/* Counters of one host are numbered as paths are. */
const struct path *detect_series(const struct detect_context *ctx, struct sv host, const char *evidence);
/* Adds the interval's rows to the window's evidence. */
void detect_interval_evidence(const struct counter_collector *c, const struct counter_interval *i, struct window *w);

#endif
