/* SPDX-License-Identifier: MIT */
/*
 * Members of archives and contents of compressed files as streams. Damage is
 * met in two places: inside a member (its stream says -1) and between two
 * (unpack_next says -1).
 *
 * What is compressed goes through coding/decode.c, which gives out all that
 * there is before a break; libarchive gets what comes out of it, or what was not
 * compressed. bzip2 alone is left to libarchive, for its library is not known to
 * pkg-config everywhere: up to 64 KiB before a break are lost there, beside the
 * 900 kB of a block, which nobody can read in part.
 */

#include "input/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "input/coding/decode.h"

#define BLOCK_BYTES ((size_t)64 * 1024)
#define TAR_HEADER_BYTES 512

struct unpack {
	struct archive *archive;	/* NULL for the content of a compressed file that is no archive */
	struct unpack_options options;
	struct stream *packed;	/* what is unpacked */
	int fd;			/* the file that it comes from; -1: none */
	uint64_t fd_at;
	int fd_error;
	struct decode *decode;	/* of packed, where it is compressed */
	struct stream *plain;	/* what comes out of it, else packed */
	const char *break_code, *break_problem;	/* with which plain ends; NULL while nobody knows of any */
	char *buffer;		/* of plain, for libarchive */
	bool began;		/* with the first member */
	bool in_member;
	bool of_archive;	/* that one is */
	const char *code;	/* of the problem that ended the member, or all; NULL while all is well */
	const char *problem;
	bool over;		/* it ended all */
	bool reported;		/* the member's stream has told */
	/* The block at hand of the current member. */
	const char *block;
	size_t block_bytes;
	int64_t block_offset;	/* in the member; what lies between it and position is a hole of zeros */
	int64_t position;
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

static bool is_zip(struct sv head)
{
	return sv_starts_with(head, SV("PK\003\004")) || sv_starts_with(head, SV("PK\005\006"));	/* one without members */
}

/* What libarchive unpacks. */
static bool is_for_archive(struct sv head)
{
	return is_zip(head) || is_bzip2(head) || is_tar(head);
}

bool unpack_is_packed(struct sv head)
{
	return decode_knows(head) || is_for_archive(head);
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

/* NULL, or why so much is a bomb. */
static const char *charge(struct unpack *u, uint64_t bytes)
{
	struct unpack_budget *b = u->options.budget;

	b->unpacked_bytes += bytes;
	if (b->unpacked_bytes > UNPACK_BYTES_MAX)
		return "unpacks to more than 256 GiB, which is more than is read of one file";
	if (b->unpacked_bytes > UNPACK_GRACE_BYTES && b->unpacked_bytes / UNPACK_RATIO_MAX > b->stored_bytes)
		return "unpacks to more than 1000 times its stored size, as decompression bombs do";
	return NULL;
}

/* ---- from packed to plain ---- */

/* No more than was digested is read, though the file may have grown since. */
static ptrdiff_t fd_read(void *context, void *bytes, size_t n)
{
	struct unpack *u = context;
	uint64_t left = u->options.budget->stored_bytes - u->fd_at;
	ssize_t got;

	if (n > left)
		n = (size_t)left;
	do
		got = pread(u->fd, bytes, n, (off_t)u->fd_at);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		u->fd_error = errno;
	else
		u->fd_at += (uint64_t)got;
	return got;
}

static ptrdiff_t decoded_read(void *context, void *bytes, size_t n)
{
	struct unpack *u = context;
	ptrdiff_t got = decode_read(u->decode, bytes, n);
	const char *bomb;

	if (got < 0) {
		u->break_code = "input.damaged";
		u->break_problem = u->fd_error != 0 ? strerror(u->fd_error) : decode_why(u->decode);
		return -1;
	}
	bomb = charge(u, (uint64_t)got);
	if (bomb == NULL)
		return got;
	u->break_code = "input.bomb";
	u->break_problem = bomb;
	return -1;
}

/* Looks ahead may have met the break long before: it is told by who comes to it. */
static ptrdiff_t plain_read(struct unpack *u, void *bytes, size_t n)
{
	ptrdiff_t got = stream_read_on(u->plain, bytes, n);

	if (got < 0 && u->break_code != NULL)
		fail(u, u->break_code, u->break_problem);
	else if (got < 0)
		fail(u, "input.damaged", "what it is packed in is damaged");
	return got;
}

/* ---- a member as a stream ---- */

/* 1: there are bytes or a hole before the block's end; 0: the member has ended; -1. */
static int next_block(struct unpack *u)
{
	const void *bytes;
	size_t n;
	int64_t offset;

	while (u->block_bytes == 0) {
		int rc = archive_read_data_block(u->archive, &bytes, &n, &offset);

		if (rc == ARCHIVE_EOF)
			return 0;
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

/* Bytes of a member or, before its next block, zeros. */
static size_t take(struct unpack *u, void *bytes, size_t n)
{
	uint64_t hole = (uint64_t)(u->block_offset - u->position);

	if (hole > 0) {
		n = hole < n ? (size_t)hole : n;
		memset(bytes, 0, n);
		return n;
	}
	n = u->block_bytes < n ? u->block_bytes : n;
	memcpy(bytes, u->block, n);
	u->block += n;
	u->block_bytes -= n;
	u->block_offset += (int64_t)n;
	return n;
}

static ptrdiff_t member_read(void *context, void *bytes, size_t n)
{
	struct unpack *u = context;
	int rc = u->code != NULL ? -1 : next_block(u);
	const char *bomb = NULL;
	bool is_hole;

	if (rc <= 0)
		return rc;
	is_hole = u->block_offset > u->position;
	n = take(u, bytes, n);
	/* What was decoded has been charged as it came. */
	if (u->decode == NULL || is_hole)
		bomb = charge(u, n);
	if (bomb != NULL) {
		fail(u, "input.bomb", bomb);
		return -1;
	}
	u->position += (int64_t)n;
	return (ptrdiff_t)n;
}

static ptrdiff_t content_read(void *context, void *bytes, size_t n)
{
	return plain_read(context, bytes, n);
}

static void member_report(void *context, uint64_t at)
{
	struct unpack *u = context;
	struct place place = { .unit = PLACE_WHOLE, .byte_offset = at };

	u->reported = true;
	diag_add(u->options.diag, SEVERITY_WARNING, u->code, &place, "after %llu bytes: %s",
		 (unsigned long long)at, u->problem);
}

/* ---- the plain bytes for libarchive ---- */

static la_ssize_t give_archive(struct archive *a, void *context, const void **bytes)
{
	struct unpack *u = context;
	ptrdiff_t n = plain_read(u, u->buffer, BLOCK_BYTES);

	if (n < 0)
		archive_set_error(a, EILSEQ, "%s", u->problem);
	*bytes = u->buffer;
	return (la_ssize_t)n;
}

/* In a zip that is a file libarchive seeks: its members are listed at its end. */
static int open_archive(struct unpack *u)
{
	struct archive *a = u->archive;

	archive_read_support_filter_bzip2(a);
	archive_read_support_format_tar(a);
	/* One archive may follow another, as one member of gzip does. */
	archive_read_set_format_option(a, "tar", "read_concatenated_archives", "1");
	archive_read_support_format_zip(a);
	archive_read_support_format_raw(a);
	archive_read_support_format_empty(a);
	if (u->decode == NULL && u->fd >= 0)
		return archive_read_open_fd(a, u->fd, BLOCK_BYTES);
	u->buffer = arena_alloc(u->options.arena, BLOCK_BYTES);
	return archive_read_open(a, u, NULL, give_archive, NULL);
}

static void open_plain(struct unpack *u)
{
	struct arena *a = u->options.arena;

	u->plain = u->packed;
	if (decode_knows(stream_head(u->packed))) {
		u->decode = decode_new(u->packed, a);
		u->plain = stream_new(a, (struct stream_source){ .read = decoded_read, .context = u });
		if (!is_for_archive(stream_head(u->plain)))
			return;
	}
	u->archive = archive_read_new();
	if (u->archive == NULL)
		fail(u, "input.damaged", "no memory to unpack it");
	else if (open_archive(u) != ARCHIVE_OK)
		fail_by_archive(u, ARCHIVE_FATAL);
}

struct unpack *unpack_fd(int fd, const struct unpack_options *o)
{
	struct unpack *u = arena_alloc(o->arena, sizeof *u);

	u->options = *o;
	u->fd = fd;
	u->packed = stream_new(o->arena, (struct stream_source){ .read = fd_read, .context = u });
	open_plain(u);
	return u;
}

struct unpack *unpack_stream(struct stream *s, const struct unpack_options *o)
{
	struct unpack *u = arena_alloc(o->arena, sizeof *u);

	u->options = *o;
	u->fd = -1;
	u->packed = s;
	open_plain(u);
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

	if (!u->in_member || u->archive == NULL ||
	    (archive_format(u->archive) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_ZIP)
		return;
	while (member_read(u, nowhere, sizeof nowhere) > 0)
		;
}

/* Nothing at all, packed by bzip2, is smaller. */
#define NOTHING_BYTES 64

/* What breaks off in its first block may look as if there were nothing. */
static bool is_broken_at_once(const struct unpack *u)
{
	return archive_format(u->archive) == ARCHIVE_FORMAT_EMPTY && archive_filter_count(u->archive) > 1 &&
	       archive_filter_bytes(u->archive, -1) > NOTHING_BYTES;
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
		return told && !u->of_archive ? 0 : -1;
	u->code = NULL;
	return 1;
}

/* A time that somebody set, until the year 9999. */
static bool is_time(int64_t s)
{
	return s > 0 && s < INT64_C(253402300800);
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

/* The one member of what is no archive. As unpack_next. */
static int next_content(struct unpack *u, struct arena *member, struct unpack_member *out)
{
	char nothing;

	if (u->began)
		return 0;
	u->began = true;
	/* What breaks off at once is no member. */
	if (stream_head(u->plain).n == 0)
		return (int)plain_read(u, &nothing, sizeof nothing);
	*out = (struct unpack_member){
		.name = SV_ABSENT,
		.stream = stream_new(member, (struct stream_source){ .read = content_read, .report = member_report, .context = u }),
	};
	return 1;
}

/* As unpack_next. */
static int next_member(struct unpack *u, struct arena *member, struct unpack_member *out)
{
	struct archive_entry *entry;
	int rc = next_file(u, &entry);

	if (rc != 1)
		return rc;
	u->of_archive = archive_format(u->archive) != ARCHIVE_FORMAT_RAW;
	u->block_bytes = 0;
	u->position = 0;
	*out = (struct unpack_member){
		.name = u->of_archive ? name_of(entry, member) : SV_ABSENT,
		.stream = stream_new(member, (struct stream_source){ .read = member_read, .report = member_report, .context = u }),
	};
	tell_of(entry, out);
	return 1;
}

int unpack_next(struct unpack *u, struct arena *member, struct unpack_member *out)
{
	int rc = leave_member(u);

	if (rc == 1)
		rc = u->archive != NULL ? next_member(u, member, out) : next_content(u, member, out);
	u->in_member = rc == 1;
	return rc;
}

const char *unpack_problem(const struct unpack *u, const char **code)
{
	*code = u->code;
	return u->problem;
}

void unpack_close(struct unpack *u)
{
	if (u == NULL)
		return;
	if (u->archive != NULL)
		archive_read_free(u->archive);
	decode_close(u->decode);
}
