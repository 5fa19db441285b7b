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
#include "base/civil.h"
#include "base/sv.h"
#include "base/zone.h"

struct host_time {
	int64_t us;
};

struct ref_time {
	int64_t us;
};

#define US_PER_MS INT64_C(1000)
#define US_PER_S INT64_C(1000000)

/* What a time says, and what it leaves to be known from elsewhere. */
enum tstamp_lack {
	TSTAMP_LACKS_NOTHING,
	TSTAMP_LACKS_YEAR,  /* Nov 30 11:44:07 */
	TSTAMP_LACKS_DATE,  /* 11:44:07.123 */
	TSTAMP_LACKS_START, /* since a start that is not known: 711.799658 */
};

struct tstamp {
	enum tstamp_lack lacks;
	bool zoned;	     /* the text gave the zone */
	bool is_epoch;	     /* us is the instant; civil is not set */
	int32_t offset_s;    /* of the zone that was written */
	struct civil civil;  /* year, month and day are 0 where they lack */
	int64_t us;	     /* since 1970, or since the start */
	char abbreviation[6]; /* of a zone, where it has several meanings; empty when none was written */
};

/*
 * Reads a time at the start of text by a layout of letters, as logback and
 * log4j write them:
 *   yyyy yy MM dd HH mm ss   digits     MMM  Jan..Dec     EEE  a day of the week
 *   M d H h               one or two digits, blanks before them; hh: 12-hour clock
 *   a                     AM or PM: hours count to 12
 *   SSS                   a fraction of any number of digits, to microseconds
 *   XXX                   Z, +08:00, +0800 or +08: gives the zone
 *   z                     UTC, CET, or an abbreviation that is ambiguous
 *   epoch_s epoch_ms epoch_us epoch_ns   seconds, ms, us, ns, with an optional fraction
 *   uptime_s uptime_ms    the same since a start that is not known; blanks before them
 * Any other character stands for itself. *used is the number of bytes read.
 */
bool tstamp_read(struct sv text, struct sv layout, struct tstamp *out, size_t *used);

/*
 * The instants of a time that lacks nothing, in zone z where it has none of its
 * own: false when there is no such date (30 February, 25:00). A second 60 is
 * taken as 59.
 */
bool tstamp_resolve(const struct tstamp *t, struct zone z, struct host_time out[2], enum zone_local *local);

/*
 * Both in one, for times that lack nothing. *zoned: the text gave the zone. Of
 * two instants (clocks set back) it is the first.
 */
bool tstamp_parse(struct sv text, struct sv layout, struct zone z, struct host_time *out, bool *zoned, size_t *used);

/*
 * By trial of what machines write: ISO 8601 with T or space, comma, dot or
 * colon before a fraction, with or without zone, without separators; "date"
 * output in the locales that are met; 30 Nov 2026 11:44:02,721;
 * Nov 30, 2026 11:31:38 AM; epoch in s, ms, us or ns by its size. The whole text
 * must be the time. Orders of day and month that have to be declared (11/30/26)
 * are not guessed.
 */
bool tstamp_guess_parts(struct sv text, struct tstamp *out);
/* The same for times that lack nothing. */
bool tstamp_guess(struct sv text, struct zone z, struct host_time *out, bool *zoned);

/* RFC 3339 in UTC with microseconds: 2026-11-30T13:29:36.000000Z. */
void tstamp_format(struct buf *b, int64_t us);

/* "30s", "1500ms", "+1.25s", "-45s", "2m", "1h"; a bare number is seconds. False on rubbish or out of range. */
bool duration_parse(struct sv text, int64_t *us);

#endif
