/* SPDX-License-Identifier: MIT */
/* Zones as offsets and abbreviations. Places: zone_place.c. */

#include "base/zone.h"

#include <string.h>

#include "base/cursor.h"
#include "base/zone_place.h"

/*
 * Abbreviations with one meaning in the zone database and in use. Left out
 * since they have several: CST (America, China, Cuba), IST (India, Ireland,
 * Israel), BST, PST (America, the Philippines), EST, EDT, MST, AST, GST, ADT, WST.
 */
static const struct {
	struct sv name;
	int16_t offset_min;
} abbreviations[] = {
	{ { "UTC", 3 }, 0 },	 { { "GMT", 3 }, 0 },	  { { "Z", 1 }, 0 },	   { { "UT", 2 }, 0 },
	{ { "WET", 3 }, 0 },	 { { "WEST", 4 }, 60 },	  { { "CET", 3 }, 60 },	   { { "CEST", 4 }, 120 },
	{ { "EET", 3 }, 120 },	 { { "EEST", 4 }, 180 },  { { "MSK", 3 }, 180 },   { { "SAST", 4 }, 120 },
	{ { "EAT", 3 }, 180 },	 { { "CAT", 3 }, 120 },	  { { "PKT", 3 }, 300 },   { { "WIB", 3 }, 420 },
	{ { "HKT", 3 }, 480 },	 { { "JST", 3 }, 540 },	  { { "KST", 3 }, 540 },   { { "AEST", 4 }, 600 },
	{ { "AEDT", 4 }, 660 },	 { { "ACST", 4 }, 570 },  { { "ACDT", 4 }, 630 },  { { "AWST", 4 }, 480 },
	{ { "NZST", 4 }, 720 },	 { { "NZDT", 4 }, 780 },  { { "PDT", 3 }, -420 },  { { "MDT", 3 }, -360 },
	{ { "AKST", 4 }, -540 }, { { "AKDT", 4 }, -480 }, { { "HST", 3 }, -600 },
};

bool zone_abbreviation(struct zone z, struct sv name, int32_t *offset_s)
{
	if (z.rules != NULL && zone_place_abbreviation(z.rules, name, offset_s))
		return true;
	for (size_t i = 0; i < sizeof abbreviations / sizeof abbreviations[0]; i++) {
		if (!sv_eq_nocase(abbreviations[i].name, name))
			continue;
		*offset_s = abbreviations[i].offset_min * 60;
		return true;
	}
	return false;
}

bool zone_parse(struct sv text, struct zone *out)
{
	if (sv_eq_nocase(text, SV("UTC")) || sv_eq_nocase(text, SV("Z")) || sv_eq_nocase(text, SV("GMT"))) {
		*out = (struct zone){ 0 };
		return true;
	}
	char padded[4];
	if (text.n == 2 && (text.p[0] == '+' || text.p[0] == '-') && cursor_is_digit(text.p[1])) {
		memcpy(padded, (const char[]){ text.p[0], '0', text.p[1] }, 3);
		text = (struct sv){ padded, 3 };
	}
	struct cursor c = { text, 0 };
	struct zone z = { 0 };
	if (text.n < 3 || !cursor_offset(&c, &z.offset_s) || c.at != text.n)
		return false;
	*out = z;
	return true;
}

void zone_format(struct buf *b, struct zone z)
{
	if (z.rules != NULL) {
		buf_add(b, zone_place_name(z.rules));
		return;
	}
	if (z.offset_s == 0) {
		buf_add(b, SV("UTC"));
		return;
	}
	int minutes = (z.offset_s < 0 ? -z.offset_s : z.offset_s) / 60;
	buf_printf(b, "%c%02d:%02d", z.offset_s < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

int32_t zone_offset_at(struct zone z, int64_t utc_s)
{
	return z.rules == NULL ? z.offset_s : zone_place_offset_at(z.rules, utc_s);
}

/* No place changes its clocks twice within two days. */
enum zone_local zone_instants(struct zone z, int64_t local_s, int64_t utc_s[2])
{
	utc_s[0] = utc_s[1] = local_s - z.offset_s;
	if (z.rules == NULL)
		return ZONE_ONCE;
	int64_t before = local_s - zone_offset_at(z, local_s - 86400);
	int64_t after = local_s - zone_offset_at(z, local_s + 86400);
	bool by_before = before + zone_offset_at(z, before) == local_s;
	bool by_after = after + zone_offset_at(z, after) == local_s;
	utc_s[0] = utc_s[1] = by_after && !by_before ? after : before;
	if (!by_before && !by_after)
		return ZONE_SKIPPED;
	if (!by_before || !by_after || before == after)
		return ZONE_ONCE;
	utc_s[0] = before < after ? before : after;
	utc_s[1] = before < after ? after : before;
	return ZONE_TWICE;
}
