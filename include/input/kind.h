/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_KIND_H
#define AFTERSHOCK_INPUT_KIND_H

/*
 * What source.c and the kinds of input share: a stream of unpacked bytes, its
 * lines, and the context in which a kind reads. A new kind is one file with a
 * "const struct kind" and one row of KINDS in item.c.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "input/rules/rules.h"
#include "model/input_info.h"

/* Unpacked bytes, read once from start to end, with a look ahead at the start. */
struct stream;
#define STREAM_HEAD_BYTES 65536
/* The first bytes (up to STREAM_HEAD_BYTES, or as far as somebody looked: stream.h); they will be read again. */
struct sv stream_head(struct stream *s);
/* Up to n bytes; 0 at the end; -1 on damage, which has been recorded: what came before it is good. */
ptrdiff_t stream_read(struct stream *s, void *bytes, size_t n);

/*
 * Lines of a stream, without their end (LF, CRLF). A line longer than
 * LINE_BYTES_MAX is cut there and the rest of it is passed over and counted
 * (a problem "line.too_long"). Views live until the next call.
 */
#define LINE_BYTES_MAX (1024 * 1024)
struct lines;
struct line {
	struct sv text;
	uint64_t number;	/* from 1 */
	uint64_t byte_offset;
	bool cut;
	bool unended;	/* the input ends, or breaks off, without the end of this line */
};
struct lines *lines_new(struct stream *s, struct diag *d);
/* 1, 0 at the end, -1 on damage (recorded). */
int lines_next(struct lines *l, struct line *out);
/*
 * From the middle of a stream on: first are bytes of it that somebody has read,
 * from the start of a line, before what the stream gives yet; number is that of
 * the line before.
 */
struct lines *lines_resume(struct stream *s, struct diag *d, struct sv first, uint64_t number, uint64_t byte_offset);
/*
 * Zeros where a line begins are no part of it from now on, and are told of: at the start they stand where a file was
 * truncated below its writer (a note), later where a machine went down while it wrote. Gives l.
 */
struct lines *lines_without_zeros(struct lines *l);
/* Accepts NULL. */
void lines_free(struct lines *l);
/*
 * The head of a stream as its lines will have it: without a byte order mark,
 * in UTF-8. What sniffers of text are given.
 */
struct sv lines_preview(struct arena *a, struct sv head);
/*
 * The text that the lines of a stream begin with, as lines_preview gives it, but behind zeros at the start, however
 * many: what readers by lines_without_zeros are given. Before anything was read. Empty when there are but zeros.
 */
struct sv lines_first_text(struct arena *a, struct stream *s);
/* Whether bytes that begin so are no UTF-8 and become it: what reads bytes must read lines instead. */
bool lines_are_decoded(struct sv head);

enum sniffed {
	SNIFF_NOT_MINE,
	SNIFF_MINE,
	SNIFF_BROKEN,	/* mine, but damaged so that nothing can be read: *why says how */
};

/* In which a kind reads one input. */
struct ingest {
	struct stream *stream;
	struct input_info *info;	/* the kind sets format, zone and counts; put() keeps first, last and events */
	const struct rules *rules;
	struct event_sink sink;
	struct diag *diag;		/* its input is set already */
	struct arena *record;		/* for one record; the kind resets it */
	struct arena *input;		/* for the whole input */
	unsigned threads;		/* that may read it together; 0: one */
	struct zone zone;		/* for times without one */
	bool zone_is_option;		/* chosen by the user, else assumed UTC */
	bool host_is_option;		/* info->host was named by the user, else it is the directory's name or absent */
	struct sv base_name;		/* last part of info->path */
	bool has_modified;		/* when the file was last written to, for times without a year */
	struct host_time modified;
	bool has_near;			/* a time near which the incident lies, by the options */
	struct host_time near;
};

/*
 * Completes an event (host, input id) and gives it to the sink; keeps
 * info->events, first and last. 0 or -1.
 */
int ingest_put(struct ingest *in, struct event *e);
/* Emits evidence.covered for the interval. */
int ingest_covered(struct ingest *in, const char *kind, struct host_time start, struct host_time end, uint64_t samples);
/*
 * Notes that a time was read, which carried its zone or not, for zone_name and
 * zone_source of info. One time that needed the zone of the input outweighs any
 * number that did not.
 */
void ingest_zone(struct ingest *in, bool zoned);

struct kind {
	const char *name;	/* in reports and --as: "log", "capture" */
	/*
	 * Judges by the first bytes alone (as lines_preview gives them); base_name is a help, never decisive.
	 * rules may be NULL. The head may end in the middle of a line.
	 */
	enum sniffed (*sniff)(struct sv head, struct sv base_name, const struct rules *rules, const char **why);
	/* Reads to the end. 0, also when parts were damaged (recorded); -1 when the sink failed. */
	int (*read)(struct ingest *in);
};

extern const struct kind capture_kind;	/* pcap, pcapng */
extern const struct kind counters_kind;	/* of kernels and hosts: sampling loops, sar, Prometheus and the like */
extern const struct kind snapshot_kind;	/* kafka-consumer-groups --describe, in sampling loops */
extern const struct kind table_kind;	/* CSV, TSV, JSON Lines, mapped by rules */
extern const struct kind log_kind;	/* text logs, by layouts and rules */

#endif
