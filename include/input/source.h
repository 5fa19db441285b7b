/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_SOURCE_H
#define AFTERSHOCK_INPUT_SOURCE_H

/*
 * What an input is: a file, a directory (walked, in byte order of names), an
 * archive or compressed file, or "-" for standard input. Finds out the kind of
 * each from its content, reads it through its kind, and writes to the sink.
 */

#include "base/arena.h"
#include "base/diag.h"
#include "input/rules/rules.h"
#include "model/input_info.h"

/* --host PATTERN=NAME: inputs whose path matches the shell pattern are of this host. */
struct host_pattern {
	const char *pattern;
	struct sv name;
};

/* --timezone [HOST=]ZONE; host absent: all. */
struct host_zone {
	struct sv host;
	struct zone zone;
};

#define INGEST_THREADS_MAX 64

/* A named pipe may be named before its writer has begun. */
#define PIPE_WAIT_MS 10000

/*
 * Gives the rules when the first input needs them: captures do not, and to read
 * some hundred rules takes longer than a small capture. NULL when they are
 * refused, which has been recorded.
 */
struct rules_source {
	const struct rules *(*get)(void *context);
	void *context;
};

struct ingest_options {
	const struct rules *rules;	/* NULL: by rules_source */
	struct rules_source rules_source;
	const char *as_kind;		/* --as; NULL: by content */
	const struct host_pattern *hosts;
	size_t host_count;
	const struct host_zone *zones;
	size_t zone_count;
	unsigned threads;		/* that may read one input together; 0: as many as there are cores */
	unsigned pipe_wait_ms;		/* for the first byte of a named pipe; 0: PIPE_WAIT_MS */
	bool has_near;			/* --from: for times without a year */
	struct host_time near;
};

/*
 * Reads one INPUT argument into the sink. 0 when all of it was dealt with
 * (damaged or skipped pieces are in diag), -1 when it could not be opened or
 * the sink failed: recorded too.
 *
 * The host of an input is that of --host, else the last directory of its path
 * below the argument ("consumer-1/app.log"), else not known.
 */
int source_ingest(const char *argument, const struct ingest_options *o, struct input_sink *sink, struct diag *diag);

/* Names of the kinds for --as and its help; NULL at the end. */
const char *const *source_kind_names(void);

#endif
