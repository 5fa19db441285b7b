/* SPDX-License-Identifier: MIT */
/* See input/log/marks.h. */

#include "input/log/marks.h"

#include <stdlib.h>

#include "base/memory.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define ESCAPE '\x1b'

/* Bytes that are looked at together. */
#define STEP 64

/*
 * What is looked at lies in memory as it was written to the file, where it is
 * mapped: then the next lines of the cache are fetched so far ahead. Left to
 * itself the hardware waits at the start of each page.
 */
#define FETCH_BYTES 4096

static inline void fetch_ahead(const char *p)
{
	/* It may lie behind what is mapped: nothing is read. */
	__builtin_prefetch((const void *)((uintptr_t)p + FETCH_BYTES));
}

/* As many as there are bytes: what is not written to takes no memory. */
static void make_room(uint32_t **items, size_t n, size_t *capacity)
{
	if (n + STEP <= *capacity)
		return;
	*capacity = n + n / 8 + STEP;
	free(*items);
	*items = memory_checked(malloc(*capacity * sizeof **items));
}

static void begin(struct marks *m, size_t n)
{
	make_room(&m->ends, n, &m->end_capacity);
	make_room(&m->others, n, &m->other_capacity);
	m->end_count = m->other_count = 0;
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

/* The bits of a step that are in the block. */
static inline uint64_t inside(size_t at, size_t n)
{
	return n - at < STEP ? (UINT64_C(1) << (n - at)) - 1 : UINT64_MAX;
}

/* What one step sees. */
struct step {
	uint64_t ends, others;
	uint64_t brackets;
};

/* Bracketed dates, but for those that begin a line. begins: the step begins one. */
static inline uint64_t later_brackets(const struct step *s, bool begins)
{
	return s->brackets & ~(s->ends << 1 | begins);
}

static void put_step(struct marks *m, size_t at, size_t n, const struct step *s, bool *begins)
{
	const uint64_t others = s->others | later_brackets(s, *begins);

	*begins = s->ends >> (STEP - 1) != 0;
	m->end_count = put_bits(m->ends, m->end_count, (uint32_t)at, s->ends & inside(at, n));
	m->other_count = put_bits(m->others, m->other_count, (uint32_t)at, others & inside(at, n));
}

static bool is_wanted(const char *p, const struct marks_wanted *w)
{
	for (size_t i = 0; i < w->pair_count; i++)
		if (p[0] == w->pairs[i][0] && p[1] == w->pairs[i][1])
			return true;
	return false;
}

static bool is_other(const char *p, const struct marks_wanted *w)
{
	return p[0] == ESCAPE || (unsigned char)p[0] <= MARKS_NOISE_MOST || ((p[0] == 'v' || p[0] == 'j') && p[1] == 'o') ||
	       is_wanted(p, w);
}

static void find_plain(struct marks *m, const char *bytes, size_t n, const struct marks_wanted *w)
{
	bool begins = true;

	begin(m, n);
	for (size_t at = 0; at < n; at += STEP) {
		struct step s = { 0 };

		for (unsigned i = 0; i < STEP; i++) {
			const char *p = bytes + at + i;

			s.ends |= (uint64_t)(p[0] == '\n') << i;
			s.others |= (uint64_t)is_other(p, w) << i;
			s.brackets |= (uint64_t)(w->brackets && p[0] == '[' && p[5] == '-' && p[8] == '-') << i;
		}
		put_step(m, at, n, &s, &begins);
	}
}

#if defined(__x86_64__)

/* ---- 32 bytes at once ---- */

#define AVX2 __attribute__((target("avx2,bmi,popcnt")))
#define INLINE_AVX2 static inline __attribute__((always_inline, target("avx2,bmi,popcnt")))

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
}

/* Two bytes, one behind the other. */
struct pair_avx2 {
	__m256i first, second;
};

struct needles_avx2 {
	__m256i feed, escape, noise, bracket, dash;
	__m256i v, j, o;	/* "vo" and "jo" */
	bool brackets;
	size_t pair_count;
	struct pair_avx2 pairs[MARKS_PAIRS_MAX];
};

INLINE_AVX2 __m256i is_avx2(const char *p, __m256i needle)
{
	__m256i v;

	memcpy(&v, p, sizeof v);
	return _mm256_cmpeq_epi8(v, needle);
}

/* Bytes up to the needle. */
INLINE_AVX2 __m256i is_most_avx2(const char *p, __m256i needle)
{
	__m256i v;

	memcpy(&v, p, sizeof v);
	return _mm256_cmpeq_epi8(_mm256_min_epu8(v, needle), v);
}

/* Inlined with constants, so that what is not wanted costs nothing. */
INLINE_AVX2 __m256i others_avx2(const char *p, const struct needles_avx2 *needles, size_t pair_count)
{
	const __m256i words = _mm256_and_si256(_mm256_or_si256(is_avx2(p, needles->v), is_avx2(p, needles->j)), is_avx2(p + 1, needles->o));
	__m256i found = _mm256_or_si256(_mm256_or_si256(is_avx2(p, needles->escape), is_most_avx2(p, needles->noise)), words);

	for (size_t i = 0; i < pair_count; i++) {
		const struct pair_avx2 *pair = &needles->pairs[i];

		found = _mm256_or_si256(found, _mm256_and_si256(is_avx2(p, pair->first), is_avx2(p + 1, pair->second)));
	}
	return found;
}

INLINE_AVX2 __m256i brackets_avx2(const char *p, const struct needles_avx2 *needles)
{
	return _mm256_and_si256(_mm256_and_si256(is_avx2(p, needles->bracket), is_avx2(p + 5, needles->dash)),
				is_avx2(p + 8, needles->dash));
}

INLINE_AVX2 uint64_t mask_avx2(__m256i low, __m256i high)
{
	return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

/*
 * As put_bits, where mostly none, one or two are set: how many nothing foretells.
 * Two are written in any case, and count if they are there.
 */
INLINE_AVX2 size_t put_few_bits(uint32_t *items, size_t count, uint32_t base, uint64_t bits)
{
	const size_t n = (size_t)_mm_popcnt_u64(bits);
	const uint64_t behind = _blsr_u64(bits);

	items[count] = base + (uint32_t)_tzcnt_u64(bits);
	items[count + 1] = base + (uint32_t)_tzcnt_u64(behind);
	if (__builtin_expect(n > 2, 0))
		put_bits(items, count + 2, base, _blsr_u64(behind));
	return count + n;
}

INLINE_AVX2 void step_avx2(struct marks *m, const char *bytes, size_t at, uint64_t in, const struct needles_avx2 *needles, bool brackets,
			   size_t pair_count, bool *begins)
{
	const char *p = bytes + at;
	const __m256i low = others_avx2(p, needles, pair_count), high = others_avx2(p + 32, needles, pair_count);
	const __m256i any = _mm256_or_si256(low, high);
	fetch_ahead(p);
	struct step s = { .ends = mask_avx2(is_avx2(p, needles->feed), is_avx2(p + 32, needles->feed)) };
	uint64_t later = 0;

	if (brackets) {
		s.brackets = mask_avx2(brackets_avx2(p, needles), brackets_avx2(p + 32, needles));
		later = later_brackets(&s, *begins);
		*begins = s.ends >> (STEP - 1) != 0;
	}
	m->end_count = put_few_bits(m->ends, m->end_count, (uint32_t)at, s.ends & in);
	if (__builtin_expect(!_mm256_testz_si256(any, any) || later != 0, 0))
		m->other_count = put_bits(m->others, m->other_count, (uint32_t)at, (mask_avx2(low, high) | later) & in);
}

INLINE_AVX2 void look_avx2(struct marks *m, const char *bytes, size_t n, const struct needles_avx2 *needles, bool brackets,
			   size_t pair_count)
{
	const size_t whole = n - n % STEP;
	struct marks found = *m;
	bool begins = true;

	for (size_t at = 0; at < whole; at += STEP)
		step_avx2(&found, bytes, at, UINT64_MAX, needles, brackets, pair_count, &begins);
	if (whole < n)
		step_avx2(&found, bytes, whole, inside(whole, n), needles, brackets, pair_count, &begins);
	*m = found;
}

/* Needles that are made elsewhere are kept in registers; those that are seen to be constants gcc 12 makes anew in each step. */
#define LOOK_AVX2(name, brackets, pair_count)                                                                          \
	AVX2 __attribute__((noinline)) static void name(struct marks *m, const char *bytes, size_t n,                  \
							const struct needles_avx2 *needles)                            \
	{                                                                                                              \
		look_avx2(m, bytes, n, needles, brackets, pair_count);                                                 \
	}
LOOK_AVX2(look_at_few, false, 0)
LOOK_AVX2(look_at_brackets, true, 0)
LOOK_AVX2(look_at_all, needles->brackets, needles->pair_count)

AVX2 static void find_avx2(struct marks *m, const char *bytes, size_t n, const struct marks_wanted *w)
{
	struct needles_avx2 needles = {
		.feed = _mm256_set1_epi8('\n'), .escape = _mm256_set1_epi8(ESCAPE),
		.noise = _mm256_set1_epi8(MARKS_NOISE_MOST),
		.bracket = _mm256_set1_epi8('['), .dash = _mm256_set1_epi8('-'),
		.v = _mm256_set1_epi8('v'), .j = _mm256_set1_epi8('j'), .o = _mm256_set1_epi8('o'),
		.brackets = w->brackets, .pair_count = w->pair_count,
	};

	for (size_t i = 0; i < w->pair_count; i++)
		needles.pairs[i] = (struct pair_avx2){ _mm256_set1_epi8(w->pairs[i][0]), _mm256_set1_epi8(w->pairs[i][1]) };
	begin(m, n);
	if (w->pair_count > 0)
		look_at_all(m, bytes, n, &needles);
	else if (w->brackets)
		look_at_brackets(m, bytes, n, &needles);
	else
		look_at_few(m, bytes, n, &needles);
}

/* ---- 16 bytes at once: every x86-64 has it ---- */

static inline __m128i is_sse2(const char *p, char c)
{
	__m128i v;

	memcpy(&v, p, sizeof v);
	return _mm_cmpeq_epi8(v, _mm_set1_epi8(c));
}

static inline __m128i is_most_sse2(const char *p, char most)
{
	__m128i v;

	memcpy(&v, p, sizeof v);
	return _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(most)), v);
}

static inline uint64_t others_sse2(const char *p, const struct marks_wanted *w)
{
	__m128i found = _mm_or_si128(is_sse2(p, ESCAPE), is_most_sse2(p, MARKS_NOISE_MOST));

	found = _mm_or_si128(found, _mm_and_si128(_mm_or_si128(is_sse2(p, 'v'), is_sse2(p, 'j')), is_sse2(p + 1, 'o')));
	for (size_t i = 0; i < w->pair_count; i++)
		found = _mm_or_si128(found, _mm_and_si128(is_sse2(p, w->pairs[i][0]), is_sse2(p + 1, w->pairs[i][1])));
	return (uint32_t)_mm_movemask_epi8(found);
}

static inline uint64_t brackets_sse2(const char *p)
{
	const __m128i dashes = _mm_and_si128(is_sse2(p + 5, '-'), is_sse2(p + 8, '-'));

	return (uint32_t)_mm_movemask_epi8(_mm_and_si128(is_sse2(p, '['), dashes));
}

static void find_sse2(struct marks *m, const char *bytes, size_t n, const struct marks_wanted *w)
{
	bool begins = true;

	begin(m, n);
	for (size_t at = 0; at < n; at += STEP) {
		struct step s = { 0 };

		fetch_ahead(bytes + at);
		for (unsigned i = 0; i < STEP; i += 16) {
			const char *p = bytes + at + i;

			s.ends |= (uint64_t)(uint32_t)_mm_movemask_epi8(is_sse2(p, '\n')) << i;
			s.others |= others_sse2(p, w) << i;
			s.brackets |= w->brackets ? brackets_sse2(p) << i : 0;
		}
		put_step(m, at, n, &s, &begins);
	}
}

#endif

size_t marks_pair_at(const char *bytes, size_t n, const char pair[2])
{
	for (size_t at = 0; at < n; at += STEP) {
		const uint64_t found = marks_of(bytes + at, pair[0]) & marks_of(bytes + at + 1, pair[1]);

		if (found == 0)
			continue;
		at += (unsigned)__builtin_ctzll(found);
		return at < n ? at : n;
	}
	return n;
}

/* ---- which ---- */

static bool always(void)
{
	return true;
}

/* The slowest first. */
static const struct way {
	bool (*is_there)(void);
	void (*find)(struct marks *m, const char *bytes, size_t n, const struct marks_wanted *w);
} ways[] = {
	{ always, find_plain },
#if defined(__x86_64__)
	{ always, find_sse2 },
	{ has_avx2, find_avx2 },
#endif
};

size_t marks_way_count(void)
{
	size_t n = sizeof ways / sizeof ways[0];

	while (!ways[n - 1].is_there())
		n--;
	return n;
}

void marks_find_by(size_t way, struct marks *m, const char *bytes, size_t n, const struct marks_wanted *w)
{
	ways[way].find(m, bytes, n, w);
	m->ends[m->end_count] = MARKS_NO_END;
}

void marks_find(struct marks *m, const char *bytes, size_t n, const struct marks_wanted *w)
{
	marks_find_by(marks_way_count() - 1, m, bytes, n, w);
}
