/* SPDX-License-Identifier: MIT */
/* Bump allocation. See base/arena.h. */

#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)64 * 1024)
#define ALIGNMENT _Alignof(max_align_t)

struct block {
	struct block *next;
	size_t used, size;
	max_align_t bytes[];
};

struct arena {
	struct block *blocks; /* the newest first */
};

static void out_of_memory(void)
{
	fputs("aftershock: out of memory\n", stderr);
	exit(1);
}

static struct block *block_new(size_t size, struct block *next)
{
	if (size > SIZE_MAX - sizeof(struct block))
		out_of_memory();
	struct block *b = malloc(sizeof *b + size);
	if (b == NULL)
		out_of_memory();
	b->next = next;
	b->used = 0;
	b->size = size;
	return b;
}

struct arena *arena_new(void)
{
	struct arena *a = malloc(sizeof *a);
	if (a == NULL)
		out_of_memory();
	a->blocks = block_new(BLOCK_BYTES, NULL);
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
	free(a);
}

void arena_reset(struct arena *a)
{
	/* A block made for one large piece is not worth keeping. */
	struct block *last = a->blocks;
	while (last->next != NULL) {
		struct block *next = last->next;
		free(last);
		last = next;
	}
	last->used = 0;
	a->blocks = last;
}

void *arena_alloc(struct arena *a, size_t n)
{
	struct block *b = a->blocks;
	if (n > SIZE_MAX - ALIGNMENT)
		out_of_memory();
	n = (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (n > b->size - b->used) {
		b = block_new(n > BLOCK_BYTES ? n : BLOCK_BYTES, a->blocks);
		a->blocks = b;
	}
	void *piece = (char *)b->bytes + b->used;
	b->used += n;
	return memset(piece, 0, n);
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
	if (size != 0 && n > SIZE_MAX / size)
		out_of_memory();
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

void *arena_grow(struct arena *a, void *items, size_t size, size_t count, size_t *capacity)
{
	if (count < *capacity)
		return items;
	size_t more = *capacity == 0 ? 8 : *capacity * 2;
	void *moved = arena_array(a, more, size);
	if (count > 0)
		memcpy(moved, items, count * size);
	*capacity = more;
	return moved;
}
