/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_BASE_ARENA_H
#define AFTERSHOCK_BASE_ARENA_H

/*
 * Bump allocation: one arena for a run, one for the record at hand. Nothing is
 * freed alone, but that a large array which grows gives back what it was. Out of memory ends the program with one line on standard
 * error, so that no caller has an error path for it.
 */

#include <stddef.h>

#include "base/sv.h"

struct arena;

struct arena *arena_new(void);
/* Accepts NULL. */
void arena_free(struct arena *a);
/* Forgets all that was allocated; keeps one block for reuse. */
void arena_reset(struct arena *a);

/* n zeroed bytes, aligned for any type. */
void *arena_alloc(struct arena *a, size_t n);
/* n elements of size bytes, zeroed; ends the program when the product overflows. */
void *arena_array(struct arena *a, size_t n, size_t size);
/* A copy that lives as long as the arena, followed by a NUL outside its length. Absent stays absent. */
struct sv arena_copy(struct arena *a, struct sv s);
char *arena_strdup(struct arena *a, struct sv s);
struct sv arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * A growing array in an arena, as three members of the owner: items, count and
 * capacity. ARENA_PUSH makes room for one more and gives its address, zeroed.
 * Addresses of earlier items do not survive a push.
 */
#define ARENA_PUSH(a, items, count, capacity)                                                           \
	((items) = arena_grow((a), (items), sizeof *(items), (count), &(capacity)), &(items)[(count)++])
/* The items, with room for at least count + 1, those from count on zeroed. */
void *arena_grow(struct arena *a, void *items, size_t size, size_t count, size_t *capacity);

#endif
