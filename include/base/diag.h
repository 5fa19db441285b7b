/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_BASE_DIAG_H
#define AFTERSHOCK_BASE_DIAG_H

/*
 * The collector of trouble. Whoever detects a problem records it here, once,
 * with its place; callers pass on -1 or go on, and print nothing. Of each
 * (code, input) the first few are kept whole and the rest are counted, so that
 * a hostile input costs no memory.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/sv.h"

enum severity {
	SEVERITY_NOTE,	  /* worth knowing, nothing lost: an input that is no evidence */
	SEVERITY_WARNING, /* evidence damaged or ignored in part: exit code 3 */
	SEVERITY_ERROR,	  /* an input not opened, a database not written: exit code 1 */
};

enum place_unit { PLACE_WHOLE, PLACE_LINE, PLACE_PACKET, PLACE_ROW };

/* Where something stands in an input. */
struct place {
	int64_t input;		/* id of the input, 0 when none */
	enum place_unit unit;
	uint64_t number;	/* line, packet or row, from 1; 0 with PLACE_WHOLE */
	uint64_t byte_offset;	/* of its first byte in the unpacked input */
};

struct problem {
	enum severity severity;
	struct sv code;	   /* stable, for scripts: "capture.truncated" */
	struct sv message; /* what, and what was expected; no place in it */
	struct sv path;	   /* the input as the user named it; absent when none */
	struct place place;
	uint64_t count;	   /* how many the entry stands for, at least 1 */
};

struct diag;

struct diag *diag_new(struct arena *run);

/* The path that is put into problems from now on; absent for none. Copied. */
void diag_set_input(struct diag *d, struct sv path, int64_t input);

/*
 * Records a problem at a place of the current input. place may be NULL for
 * the input as a whole. code must be a literal.
 */
void diag_add(struct diag *d, enum severity severity, const char *code, const struct place *place,
	      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* So many more of a kind whose first have been added one by one: they are only counted. */
void diag_add_more(struct diag *d, enum severity severity, const char *code, uint64_t times);

/* Takes over a problem as it was recorded in an earlier run. */
void diag_restore(struct diag *d, const struct problem *p);

/* In order of recording. The summaries ("and 12 more of these") stand last of their code and input. */
size_t diag_count(const struct diag *d);
const struct problem *diag_at(const struct diag *d, size_t i);
/* The worst severity recorded so far; false when there is no problem. */
bool diag_worst(const struct diag *d, enum severity *out);

const char *severity_name(enum severity s);
/* "line", "packet", "row", or NULL for the whole. */
const char *place_unit_name(enum place_unit u);
/* The other way; the whole for any other text, and for none. */
enum place_unit place_unit_by_name(struct sv name);

#endif
