/* SPDX-License-Identifier: MIT */
/* See input/log/marks.h. */

#include "input/log/marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define ESCAPE '\x1b'

/* Bytes that are looked at together. */
#define STEP 64

static __attribute__((noinline)) void grow(uint32_t **items, size_t *capacity)
{
	*capacity = *capacity == 0 ? 4096 : 2 * *capacity;
	*items = realloc(*items, *capacity * sizeof **items);
	if (*items == NULL) {
		fputs("aftershock: out of memory\n", stderr);
		exit(1);
	}
}

/* Room for all bits of a step. */
static inline void make_room(uint32_t **items, size_t count, size_t *capacity)
{
	if (__builtin_expect(*capacity - count < STEP, 0))
		grow(items, capacity);
}

void marks_free(struct marks *m)
{
	free(m->ends);
	free(m->others);
	*m = (struct marks){ NULL, 0, 0, NULL, 0, 0 };
}

/* The numbers of the bits that are set, from a base. */
static inline __attribute__((always_inline)) size_t put_bits(uint32_t *items, size_t count, uint32_t base, uint64_t bits)
{
	while (bits != 0) {
		items[count++] = base + (uint32_t)__builtin_ctzll(bits);
		bits &= bits - 1;
	}
	return count;
}

/* What one step found. Bits beyond the block are none. */
static inline __attribute__((always_inline)) void put_step(struct marks *m, size_t at, size_t n, uint64_t ends, uint64_t others)
{
	if (n - at < STEP) {
		uint64_t inside = (UINT64_C(1) << (n - at)) - 1;

		ends &= inside;
		others &= inside;
	}
	make_room(&m->ends, m->end_count, &m->end_capacity);
	m->end_count = put_bits(m->ends, m->end_count, (uint32_t)at, ends);
	if (__builtin_expect(others == 0, 1))
		return;
	make_room(&m->others, m->other_count, &m->other_capacity);
	m->other_count = put_bits(m->others, m->other_count, (uint32_t)at, others);
}

static bool is_wanted(const char *p, const struct marks_wanted *w)
{
	if (w->brackets && p[0] == '[' && p[5] == '-' && p[8] == '-')
		return true;
	for (size_t i = 0; i < w->pair_count; i++)
		if (p[0] == w->pairs[i][0] && p[1] == w->pairs[i][1])
			return true;
	return false;
}

void marks_find_plain(struct marks *m, const char *bytes, size_t n, const struct marks_wanted *w)
{
	m->end_count = m->other_count = 0;
	for (size_t at = 0; at < n; at += STEP) {
		uint64_t ends = 0, others = 0;

		for (unsigned i = 0; i < STEP; i++) {
			const char *p = bytes + at + i;

			ends |= (uint64_t)(p[0] == '\n') << i;
			others |= (uint64_t)(p[0] == ESCAPE || (p[0] == 'v' && p[2] == 'k') || (p[0] == 'j' && p[3] == 'n') ||
					     is_wanted(p, w))
				  << i;
		}
		put_step(m, at, n, ends, others);
	}
}

#if defined(__x86_64__)

/* ---- 32 bytes at once ---- */

#define AVX2 __attribute__((target("avx2")))
#define INLINE_AVX2 static inline __attribute__((always_inline, target("avx2")))

INLINE_AVX2 __m256i is_avx2(const char *p, char c)
{
	__m256i v;

	memcpy(&v, p, sizeof v);
	return _mm256_cmpeq_epi8(v, _mm256_set1_epi8(c));
}

INLINE_AVX2 __m256i others_avx2(const char *p, const struct marks_wanted *w)
{
	__m256i found = is_avx2(p, ESCAPE);

	found = _mm256_or_si256(found, _mm256_and_si256(is_avx2(p, 'v'), is_avx2(p + 2, 'k')));
	found = _mm256_or_si256(found, _mm256_and_si256(is_avx2(p, 'j'), is_avx2(p + 3, 'n')));
	if (w->brackets)
		found = _mm256_or_si256(found, _mm256_and_si256(_mm256_and_si256(is_avx2(p, '['), is_avx2(p + 5, '-')),
								is_avx2(p + 8, '-')));
	for (size_t i = 0; i < w->pair_count; i++)
		found = _mm256_or_si256(found, _mm256_and_si256(is_avx2(p, w->pairs[i][0]), is_avx2(p + 1, w->pairs[i][1])));
	return found;
}

/*
 * The numbers of the bits that are set: two are written in any case, and count if
 * they are there. How many line feeds stand in a step nothing foretells, but that
 * they are rarely three.
 */
static inline __attribute__((always_inline, target("bmi,popcnt"))) size_t put_few_bits(uint32_t *items, size_t count, uint32_t base, uint64_t bits)
{
	size_t n = (size_t)__builtin_popcountll(bits);
	uint64_t second = _blsr_u64(bits);

	items[count] = base + (uint32_t)_tzcnt_u64(bits);
	items[count + 1] = base + (uint32_t)_tzcnt_u64(second);
	if (__builtin_expect(n > 2, 0))
		put_bits(items, count + 2, base, _blsr_u64(second));
	return count + n;
}

#define TAVX2 __attribute__((target("avx2,bmi,popcnt")))
static inline __attribute__((always_inline,target("avx2,bmi,popcnt"))) void look_avx2(struct marks *m, const char *bytes, size_t n, const struct marks_wanted *w)
{
	size_t at = 0, count = 0;
	uint32_t *items = m->ends;
	m->end_count = m->other_count = 0;
	for (; n - at >= STEP; at += STEP) {
		const char *p = bytes + at;
		uint64_t ends = (uint32_t)_mm256_movemask_epi8(is_avx2(p, '\n'));
		__m256i o1 = others_avx2(p, w), o2 = others_avx2(p + 32, w), o = _mm256_or_si256(o1, o2);

		ends |= (uint64_t)(uint32_t)_mm256_movemask_epi8(is_avx2(p + 32, '\n')) << 32;
		if (__builtin_expect(m->end_capacity - count < STEP, 0)) {
			grow(&m->ends, &m->end_capacity);
			items = m->ends;
		}
		count = put_few_bits(items, count, (uint32_t)at, ends);
		if (__builtin_expect(!_mm256_testz_si256(o, o), 0)) {
			make_room(&m->others, m->other_count, &m->other_capacity);
			m->other_count = put_bits(m->others, m->other_count, (uint32_t)at, (uint32_t)_mm256_movemask_epi8(o1) | (uint64_t)(uint32_t)_mm256_movemask_epi8(o2) << 32);
		}
	}
	m->end_count = count;
	for (; at < n; at += STEP) {
		const char *p = bytes + at;
		uint64_t ends = (uint32_t)_mm256_movemask_epi8(is_avx2(p, '\n'));
		__m256i o1 = others_avx2(p, w), o2 = others_avx2(p + 32, w);

		ends |= (uint64_t)(uint32_t)_mm256_movemask_epi8(is_avx2(p + 32, '\n')) << 32;
		put_step(m, at, n, ends, (uint32_t)_mm256_movemask_epi8(o1) | (uint64_t)(uint32_t)_mm256_movemask_epi8(o2) << 32);
	}
}
TAVX2 static void marks_find_avx2(struct marks *m, const char *bytes, size_t n, const struct marks_wanted *w)
{
	static const struct marks_wanted none = {0};
	if (w->brackets || w->pair_count)
	look_avx2(m,bytes,n,w);
	else
	look_avx2(m,bytes,n,&none);
}

/* ---- 16 bytes at once: every x86-64 has it ---- */

static inline __m128i is_sse2(const char *p, char c)
{
	__m128i v;

	memcpy(&v, p, sizeof v);
	return _mm_cmpeq_epi8(v, _mm_set1_epi8(c));
}

static inline uint64_t others_sse2(const char *p, const struct marks_wanted *w)
{
	__m128i found = is_sse2(p, ESCAPE);

	found = _mm_or_si128(found, _mm_and_si128(is_sse2(p, 'v'), is_sse2(p + 2, 'k')));
	found = _mm_or_si128(found, _mm_and_si128(is_sse2(p, 'j'), is_sse2(p + 3, 'n')));
	if (w->brackets)
		found = _mm_or_si128(found, _mm_and_si128(_mm_and_si128(is_sse2(p, '['), is_sse2(p + 5, '-')), is_sse2(p + 8, '-')));
	for (size_t i = 0; i < w->pair_count; i++)
		found = _mm_or_si128(found, _mm_and_si128(is_sse2(p, w->pairs[i][0]), is_sse2(p + 1, w->pairs[i][1])));
	return (uint32_t)_mm_movemask_epi8(found);
}

static void marks_find_sse2(struct marks *m, const char *bytes, size_t n, const struct marks_wanted *w)
{
	m->end_count = m->other_count = 0;
	for (size_t at = 0; at < n; at += STEP) {
		uint64_t ends = 0, others = 0;

		for (unsigned i = 0; i < STEP; i += 16) {
			ends |= (uint64_t)(uint32_t)_mm_movemask_epi8(is_sse2(bytes + at + i, '\n')) << i;
			others |= others_sse2(bytes + at + i, w) << i;
		}
		put_step(m, at, n, ends, others);
	}
}

void marks_find(struct marks *m, const char *bytes, size_t n, const struct marks_wanted *w)
{
	if (__builtin_cpu_supports("avx2"))
		marks_find_avx2(m, bytes, n, w);
	else
		marks_find_sse2(m, bytes, n, w);
}

#else

void marks_find(struct marks *m, const char *bytes, size_t n, const struct marks_wanted *w)
{
	marks_find_plain(m, bytes, n, w);
}

#endif
