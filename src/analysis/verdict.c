/* SPDX-License-Identifier: MIT */
/* The verdict and its reason, from the figures alone (method.md 6). */

#include "analysis/verdict.h"

/* Below this many observed roots a share is no basis for a verdict. */
#define ROOTS_LEAST 5
#define SIGNIFICANT 0.01
#define PARTIAL_PERCENT 50

/* In order of strength. */
static const struct {
	enum verdict verdict;
	const char *name;
} verdicts[] = {
	{ VERDICT_CONFIRMED, "confirmed" },
	{ VERDICT_CONFIRMED_IF_CLOCKS_HOLD, "confirmed_if_clocks_hold" },
	{ VERDICT_PARTIAL, "partial" },
	{ VERDICT_NOT_ABOVE_CHANCE, "not_above_chance" },
	{ VERDICT_REJECTED, "rejected" },
	{ VERDICT_INSUFFICIENT, "insufficient" },
};

/* Shares are compared as counts: 80 % of five is four, whatever a double makes of it. */
static bool is_reached(double share, size_t total, int percent)
{
	return (share * (double)total + 1e-6) * 100 >= (double)percent * (double)total;
}

static enum verdict verdict_of(const struct share *s, bool has_coverage, bool are_clocks_known)
{
	const struct share_figures *f = &s->jitter;
	const size_t n = s->observed;
	bool at_low = is_reached(f->low, n, s->threshold_percent), at_high = is_reached(f->high_by_clocks, n, s->threshold_percent);
	bool is_rare = f->chance.known && f->chance.p_value < SIGNIFICANT;

	if (n < ROOTS_LEAST || !has_coverage)
		return VERDICT_INSUFFICIENT;
	if (at_low && is_rare && are_clocks_known)
		return VERDICT_CONFIRMED;
	if (at_high && is_rare)
		return VERDICT_CONFIRMED_IF_CLOCKS_HOLD;
	if (is_reached(f->lagged.share, n, s->threshold_percent))
		return VERDICT_NOT_ABOVE_CHANCE;
	return is_reached(f->lagged.share, n, PARTIAL_PERCENT) ? VERDICT_PARTIAL : VERDICT_REJECTED;
}

static struct sv share_words(struct arena *a, const struct share *s)
{
	return arena_printf(a, "%zu of %zu observed root rebalances (%.0f %%)", s->jitter.lagged.count, s->jitter.lagged.total,
			    s->jitter.lagged.share * 100);
}

/* Those that jitter does not account for, by trigger. */
static struct sv others(struct arena *a, const struct share *s)
{
	struct sv words = SV("");

	for (size_t t = 0; t < TRIGGER_COUNT; t++) {
		const struct proportion *of = &s->lagged_by_trigger[t];
		if (of->total > of->count)
			words = arena_printf(a, "%.*s%s%zu by %s", SV_ARG(words), words.n > 0 ? ", " : "",
					     of->total - of->count, trigger_infos[t].name);
	}
	return words;
}

static struct sv reason_of(struct arena *a, const struct share *s)
{
	const struct chance *ch = &s->jitter.chance;
	struct sv share = share_words(a, s);

	switch (s->verdict) {
	case VERDICT_CONFIRMED:
		return arena_printf(a, "%.*s lie inside jitter windows; the line is %d %%, and chance would give %.0f %% (p = %.4f).",
				    SV_ARG(share), s->threshold_percent, ch->expected_share * 100, ch->p_value);
	case VERDICT_CONFIRMED_IF_CLOCKS_HOLD:
		return arena_printf(a,
				    "%.*s lie inside jitter windows and the line is %d %%, but the clocks are not known well enough: "
				    "within what is known of them it is %.0f %% to %.0f %%.",
				    SV_ARG(share), s->threshold_percent, s->jitter.low * 100, s->jitter.high * 100);
	case VERDICT_NOT_ABOVE_CHANCE:
		return arena_printf(a,
				    "%.*s lie inside jitter windows, but there was so much jitter that unrelated rebalances "
				    "would reach %.0f %% (p = %.4f).",
				    SV_ARG(share), ch->expected_share * 100, ch->p_value);
	case VERDICT_PARTIAL:
	case VERDICT_REJECTED:
		return arena_printf(a, "%.*s lie inside jitter windows, below the line of %d %%; the others: %.*s.", SV_ARG(share),
				    s->threshold_percent, SV_ARG(others(a, s)));
	case VERDICT_INSUFFICIENT:
		break;
	}
	if (s->roots == 0)
		return SV("No rebalance was found in the evidence.");
	if (s->observed == 0)
		return arena_printf(a, "None of the %zu root rebalances is covered by evidence of jitter.", s->roots);
	return arena_printf(a, "%zu of %zu lie inside jitter windows; fewer than %d observed root rebalances are no basis.",
			    s->jitter.lagged.count, s->jitter.lagged.total, ROOTS_LEAST);
}

void verdict_decide(struct share *s, bool has_coverage, bool are_clocks_known, struct arena *a)
{
	s->verdict = verdict_of(s, has_coverage, are_clocks_known);
	s->verdict_reason = reason_of(a, s);
	if (s->pauses.lagged.count > 0 && s->pauses.lagged.count >= s->jitter.lagged.count)
		s->verdict_reason = arena_printf(a, "Pauses of processes or of the broker account for as much or more, %zu of %zu. %.*s",
						 s->pauses.lagged.count, s->pauses.lagged.total, SV_ARG(s->verdict_reason));
}

const char *verdict_name(enum verdict v)
{
	for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
		if (verdicts[i].verdict == v)
			return verdicts[i].name;
	}
	return "";
}

bool verdict_by_name(struct sv name, enum verdict *out)
{
	for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
		if (sv_eq(name, sv_of(verdicts[i].name))) {
			*out = verdicts[i].verdict;
			return true;
		}
	}
	return false;
}

static size_t rank(enum verdict v)
{
	size_t i = 0;

	while (verdicts[i].verdict != v)
		i++;
	return i;
}

bool verdict_at_least(enum verdict a, enum verdict b)
{
	return rank(a) <= rank(b);
}
