/* SPDX-License-Identifier: MIT */
/* See input/identity.h. */

#include "input/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/little.h"

#define BLOCK_BYTES ((size_t)64 * 1024)
#define SAMPLES 256
#define SAMPLE_BYTES ((size_t)1024)

/* As many bytes from there as there are, up to n; -1 with errno set. */
static ssize_t read_at(int fd, void *bytes, size_t n, uint64_t at)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = pread(fd, (char *)bytes + done, n - done, (off_t)(at + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

static struct sv hex_of(struct digest *d, struct arena *a)
{
	char hex[2 * DIGEST_BYTES + 1];

	digest_hex(d, hex);
	return arena_copy(a, sv_of(hex));
}

/* Adds what lies from there on, at most so many bytes; *n is how many there were. False with errno set. */
static bool add_range(struct digest *d, int fd, uint64_t at, uint64_t most, uint64_t *n)
{
	char block[BLOCK_BYTES];

	for (*n = 0; *n < most;) {
		uint64_t left = most - *n;
		ssize_t got = read_at(fd, block, left < sizeof block ? (size_t)left : sizeof block, at + *n);

		if (got < 0)
			return false;
		if (got == 0)
			break;
		digest_add(d, block, (size_t)got);
		*n += (uint64_t)got;
	}
	return true;
}

static bool digest_samples(int fd, uint64_t size_bytes, struct digest *d)
{
	uint8_t size[8];
	uint64_t n;

	little_put64(size, size_bytes);
	digest_init(d);
	digest_add(d, size, sizeof size);
	for (uint64_t i = 0; i < SAMPLES; i++)
		if (!add_range(d, fd, size_bytes / SAMPLES * i, SAMPLE_BYTES, &n))
			return false;
	return add_range(d, fd, size_bytes - SAMPLE_BYTES, SAMPLE_BYTES, &n);
}

bool identity_of(int fd, struct arena *a, struct identity *out)
{
	struct stat status;
	struct digest d;

	if (fstat(fd, &status) != 0)
		return false;
	out->size_bytes = status.st_size > 0 ? (uint64_t)status.st_size : 0;
	out->sampled = out->size_bytes > IDENTITY_WHOLE_MOST;
	if (out->sampled) {
		if (!digest_samples(fd, out->size_bytes, &d))
			return false;
		out->digest = arena_printf(a, "sampled:%.*s", SV_ARG(hex_of(&d, a)));
	} else {
		/* Files of /proc have no size that could be asked for. */
		digest_init(&d);
		if (!add_range(&d, fd, 0, UINT64_MAX, &out->size_bytes))
			return false;
		out->digest = hex_of(&d, a);
	}
	return lseek(fd, 0, SEEK_SET) == 0;
}

struct sv identity_whole(int fd, uint64_t size_bytes, struct arena *a)
{
	struct digest d;
	uint64_t n;

	digest_init(&d);
	return add_range(&d, fd, 0, size_bytes, &n) ? hex_of(&d, a) : SV_ABSENT;
}

static enum identity_sameness compare_bytes(int fd, int other, uint64_t size_bytes)
{
	char x[BLOCK_BYTES], y[BLOCK_BYTES];

	for (uint64_t at = 0; at < size_bytes;) {
		uint64_t left = size_bytes - at;
		size_t n = left < sizeof x ? (size_t)left : sizeof x;

		if (read_at(fd, x, n, at) != (ssize_t)n || read_at(other, y, n, at) != (ssize_t)n)
			return IDENTITY_UNKNOWN;
		if (memcmp(x, y, n) != 0)
			return IDENTITY_DIFFERENT;
		at += n;
	}
	return IDENTITY_SAME;
}

enum identity_sameness identity_compare(int fd, uint64_t size_bytes, struct sv path)
{
	struct stat mine, others;
	enum identity_sameness same = IDENTITY_UNKNOWN;
	int other = sv_is_absent(path) ? -1 : open(path.p, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (other < 0)
		return IDENTITY_UNKNOWN;
	if (fstat(fd, &mine) == 0 && fstat(other, &others) == 0 && S_ISREG(others.st_mode) &&
	    (mine.st_dev != others.st_dev || mine.st_ino != others.st_ino) && (uint64_t)others.st_size == size_bytes)
		same = compare_bytes(fd, other, size_bytes);
	close(other);
	return same;
}
