/* SPDX-License-Identifier: MIT */
/*
 * Key designs replayed (method.md 8). The stories are those of the domain: a
 * refund of three steps, retried, redelivered to another instance, sent twice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/idempotency.h"
#include "story.h"

struct scene {
	struct story *st;
	struct side_effects effects;
	struct idempotency found;
	unsigned calls;
};

static struct scene *scene_new(void)
{
	struct story *st = story_new();
	struct scene *s = arena_alloc(st->arena, sizeof *s);

	s->st = st;
	return s;
}

/* Every call has a request id of its own. */
static void attempt(struct scene *s, const char *time, const char *consumer, const char *offset, const char *key,
		    const char *step, const char *status)
{
	struct sv request = arena_printf(s->st->arena, "call-%u", s->calls++);

	story_event(s->st, EVENT_EFFECT, NULL, at(time), "consumer", consumer, "topic", "refunds", "partition", "0", "offset",
		    offset, "business_key", key, "step", step, "status", status, "request_id", request.p, NULL);
}

static void find(struct scene *s)
{
	struct clocks clocks = { 0 };
	struct groups groups = { 0 };
	struct windows windows = { 0 };
	struct rebalances rebalances = { 0 };
	struct analysis_options options = analysis_options_default();

	assert_int_equal(duplicates_find(story_store(s->st), &clocks, &groups, &windows, &options, s->st->arena, &rebalances,
					 &s->effects),
			 0);
	assert_int_equal(idempotency_find(&s->effects, s->st->arena, &s->found), 0);
}

static const struct design_result *design(const struct scene *s, const char *name)
{
	for (size_t i = 0; i < s->found.design_count; i++)
		if (strcmp(s->found.designs[i].name, name) == 0)
			return &s->found.designs[i];
	fail_msg("no design %s", name);
	return NULL;
}

static void check(const struct scene *s, const char *name, size_t caught, size_t missed, size_t wrongly_blocked)
{
	const struct design_result *d = design(s, name);

	if (!d->applicable || d->caught != caught || d->missed != missed || d->wrongly_blocked != wrongly_blocked)
		fail_msg("%s: caught %zu, missed %zu, wrongly blocked %zu%s", name, d->caught, d->missed, d->wrongly_blocked,
			 d->applicable ? "" : ", not applicable");
}

static void test_table(void **state)
{
	static const char *const names[] = { "message",		"message + instance",	      "message id", "business",
					     "business + step", "business + event + version", "hybrid" };
	struct scene *s = scene_new();
	(void)state;

	find(s);
	assert_int_equal(s->found.design_count, 7);
	for (size_t i = 0; i < 7; i++) {
		assert_string_equal(s->found.designs[i].name, names[i]);
		assert_false(s->found.designs[i].applicable);
	}
	assert_string_equal(design(s, "message + instance")->key[3], "consumer");
	assert_null(design(s, "message + instance")->key[4]);
	assert_int_equal(s->found.ttl_count, 0);
	assert_false(s->found.has_longest_gap);
	story_free(s->st);
}

/* The whole message done by one instance, redelivered to another: only the key with the instance lets it pass. */
static void test_redelivered_to_another_instance(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	attempt(s, "10:00:01", "c1", "7", "A", "reversal", "success");
	attempt(s, "10:00:02", "c1", "7", "A", "notice", "success");
	attempt(s, "10:00:21", "c2", "7", "A", "reversal", "success");
	attempt(s, "10:00:22", "c2", "7", "A", "notice", "success");
	find(s);
	check(s, "message", 2, 0, 0);
	check(s, "message + instance", 0, 2, 0);
	check(s, "business", 2, 0, 0);
	check(s, "business + step", 2, 0, 0);
	check(s, "hybrid", 2, 0, 0);
	assert_false(design(s, "message id")->applicable);
	assert_false(design(s, "business + event + version")->applicable);
	story_free(s->st);
}

/* Sent twice by the caller: another message, so that keys of the message let it pass. */
static void test_sent_twice(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	attempt(s, "10:00:01", "c1", "7", "A", "reversal", "success");
	attempt(s, "10:00:02", "c1", "8", "A", "reversal", "success");
	find(s);
	check(s, "message", 0, 1, 0);
	check(s, "message + instance", 0, 1, 0);
	check(s, "business", 1, 0, 0);
	check(s, "business + step", 1, 0, 0);
	check(s, "hybrid", 1, 0, 0);
	story_free(s->st);
}

/*
 * The incident itself: the ledger fails after the reversal, another instance gets the message again. Keys without a
 * step block the ledger and the notice that are still owed; and the flawed key pays twice.
 */
static void test_partial_failure(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	attempt(s, "10:00:01", "c1", "7", "A", "reversal", "success");
	attempt(s, "10:00:02", "c1", "7", "A", "ledger", "failed");
	attempt(s, "10:00:21", "c2", "7", "A", "reversal", "success");
	attempt(s, "10:00:22", "c2", "7", "A", "ledger", "success");
	attempt(s, "10:00:23", "c2", "7", "A", "notice", "success");
	find(s);
	check(s, "message", 1, 0, 2);
	check(s, "message + instance", 0, 1, 0);
	check(s, "business", 1, 0, 2);
	check(s, "business + step", 1, 0, 0);
	/* Its coarse filter is not set while a step is owed. */
	check(s, "hybrid", 1, 0, 0);
	story_free(s->st);
}

/* A step that failed and was tried again at once is one run: its guard is asked once, at the top. */
static void test_retry_within_a_run(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	attempt(s, "10:00:01", "c1", "7", "A", "reversal", "success");
	attempt(s, "10:00:02", "c1", "7", "A", "ledger", "failed");
	attempt(s, "10:00:03", "c1", "7", "A", "ledger", "success");
	find(s);
	check(s, "message", 0, 0, 0);
	check(s, "business", 0, 0, 0);
	assert_int_equal(s->effects.run_count, 1);
	story_free(s->st);
}

/* The twin: the message came again, from its first step on. */
static void test_retry_in_a_second_run(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	attempt(s, "10:00:01", "c1", "7", "A", "reversal", "success");
	attempt(s, "10:00:02", "c1", "7", "A", "ledger", "failed");
	attempt(s, "10:00:03", "c1", "7", "A", "reversal", "success");
	attempt(s, "10:00:04", "c1", "7", "A", "ledger", "success");
	find(s);
	assert_int_equal(s->effects.run_count, 2);
	check(s, "message", 1, 0, 1);
	check(s, "message + instance", 1, 0, 1);
	check(s, "business + step", 1, 0, 0);
	story_free(s->st);
}

/* The handler of the day skipped one step of a run and executed another: it asks before each, and so do its keys. */
static void test_handler_that_asks_per_step(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	attempt(s, "10:00:01", "c1", "7", "A", "reversal", "success");
	attempt(s, "10:00:02", "c1", "7", "A", "ledger", "failed");
	attempt(s, "10:00:03", "c1", "7", "A", "reversal", "skipped");
	attempt(s, "10:00:04", "c1", "7", "A", "ledger", "success");
	attempt(s, "10:00:21", "c2", "7", "A", "reversal", "success");
	find(s);
	assert_true(design(s, "message + instance")->per_step);
	assert_false(design(s, "business")->per_step);
	/* As it really was: one skipped, one paid twice, nothing left undone. */
	check(s, "message + instance", 1, 1, 0);
	check(s, "message", 2, 0, 0);
	/* A key for the whole operation blocks the ledger all the same. */
	check(s, "business", 2, 0, 1);
	story_free(s->st);
}

/* What the called system recognises is no second effect, whatever the key lets through. */
static void test_recognised_downstream(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	attempt(s, "10:00:01", "c1", "7", "A", "ledger", "success");
	attempt(s, "10:00:21", "c2", "7", "A", "ledger", "duplicate");
	find(s);
	check(s, "message + instance", 0, 0, 0);
	assert_int_equal(design(s, "message + instance")->absorbed, 1);
	check(s, "message", 1, 0, 0);
	assert_int_equal(design(s, "message")->absorbed, 0);
	story_free(s->st);
}

static void versioned(struct scene *s, const char *time, const char *version, const char *message)
{
	struct sv request = arena_printf(s->st->arena, "call-%u", s->calls++);

	story_event(s->st, EVENT_EFFECT, NULL, at(time), "business_key", "A", "step", "price", "version", version, "message_id",
		    message, "status", "success", "request_id", request.p, NULL);
}

/* Two versions of one key are two intents: a key without the version blocks the second one's first effect. */
static void test_versions(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	versioned(s, "10:00:01", "1", "m1");
	versioned(s, "10:00:02", "2", "m2");
	versioned(s, "10:00:03", "2", "m2");
	versioned(s, "10:00:04", "2", "m3");
	find(s);
	check(s, "business + event + version", 2, 0, 0);
	check(s, "business + step", 0, 0, 1);
	check(s, "message id", 1, 1, 0);
	assert_false(design(s, "message")->applicable);
	assert_false(design(s, "hybrid")->applicable);
	story_free(s->st);
}

/* A failed attempt records no key. */
static void test_failed_records_nothing(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	attempt(s, "10:00:01", "c1", "7", "A", "reversal", "failed");
	attempt(s, "10:00:21", "c2", "7", "A", "reversal", "success");
	find(s);
	check(s, "message", 0, 0, 0);
	check(s, "business + step", 0, 0, 0);
	story_free(s->st);
}

/* The second comes 7 minutes after the first: records that live 5 miss it, those that live 10 do not. */
static void test_ttl_curve(void **state)
{
	struct scene *s = scene_new();
	const int64_t minute = 60 * US_PER_S;
	(void)state;

	attempt(s, "10:00:00", "c1", "7", "A", "reversal", "success");
	attempt(s, "10:07:00", "c2", "7", "A", "reversal", "success");
	attempt(s, "10:00:00", "c1", "8", "B", "reversal", "success");
	attempt(s, "10:00:30", "c2", "8", "B", "reversal", "success");
	find(s);
	assert_true(s->found.has_longest_gap);
	assert_int_equal(s->found.longest_gap_us, 7 * minute);
	/* Eleven of the ladder and the longest gap. */
	assert_int_equal(s->found.ttl_count, 12);
	for (size_t i = 0; i < s->found.ttl_count; i++) {
		const struct ttl_point *p = &s->found.ttl_curve[i];
		assert_true(i == 0 || p->ttl_us > s->found.ttl_curve[i - 1].ttl_us);
		assert_int_equal(p->missed, p->ttl_us < 7 * minute ? 1 : 0);
	}
	assert_int_equal(s->found.ttl_curve[0].ttl_us, minute);
	assert_int_equal(s->found.ttl_curve[2].ttl_us, 7 * minute);
	assert_int_equal(s->found.ttl_curve[11].ttl_us, 90 * 24 * 60 * minute);
	story_free(s->st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_redelivered_to_another_instance),
		cmocka_unit_test(test_sent_twice),
		cmocka_unit_test(test_partial_failure),
		cmocka_unit_test(test_retry_within_a_run),
		cmocka_unit_test(test_retry_in_a_second_run),
		cmocka_unit_test(test_handler_that_asks_per_step),
		cmocka_unit_test(test_recognised_downstream),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_failed_records_nothing),
		cmocka_unit_test(test_ttl_curve),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
