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

/* So many bytes behind a block must be readable. */
#define MARKS_SLACK 80

struct marks {
	uint32_t *ends;		/* of line feeds, in order */
	size_t end_count, end_capacity;
	/* What may be one of: an escape, "v?k" (revok), "j??n" (rejoin), and "[????-??-" when it is asked for. */
	uint32_t *others;
	size_t other_count, other_capacity;
};

/* Finds them anew in a block of less than 4 GiB. */
void marks_find(struct marks *m, const char *bytes, size_t n, bool brackets);
void marks_free(struct marks *m);

/* The same by the plainest code, for machines without vectors, and for tests. */
void marks_find_plain(struct marks *m, const char *bytes, size_t n, bool brackets);

#endif
