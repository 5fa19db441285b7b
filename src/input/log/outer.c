/* SPDX-License-Identifier: MIT */
/* Wrappers' times beside the records' own. See input/log/outer.h. */

#include "input/log/outer.h"

#include <inttypes.h>
#include <stdlib.h>

/* Zones are apart by quarters of an hour; what is left over was the shipping. */
#define QUARTER_S (15 * 60)
#define SHIPPING_S (2 * 60)

static bool is_farthest(const struct outer_times *o, int64_t apart_us)
{
	return o->records == 0 || (llabs(apart_us) > llabs(o->least_us) && llabs(apart_us) > llabs(o->most_us));
}

void outer_times_add(struct outer_times *o, struct host_time outer, struct host_time own, bool zoned, const struct place *place)
{
	int64_t apart_us = outer.us - own.us;

	if (is_farthest(o, apart_us))
		o->at = *place;
	if (o->records == 0 || apart_us < o->least_us)
		o->least_us = apart_us;
	if (o->records == 0 || apart_us > o->most_us)
		o->most_us = apart_us;
	o->any_zoned = o->any_zoned || zoned;
	o->records++;
}

/* "3600.220 s after" */
static void add_apart(struct buf *b, int64_t apart_us)
{
	int64_t us = apart_us < 0 ? -apart_us : apart_us;

	buf_printf(b, "%" PRId64 ".%03d s %s", us / US_PER_S, (int)(us % US_PER_S / US_PER_MS), apart_us < 0 ? "before" : "after");
}

/* The zone in which own times without one would be those of their wrappers; false when no single one is. */
static bool zone_that_fits(const struct outer_times *o, struct zone *out)
{
	int64_t half = o->most_us < 0 ? QUARTER_S / 2 : -QUARTER_S / 2;
	int64_t quarters = (half - o->most_us / US_PER_S) / QUARTER_S, most_s = quarters * QUARTER_S + o->most_us / US_PER_S,
		least_s = quarters * QUARTER_S + o->least_us / US_PER_S;

	*out = (struct zone){ .offset_s = (int32_t)(quarters * QUARTER_S) };
	return !o->any_zoned && quarters != 0 && llabs(quarters) * QUARTER_S <= 14 * 3600 && llabs(most_s) <= SHIPPING_S &&
	       llabs(least_s) <= SHIPPING_S;
}

void outer_times_note(const struct outer_times *o, struct diag *d)
{
	struct zone zone;
	struct buf text;

	if (o->records == 0 || (llabs(o->least_us) <= OUTER_APART_US && llabs(o->most_us) <= OUTER_APART_US))
		return;
	buf_init(&text);
	buf_printf(&text, "%" PRIu64 " %s a wrapper's time too, which does not count: ", o->records,
		   o->records == 1 ? "record has" : "records have");
	if (o->least_us != o->most_us) {
		add_apart(&text, o->least_us);
		buf_add(&text, SV(" to "));
	}
	add_apart(&text, o->most_us);
	buf_add(&text, SV(" their own"));
	if (zone_that_fits(o, &zone)) {
		buf_add(&text, SV(", as if these were in zone "));
		zone_format(&text, zone);
		buf_add(&text, SV(" (--timezone)"));
	}
	diag_add(d, SEVERITY_NOTE, "log.outer_time", &o->at, "%.*s", SV_ARG(buf_sv(&text)));
	buf_fini(&text);
}
