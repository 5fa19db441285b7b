/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_SCAN_RUN_H
#define AFTERSHOCK_INPUT_LOG_SCAN_RUN_H

/*
 * A stream in blocks of whole lines, scanned by one thread or more, and taken in
 * their order by one at a time: what is concluded does not depend on how many
 * they are. The stream is read in turn too, so that it may be a compressed one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sv.h"
#include "input/kind.h"
#include "input/log/scan.h"

#define SCAN_THREADS_MAX 64

struct scan_text {
	const char *bytes;	/* whole lines, but for the last of the stream */
	size_t n;
	uint64_t byte_offset;
	bool unended;		/* the last line has no line feed */
	bool is_mapped;		/* written lies where the file is mapped */
	/*
	 * The same as it stands in the stream: where lines are only looked at (scan_plan.h,
	 * finds_only) bytes are without colours. byte_offset is its own.
	 */
	struct sv written;
};

struct scan_reader;
/* Blocks of about so many bytes; longer where a line is. */
struct scan_reader *scan_reader_new(struct stream *s, size_t block_bytes);
/* Accepts NULL. */
void scan_reader_free(struct scan_reader *r);
/* The next block, of about so many bytes; it lives until the next call. False at the end, and before a line that is too long. */
bool scan_reader_next(struct scan_reader *r, size_t about_bytes, struct scan_text *out);
/*
 * What was read of the stream and is in no block, from a line on that is longer
 * than LINE_BYTES_MAX. Empty when all of it was.
 */
struct sv scan_reader_rest(const struct scan_reader *r, uint64_t *byte_offset);

/* Takes a block and what was found in it: 0, or -1 to end the run. */
struct scan_run_sink {
	int (*take)(void *context, const struct scan_text *text, const struct scan *found);
	void *context;
};
/* All blocks that are left. 0, or -1 when the sink said so. */
int scan_run(struct scan_reader *r, const struct scan_plan *p, unsigned threads, struct scan_run_sink sink);

#endif
