/* SPDX-License-Identifier: MIT */
/* A ring of pcap files. See cli/probe_ring.h; the format: draft-ietf-opsawg-pcap. */

#include "cli/probe_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC_MICROSECONDS 0xa1b2c3d4U
#define VERSION_MAJOR 2
#define VERSION_MINOR 4
/* One write for so many bytes of packets, when many come at once. */
#define PENDING_BYTES_MAX (256 * 1024)

/* Both stand in the byte order of the machine, which the magic tells. */
struct file_header {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t reserved[2];
	uint32_t snap_bytes;
	uint32_t link_type;
};

struct packet_header {
	uint32_t seconds, microseconds;
	uint32_t captured, length;
};

void probe_ring_name(struct buf *to, const struct probe_ring_options *o, unsigned i)
{
	buf_printf(to, "%s.%u.pcap", o->prefix, i);
	buf_add_char(to, '\0');
}

static int fail(const struct probe_ring *r, unsigned i, const char *what, struct diag *d)
{
	int why = errno;
	struct buf name;

	buf_init(&name);
	probe_ring_name(&name, &r->options, i);
	diag_add(d, SEVERITY_ERROR, "output.unwritable", NULL, "%s cannot be %s: %s", name.p, what, strerror(why));
	buf_fini(&name);
	return -1;
}

static int write_all(const struct probe_ring *r, unsigned i, const void *bytes, size_t n, struct diag *d)
{
	const char *at = bytes;

	while (n > 0) {
		ssize_t written = write(r->fds[i], at, n);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return fail(r, i, "written", d);
		at += written;
		n -= (size_t)written;
	}
	return 0;
}

static int write_header(const struct probe_ring *r, unsigned i, struct diag *d)
{
	const struct file_header h = {
		.magic = MAGIC_MICROSECONDS,
		.major = VERSION_MAJOR,
		.minor = VERSION_MINOR,
		.snap_bytes = r->options.snap_bytes,
		.link_type = r->options.link_type,
	};

	return write_all(r, i, &h, sizeof h, d);
}

static int begin_file(struct probe_ring *r, struct diag *d)
{
	if (lseek(r->fds[r->current], 0, SEEK_SET) != 0 || ftruncate(r->fds[r->current], 0) != 0)
		return fail(r, r->current, "emptied", d);
	r->size_bytes = sizeof(struct file_header);
	return write_header(r, r->current, d);
}

/* Whether x was written to before y was. */
static bool is_older(const struct stat *x, const struct stat *y)
{
	if (x->st_mtim.tv_sec != y->st_mtim.tv_sec)
		return x->st_mtim.tv_sec < y->st_mtim.tv_sec;
	return x->st_mtim.tv_nsec < y->st_mtim.tv_nsec;
}

/* Opens file i; a new one has its header at once: an empty file would be no capture. */
static int open_file(struct probe_ring *r, unsigned i, struct stat *st, struct diag *d)
{
	struct buf name;

	buf_init(&name);
	probe_ring_name(&name, &r->options, i);
	/* Packets are nobody else's business. */
	r->fds[i] = open(name.p, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	buf_fini(&name);
	if (r->fds[i] < 0 || fstat(r->fds[i], st) != 0)
		return fail(r, i, "opened for writing", d);
	if (!S_ISREG(st->st_mode)) {
		errno = EINVAL;
		return fail(r, i, "used, it is no regular file", d);
	}
	return st->st_size == 0 ? write_header(r, i, d) : 0;
}

/* Current becomes the file that was written to longest ago, or the first without packets. */
static int open_files(struct probe_ring *r, struct diag *d)
{
	struct stat oldest = { 0 }, st;
	bool found_unused = false;

	for (unsigned i = 0; i < r->options.files; i++) {
		if (open_file(r, i, &st, d) < 0)
			return -1;
		bool unused = st.st_size <= (off_t)sizeof(struct file_header);
		if (found_unused || (i > 0 && !unused && !is_older(&st, &oldest)))
			continue;
		r->current = i;
		oldest = st;
		found_unused = unused;
	}
	return 0;
}

int probe_ring_open(struct probe_ring *r, const struct probe_ring_options *o, struct arena *a, struct diag *d)
{
	*r = (struct probe_ring){ .options = *o, .fds = arena_array(a, o->files, sizeof *r->fds) };
	buf_init(&r->pending);
	for (unsigned i = 0; i < o->files; i++)
		r->fds[i] = -1;
	return open_files(r, d) < 0 ? -1 : begin_file(r, d);
}

int probe_ring_flush(struct probe_ring *r, struct diag *d)
{
	int rc = write_all(r, r->current, r->pending.p, r->pending.n, d);

	r->size_bytes += (int64_t)r->pending.n;
	buf_clear(&r->pending);
	return rc;
}

static int turn(struct probe_ring *r, struct diag *d)
{
	if (probe_ring_flush(r, d) < 0)
		return -1;
	r->current = (r->current + 1) % r->options.files;
	return begin_file(r, d);
}

int probe_ring_add(struct probe_ring *r, const struct probe_packet *p, struct diag *d)
{
	const struct packet_header h = {
		.seconds = (uint32_t)(p->time_us / US_PER_S),
		.microseconds = (uint32_t)(p->time_us % US_PER_S),
		.captured = p->captured,
		.length = p->length,
	};
	int64_t size = r->size_bytes + (int64_t)r->pending.n, more = (int64_t)sizeof h + p->captured;

	/* A file has at least one packet, however small it is to be. */
	if (size > (int64_t)sizeof(struct file_header) && size + more > r->options.file_bytes && turn(r, d) < 0)
		return -1;
	buf_add(&r->pending, (struct sv){ (const char *)&h, sizeof h });
	buf_add(&r->pending, (struct sv){ (const char *)p->bytes, p->captured });
	return r->pending.n < PENDING_BYTES_MAX ? 0 : probe_ring_flush(r, d);
}

void probe_ring_close(struct probe_ring *r)
{
	for (unsigned i = 0; r->fds != NULL && i < r->options.files; i++)
		if (r->fds[i] >= 0)
			close(r->fds[i]);
	buf_fini(&r->pending);
	r->fds = NULL;
}
