/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_ITEM_H
#define AFTERSHOCK_INPUT_ITEM_H

/*
 * One input, wherever it lies: finds out its kind, and takes it from the
 * sink's begin to its end. source.c finds the items.
 */

#include <stdbool.h>
#include <stdint.h>

#include "input/source.h"
#include "input/stream.h"

/* What all items of one argument share. */
struct item_context {
	const struct ingest_options *options;
	struct input_sink *sink;
	struct diag *diag;
	struct arena *input;	/* reset for each item */
	struct arena *record;
};

struct item {
	struct sv path;		/* as shown */
	struct sv below;	/* the part of it that may name its host: below the argument, inside the archive */
	struct sv digest;	/* as in struct identity */
	int sampled_fd;		/* the file that was only sampled; -1: the digest is whole */
	bool has_size;		/* else it is what the stream gives */
	uint64_t size_bytes;
	bool has_modified;	/* when it was last written to */
	int64_t modified_s;
	bool named;		/* is the argument itself: passing it over is worth a warning */
	struct stream *stream;	/* NULL when there is nothing to read, or why it is passed over is known */
};

/* Reads it through its kind, or passes it over. 0, -1 when the sink failed or the rules are refused. */
int item_ingest(const struct item_context *c, const struct item *item);
/* Passes it over; code is "input.skipped", a note unless it was named, or that of a warning. 0, -1 when the sink failed. */
int item_skip(const struct item_context *c, const struct item *item, const char *code, struct sv why);

#endif
