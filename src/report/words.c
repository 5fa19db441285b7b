/* SPDX-License-Identifier: MIT */
/* Figures as people read them. See report/words.h. */

#include "report/words.h"

#include <inttypes.h>

void words_amount(struct buf *b, int64_t micros)
{
	uint64_t magnitude = micros < 0 ? (uint64_t)-(micros + 1) + 1 : (uint64_t)micros;
	uint64_t fraction = magnitude % 1000000;
	int decimals = 6;
	while (decimals > 2 && fraction % 10 == 0) {
		fraction /= 10;
		decimals--;
	}
	buf_printf(b, "%s%" PRIu64 ".%0*" PRIu64, micros < 0 ? "-" : "", magnitude / 1000000, decimals, fraction);
}

struct sv words_money(struct arena *a, bool known, int64_t micros, struct sv currency)
{
	struct buf b;
	if (!known)
		return SV("unknown");
	buf_init(&b);
	words_amount(&b, micros);
	if (currency.n > 0) {
		buf_add_char(&b, ' ');
		buf_add(&b, currency);
	}
	struct sv text = arena_copy(a, buf_sv(&b));
	buf_fini(&b);
	return text;
}

struct sv words_amounts_of_step(struct arena *a, const struct amount_total *totals, size_t n, struct sv step)
{
	struct sv text = SV("");
	for (size_t i = 0; i < n; i++)
		if (sv_eq(totals[i].step, step))
			text = arena_printf(a, "%.*s%s%.*s", SV_ARG(text), text.n > 0 ? " and " : "",
					    SV_ARG(words_money(a, true, totals[i].micros, totals[i].currency)));
	return text;
}

struct sv words_amounts(struct arena *a, const struct amount_total *totals, size_t n)
{
	struct sv text = SV("");
	for (size_t i = 0; i < n; i++)
		if (i == 0 || !sv_eq(totals[i - 1].step, totals[i].step))
			text = arena_printf(a, "%.*s%s%.*s %.*s", SV_ARG(text), i > 0 ? "; " : "",
					    SV_ARG(words_or_dash(totals[i].step)),
					    SV_ARG(words_amounts_of_step(a, totals, n, totals[i].step)));
	return words_or_dash(text);
}

struct sv words_duration(struct arena *a, int64_t us)
{
	const char *sign = us < 0 ? "-" : "";
	int64_t ms = (us < 0 ? -us : us) / US_PER_MS, s = ms / 1000;
	if (ms < 1000)
		return arena_printf(a, "%s%" PRId64 " ms", sign, ms);
	if (s < 120)
		return arena_printf(a, "%s%" PRId64 ".%03" PRId64 " s", sign, s, ms % 1000);
	if (s < 7200)
		return s % 60 == 0 ? arena_printf(a, "%s%" PRId64 " min", sign, s / 60)
				   : arena_printf(a, "%s%" PRId64 " min %" PRId64 " s", sign, s / 60, s % 60);
	if (s < 2 * 86400)
		return s % 3600 == 0 ? arena_printf(a, "%s%" PRId64 " h", sign, s / 3600)
				     : arena_printf(a, "%s%" PRId64 " h %" PRId64 " min", sign, s / 3600, s / 60 % 60);
	return arena_printf(a, "%s%" PRId64 " d", sign, s / 86400);
}

struct sv words_percent(struct arena *a, double share)
{
	return arena_printf(a, "%.0f %%", share * 100);
}

struct sv words_proportion(struct arena *a, const struct proportion *p)
{
	if (!p->known)
		return SV("none to count");
	return arena_printf(a, "%zu of %zu (%.0f %%)", p->count, p->total, p->share * 100);
}

struct sv words_time(struct arena *a, const struct findings *f, struct ref_time t)
{
	struct buf b;
	const int64_t day = INT64_C(86400) * US_PER_S;
	bool one_day = f->has_span && f->span.start.us / day == f->span.end.us / day;
	buf_init(&b);
	tstamp_format(&b, t.us);
	struct sv whole = buf_sv(&b);
	struct sv text = one_day ? arena_printf(a, "%.12s", whole.p + 11)
				 : arena_printf(a, "%.10s %.12s", whole.p, whole.p + 11);
	buf_fini(&b);
	return text;
}

struct sv words_id(struct arena *a, char letter, unsigned id)
{
	return id == 0 ? SV("") : arena_printf(a, "%c%u", letter, id);
}

static struct sv path_of(const struct findings *f, int64_t input)
{
	for (size_t i = 0; i < f->input_count; i++)
		if (f->inputs[i].id == input)
			return f->inputs[i].path;
	return SV("(unknown input)");
}

struct sv words_place(struct arena *a, const struct findings *f, const struct place *p)
{
	struct sv path = path_of(f, p->input);
	switch (p->unit) {
	case PLACE_LINE:
		return arena_printf(a, "%.*s:%" PRIu64, SV_ARG(path), p->number);
	case PLACE_PACKET:
	case PLACE_ROW:
		return arena_printf(a, "%.*s %s %" PRIu64, SV_ARG(path), place_unit_name(p->unit), p->number);
	case PLACE_WHOLE:
	default:
		return path;
	}
}

struct sv words_or_dash(struct sv text)
{
	return text.n == 0 ? SV("-") : text;
}

struct sv words_doer(const struct rebalance *r)
{
	return words_or_dash(!sv_is_absent(r->host) ? r->host : !sv_is_absent(r->client) ? r->client : r->member);
}

struct sv words_trigger(struct arena *a, const struct rebalance *r)
{
	return arena_printf(a, "%s%s", trigger_infos[r->trigger].name,
			    r->trigger_strength == STRENGTH_PROVES ? "" : " (suggested)");
}

struct sv words_windows(struct arena *a, const struct window *const *windows, size_t n)
{
	struct sv ids = SV("");
	for (size_t i = 0; i < n; i++)
		ids = arena_printf(a, "%.*s%sW%u", SV_ARG(ids), i > 0 ? "," : "", windows[i]->id);
	return ids;
}

struct sv words_windows_behind(struct arena *a, const struct rebalance *r)
{
	return r->window_count > 0 ? words_windows(a, r->windows, r->window_count) : words_windows(a, r->pauses, r->pause_count);
}

struct sv words_or_unknown(struct sv text)
{
	return text.n == 0 ? SV("unknown") : text;
}

const char *words_for(size_t n, const char *one, const char *more)
{
	return n == 1 ? one : more;
}
