/* SPDX-License-Identifier: MIT */
/* The file of samples. See cli/probe_file.h. */

#include "cli/probe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const struct probe_file *f, struct diag *d, const char *what)
{
	diag_add(d, SEVERITY_ERROR, "output.unwritable", NULL, "%s cannot be %s: %s", f->path, what, strerror(errno));
	return -1;
}

static bool is_probe_file(int fd)
{
	char head[sizeof PROBE_SIGNATURE - 1];

	return pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head && memcmp(head, PROBE_SIGNATURE, sizeof head) == 0;
}

/* A probe that was killed may have left half a line: the next begins on one of its own. */
static int end_torn_line(struct probe_file *f, struct diag *d)
{
	char last;

	if (pread(f->fd, &last, 1, f->size_bytes - 1) != 1)
		return fail(f, d, "read");
	return last == '\n' ? 0 : probe_file_write(f, SV("\n"), d);
}

int probe_file_open(struct probe_file *f, const char *path, struct diag *d)
{
	struct stat st;

	*f = (struct probe_file){ .fd = -1, .path = path };
	if (strcmp(path, "-") == 0) {
		f->path = "standard output";
		f->fd = STDOUT_FILENO;
		return 0;
	}
	/* A pipe with a name, opened for reading too, would never tell that its reader is gone. */
	bool for_reading = stat(path, &st) != 0 || S_ISREG(st.st_mode);
	f->fd = open(path, (for_reading ? O_RDWR | O_CREAT : O_WRONLY) | O_APPEND | O_CLOEXEC, 0644);
	if (f->fd < 0 || fstat(f->fd, &st) != 0)
		return fail(f, d, "opened for writing");
	f->is_regular = S_ISREG(st.st_mode);
	f->size_bytes = st.st_size;
	if (!f->is_regular || f->size_bytes == 0)
		return 0;
	if (!is_probe_file(f->fd)) {
		diag_add(d, SEVERITY_ERROR, "output.foreign", NULL,
			 "%s is there and was not written by a probe: nothing is appended to it", path);
		return -1;
	}
	return end_torn_line(f, d);
}

/* Half a sample is worse than none: a full disk is to leave what was there before. */
static int take_back(const struct probe_file *f, struct diag *d)
{
	int why = errno;

	if (f->is_regular && ftruncate(f->fd, f->size_bytes) != 0)
		(void)fail(f, d, "cut back to its last whole sample");
	errno = why;
	return fail(f, d, "written");
}

int probe_file_write(struct probe_file *f, struct sv bytes, struct diag *d)
{
	size_t done = 0;

	while (done < bytes.n) {
		ssize_t n = write(f->fd, bytes.p + done, bytes.n - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return take_back(f, d);
		done += (size_t)n;
	}
	f->size_bytes += (int64_t)bytes.n;
	return 0;
}

int probe_file_close(struct probe_file *f, struct diag *d)
{
	int rc = 0;

	if (f->fd < 0)
		return 0;
	/* Pipes cannot be synchronised and say so. */
	if (f->is_regular && fsync(f->fd) != 0)
		rc = fail(f, d, "written");
	if (f->fd != STDOUT_FILENO && close(f->fd) != 0 && rc == 0)
		rc = fail(f, d, "written");
	f->fd = -1;
	return rc;
}
