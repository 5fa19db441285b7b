/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_TIME_H
#define AFTERSHOCK_INPUT_LOG_TIME_H

/*
 * The times of a log's records: which of a record's two times counts, in which
 * zone it was written, and what it leaves out.
 */

#include "input/log/dating.h"
#include "input/kind.h"
#include "input/log/form.h"
#include "input/log/outer.h"
#include "input/log/unwrap.h"

/* Where the zones of times came from: one that needed more outweighs any number that needed less. */
enum zone_source { ZONE_NONE, ZONE_WRITTEN, ZONE_BY_WRAPPER, ZONE_OF_INPUT };

/* How the times without zone at the start of a log agree with those of their wrappers. */
struct zone_vote {
	size_t asked, agreed;
	struct zone zone;	/* once one has agreed */
};

/* What is known of one writer's times. */
struct log_clock {
	bool has_previous;
	struct host_time previous;
	bool asked;		/* whether its wrapper tells the zone */
	bool has_zone;		/* and it does */
	struct zone zone;
	struct zone other;	/* that the last records would have, so many in a row */
	size_t in_a_row;
};

struct log_times {
	struct ingest *in;
	const struct log_form *form;	/* in which the look ahead reads too */
	struct dating dating;
	bool looked_ahead;
	struct zone_vote votes[UNWRAP_WRITERS_MAX + 1];	/* by serial; the first is that of all */
	enum zone_source zone_source;
	struct outer_times outer;
};

void log_times_init(struct log_times *t, struct ingest *in, const struct log_form *form);
/*
 * The time of a record: the inner one, or where that cannot be known the
 * wrapper's. False when there is neither: recorded.
 */
bool log_times_settle(struct log_times *t, struct log_clock *c, const struct unwrapped *r, const struct place *place,
		      struct host_time *out);
/* Records without wrappers were taken elsewhere, whose times lack nothing: the first of them, the least, and the last. */
void log_times_passed(struct log_times *t, struct host_time first, struct host_time least, struct host_time last);
/* A record of which only its own time is asked, which lacks nothing and was written in one zone or in none. */
struct log_counted {
	struct host_time time;	/* without a zone as if it were UTC */
	bool zoned;
	bool has_wrapper, prompt;	/* as in struct unwrapped */
	bool has_outer;		/* the wrapper's time is an instant */
	struct host_time outer;
	uint64_t serial;	/* of its writer */
};
/* As log_times_settle. False when it cannot do without the record: nothing was done. */
bool log_times_count(struct log_times *t, struct log_clock *c, const struct log_counted *r, const struct place *place, struct host_time *out);
/* At the end of the log: where years and dates came from, and which times did not count. */
void log_times_note(const struct log_times *t);

#endif
