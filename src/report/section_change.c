/* SPDX-License-Identifier: MIT */
/*
 * What to change, in a line each, and what is missing: what could not be known,
 * and which evidence would tell. The reasons stand in the chapters below.
 */

#include <inttypes.h>

#include "report/sections.h"
#include "report/words.h"

/* Named one by one; the table of windows has the others. */
#define WINDOWS_MOST 6

/* ---- what to change ---- */

/* The client's, or with the consumer group protocol the broker's "consumer.session.timeout.ms". */
static bool is_session_timeout(const struct advice *v)
{
	return sv_ends_with(v->setting, SV("session.timeout.ms"));
}

/* The replay of this timeout; NULL when there was none. */
static const struct candidate *candidate_of(const struct tuning *t, int64_t session_timeout_ms)
{
	for (size_t i = 0; i < t->candidate_count; i++)
		if (t->candidates[i].session_timeout_ms == session_timeout_ms)
			return &t->candidates[i];
	return NULL;
}

/* A setting is in whole seconds: no digits that it does not have. */
static struct sv setting_duration(struct arena *a, int64_t us)
{
	bool is_short = us % US_PER_S == 0 && us < 120 * US_PER_S;
	return is_short ? arena_printf(a, "%" PRId64 " s", us / US_PER_S) : words_duration(a, us);
}

/* What it would have avoided, and its price. */
static struct sv gain_words(const struct chapter_context *c, const struct candidate *k)
{
	struct sv duplicates = c->f->effects.records == 0 ? SV("")
							  : arena_printf(c->a, " and %zu duplicates", k->duplicates_avoided);
	return arena_printf(c->a, ": %zu rebalances%.*s would not have been; a crash is noticed after up to %.*s",
			    k->rebalances_avoided, SV_ARG(duplicates),
			    SV_ARG(setting_duration(c->a, k->detection_ms * US_PER_MS)));
}

static void change_timeouts(struct out *o, const struct chapter_context *c)
{
	const struct tuning *t = &c->f->tuning;
	bool has_session = false;

	for (size_t i = 0; i < t->advice_count; i++) {
		const struct advice *v = &t->advices[i];
		bool is_session = is_session_timeout(v);
		const struct candidate *k = is_session ? candidate_of(t, v->recommended) : NULL;
		struct sv now = v->has_current ? arena_printf(c->a, " (now %" PRId64 ")", v->current) : SV("");
		struct sv gain = k == NULL ? SV("") : gain_words(c, k);
		has_session = has_session || is_session;
		out_bullet(o, arena_printf(c->a, "%.*s = %" PRId64 "%.*s%.*s.", SV_ARG(v->setting), v->recommended, SV_ARG(now),
					   SV_ARG(gain)));
	}
	if (!has_session)
		out_bullet(o, SV("The session timeout: nothing here speaks for another one, for the reasons under Timeouts."));
}

static struct sv add_design(struct arena *a, struct sv list, const struct design_result *d)
{
	struct sv missed = d->missed == 0 ? SV("") : arena_printf(a, "%zu missed", d->missed);
	struct sv blocked = d->wrongly_blocked == 0 ? SV("") : arena_printf(a, "%zu wrongly blocked", d->wrongly_blocked);
	bool any = missed.n + blocked.n > 0;

	return arena_printf(a, "%.*s%s%s%s%.*s%s%.*s%s", SV_ARG(list), list.n > 0 ? ", " : "", d->name, any ? " (" : "",
			    SV_ARG(missed), missed.n > 0 && blocked.n > 0 ? ", " : "", SV_ARG(blocked), any ? ")" : "");
}

static void change_key(struct out *o, const struct chapter_context *c)
{
	const struct idempotency *k = &c->f->idempotency;
	struct sv good = SV(""), bad = SV("");

	if (c->f->effects.duplicate_count == 0 && c->f->effects.lost_count == 0)
		return;
	for (size_t i = 0; i < k->design_count; i++) {
		const struct design_result *d = &k->designs[i];
		if (d->applicable && d->missed == 0 && d->wrongly_blocked == 0)
			good = add_design(c->a, good, d);
		else if (d->applicable)
			bad = add_design(c->a, bad, d);
	}
	out_bullet(o, arena_printf(c->a, "The idempotency key. Would have held: %.*s. Would not: %.*s.",
				   SV_ARG(good.n > 0 ? good : SV("none of those tried")), SV_ARG(bad.n > 0 ? bad : SV("none"))));
}

static void change_ttl(struct out *o, const struct chapter_context *c)
{
	const struct ttl_advice *t = &c->f->tuning.ttl;
	const char *unknown = t->has_reconciliation && t->has_confirmation
				      ? ""
				      : "; longer by what is not told yet: --reconciliation and --confirmation, often weeks";

	if (t->known && (c->f->effects.records > 0 || c->f->effects.redelivery_count > 0))
		out_bullet(o, arena_printf(c->a, "Dedupe records that live at least %.*s%s.",
					   SV_ARG(setting_duration(c->a, t->recommended_us)), unknown));
}

/* By id of window: whether it stands behind a rebalance, as what the network or a pause did to it. */
static const bool *windows_behind(const struct chapter_context *c)
{
	const struct rebalances *rs = &c->f->rebalances;
	bool *is_behind = arena_array(c->a, c->f->windows.count + 1, sizeof *is_behind);

	for (size_t i = 0; i < rs->count; i++) {
		const struct rebalance *r = &rs->items[i];
		bool by_pause = r->attribution == ATTRIBUTION_NOT_NETWORK || r->attribution == ATTRIBUTION_AMBIGUOUS;
		for (size_t k = 0; r->lagged && k < r->window_count; k++)
			is_behind[r->windows[k]->id] = true;
		for (size_t k = 0; by_pause && k < r->pause_count; k++)
			is_behind[r->pauses[k]->id] = true;
	}
	return is_behind;
}

static void change_place(struct out *o, const struct chapter_context *c, const bool *is_behind, enum window_kind kind)
{
	const struct window *named[WINDOWS_MOST];
	size_t n = 0;

	for (size_t i = 0; i < c->f->windows.count; i++) {
		const struct window *w = &c->f->windows.items[i];
		if ((w->kinds & 1U << kind) == 0 || !is_behind[w->id])
			continue;
		if (n < WINDOWS_MOST)
			named[n] = w;
		n++;
	}
	if (n > 0)
		out_bullet_refs(o, words_windows(c->a, named, n < WINDOWS_MOST ? n : WINDOWS_MOST),
				arena_printf(c->a, "%s%.*s, seen on %.*s: %s.", window_kind_infos[kind].name,
					     SV_ARG(n == 1 ? SV("") : arena_printf(c->a, ", %zu windows, the first", n)),
					     SV_ARG(words_or_dash(named[0]->host)), window_kind_infos[kind].remedy));
}

/* Windows that name a place to look at, a kind a line. */
static void change_places(struct out *o, const struct chapter_context *c)
{
	const bool *is_behind = windows_behind(c);

	for (int k = 0; k < WINDOW_KIND_COUNT; k++)
		if (window_kind_infos[k].remedy != NULL)
			change_place(o, c, is_behind, (enum window_kind)k);
}

void chapter_change(struct out *o, const struct chapter_context *c)
{
	if (c->f->rebalances.count == 0)
		return;
	out_section(o, "change", SV("What to change"));
	change_places(o, c);
	change_timeouts(o, c);
	change_key(o, c);
	change_ttl(o, c);
}

/* ---- what is missing ---- */

static size_t count_problems(const struct diag *d)
{
	size_t n = 0;

	for (size_t i = 0; i < diag_count(d); i++)
		n += diag_at(d, i)->severity != SEVERITY_NOTE;
	return n;
}

static size_t count_suggested_roots(const struct findings *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->rebalances.count; i++)
		n += f->rebalances.items[i].is_root && f->rebalances.items[i].trigger_strength != STRENGTH_PROVES;
	return n;
}

/* One thing that is not known, and what would tell it; absent when nothing is missing there. */
static struct sv missing_problems(const struct chapter_context *c)
{
	size_t n = count_problems(c->f->problems);
	return n == 0 ? SV_ABSENT
		      : arena_printf(c->a, "Some of what was given was damaged or passed over: %zu %s under Problems.", n,
				     words_for(n, "entry", "entries"));
}

/* Logs, captures and counters are of one host; tables are of a system. */
static struct sv missing_hosts(const struct chapter_context *c)
{
	static const char *const kinds[] = { "log", "capture", "counters" };
	size_t n = 0;

	for (size_t i = 0; i < c->f->input_count; i++)
		for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
			n += sv_eq(c->f->inputs[i].kind, sv_of(kinds[k])) && sv_is_absent(c->f->inputs[i].host) &&
			     sv_is_absent(c->f->inputs[i].why_skipped);
	return n == 0 ? SV_ABSENT
		      : arena_printf(c->a, "The hosts of %zu %s, and so what happened where, and their clocks: give a folder "
					   "with a directory per host, or --host PATTERN=NAME.",
				     n, words_for(n, "input", "inputs"));
}

static struct sv missing_rebalances(const struct chapter_context *c)
{
	return c->f->rebalances.count > 0
		       ? SV_ABSENT
		       : SV("Rebalances: nothing tells of any. The brokers' server.log and the consumers' logs do, and captures of "
			    "Kafka's port.");
}

static struct sv missing_network(const struct chapter_context *c)
{
	const struct share *s = &c->f->share;
	return s->observed == s->roots
		       ? SV_ABSENT
		       : arena_printf(c->a, "The network at %zu of the %zu root rebalances: no capture and no counters of their "
					    "hosts cover them. 'aftershock probe' records both for the next time.",
				      s->roots - s->observed, s->roots);
}

static struct sv missing_proof(const struct chapter_context *c)
{
	size_t n = count_suggested_roots(c->f);
	return n == 0 ? SV_ABSENT
		      : arena_printf(c->a, "Proof of %zu of the %zu triggers: they are suggested alone. The coordinator's "
					   "server.log proves them.",
				     n, c->f->share.roots);
}

static struct sv missing_effects(const struct chapter_context *c)
{
	return c->f->effects.records > 0 ? SV_ABSENT
					 : SV("What was executed twice, and for how much: an export of the side effects tells, "
					      "with time, business key, step, status and amount (rules/README.md has the "
					      "names of columns).");
}

static struct sv missing_books(const struct chapter_context *c)
{
	const struct side_effects *e = &c->f->effects;
	return e->duplicate_count == 0 || e->book_count > 0
		       ? SV_ABSENT
		       : SV("What the books hold of it: exports of two systems' books can be compared, key by key.");
}

void chapter_missing(struct out *o, const struct chapter_context *c)
{
	static struct sv (*const missing[])(const struct chapter_context *c) = {
		missing_problems, missing_hosts, missing_rebalances, missing_network, missing_proof, missing_effects, missing_books,
	};
	bool has_begun = false;

	for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
		struct sv words = missing[i](c);
		if (sv_is_absent(words))
			continue;
		if (!has_begun)
			out_section(o, "missing", SV("What is missing"));
		has_begun = true;
		out_bullet(o, words);
	}
}
