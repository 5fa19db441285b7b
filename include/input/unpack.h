/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_UNPACK_H
#define AFTERSHOCK_INPUT_UNPACK_H

/*
 * Archives (tar, zip) and compressed files (gzip, bzip2, xz, zstd, lz4), each
 * format by name: libarchive knows many more, and each is code that hostile
 * bytes can reach. Nothing is ever written to disk.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "input/stream.h"

/* What one file may unpack to, counted over its members and what is packed inside them. */
struct unpack_budget {
	uint64_t stored_bytes;	/* of the file */
	uint64_t unpacked_bytes;
	uint64_t members;
};
/* Beyond the grace so many times the stored size is refused: text compresses 10 to 200 times, bombs 1000 and more. */
#define UNPACK_RATIO_MAX 1000
#define UNPACK_GRACE_BYTES (UINT64_C(64) << 20)
#define UNPACK_BYTES_MAX (UINT64_C(256) << 30)
#define UNPACK_MEMBERS_MAX 100000

struct unpack_options {
	struct unpack_budget *budget;
	struct diag *diag;	/* for damage inside members: codes input.damaged, input.bomb */
	struct arena *arena;	/* for what lives as long as the unpacking */
};

struct unpack;

struct unpack_member {
	struct sv name;		/* without "./"; absent for the content of a compressed file that is no archive */
	struct stream *stream;	/* until the next call */
	bool has_size;
	uint64_t size_bytes;
	bool has_modified;
	int64_t modified_s;	/* since 1970 */
};

/* By magic bytes and the checksum of a tar header, never by name. */
bool unpack_is_packed(struct sv head);

/* fd stands at its start and remains the caller's. Trouble shows at the first unpack_next. */
struct unpack *unpack_fd(int fd, const struct unpack_options *o);
struct unpack *unpack_stream(struct stream *s, const struct unpack_options *o);
/*
 * The next member that is a file. Its stream lives in member, an arena that the
 * caller resets between members. 1, 0 at the end, -1 when no more can be read:
 * unpack_problem says why.
 */
int unpack_next(struct unpack *u, struct arena *member, struct unpack_member *out);
/* The code for diag in *code, and the words. */
const char *unpack_problem(const struct unpack *u, const char **code);
/* Accepts NULL. */
void unpack_close(struct unpack *u);

#endif
