/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CODING_CODING_H
#define AFTERSHOCK_INPUT_CODING_CODING_H

/*
 * One way to compress: what decode.c asks of it. A new one is one file with a
 * "const struct coding" and one row of codings in decode.c.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/sv.h"

/* Packed bytes to be read and room to be filled: a step moves both on. No bytes are left only where the file ends. */
struct coded {
	const uint8_t *in;
	size_t in_bytes;
	uint8_t *out;
	size_t out_bytes;
};

enum coding_step {
	CODING_ON,		/* went as far as bytes and room went; not at all: it breaks off here */
	CODING_MEMBER_END,	/* what follows the member is left in "in" */
	CODING_MEMBER_WRONG,	/* likewise, but it is not what its checksum says */
	CODING_DAMAGED,
};

struct coding {
	const char *name;
	/* Whether a member begins so; of what may be shorter than a member's first bytes. */
	bool (*begins)(struct sv head);
	void *(*open)(struct arena *a);
	/* Before each member. False: it cannot be read (no memory). */
	bool (*begin)(void *state);
	/* *why, a constant, when it is damaged. */
	enum coding_step (*step)(void *state, struct coded *c, const char **why);
	void (*close)(void *state);
};

extern const struct coding gzip_coding, xz_coding, zstd_coding, lz4_coding;

/* What a decoder may take for itself, whatever a file asks: four times what "xz -9" and "zstd --ultra -22" need. */
#define CODING_MEMORY_BYTES (UINT64_C(256) << 20)

/* The number of n bytes, the lowest first, as all four formats write it. */
static inline uint64_t coding_number(const uint8_t *p, size_t n)
{
	uint64_t value = 0;

	while (n-- > 0)
		value = value << 8 | p[n];
	return value;
}

#endif
