/* SPDX-License-Identifier: MIT */
/* The only file that knows PCRE2 (pcre2api(3), pcre2jit(3)). */

#include "input/rules/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/*
 * A sensible message pattern needs a few hundred steps for a line of 300 bytes.
 * The limit lets a line of 256 KiB through and ends a runaway within some
 * milliseconds.
 */
#define MATCH_LIMIT 2000000
#define DEPTH_LIMIT 10000
#define HEAP_LIMIT_KIB 4096

/* What matching needs and leaves behind: apart, so that a const regex can match. */
struct matcher {
	pcre2_match_data *captures;	/* NULL before the first match */
	pcre2_match_context *limits;
	bool by_jit;
	struct sv subject;	/* of the last match */
	size_t groups;		/* that may have taken part in it; 0 when it failed */
};

struct regex {
	pcre2_code *code;
	struct matcher *matcher;
	PCRE2_SPTR names;	/* entries: number (two bytes, high first), name, NUL */
	size_t name_count;
	size_t name_entry_bytes;
};

static pcre2_code *compile(struct sv pattern, enum regex_mode mode, struct regex_error *error)
{
	int code;
	PCRE2_SIZE at;
	uint32_t options = PCRE2_DUPNAMES | PCRE2_NEVER_UTF | PCRE2_NEVER_BACKSLASH_C;

	if (mode == REGEX_LINES)
		options |= PCRE2_MULTILINE;
	pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)pattern.p, pattern.n, options, &code, &at, NULL);

	if (compiled == NULL) {
		error->at = at;
		if (pcre2_get_error_message(code, (PCRE2_UCHAR *)error->message, sizeof error->message) < 0)
			snprintf(error->message, sizeof error->message, "error %d", code);
	}
	return compiled;
}

static void read_names(struct regex *r)
{
	uint32_t count = 0, bytes = 0;

	pcre2_pattern_info(r->code, PCRE2_INFO_NAMECOUNT, &count);
	pcre2_pattern_info(r->code, PCRE2_INFO_NAMEENTRYSIZE, &bytes);
	pcre2_pattern_info(r->code, PCRE2_INFO_NAMETABLE, &r->names);
	r->name_count = count;
	r->name_entry_bytes = bytes;
}

struct regex *regex_new(struct sv pattern, enum regex_mode mode, struct regex_error *error)
{
	memset(error, 0, sizeof *error);
	pcre2_code *code = compile(pattern, mode, error);

	if (code == NULL)
		return NULL;
	struct regex *r = memory_checked(calloc(1, sizeof *r));

	r->code = code;
	r->matcher = memory_checked(calloc(1, sizeof *r->matcher));
	read_names(r);
	return r;
}

/* At the first match: of some hundred patterns most are never run, and to compile one by JIT takes longer than to read it. */
static void prepare(const struct regex *r)
{
	struct matcher *m = r->matcher;

	/* Without JIT (no support, or a hardened kernel) it is interpreted: slower, the same results. */
	m->by_jit = pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE) == 0;
	m->captures = memory_checked(pcre2_match_data_create_from_pattern(r->code, NULL));
	m->limits = memory_checked(pcre2_match_context_create(NULL));
	pcre2_set_match_limit(m->limits, MATCH_LIMIT);
	pcre2_set_depth_limit(m->limits, DEPTH_LIMIT);
	pcre2_set_heap_limit(m->limits, HEAP_LIMIT_KIB);
}

void regex_free(struct regex *r)
{
	if (r == NULL)
		return;
	pcre2_match_context_free(r->matcher->limits);
	pcre2_match_data_free(r->matcher->captures);
	free(r->matcher);
	pcre2_code_free(r->code);
	free(r);
}

bool regex_match(const struct regex *r, struct sv subject, size_t from)
{
	struct matcher *m = r->matcher;

	if (sv_is_absent(subject))
		subject = SV("");
	if (from > subject.n)
		return false;
	if (m->captures == NULL)
		prepare(r);
	PCRE2_SPTR text = (PCRE2_SPTR)subject.p;
	int rc = m->by_jit ? pcre2_jit_match(r->code, text, subject.n, from, 0, m->captures, m->limits)
			   : pcre2_match(r->code, text, subject.n, from, 0, m->captures, m->limits);

	/* JIT has a small stack of its own (32 KiB); the interpreter has the heap. */
	if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
		rc = pcre2_match(r->code, text, subject.n, from, PCRE2_NO_JIT, m->captures, m->limits);
	m->subject = subject;
	m->groups = rc > 0 ? (size_t)rc : 0;
	return rc > 0;
}

/* A match that would look behind the end of the subject is a partial one (pcre2partial(3)); what fails before it fails for good. */
bool regex_excludes_start(const struct regex *r, struct sv start)
{
	struct matcher *m = r->matcher;
	uint32_t options = 0;

	if (m->captures == NULL)
		prepare(r);
	m->groups = 0;
	/* Else it might begin to match further on. */
	if (start.n == 0 || pcre2_pattern_info(r->code, PCRE2_INFO_ALLOPTIONS, &options) != 0 || (options & PCRE2_ANCHORED) == 0)
		return false;
	return pcre2_match(r->code, (PCRE2_SPTR)start.p, start.n, 0, PCRE2_PARTIAL_HARD | PCRE2_NO_JIT, m->captures, m->limits) ==
	       PCRE2_ERROR_NOMATCH;
}

struct sv regex_group(const struct regex *r, size_t number)
{
	const struct matcher *m = r->matcher;

	if (number >= m->groups)
		return SV_ABSENT;
	const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(m->captures) + 2 * number;

	/* \K in a lookahead can put the start behind the end. */
	if (ends[0] == PCRE2_UNSET || ends[1] < ends[0] || ends[1] > m->subject.n)
		return SV_ABSENT;
	return (struct sv){ m->subject.p + ends[0], ends[1] - ends[0] };
}

struct sv regex_name(const struct regex *r, size_t i, size_t *number)
{
	PCRE2_SPTR entry = r->names + i * r->name_entry_bytes;

	*number = (size_t)entry[0] << 8 | entry[1];
	return sv_of((const char *)entry + 2);
}

size_t regex_name_count(const struct regex *r)
{
	return r->name_count;
}

struct sv regex_named(const struct regex *r, struct sv name)
{
	for (size_t i = 0; i < r->name_count; i++) {
		size_t number;
		struct sv group;

		if (!sv_eq(regex_name(r, i, &number), name))
			continue;
		group = regex_group(r, number);
		if (!sv_is_absent(group))
			return group;
	}
	return SV_ABSENT;
}
