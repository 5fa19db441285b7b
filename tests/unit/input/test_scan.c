/* SPDX-License-Identifier: MIT */
/* What large logs are searched by: literals, heads of lines, marks, the filter, blocks, and that all of it changes nothing. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "../../fuzz/scan_differ.h"
#include "input/log/filter.h"
#include "input/log/marks.h"
#include "input/log/scan.h"
#include "input/log/scan_run.h"
#include "input/rules/head.h"
#include "input/rules/rules_set.h"
#include "input/rules/tree.h"
#include "input_kit.h"

static struct rules *shipped(struct arena *a)
{
	struct rules *r = rules_load("rules", diag_new(a));

	assert_non_null(r);
	return r;
}

/* ---- literals of patterns ---- */

static void check_cover(const char *pattern, const char *expected)
{
	struct arena *a = arena_new();
	const struct tree *t = tree_of(sv_of(pattern), a);
	struct cover c = { .count = 0 };
	struct buf got;

	buf_init(&got);
	if (t != NULL)
		tree_cover(t, a, &c);
	for (size_t i = 0; i < c.count; i++)
		buf_printf(&got, "%s%.*s", i > 0 ? "|" : "", SV_ARG(c.literals[i]));
	assert_sv_equal(buf_sv(&got), expected);
	buf_fini(&got);
	arena_free(a);
}

static void a_pattern_has_literals(void **state)
{
	(void)state;
	check_cover("^Member (?<member>\\S+) in group (?<group>\\S+) has failed", " has failed");
	check_cover("^Node (?<node>\\d+) disconnected\\.$", " disconnected.");
	/* A byte that may be missing, and one that stands once or more. */
	check_cover("version ?: x", "version : x|version: x");
	check_cover("ab+cdef", "cdef");
	check_cover("abc{3}d", "abcccd");
	/* Of alternatives each has to have one. */
	check_cover("^(?:Joining|Leaving) the group$", "Joining the group|Leaving the group");
	check_cover("(?:alpha \\d+ beta|gamma \\d)", "alpha |gamma ");
	check_cover("(?:alpha|\\d+)", "");
	/* What may be left out, and what only looks on, gives none. */
	check_cover("(?:optional )?\\d", "");
	check_cover("(?=ahead)x\\d", "x");
	check_cover("[abc]+", "");
	/* Beyond the walk: case that does not matter, a class by name, a text that is quoted. */
	check_cover("(?i)session", "");
	check_cover("[[:alpha:]]session", "");
	check_cover("\\Qa.b\\E", "");
}

static void each_shipped_rule_has_one(void **state)
{
	struct arena *a = arena_new();
	struct rules *r = shipped(a);

	(void)state;
	/* None is so short that all logs would be read line by line. */
	for (size_t i = 0; i < r->rule_count; i++)
		if (cover_least(pattern_cover(&r->rules[i]->match, r->arena)) < 2)
			fail_msg("%.*s", SV_ARG(r->rules[i]->section.name));
	assert_non_null(scan_plan_new(r, (struct zone){ 0 }, SV("[2024-06-18 10:00:31,207] INFO x (a.b.C)\n"), a));
	/* And each stands in the examples of its rule: the second reading of the same patterns. */
	for (size_t i = 0; i < r->rule_count; i++) {
		const struct rule *rule = r->rules[i];
		const struct cover *cover = pattern_cover(&rule->match, r->arena);

		for (size_t k = 0; k < rule->section.examples.count; k++) {
			bool found = false;
			size_t at;

			for (size_t c = 0; c < cover->count; c++)
				found |= sv_find(rule->section.examples.items[k].text, cover->literals[c], &at);
			/* In an object of JSON it may be escaped. */
			if (!found && !sv_starts_with(rule->section.examples.items[k].text, SV("{")))
				fail_msg("%.*s: %.*s", SV_ARG(rule->section.name), SV_ARG(rule->section.examples.items[k].text));
		}
	}
	rules_free(r);
	arena_free(a);
}

static void check_first(const char *pattern, const char *in, const char *out)
{
	struct arena *a = arena_new();
	uint64_t first[4] = { 0 };
	const struct tree *t = tree_of(sv_of(pattern), a);

	assert_non_null(t);
	assert_true(tree_first(t, first));
	for (; *in != '\0'; in++)
		assert_true((first[(unsigned char)*in / 64] >> ((unsigned char)*in % 64) & 1) != 0);
	for (; *out != '\0'; out++)
		assert_true((first[(unsigned char)*out / 64] >> ((unsigned char)*out % 64) & 1) == 0);
	arena_free(a);
}

static void a_pattern_begins_with_few_bytes(void **state)
{
	(void)state;
	check_first("^\\[?(?<time>\\d{4})", "[09", " a]");
	check_first("^(?:DEBUG|ERROR):", "DE", "BUGRO:");
	check_first("^(?:\\[[\\w .]+\\] |[\\w .-]{1,60}: ?)?\\d", "[a_. -7", "\t{]");
}

/* What few rules can be made of: a note for those that are slow. */
static uint64_t slow_notes(const char *match)
{
	struct arena *a = arena_new();
	struct diag *d = diag_new(a);
	struct sv text = arena_printf(a, "rule x\nevent broker.started\nmatch %s\nexample %s\nexpect -\n", match, "started at last");
	struct rules *r = rules_parse(SV("x"), text, d);
	uint64_t notes = 0;

	assert_non_null(r);
	(void)rules_check(r, d);
	for (size_t i = 0; i < diag_count(d); i++)
		notes += sv_eq(diag_at(d, i)->code, SV("rules.slow"));
	rules_free(r);
	arena_free(a);
	return notes;
}

static void slow_rules_are_named(void **state)
{
	(void)state;
	assert_int_equal(slow_notes("^started at last$"), 0);
	assert_int_equal(slow_notes("^started a"), 0);
	assert_int_equal(slow_notes("^started"), 1);
	assert_int_equal(slow_notes("^\\w+ at last$"), 0);
	assert_int_equal(slow_notes("^\\w+ at \\w+$"), 1);
	assert_int_equal(slow_notes("(?i)started at last"), 1);
}

/* ---- heads of lines ---- */

struct heads {
	struct arena *arena;
	struct rules *rules;
	const struct head *head;
};

static struct heads heads_of(const char *line)
{
	struct heads h = { .arena = arena_new() };

	h.rules = shipped(h.arena);
	h.head = head_of(h.rules, sv_of(line), h.arena);
	return h;
}

static void heads_free(struct heads *h)
{
	rules_free(h->rules);
	arena_free(h->arena);
}

/* The message of the line by the head, and by the layout; "" when the head is not certain. */
static void check_head(const struct heads *h, const char *line, const char *body)
{
	struct arena *a = arena_new();
	struct log_record record;
	const char *at;
	int hint = -1;

	if (!head_fits(h->head, line, line + strlen(line), &at)) {
		assert_string_equal("", body);
	} else {
		assert_string_equal(at, body);
		assert_true(rules_layout(h->rules, sv_of(line), (struct zone){ 0 }, &hint, a, &record));
		assert_int_equal(hint, h->head->layout);
		if (h->head->body_to_end)
			assert_sv_equal(record.body, body);
	}
	arena_free(a);
}

/* The parts are those of the pattern; NULL when they are not certain. */
static void check_parts(const struct heads *h, const char *line, const char *thread, const char *body)
{
	struct log_record record;
	struct head_parts parts;

	if (!head_parts(h->head, line, line + strlen(line), &parts)) {
		assert_null(body);
		return;
	}
	assert_non_null(body);
	assert_sv_equal(parts.body, body);
	assert_true(rules_layout_parts(h->rules, h->head->layout, sv_of(line), &record));
	assert_true(sv_eq(parts.body, record.body));
	assert_true(sv_eq(parts.thread, record.thread));
	assert_true(sv_eq(parts.thread, sv_of(thread)));
}

static void a_head_fits_where_its_layout_does(void **state)
{
	struct heads h = heads_of("2024-05-01 10:00:00,123 INFO  [main] a.b.C - text");

	(void)state;
	assert_non_null(h.head);
	assert_string_equal(h.head->shape, "0000-00-00 00:00:00,000");
	assert_int_equal(h.head->time_at, 0);
	assert_int_equal(h.head->time_bytes, 23);
	assert_true(h.head->body_to_end);
	assert_memory_equal(h.head->before_body, "- ", 2);
	check_head(&h, "2025-01-31 23:59:59,999 DEBUG [a - b] [x.Y:12] - one - two", "one - two");
	check_head(&h, "2025-01-31 23:59:59,999 DEBUG [] x.Y - ", "");
	/* Neither thread nor logger. */
	check_head(&h, "2025-01-31 23:59:59,999 DEBUG x.Y - text", "");
	check_head(&h, "2025-01-31 23:59:59,999 debug [m] x.Y - text", "");
	check_head(&h, "2025-01-31 23:59:59,999 INFO [m] x.Y text", "");
	check_parts(&h, "2025-01-31 23:59:59,999 DEBUG [a - b] [x.Y:12] - one - two", "a - b", "one - two");
	check_parts(&h, "2025-01-31 23:59:59,999 DEBUG [] x.Y - ", "", "");
	check_parts(&h, "2025-01-31 23:59:59,999 DEBUG x.Y - text", NULL, NULL);
	heads_free(&h);
}

static void heads_of_other_layouts(void **state)
{
	struct heads kafka = heads_of("[2024-06-18 10:00:31,207] INFO x (a.b.C)");
	struct heads spring = heads_of("2026-11-30T13:47:14.839Z  INFO 1 --- [app] [main] o.a.K : text");
	struct heads none[] = {
		heads_of("{\"@timestamp\":\"2024-06-18T10:00:31.207Z\",\"message\":\"text\"}"),
		heads_of("INFO:a.b:text"), heads_of("no log at all"),
	};

	(void)state;
	assert_non_null(kafka.head);
	assert_int_equal(kafka.head->time_at, 1);
	/* The logger stands behind the message, or not. */
	assert_false(kafka.head->body_to_end);
	check_head(&kafka, "[2024-06-18 10:00:31,207] WARN  y", "y");
	check_head(&kafka, "[2024-06-18 10:00:31,207] WARN  y (a.b.C)", "y (a.b.C)");
	check_head(&kafka, "[2024-06-18 10:00:31,207] y", "");
	check_parts(&kafka, "[2024-06-18 10:00:31,207] WARN  y", NULL, "y");
	check_parts(&kafka, "[2024-06-18 10:00:31,207] WARN y (a.b.C)", NULL, "y");
	check_parts(&kafka, "[2024-06-18 10:00:31,207] WARN y (a.b.C:12)", NULL, "y");
	check_parts(&kafka, "[2024-06-18 10:00:31,207] WARN y (z) (a.b.C)", NULL, "y (z)");
	check_parts(&kafka, "[2024-06-18 10:00:31,207] WARN y (a.b.C)(a.b.C)", NULL, "y (a.b.C)(a.b.C)");
	check_parts(&kafka, "[2024-06-18 10:00:31,207] WARN y (a.b C)", NULL, "y (a.b C)");
	check_parts(&kafka, "[2024-06-18 10:00:31,207] WARN y (a.b.C) ", NULL, "y (a.b.C) ");
	check_parts(&kafka, "[2024-06-18 10:00:31,207] WARN y ()", NULL, "y ()");
	check_parts(&kafka, "[2024-06-18 10:00:31,207] WARN y (:12)", NULL, "y (:12)");
	check_parts(&kafka, "[2024-06-18 10:00:31,207] WARN (a.b.C)", NULL, "(a.b.C)");
	check_parts(&kafka, "[2024-06-18 10:00:31,207] WARN y)", NULL, "y)");
	check_parts(&kafka, "[2024-06-18 10:00:31,207] WARN )", NULL, ")");
	check_parts(&kafka, "[2024-06-18 10:00:31,207] WARN ", NULL, "");
	check_parts(&kafka, "[2024-06-18 10:00:31,207] WARN  (a.b.C)", NULL, "(a.b.C)");
	/* Not all places are tried. */
	check_parts(&kafka, "[2024-06-18 10:00:31,207] WARN y (a b) (a b) (a b) (a b)", NULL, "y (a b) (a b) (a b) (a b)");
	check_parts(&kafka, "[2024-06-18 10:00:31,207] WARN y (a b) (a b) (a b) (a b) (a b)", NULL, NULL);
	assert_non_null(spring.head);
	assert_string_equal(spring.head->shape, "0000-00-00T00:00:00.000Z");
	check_head(&spring, "2026-11-30T13:47:14.839Z ERROR 1 --- [main] o.a.K  : text : more", "text : more");
	check_head(&spring, "2026-11-30T13:47:14.839Z ERROR --- [main] o.a.K  : text", "text");
	check_parts(&spring, "2026-11-30T13:47:14.839Z ERROR 1 --- [app] [main] o.a.K  : text : more", "main", "text : more");
	check_parts(&spring, "2026-11-30T13:47:14.839Z ERROR 1 --- [main] o.a.K  : [x] y : more", "main", "[x] y : more");
	check_head(&spring, "2026-11-30T13:47:14.839Z ERROR 1 --- o.a.K  : text", "");
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
		assert_null(none[i].head);
		heads_free(&none[i]);
	}
	heads_free(&kafka);
	heads_free(&spring);
}

static void lines_of_traces_are_none(void **state)
{
	static const char *const none[] = { "\tat a.b.C(C.java:12)", "\t... 3 more", "Caused by: java.io.IOException: x",
					    "java.net.SocketTimeoutException: Read timed out", "    indented", "\tkey = value:x" };
	static const char *const maybe[] = { "[2024-06-18 10:00:31,207] INFO x", "2024-06-18 10:00:31 x", "ERROR:a.b:text",
					     "\tlog.txt:12:text", "  {\"message\":\"x\"}", "web-1  | text", "Nov 30 12:00:00 host x[1]: y",
					     "app.log:17:text", "app.log:[2024-06-18 10:00:31,207] INFO x", "> quoted",
					     "C:\\logs\\app.log:17:text", "app.log:\tat a.B",
					     "  main: 2024/06/18 10:00:31 text", "refunds-6d9-x app 2024-06-18 10:00:31 x" };
	struct arena *a = arena_new();
	struct rules *r = shipped(a);
	const struct head_none *n = head_none_new(r, a);

	(void)state;
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		if (!wrap_is_none(sv_of(none[i])) || !head_is_none(n, sv_of(none[i])))
			fail_msg("%s", none[i]);
	for (size_t i = 0; i < sizeof maybe / sizeof maybe[0]; i++)
		if (wrap_is_none(sv_of(maybe[i])) && head_is_none(n, sv_of(maybe[i])))
			fail_msg("%s", maybe[i]);
	rules_free(r);
	arena_free(a);
}

/* ---- marks ---- */

static void check_others(struct marks *m, size_t count, const uint32_t *expected)
{
	assert_int_equal(m->other_count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(m->others[i], expected[i]);
}

static void line_feeds_and_other_marks_are_found(void **state)
{
	static const char text[200] = "a\nrevok\n\x1b[0m rejoin \n[2024-06-18] [2024-06-18\n";
	static const uint32_t none_wanted[] = { 4, 8, 15 }, with_brackets[] = { 4, 8, 15, 34 }, with_pair[] = { 4, 8, 15, 17 };
	const struct marks_wanted brackets = { .brackets = true }, none = { 0 }, pair = { .pair_count = 1, .pairs = { { 'i', 'n' } } };
	struct marks m = { NULL, 0, 0, NULL, 0, 0 };

	(void)state;
	marks_find(&m, text, 46, &brackets);
	assert_int_equal(m.end_count, 4);
	assert_int_equal(m.ends[0], 1);
	assert_int_equal(m.ends[1], 7);
	assert_int_equal(m.ends[2], 20);
	/* "vok" and "join", the escape, and of two brackets before dates the one that begins no line. */
	check_others(&m, 4, with_brackets);
	marks_find(&m, text, 46, &none);
	check_others(&m, 3, none_wanted);
	marks_find(&m, text, 46, &pair);
	check_others(&m, 4, with_pair);
	/* A block begins a line; without the line feed before it, it would be one. */
	marks_find(&m, text + 21, 25, &brackets);
	check_others(&m, 1, (const uint32_t[]){ 13 });
	marks_find(&m, text + 33, 13, &brackets);
	check_others(&m, 1, (const uint32_t[]){ 1 });
	/* What lies behind the end is not looked at. */
	marks_find(&m, text, 7, &brackets);
	assert_int_equal(m.end_count, 1);
	marks_find(&m, text, 0, &brackets);
	assert_int_equal(m.end_count, 0);
	marks_free(&m);
}

/* Zeros and what else no text holds; the separator of FIX messages, a tab and bytes of other letters are text. */
static void noise_is_marked(void **state)
{
	static const char text[200] = "a\0b\tc\1d\2\x08\x09\xff\x80 x\0";
	static const uint32_t expected[] = { 1, 5, 7, 8, 14 };
	const struct marks_wanted none = { 0 };
	struct marks m = { NULL, 0, 0, NULL, 0, 0 };

	(void)state;
	for (size_t way = 0; way < marks_way_count(); way++) {
		marks_find_by(way, &m, text, 15, &none);
		check_others(&m, 5, expected);
		/* What lies behind the end is not looked at. */
		marks_find_by(way, &m, text, 14, &none);
		check_others(&m, 4, expected);
	}
	assert_true(marks_is_noise('\0') && marks_is_noise('\2') && marks_is_noise('\x08'));
	assert_false(marks_is_noise('\1') || marks_is_noise('\t') || marks_is_noise('\xff'));
	marks_free(&m);
}

static uint32_t next_number(uint32_t *state)
{
	return *state = *state * 1664525u + 1013904223u;
}

/* Few different bytes, so that all marks are met. */
static void fill(char *bytes, size_t n, const char *alphabet, uint32_t seed)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = alphabet[(next_number(&seed) >> 16) % strlen(alphabet)];
}

/* By all ways: at all lengths, so that all ends of steps are met, and wherever the block begins. */
static void check_ways(const char *bytes, size_t n, const struct marks_wanted *w)
{
	struct marks plain = { NULL, 0, 0, NULL, 0, 0 }, other = { NULL, 0, 0, NULL, 0, 0 };

	marks_find_by(0, &plain, bytes, n, w);
	for (size_t way = 1; way < marks_way_count(); way++) {
		marks_find_by(way, &other, bytes, n, w);
		assert_int_equal(other.end_count, plain.end_count);
		assert_int_equal(other.other_count, plain.other_count);
		if (plain.end_count > 0)
			assert_memory_equal(other.ends, plain.ends, plain.end_count * sizeof *plain.ends);
		if (plain.other_count > 0)
			assert_memory_equal(other.others, plain.others, plain.other_count * sizeof *plain.others);
	}
	marks_free(&other);
	marks_free(&plain);
}

static void marks_are_the_same_by_all_ways(void **state)
{
	/* The last ones make brackets before dates frequent, line feeds rare, and whole steps of them. */
	static const char *const alphabets[] = { "\n\x1bvkjn[-ao", "[--\n", "abcdefghijklmnopqrstuvwxyz01234\n", "\n" };
	char bytes[700 + MARKS_SLACK];

	(void)state;
	for (uint32_t i = 0; i < 600; i++) {
		const struct marks_wanted w = { .brackets = i % 2 == 0, .pair_count = i % 5, .pairs = { { 'o', 'k' }, { '-', '\n' }, { '[', '-' }, { 'v', 'v' } } };
		size_t n = i < 300 ? i : i + 100, from = i % 67;

		fill(bytes, sizeof bytes, alphabets[i / 5 % 4], i);
		check_ways(bytes + (n + from <= 700 ? from : 0), n, &w);
	}
}

static void bytes_and_pairs_are_found(void **state)
{
	char bytes[100 + MARKS_SLACK];
	uint32_t seed = 9;

	(void)state;
	for (size_t i = 0; i < 2000; i++) {
		const char pair[2] = { "-a"[i % 2], "- "[i / 2 % 2] };
		size_t n = i % 100, first = 0;

		fill(bytes, sizeof bytes, i % 3 == 0 ? "a- " : "abcdefghijklmnop- ", next_number(&seed));
		while (first < n && memcmp(bytes + first, pair, 2) != 0)
			first++;
		assert_int_equal(marks_pair_at(bytes, n, pair), first);
		for (size_t k = 0; k < 64; k++)
			assert_int_equal(marks_of(bytes + n % 30, pair[0]) >> k & 1, bytes[n % 30 + k] == pair[0]);
	}
}

/* ---- the filter ---- */

#define TEXT_BYTES 40000

/* A text of lines, and literals out of it. */
struct sought {
	char text[TEXT_BYTES + FILTER_SLACK];
	size_t n;
	struct sv *literals;
	size_t count;
};

/* Pieces of the text itself, of its end too, and one that is not there. */
static void seek(struct sought *s, size_t least, struct arena *a)
{
	uint32_t seed = (uint32_t)least;

	s->literals = arena_array(a, s->count, sizeof *s->literals);
	for (size_t i = 0; i < s->count;) {
		const size_t n = least + i % 5, at = i == 0 ? s->n - n : (next_number(&seed) >> 8) % (s->n - n);
		const struct sv piece = { s->text + at, n };

		/* Lines end nowhere within one. */
		if (sv_find_char(piece, '\n', &(size_t){ 0 }))
			continue;
		s->literals[i] = i == 1 ? sv_sub(SV("zzzzzzzzzzzzzzzzzzzzzzzzzzzz"), 0, n) : arena_copy(a, piece);
		i++;
	}
}

static size_t lines_before(const struct sought *s, size_t at)
{
	size_t n = 0;

	for (size_t i = 0; i < at; i++)
		n += s->text[i] == '\n';
	return n;
}

/* Each occurrence of each literal, once, and line by line. */
static void check_hits(const struct sought *s, const struct filter_hits *hits)
{
	size_t *found = calloc(s->count * s->n, sizeof *found), expected = 0, line = 0;

	assert_non_null(found);
	for (size_t i = 0; i < hits->count; i++) {
		const struct filter_hit *h = &hits->items[i];

		assert_true(h->at + s->literals[h->literal].n <= s->n);
		assert_int_equal(found[h->literal * s->n + h->at]++, 0);
		if (i % 64 != 0)
			continue;
		assert_true(lines_before(s, h->at) >= line);
		line = lines_before(s, h->at);
	}
	for (size_t i = 0; i < s->count; i++) {
		for (size_t at = 0; at + s->literals[i].n <= s->n; at++) {
			const bool stands = memcmp(s->text + at, s->literals[i].p, s->literals[i].n) == 0;

			expected += stands;
			assert_int_equal(found[i * s->n + at], stands);
		}
	}
	assert_int_equal(hits->count, expected);
	free(found);
}

static void check_filter(struct sought *s, size_t least)
{
	struct arena *a = arena_new();
	struct filter_hits hits = { NULL, 0, 0 };
	const struct sv sample = { s->text, 2000 };

	seek(s, least, a);
	for (size_t way = 0; way < filter_way_count(); way++) {
		hits.count = 0;
		filter_run(filter_new_by(way, s->literals, s->count, sample, a), s->text, s->n, &hits);
		check_hits(s, &hits);
	}
	/* Whichever is chosen. */
	hits.count = 0;
	filter_run(filter_new(s->literals, s->count, (struct sv){ s->text, TEXT_BYTES }, a), s->text, s->n, &hits);
	check_hits(s, &hits);
	filter_hits_free(&hits);
	arena_free(a);
}

static void the_filter_finds_each_literal_once(void **state)
{
	static struct sought s;

	(void)state;
	/* Blocks that end anywhere in a step; rare hits, and so many that a chunk is full of them. */
	for (size_t least = FILTER_LITERAL_LEAST; least <= 20; least++) {
		s.n = 3000 - least;
		s.count = least % 3 == 0 ? 500 : 12;
		fill(s.text, sizeof s.text, least % 2 == 0 ? "\x1bvkjn[-ao vkjn-v[kjn-ao\n" : "ab\xff" "aababbaabbabbabaaab\n", 77);
		s.text[s.n - 1] = 'a';
		memset(s.text + s.n - 30, 'b', 29);
		check_filter(&s, least);
	}
	s.n = TEXT_BYTES;
	s.count = 12;
	fill(s.text, sizeof s.text, "aaaaaaaaaaaaaaaaab", 5);
	check_filter(&s, 8);
	check_filter(&s, 5);
	check_filter(&s, 4);
}

static void no_filter_by_literals_that_are_too_short(void **state)
{
	struct arena *a = arena_new();
	const struct sv literals[] = { SV("abcdef"), SV("abc") };

	(void)state;
	assert_null(filter_new(literals, 2, SV(""), a));
	assert_non_null(filter_new(literals, 1, SV(""), a));
	assert_null(filter_new(literals, 0, SV(""), a));
	arena_free(a);
}

/* ---- blocks ---- */

#define JOINING "[Consumer clientId=c-1, groupId=g] (Re-)joining group"
#define LINE(second, text) "2024-05-01 10:00:" second ",000 INFO  [main] a.b.C - " text "\n"
#define HEAD LINE("00", "first") LINE("01", "second")

struct blocks {
	struct arena *arena;
	struct rules *rules;
	struct scan scan;
};

static struct blocks blocks_new(void)
{
	struct blocks b = { .arena = arena_new() };

	b.rules = shipped(b.arena);
	b.scan.plan = scan_plan_new(b.rules, (struct zone){ 0 }, SV(HEAD), b.arena);
	assert_non_null(b.scan.plan);
	return b;
}

static void blocks_free(struct blocks *b)
{
	scan_free(&b->scan);
	rules_free(b->rules);
	arena_free(b->arena);
}

static void scan_text_of(struct blocks *b, struct sv text)
{
	char *bytes = arena_alloc(b->arena, text.n + SCAN_SLACK);

	memcpy(bytes, text.p, text.n);
	scan_block(&b->scan, bytes, text.n, text.p[text.n - 1] != '\n');
}

static void check_plain(const struct scan *s, const struct scan_plain *r, uint32_t line, const char *thread, const char *body)
{
	uint32_t rules[SCAN_RULES_MAX];

	assert_int_equal(r->line, line);
	if (thread != NULL)
		assert_sv_equal(r->parts.thread, thread);
	else
		assert_true(sv_is_absent(r->parts.thread));
	assert_sv_equal(r->parts.body, body);
	assert_true(scan_plain_rules(s, r, rules) > 0);
}

static void records_are_counted_but_those_that_a_rule_may_know(void **state)
{
	struct blocks b = blocks_new();
	const struct scan_piece *p;

	(void)state;
	scan_text_of(&b, SV("\tat a.b.C(C.java:1)\n" LINE("02", "one") "\tat x\n" LINE("03", "two") LINE("04", "(Re-)joining group")
				    LINE("05", "three") LINE("09", "four") LINE("07", "five")));
	p = b.scan.pieces;
	assert_int_equal(b.scan.lines, 8);
	assert_int_equal(b.scan.piece_count, 4);
	assert_int_equal(p[0].sort, SCAN_LEAD);
	assert_int_equal(p[0].end, 20);
	assert_false(p[0].doubtful);
	assert_int_equal(p[1].sort, SCAN_COUNTED);
	assert_int_equal(p[1].records, 2);
	assert_int_equal(p[1].first.line, 1);
	assert_int_equal(p[1].last_us - p[1].first.us, US_PER_S);
	assert_int_equal(p[2].sort, SCAN_PLAIN);
	assert_int_equal(p[2].line, 4);
	assert_int_equal(p[2].end, p[3].start);
	assert_int_equal(p[2].plain_count, 1);
	check_plain(&b.scan, &b.scan.plain[p[2].first_plain], 4, "main", "(Re-)joining group");
	/* The last is open: it may go on in the next block. */
	assert_int_equal(p[3].records, 2);
	assert_int_equal(p[3].most_us - p[3].least_us, 4 * US_PER_S);
	assert_true(b.scan.is_open);
	assert_int_equal(b.scan.open.line, 7);
	blocks_free(&b);
}

static void what_is_doubtful_is_read_with_the_record_before_it(void **state)
{
	struct blocks b = blocks_new();

	(void)state;
	scan_text_of(&b, SV(LINE("02", "one") LINE("03", "two") "12:00 some other layout?\n" LINE("04", "three")));
	assert_int_equal(b.scan.piece_count, 3);
	assert_int_equal(b.scan.pieces[1].records, 1);
	assert_int_equal(b.scan.pieces[2].sort, SCAN_READ);
	assert_int_equal(b.scan.pieces[2].line, 1);
	/* In front of all records it is the last block's. */
	scan_text_of(&b, SV("12:00 some other layout?\n" LINE("04", "three")));
	assert_int_equal(b.scan.piece_count, 1);
	assert_true(b.scan.pieces[0].doubtful);
	/* A last line without its end is read. */
	scan_text_of(&b, SV(LINE("04", "three") "2024-05-01 10:00:05,000 INFO  [main] a.b.C - fo"));
	assert_int_equal(b.scan.pieces[1].sort, SCAN_READ);
	assert_false(b.scan.is_open);
	blocks_free(&b);
}

static void the_last_of_a_block_and_what_is_doubted_is_not_plain(void **state)
{
	struct blocks b = blocks_new();
	const struct scan_piece *p;

	(void)state;
	/* It may go on in the next block. */
	scan_text_of(&b, SV(LINE("04", "(Re-)joining group") "\tmore\n" LINE("05", "(Re-)joining group")));
	p = b.scan.pieces;
	assert_int_equal(b.scan.piece_count, 3);
	assert_int_equal(p[1].sort, SCAN_PLAIN);
	assert_int_equal(p[1].plain_count, 1);
	assert_int_equal(p[2].sort, SCAN_READ);
	assert_int_equal(p[2].line, 2);
	assert_int_equal(p[1].end, p[2].start);
	scan_text_of(&b, SV(LINE("04", "(Re-)joining group")));
	assert_int_equal(b.scan.piece_count, 2);
	assert_int_equal(b.scan.pieces[1].sort, SCAN_READ);
	/* A line that may be of another layout belongs to the record before it, until a layout says otherwise. */
	scan_text_of(&b, SV(LINE("04", "(Re-)joining group") LINE("05", "(Re-)joining group") "12:00 some other layout?\n" LINE("06", "x")));
	p = b.scan.pieces;
	assert_int_equal(p[1].sort, SCAN_PLAIN);
	assert_int_equal(p[1].plain_count, 1);
	assert_int_equal(p[2].sort, SCAN_READ);
	assert_int_equal(p[2].line, 1);
	assert_true(b.scan.is_open);
	assert_int_equal(b.scan.open.line, 3);
	/* Behind it there is no doubt any more. */
	scan_text_of(&b, SV("12:00 some other layout?\n" LINE("04", "(Re-)joining group") LINE("05", "x")));
	assert_int_equal(b.scan.pieces[1].sort, SCAN_PLAIN);
	blocks_free(&b);
}

/* Two layouts in one file, of which no line can be both. */
static void lines_of_two_forms_are_plain(void **state)
{
	static const char head[] = HEAD "[2024-05-01 10:00:02,000] INFO a broker's (a.b.C)\n";
	struct blocks b = { .arena = arena_new() };
	const struct scan_plain *r;

	(void)state;
	b.rules = shipped(b.arena);
	b.scan.plan = scan_plan_new(b.rules, (struct zone){ 0 }, SV(head), b.arena);
	assert_non_null(b.scan.plan);
	scan_text_of(&b, SV(LINE("03", "x") "[2024-05-01 10:00:04,250] INFO [GroupCoordinator 1]: Stabilized group refunds generation 2 "
			    "(__consumer_offsets-31) with 3 members (kafka.coordinator.group.GroupCoordinator)\n"
			    LINE("05", "(Re-)joining group") LINE("06", "x")));
	assert_int_equal(b.scan.piece_count, 3);
	assert_int_equal(b.scan.pieces[1].records, 1);
	assert_int_equal(b.scan.pieces[2].sort, SCAN_PLAIN);
	assert_int_equal(b.scan.pieces[2].plain_count, 2);
	r = &b.scan.plain[0];
	assert_int_equal(r[1].us - r[0].us, 750000);
	check_plain(&b.scan, &r[0], 1, NULL, "[GroupCoordinator 1]: Stabilized group refunds generation 2 (__consumer_offsets-31) with 3 members");
	assert_int_not_equal(scan_plan_layout(b.scan.plan, r[0].form), scan_plan_layout(b.scan.plan, r[1].form));
	check_plain(&b.scan, &r[1], 2, "main", "(Re-)joining group");
	/* Two records on one line. */
	scan_text_of(&b, SV("[2024-05-01 10:00:04,250] INFO Stabilized group x[2024-05-01 10:00:04,250] INFO y (a.b.C)\n" LINE("06", "x")));
	assert_int_equal(b.scan.piece_count, 1);
	assert_true(b.scan.pieces[0].doubtful);
	blocks_free(&b);
}

static const char several_rules[] =
	"use rules/layouts.rules\n\n"
	"prefix consumer\nfrom client\nmatch ^\\[Consumer clientId=(?<client>.*?), groupId=(?<group>.*?)\\][ ]\n"
	"example [Consumer clientId=c, groupId=g] x\nexpect client=c group=g\n\n"
	"rule never-by-broker\nfrom broker\nevent broker.started\nmatch was seen\nexample it was seen\nexpect -\n\n"
	"rule second-wins\nevent member.left\nmatch alpha (?<group>\\w+) and (?<member>\\w+) left\nexample alpha g and m left\nexpect group=g member=m\n\n"
	"rule either\nevent member.left\nmatch (?:gamma delta|epsilon zeta) (?<group>\\w+) (?<member>\\w+)\nexample gamma delta g m\nexpect group=g member=m\n\n"
	"rule whose\nevent client.poll_timeout\nwhose thread\nmatch poll was late\nexample poll was late\nexpect -\n\n"
	"rule dump\nevent client.config\nmatch ^Values of the dump\n"
	"each lines ^\\s+(?<key>\\S+) = (?<value>.*)$\nexample Values of the dump\n|\ta = b\nexpect key=a value=b\n\n"
	"rule known\nevent nothing\nmatch is of no use\nexample it is of no use\nexpect -\n\n"
	"rule short\nevent broker.started\nmatch ^up up$\nexample up up\nexpect -\n\n"
	"rule last\nevent broker.started\nmatch left\\b.* behind\nexample left far behind\nexpect -\n";

static void the_rules_of_a_line_are_in_order(void **state)
{
	struct blocks b = { .arena = arena_new() };
	uint32_t rules[SCAN_RULES_MAX];

	(void)state;
	b.rules = rules_parse(SV("x"), SV(several_rules), diag_new(b.arena));
	assert_non_null(b.rules);
	b.scan.plan = scan_plan_new(b.rules, (struct zone){ 0 }, SV(HEAD), b.arena);
	assert_non_null(b.scan.plan);
	scan_text_of(&b, SV(LINE("02", "left, and behind gamma delta or alpha or gamma delta once more") LINE("03", "epsilon zeta g m") LINE("04", "x")));
	assert_int_equal(b.scan.plain_count, 2);
	/* " behind" is the last rule's; what stands there twice is named once. */
	assert_int_equal(scan_plain_rules(&b.scan, &b.scan.plain[0], rules), 3);
	assert_int_equal(rules[0], 1);
	assert_int_equal(rules[1], 2);
	assert_int_equal(rules[2], 7);
	assert_int_equal(scan_plain_rules(&b.scan, &b.scan.plain[1], rules), 1);
	assert_int_equal(rules[0], 2);
	blocks_free(&b);
}

static void near_misses_and_steps_back_are_noted(void **state)
{
	struct blocks b = blocks_new();
	const struct scan_piece *p;

	(void)state;
	scan_text_of(&b, SV(LINE("10", "one") LINE("08", "a heartbeat was seen") LINE("09", "they revoked it") LINE("09", "invoke")
				    "2024-05-01 10:00:09,100 INFO  [heartbeat-thread] a.b.C - nothing\n" LINE("11", "two")));
	p = &b.scan.pieces[1];
	assert_int_equal(b.scan.piece_count, 2);
	assert_int_equal(p->records, 5);
	assert_int_equal(p->note_count, 2);
	assert_int_equal(b.scan.notes[0].back_us, 2 * US_PER_S);
	assert_true(b.scan.notes[0].record.near);
	assert_int_equal(b.scan.notes[0].record.line, 1);
	assert_int_equal(b.scan.notes[1].back_us, 0);
	assert_int_equal(b.scan.notes[1].record.line, 2);
	blocks_free(&b);
}

static void no_plan_for_what_is_not_plain(void **state)
{
	struct arena *a = arena_new();
	struct rules *r = shipped(a), *short_rule;
	const struct zone utc = { .offset_s = 0 };

	(void)state;
	assert_non_null(scan_plan_new(r, utc, SV(HEAD), a));
	assert_null(scan_plan_new(r, utc, SV("{\"message\":\"x\",\"@timestamp\":\"2024-05-01T10:00:00Z\"}\n"), a));
	assert_null(scan_plan_new(r, utc, SV("2024-05-01T10:00:00.000000001Z stdout F " HEAD), a));
	assert_null(scan_plan_new(r, utc, SV("2024-13-01 10:00:00,000 INFO  [main] a.b.C - no such month\n"), a));
	assert_null(scan_plan_new(r, utc, SV("no line is whole"), a));
	short_rule = rules_parse(SV("x"), SV("use rules/layouts.rules\n\nrule x\nevent broker.started\nmatch ^(?i)up\nexample UP\nexpect -\n"),
				 diag_new(a));
	assert_non_null(short_rule);
	assert_null(scan_plan_new(short_rule, utc, SV(HEAD), a));
	rules_free(short_rule);
	rules_free(r);
	arena_free(a);
}

/* A message may be empty: no more of a head is looked at than there is of it, by the byte. */
static void a_plan_needs_no_bytes_behind_its_head(void **state)
{
	static const char text[] = "[2024-05-01 10:00:00,000] INFO (x)\n[2024-05-01 10:00:01,000] INFO \n";
	struct arena *a = arena_new();
	struct rules *r = shipped(a);
	char *head = malloc(sizeof text - 1);

	(void)state;
	assert_non_null(head);
	memcpy(head, text, sizeof text - 1);
	assert_non_null(scan_plan_new(r, (struct zone){ 0 }, (struct sv){ head, sizeof text - 1 }, a));
	free(head);
	rules_free(r);
	arena_free(a);
}

/* ---- nothing changes ---- */

static const struct log_manner manners[] = {
	{ .threads = 1, .block_bytes = 262144, .head_bytes = 1000 }, { .threads = 1, .block_bytes = 600, .head_bytes = 300 },
	{ .threads = 2, .block_bytes = 900, .head_bytes = 300 },     { .threads = 3, .block_bytes = 1, .head_bytes = 300 },
};

static void check_same(struct sv text, const struct rules *r, const char *name)
{
	for (size_t i = 0; i < 2 * (sizeof manners / sizeof manners[0]); i++) {
		const struct differ_input input = { .text = text, .rules = r, .step = 100000, .maps = i % 2 == 1 };

		if (!differ_same(&input, &manners[i / 2]))
			fail_msg("%s, by %u threads", name, manners[i / 2].threads);
	}
}

static void check_file(const char *path, const struct rules *r)
{
	const size_t most = 16 << 20;
	char *bytes = malloc(most);
	FILE *f = fopen(path, "rb");

	assert_non_null(bytes);
	assert_non_null(f);
	check_same((struct sv){ bytes, fread(bytes, 1, most, f) }, r, path);
	fclose(f);
	free(bytes);
}

static void shipped_logs_give_the_same(void **state)
{
	static const char *const samples[] = { "refund-incident", "jitter-always", "pause-and-jitter" };
	static const char *const logs[] = { "broker-1/server.log", "consumer-1/app.log", "consumer-2/app.log", "consumer-3/app.log" };
	struct arena *a = arena_new();
	struct rules *r = shipped(a);

	(void)state;
	for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
		for (size_t k = 0; k < sizeof logs / sizeof logs[0]; k++)
			check_file(arena_printf(a, "samples/%s/%s", samples[i], logs[k]).p, r);
	rules_free(r);
	arena_free(a);
}

/* The logs of a recording of tests/lab, as brokers and clients wrote them. */
static size_t check_recording(const char *path, const struct rules *r)
{
	struct archive *from = archive_read_new();
	struct archive_entry *entry;
	size_t checked = 0;

	archive_read_support_filter_all(from);
	archive_read_support_format_all(from);
	assert_int_equal(archive_read_open_filename(from, path, 65536), ARCHIVE_OK);
	while (archive_read_next_header(from, &entry) == ARCHIVE_OK) {
		struct sv name = sv_of(archive_entry_pathname(entry));
		size_t n = (size_t)archive_entry_size(entry);
		char *bytes;

		if (!sv_ends_with(name, SV("/app.log")) && !sv_ends_with(name, SV("/server.log")))
			continue;
		bytes = malloc(n + 1);
		assert_non_null(bytes);
		assert_int_equal(archive_read_data(from, bytes, n), n);
		check_same((struct sv){ bytes, n }, r, archive_entry_pathname(entry));
		free(bytes);
		checked++;
	}
	archive_read_free(from);
	return checked;
}

static void recorded_logs_give_the_same(void **state)
{
	static const char *const recordings[] = { "client-2.8", "client-spring-kafka", "cooperative-blackout", "blackout-short" };
	struct arena *a = arena_new();
	struct rules *r = shipped(a);

	(void)state;
	for (size_t i = 0; i < sizeof recordings / sizeof recordings[0]; i++)
		assert_true(check_recording(arena_printf(a, "tests/lab/runs/%s.tar.xz", recordings[i]).p, r) > 1);
	rules_free(r);
	arena_free(a);
}

/* Lines that have something to get wrong, many times over, so that block ends fall on all of them. */
static void awkward_logs_give_the_same(void **state)
{
	static const char *const lines[] = {
		LINE("10", "plain"), LINE("11", "with CR\r"), LINE("08", "goes back"), LINE("12", "(Re-)joining group"),
		LINE("12", "heartbeat lost"), LINE("12", "\x1b[31mred\x1b[0m"), LINE("13", "NUL \x01 byte"), "\tat a.b.C(C.java:1)\n",
		"Caused by: java.io.IOException: x\n", "\n", "[2024-05-01 10:00:14,000] INFO a broker's (a.b.C)\n",
		"2024-05-01T10:00:15.000000001Z stdout F " LINE("15", "wrapped"), "{\"@timestamp\":\"2024-05-01T10:00:15Z\",\"message\":\"x\"}\n",
		"2024-02-30 10:00:15,000 INFO  [main] a.b.C - no such day\n", "2024-05-01 10:00:16,000 INFO  [main] a.b.C text\n",
		"{ \"a\" : 1,\n", "  \"message\" : \"x\"\n", "}\n", LINE("17", "ConsumerConfig values: "), "\tgroup.id = refunds\n", "\tclient.id = c-1\n", "app.log:12:grepped\n",
	};
	struct arena *a = arena_new();
	struct rules *r = shipped(a);
	struct buf text;
	uint32_t seed = 3;

	(void)state;
	buf_init(&text);
	buf_add(&text, SV(HEAD LINE("02", "third") LINE("03", "fourth")));
	for (size_t i = 0; i < 3000; i++)
		buf_add(&text, sv_of(lines[(next_number(&seed) >> 16) % (sizeof lines / sizeof lines[0])]));
	check_same(buf_sv(&text), r, "awkward lines");
	buf_add(&text, SV("2024-05-01 10:00:18,000 INFO  [main] a.b.C - no end"));
	check_same(buf_sv(&text), r, "the same without a last end");
	buf_fini(&text);
	rules_free(r);
	arena_free(a);
}

/* A text of these lines, in any order. */
static struct buf shuffled(const char *head, const char *const *lines, size_t n, uint32_t seed, size_t count)
{
	struct buf text;

	buf_init(&text);
	buf_add(&text, sv_of(head));
	for (size_t i = 0; i < count; i++)
		buf_add(&text, sv_of(lines[(next_number(&seed) >> 16) % n]));
	return text;
}

/* Logs in which most records may be known to a rule, or to several. */
static void dense_logs_give_the_same(void **state)
{
	static const char *const lines[] = {
		LINE("10", "plain"), LINE("11", "it was seen"), LINE("12", "alpha g and m left far behind"), LINE("12", "beta left far behind"),
		LINE("13", "gamma delta g1 m1"), LINE("09", "epsilon zeta g2 m2"), LINE("13", "[Consumer clientId=c-1, groupId=g] it was seen"),
		LINE("13", "[Consumer clientId=c-1, groupId=g] poll was late"), LINE("14", "poll was late"), LINE("14", "Values of the dump"),
		"\ta = 1\n", "\tb = 2\r\n", "\n", "\tc =\n", LINE("14", "it is of no use"), LINE("15", "up up"), LINE("15", "up up and away"),
		LINE("15", "a heartbeat left far behind"), LINE("15", "heartbeat, gamma delta"), LINE("16", "with CR, was seen\r"),
		"2024-05-01 10:00:16,999 WARN  [t - was seen] a.b.C - no message of it\n", "2024-05-01 10:00:17,000 INFO  [main] a.b.C - \n",
		"2024-05-01 10:00:17,000 INFO  [was seen] a.b.C - \n", "INFO: was seen\n",
		"2024-05-01 10:00:17,123 INFO  [pool-1] a.b.C - [Consumer clientId=c-2, groupId=g] gamma delta g m\n",
		"2024-05-01 10:00:17,123 INFO  [pool-1] a.b.C - poll was late\n", "2024-05-01 10:00:17,123 INFO  [] a.b.C - poll was late\n",
		"[2024-05-01 10:00:18,500] INFO it was seen (a.b.C)\n", "[2024-05-01 10:00:18,500] WARN gamma delta g3 m3\n",
		"[2024-05-01 10:00:18,500] WARN a heartbeat (a.b.C:12)\n", "[2024-05-01 10:00:18,500] INFO plain (a.b.C)\n",
		"[2024-05-01 10:00:18,500] INFO two, was seen[2024-05-01 10:00:19,500] INFO it was seen (a.b.C)\n",
		"[2024-02-30 10:00:18,500] INFO it was seen (a.b.C)\n", "2024-02-30 10:00:15,000 INFO  [main] a.b.C - was seen\n",
		"2024-05-01T10:00:15.000000001Z stdout F " LINE("15", "was seen"), "{\"@timestamp\":\"2024-05-01T10:00:15Z\",\"message\":\"was seen\"}\n",
		"2024-05-01 10:00:16,000 INFO  [main] a.b.C was seen\n", "app.log:12:was seen\n", LINE("12", "\x1b[31mwas seen\x1b[0m"),
		LINE("20", "was seen was seen was seen was seen was seen was seen was seen was seen was seen was seen was seen was seen "
			   "was seen was seen was seen was seen was seen"),
		"{ \"a\" : 1,\n", "  \"message\" : \"was seen\"\n", "}\n",
		"Caused by: java.io.IOException: was seen\n", "\tat was.seen(X.java:1)\n",
	};
	const size_t n = sizeof lines / sizeof lines[0];
	struct arena *a = arena_new();
	struct sv with_loose = arena_printf(a, "%s\nrule loose\nevent broker.started\nmatch (?i)PLAIN\nexample plain\nexpect -\n", several_rules);
	struct rules *r = rules_parse(SV("x"), SV(several_rules), diag_new(a)), *all = shipped(a);
	/* One of them has no literal: then no line is plain. */
	struct rules *loose = rules_parse(SV("x"), with_loose, diag_new(a));

	(void)state;
	assert_non_null(r);
	assert_non_null(loose);
	for (uint32_t seed = 0; seed < 4; seed++) {
		/* The first lines alone are plain in any case; with the others all is mixed. */
		struct buf text = shuffled(HEAD LINE("02", "third") "[2024-05-01 10:00:03,500] INFO fourth (a.b.C)\n" LINE("04", "fifth"), lines,
					   seed % 2 == 0 ? n : 31, seed, 2000);

		check_same(buf_sv(&text), r, "dense lines");
		check_same(buf_sv(&text), all, "dense lines, by the shipped rules");
		check_same(buf_sv(&text), loose, "dense lines, by a rule without a literal");
		buf_fini(&text);
	}
	rules_free(loose);
	rules_free(all);
	rules_free(r);
	arena_free(a);
}

/* What a line of a layout is put together from: before the second, behind it, threads or levels, and before the message. */
struct dress {
	const char *before, *behind, *threads[6], *message, *end;
};

static const char *pick(const char *const *texts, size_t n, uint32_t *seed)
{
	return texts[(next_number(seed) >> 16) % n];
}

/*
 * Lines that go on like each other, many in a second: the fractions in any order,
 * now and then a step back, words of groups in the thread and in the message, a
 * message that goes on, and lines that are nearly like the others.
 */
static void add_quiet_line(struct buf *b, const struct dress *d, uint32_t *seed)
{
	static const char *const messages[] = { "plain", "plain with CR\r", "x", "", "a heartbeat - lost", "rejoined", "they - revoke it",
						"(Re-)joining group", "goes on\n\tat a.b.C(C.java:1)\n\t... 3 more", "\x1b[31mred", "a - b" };
	const unsigned roll = (next_number(seed) >> 16) % 100, fraction = (next_number(seed) >> 16) % 1000;
	const unsigned second = roll == 0 ? 20 : roll < 4 ? 33 : 30;

	buf_printf(b, "%s2026-05-01%c10:00:%02u%c%03u%s", d->before, d->behind[0] == 'Z' ? 'T' : ' ', second, d->behind[0] == 'Z' ? '.' : ',',
		   fraction, roll == 99 ? "" : d->behind);
	buf_printf(b, "%s%s", pick(d->threads, sizeof d->threads / sizeof d->threads[0], seed), d->message);
	buf_printf(b, "%s%s\n", roll < 50 ? "plain" : pick(messages, sizeof messages / sizeof messages[0], seed), d->end);
}

static void quiet_logs_give_the_same(void **state)
{
	static const struct dress dresses[] = {
		{ "", "", { " INFO  [main] ", " INFO  [a-heartbeat-thread | g] ", " WARN  [a - b] ", " DEBUG [x] ", " INFO  [main-2] ", " INFO  [] " },
		  "a.b.C - ", "" },
		{ "[", "] ", { "INFO ", "WARN ", "INFO [a-heartbeat-thread] ", "ERROR ", "DEBUG [2026-05-01] ", "INFO [x 1]: " }, "", " (a.b.C)" },
		{ "", "Z ", { " INFO 1 --- [main] ", " WARN 1 --- [a-heartbeat-1] ", " INFO 12 --- [app] [x] ", "ERROR 1 --- [a : b] ",
			      " INFO 1 --- [heartbeat : b] ", "DEBUG 1 --- [y] " }, "o.a.K : ", "" },
	};
	struct arena *a = arena_new();
	struct rules *r = shipped(a);
	uint32_t seed = 11;

	(void)state;
	for (size_t i = 0; i < sizeof dresses / sizeof dresses[0]; i++) {
		struct buf text;

		buf_init(&text);
		for (size_t k = 0; k < 3000; k++)
			add_quiet_line(&text, &dresses[i], &seed);
		check_same(buf_sv(&text), r, dresses[i].message);
		buf_fini(&text);
	}
	rules_free(r);
	arena_free(a);
}

/* Lines of the plan's layout of which some are of one before it. */
static void lines_of_an_earlier_layout_give_the_same(void **state)
{
	static const char *const lines[] = {
		"2024-05-01 10:00:01,000 INFO  [main] plain\n", "2024-05-01 10:00:02,000 INFO  [main] (Re-)joining group\n",
		"2024-05-01 10:00:03,000 INFO  [main] a heartbeat\n", LINE("04", "plain"), LINE("05", "(Re-)joining group"), LINE("06", "a heartbeat"),
		LINE("07", JOINING), "2024-05-01 10:00:08,000 INFO  [main] " JOINING "\n",
	};
	struct arena *a = arena_new();
	struct rules *r = shipped(a);
	struct buf text = shuffled("2024-05-01 10:00:00,000 INFO  [main] first\n", lines, sizeof lines / sizeof lines[0], 5, 1000);

	(void)state;
	check_same(buf_sv(&text), r, "two layouts that begin alike");
	buf_fini(&text);
	rules_free(r);
	arena_free(a);
}

/* As java.util.logging writes: the time and who speaks, and the level and the message on the line below. */
static void messages_below_their_line_give_the_same(void **state)
{
	static const char rules[] =
		"layout jul\nline ^(?<time>\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d,\\d{3}) \\[(?<thread>[^\\]]*)\\] (?<body>.*)$\n"
		"time yyyy-MM-dd HH:mm:ss,SSS\nexample 2024-05-01 10:00:00,000 [t] x\nexpect body=x\n\n"
		"rule seen\nevent broker.started\nmatch ^it was seen$\nexample it was seen\nexpect -\n";
	static const char *const lines[] = {
		"2024-05-01 10:00:00,000 [main] plain\n", "2024-05-01 10:00:01,000 [it was seen] \n", "INFO: it was seen\n",
		"2024-05-01 10:00:02,000 [main] it was seen\n", "2024-05-01 10:00:03,000 [main] \n",
	};
	struct arena *a = arena_new();
	struct rules *r = rules_parse(SV("x"), SV(rules), diag_new(a));
	struct buf text = shuffled("2024-05-01 10:00:00,000 [main] first\n", lines, sizeof lines / sizeof lines[0], 1, 1000);

	(void)state;
	assert_non_null(r);
	check_same(buf_sv(&text), r, "messages below");
	buf_fini(&text);
	rules_free(r);
	arena_free(a);
}

static void add_bytes(struct buf *b, char c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_add_char(b, c);
}

static void records_and_lines_that_are_too_long_give_the_same(void **state)
{
	struct arena *a = arena_new();
	struct rules *r = shipped(a);
	struct buf text;

	(void)state;
	buf_init(&text);
	buf_add(&text, SV(HEAD LINE("02", "third") LINE("03", "fourth")));
	/* A record of many lines, a line beyond a record, a line beyond all lines. */
	buf_add(&text, SV(LINE("10", "trace")));
	for (size_t i = 0; i < 20000; i++)
		buf_add(&text, SV("\tat a.b.C(C.java:1)\n"));
	buf_add(&text, SV(LINE("11", "next") "2024-05-01 10:00:12,000 INFO  [main] a.b.C - "));
	add_bytes(&text, 'x', RECORD_BYTES_MAX);
	buf_add(&text, SV("\n" LINE("13", "next") "2024-05-01 10:00:14,000 INFO  [main] a.b.C - "));
	add_bytes(&text, 'y', LINE_BYTES_MAX);
	buf_add(&text, SV("\n" LINE("15", "(Re-)joining group") LINE("16", "last")));
	check_same(buf_sv(&text), r, "long ones");
	buf_fini(&text);
	/* To the byte; a CR is none of it. */
	for (unsigned i = 0; i < 6; i++) {
		buf_init(&text);
		buf_add(&text, SV(HEAD LINE("02", "third") LINE("03", "fourth")));
		add_bytes(&text, 'z', LINE_BYTES_MAX - 1 + i / 2);
		buf_add(&text, i % 2 == 0 ? SV("\n") : SV("\r\n"));
		buf_add(&text, SV(LINE("15", "(Re-)joining group") LINE("16", "last")));
		check_same(buf_sv(&text), r, "the longest");
		buf_fini(&text);
	}
	rules_free(r);
	arena_free(a);
}

static void a_stream_that_breaks_gives_the_same(void **state)
{
	struct arena *a = arena_new();
	struct rules *r = shipped(a);
	struct differ_input input = { .rules = r, .step = 77, .breaks = true };

	(void)state;
	input.text = SV(HEAD LINE("02", "third") LINE("03", "fourth") LINE("04", "(Re-)joining group") LINE("05", "heartbeat") LINE("06", "x"));
	assert_true(differ_same(&input, &manners[1]));
	assert_true(differ_same(&input, &manners[3]));
	input.maps = true;
	assert_true(differ_same(&input, &manners[3]));
	/* In the middle of a line. */
	input.text.n -= 9;
	assert_true(differ_same(&input, &manners[1]));
	rules_free(r);
	arena_free(a);
}

/* ---- a file that is cut short while it is looked at ---- */

struct shrinking {
	int fd;
	uint64_t size_bytes, left;
	size_t cut_to;
	struct buf taken;
	unsigned reports;
};

static ptrdiff_t shrinking_read(void *context, void *bytes, size_t n)
{
	struct shrinking *f = context;
	ssize_t got = read(f->fd, bytes, n < f->left ? n : (size_t)f->left);

	if (got == 0 && f->left > 0)
		return -1;
	f->left -= (uint64_t)got;
	return got;
}

static void shrinking_report(void *context, uint64_t at)
{
	struct shrinking *f = context;

	assert_int_equal(at, f->cut_to);
	f->reports++;
}

static struct mapped *shrinking_map(void *context, struct arena *a)
{
	const struct shrinking *f = context;

	return mapped_new(a, f->fd, f->size_bytes);
}

static void shrinking_seek(void *context, uint64_t at)
{
	struct shrinking *f = context;

	assert_int_equal(lseek(f->fd, (off_t)at, SEEK_SET), at);
	f->left = f->size_bytes - at;
}

/* All that is taken; with the first of it the file becomes shorter. */
static int shrinking_take(void *context, const struct scan_text *text, const struct scan *found)
{
	struct shrinking *f = context;

	(void)found;
	assert_int_equal(text->byte_offset, buf_sv(&f->taken).n);
	buf_add(&f->taken, (struct sv){ text->bytes, text->n });
	assert_int_equal(ftruncate(f->fd, (off_t)f->cut_to), 0);
	return 0;
}

static void check_shrinking(struct sv text, size_t cut_to, unsigned threads)
{
	struct arena *a = arena_new();
	struct rules *r = shipped(a);
	struct shrinking f = { .fd = differ_file(text), .size_bytes = text.n, .left = text.n, .cut_to = cut_to };
	struct stream *s = stream_new(a, (struct stream_source){ shrinking_read, shrinking_report, &f, shrinking_map, shrinking_seek });
	struct scan_reader *reader = scan_reader_new(s, 10000);
	uint64_t offset;
	char byte;

	assert_int_equal(lseek(f.fd, 0, SEEK_SET), 0);
	buf_init(&f.taken);
	assert_int_equal(scan_run(reader, scan_plan_new(r, (struct zone){ 0 }, SV(HEAD), a), threads, (struct scan_run_sink){ shrinking_take, &f }), 0);
	assert_int_equal(scan_reader_rest(reader, &offset).n, 0);
	/* All that is there, once and in its order, and nothing that is not; and that it is less than there was is told. */
	assert_int_equal(buf_sv(&f.taken).n, cut_to);
	assert_memory_equal(buf_sv(&f.taken).p, text.p, cut_to);
	assert_int_equal(stream_read(s, &byte, 1), -1);
	assert_int_equal(f.reports, 1);
	scan_reader_free(reader);
	buf_fini(&f.taken);
	close(f.fd);
	rules_free(r);
	arena_free(a);
}

static void a_file_that_becomes_shorter_is_read_as_far_as_it_goes(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct buf text;

	(void)state;
	buf_init(&text);
	while (buf_sv(&text).n < 100 * page)
		buf_add(&text, SV(LINE("02", "third") LINE("03", "(Re-)joining group")));
	for (unsigned threads = 1; threads <= 3; threads++) {
		check_shrinking(buf_sv(&text), 50 * page, threads);
		check_shrinking(buf_sv(&text), 50 * page + 77, threads);
		/* Of what has been mapped all of it is there: only the end, which is read, is not. */
		check_shrinking(buf_sv(&text), buf_sv(&text).n - 5, threads);
	}
	buf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_becomes_shorter_is_read_as_far_as_it_goes),
		cmocka_unit_test(a_pattern_has_literals),
		cmocka_unit_test(each_shipped_rule_has_one),
		cmocka_unit_test(a_pattern_begins_with_few_bytes),
		cmocka_unit_test(slow_rules_are_named),
		cmocka_unit_test(a_head_fits_where_its_layout_does),
		cmocka_unit_test(heads_of_other_layouts),
		cmocka_unit_test(lines_of_traces_are_none),
		cmocka_unit_test(line_feeds_and_other_marks_are_found),
		cmocka_unit_test(noise_is_marked),
		cmocka_unit_test(marks_are_the_same_by_all_ways),
		cmocka_unit_test(bytes_and_pairs_are_found),
		cmocka_unit_test(the_filter_finds_each_literal_once),
		cmocka_unit_test(no_filter_by_literals_that_are_too_short),
		cmocka_unit_test(records_are_counted_but_those_that_a_rule_may_know),
		cmocka_unit_test(what_is_doubtful_is_read_with_the_record_before_it),
		cmocka_unit_test(the_last_of_a_block_and_what_is_doubted_is_not_plain),
		cmocka_unit_test(lines_of_two_forms_are_plain),
		cmocka_unit_test(the_rules_of_a_line_are_in_order),
		cmocka_unit_test(near_misses_and_steps_back_are_noted),
		cmocka_unit_test(no_plan_for_what_is_not_plain),
		cmocka_unit_test(a_plan_needs_no_bytes_behind_its_head),
		cmocka_unit_test(shipped_logs_give_the_same),
		cmocka_unit_test(recorded_logs_give_the_same),
		cmocka_unit_test(awkward_logs_give_the_same),
		cmocka_unit_test(dense_logs_give_the_same),
		cmocka_unit_test(quiet_logs_give_the_same),
		cmocka_unit_test(lines_of_an_earlier_layout_give_the_same),
		cmocka_unit_test(messages_below_their_line_give_the_same),
		cmocka_unit_test(records_and_lines_that_are_too_long_give_the_same),
		cmocka_unit_test(a_stream_that_breaks_gives_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
