/* SPDX-License-Identifier: MIT */
/*
 * What each verdict says, as texts with figures in braces. The manager's says
 * what it means and what it does not; the engineer's has every figure that the
 * verdict was decided by (method.md 6), in the order in which it is decided.
 */

#include "analysis/sentence.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"

/* ---- figures ---- */

static struct sv proportion_words(struct arena *a, const struct proportion *p)
{
	return p->known ? arena_printf(a, "%zu of %zu (%.0f %%)", p->count, p->total, p->share * 100) : SV("none");
}

static struct sv percent_words(struct arena *a, bool known, double share)
{
	return known ? arena_printf(a, "%.0f %%", share * 100) : SV("unknown");
}

static struct sv lagged_words(struct arena *a, const struct share *s)
{
	return proportion_words(a, &s->jitter.lagged);
}

static struct sv wilson_words(struct arena *a, const struct share *s)
{
	const struct proportion *p = &s->jitter.lagged;
	return p->known ? arena_printf(a, "%.0f to %.0f %%", p->low * 100, p->high * 100) : SV("unknown");
}

static struct sv proved_words(struct arena *a, const struct share *s)
{
	return proportion_words(a, &s->jitter.lagged_proved);
}

static struct sv paused_words(struct arena *a, const struct share *s)
{
	return proportion_words(a, &s->pauses.lagged);
}

static struct sv low_words(struct arena *a, const struct share *s)
{
	return percent_words(a, s->jitter.lagged.known, s->jitter.low);
}

static struct sv high_words(struct arena *a, const struct share *s)
{
	return percent_words(a, s->jitter.lagged.known, s->jitter.high);
}

static struct sv chance_words(struct arena *a, const struct share *s)
{
	return percent_words(a, s->jitter.chance.known, s->jitter.chance.expected_share);
}

static struct sv lift_words(struct arena *a, const struct share *s)
{
	return s->jitter.chance.has_lift ? arena_printf(a, "%.1f", s->jitter.chance.lift) : SV("unknown");
}

static struct sv p_words(struct arena *a, const struct share *s)
{
	return s->jitter.chance.known ? arena_printf(a, "%.4f", s->jitter.chance.p_value) : SV("unknown");
}

static struct sv shifts_words(struct arena *a, const struct share *s)
{
	return arena_printf(a, "%u", s->jitter.chance.shifts);
}

static struct sv line_words(struct arena *a, const struct share *s)
{
	return arena_printf(a, "%d %%", s->threshold_percent);
}

static struct sv roots_words(struct arena *a, const struct share *s)
{
	return arena_printf(a, "%zu", s->roots);
}

static struct sv observed_words(struct arena *a, const struct share *s)
{
	return arena_printf(a, "%zu", s->observed);
}

static const struct {
	const char *name;
	struct sv (*words)(struct arena *a, const struct share *s);
} figures[] = {
	{ "lagged", lagged_words }, { "wilson", wilson_words }, { "proved", proved_words }, { "paused", paused_words },
	{ "low", low_words },	    { "high", high_words },	{ "chance", chance_words }, { "lift", lift_words },
	{ "p", p_words },	    { "shifts", shifts_words }, { "line", line_words },	    { "roots", roots_words },
	{ "observed", observed_words },
};

static struct sv figure(struct arena *a, const struct share *s, struct sv name)
{
	size_t i = 0;

	while (i < sizeof figures / sizeof *figures && !sv_eq(name, sv_of(figures[i].name)))
		i++;
	assert(i < sizeof figures / sizeof *figures); /* the texts below name no others */
	return figures[i].words(a, s);
}

static struct sv fill(struct arena *a, const struct share *s, const char *text)
{
	struct sv out;
	struct buf b;

	buf_init(&b);
	while (*text != '\0') {
		size_t plain = strcspn(text, "{");

		buf_add(&b, (struct sv){ text, plain });
		text += plain;
		if (*text == '{') {
			size_t name = strcspn(++text, "}");

			buf_add(&b, figure(a, s, (struct sv){ text, name }));
			text += name + 1;
		}
	}
	out = arena_copy(a, buf_sv(&b));
	buf_fini(&b);
	return out;
}

/* ---- sentences ---- */

static bool is_any(const struct share *s)
{
	(void)s;
	return true;
}

static bool has_no_roots(const struct share *s)
{
	return s->roots == 0;
}

static bool is_unobserved(const struct share *s)
{
	return s->observed == 0;
}

/* The first row of the verdict that applies. */
static const struct {
	enum verdict verdict;
	bool (*applies)(const struct share *s);
	const char *manager;
} sentences[] = {
	{ VERDICT_CONFIRMED, is_any,
	  "Yes: the network caused {lagged} of the rebalances, each counted once with all that followed from it; had they nothing "
	  "to do with one another, {chance} would have met by chance." },
	{ VERDICT_CONFIRMED_IF_CLOCKS_HOLD, is_any,
	  "Probably: the network fits {lagged} of the rebalances, but the clocks of the machines are not known well enough to be "
	  "sure; with what is known of them it is between {low} and {high}." },
	{ VERDICT_PARTIAL, is_any,
	  "In part: the network explains {lagged} of the rebalances, short of the {line} that was asked for; the others have other "
	  "causes, which are listed." },
	{ VERDICT_NOT_ABOVE_CHANCE, is_any,
	  "It cannot be told: {lagged} of the rebalances fall into network trouble, but there was so much of it that {chance} "
	  "would by chance alone." },
	{ VERDICT_REJECTED, is_any,
	  "No: the network explains {lagged} of the rebalances, fewer than half; most have other causes, which are listed." },
	{ VERDICT_INSUFFICIENT, has_no_roots, "There is nothing to judge: no rebalance was found in what was given." },
	{ VERDICT_INSUFFICIENT, is_unobserved,
	  "It cannot be told: nothing that was given shows how the network was at the time of the {roots} rebalances." },
	{ VERDICT_INSUFFICIENT, is_any,
	  "It cannot be told from so few: the network fits {lagged} of the rebalances that could be looked into." },
};

static const char paused_first[] = "Mind first that pauses of the programs or of the broker, which are not the network's doing, "
				   "account for as many or more, {paused}. ";

/* After the reason of the verdict. */
static const char engineer[] =
	"{observed} of {roots} roots observed; lagged {lagged}, Wilson 95 % {wilson}, {low} to {high} within the clocks' uncertainty and "
	"what the evidence leaves open, {proved} on proved triggers alone; expected by chance {chance}, lift {lift}, p = {p} over "
	"{shifts} circular shifts; by pauses {paused}. Confirmed would be {line} at both ends of the interval, and p < 0.01.";

static const char engineer_unobserved[] = "{observed} of {roots} roots observed.";

static const char *manager_text(const struct share *s)
{
	size_t i = 0;

	while (sentences[i].verdict != s->verdict || !sentences[i].applies(s))
		i++;
	return sentences[i].manager;
}

void sentences_write(struct share *s, struct arena *a)
{
	bool are_pauses_first = s->pauses.lagged.count > 0 && s->pauses.lagged.count >= s->jitter.lagged.count;

	s->manager = fill(a, s, manager_text(s));
	if (are_pauses_first)
		s->manager = arena_printf(a, "%.*s%.*s", SV_ARG(fill(a, s, paused_first)), SV_ARG(s->manager));
	s->engineer = arena_printf(a, "%.*s %.*s", SV_ARG(s->verdict_reason), 
				   SV_ARG(fill(a, s, s->observed > 0 ? engineer : engineer_unobserved)));
}
