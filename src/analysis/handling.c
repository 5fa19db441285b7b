/* SPDX-License-Identifier: MIT */
/* See analysis/handling.h. */

#include "analysis/handling.h"

static bool is_open_to(const struct rebalance *r)
{
	return r->is_root && r->trigger == TRIGGER_SESSION_TIMEOUT && r->has_exposure && r->window_count == 0 &&
	       r->pause_count == 0;
}

/* Of the member's host, for so long that the network in its place would count. */
static bool is_reason_for(const struct window *silence, const struct rebalance *r)
{
	bool is_certain;

	return window_concerns(silence, r->host, &is_certain) && is_certain &&
	       span_length_us(span_intersect(silence->span, r->exposure)) >= r->need_us;
}

static void say(struct rebalance *r, struct arena *a)
{
	struct sv note = r->attribution_note;

	r->attribution_note =
		arena_printf(a, "%.*s%sMeanwhile %.*s sent nothing, and lost nothing: its client sends heartbeats between polls, so "
				"that its handler was at work or its process stood still, and the evidence does not tell which.",
			     SV_ARG(note), sv_is_absent(note) ? "" : " ", SV_ARG(r->host));
}

static void name(const struct window *silence, struct arena *a, struct rebalance *r)
{
	for (size_t i = 0; i < silence->evidence.count; i++)
		evidence_push(&r->stalls, a, &silence->evidence.items[i]);
	evidence_sort(&r->stalls);
	say(r, a);
}

void handlings_name(const struct windows *w, struct arena *a, struct rebalances *r)
{
	for (size_t i = 0; w->untold_count > 0 && i < r->count; i++) {
		if (!is_open_to(&r->items[i]))
			continue;
		for (size_t k = 0; k < w->untold_count; k++) {
			if (!is_reason_for(&w->untold[k], &r->items[i]))
				continue;
			name(&w->untold[k], a, &r->items[i]);
			break;
		}
	}
}
