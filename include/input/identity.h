/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_IDENTITY_H
#define AFTERSHOCK_INPUT_IDENTITY_H

/*
 * By what a file is known again. The digest of all its bytes takes longer than
 * reading the log that is in them, so that of a large file is of its size and of
 * samples: its start, its end, and some hundred places between. What has the
 * samples of an earlier input is compared with it byte by byte, if that is
 * still there.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/sv.h"

/* Larger files are sampled. */
#define IDENTITY_WHOLE_MOST (UINT64_C(16) << 20)

struct identity {
	struct sv digest;	/* hexadecimal; "sampled:" before one of samples */
	uint64_t size_bytes;
	bool sampled;
};

/* Of what fd, a regular file, holds. It stands at its start then. False with errno set. */
bool identity_of(int fd, struct arena *a, struct identity *out);
/* The digest of all of so many bytes. Absent when it cannot be read. */
struct sv identity_whole(int fd, uint64_t size_bytes, struct arena *a);

enum identity_sameness {
	IDENTITY_UNKNOWN,	/* the other is not there, or not as it was, or it is this very file */
	IDENTITY_SAME,
	IDENTITY_DIFFERENT,
};
/* Whether the file at the path (a NUL follows) holds the same so many bytes. */
enum identity_sameness identity_compare(int fd, uint64_t size_bytes, struct sv path);

#endif
