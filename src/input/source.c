/* SPDX-License-Identifier: MIT */
/*
 * From an argument to its items: files, directories in byte order of names,
 * members of archives, standard input. Symbolic links in a directory are not
 * followed, so that a walk neither leaves it nor turns in circles.
 */

#include "input/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "input/identity.h"
#include "input/item.h"
#include "input/spool.h"
#include "input/unpack.h"

/* An archive, and what is packed inside it; deeper is passed over. */
#define PACKED_LEVELS 4
/* A named pipe may be named before its writer has begun. */
#define WRITER_WAIT_MS 10000

struct source {
	struct item_context items;
	struct arena *names;	/* paths, until the end of the argument */
	size_t argument_bytes;	/* of each path, before what lies below the argument */
	bool failed;		/* something could not be opened: recorded */
};

/* ---- a file as a stream ---- */

/* No more than was digested is read, though a log may have grown since. */
struct file_source {
	int fd;
	uint64_t size_bytes, left;
	int error;	/* 0: it ends before it did when it was digested */
	struct diag *diag;
};

static ptrdiff_t file_read(void *context, void *bytes, size_t n)
{
	struct file_source *f = context;
	ssize_t got;

	if (n > f->left)
		n = (size_t)f->left;
	do
		got = read(f->fd, bytes, n);
	while (got < 0 && errno == EINTR);
	if (got < 0 || (got == 0 && n > 0)) {
		f->error = got < 0 ? errno : 0;
		return -1;
	}
	f->left -= (uint64_t)got;
	return got;
}

static struct mapped *file_map(void *context, struct arena *a)
{
	const struct file_source *f = context;

	return mapped_new(a, f->fd, f->size_bytes);
}

/* Where that cannot be, reading says so. */
static void file_seek(void *context, uint64_t at)
{
	struct file_source *f = context;

	(void)lseek(f->fd, (off_t)at, SEEK_SET);
	f->left = f->size_bytes - at;
}

static void file_report(void *context, uint64_t at)
{
	const struct file_source *f = context;
	struct place place = { .unit = PLACE_WHOLE, .byte_offset = at };

	diag_add(f->diag, SEVERITY_WARNING, "input.damaged", &place, "after %llu bytes: %s", (unsigned long long)at,
		 f->error != 0 ? strerror(f->error) : "the file has become shorter while it was read");
}

/* ---- digests ---- */

static struct sv hex_of(struct digest *d, struct arena *a)
{
	char hex[2 * DIGEST_BYTES + 1];

	digest_hex(d, hex);
	return arena_copy(a, sv_of(hex));
}

/* Of what has no bytes of its own: all empty files are alike, yet each is an input. */
static struct sv digest_of_name(struct sv of_container, struct sv name, struct arena *a)
{
	struct digest d;

	digest_init(&d);
	digest_add(&d, of_container.p, of_container.n);
	digest_add(&d, "!", 1);
	digest_add(&d, name.p, name.n);
	return hex_of(&d, a);
}

/* ---- packed files ---- */

static int ingest_packed(struct source *s, const struct item *packed, int fd, struct unpack_budget *budget,
			 unsigned level);

/* The member of an archive by its number too, for tar may hold a name twice. */
static struct item item_of_member(const struct item *packed, const struct unpack_member *m, uint64_t number,
				  struct arena *a)
{
	struct item item = *packed;
	size_t slash;

	item.stream = m->stream;
	item.sampled_fd = -1;
	if (sv_is_absent(m->name))
		return item;
	item.path = arena_printf(a, "%.*s!%.*s", SV_ARG(packed->path), SV_ARG(m->name));
	if (sv_rfind_char(m->name, '/', &slash))
		item.below = m->name;
	item.digest = digest_of_name(packed->digest,
				     arena_printf(a, "%llu!%.*s", (unsigned long long)number, SV_ARG(m->name)), a);
	item.has_size = m->has_size;
	item.size_bytes = m->size_bytes;
	item.has_modified = m->has_modified;
	item.modified_s = m->modified_s;
	item.named = false;
	return item;
}

static int ingest_member(struct source *s, const struct item *member, struct unpack_budget *budget, unsigned level)
{
	if (!unpack_is_packed(stream_head(member->stream)))
		return item_ingest(&s->items, member);
	if (level == PACKED_LEVELS)
		return item_skip(&s->items, member, "input.nested", SV("packed inside what is packed already: unpack it first"));
	return ingest_packed(s, member, -1, budget, level + 1);
}

/* How the archive itself ended: an input of its own only when something is to be said of it. */
static int end_packed(struct source *s, const struct item *packed, const struct unpack *u, int rc, uint64_t members)
{
	struct item whole = *packed;
	const char *code;
	const char *problem = unpack_problem(u, &code);

	whole.stream = NULL;
	whole.has_size = true;
	if (rc < 0)
		return item_skip(&s->items, &whole, code,
				 arena_printf(s->names, "%s%s", members > 0 ? "what follows is lost: " : "", problem));
	if (members == 0)
		return item_skip(&s->items, &whole, "input.empty", SV("there is nothing in it"));
	return 0;
}

/* Reads the file fd, or when it is -1 the stream of packed. 0, -1 when the sink failed. */
static int ingest_packed(struct source *s, const struct item *packed, int fd, struct unpack_budget *budget,
			 unsigned level)
{
	struct arena *unpacking = arena_new(), *of_member = arena_new();
	struct unpack_options o = { budget, s->items.diag, unpacking };
	struct unpack *u = fd >= 0 ? unpack_fd(fd, &o) : unpack_stream(packed->stream, &o);
	struct unpack_member m;
	uint64_t members = 0;
	int rc, failed = 0;

	while (failed == 0 && (rc = unpack_next(u, of_member, &m)) == 1) {
		struct item item = item_of_member(packed, &m, ++members, of_member);

		failed = ingest_member(s, &item, budget, level);
		arena_reset(of_member);
	}
	if (failed == 0)
		failed = end_packed(s, packed, u, rc, members);
	unpack_close(u);
	arena_free(of_member);
	arena_free(unpacking);
	return failed;
}

/* ---- files ---- */

static void unreadable(struct source *s, struct sv path, const char *why)
{
	s->failed = true;
	diag_set_input(s->items.diag, path, 0);
	diag_add(s->items.diag, SEVERITY_ERROR, "input.unreadable", NULL, "cannot be read: %s", why);
}

/* Passed over without being an input, since it has no content. */
static void note(struct source *s, struct sv path, enum severity severity, const char *code, const char *what)
{
	diag_set_input(s->items.diag, path, 0);
	diag_add(s->items.diag, severity, code, NULL, "passed over: %s", what);
}

static int ingest_content(struct source *s, struct item *item, int fd)
{
	struct arena *a = arena_new();
	struct file_source file = { .fd = fd, .size_bytes = item->size_bytes, .left = item->size_bytes, .diag = s->items.diag };
	int rc;

	item->stream = stream_new(a, (struct stream_source){ file_read, file_report, &file, file_map, file_seek });
	if (unpack_is_packed(stream_head(item->stream)) && lseek(fd, 0, SEEK_SET) == 0) {
		struct unpack_budget budget = { .stored_bytes = item->size_bytes };

		rc = ingest_packed(s, item, fd, &budget, 1);
	} else {
		rc = item_ingest(&s->items, item);
	}
	arena_free(a);
	return rc;
}

/* Closes fd. named: it is the argument itself. */
static int ingest_file(struct source *s, int fd, struct sv path, bool named)
{
	struct item item = { .path = path, .named = named, .has_size = true, .sampled_fd = -1 };
	struct identity known;
	struct stat status;
	int rc = 0;

	/* What came through a pipe was written when it was read. */
	item.has_modified = fstat(fd, &status) == 0 && status.st_nlink > 0 && status.st_mtime > 0 &&
			    status.st_mtime < INT64_C(253402300800);
	if (item.has_modified)
		item.modified_s = status.st_mtime;

	if (!named)
		item.below = sv_sub(path, s->argument_bytes, path.n);
	if (!identity_of(fd, s->names, &known)) {
		unreadable(s, path, strerror(errno));
	} else if (known.size_bytes == 0) {
		item.digest = digest_of_name(SV(""), path, s->names);
		rc = item_skip(&s->items, &item, "input.skipped", SV("empty"));
	} else {
		item.digest = known.digest;
		item.size_bytes = known.size_bytes;
		item.sampled_fd = known.sampled ? fd : -1;
		rc = ingest_content(s, &item, fd);
	}
	close(fd);
	return rc;
}

static int ingest_spooled(struct source *s, int from, struct sv path)
{
	int fd;

	diag_set_input(s->items.diag, path, 0);
	fd = spool(from, s->items.diag);
	if (fd < 0) {
		s->failed = true;
		return 0;
	}
	return ingest_file(s, fd, path, true);
}

/* ---- directories ---- */

struct entries {
	char **names;
	size_t count, capacity;
};

static int by_bytes(const void *a, const void *b)
{
	const char *x, *y;

	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return strcmp(x, y);
}

/* False with errno set. */
static bool list_directory(const char *path, struct arena *a, struct entries *out)
{
	DIR *directory = opendir(path);
	const struct dirent *e;
	int error;

	*out = (struct entries){ NULL, 0, 0 };
	if (directory == NULL)
		return false;
	while (errno = 0, (e = readdir(directory)) != NULL) {
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			*ARENA_PUSH(a, out->names, out->count, out->capacity) = arena_strdup(a, sv_of(e->d_name));
	}
	error = errno;
	closedir(directory);
	errno = error;
	if (out->count > 1)
		qsort(out->names, out->count, sizeof *out->names, by_bytes);
	return error == 0;
}

static int ingest_directory(struct source *s, struct sv path, bool named);

/* What a walk comes upon; path ends in NUL. */
static int ingest_entry(struct source *s, struct sv path)
{
	struct stat status;
	int fd;

	if (lstat(path.p, &status) != 0) {
		unreadable(s, path, strerror(errno));
		return 0;
	}
	if (S_ISDIR(status.st_mode))
		return ingest_directory(s, path, false);
	if (!S_ISREG(status.st_mode)) {
		note(s, path, SEVERITY_NOTE, "input.skipped",
		     S_ISLNK(status.st_mode) ? "symbolic links in a directory are not followed" : "not a regular file");
		return 0;
	}
	fd = open(path.p, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0) {
		unreadable(s, path, strerror(errno));
		return 0;
	}
	return ingest_file(s, fd, path, false);
}

static int ingest_directory(struct source *s, struct sv path, bool named)
{
	struct entries entries;
	int rc = 0;

	if (!list_directory(path.p, s->names, &entries))
		unreadable(s, path, strerror(errno));
	else if (entries.count == 0)
		note(s, path, named ? SEVERITY_WARNING : SEVERITY_NOTE, "input.empty", "an empty directory");
	for (size_t i = 0; rc == 0 && i < entries.count; i++)
		rc = ingest_entry(s, arena_printf(s->names, "%.*s%s%s", SV_ARG(path),
						  sv_ends_with(path, SV("/")) ? "" : "/", entries.names[i]));
	return rc;
}

/* ---- the argument ---- */

/* A named pipe was opened without waiting: until somebody writes to it or has closed it. False when nobody comes. */
static bool await_writer(int fd)
{
	struct pollfd pipe = { .fd = fd, .events = POLLIN };
	int flags = fcntl(fd, F_GETFL), n;

	do
		n = poll(&pipe, 1, WRITER_WAIT_MS);
	while (n < 0 && errno == EINTR);
	return n > 0 && flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0;
}

static int ingest_pipe(struct source *s, int fd, struct sv path)
{
	int rc = 0;

	if (await_writer(fd))
		rc = ingest_spooled(s, fd, path);
	else
		unreadable(s, path, "nobody writes to this pipe");
	close(fd);
	return rc;
}

static int ingest_opened(struct source *s, int fd, struct sv path)
{
	struct stat status;

	if (fstat(fd, &status) != 0) {
		unreadable(s, path, strerror(errno));
	} else if (S_ISDIR(status.st_mode)) {
		close(fd);
		return ingest_directory(s, path, true);
	} else if (S_ISREG(status.st_mode)) {
		return ingest_file(s, fd, path, true);
	} else if (S_ISFIFO(status.st_mode)) {
		return ingest_pipe(s, fd, path);
	} else {
		note(s, path, SEVERITY_WARNING, "input.skipped", "neither a file, a directory nor a pipe");
	}
	close(fd);
	return 0;
}

static int ingest_argument(struct source *s, struct sv path)
{
	int fd;

	if (sv_eq(path, SV("-")))
		return ingest_spooled(s, STDIN_FILENO, path);
	fd = open(path.p, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		unreadable(s, path, strerror(errno));
		return 0;
	}
	return ingest_opened(s, fd, path);
}

static bool is_kind(const char *name)
{
	for (const char *const *k = source_kind_names(); *k != NULL; k++)
		if (strcmp(*k, name) == 0)
			return true;
	return false;
}

/* "logs/" and "logs" are one path; "/" stays. */
static struct sv without_slashes(struct sv path)
{
	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	return path;
}

int source_ingest(const char *argument, const struct ingest_options *o, struct input_sink *sink, struct diag *diag)
{
	struct source s = { .items = { o, sink, diag, arena_new(), arena_new() }, .names = arena_new() };
	struct sv path = arena_copy(s.names, without_slashes(sv_of(argument)));
	int rc = -1;

	s.argument_bytes = path.n;
	if (o->as_kind != NULL && !is_kind(o->as_kind))
		diag_add(diag, SEVERITY_ERROR, "input.kind", NULL, "there is no kind of input \"%s\"", o->as_kind);
	else
		rc = ingest_argument(&s, path);
	diag_set_input(diag, SV_ABSENT, 0);
	arena_free(s.items.input);
	arena_free(s.items.record);
	arena_free(s.names);
	return rc == 0 && !s.failed ? 0 : -1;
}
