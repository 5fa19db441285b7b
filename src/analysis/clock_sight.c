/* SPDX-License-Identifier: MIT */
/*
 * The same packet in two captures (method.md 2): it was received after it was
 * sent. Which of two hosts stands nearer to the sender no packet says, but
 * both directions of a connection do: the transit is added to the difference
 * of the clocks one way and taken off the other way. So the direction in which
 * the difference is greater is the one that runs from the first host to the
 * second. Where neither is, both captures stand at one place, and there is no
 * order.
 */

#include "analysis/clock_sight.h"

#include <stdlib.h>

#include "analysis/path.h"
#include "base/order.h"

/* Packets of the two directions so close that no clock drifts by a transit between them. */
#define NEIGHBOUR_US (2 * US_PER_S)
/* So many neighbours must speak, and of a hundred so many alike. */
#define VOTES_LEAST 3
#define VOTES_PERCENT 80

/* A packet as one host saw it. */
struct sight {
	int64_t digest;
	struct sv a, b;		/* the ends of its connection */
	bool is_answer;		/* from b to a */
	size_t host, input;
	const struct event *event;
};

/* A packet as two hosts saw it. */
struct twin {
	const struct sight *x, *y;	/* x->host < y->host */
	int64_t apart_us;		/* y's time minus x's */
};

struct twins {
	struct twin *items;
	size_t count, capacity;
	struct arena *arena;
};

/* ---- one packet, several hosts ---- */

static int compare_packets(const struct sight *x, const struct sight *y)
{
	int order = order_i64(x->digest, y->digest);

	if (order == 0)
		order = sv_cmp(x->a, y->a);
	if (order == 0)
		order = sv_cmp(x->b, y->b);
	return order != 0 ? order : (int)x->is_answer - (int)y->is_answer;
}

static int by_packet(const void *left, const void *right)
{
	const struct sight *x = left, *y = right;
	int order = compare_packets(x, y);

	if (order == 0 && x->host != y->host)
		order = x->host < y->host ? -1 : 1;
	return order != 0 ? order : order_i64(x->event->id, y->event->id);
}

/* Of one packet the sights that their host has once: what one host saw twice was sent twice. */
static size_t single_sights(const struct sight *sights, size_t n, const struct sight **out)
{
	size_t count = 0, end;

	for (size_t i = 0; i < n; i = end) {
		bool is_same_time = true;

		for (end = i + 1; end < n && sights[end].host == sights[i].host; end++)
			is_same_time &= sights[end].event->time.us == sights[i].event->time.us;
		if (is_same_time)
			out[count++] = &sights[i];
	}
	return count;
}

static void add_twins(struct twins *out, const struct sight *const *sights, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 1; j < n; j++) {
			int64_t apart_us;

			if (!__builtin_sub_overflow(sights[j]->event->time.us, sights[i]->event->time.us, &apart_us))
				*ARENA_PUSH(out->arena, out->items, out->count, out->capacity) =
					(struct twin){ sights[i], sights[j], apart_us };
		}
	}
}

static void find_twins(struct sight *sights, size_t count, struct twins *out)
{
	const struct sight **single = arena_array(out->arena, count, sizeof(const struct sight *));
	size_t end;

	qsort(sights, count, sizeof *sights, by_packet);
	for (size_t i = 0; i < count; i = end) {
		for (end = i + 1; end < count && compare_packets(&sights[i], &sights[end]) == 0; end++)
			;
		if (sights[i].host != sights[end - 1].host)
			add_twins(out, single, single_sights(&sights[i], end - i, single));
	}
}

/* ---- which host is nearer to which end ---- */

static int compare_pairs(const struct twin *x, const struct twin *y)
{
	int order;

	if (x->x->host != y->x->host)
		return x->x->host < y->x->host ? -1 : 1;
	if (x->y->host != y->y->host)
		return x->y->host < y->y->host ? -1 : 1;
	/* All connections between two addresses pass the same hosts. */
	order = sv_cmp(path_address(x->x->a), path_address(y->x->a));
	return order != 0 ? order : sv_cmp(path_address(x->x->b), path_address(y->x->b));
}

static int by_pair_and_time(const void *left, const void *right)
{
	const struct twin *x = left, *y = right;
	int order = compare_pairs(x, y);

	if (order == 0)
		order = order_i64(x->x->event->time.us, y->x->event->time.us);
	return order != 0 ? order : order_i64(x->x->event->id, y->x->event->id);
}

/* Neighbours of opposite directions vote. 1: the first host is at the end that called, -1: the second is, 0: not known. */
static int side_of_first(const struct twin *twins, size_t n)
{
	size_t votes = 0, first = 0, second = 0;

	for (size_t i = 1; i < n; i++) {
		const struct twin *before = &twins[i - 1], *after = &twins[i];
		const struct twin *request = before->x->is_answer ? after : before, *answer = before->x->is_answer ? before : after;

		if (before->x->is_answer == after->x->is_answer ||
		    after->x->event->time.us - before->x->event->time.us > NEIGHBOUR_US)
			continue;
		votes++;
		first += request->apart_us > answer->apart_us;
		second += request->apart_us < answer->apart_us;
	}
	if (votes < VOTES_LEAST)
		return 0;
	return first * 100 >= votes * VOTES_PERCENT ? 1 : second * 100 >= votes * VOTES_PERCENT ? -1 : 0;
}

static void add_link(const struct twin *t, bool is_forward, struct arena *a, struct event_links *out)
{
	const struct sight *from = is_forward ? t->x : t->y, *to = is_forward ? t->y : t->x;

	*ARENA_PUSH(a, out->items, out->count, out->capacity) = (struct event_link){
		.before = { from->event, 0, "the packet passes the host nearer to its sender", from->host, from->input },
		.after = { to->event, 0, "the same packet passes the other host", to->host, to->input },
	};
}

static void link_pairs(struct twins *twins, struct arena *a, struct event_links *out)
{
	size_t end;

	if (twins->count > 1)
		qsort(twins->items, twins->count, sizeof *twins->items, by_pair_and_time);
	for (size_t i = 0; i < twins->count; i = end) {
		int side;

		for (end = i + 1; end < twins->count && compare_pairs(&twins->items[i], &twins->items[end]) == 0; end++)
			;
		side = side_of_first(&twins->items[i], end - i);
		for (size_t k = i; side != 0 && k < end; k++)
			add_link(&twins->items[k], twins->items[k].x->is_answer == (side < 0), a, out);
	}
}

/* ---- the whole ---- */

/* Captures of one host have one clock, and nothing to say of it. */
static bool has_two_captured_hosts(const struct link_sources *from)
{
	struct sv host = SV_ABSENT;
	bool any = false;

	for (size_t i = 0; i < from->input_count; i++) {
		const struct input_info *in = &from->inputs[i];
		if (!sv_eq(in->kind, SV("capture")) || sv_is_absent(in->host))
			continue;
		if (any && !sv_eq(host, in->host))
			return true;
		host = in->host;
		any = true;
	}
	return false;
}

static int load_sights(struct store *s, const struct link_sources *from, struct arena *a, struct sight **out, size_t *count)
{
	const enum event_type types[] = { EVENT_NET_SIGHTED };
	const struct event **events;
	size_t n;

	*count = 0;
	if (query_load(s, types, 1, a, &events, &n) < 0)
		return -1;
	*out = arena_array(a, n, sizeof **out);
	for (size_t i = 0; i < n; i++) {
		struct sight one = { .a = event_text(events[i], FIELD_PATH_A), .b = event_text(events[i], FIELD_PATH_B),
				     .is_answer = sv_eq(event_text(events[i], FIELD_DIRECTION), SV("ba")), .event = events[i] };

		if (event_int(events[i], FIELD_DIGEST, &one.digest) && !sv_is_absent(events[i]->host) &&
		    clock_links_host(from, events[i]->host, &one.host) && clock_links_input(from, events[i]->place.input, &one.input))
			(*out)[(*count)++] = one;
	}
	return 0;
}

int clock_sights_find(struct store *s, const struct link_sources *from, struct arena *a, struct event_links *out)
{
	struct twins twins = { .arena = a };
	struct sight *sights;
	size_t count;

	if (!has_two_captured_hosts(from))
		return 0;
	if (load_sights(s, from, a, &sights, &count) < 0)
		return -1;
	find_twins(sights, count, &twins);
	link_pairs(&twins, a, out);
	return 0;
}
