/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_READER_H
#define AFTERSHOCK_INPUT_LOG_READER_H

/* Between log.c, which reads records, and log_blocks.c and log_wrapped.c, which join those that were only counted to them. */

#include "input/kind.h"
#include "input/log/log.h"
#include "input/log/log_time.h"
#include "input/log/scan_run.h"
#include "input/log/unwrap.h"

/* Hosts beyond these have no coverage of their own. */
#define HOSTS_MAX 64

/* One of those who write to the file. */
struct log_writer {
	uint64_t serial;		/* of whom it is; another may come after it */
	struct log_clock clock;
	struct arena *arena;
	struct speakers speakers;
};

/* What was read of one host: the input's, or of several that wrappers name. */
struct log_host {
	struct sv name;
	struct host_time first, last;	/* of its records, in whatever order */
	uint64_t timed;			/* records with a time */
};

struct log_reader {
	struct ingest *in;
	struct unwrap *unwrap;
	struct log_times times;
	struct log_writer writers[UNWRAP_WRITERS_MAX];
	struct log_host hosts[HOSTS_MAX];
	size_t host_count;
};

/* Who has that place among the writers; what was known of one who had it before is forgotten. */
struct log_writer *log_writer_of(struct log_reader *reader, size_t writer, uint64_t serial);
/* NULL when there are too many. */
struct log_host *log_host_of(struct log_reader *reader, struct sv name);
/* So many records of it, in these times. Accepts NULL. */
void log_host_passed(struct log_host *h, struct host_time least, struct host_time most, uint64_t records);
/* When it is so much that it is worth a word. */
void log_note_backwards(const struct log_reader *reader, int64_t back_us, const struct place *place);
void log_note_near_miss(const struct log_reader *reader, struct sv message, const struct place *place);
/* So many more of both, behind those of which something is said. */
void log_note_more(const struct log_reader *reader, uint64_t near_misses, uint64_t steps_back);

/* A record that was found without unwrap, and what is known of it. */
struct log_plain {
	struct joined joined;	/* without its time, which is: */
	struct host_time time;
	bool near;		/* may speak of consumer groups */
	const uint32_t *rules;	/* that may know it, as for rules_events_among */
	size_t rule_count;
};
/* 0, or -1 when the sink failed. */
int log_take_plain(struct log_reader *reader, struct log_writer *w, const struct log_plain *r);

/*
 * As take_record in log.c, of a record that no rule knows, or one that says
 * nothing (known), whose writer has had records before. near: the message, when
 * it speaks of consumer groups; else absent. host: of its wrapper. False when
 * that cannot be done without the record: nothing was done.
 */
bool log_take_counted(struct log_reader *reader, struct log_writer *w, const struct log_counted *r, struct sv host, bool known,
		      struct sv near, const struct place *place);

/* How a log is read; for tests, for what is concluded does not depend on it. */
struct log_manner {
	bool careful;		/* every line of it */
	unsigned threads;
	size_t block_bytes;
	size_t head_bytes;	/* that are read with care in any case; less than STREAM_HEAD_BYTES */
	uint64_t *passed;	/* NULL, or where to say how many lines of a log in wrappers were not read with care */
};
int log_read_in_manner(struct ingest *in, const struct log_manner *m);

/* ---- log_blocks.c: blocks put together in their order ---- */

struct log_blocks {
	struct log_reader *reader;
	const struct scan_plan *plan;
	uint64_t lines;		/* before the block */
	unsigned form;		/* of the last record that was not read */
	bool reading;		/* the last record is in the hands of unwrap */
	/* Or else it was counted, but for it may go on: a copy of what there is of it. */
	bool is_open;
	struct scan_record open;
	uint64_t open_line, open_offset;
	char *bytes;
	size_t n;
	bool is_long;		/* and more than can be kept */
	struct log_plain plain;	/* the one at hand */
};
void log_blocks_init(struct log_blocks *b, struct log_reader *reader, const struct scan_plan *plan);
/* The first blocks, of which every line is read. */
int log_blocks_read_head(struct log_blocks *b, struct scan_reader *r, size_t head_bytes);
/* As a scan_run_sink takes them. */
int log_blocks_take(void *context, const struct scan_text *text, const struct scan *found);
/* ended: the stream has been read to its end. */
int log_blocks_end(struct log_blocks *b, bool ended);
void log_blocks_fini(struct log_blocks *b);

#endif
