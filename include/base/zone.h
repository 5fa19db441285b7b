/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_BASE_ZONE_H
#define AFTERSHOCK_BASE_ZONE_H

/* Zones: fixed offsets, and places by the zone database of the system. */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/sv.h"

struct zone_rules;

/* A fixed offset east of UTC, or the rules of a place, by which the offset changes. */
struct zone {
	int32_t offset_s;		/* of the fixed one */
	const struct zone_rules *rules; /* NULL: it is fixed */
};

/* "UTC", "Z", "+08:00", "-0530", "+8". False for anything else: names of places need zone_load. */
bool zone_parse(struct sv text, struct zone *out);
/* "UTC", "+08:00" or "Europe/Berlin". */
void zone_format(struct buf *b, struct zone z);

/*
 * A place such as "Europe/Berlin", by its file below /usr/share/zoneinfo. The
 * rules live in the arena. False when there is no such place, or its file is
 * damaged.
 */
bool zone_load(struct sv name, struct arena *a, struct zone *out);
/* The same from the bytes of such a file (TZif, RFC 8536). */
bool zone_read(struct sv bytes, struct sv name, struct arena *a, struct zone *out);

/* The offset that holds there at an instant, in seconds since 1970 (UTC). */
int32_t zone_offset_at(struct zone z, int64_t utc_s);

enum zone_local {
	ZONE_ONCE,	/* the clocks there show it once: in utc_s[0] */
	ZONE_TWICE,	/* when clocks are set back: both, in order */
	ZONE_SKIPPED,	/* never, when they are set forward: utc_s[0] is by the clock before */
};
/* The instants at which the clocks there show local_s seconds since 1970-01-01 00:00. */
enum zone_local zone_instants(struct zone z, int64_t local_s, int64_t utc_s[2]);

/*
 * The offset that an abbreviation stands for: one that means the same all over
 * the world (UTC, CET, JST), or one that the place itself uses. False for the
 * ambiguous (CST, IST, BST) without a place, and for what is none.
 */
bool zone_abbreviation(struct zone z, struct sv name, int32_t *offset_s);

#endif
