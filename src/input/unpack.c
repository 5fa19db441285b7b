/* SPDX-License-Identifier: MIT */
/*
 * Members of archives and contents of compressed files as streams. Damage is
 * met in two places: inside a member (its stream says -1) and between two
 * (unpack_next says -1). libarchive gives out whole blocks only: up to 64 KiB
 * before a break in a compressed file are lost with it, but for a file of gzip,
 * which is read once more by gunzip.c.
 */

#include "input/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "input/gunzip.h"

#define BLOCK_BYTES ((size_t)64 * 1024)
#define TAR_HEADER_BYTES 512

struct unpack {
	struct archive *archive;
	struct unpack_options options;
	struct stream *packed;	/* NULL when a file descriptor is read */
	int fd;			/* which that is; -1: none */
	char *buffer;		/* of packed, for libarchive */
	bool began;		/* with its first member */
	bool is_archive;	/* else the content of one compressed file */
	bool in_member;
	const char *code;	/* of the problem that ended the member, or all; NULL while all is well */
	const char *problem;
	bool over;		/* it ended all */
	bool reported;		/* the member's stream has told */
	/* The block at hand of the current member. */
	const char *block;
	size_t block_bytes;
	int64_t block_offset;	/* in the member; what lies between it and position is a hole of zeros */
	int64_t position;
	/* What libarchive held back when a file of gzip broke off; NULL while it has not. */
	struct gunzip *rest;
	off_t rest_at;		/* in the file */
	char *rest_block;
	int broken;		/* what libarchive said then, and why */
	const char *why;
};

static const struct magic {
	const char *bytes;
	size_t n;
} magics[] = {
	{ "\x1f\x8b\x08", 3 },			/* gzip */
	{ "\xfd"
	  "7zXZ\0", 6 },			/* xz */
	{ "\x28\xb5\x2f\xfd", 4 },		/* zstd */
	{ "\x04\x22\x4d\x18", 4 },		/* lz4 */
	{ "PK\003\004", 4 },			/* zip */
	{ "PK\005\006", 4 },			/* zip without members */
};

/* An octal number of a tar header. */
static uint64_t tar_number(const char *p, size_t n)
{
	uint64_t value = 0;

	while (n > 0 && *p == ' ')
		p++, n--;
	for (; n > 0 && *p >= '0' && *p <= '7'; p++, n--)
		value = value * 8 + (uint64_t)(*p - '0');
	return value;
}

/* The sum of the header's bytes with its own eight taken as blanks (POSIX ustar); holds for formats before ustar too. */
static bool is_tar(struct sv head)
{
	uint64_t sum = 0;

	if (head.n < TAR_HEADER_BYTES || head.p[0] == '\0')
		return false;
	for (size_t i = 0; i < TAR_HEADER_BYTES; i++)
		sum += i >= 148 && i < 156 ? ' ' : (unsigned char)head.p[i];
	return sum == tar_number(head.p + 148, 8);
}

/* "BZh" alone may begin a word: a level and the magic of a block, or of the end of an empty stream, follow. */
static bool is_bzip2(struct sv head)
{
	return sv_starts_with(head, SV("BZh")) && head.n >= 10 && head.p[3] >= '1' && head.p[3] <= '9' &&
	       (memcmp(head.p + 4, "1AY&SY", 6) == 0 || memcmp(head.p + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0);
}

bool unpack_is_packed(struct sv head)
{
	for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
		if (head.n >= magics[i].n && memcmp(head.p, magics[i].bytes, magics[i].n) == 0)
			return true;
	return is_bzip2(head) || is_tar(head);
}

static void fail(struct unpack *u, const char *code, const char *problem)
{
	if (u->code != NULL)
		return;
	u->code = code;
	u->problem = arena_strdup(u->options.arena, sv_of(problem));
	u->over = true;
}

static const char *archive_why(const struct unpack *u)
{
	const char *what = archive_error_string(u->archive);

	return what != NULL ? what : "the archive cannot be read";
}

/* A checksum or a cipher spoils one member; anything fatal all that follow. */
static void fail_by_archive(struct unpack *u, int rc)
{
	fail(u, "input.damaged", archive_why(u));
	u->over = rc == ARCHIVE_FATAL;
}

/* False when so much would be a bomb. */
static bool charge(struct unpack *u, uint64_t bytes)
{
	struct unpack_budget *b = u->options.budget;

	b->unpacked_bytes += bytes;
	if (b->unpacked_bytes > UNPACK_BYTES_MAX) {
		fail(u, "input.bomb", "unpacks to more than 256 GiB, which is more than is read of one file");
		return false;
	}
	if (b->unpacked_bytes > UNPACK_GRACE_BYTES && b->unpacked_bytes / UNPACK_RATIO_MAX > b->stored_bytes) {
		fail(u, "input.bomb", "unpacks to more than 1000 times its stored size, as decompression bombs do");
		return false;
	}
	return true;
}

/* ---- what is left before a break ---- */

static ptrdiff_t rest_read(void *context, void *bytes, size_t n)
{
	struct unpack *u = context;
	ssize_t got;

	do
		got = pread(u->fd, bytes, n, u->rest_at);
	while (got < 0 && errno == EINTR);
	if (got > 0)
		u->rest_at += got;
	return got;
}

/* Only a file can be read once more. */
static bool is_gzip_file(const struct unpack *u)
{
	unsigned char magic[2];

	return u->fd >= 0 && pread(u->fd, magic, sizeof magic, 0) == sizeof magic && magic[0] == 0x1f && magic[1] == 0x8b;
}

/* Begins to read the file once more, behind what of the member has been given out. */
static void begin_rest(struct unpack *u, int rc)
{
	int64_t skipped = 0;
	size_t got;

	u->broken = rc;
	u->why = arena_strdup(u->options.arena, sv_of(archive_why(u)));
	u->rest = gunzip_new(stream_new(u->options.arena, (struct stream_source){ rest_read, NULL, u }), u->options.arena);
	u->rest_block = arena_alloc(u->options.arena, BLOCK_BYTES);
	do {
		int64_t left = u->position - skipped;

		got = gunzip_read(u->rest, u->rest_block, left < (int64_t)BLOCK_BYTES ? (size_t)left : BLOCK_BYTES);
		skipped += (int64_t)got;
	} while (got > 0);
}

/* As next_block; the break is told behind it. */
static int next_rest(struct unpack *u)
{
	u->block = u->rest_block;
	u->block_bytes = gunzip_read(u->rest, u->rest_block, BLOCK_BYTES);
	u->block_offset = u->position;
	if (u->block_bytes > 0)
		return 1;
	fail(u, "input.damaged", u->why);
	u->over = u->broken == ARCHIVE_FATAL;
	return -1;
}

/* ---- a member as a stream ---- */

/* 1: there are bytes or a hole before the block's end; 0: the member has ended; -1. */
static int next_block(struct unpack *u)
{
	const void *bytes;
	size_t n;
	int64_t offset;

	while (u->block_bytes == 0) {
		int rc;

		if (u->rest != NULL)
			return next_rest(u);
		rc = archive_read_data_block(u->archive, &bytes, &n, &offset);
		if (rc == ARCHIVE_EOF)
			return 0;
		if (rc != ARCHIVE_OK && !u->is_archive && is_gzip_file(u)) {
			begin_rest(u, rc);
			continue;
		}
		if (rc != ARCHIVE_OK) {
			fail_by_archive(u, rc);
			return -1;
		}
		if (offset < u->position || (n > 0 && offset > INT64_MAX - (int64_t)n)) {
			fail(u, "input.damaged", "parts of a member overlap");
			return -1;
		}
		u->block = bytes;
		u->block_bytes = n;
		u->block_offset = offset;
	}
	return 1;
}

static ptrdiff_t member_read(void *context, void *bytes, size_t n)
{
	struct unpack *u = context;
	int rc = u->code != NULL ? -1 : next_block(u);
	uint64_t hole;

	if (rc <= 0)
		return rc;
	hole = (uint64_t)(u->block_offset - u->position);
	if (hole > 0) {
		n = hole < n ? (size_t)hole : n;
		memset(bytes, 0, n);
	} else {
		n = u->block_bytes < n ? u->block_bytes : n;
		memcpy(bytes, u->block, n);
		u->block += n;
		u->block_bytes -= n;
		u->block_offset += (int64_t)n;
	}
	if (!charge(u, n))
		return -1;
	u->position += (int64_t)n;
	return (ptrdiff_t)n;
}

static void member_report(void *context, uint64_t at)
{
	struct unpack *u = context;
	struct place place = { .unit = PLACE_WHOLE, .byte_offset = at };

	u->reported = true;
	diag_add(u->options.diag, SEVERITY_WARNING, u->code, &place, "after %llu bytes: %s",
		 (unsigned long long)at, u->problem);
}

/* ---- the packed bytes for libarchive ---- */

static la_ssize_t packed_read(struct archive *a, void *context, const void **bytes)
{
	struct unpack *u = context;
	ptrdiff_t n = stream_read(u->packed, u->buffer, BLOCK_BYTES);

	if (n < 0)
		archive_set_error(a, EILSEQ, "what it is packed in is damaged");
	*bytes = u->buffer;
	return (la_ssize_t)n;
}

static struct unpack *unpack_new(const struct unpack_options *o)
{
	struct unpack *u = arena_alloc(o->arena, sizeof *u);
	struct archive *a = archive_read_new();

	u->options = *o;
	u->archive = a;
	u->fd = -1;
	if (a == NULL) {
		fail(u, "input.damaged", "no memory to unpack it");
		return u;
	}
	archive_read_support_filter_gzip(a);
	archive_read_support_filter_bzip2(a);
	archive_read_support_filter_xz(a);
	archive_read_support_filter_zstd(a);
	archive_read_support_filter_lz4(a);
	archive_read_support_format_tar(a);
	archive_read_support_format_zip(a);
	archive_read_support_format_raw(a);
	archive_read_support_format_empty(a);
	return u;
}

struct unpack *unpack_fd(int fd, const struct unpack_options *o)
{
	struct unpack *u = unpack_new(o);

	u->fd = fd;
	if (u->archive != NULL && archive_read_open_fd(u->archive, fd, BLOCK_BYTES) != ARCHIVE_OK)
		fail_by_archive(u, ARCHIVE_FATAL);
	return u;
}

struct unpack *unpack_stream(struct stream *s, const struct unpack_options *o)
{
	struct unpack *u = unpack_new(o);

	u->packed = s;
	u->buffer = arena_alloc(o->arena, BLOCK_BYTES);
	if (u->archive != NULL && archive_read_open(u->archive, u, NULL, packed_read, NULL) != ARCHIVE_OK)
		fail_by_archive(u, ARCHIVE_FATAL);
	return u;
}

/* ---- from member to member ---- */

/*
 * Reads what the last member's reader left. libarchive would pass over it by
 * itself, but unpack it without asking the budget; in a zip it really skips.
 */
static void drain(struct unpack *u)
{
	char nowhere[4096];

	if (!u->in_member || (archive_format(u->archive) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_ZIP)
		return;
	while (member_read(u, nowhere, sizeof nowhere) > 0)
		;
}

/* Nothing at all, packed by xz, bzip2, zstd or lz4, is smaller. gzip may keep a long name, and knows its breaks. */
#define NOTHING_BYTES 64

/* What breaks off in its first block may look as if there were nothing: lz4's reader says so before it fails. */
static bool is_broken_at_once(const struct unpack *u)
{
	return archive_format(u->archive) == ARCHIVE_FORMAT_EMPTY && archive_filter_count(u->archive) > 1 &&
	       archive_filter_code(u->archive, 0) != ARCHIVE_FILTER_GZIP && archive_filter_bytes(u->archive, -1) > NOTHING_BYTES;
}

static int next_file(struct unpack *u, struct archive_entry **entry)
{
	for (;;) {
		int rc = archive_read_next_header(u->archive, entry);

		if (rc == ARCHIVE_EOF && is_broken_at_once(u)) {
			fail(u, "input.damaged", "breaks off before anything can be unpacked of it");
			return -1;
		}
		if (rc == ARCHIVE_EOF)
			return 0;
		if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN) {
			fail_by_archive(u, ARCHIVE_FATAL);
			return -1;
		}
		if (archive_format(u->archive) == ARCHIVE_FORMAT_RAW && archive_filter_count(u->archive) < 2) {
			fail(u, "input.damaged", "begins as a compressed file or an archive does, and is none");
			return -1;
		}
		if (++u->options.budget->members > UNPACK_MEMBERS_MAX) {
			fail(u, "input.bomb", "holds more than 100000 members");
			return -1;
		}
		if (archive_format(u->archive) == ARCHIVE_FORMAT_RAW ||
		    (archive_entry_filetype(*entry) == AE_IFREG && archive_entry_hardlink(*entry) == NULL))
			return 1;
	}
}

/* As stored where the locale can say it, else from the UTF-8 that pax and zip keep. */
static struct sv name_of(struct archive_entry *entry, struct arena *a)
{
	struct sv name = sv_of(archive_entry_pathname(entry));

	if (sv_is_absent(name))
		name = sv_of(archive_entry_pathname_utf8(entry));
	if (sv_is_absent(name))
		name = SV("(a name that cannot be read)");
	while (sv_starts_with(name, SV("./")) || sv_starts_with(name, SV("/")))
		name = sv_sub(name, name.p[0] == '.' ? 2 : 1, name.n);
	return arena_copy(a, name);
}

/* Whether another member can follow the last. 1, 0 or -1 as unpack_next. */
static int leave_member(struct unpack *u)
{
	bool told;

	if (u->code == NULL)
		drain(u);
	told = u->in_member && u->reported;
	u->in_member = false;
	u->reported = false;
	/* The content of a compressed file tells its own damage, and nothing follows it. */
	if (u->code != NULL && u->over)
		return told && !u->is_archive ? 0 : -1;
	u->code = NULL;
	return 1;
}

/* A time that somebody set, until the year 9999. */
static bool is_time(int64_t s)
{
	return s > 0 && s < INT64_C(253402300800);
}

/* A file of gzip that breaks off in its first block is not even opened. False when nothing can be had of it. */
static bool begin_with_rest(struct unpack *u)
{
	if (u->began || !is_gzip_file(u))
		return false;
	u->code = NULL;
	begin_rest(u, ARCHIVE_FATAL);
	return next_rest(u) == 1;
}

static void tell_of(struct archive_entry *entry, struct unpack_member *out)
{
	out->has_size = archive_entry_size_is_set(entry) && archive_entry_size(entry) >= 0;
	if (out->has_size)
		out->size_bytes = (uint64_t)archive_entry_size(entry);
	out->has_modified = archive_entry_mtime_is_set(entry) && is_time(archive_entry_mtime(entry));
	if (out->has_modified)
		out->modified_s = archive_entry_mtime(entry);
}

int unpack_next(struct unpack *u, struct arena *member, struct unpack_member *out)
{
	struct archive_entry *entry = NULL;
	int rc = leave_member(u);

	u->block_bytes = 0;
	u->position = 0;
	if (rc == 1)
		rc = next_file(u, &entry);
	if (rc < 0 && begin_with_rest(u))
		rc = 1;
	if (rc != 1)
		return rc;
	u->began = true;
	u->is_archive = u->rest == NULL && archive_format(u->archive) != ARCHIVE_FORMAT_RAW;
	u->in_member = true;
	*out = (struct unpack_member){
		.name = u->is_archive ? name_of(entry, member) : SV_ABSENT,
		.stream = stream_new(member, (struct stream_source){ member_read, member_report, u }),
	};
	if (u->rest == NULL)
		tell_of(entry, out);
	return 1;
}

const char *unpack_problem(const struct unpack *u, const char **code)
{
	*code = u->code;
	return u->problem;
}

void unpack_close(struct unpack *u)
{
	if (u != NULL && u->archive != NULL)
		archive_read_free(u->archive);
}
