/* SPDX-License-Identifier: MIT */
/*
 * When was a path that comes and goes well again (method.md 3, outage and
 * silence)? Of ten packets it lets three through, or it is gone every other
 * second: that one was heard says nothing of the next. It works when data was
 * acknowledged that had not to be sent again, and nothing was lost after that;
 * at the latest when the silence ended, which is such an exchange.
 */

#include "analysis/detect.h"
#include "analysis/seconds.h"

/* A window whose outage ends with an exchange that is still sought. */
struct doubt {
	struct window *window;
	struct ref_time sign;	/* what was taken for its end */
	bool to_b, to_a;	/* data of one side was acknowledged by the other, since the last loss */
	struct doubt *next;	/* of the same path, later */
};

struct doubts {
	struct doubt **first;	/* by path; NULL when none is left */
	size_t capacity;
};

static struct doubt **doubts_of(const struct detect_context *ctx, struct doubts *all, const struct path *path)
{
	all->first = detect_room(ctx->arena, all->first, sizeof(struct doubt *), path->index, &all->capacity);
	return &all->first[path->index];
}

static bool is_doubtful(const struct window *w)
{
	return w->comes_and_goes && w->has_outage && w->has_lost && !sv_is_absent(w->path_a);
}

/* The windows stand by start. */
static size_t find_doubts(const struct detect_context *ctx, struct doubts *all)
{
	size_t count = 0;

	for (size_t i = ctx->out->count; i-- > 0;) {
		struct window *w = &ctx->out->items[i];

		if (!is_doubtful(w))
			continue;
		struct doubt **first = doubts_of(ctx, all, paths_get(ctx->paths, w->host, w->path_a, w->path_b));
		struct doubt *d = arena_alloc(ctx->arena, sizeof *d);
		*d = (struct doubt){ .window = w, .sign = w->outage.end, .next = *first };
		*first = d;
		w->outage.end = window_silence_of_path(w).end;
		count++;
	}
	return count;
}

/* On the caller's own host the answer to its data crossed the path; elsewhere either side's crossed a part of it. */
static bool is_exchange(const struct doubt *d)
{
	return d->to_b && (!d->window->seen_elsewhere || d->to_a);
}

static void take_second(const struct detect_context *ctx, struct doubts *all, const struct event *e)
{
	struct doubt **first = doubts_of(ctx, all, detect_path(ctx, e)), *d;
	struct ref_time t = detect_event_span(ctx, e).start;

	while ((d = *first) != NULL && d->window->outage.end.us <= t.us)
		*first = d->next;
	if (d == NULL || t.us < d->window->lost.end.us || t.us < d->sign.us || detect_number(e, FIELD_RETRANSMITS) > 0 ||
	    detect_number(e, FIELD_RTT_SAMPLES) == 0)
		return;
	if (sv_eq(event_text(e, FIELD_DIRECTION), SV("ab")))
		d->to_b = true;
	else
		d->to_a = true;
	if (!is_exchange(d))
		return;
	d->window->outage.end = t;
	*first = d->next;
}

int windows_doubt_signs(const struct detect_context *ctx)
{
	struct doubts all = { NULL, 0 };
	struct event e;
	int rc;

	if (find_doubts(ctx, &all) == 0)
		return 0;
	struct seconds *s = seconds_new(ctx->store, ctx->arena);
	while ((rc = seconds_next(s, &e)) == 1)
		take_second(ctx, &all, &e);
	seconds_free(s);
	return rc;
}
