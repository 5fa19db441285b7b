/* SPDX-License-Identifier: MIT */
/* Likeness of log lines. See store/repeat.h. */

#include "store/repeat.h"

#include "base/fold.h"

/* With its length, so that no two lists of texts are alike. Absent is not empty. */
static uint64_t add_text(uint64_t digest, struct sv s)
{
	return sv_is_absent(s) ? fold_number(digest, UINT64_MAX) : fold_bytes(digest, s.p, s.n);
}

/* The collector's id says which record it is: two exports of it may differ in all that surrounds it. */
static uint64_t digest_of_id(const struct event *e, struct sv fields)
{
	uint64_t digest = add_text(LIKENESS_ID, sv_of(event_infos[e->type].name));

	return add_text(fold_number(digest, e->record_id), fields);
}

static uint64_t digest_of_line(const struct event *e, struct sv fields)
{
	uint64_t digest = add_text(LIKENESS_LINE, sv_of(event_infos[e->type].name));

	digest = fold_number(digest, (uint64_t)e->time.us);
	digest = add_text(add_text(digest, e->host), e->text);
	/* The same line may speak of several members: an event of each. */
	return add_text(digest, fields);
}

struct likeness repeat_likeness(const struct event *e, struct sv fields)
{
	struct likeness l = { .kind = LIKENESS_NONE };

	if (e->place.unit != PLACE_LINE || (e->text.n == 0 && e->record_id == 0))
		return l;
	if (e->record_id != 0) {
		l.kind = LIKENESS_ID;
		l.digest = digest_of_id(e, fields);
		return l;
	}
	l.kind = LIKENESS_LINE;
	l.digest = digest_of_line(e, fields);
	return l;
}

uint64_t repeat_digest_behind(uint64_t digest, uint64_t before)
{
	/* An odd number: all multiples of it differ. */
	return digest + before * UINT64_C(0x9e3779b97f4a7c15);
}
