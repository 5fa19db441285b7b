/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_METRICS_H
#define AFTERSHOCK_INPUT_METRICS_H

/*
 * Metrics of the Prometheus family by their names (input-formats.md 1.8), and
 * series of them with their own times.
 */

#include "input/counters/counters.h"

#define LABELS_MAX 64

struct label {
	struct sv name, value;
};

/* The metric's name, absent when it has none, and its labels. */
struct metric {
	struct sv name;
	struct label labels[LABELS_MAX];
	size_t count;
};

struct sv metric_label(const struct metric *m, struct sv name);
/* name{label="value",...}; what follows is left in *rest. False when it is none. Views of text; escapes stay. */
bool metric_read(struct sv text, struct metric *out, struct sv *rest);

/* What a metric is as a counter. */
struct metric_counter {
	enum counter_id id;
	int scale;	 /* of its values: seconds are kept in microseconds */
	int64_t cpu;	 /* -1: not per CPU */
	struct sv device; /* in the arena, or of the metric; absent: none */
};
/* False when it is not read. a: for texts. */
bool metric_counter(const struct metric *m, struct arena *a, struct metric_counter *out);
/* Whether the name is that of a metric of a known exporter, read or not. */
bool metric_is_known(struct sv name);

/* ---- series: points of one metric in order of time ---- */

struct series_set;
struct series;
struct series_set *series_set_new(struct counters *c, struct ingest *in);
/* NULL when the metric is not read. */
struct series *series_of(struct series_set *set, const struct metric *m);
/* 0, -1 when the sink failed. */
int series_point(struct series *s, struct host_time time, struct sv value, const struct place *place);
/* After the last point. */
int series_finish(struct series_set *set);

#endif
