/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_COUNTERS_H
#define AFTERSHOCK_INPUT_COUNTERS_H

/*
 * What all formats of counters share: the catalogue (counters.def), samples, and
 * what is made of them: the growth between two samples of one host
 * (counter.delta), and the time that the samples cover (evidence.covered).
 * counters_sample.c and counters_coverage.c implement it.
 *
 * A format that people print in loops is a row of loop_formats[] in
 * counters_loop.c (loop.h), one that carries its own times a row of documents[]
 * in counters.c (documents.h).
 */

#include "input/kind.h"

enum counter_id {
#define FAMILY(id, name, wraps, apart, strength, scope, needs, also)
#define COUNTER(id, family, name, column, reset_only, why) id,
#include "input/counters/counters.def"
#undef COUNTER
	COUNTER_COUNT
};

enum counter_family {
#define COUNTER(id, family, name, column, reset_only, why)
#undef FAMILY
#define FAMILY(id, name, wraps, apart, strength, scope, needs, also) FAMILY_##id,
#include "input/counters/counters.def"
#undef FAMILY
#undef COUNTER
	FAMILY_COUNT
};

struct counter_info {
	enum counter_family family;
	const char *name;	/* with its family: "softnet.dropped" */
	const char *column;	/* "Tcp:RetransSegs"; NULL where it has none */
	const char *reset_only; /* why it makes no event; NULL: it does */
	const char *why;	/* why it is read */
};

struct family_info {
	const char *name;
	bool wraps_at_32_bits, apart;
	enum strength strength; /* of an event that one of them grew */
	const char *scope;
	enum counter_id needs, also; /* COUNTER_COUNT: none */
};

extern const struct counter_info counter_infos[COUNTER_COUNT];
extern const struct family_info family_infos[FAMILY_COUNT];

/* One value of one counter, as it stood at the time of its sample. */
struct reading {
	enum counter_id counter;
	int64_t cpu;	  /* -1: not per CPU */
	struct sv device; /* interface, cgroup, "A B" of a connection; absent: of the host. Lives as long as the input */
	uint64_t value;
	struct place place;
};

/* The samples of one input. */
struct counters;
/* Of one host (absent: the input's) and family. */
struct sampler;

struct counters *counters_new(struct ingest *in);
/* A copy of the name that lives as long as the input; the same for the same name. Absent when there are too many. */
struct sv counters_name(struct counters *c, struct sv name);
struct sampler *counters_sampler(struct counters *c, struct sv host, enum counter_family family);
/* One more series of it, for formats that give each counter's times apart: it has a sample before of its own. */
struct sampler *counters_series(struct counters *c, struct sv host, enum counter_family family);
/* Whose figures the family's are, where the input tells better than the catalogue. scope is a literal. */
void counters_scope(struct sampler *s, const char *scope);

/* Adds to the sample that is open. */
void sampler_add(struct sampler *s, const struct reading *r);
/* The open sample lacks something that could not be read: neither the time before it nor that behind it counts as covered. */
void sampler_lacks(struct sampler *s);
/*
 * The open sample was taken at this time: what has grown since the one before is put. rows: how many
 * it had, when a CPU is known by its row alone; else 0. place: of its first row. 0, -1 when the sink failed.
 */
int sampler_close(struct sampler *s, struct host_time time, size_t rows, const struct place *place);
/* The reading's counter has grown by its value from start to end: rates, and tools that print increments. */
int sampler_grown(struct sampler *s, const struct reading *r, struct host_time start, struct host_time end);
/* A sample whose growth was given by sampler_grown: it covers the time from start to end. */
void sampler_covers(struct sampler *s, struct host_time start, struct host_time end);

/*
 * What is of no use: a piece that lacks a part (cut at the start, in the middle or at the end), and a line of no
 * format that is known. Each is told once for the input, with how many there are and where the first stands; the
 * caller counts the first among the records itself.
 */
void counters_torn(struct counters *c, const struct place *place);
void counters_unrecognized(struct counters *c, const struct place *place);
/*
 * The line in which the input ends (struct line, unended), where its format ends each with a line feed: digits of its
 * last number may be lost, and nobody sees it. It is told, and counted as a record that was left out.
 */
void counters_unended(struct counters *c, const struct line *line);
/* So many pieces of bytes that belong to no document were passed over, the first there: told when there are some. */
void counters_strays(struct counters *c, uint64_t pieces, const struct place *first);
/* A document of another shape stood behind one, and what it holds is not read. */
void counters_unlike(struct counters *c, const struct place *place);

/* Puts the coverage. 0, -1. */
int counters_finish(struct counters *c);
/* "softnet_stat, snmp": adds one to the input's format, once. */
void counters_format(struct counters *c, const char *format);

/* ---- helpers of the formats ---- */

/* Words separated by spaces and tabs; absent at the end. */
struct sv counter_word(struct sv *rest);
/* Exactly eight hexadecimal digits. */
bool counter_is_hex8(struct sv word, uint64_t *value);
/*
 * A decimal with point or comma, and exponent, times 10^scale, to the nearest whole number. False on
 * rubbish, NaN, infinities, and out of range.
 */
bool counter_decimal(struct sv text, int scale, int64_t *out);
/* What a rate in thousandths per second makes in an interval, to the nearest whole number. */
int64_t counter_of_rate(int64_t rate_milli, int64_t interval_us);
/* By its column: "Tcp", "RetransSegs". False when it is not read. */
bool counter_by_column(struct sv prefix, struct sv name, enum counter_id *out);
struct place counter_place(const struct line *line);

#endif
