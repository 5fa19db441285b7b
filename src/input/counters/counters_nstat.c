/* SPDX-License-Identifier: MIT */
/*
 * nstat of iproute2: "TcpRetransSegs 26 0.0", or with -j one JSON object a run.
 * What it prints are increments since the same user's last run, zeros left out,
 * unless it was told to print what has been counted since the boot (-a): the
 * rounds tell which, since what was counted never falls.
 */

#include "input/counters/loop.h"
#include "input/json_pull.h"

/* Longer ones before those that they begin with. */
static const struct sv prefixes[] = {
	{ "MPTcpExt", 8 }, { "TcpExt", 6 }, { "IpExt", 5 }, { "IcmpMsg", 7 }, { "Icmp6", 5 }, { "Icmp", 4 },
	{ "UdpLite6", 8 }, { "UdpLite", 7 }, { "Udp6", 4 }, { "Udp", 3 },     { "Tcp", 3 },   { "Ip6", 3 },
	{ "Ip", 2 },	   { "Sctp", 4 },
};

static bool split(struct sv glued, struct sv *prefix, struct sv *name)
{
	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
		if (!sv_starts_with(glued, prefixes[i]) || glued.n == prefixes[i].n)
			continue;
		*prefix = prefixes[i];
		*name = sv_sub(glued, prefixes[i].n, glued.n);
		return true;
	}
	return false;
}

/* "Name value rate" and nothing else. */
static bool is_row(struct sv text, struct sv *name, uint64_t *value)
{
	struct sv rest = text, prefix, of_prefix;
	int64_t rate;

	*name = counter_word(&rest);
	return split(*name, &prefix, &of_prefix) && sv_to_u64(counter_word(&rest), value) &&
	       counter_decimal(counter_word(&rest), 0, &rate) && sv_is_absent(counter_word(&rest));
}

static void add(struct loop_block *b, struct sv glued, uint64_t value, const struct line *line)
{
	struct sv prefix, name;
	enum counter_id id;

	if (!split(glued, &prefix, &name))
		return;
	b->of_family[FAMILY_SNMP] = b->of_family[FAMILY_SNMP] || sv_eq(prefix, SV("Tcp"));
	b->of_family[FAMILY_NETSTAT] = b->of_family[FAMILY_NETSTAT] || sv_eq(prefix, SV("TcpExt"));
	if (counter_by_column(prefix, name, &id))
		loop_add(b, id, -1, value, line);
}

static bool is_json(struct sv text)
{
	return sv_starts_with(text, SV("{\"kernel\":"));
}

/* Calls for each counter of one printed object. False when it is damaged. */
static bool walk_json(struct arena *a, struct sv text, void (*each)(void *context, struct sv name, uint64_t value),
		      void *context)
{
	struct json_pull *p = json_pull_of(a, text);
	struct sv name = SV_ABSENT;
	enum json_token t;
	uint64_t value;
	char kept[64];

	while ((t = json_pull_next(p)) != JSON_END && t != JSON_DAMAGED) {
		struct sv word = json_pull_text(p);

		if (t == JSON_KEY && word.n <= sizeof kept) {
			for (size_t i = 0; i < word.n; i++)
				kept[i] = word.p[i];
			name = (struct sv){ kept, word.n };
		} else if (t == JSON_NUMBER && !sv_is_absent(name) && sv_to_u64(word, &value)) {
			each(context, name, value);
			name = SV_ABSENT;
		}
	}
	struct place stray;
	return t == JSON_END && json_pull_strays(p, &stray) == 0;
}

struct adding {
	struct loop_block *b;
	const struct line *line;
};

static void add_json(void *context, struct sv name, uint64_t value)
{
	struct adding *to = context;

	add(to->b, name, value, to->line);
}

static enum loop_line take_json(struct loop_block *b, const struct line *line, const char **why)
{
	struct adding to = { b, line };
	struct arena *a = arena_new();
	size_t before = b->count;

	if (b->rows > 0) {
		arena_free(a);
		return LOOP_LINE_AGAIN;
	}
	bool good = walk_json(a, line->text, add_json, &to);
	arena_free(a);
	if (!good) {
		b->count = before;
		*why = "the object that nstat prints is not whole, or other bytes follow it";
		return LOOP_LINE_DAMAGED;
	}
	b->rows++;
	return LOOP_LINE_TAKEN;
}

enum loop_line nstat_take(struct loop_block *b, const struct line *line, const char **why)
{
	struct sv name;
	uint64_t value;

	if (is_json(line->text))
		return take_json(b, line, why);
	if (!is_row(line->text, &name, &value)) {
		b->in_rows = false;
		return LOOP_LINE_OTHER;
	}
	if (b->rows > 0 && !b->in_rows)
		return LOOP_LINE_AGAIN;
	add(b, name, value, line);
	b->in_rows = true;
	b->rows++;
	return LOOP_LINE_TAKEN;
}

/* ---- increments, or since the boot ---- */

#define ROUND_NAMES_MAX 512
#define ROUNDS_MAX 16

struct printed {
	struct sv name;
	uint64_t value;
};

struct round {
	struct arena *arena;
	struct printed items[ROUND_NAMES_MAX];
	size_t count;
};

static void keep(void *context, struct sv name, uint64_t value)
{
	struct round *r = context;

	if (r->count < ROUND_NAMES_MAX && value > 0)
		r->items[r->count++] = (struct printed){ arena_copy(r->arena, name), value };
}

/* Whether a counter fell, or is gone. */
static bool fell(const struct round *before, const struct round *now)
{
	for (size_t i = 0; i < before->count; i++) {
		size_t k = 0;

		while (k < now->count && !sv_eq(now->items[k].name, before->items[i].name))
			k++;
		if (k == now->count || now->items[k].value < before->items[i].value)
			return true;
	}
	return false;
}

struct rounds {
	struct round *before, *now;
	size_t compared, fallen, count;
};

static void end_round(struct rounds *r)
{
	struct round *spare = r->before;

	if (r->now->count == 0)
		return;
	if (r->count++ > 0) {
		r->compared++;
		r->fallen += fell(r->before, r->now);
	}
	r->before = r->now;
	r->now = spare;
	r->now->count = 0;
}

bool nstat_is_growth(struct sv head)
{
	struct arena *a = arena_new();
	struct rounds r = { arena_alloc(a, sizeof *r.before), arena_alloc(a, sizeof *r.now), 0, 0, 0 };

	r.before->arena = r.now->arena = a;
	while (!sv_is_absent(head) && r.count < ROUNDS_MAX) {
		struct sv line = sv_trim(sv_cut(&head, '\n')), name;
		uint64_t value;

		/* The look ahead may end within the last line. */
		if (is_json(line) && !sv_is_absent(head)) {
			end_round(&r);
			(void)walk_json(a, line, keep, r.now);
		} else if (is_row(line, &name, &value)) {
			keep(r.now, name, value);
		} else {
			end_round(&r);
		}
	}
	if (!sv_is_absent(head))
		r.now->count = 0;
	end_round(&r);
	arena_free(a);
	return r.compared > 0 && 2 * r.fallen >= r.compared;
}
