/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_MARKS_H
#define AFTERSHOCK_INPUT_LOG_MARKS_H

/*
 * One pass over a block for all that single bytes tell: where lines end, and
 * what is too short for the filter. By hand for the vector units that there are:
 * a compiler leaves such a loop ten times slower.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* So many bytes behind a block must be readable. */
#define MARKS_SLACK 80

#define MARKS_NO_END UINT32_MAX

/*
 * Zeros, and what else stands in binary data and not in text: bytes up to this one, but for that which parts the
 * fields of FIX messages.
 */
#define MARKS_NOISE_MOST 8
static inline bool marks_is_noise(char c)
{
	return (unsigned char)c <= MARKS_NOISE_MOST && c != '\1';
}

/* What else is looked for. */
#define MARKS_PAIRS_MAX 4
struct marks_wanted {
	bool brackets;		/* "[????-??-", but where a line begins with it; the block is taken to begin one */
	size_t pair_count;
	char pairs[MARKS_PAIRS_MAX][2];	/* of two bytes, one behind the other */
};

struct marks {
	uint32_t *ends;		/* of line feeds, in order; behind the last stands MARKS_NO_END */
	size_t end_count, end_capacity;
	/* What may be one of: an escape, a byte up to MARKS_NOISE_MOST, "vo" (revok), "jo" (rejoin, re-join), and what is wanted. */
	uint32_t *others;
	size_t other_count, other_capacity;
};

/* Finds them anew in a block of less than 4 GiB. */
void marks_find(struct marks *m, const char *bytes, size_t n, const struct marks_wanted *w);
void marks_free(struct marks *m);

/* A bit for each of 64 bytes that is this one, the first the lowest. */
static inline uint64_t marks_of(const char *bytes, char c)
{
	uint64_t found = 0;

#if defined(__SSE2__)
	for (unsigned i = 0; i < 64; i += 16) {
		__m128i v;

		memcpy(&v, bytes + i, sizeof v);
		found |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(c))) << i;
	}
#else
	for (unsigned i = 0; i < 64; i++)
		found |= (uint64_t)(bytes[i] == c) << i;
#endif
	return found;
}

/* Where the two bytes stand for the first time, one behind the other; n when they do not before that. */
size_t marks_pair_at(const char *bytes, size_t n, const char pair[2]);

/* The ways that this machine has, from 0 on: the plainest first, the fastest last. What they find is the same. */
size_t marks_way_count(void);
void marks_find_by(size_t way, struct marks *m, const char *bytes, size_t n, const struct marks_wanted *w);

#endif
