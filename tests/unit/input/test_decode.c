/* SPDX-License-Identifier: MIT */
/* What libarchive packs, whole and broken off at every byte; and members written by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>

#include "input/coding/decode.h"
#include "input/coding/xxh32.h"
#include "input_kit.h"

#define MOST ((size_t)2 << 20)
#define TEXT(literal) ((struct sv){ (literal), sizeof(literal) - 1 })

/*
 * lost_bytes: of noise at most, when it breaks off twenty bytes before its end.
 * has_checksum: of all that is packed; without one literals may say anything.
 */
static const struct way {
	const char *filter;
	const char *option, *value;
	size_t lost_bytes;
	bool has_checksum;
} ways[] = {
	{ "gzip", "compression-level", "0", 20, true },
	{ "gzip", "compression-level", "1", 20, true },
	{ "gzip", "compression-level", "9", 20, true },
	{ "xz", "compression-level", "0", 100, true },
	{ "xz", "compression-level", "6", 100, true },
	/* A small text is one block, and with it lost. */
	{ "zstd", "compression-level", "1", MOST, false },
	{ "zstd", "compression-level", "15", MOST, false },
	{ "lz4", "compression-level", "1", 20, true },
	{ "lz4", "compression-level", "9", 20, true },
	{ "lz4", "block-size", "4", 20, true },
	{ "lz4", "block-checksum", "1", 20, true },
	{ "lz4", "block-dependence", "1", 20, true },
	{ "lz4", "stream-checksum", NULL, 20, false },
};
#define WAY_COUNT (sizeof ways / sizeof ways[0])

static struct sv packed_by(struct arena *a, struct sv text, const struct way *way)
{
	struct archive *w = archive_write_new();
	struct archive_entry *e = archive_entry_new();
	char *bytes = arena_alloc(a, MOST);
	size_t n = 0;

	assert_int_equal(archive_write_add_filter_by_name(w, way->filter), ARCHIVE_OK);
	assert_int_equal(archive_write_set_filter_option(w, way->filter, way->option, way->value), ARCHIVE_OK);
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

/* Read by pieces of that size; *why: NULL while nothing is wrong. */
static struct sv decoded(struct arena *a, struct sv packed, size_t piece, const char **why)
{
	struct decode *d = decode_new(stream_of(a, packed), a);
	char *bytes = arena_alloc(a, MOST);
	size_t n = 0;
	ptrdiff_t got;

	while ((got = decode_read(d, bytes + n, MOST - n < piece ? MOST - n : piece)) > 0)
		n += (size_t)got;
	/* And so it stays. */
	assert_int_equal(decode_read(d, bytes, 1), got);
	*why = got < 0 ? arena_strdup(a, sv_of(decode_why(d))) : NULL;
	decode_close(d);
	return (struct sv){ bytes, n };
}

static void check_whole(struct arena *a, struct sv packed, struct sv text)
{
	static const size_t pieces[] = { MOST, 65536, 1000, 1 };

	for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
		const char *why;
		struct sv got = decoded(a, packed, pieces[i], &why);

		assert_true(sv_eq(got, text));
		assert_null(why);
	}
}

static void check_damaged(struct sv packed, const char *text, const char *what)
{
	struct arena *a = arena_new();
	const char *why;
	struct sv got = decoded(a, packed, MOST, &why);

	assert_sv_equal(got, text);
	assert_non_null(why);
	assert_string_equal(why, what);
	arena_free(a);
}

/* Noise, then what was there before: near, a little and as far back as lz4 can say; then runs. Every byte is among them. */
static struct sv text_of(struct arena *a, size_t n)
{
	char *p = arena_alloc(a, n);
	uint32_t x = 1;

	for (size_t i = 0; i < n; i++) {
		x = x * 1664525U + 1013904223U;
		if (i > 250000)
			p[i] = (char)(i >> 14);
		else if (x >> 30 != 0 && i > 150000)
			p[i] = p[i - 65535];
		else if (x >> 30 != 0 && i > 40000)
			p[i] = p[i - 32768];
		else if (x >> 30 == 3 && i > 10)
			p[i] = p[i - 7];
		else
			p[i] = (char)(x >> 16);
	}
	return (struct sv){ p, n };
}

static void what_was_packed_comes_out(void **state)
{
	(void)state;
	for (size_t i = 0; i < WAY_COUNT; i++) {
		struct arena *a = arena_new();
		struct sv text = text_of(a, 400000), few = TEXT("to be or not to be to be");

		check_whole(a, packed_by(a, text, &ways[i]), text);
		check_whole(a, packed_by(a, few, &ways[i]), few);
		arena_free(a);
	}
}

static void members_follow_one_another(void **state)
{
	(void)state;
	for (size_t i = 0; i < WAY_COUNT; i++) {
		struct arena *a = arena_new();
		const char *why;
		struct buf members;

		buf_init(&members);
		buf_add(&members, packed_by(a, SV("one "), &ways[i]));
		buf_add(&members, packed_by(a, SV("two"), &ways[i]));
		check_whole(a, buf_sv(&members), SV("one two"));
		/* Zeros fill up, between them and at the end. */
		buf_add(&members, (struct sv){ "\0\0\0\0", 4 });
		check_whole(a, buf_sv(&members), SV("one two"));
		buf_add(&members, packed_by(a, SV(" three"), &ways[i]));
		check_whole(a, buf_sv(&members), SV("one two three"));
		/* Behind them is something else. */
		buf_add(&members, SV("\njunk"));
		assert_sv_equal(decoded(a, buf_sv(&members), MOST, &why), "one two three");
		assert_string_equal(why, arena_printf(a, "%s: other bytes follow what is packed", ways[i].filter).p);
		buf_fini(&members);
		arena_free(a);
	}
}

/* What is given out before a break is what was packed, never less of a longer part, and the break is told. */
static void a_break_costs_hardly_anything(void **state)
{
	(void)state;
	for (size_t i = 0; i < WAY_COUNT; i++) {
		struct arena *all = arena_new();
		struct sv text = text_of(all, 3000), packed = packed_by(all, text, &ways[i]);
		size_t before = 0;

		for (size_t n = 6; n < packed.n; n++) {
			struct arena *a = arena_new();
			const char *why;
			struct sv part = decoded(a, sv_sub(packed, 0, n), MOST, &why);

			assert_true(sv_starts_with(text, part));
			assert_true(part.n >= before);
			assert_non_null(why);
			assert_string_equal(why, arena_printf(a, "%s: breaks off", ways[i].filter).p);
			if (n == packed.n - 20)
				assert_true(part.n + ways[i].lost_bytes >= text.n);
			before = part.n;
			arena_free(a);
		}
		arena_free(all);
	}
}

/* Whatever one bit is changed to: no crash, no end that is not told, and nothing is given out for ever. */
static void a_changed_bit_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < WAY_COUNT; i++) {
		struct arena *all = arena_new();
		struct sv text = text_of(all, 600), packed = packed_by(all, text, &ways[i]);

		for (size_t bit = 6 * 8; bit < packed.n * 8; bit++) {
			struct arena *a = arena_new();
			struct sv changed = arena_copy(a, packed), got;
			char *p = arena_alloc(a, packed.n);
			const char *why;

			memcpy(p, packed.p, packed.n);
			p[bit / 8] = (char)(p[bit / 8] ^ 1 << bit % 8);
			changed.p = p;
			got = decoded(a, changed, MOST, &why);
			assert_true(got.n < MOST);
			/* A bit of the header or of what fills up may mean nothing. */
			assert_true(why != NULL || sv_eq(got, text) || !ways[i].has_checksum);
			arena_free(a);
		}
		arena_free(all);
	}
}

/* Of a text of several blocks, damaged near its end: what stands before is there, whatever the room that is asked for. */
static void what_comes_before_damage_is_kept(void **state)
{
	static const size_t pieces[] = { MOST, 65536, 1000 };

	(void)state;
	for (size_t i = 0; i < WAY_COUNT; i++) {
		struct arena *a = arena_new();
		struct sv text = text_of(a, 240000), packed = packed_by(a, text, &ways[i]);
		char *p = arena_alloc(a, packed.n);

		memcpy(p, packed.p, packed.n);
		memset(p + packed.n - 1000, 0xff, 900);
		for (size_t k = 0; k < sizeof pieces / sizeof pieces[0]; k++) {
			const char *why;
			struct sv got = decoded(a, (struct sv){ p, packed.n }, pieces[k], &why);

			assert_true(why != NULL || !ways[i].has_checksum);
			/* A block of zstd has 128 KiB. */
			assert_true(got.n >= 131072);
			assert_memory_equal(got.p, text.p, 131072);
		}
		arena_free(a);
	}
}

/* All parts that a header may have (RFC 1952 2.3.1), before a stored block (RFC 1951 3.2.4) by hand; CRC-32 of "abc". */
static void what_a_gzip_header_may_have_is_passed(void **state)
{
#define ALL_PARTS "\x1f\x8b\x08\x1e" "\0\0\0\0\0\3" "\4\0abcd" "name\0" "comment\0" "\1\2" "\1\3\0\xfc\xff" "abc"
	struct arena *a = arena_new();

	(void)state;
	check_whole(a, TEXT(ALL_PARTS "\xc2\x41\x24\x35\3\0\0\0"), SV("abc"));
	arena_free(a);
}

/* A member that is not what its checksum or its length says is given out, and the next one. */
static void a_wrong_checksum_is_told_at_the_end(void **state)
{
	static const char differs[] = "gzip: a checksum differs: this is not what was packed";

	(void)state;
	check_damaged(TEXT(ALL_PARTS "\xc2\x41\x24\x34\3\0\0\0"), "abc", differs);
	check_damaged(TEXT(ALL_PARTS "\xc2\x41\x24\x35\4\0\0\0"), "abc", differs);
	check_damaged(TEXT(ALL_PARTS "\xc2\x41\x24\x34\3\0\0\0" ALL_PARTS "\xc2\x41\x24\x35\3\0\0\0"), "abcabc", differs);
}

static void what_makes_no_sense_as_gzip_ends_it(void **state)
{
#define GZIP "\x1f\x8b\x08\0\0\0\0\0\0\3"

	(void)state;
	/* A block of the sort that is none; a stored one whose length is not what it says. */
	check_damaged(TEXT(GZIP "\7"), "", "gzip: makes no sense");
	check_damaged(TEXT(GZIP "\1\3\0\xfc\xfe" "abc"), "", "gzip: makes no sense");
	/* By the fixed code: a match (257, distance 1) before any byte. */
	check_damaged(TEXT(GZIP "\x03\x02\x00\x00\x00"), "", "gzip: makes no sense");
	/* More codes of one bit than there are: all nineteen lengths are 1. */
	check_damaged(TEXT(GZIP "\xfd\xff\x93\x24\x49\x92\x24\x49\x92\x24"), "", "gzip: makes no sense");
}

/* The header says: version 1, blocks of up to 64 KiB that stand alone, no checksums. */
#define LZ4 "\x04\x22\x4d\x18\x60\x40\x82"
#define LZ4_END "\0\0\0\0"

static void lz4_by_hand(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	/* A stored block. One literal, a match of 15 + 4 from one byte before, five literals. */
	check_whole(a, TEXT(LZ4 "\3\0\0\x80" "abc" LZ4_END), SV("abc"));
	check_whole(a, TEXT(LZ4 "\x0b\0\0\0" "\x1f" "a" "\1\0" "\0" "\x50" "bcdef" LZ4_END), SV("aaaaaaaaaaaaaaaaaaaabcdef"));
	/* Two literals, a match of 4 from two before, none more. */
	check_whole(a, TEXT(LZ4 "\6\0\0\0" "\x20" "ab" "\2\0" "\0" LZ4_END), SV("ababab"));
	/* Fifteen literals and one more. */
	check_whole(a, TEXT(LZ4 "\x12\0\0\0" "\xf0\x01" "0123456789abcdef" LZ4_END), SV("0123456789abcdef"));
	/* What is to be skipped, before and behind, and nothing at all. */
	check_whole(a, TEXT(LZ4 LZ4_END "\x5f\x2a\x4d\x18\3\0\0\0xyz" LZ4 "\3\0\0\x80" "abc" LZ4_END "\x50\x2a\x4d\x18\0\0\0\0"),
		    SV("abc"));
	/* What the lz4 program makes of nothing: with a checksum of the content. */
	check_whole(a, TEXT("\x04\x22\x4d\x18\x64\x40\xa7\0\0\0\0\x05\x5d\xcc\x02"), SV(""));
	arena_free(a);
}

static void what_makes_no_sense_as_lz4_ends_it(void **state)
{
	(void)state;
	check_damaged(TEXT("\x04\x22\x4d\x18\x60\x40\x83" LZ4_END), "", "lz4: the checksum of a header differs");
	check_damaged(TEXT("\x04\x22\x4d\x18\x64\x40\xa7\0\0\0\0\x05\x5d\xcc\x03"), "",
		      "lz4: a checksum differs: this is not what was packed");
	check_damaged(TEXT(LZ4 "\1\0\1\0" "\0"), "", "lz4: a block has a length that none has");
	check_damaged(TEXT(LZ4 "\0\0\0\x80"), "", "lz4: a block has a length that none has");
	check_damaged(TEXT(LZ4 "\6\0\0\0" "\x20" "ab" "\3\0" "\0"), "ab", "lz4: a match reaches back before the start");
	check_damaged(TEXT(LZ4 "\6\0\0\0" "\x20" "ab" "\0\0" "\0"), "ab", "lz4: a match reaches back before the start");
	/* Blocks that stand alone reach back to none before. */
	check_damaged(TEXT(LZ4 "\2\0\0\x80" "ab" "\6\0\0\0" "\x20" "cd" "\3\0" "\0"), "abcd",
		      "lz4: a match reaches back before the start");
	check_damaged(TEXT(LZ4 "\2\0\0\0" "\x20" "a"), "", "lz4: literals go beyond their block");
	check_damaged(TEXT(LZ4 "\4\0\0\0" "\x20" "ab" "\1"), "ab", "lz4: a match goes beyond its block");
	check_damaged(TEXT(LZ4 "\5\0\0\0" "\x20" "ab" "\1\0"), "abbbbb", "lz4: a block ends with a match");
	check_damaged(TEXT(LZ4 "\5\0\0\0" "\x2f" "ab" "\1\0"), "ab", "lz4: a length is greater than its block");
}

/* The values are those of the specification's authors, for the seed 0. */
static void xxh32_of_known_texts(void **state)
{
	static const struct {
		const char *text;
		uint32_t value;
	} cases[] = {
		{ "", UINT32_C(0x02cc5d05) },
		{ "abc", UINT32_C(0x32d153ff) },
		{ "Nobody inspects the spammish repetition", UINT32_C(0xe2293b2f) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct sv text = sv_of(cases[i].text);

		/* In two parts, divided everywhere. */
		for (size_t n = 0; n <= text.n; n++) {
			struct xxh32 x;

			xxh32_init(&x);
			xxh32_add(&x, text.p, n);
			xxh32_add(&x, text.p + n, text.n - n);
			assert_int_equal(xxh32_value(&x), cases[i].value);
		}
	}
}

/* What a file asks for is not taken before it is known to be bounded: a dictionary of 128 MiB is, one of 384 MiB is not. */
static void xz_that_asks_for_too_much_memory_is_refused(void **state)
{
/* Stream header with CRC-64; block header: one filter, LZMA2, and the code of its dictionary's size (xz format 5.3.1). */
#define XZ "\xfd" "7zXZ\0" "\x00\x04\xe6\xd6\xb4\x46"

	(void)state;
	check_damaged(TEXT(XZ "\x02\x00\x21\x01\x1e\x00\x00\x00\x9b\x07\x51\x66"), "", "xz: breaks off");
	check_damaged(TEXT(XZ "\x02\x00\x21\x01\x21\x00\x00\x00\x6c\xef\x19\xce"), "", "xz: asks for more than 256 MiB of memory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_packed_comes_out),
		cmocka_unit_test(members_follow_one_another),
		cmocka_unit_test(a_break_costs_hardly_anything),
		cmocka_unit_test(a_changed_bit_is_told),
		cmocka_unit_test(what_comes_before_damage_is_kept),
		cmocka_unit_test(what_a_gzip_header_may_have_is_passed),
		cmocka_unit_test(a_wrong_checksum_is_told_at_the_end),
		cmocka_unit_test(what_makes_no_sense_as_gzip_ends_it),
		cmocka_unit_test(lz4_by_hand),
		cmocka_unit_test(what_makes_no_sense_as_lz4_ends_it),
		cmocka_unit_test(xxh32_of_known_texts),
		cmocka_unit_test(xz_that_asks_for_too_much_memory_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
