/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_BASE_DIGEST_H
#define AFTERSHOCK_BASE_DIGEST_H

/*
 * BLAKE2b with 32 bytes of output (RFC 7693): the identity of an input, by
 * which the same input again adds nothing. A checksum would let two inputs
 * that were made to collide hide one another.
 */

#include <stddef.h>
#include <stdint.h>

#define DIGEST_BYTES 32

struct digest {
	uint64_t h[8];
	uint64_t total_bytes;
	uint8_t block[128];
	size_t filled;
};

void digest_init(struct digest *d);
void digest_add(struct digest *d, const void *bytes, size_t n);
/* 64 lower-case hexadecimal digits and a NUL. The digest is used up. */
void digest_hex(struct digest *d, char hex[2 * DIGEST_BYTES + 1]);

#endif
