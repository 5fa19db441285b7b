/* SPDX-License-Identifier: MIT */
/* Bump allocation. See base/arena.h. */

#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define BLOCK_BYTES ((size_t)64 * 1024)
#define ALIGNMENT _Alignof(max_align_t)

struct block {
	struct block *next;
	size_t used, size;
	max_align_t bytes[];
};

struct arena {
	struct block *blocks; /* the newest first */
	struct block *large; /* each of one piece that is larger than a block; the newest first */
};

/* Of a block with so many bytes in it. */
static size_t block_bytes(size_t size)
{
	if (size > SIZE_MAX - sizeof(struct block))
		memory_exhausted();
	return sizeof(struct block) + size;
}

static struct block *block_init(void *memory, size_t size, struct block *next)
{
	struct block *b = memory_checked(memory);
	b->next = next;
	b->used = 0;
	b->size = size;
	return b;
}

static struct block *block_of_many(struct block *next)
{
	return block_init(malloc(block_bytes(BLOCK_BYTES)), BLOCK_BYTES, next);
}

/*
 * Zeroed: what is new from the system is so already, and costs nothing until
 * it is touched. Rooms and tables for the worst case mostly are not, in full.
 */
static struct block *block_of_one(size_t size, struct block *next)
{
	return block_init(calloc(1, block_bytes(size)), size, next);
}

struct arena *arena_new(void)
{
	struct arena *a = memory_checked(malloc(sizeof *a));
	a->blocks = block_of_many(NULL);
	a->large = NULL;
	return a;
}

static void free_blocks(struct block *b)
{
	while (b != NULL) {
		struct block *next = b->next;
		free(b);
		b = next;
	}
}

void arena_free(struct arena *a)
{
	if (a == NULL)
		return;
	free_blocks(a->blocks);
	free_blocks(a->large);
	free(a);
}

void arena_reset(struct arena *a)
{
	struct block *kept = a->blocks;

	free_blocks(kept->next);
	free_blocks(a->large);
	kept->next = NULL;
	kept->used = 0;
	a->large = NULL;
}

static size_t aligned(size_t n)
{
	if (n > SIZE_MAX - ALIGNMENT)
		memory_exhausted();
	return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void *arena_alloc(struct arena *a, size_t n)
{
	n = aligned(n);
	if (n > BLOCK_BYTES) {
		a->large = block_of_one(n, a->large);
		return a->large->bytes;
	}
	if (n > a->blocks->size - a->blocks->used)
		a->blocks = block_of_many(a->blocks);
	void *piece = (char *)a->blocks->bytes + a->blocks->used;
	a->blocks->used += n;
	return memset(piece, 0, n);
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
	if (size != 0 && n > SIZE_MAX / size)
		memory_exhausted();
	return arena_alloc(a, n * size);
}

struct sv arena_copy(struct arena *a, struct sv s)
{
	return s.p == NULL ? SV_ABSENT : (struct sv){ arena_strdup(a, s), s.n };
}

char *arena_strdup(struct arena *a, struct sv s)
{
	char *copy = arena_alloc(a, s.n + 1);
	if (s.n > 0)
		memcpy(copy, s.p, s.n);
	return copy;
}

struct sv arena_printf(struct arena *a, const char *format, ...)
{
	va_list list, again;
	va_start(list, format);
	va_copy(again, list);
	int n = vsnprintf(NULL, 0, format, list);
	va_end(list);
	struct sv out = SV(""); /* vsnprintf fails on an encoding error alone, which no caller's format can cause */
	if (n > 0) {
		char *text = arena_alloc(a, (size_t)n + 1);
		vsnprintf(text, (size_t)n + 1, format, again);
		out = (struct sv){ text, (size_t)n };
	}
	va_end(again);
	return out;
}

/* Where the block of a large piece hangs; NULL when the piece is not a large one. */
static struct block **large_of(struct arena *a, const void *piece)
{
	struct block **at = &a->large;

	while (*at != NULL && (const void *)(*at)->bytes != piece)
		at = &(*at)->next;
	return *at == NULL ? NULL : at;
}

/* What an array of millions leaves behind each time it grows would be as much again. */
static void *grow_large(struct block **at, size_t n)
{
	struct block *b = *at;
	size_t before = b->size;

	n = aligned(n);
	b = memory_checked(realloc(b, block_bytes(n)));
	*at = b;
	b->size = n;
	memset((char *)b->bytes + before, 0, n - before);
	return b->bytes;
}

void *arena_grow(struct arena *a, void *items, size_t size, size_t count, size_t *capacity)
{
	if (count < *capacity)
		return items;
	size_t more = *capacity == 0 ? 8 : *capacity * 2;
	if (size != 0 && more > SIZE_MAX / size)
		memory_exhausted();
	struct block **large = *capacity * size > BLOCK_BYTES ? large_of(a, items) : NULL;
	*capacity = more;
	if (large != NULL)
		return grow_large(large, more * size);
	void *moved = arena_alloc(a, more * size);
	if (count > 0)
		memcpy(moved, items, count * size);
	return moved;
}
