/* SPDX-License-Identifier: MIT */
/*
 * On whose path is a window? A capture on a broker, or on a mirror port, shows
 * the paths of many hosts; a window of one of them must not be laid at the
 * door of the others.
 */

#include "analysis/detect.h"

static void set_caller(const struct own_addresses *all, struct window *w)
{
	if (sv_is_absent(w->path_a))
		return;
	struct sv own = own_address_of(all, w->host);
	bool to_itself = sv_eq(w->path_a, path_address(w->path_b));
	if (to_itself || (!sv_is_absent(own) && sv_eq(own, w->path_a))) {
		w->caller = w->host;
		return;
	}
	w->seen_elsewhere = true;
	w->caller = own_address_owner(all, w->path_a);
}

void windows_find_callers(const struct detect_context *ctx)
{
	struct windows *out = ctx->out;
	const struct own_addresses *all = ctx->own;

	for (size_t i = 0; i < out->coverage_count; i++)
		if (sv_eq(out->coverage[i].kind, SV("capture")) && !sv_is_absent(out->coverage[i].host))
			out->coverage[i].sees_callers = own_address_is_called(all, out->coverage[i].host);
	for (size_t i = 0; i < out->count; i++)
		set_caller(all, &out->items[i]);
	for (size_t i = 0; i < out->untold_count; i++)
		set_caller(all, &out->untold[i]);
}
