/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_TESTS_INPUT_KIT_H
#define AFTERSHOCK_TESTS_INPUT_KIT_H

/* For tests of input: a sink that keeps what it is given, and one input from a text. Include cmocka first. */

#include <string.h>

#include "input/stream.h"

struct kit {
	struct arena *arena;
	struct diag *diag;
	struct event *events;
	size_t event_count, event_capacity;
	struct input_info *inputs;	/* that began */
	size_t input_count, input_capacity;
	size_t abandoned;
	bool open;		/* between begin and end */
	size_t fail_after;	/* puts that succeed before one fails; 0: none fails */
	struct input_info info;	/* for kit_ingest */
};

static inline struct input_info kit_copy_info(struct arena *a, const struct input_info *i)
{
	struct input_info copy = *i;

	copy.path = arena_copy(a, i->path);
	copy.kind = arena_copy(a, i->kind);
	copy.format = arena_copy(a, i->format);
	copy.host = arena_copy(a, i->host);
	copy.digest = arena_copy(a, i->digest);
	copy.why_skipped = arena_copy(a, i->why_skipped);
	copy.zone_name = arena_copy(a, i->zone_name);
	copy.zone_source = arena_copy(a, i->zone_source);
	return copy;
}

static inline int kit_begin(void *context, struct input_info *info)
{
	struct kit *k = context;

	assert_false(k->open);
	for (size_t i = 0; i < k->input_count; i++)
		if (sv_eq(k->inputs[i].digest, info->digest))
			return 0;
	info->id = (int64_t)k->input_count + 1;
	*ARENA_PUSH(k->arena, k->inputs, k->input_count, k->input_capacity) = kit_copy_info(k->arena, info);
	k->open = true;
	return 1;
}

static inline int kit_put(void *context, const struct event *e)
{
	struct kit *k = context;
	struct event *copy;

	if (k->fail_after > 0 && k->event_count == k->fail_after)
		return -1;
	copy = ARENA_PUSH(k->arena, k->events, k->event_count, k->event_capacity);
	*copy = *e;
	copy->host = arena_copy(k->arena, e->host);
	copy->text = arena_copy(k->arena, e->text);
	for (int f = 0; f < FIELD_COUNT; f++)
		if ((e->set & FIELD_BIT(f)) != 0 && field_infos[f].type == FIELD_TEXT)
			copy->value[f].text = arena_copy(k->arena, e->value[f].text);
	return 0;
}

static inline int kit_end(void *context, const struct input_info *info)
{
	struct kit *k = context;

	assert_true(k->open);
	k->open = false;
	k->inputs[k->input_count - 1] = kit_copy_info(k->arena, info);
	return 0;
}

static inline void kit_abandon(void *context)
{
	struct kit *k = context;

	assert_true(k->open);
	k->open = false;
	k->abandoned++;
}

static inline struct input_sink kit_sink(struct kit *k)
{
	return (struct input_sink){ kit_begin, { kit_put, k }, kit_end, kit_abandon, k };
}

static inline struct kit *kit_new(void)
{
	struct arena *a = arena_new();
	struct kit *k = arena_alloc(a, sizeof *k);

	k->arena = a;
	k->diag = diag_new(a);
	return k;
}

static inline void kit_free(struct kit *k)
{
	arena_free(k->arena);
}

/* The context of one input that holds the text, named "x/NAME". */
static inline struct ingest kit_ingest(struct kit *k, struct sv text, const char *name, const struct rules *rules)
{
	k->info = (struct input_info){ .id = 7, .path = sv_of(name) };
	return (struct ingest){
		.stream = stream_of(k->arena, text),
		.info = &k->info,
		.rules = rules,
		.sink = { kit_put, k },
		.diag = k->diag,
		.record = arena_new(),
		.input = k->arena,
		.base_name = sv_of(name),
	};
}

static inline void kit_read(struct kit *k, const struct kind *kind, struct sv text, const char *name,
			    const struct rules *rules)
{
	struct ingest in = kit_ingest(k, text, name, rules);

	assert_int_equal(kind->read(&in), 0);
	arena_free(in.record);
}

/* The rules that are shipped; the caller frees them. */
static inline struct rules *kit_rules(struct kit *k)
{
	struct rules *r = rules_load("rules", k->diag);

	assert_non_null(r);
	return r;
}

/* One log read by them. */
static inline struct kit *kit_read_named_log(struct sv text, const char *name)
{
	struct kit *k = kit_new();
	struct rules *r = kit_rules(k);

	kit_read(k, &log_kind, text, name, r);
	/* The layout's name, the one thing that points into the rules. */
	k->info.format = arena_copy(k->arena, k->info.format);
	rules_free(r);
	return k;
}

static inline struct kit *kit_read_log(struct sv text)
{
	return kit_read_named_log(text, "app.log");
}

/* How many problems of the code there are; those that were only counted too. */
static inline uint64_t kit_problems(const struct kit *k, const char *code)
{
	uint64_t n = 0;

	for (size_t i = 0; i < diag_count(k->diag); i++)
		if (sv_eq(diag_at(k->diag, i)->code, sv_of(code)))
			n += diag_at(k->diag, i)->count;
	return n;
}

static inline const struct problem *kit_problem(const struct kit *k, const char *code)
{
	static const struct problem none;

	for (size_t i = 0; i < diag_count(k->diag); i++)
		if (sv_eq(diag_at(k->diag, i)->code, sv_of(code)))
			return diag_at(k->diag, i);
	fail_msg("no problem %s", code);
	return &none;
}

static inline const struct input_info *kit_input(const struct kit *k, const char *path)
{
	static const struct input_info none;

	for (size_t i = 0; i < k->input_count; i++)
		if (sv_eq(k->inputs[i].path, sv_of(path)))
			return &k->inputs[i];
	fail_msg("no input %s", path);
	return &none;
}

#define assert_sv_equal(s, literal)                                                             \
	do {                                                                                    \
		struct sv s_ = (s);                                                             \
		if (!sv_eq(s_, sv_of(literal)))                                                 \
			fail_msg("\"%.*s\" is not \"%s\"", SV_ARG(s_), (const char *)(literal)); \
	} while (0)
#define assert_absent(s) assert_true(sv_is_absent(s))

#endif
