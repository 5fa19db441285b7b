/* SPDX-License-Identifier: MIT */
/* gzip as libarchive packs it, whole and broken off at every byte. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <archive.h>
#include <archive_entry.h>

#include "input/gunzip.h"
#include "input_kit.h"

#define MOST ((size_t)1 << 20)

static struct sv packed_by(struct arena *a, struct sv text, const char *level)
{
	struct archive *w = archive_write_new();
	struct archive_entry *e = archive_entry_new();
	char *bytes = arena_alloc(a, MOST);
	size_t n = 0;

	archive_write_add_filter_gzip(w);
	archive_write_set_filter_option(w, "gzip", "compression-level", level);
	archive_write_set_format_raw(w);
	assert_int_equal(archive_write_open_memory(w, bytes, MOST, &n), ARCHIVE_OK);
	archive_entry_set_pathname(e, "data");
	archive_entry_set_filetype(e, AE_IFREG);
	assert_int_equal(archive_write_header(w, e), ARCHIVE_OK);
	assert_int_equal(archive_write_data(w, text.p, text.n), text.n);
	archive_entry_free(e);
	archive_write_close(w);
	archive_write_free(w);
	return (struct sv){ bytes, n };
}

static struct sv unpacked(struct arena *a, struct sv packed)
{
	char *bytes = arena_alloc(a, MOST);
	struct gunzip *g = gunzip_new(stream_of(a, packed), a);
	size_t n = gunzip_read(g, bytes, MOST);

	assert_int_equal(gunzip_read(g, bytes + n, MOST - n), 0);
	return (struct sv){ bytes, n };
}

/* Words of which some come again near and far; every byte there is among them. */
static struct sv text_of(struct arena *a, size_t n)
{
	char *p = arena_alloc(a, n);
	uint32_t x = 1;

	for (size_t i = 0; i < n; i++) {
		x = x * 1664525U + 1013904223U;
		if (x >> 30 != 0 && i > 40000)
			p[i] = p[i - 32768];
		else if (x >> 30 == 3 && i > 10)
			p[i] = p[i - 7];
		else
			p[i] = (char)(x >> 16);
	}
	return (struct sv){ p, n };
}

static bool is_start(struct sv whole, struct sv part)
{
	return part.n <= whole.n && memcmp(whole.p, part.p, part.n) == 0;
}

static void what_was_packed_comes_out(void **state)
{
	static const char *const levels[] = { "0", "1", "6", "9" };

	(void)state;
	for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
		struct arena *a = arena_new();
		struct sv text = text_of(a, 300000), packed = packed_by(a, text, levels[i]);

		assert_true(sv_eq(unpacked(a, packed), text));
		/* Small ones have the code that is agreed on. */
		assert_sv_equal(unpacked(a, packed_by(a, SV("to be or not to be to be"), levels[i])), "to be or not to be to be");
		arena_free(a);
	}
}

static void members_follow_one_another(void **state)
{
	struct arena *a = arena_new();
	struct buf both;

	(void)state;
	buf_init(&both);
	buf_add(&both, packed_by(a, SV("one "), "6"));
	buf_add(&both, packed_by(a, SV("two"), "0"));
	assert_sv_equal(unpacked(a, buf_sv(&both)), "one two");
	/* Behind them is something else. */
	buf_add(&both, SV("junk"));
	assert_sv_equal(unpacked(a, buf_sv(&both)), "one two");
	buf_fini(&both);
	arena_free(a);
}

/* All parts that a header may have (RFC 1952 2.3.1), before a stored block (RFC 1951 3.2.4) by hand. */
static void what_a_header_may_have_is_passed(void **state)
{
	static const char bytes[] = "\x1f\x8b\x08\x1e" "\0\0\0\0\0\3" "\4\0abcd" "name\0" "comment\0" "\1\2" "\1\3\0\xfc\xff" "abc" "\0\0\0\0\3\0\0\0";
	struct arena *a = arena_new();

	(void)state;
	assert_sv_equal(unpacked(a, (struct sv){ bytes, sizeof bytes - 1 }), "abc");
	arena_free(a);
}

/* No more is lost than the few bits of the symbol in which it breaks off. */
static void a_break_costs_hardly_anything(void **state)
{
	struct arena *a = arena_new();
	struct sv text = text_of(a, 3000), packed = packed_by(a, text, "9"), stored = packed_by(a, text, "0");
	size_t before = 0;

	(void)state;
	for (size_t n = 0; n < packed.n; n++) {
		struct sv part = unpacked(a, sv_sub(packed, 0, n));

		assert_true(is_start(text, part));
		assert_true(part.n >= before);
		before = part.n;
	}
	/* Its trailer has eight bytes, and the last block one for its end. */
	assert_int_equal(unpacked(a, sv_sub(packed, 0, packed.n - 8)).n, text.n);
	assert_true(unpacked(a, sv_sub(packed, 0, packed.n - 12)).n + 10 >= text.n);
	assert_int_equal(unpacked(a, sv_sub(stored, 0, stored.n - 8 - 100)).n, text.n - 100);
	arena_free(a);
}

static void what_makes_no_sense_ends_it(void **state)
{
#define HEAD "\x1f\x8b\x08\0\0\0\0\0\0\3"
	static const struct {
		const char *bytes;
		size_t n;
	} cases[] = {
		{ "", 0 },
		{ "\x1f\x8b\x07\0\0\0\0\0\0\3\1\0\0\xff\xff", 15 },
		/* A block of the sort that is none; a stored one whose length is not what it says. */
		{ HEAD "\7", 11 },
		{ HEAD "\1\3\0\xfc\xfe" "abc", 18 },
		/* By the fixed code: a match (257, distance 1) before any byte. */
		{ HEAD "\x03\x02\x00\x00\x00", 15 },
		/* More codes of one bit than there are: all nineteen lengths are 1. */
		{ HEAD "\xfd\xff\x93\x24\x49\x92\x24\x49\x92\x24", 20 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct arena *a = arena_new();

		if (unpacked(a, (struct sv){ cases[i].bytes, cases[i].n }).n != 0)
			fail_msg("case %zu", i);
		arena_free(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_packed_comes_out),
		cmocka_unit_test(members_follow_one_another),
		cmocka_unit_test(what_a_header_may_have_is_passed),
		cmocka_unit_test(a_break_costs_hardly_anything),
		cmocka_unit_test(what_makes_no_sense_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
