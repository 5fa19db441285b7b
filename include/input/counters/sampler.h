/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_SAMPLER_H
#define AFTERSHOCK_INPUT_SAMPLER_H

/* Samples as they stand in memory: made by counters_sample.c, whose coverage counters_coverage.c puts. */

#include "input/counters/counters.h"

struct sample_time {
	struct host_time time;
	bool breaks; /* the interval before it says nothing: a reset, or time went back */
};

struct readings {
	struct reading *items;
	size_t count, capacity;
};

struct sampler {
	struct counters *of;
	size_t index; /* in order of making */
	struct sv host;
	enum counter_family family;
	const char *scope;
	bool of_series; /* one counter alone: its coverage is that of the host's fullest series */
	bool seen[COUNTER_COUNT];
	struct readings now, before;
	bool now_lacks, before_lacks; /* something that could not be read */
	bool has_before;
	struct host_time before_time;
	size_t before_rows;
	struct sv *reset; /* devices that were reset in this interval */
	size_t reset_count, reset_capacity;
	struct sample_time *times;
	size_t time_count, time_capacity;
};

/* Of pieces that are of no use: how many, and the first. */
struct left_out {
	uint64_t count;
	struct place first;
};

struct counters {
	struct ingest *in;
	struct left_out torn, unrecognized;
	struct sampler **samplers;
	size_t count, capacity;
	struct sv *names; /* by hash, open addressing */
	size_t name_count, name_slots;
};

#endif
