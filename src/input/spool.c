/* SPDX-License-Identifier: MIT */
/* A pipe to a file that nobody else can see and that is gone with the process. */

#include "input/spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define BLOCK_BYTES ((size_t)64 * 1024)
/* Looked at before so many bytes are written, and left free on the disk at least. */
#define CHECK_BYTES (UINT64_C(64) << 20)
#define LEFT_FREE_BYTES (UINT64_C(256) << 20)

static int open_unnamed(struct diag *diag)
{
	const char *directory = getenv("TMPDIR");
	char path[4096];
	int n = snprintf(path, sizeof path, "%s/aftershock-XXXXXX",
			 directory != NULL && directory[0] != '\0' ? directory : "/tmp");
	int fd = n > 0 && (size_t)n < sizeof path ? mkstemp(path) : -1;

	if (fd < 0 || unlink(path) != 0) {
		diag_add(diag, SEVERITY_ERROR, "input.spool", NULL, "no temporary file in %s: %s",
			 directory != NULL ? directory : "/tmp", strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

static bool has_room(int fd)
{
	struct statvfs disk;

	return fstatvfs(fd, &disk) != 0 || (uint64_t)disk.f_bavail * disk.f_frsize > LEFT_FREE_BYTES + CHECK_BYTES;
}

static int write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t written = write(fd, p, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -1;
		p += written;
		n -= (size_t)written;
	}
	return 0;
}

/* NULL, or what went wrong. */
static const char *copy(int from, int to)
{
	char block[BLOCK_BYTES];
	uint64_t unchecked = CHECK_BYTES;

	for (;;) {
		ssize_t n = read(from, block, sizeof block);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return strerror(errno);
		if (n == 0)
			return lseek(to, 0, SEEK_SET) == 0 ? NULL : strerror(errno);
		if (unchecked >= CHECK_BYTES) {
			if (!has_room(to))
				return "it would fill the disk of the temporary directory ($TMPDIR)";
			unchecked = 0;
		}
		if (write_all(to, block, (size_t)n) != 0)
			return strerror(errno);
		unchecked += (uint64_t)n;
	}
}

int spool(int from, struct diag *diag)
{
	int fd = open_unnamed(diag);
	const char *trouble = fd >= 0 ? copy(from, fd) : NULL;

	if (trouble != NULL) {
		diag_add(diag, SEVERITY_ERROR, "input.spool", NULL, "cannot be kept for reading: %s", trouble);
		close(fd);
		return -1;
	}
	return fd;
}
