/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_BASE_SV_H
#define AFTERSHOCK_BASE_SV_H

/*
 * Borrowed views of text, and strict numbers.
 *
 * A view never owns its bytes and never assumes a NUL after them. n == 0 is
 * an empty string; p == NULL is "absent", which is something else.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sv {
	const char *p;
	size_t n;
};

/* A view of a string literal; usable in static tables. */
#define SV(literal) ((struct sv){ (literal), sizeof(literal) - 1 })
#define SV_ABSENT ((struct sv){ NULL, 0 })

/* The two arguments of a "%.*s" conversion. */
#define SV_ARG(s) (int)(s).n, ((s).p != NULL ? (s).p : "")

/* A view of a NUL-terminated string; NULL gives SV_ABSENT. */
struct sv sv_of(const char *text);
/* The part from byte "from" of at most n bytes, clipped to what there is. */
struct sv sv_sub(struct sv s, size_t from, size_t n);

/* Asked for each packet and field: no call. */
static inline bool sv_is_absent(struct sv s)
{
	return s.p == NULL;
}

/* Absent and empty are equal to themselves and differ from each other. */
bool sv_eq(struct sv a, struct sv b);
/* Whether they may be the same: one is absent, or they are equal. */
bool sv_agree(struct sv a, struct sv b);
/* ASCII letters alone are folded. */
bool sv_eq_nocase(struct sv a, struct sv b);
/* Byte order, a prefix before the longer; absent before all. */
int sv_cmp(struct sv a, struct sv b);
bool sv_starts_with(struct sv s, struct sv prefix);
bool sv_ends_with(struct sv s, struct sv suffix);
/* The place of the first occurrence of needle in *at; false when there is none. */
bool sv_find(struct sv s, struct sv needle, size_t *at);
bool sv_find_char(struct sv s, char c, size_t *at);
bool sv_rfind_char(struct sv s, char c, size_t *at);
/* How many zeros it begins with: quickly, for there may be gigabytes of them. */
size_t sv_leading_zeros(struct sv s);

/* FNV-1a of its bytes, begun with SV_HASH or the hash of what stands before. Texts made to collide cost time, not correctness. */
#define SV_HASH UINT64_C(14695981039346656037)
uint64_t sv_hash(uint64_t begun, struct sv s);

/* Without ASCII white space at both ends. */
struct sv sv_trim(struct sv s);
/*
 * The text of *rest before the first sep; *rest becomes what follows it.
 * Without a sep all of *rest, and *rest becomes absent: so a loop runs while
 * the rest is not absent, and "a,,b," gives four pieces.
 */
struct sv sv_cut(struct sv *rest, char sep);

/*
 * The whole text as a number: an optional sign (i64 alone), then digits, and
 * nothing else. False, with *out untouched, on rubbish or out of range.
 */
bool sv_to_i64(struct sv s, int64_t *out);
bool sv_to_u64(struct sv s, uint64_t *out);
/* Hexadecimal digits without a prefix. */
bool sv_to_hex64(struct sv s, uint64_t *out);
/*
 * A decimal such as "-12.50" in millionths. False on rubbish, on more than six
 * decimals that are not zero, on an exponent, and out of range.
 */
bool sv_to_micros(struct sv s, int64_t *out);

#endif
