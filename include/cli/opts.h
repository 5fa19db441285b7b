/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_CLI_OPTS_H
#define AFTERSHOCK_CLI_OPTS_H

/*
 * The command line: a table of options, from which usage, help and range
 * checks are made.
 */

#include <stdbool.h>
#include <stddef.h>

#include "analysis/options.h"
#include "analysis/share.h"
#include "base/arena.h"
#include "cli/files.h"
#include "cli/probe.h"
#include "input/source.h"
#include "report/report.h"

enum exit_code {
	EXIT_DONE = 0,		/* the job was done, whatever the verdict */
	EXIT_FAILED = 1,	/* an input not opened, a database not written */
	EXIT_USAGE = 2,
	EXIT_DAMAGED = 3,	/* done, but some input was damaged or ignored in part */
	EXIT_VERDICT = 4,	/* report --fail-on */
};

/* Commands, one bit each, in option rows. */
enum command {
	COMMAND_ANALYZE = 1 << 0,
	COMMAND_INGEST = 1 << 1,
	COMMAND_REPORT = 1 << 2,
	COMMAND_TUNE = 1 << 3,
	COMMAND_EXPLAIN = 1 << 4,
	COMMAND_RULES = 1 << 5,
	COMMAND_PROBE = 1 << 6,
	COMMAND_THRESHOLDS = 1 << 7,
};

/* As it is typed: "analyze". */
const char *command_name(enum command command);

struct options {
	const char *db;			/* --db */
	const char *output;		/* -o */
	const char *rules;		/* --rules; NULL: those shipped */
	enum report_format format;
	bool has_fail_on;
	enum verdict fail_on;
	bool quiet, no_progress, help;
	enum when color;
	struct ingest_options ingest;	/* rules are set by the command */
	struct analysis_options analysis;
	struct probe_options probe;
	/* arrays behind the two above */
	struct host_pattern *hosts;
	size_t host_capacity;
	struct host_zone *zones;
	size_t zone_capacity;
	struct host_offset *offsets;
	size_t offset_capacity;
	int64_t *session_timeouts;
	size_t session_timeout_capacity;
	/* what is left: inputs, an id, a file of rules */
	char **arguments;
	size_t argument_count;
};

/*
 * Reads the words after the command's name. False on a mistake, which has been
 * named on standard error. argv is reordered.
 */
bool opts_parse(enum command command, int argc, char **argv, struct arena *a, struct options *out);

/* The options of a command, one line each, to standard output. */
void opts_help(enum command command);

#endif
