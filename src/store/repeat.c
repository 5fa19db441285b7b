/* SPDX-License-Identifier: MIT */
/* Likeness of log lines. See store/repeat.h. */

#include "store/repeat.h"

#include <string.h>

#include "base/digest.h"

void repeats_begin(struct repeats *r)
{
	memset(r, 0, sizeof *r);
}

static void add_number(struct digest *d, uint64_t n)
{
	digest_add(d, &n, sizeof n);
}

/* With its length, so that no two lists of texts are alike. Absent is not empty. */
static void add_text(struct digest *d, struct sv s)
{
	add_number(d, sv_is_absent(s) ? UINT64_MAX : s.n);
	digest_add(d, s.p, s.n);
}

static void add_fields(struct digest *d, const struct event *e)
{
	for (int f = 0; f < FIELD_COUNT; f++) {
		if (!(e->set & FIELD_BIT(f)))
			continue;
		add_number(d, (uint64_t)f);
		if (field_infos[f].type == FIELD_INT)
			add_number(d, (uint64_t)e->value[f].number);
		else
			add_text(d, e->value[f].text);
	}
}

static uint64_t first_bytes(struct digest *d)
{
	char hex[2 * DIGEST_BYTES + 1];
	uint64_t out = 0;

	digest_hex(d, hex);
	(void)sv_to_hex64((struct sv){ hex, 16 }, &out);
	return out;
}

/* The collector's id says which record it is: two exports of it may differ in all that surrounds it. */
static uint64_t digest_of_id(const struct event *e)
{
	struct digest d;

	digest_init(&d);
	add_number(&d, e->record_id);
	add_text(&d, sv_of(event_infos[e->type].name));
	add_fields(&d, e);
	return first_bytes(&d);
}

static uint64_t digest_of_line(const struct event *e)
{
	struct digest d;

	digest_init(&d);
	add_text(&d, sv_of(event_infos[e->type].name));
	add_text(&d, e->host);
	add_text(&d, e->text);
	add_fields(&d, e);
	return first_bytes(&d);
}

/* How many lines alike have come before in this input, as far as they are remembered. */
static uint64_t times_before(struct repeats *r, uint64_t digest)
{
	struct repeat_count *slot = &r->slots[digest % REPEAT_SLOTS];

	if (slot->digest != digest)
		*slot = (struct repeat_count){ digest, 0 };
	return slot->times++;
}

bool repeats_likeness(struct repeats *r, const struct event *e, struct likeness *out)
{
	uint64_t digest;

	if (e->place.unit != PLACE_LINE || (e->text.n == 0 && e->record_id == 0))
		return false;
	out->before = 0;
	if (e->record_id != 0) {
		out->time_us = 0;
		digest = digest_of_id(e);
	} else {
		out->time_us = e->time.us;
		digest = digest_of_line(e);
		/* An odd number: all multiples of it differ. */
		out->before = times_before(r, digest ^ (uint64_t)e->time.us);
		digest += out->before * UINT64_C(0x9e3779b97f4a7c15);
	}
	memcpy(&out->digest, &digest, sizeof out->digest);
	return true;
}
