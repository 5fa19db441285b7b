/* SPDX-License-Identifier: MIT */
/*
 * Zones that logs do not write (method.md 2).
 *
 * The difference of two inputs' clocks, by the links between them, says how
 * many quarters of an hour their zones are apart: up to 2 minutes are left to
 * the clocks themselves. From one input to the next all that are linked get
 * zones against one another. Which of them is the true one is put to the vote:
 * inputs that write their zone, or whose zone the user gave, know it; failing
 * those, a log that lies in the time of the same host's captures, which are in
 * UTC by nature; failing those, the majority, and the reference. Where no log
 * at all lies in the time of the captures, the one zone in which all do is it.
 */

#include "analysis/clock_zone.h"

#include <stdlib.h>

/* Within 2 min of a multiple of 15 min, no further than zones are apart (-12 to +14 h). */
#define ZONE_STEP_US (15 * 60 * US_PER_S)
#define ZONE_SLACK_US (2 * 60 * US_PER_S)
#define ZONE_MAX_US (26 * 3600 * US_PER_S)

/* What one link says of the difference between two inputs' clocks. */
struct comparison {
	size_t a, b;	/* inputs, a < b */
	bool is_upper;
	int64_t value_us;	/* a's clock minus b's is at most or at least so much */
};

struct edge {
	size_t a, b;
	bool is_enclosed;
	int64_t zone_us;	/* a's zone minus b's */
};

struct edges {
	struct edge *items;
	size_t count;
};

struct zones {
	const struct input_info *inputs;
	size_t n;
	bool *is_linked;	/* reached: has a zone against the first of its component */
	size_t *order;		/* of being reached */
	size_t count;
	int64_t *zone_us;
};

/* ---- pairs of inputs ---- */

static int compare_comparisons(const void *left, const void *right)
{
	const struct comparison *x = left, *y = right;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	if (x->is_upper != y->is_upper)
		return x->is_upper ? -1 : 1;
	return (x->value_us > y->value_us) - (x->value_us < y->value_us);
}

static struct comparison compare_ends(const struct event_links *links, const struct event_link *link)
{
	size_t before = link->before.input, after = link->after.input;
	int64_t ahead_us = link->after.event->time.us + link->after.later_us - link->before.event->time.us - link->before.later_us +
			   links->step_us[after];

	if (after < before)
		return (struct comparison){ after, before, true, ahead_us };
	return (struct comparison){ before, after, false, -ahead_us };
}

int64_t clock_zone_part_us(int64_t us)
{
	int64_t half = us < 0 ? -ZONE_STEP_US / 2 : ZONE_STEP_US / 2;
	int64_t zone_us = (us + half) / ZONE_STEP_US * ZONE_STEP_US;

	return llabs(us - zone_us) > ZONE_SLACK_US || llabs(zone_us) > ZONE_MAX_US ? 0 : zone_us;
}

/* Sorted, so that the least from above comes first and the greatest from below last. */
static struct edge edge_of(const struct comparison *of, size_t n)
{
	struct edge e = { .a = of->a, .b = of->b, .is_enclosed = of[0].is_upper && !of[n - 1].is_upper };
	int64_t high_us = of[0].value_us, low_us = of[n - 1].value_us;

	/* A clock that drifts or was set makes low the greater: the middle is near to all the same. */
	if (e.is_enclosed)
		e.zone_us = clock_zone_part_us(low_us + (high_us - low_us) / 2);
	else if (of[0].is_upper ? high_us < 0 : low_us > 0)
		e.zone_us = clock_zone_part_us(of[0].is_upper ? high_us : low_us);
	return e;
}

static struct edges find_edges(const struct event_links *links, const bool *is_fixed, struct arena *a)
{
	struct comparison *all = arena_array(a, links->count, sizeof *all);
	struct edges out = { .items = arena_array(a, links->count, sizeof *out.items) };
	size_t n = 0, end;

	for (size_t i = 0; i < links->count; i++) {
		const struct event_link *link = &links->items[i];

		if (link->before.input != link->after.input && !is_fixed[link->before.input] && !is_fixed[link->after.input])
			all[n++] = compare_ends(links, link);
	}
	if (n > 1)
		qsort(all, n, sizeof *all, compare_comparisons);
	for (size_t start = 0; start < n; start = end) {
		for (end = start + 1; end < n && all[end].a == all[start].a && all[end].b == all[start].b; end++)
			;
		out.items[out.count++] = edge_of(&all[start], end - start);
	}
	return out;
}

/* ---- zones against one another ---- */

static void reach(struct zones *z, size_t input, int64_t zone_us)
{
	z->is_linked[input] = true;
	z->zone_us[input] = zone_us;
	z->order[z->count++] = input;
}

/* Follows the edges of one sort from what is reached to what is not; of those bounded from one side, one at a time. */
static bool reach_over(struct zones *z, const struct edges *edges, bool is_enclosed)
{
	bool any = false;

	for (size_t i = 0; i < edges->count && (is_enclosed || !any); i++) {
		const struct edge *e = &edges->items[i];

		if (e->is_enclosed != is_enclosed || z->is_linked[e->a] == z->is_linked[e->b])
			continue;
		if (z->is_linked[e->a])
			reach(z, e->b, z->zone_us[e->a] - e->zone_us);
		else
			reach(z, e->a, z->zone_us[e->b] + e->zone_us);
		any = true;
	}
	return any;
}

/* All that is linked with the first. */
static void reach_all(struct zones *z, const struct edges *edges, size_t first)
{
	reach(z, first, 0);
	do {
		while (reach_over(z, edges, true))
			;
	} while (reach_over(z, edges, false));
}

/* ---- which is the true one ---- */

static bool has_source(const struct input_info *in, const char *source)
{
	return sv_eq(in->zone_source, sv_of(source));
}

static bool knows_zone(const struct input_info *in)
{
	return has_source(in, "written") || has_source(in, "option");
}

/* Whether some input of that host whose times are certain was written meanwhile. */
static bool meets_others(const struct zones *z, size_t i, int64_t zone_us)
{
	const struct input_info *in = &z->inputs[i];

	for (size_t k = 0; k < z->n && in->has_times && !sv_is_absent(in->host); k++) {
		const struct input_info *other = &z->inputs[k];

		if (k != i && other->has_times && knows_zone(other) && sv_eq(other->host, in->host) &&
		    in->first.us - zone_us <= other->last.us && in->last.us - zone_us >= other->first.us)
			return true;
	}
	return false;
}

/*
 * What speaks for one of the zones being the one in which all were read; the
 * foremost that differ decide. Only where none knows are the others asked.
 */
enum voter { VOTER_OPTION, VOTER_WRITTEN, VOTER_MEETS, VOTER_ANY, VOTER_COUNT };

struct votes {
	size_t of[VOTER_COUNT];
};

static struct votes votes_for(const struct zones *z, const size_t *component, size_t n, int64_t base_us)
{
	struct votes v = { { 0 } };
	bool any_knows = false;

	for (size_t k = 0; k < n; k++) {
		size_t i = component[k];
		bool agrees = z->zone_us[i] == base_us;

		v.of[VOTER_OPTION] += agrees && has_source(&z->inputs[i], "option");
		v.of[VOTER_WRITTEN] += agrees && has_source(&z->inputs[i], "written");
		v.of[VOTER_MEETS] += meets_others(z, i, z->zone_us[i] - base_us);
		v.of[VOTER_ANY] += agrees;
		any_knows |= knows_zone(&z->inputs[i]);
	}
	if (any_knows)
		v.of[VOTER_MEETS] = v.of[VOTER_ANY] = 0;
	return v;
}

static bool is_more(const struct votes *x, const struct votes *y)
{
	for (size_t i = 0; i < VOTER_COUNT; i++) {
		if (x->of[i] != y->of[i])
			return x->of[i] > y->of[i];
	}
	return false;
}

/* ---- where all are in local time ---- */

/* The zones there are, in minutes east, but for whole hours. */
static const int odd_zones_min[] = { -570, -210, -150, 210, 270, 330, 345, 390, 525, 570, 630, 765, 825 };

#define HOUR_MIN 60
/* So much of the shorter must lie in the time of the other. */
#define MEETS_PERCENT 80
/* Each input is laid beside each other. */
#define LOCAL_INPUTS_MAX 5000

struct period {
	bool any;
	int64_t first_us, last_us;
};

static void extend(struct period *p, const struct input_info *in, int64_t zone_us)
{
	int64_t first_us = in->first.us - zone_us, last_us = in->last.us - zone_us;

	if (!in->has_times)
		return;
	p->first_us = !p->any || first_us < p->first_us ? first_us : p->first_us;
	p->last_us = !p->any || last_us > p->last_us ? last_us : p->last_us;
	p->any = true;
}

/* Both periods of one host: of its logs in question, and of what it wrote in a zone that is certain. */
struct host_periods {
	struct period logs, certain;
};

static size_t find_periods(const struct zones *z, const size_t *component, size_t n, struct host_periods *out)
{
	size_t count = 0;

	for (size_t k = 0; k < n; k++) {
		struct sv host = z->inputs[component[k]].host;
		struct host_periods p = { { 0 }, { 0 } };
		bool is_first = !sv_is_absent(host);

		for (size_t j = 0; j < k && is_first; j++)
			is_first = !sv_eq(z->inputs[component[j]].host, host);
		for (size_t j = k; j < n && is_first; j++) {
			if (sv_eq(z->inputs[component[j]].host, host))
				extend(&p.logs, &z->inputs[component[j]], z->zone_us[component[j]]);
		}
		for (size_t i = 0; i < z->n && is_first; i++) {
			if (knows_zone(&z->inputs[i]) && sv_eq(z->inputs[i].host, host))
				extend(&p.certain, &z->inputs[i], 0);
		}
		if (p.logs.any && p.certain.any)
			out[count++] = p;
	}
	return count;
}

static int64_t overlap_us(const struct host_periods *p, int64_t zone_us)
{
	int64_t first_us = p->logs.first_us - zone_us, last_us = p->logs.last_us - zone_us;

	first_us = first_us > p->certain.first_us ? first_us : p->certain.first_us;
	last_us = last_us < p->certain.last_us ? last_us : p->certain.last_us;
	return last_us > first_us ? last_us - first_us : 0;
}

/* How much of all hosts' logs meets what is certain; -1 where it is too little on one of them. */
static int64_t common_us(const struct host_periods *hosts, size_t n, int64_t zone_us)
{
	int64_t sum_us = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t logs_us = hosts[i].logs.last_us - hosts[i].logs.first_us;
		int64_t certain_us = hosts[i].certain.last_us - hosts[i].certain.first_us;
		int64_t us = overlap_us(&hosts[i], zone_us);

		if (us == 0 || us < (logs_us < certain_us ? logs_us : certain_us) / 100 * MEETS_PERCENT)
			return -1;
		sum_us += us;
	}
	return n > 0 ? sum_us : -1;
}

static void try_zone(const struct host_periods *hosts, size_t n, int minutes, int64_t *most_us, int64_t *zone_us)
{
	int64_t candidate_us = minutes * 60 * US_PER_S;
	int64_t us = common_us(hosts, n, candidate_us);

	if (us >= 0 && us == *most_us)
		*zone_us = 0; /* two fit: unknown */
	if (us <= *most_us)
		return;
	*most_us = us;
	*zone_us = candidate_us;
}

/*
 * All logs are in one another's time, and in nobody else's: they are in local
 * time when there is one zone in which every host's logs lie in the time of its
 * captures and counters. Logs that lie in it as they are stay.
 */
static int64_t pick_zone_us(const struct host_periods *hosts, size_t count)
{
	int64_t most_us = 0, zone_us = 0;

	for (size_t i = 0; i < count; i++) {
		if (overlap_us(&hosts[i], 0) > 0)
			return 0;
	}
	for (int hour = -12; hour <= 14; hour++)
		try_zone(hosts, count, hour * HOUR_MIN, &most_us, &zone_us);
	for (size_t i = 0; i < sizeof odd_zones_min / sizeof *odd_zones_min; i++)
		try_zone(hosts, count, odd_zones_min[i], &most_us, &zone_us);
	return zone_us;
}

static void settle_local(struct zones *z, const size_t *inputs, size_t n, struct arena *a)
{
	struct host_periods *hosts;
	int64_t zone_us;

	if (z->n > LOCAL_INPUTS_MAX)
		return;
	hosts = arena_array(a, n, sizeof *hosts);
	zone_us = pick_zone_us(hosts, find_periods(z, inputs, n, hosts));
	for (size_t k = 0; k < n; k++)
		z->zone_us[inputs[k]] += zone_us;
}

/* Ties go to the first of the component, which is the reference's. */
static void settle_component(struct zones *z, const size_t *component, size_t n, struct arena *a)
{
	struct votes most = votes_for(z, component, n, 0);
	int64_t base_us = 0;

	for (size_t k = 1; k < n; k++) {
		int64_t candidate_us = z->zone_us[component[k]];
		struct votes v;
		bool is_new = candidate_us != 0;

		for (size_t j = 1; j < k && is_new; j++)
			is_new = z->zone_us[component[j]] != candidate_us;
		if (!is_new)
			continue;
		v = votes_for(z, component, n, candidate_us);
		if (is_more(&v, &most)) {
			most = v;
			base_us = candidate_us;
		}
	}
	for (size_t k = 0; k < n; k++)
		z->zone_us[component[k]] -= base_us;
	if (most.of[VOTER_OPTION] + most.of[VOTER_WRITTEN] == 0)
		settle_local(z, component, n, a);
}

static void settle_from(struct zones *z, const struct edges *edges, size_t first, struct arena *a)
{
	size_t start = z->count;

	reach_all(z, edges, first);
	settle_component(z, &z->order[start], z->count - start, a);
}

/* ---- all inputs ---- */

/* What was captured beside it is as far off: the host's clock is wrong, not the zone of one log. */
static bool is_clocks_fault(const struct zones *z, size_t i)
{
	return z->zone_us[i] != 0 && meets_others(z, i, 0) && !meets_others(z, i, z->zone_us[i]);
}

/* A host's other logs that do not write their zone are in the zone of those that are linked, if these agree. */
static bool inherit(struct zones *z, size_t i)
{
	int64_t zone_us = 0;
	bool any = false;

	for (size_t k = 0; k < z->count; k++) {
		size_t linked = z->order[k];

		if (knows_zone(&z->inputs[linked]) || !sv_eq(z->inputs[linked].host, z->inputs[i].host))
			continue;
		if (any && z->zone_us[linked] != zone_us)
			return true;
		zone_us = z->zone_us[linked];
		any = true;
	}
	z->zone_us[i] = zone_us;
	return any;
}

static bool is_open(const struct zones *z, size_t i)
{
	return !z->is_linked[i] && has_source(&z->inputs[i], "assumed");
}

/* Without any link: by the host's captures. */
static void settle_unlinked(struct zones *z, struct arena *a)
{
	size_t *same = arena_array(a, z->n, sizeof *same);
	bool *done = arena_array(a, z->n, sizeof *done);

	for (size_t i = 0; i < z->n; i++)
		done[i] = !is_open(z, i) || sv_is_absent(z->inputs[i].host) || inherit(z, i);
	for (size_t i = 0; i < z->n && z->n <= LOCAL_INPUTS_MAX; i++) {
		size_t n = 0;

		for (size_t k = i; k < z->n && !done[i]; k++) {
			if (!done[k] && sv_eq(z->inputs[k].host, z->inputs[i].host))
				same[n++] = k;
		}
		for (size_t k = 0; k < n; k++)
			done[same[k]] = true;
		settle_local(z, same, n, a);
	}
}

/* Tables of no host, exported in local time: by all that has found its zone. */
static void settle_hostless(struct zones *z)
{
	struct host_periods p = { { 0 }, { 0 } };

	for (size_t i = 0; i < z->n; i++) {
		if (knows_zone(&z->inputs[i]) || z->is_linked[i])
			extend(&p.certain, &z->inputs[i], z->zone_us[i]);
	}
	for (size_t i = 0; i < z->n; i++) {
		if (!is_open(z, i) || !sv_is_absent(z->inputs[i].host))
			continue;
		p.logs.any = false;
		extend(&p.logs, &z->inputs[i], 0);
		if (p.logs.any && p.certain.any)
			z->zone_us[i] = pick_zone_us(&p, 1);
	}
}

static void settle_linked(struct zones *z, const struct edges *edges, struct sv reference, struct arena *a)
{
	for (size_t i = 0; i < edges->count; i++) {
		const struct edge *e = &edges->items[i];
		size_t first = sv_eq(z->inputs[e->a].host, reference) ? e->a : e->b;

		if (sv_eq(z->inputs[first].host, reference) && !z->is_linked[first])
			settle_from(z, edges, first, a);
	}
	for (size_t i = 0; i < edges->count; i++) {
		if (!z->is_linked[edges->items[i].a])
			settle_from(z, edges, edges->items[i].a, a);
	}
}

int64_t *clock_zones_find(const struct event_links *links, const struct input_info *inputs, size_t n,
			  const bool *is_fixed, struct sv reference, struct arena *a)
{
	struct zones z = { .inputs = inputs, .n = n };
	struct edges edges = find_edges(links, is_fixed, a);

	z.is_linked = arena_array(a, n, sizeof *z.is_linked);
	z.order = arena_array(a, n, sizeof *z.order);
	z.zone_us = arena_array(a, n, sizeof *z.zone_us);
	settle_linked(&z, &edges, reference, a);
	settle_unlinked(&z, a);
	for (size_t i = 0; i < n; i++) {
		if (is_fixed[i] || has_source(&inputs[i], "option") || is_clocks_fault(&z, i))
			z.zone_us[i] = 0;
	}
	settle_hostless(&z);
	return z.zone_us;
}
