/* SPDX-License-Identifier: MIT */
/*
 * The ways of looking at a block for q-grams: one by products, which every
 * machine has, and one that looks up eight places at once where there are
 * vectors. Places whose cell is set are written down without a branch, for most
 * of the time that is lost is lost at branches that nothing foretells; they are
 * looked at closer when a chunk has been passed, while the first cache has it.
 */

#include "input/log/filter_way.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define CHUNK_STEPS 256

/* ---- by products: four places a step ---- */

#define PLACES 4
/* Few q-grams get a byte each, which is a step less to look up; many get a bit. */
#define BYTES_MOST 400
#define BYTES_LOG2 15
#define BITS_LOG2 18

static bool always(void)
{
	return true;
}

/* Measured. Longer q-grams are rarer, wider strides are fewer looks. */
static struct filter_steps product_steps(size_t literal_bytes)
{
	static const struct choice {
		size_t least;
		struct filter_steps steps;
	} choices[] = {
		{ 15, { 8, 8 } }, { 14, { 8, 7 } }, { 13, { 8, 6 } }, { 12, { 8, 5 } }, { 11, { 8, 4 } }, { 10, { 6, 5 } },
		{ 9, { 6, 4 } },  { 8, { 5, 4 } },  { 7, { 4, 4 } },  { 6, { 4, 3 } },	{ 5, { 4, 2 } },  { 4, { 4, 1 } },
	};
	size_t i = 0;

	while (choices[i].least > literal_bytes)
		i++;
	return choices[i].steps;
}

static unsigned product_cells_log2(size_t set)
{
	return set > BYTES_MOST ? BITS_LOG2 : BYTES_LOG2;
}

/* Bytes behind the q-gram are shifted out. */
static inline uint64_t product_factor(const struct filter_table *t)
{
	return UINT64_C(0x9e3779b97f4a7c15) << (64 - 8 * t->steps.gram_bytes);
}

static size_t product_cell_of(const struct filter_table *t, uint64_t bytes)
{
	return bytes * product_factor(t) >> (64 - t->cells_log2);
}

static void product_set(struct filter_table *t, size_t cell)
{
	if (t->cells_log2 == BITS_LOG2)
		t->cells[cell / 8] |= (uint8_t)(1u << cell % 8);
	else
		t->cells[cell] = 1;
}

/* In the lowest bit. */
static inline unsigned product_cell(const uint8_t *cells, uint64_t product, bool bits)
{
	return bits ? (unsigned)cells[product >> 49] >> (product >> 46 & 7) : cells[product >> 49];
}

/* Inlined with constants: one loop for each stride and table. */
static inline __attribute__((always_inline)) void product_chunk(const struct filter_table *t, const char *bytes, size_t at, size_t end,
								 uint32_t *found, size_t *found_count, size_t stride, bool bits)
{
	const uint8_t *cells = t->cells;
	const uint64_t factor = product_factor(t);
	size_t count = 0;

	for (; at < end; at += PLACES * stride) {
		const char *p = bytes + at;
		unsigned any = product_cell(cells, filter_load(p) * factor, bits);

		any |= product_cell(cells, filter_load(p + stride) * factor, bits);
		any |= product_cell(cells, filter_load(p + 2 * stride) * factor, bits);
		any |= product_cell(cells, filter_load(p + 3 * stride) * factor, bits);
		found[count] = (uint32_t)at;
		count += any & 1;
	}
	*found_count = count;
}

/* The places whose cells are set, of the steps that have one. */
static size_t product_places(const struct filter_table *t, const char *bytes, size_t n, const uint32_t *found, size_t found_count,
			     uint32_t *places)
{
	const bool bits = t->cells_log2 == BITS_LOG2;
	size_t count = 0;

	for (size_t i = 0; i < found_count; i++) {
		for (size_t k = 0; k < PLACES; k++) {
			const size_t at = found[i] + k * t->steps.stride;
			const uint64_t product = filter_load(bytes + at) * product_factor(t);

			if (at < n && (product_cell(t->cells, product, bits) & 1) != 0)
				places[count++] = (uint32_t)at;
		}
	}
	return count;
}

static void product_run(const struct filter *f, const struct filter_table *t, const char *bytes, size_t n, struct filter_hits *out)
{
	const size_t stride = t->steps.stride, chunk = CHUNK_STEPS * PLACES * stride;
	const bool bits = t->cells_log2 == BITS_LOG2;
	uint32_t places[CHUNK_STEPS * PLACES];
	uint32_t found[CHUNK_STEPS + 1];
	size_t count = 0;

	for (size_t at = 0; at < n; at += chunk) {
		size_t end = n - at < chunk ? n : at + chunk;

		switch (stride) {
#define CASE(s)                                                                        \
	case s:                                                                        \
		if (bits)                                                              \
			product_chunk(t, bytes, at, end, found, &count, s, true);      \
		else                                                                   \
			product_chunk(t, bytes, at, end, found, &count, s, false);     \
		break;
		CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
#undef CASE
		default:
			break;
		}
		count = product_places(t, bytes, n, found, count, places);
		filter_verify(f, bytes, n, places, count, out);
	}
}

/* ---- by sums of products: 32 places and more a step ---- */

#if defined(__x86_64__)

#define AVX2 __attribute__((target("avx2")))
#define INLINE_AVX2 static inline __attribute__((always_inline, target("avx2")))

#define STEP 128
/* Odd ones of 15 bits, drawn. */
#define FACTOR_0 0x6b43
#define FACTOR_1 0x52f7
#define FACTOR_2 0x3cb5
#define FACTOR_3 0x7a2d

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

/* A vector's 32 bits are a place each: strides that divide these. */
static struct filter_steps sum_steps(size_t literal_bytes)
{
	unsigned stride = literal_bytes >= 7 ? 4 : literal_bytes >= 5 ? 2 : 1;
	size_t longest = literal_bytes + 1 - stride;

	return (struct filter_steps){ longest < 8 ? (unsigned)longest : 8, stride };
}

/* A bit each, in half of the first cache: the block streams through the other half. Many q-grams take more. */
#define SUM_CELLS_LOG2 17
#define SUM_FEW 600

static unsigned sum_cells_log2(size_t set)
{
	return set > SUM_FEW ? BITS_LOG2 : SUM_CELLS_LOG2;
}

/* The last four bytes of a q-gram begin so far behind its first four, which they may overlap. */
static unsigned sum_tail_at(const struct filter_table *t)
{
	return t->steps.gram_bytes - 4;
}

static uint32_t sum_of_four(uint64_t bytes, int32_t low, int32_t high)
{
	return (uint32_t)((int16_t)(uint16_t)bytes * low) + (uint32_t)((int16_t)(uint16_t)(bytes >> 16) * high);
}

/*
 * What pmaddwd and paddd give: the lowest bits of the sum but two say which word of
 * the table, where they stand as a number of bytes, and the highest five which of
 * its bits. Others are mixed better, and take more to get at.
 */
#define SUM_BIT_SHIFT 27

static uint32_t sum_words(const struct filter_table *t)
{
	return (UINT32_C(1) << (t->cells_log2 - 3)) - 4;
}

static size_t sum_cell(const struct filter_table *t, uint64_t bytes)
{
	const uint32_t sum = sum_of_four(bytes, FACTOR_0, FACTOR_1) + sum_of_four(bytes >> 8 * sum_tail_at(t), FACTOR_2, FACTOR_3);

	return (size_t)(sum & sum_words(t)) << 3 | sum >> SUM_BIT_SHIFT;
}

/* A word of 32 bits, of which the highest is the first. */
static void sum_set(struct filter_table *t, size_t cell)
{
	((uint32_t *)(void *)t->cells)[cell / 32] |= UINT32_C(0x80000000) >> cell % 32;
}

struct sum_constants {
	size_t tail_at;
	__m256i first, second, words;
};

/* Eight places, four bytes apart: the highest bit of each is that of its cell. */
INLINE_AVX2 __m256i sum_cells(const uint8_t *cells, const char *p, const struct sum_constants *c)
{
	__m256i head, tail, sum, words;

	memcpy(&head, p, sizeof head);
	memcpy(&tail, p + c->tail_at, sizeof tail);
	sum = _mm256_add_epi32(_mm256_madd_epi16(head, c->first), _mm256_madd_epi16(tail, c->second));
	words = _mm256_i32gather_epi32((const int *)(const void *)cells, _mm256_and_si256(sum, c->words), 1);
	return _mm256_sllv_epi32(words, _mm256_srli_epi32(sum, SUM_BIT_SHIFT));
}

/* A bit for each of 32 places: packed, so that the first halves of the four vectors come first (sum_ordered). */
INLINE_AVX2 uint32_t sum_places_of(const uint8_t *cells, const char *p, const struct sum_constants *c)
{
	const __m256i low = _mm256_packs_epi32(sum_cells(cells, p, c), sum_cells(cells, p + 32, c));
	const __m256i high = _mm256_packs_epi32(sum_cells(cells, p + 64, c), sum_cells(cells, p + 96, c));

	return (uint32_t)_mm256_movemask_epi8(_mm256_packs_epi16(low, high));
}

/* Sixteen bits, four by four, with room for four behind each. */
static inline uint32_t sum_spread(uint32_t x)
{
	x = (x | x << 8) & 0x00ff00ff;
	return (x | x << 4) & 0x0f0f0f0f;
}

/* The same bits in the order of the places. */
static inline uint32_t sum_ordered(uint32_t places)
{
	return sum_spread(places & 0xffff) | sum_spread(places >> 16) << 4;
}

/* What was found in a step: of the places that are so many bytes behind those that four divides. */
struct sum_found {
	size_t at;
	uint32_t places[4];
};

INLINE_AVX2 size_t sum_look(const struct filter_table *t, const char *bytes, size_t at, size_t end, struct sum_found *found,
			    size_t stride)
{
	const struct sum_constants c = {
		sum_tail_at(t),
		_mm256_set1_epi32(FACTOR_1 << 16 | FACTOR_0), _mm256_set1_epi32(FACTOR_3 << 16 | FACTOR_2),
		_mm256_set1_epi32((int)sum_words(t)),
	};
	const uint8_t *cells = t->cells;
	size_t count = 0;

	for (; at < end; at += STEP) {
		uint32_t any = 0;

		found[count].at = at;
		for (size_t k = 0; k < 4; k += stride)
			any |= found[count].places[k] = sum_places_of(cells, bytes + at + k, &c);
		count += any != 0;
	}
	return count;
}

/* The places of a step in their order. */
static size_t sum_places(const struct filter_table *t, size_t n, const struct sum_found *found, uint32_t *places)
{
	const size_t stride = t->steps.stride;
	uint32_t ordered[4], any = 0;
	size_t count = 0;

	for (size_t k = 0; k < 4; k += stride)
		any |= ordered[k] = sum_ordered(found->places[k]);
	for (; any != 0; any &= any - 1) {
		const unsigned i = (unsigned)__builtin_ctz(any);

		for (size_t k = 0; k < 4; k += stride) {
			const size_t at = found->at + 4 * i + k;

			places[count] = (uint32_t)at;
			count += (ordered[k] >> i & 1) != 0 && at < n;
		}
	}
	return count;
}

AVX2 static size_t sum_chunk(const struct filter_table *t, const char *bytes, size_t at, size_t end, struct sum_found *found)
{
	if (t->steps.stride == 4)
		return sum_look(t, bytes, at, end, found, 4);
	return t->steps.stride == 2 ? sum_look(t, bytes, at, end, found, 2) : sum_look(t, bytes, at, end, found, 1);
}

static void sum_run(const struct filter *f, const struct filter_table *t, const char *bytes, size_t n, struct filter_hits *out)
{
	uint32_t places[CHUNK_STEPS + STEP + 1];
	struct sum_found found[CHUNK_STEPS + 1];
	const size_t chunk = CHUNK_STEPS * STEP;

	for (size_t at = 0; at < n; at += chunk) {
		const size_t found_count = sum_chunk(t, bytes, at, n - at < chunk ? n : at + chunk, found);
		size_t count = 0;

		for (size_t i = 0; i < found_count; i++) {
			count += sum_places(t, n, &found[i], places + count);
			if (count < CHUNK_STEPS)
				continue;
			filter_verify(f, bytes, n, places, count, out);
			count = 0;
		}
		filter_verify(f, bytes, n, places, count, out);
	}
}

#endif

const struct filter_way filter_ways[FILTER_WAYS] = {
	{ always, product_steps, product_cells_log2, product_cell_of, product_set, product_run },
#if defined(__x86_64__)
	{ has_avx2, sum_steps, sum_cells_log2, sum_cell, sum_set, sum_run },
#endif
};
