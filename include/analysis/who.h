/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_WHO_H
#define AFTERSHOCK_ANALYSIS_WHO_H

/*
 * Which of many items are about somebody, as cause_is_of says (episode.h): by
 * member id where both are known, else by client id and host, which may lack and
 * may not differ. To hold each who came against all who went costs the square of
 * them when a whole group goes and comes back at once.
 *
 * Items are numbers that rise: places in an array, of what the owner likes.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct who {
	struct sv member, client, host;	/* absent or empty when not known */
};

struct who_list {
	size_t *items;	/* rising */
	size_t count, capacity;
};

/* Lists of items by all that they can be found by. All zero but for the arena: empty. */
struct who_index {
	struct arena *arena;
	struct who_slot *slots;
	size_t size;	/* a power of two, or 0; at most half full */
	size_t count;
};

/* Of one that was added before more may be known by now: it stays in the lists of what was known. */
void who_add(struct who_index *ix, struct who who, size_t item);

/* Together they hold the items that are about one. */
#define WHO_LISTS_MAX 4
struct who_found {
	struct who_list *lists[WHO_LISTS_MAX];
	size_t count;
};

/* Valid until the next addition. */
struct who_found who_find(const struct who_index *ix, struct who sought);
/* The least of them at or above from; false when there is none. */
bool who_next(const struct who_found *found, size_t from, size_t *item);
/* The greatest of them below that; false when there is none. */
bool who_before(const struct who_found *found, size_t below, size_t *item);
/* It is of no use any more: takes it out of those lists in which it is the first or the last. */
void who_drop(const struct who_found *found, size_t item);

#endif
