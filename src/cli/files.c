/* SPDX-License-Identifier: MIT */
/* Where results go, and where the shipped rules lie. See cli/files.h. */

#include "cli/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(struct diag *d, const char *what, const char *path)
{
	diag_add(d, SEVERITY_ERROR, "output.unwritable", NULL, "%s %s: %s", path, what, strerror(errno));
	return -1;
}

static int write_all(FILE *f, const struct buf *text)
{
	if (text->n > 0 && fwrite(text->p, 1, text->n, f) != text->n)
		return -1;
	return fflush(f) == 0 ? 0 : -1;
}

/* Opens, writes and closes; the first failure is the one that is told. */
static int write_file(const char *file, const char *path, const struct buf *text, struct diag *d)
{
	FILE *f = fopen(file, "w");
	if (f == NULL)
		return fail(d, "cannot be written", path);
	int written = write_all(f, text);
	int why = errno;
	if (fclose(f) != 0 && written == 0) {
		written = -1;
		why = errno;
	}
	errno = why;
	return written < 0 ? fail(d, "cannot be written", path) : 0;
}

static int write_beside(const char *path, const char *beside, const struct buf *text, struct diag *d)
{
	int rc = write_file(beside, path, text, d);
	if (rc == 0 && rename(beside, path) != 0)
		rc = fail(d, "cannot be written", path);
	if (rc < 0)
		unlink(beside);
	return rc;
}

int files_write(const char *path, const struct buf *text, struct diag *d)
{
	struct stat st;
	struct buf beside;

	if (path == NULL || strcmp(path, "-") == 0)
		return write_all(stdout, text) == 0 ? 0 : fail(d, "cannot be written", "standard output");
	/* A pipe, a device: there is nothing to rename over. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return write_file(path, path, text, d);
	buf_init(&beside);
	buf_printf(&beside, "%s.part", path);
	buf_add_char(&beside, '\0');
	int rc = write_beside(path, beside.p, text, d);
	buf_fini(&beside);
	return rc;
}

int files_replace(const char *from, const char *to, struct diag *d)
{
	return rename(from, to) == 0 ? 0 : fail(d, "cannot be written", to);
}

bool files_claim_directory(const char *path, int *held, struct diag *d)
{
	*held = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*held < 0 || flock(*held, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return true;
	files_release(*held);
	diag_add(d, SEVERITY_ERROR, "output.busy", NULL, "%s: another aftershock is writing its results there", path);
	return false;
}

void files_release(int held)
{
	if (held >= 0)
		close(held);
}

static int make_directory(const char *path)
{
	struct stat st;
	if (mkdir(path, 0777) == 0)
		return 0;
	int why = errno;
	if (why == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return 0;
	errno = why;
	return -1;
}

/* Those above it too: one that is in the way is found when the last cannot be made. */
int files_make_directory(const char *path, struct arena *a, struct diag *d)
{
	char *part = arena_strdup(a, sv_of(path));
	for (char *slash = strchr(part + (part[0] == '/'), '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		make_directory(part);
		*slash = '/';
	}
	return make_directory(path) == 0 ? 0 : fail(d, "cannot be made a directory", path);
}

static bool is_directory(struct sv path)
{
	struct stat st;
	return stat(path.p, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The directory in which this program's file lies; absent when it cannot be told. */
static struct sv own_directory(struct arena *a)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path);
	size_t at;
	if (n <= 0 || (size_t)n == sizeof path)
		return SV_ABSENT;
	struct sv whole = { path, (size_t)n };
	return sv_rfind_char(whole, '/', &at) ? arena_copy(a, sv_sub(whole, 0, at)) : SV_ABSENT;
}

const char *files_rules(const char *asked, struct arena *a)
{
	/* Beside the program: the source tree (build/, build/asan/), then an installation (bin/). */
	static const char *const beside[] = { "/../rules", "/../../rules", "/../share/aftershock/rules" };
	const char *named = asked != NULL ? asked : getenv("AFTERSHOCK_RULES");
	if (named != NULL && named[0] != '\0')
		return named;
	struct sv own = own_directory(a);
	for (size_t i = 0; !sv_is_absent(own) && i < sizeof beside / sizeof beside[0]; i++) {
		struct sv path = arena_printf(a, "%.*s%s", SV_ARG(own), beside[i]);
		if (is_directory(path))
			return path.p;
	}
	return AFTERSHOCK_PREFIX "/share/aftershock/rules";
}

bool files_color(enum when when)
{
	const char *no_color = getenv("NO_COLOR");
	if (when != WHEN_AUTO)
		return when == WHEN_ALWAYS;
	return isatty(STDOUT_FILENO) && (no_color == NULL || no_color[0] == '\0');
}
