/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_BASE_TSTAMP_H
#define AFTERSHOCK_BASE_TSTAMP_H

/*
 * Instants in microseconds since 1970 (UTC), and the layouts in which logs
 * write them.
 *
 * A time by a host's own clock and a time on the reference clock are two
 * types, so that comparing them does not compile. Only analysis/clock.c makes
 * a ref_time from a host_time.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/sv.h"

struct host_time {
	int64_t us;
};

struct ref_time {
	int64_t us;
};

#define US_PER_MS INT64_C(1000)
#define US_PER_S INT64_C(1000000)

/* A zone as a fixed offset east of UTC. */
struct zone {
	int32_t offset_s;
};

/* "UTC", "Z", "+08:00", "-0530", "+8". False for anything else (names of places need a zone database). */
bool zone_parse(struct sv text, struct zone *out);
/* "UTC" or "+08:00". */
void zone_format(struct buf *b, struct zone z);

/*
 * Reads a time at the start of text by a layout of letters, as logback and
 * log4j write them:
 *   yyyy MM dd HH mm ss   digits     MMM  Jan..Dec
 *   SSS                   a fraction of any number of digits, to microseconds
 *   XXX                   Z, +08:00, +0800 or +08: sets *zoned
 *   epoch_s epoch_ms epoch_us   seconds (with an optional fraction), ms, us
 * Any other character stands for itself. Without XXX or epoch the time is taken
 * in zone z, and *zoned is false. *used is the number of bytes read.
 * A date that does not exist (30 February, 25:00) is refused; second 60 is taken as 59.
 */
bool tstamp_parse(struct sv text, struct sv layout, struct zone z, struct host_time *out, bool *zoned, size_t *used);

/*
 * The same by trial of the layouts that machines write: ISO 8601 with T or
 * space, comma or dot, with or without fraction and zone, "date" output in the C
 * locale (Mon Nov 30 11:51:57 UTC 2026), epoch in s, ms, us or ns by its size.
 * The whole text must be the time.
 */
bool tstamp_guess(struct sv text, struct zone z, struct host_time *out, bool *zoned);

/* RFC 3339 in UTC with microseconds: 2026-11-30T13:29:36.000000Z. */
void tstamp_format(struct buf *b, int64_t us);

/* "30s", "1500ms", "+1.25s", "-45s", "2m", "1h"; a bare number is seconds. False on rubbish or out of range. */
bool duration_parse(struct sv text, int64_t *us);

#endif
