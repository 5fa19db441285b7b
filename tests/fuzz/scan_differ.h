/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_TESTS_SCAN_DIFFER_H
#define AFTERSHOCK_TESTS_SCAN_DIFFER_H

/* All that a log gives, in words, so that two manners of reading it can be compared. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "input/log/log_reader.h"
#include "input/stream.h"

/* A stream that gives a few bytes at a time, and may break at its end; or a file. */
struct differ_source {
	struct sv text, left;
	int fd;			/* -1: it cannot be mapped */
	size_t step;
	bool breaks;
	struct diag *diag;
};

static inline ptrdiff_t differ_read(void *context, void *bytes, size_t n)
{
	struct differ_source *s = context;

	n = n < s->step ? n : s->step;
	n = n < s->left.n ? n : s->left.n;
	if (n == 0)
		return s->breaks ? -1 : 0;
	memcpy(bytes, s->left.p, n);
	s->left = sv_sub(s->left, n, s->left.n);
	return (ptrdiff_t)n;
}

static inline struct mapped *differ_map(void *context, struct arena *a)
{
	const struct differ_source *s = context;

	return s->fd >= 0 ? mapped_new(a, s->fd, s->text.n) : NULL;
}

static inline void differ_seek(void *context, uint64_t at)
{
	struct differ_source *s = context;

	s->left = sv_sub(s->text, (size_t)at, s->text.n);
}

/* A file without a name that holds the text. */
static inline int differ_file(struct sv text)
{
	char path[] = "/tmp/aftershock-differ-XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || unlink(path) != 0 || write(fd, text.p, text.n) != (ssize_t)text.n)
		abort();
	return fd;
}

static inline void differ_report(void *context, uint64_t at)
{
	const struct differ_source *s = context;
	struct place place = { .unit = PLACE_WHOLE, .byte_offset = at };

	diag_add(s->diag, SEVERITY_WARNING, "input.damaged", &place, "broken");
}

static inline int differ_put(void *context, const struct event *e)
{
	struct buf *b = context;

	buf_printf(b, "%s %d %" PRId64 " +%" PRId64 " [%.*s] %d:%" PRIu64 "@%" PRIu64 " {%.*s}", event_infos[e->type].name, (int)e->strength,
		   e->time.us, e->duration_us, SV_ARG(e->host), (int)e->place.unit, e->place.number, e->place.byte_offset,
		   SV_ARG(e->text));
	for (int f = 0; f < FIELD_COUNT; f++) {
		if ((e->set & FIELD_BIT(f)) == 0)
			continue;
		buf_printf(b, " %s=", field_infos[f].name);
		if (field_infos[f].type == FIELD_INT)
			buf_printf(b, "%" PRId64, e->value[f].number);
		else
			buf_add(b, e->value[f].text);
	}
	buf_add_char(b, '\n');
	return 0;
}

static inline void differ_info(struct buf *b, const struct input_info *i)
{
	buf_printf(b, "format %.*s host %.*s records %" PRIu64 " events %" PRIu64 " skipped %" PRIu64 " unrecognized %" PRIu64
		      " times %d %" PRId64 " %" PRId64 " zone %.*s %.*s\n",
		   SV_ARG(i->format), SV_ARG(i->host), i->records, i->events, i->skipped, i->unrecognized, (int)i->has_times,
		   i->has_times ? i->first.us : 0, i->has_times ? i->last.us : 0, SV_ARG(i->zone_name), SV_ARG(i->zone_source));
}

static inline void differ_problems(struct buf *b, const struct diag *d)
{
	for (size_t i = 0; i < diag_count(d); i++) {
		const struct problem *p = diag_at(d, i);

		buf_printf(b, "%d %.*s %d:%" PRIu64 "@%" PRIu64 " x%" PRIu64 " %.*s\n", (int)p->severity, SV_ARG(p->code),
			   (int)p->place.unit, p->place.number, p->place.byte_offset, p->count, SV_ARG(p->message));
	}
}

struct differ_input {
	struct sv text;
	const struct rules *rules;
	struct zone zone;
	size_t step;		/* bytes that the stream gives at once */
	bool breaks;
	bool maps;		/* it is a file that can be mapped, too */
};

/* The words for all that one manner gives. */
static inline struct buf differ_words(const struct differ_input *input, const struct log_manner *m)
{
	struct arena *run = arena_new(), *record = arena_new(), *arena = arena_new();
	struct differ_source source = {
		.text = input->text, .left = input->text, .fd = input->maps ? differ_file(input->text) : -1,
		.step = input->step, .breaks = input->breaks, .diag = diag_new(run),
	};
	struct input_info info = { .id = 1, .path = SV("x") };
	struct buf b;
	struct ingest in = {
		.stream = stream_new(arena, (struct stream_source){ differ_read, differ_report, &source, differ_map, differ_seek }),
		.info = &info,
		.rules = input->rules,
		.sink = { differ_put, &b },
		.diag = source.diag,
		.record = record,
		.input = arena,
		.zone = input->zone,
		.base_name = SV("x"),
	};

	buf_init(&b);
	if (log_read_in_manner(&in, m) != 0)
		buf_add(&b, SV("failed\n"));
	differ_info(&b, &info);
	differ_problems(&b, source.diag);
	if (source.fd >= 0)
		close(source.fd);
	arena_free(arena);
	arena_free(record);
	arena_free(run);
	return b;
}

/* Whether both give the same; shows the first difference. */
static inline bool differ_same(const struct differ_input *input, const struct log_manner *m)
{
	const struct log_manner careful = { .careful = true };
	struct buf expected = differ_words(input, &careful), got = differ_words(input, m);
	bool same = sv_eq(buf_sv(&expected), buf_sv(&got));
	struct sv x = buf_sv(&expected), y = buf_sv(&got);

	while (!same && !sv_is_absent(x) && !sv_is_absent(y)) {
		struct sv one = sv_cut(&x, '\n'), other = sv_cut(&y, '\n');

		if (sv_eq(one, other))
			continue;
		fprintf(stderr, "mapped %d threads %u block %zu head %zu\ncareful: %.*s\nblocks:  %.*s\n", (int)input->maps, m->threads, m->block_bytes, m->head_bytes,
			SV_ARG(one), SV_ARG(other));
		break;
	}
	buf_fini(&expected);
	buf_fini(&got);
	return same;
}

#endif
