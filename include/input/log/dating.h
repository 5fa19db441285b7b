/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_DATING_H
#define AFTERSHOCK_INPUT_LOG_DATING_H

/*
 * What the times of one input leave out: year, date, start, or which of two
 * instants they are. It is taken from what else is known, in a fixed order, and
 * where nothing tells it stays unknown (input-formats.md 4.4).
 */

#include "base/arena.h"
#include "base/tstamp.h"

struct dating {
	/* By other times of the input, the nearest last. */
	bool has_anchor;
	struct host_time anchor;
	/* By the options: a time near which the incident lies. */
	bool has_near;
	struct host_time near;
	/* By the file: it was last written to then, and its name carries a day. */
	bool has_modified;
	struct host_time modified;
	bool has_name_day;
	int64_t name_day;		/* days since 1970 */
	/* The instant from which seconds of the inner lines count. */
	bool has_start;
	struct host_time start;
	/* It lies between these: a line that counts stands behind one with a date, and another with a date behind it. */
	bool has_dated, has_counted, has_least, has_most;
	bool looks_ahead, is_past_start;	/* and has met a second start: what stands behind it is of another process */
	struct host_time dated;
	int64_t counted_us, least_us, most_us;
	/* The one from which those of the wrapper count: a machine's boot. */
	bool has_boot;
	struct host_time boot;
	/* Where years, days, the start and the boot came from; NULL when none was needed or known. */
	const char *year_source, *day_source, *start_source, *boot_source;
};

enum dated {
	DATED_NOT,		/* nothing tells, or there is no such date */
	DATED,
	DATED_FIRST_OF_TWO,	/* clocks were set back: nothing tells which of two; the first */
	DATED_SKIPPED,		/* no clock showed it: taken by the one before */
};

/*
 * The instant of a time of a writer that last wrote at *previous (NULL: not
 * known). z: the zone for it.
 */
enum dated dating_settle(struct dating *d, const struct tstamp *t, struct zone z, const struct host_time *previous,
			 struct host_time *out);
/* Of seconds that the wrapper counts. */
enum dated dating_settle_boot(const struct dating *d, const struct tstamp *t, struct host_time *out);

/* Completes a time without year or date to the one nearest to an instant, as clocks in z show it. False when there is none. */
bool dating_complete(struct tstamp *t, struct host_time near, struct zone z);

/* "app.log.2026-11-30", "server.log.2026-11-30-11", "app.log-20261130": the day in a name. */
bool dating_name_day(struct sv base_name, int64_t *day);

/*
 * The zone in which a time without one was written, if an instant at which it
 * was written (the wrapper's) is known: their difference is near a quarter of
 * an hour. False when it is not, or no zone is that far.
 */
bool dating_zone_by_instant(const struct tstamp *t, struct host_time instant, struct zone *out);
/* The same of a time that has been read as if it were UTC. */
bool dating_zone_by_local(struct host_time as_utc, struct host_time instant, struct zone *out);

#endif
