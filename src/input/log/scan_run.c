/* SPDX-License-Identifier: MIT */
/* See input/log/scan_run.h. */

#include "input/log/scan_run.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/spin.h"
#include "input/log/colours.h"
#include "input/log/scan_plan.h"
#include "input/stream.h"

/* A line that is delivered whole, and its CR and LF. */
#define LINE_MOST ((size_t)LINE_BYTES_MAX + 2)

#define BLOCK_ALIGNMENT ((size_t)4096)

/* Where a thread keeps its block. */
struct block {
	char *bytes;
	size_t capacity;
};

struct scan_reader {
	struct stream *stream;
	size_t block_bytes;
	struct mapped *mapped;	/* NULL when all of the stream is to be read */
	bool maps;		/* the next block is looked for there */
	char *tail;		/* the start of a line whose end has not been read; LINE_MOST and more */
	size_t tail_bytes, tail_capacity;
	uint64_t offset;	/* in the stream, of the tail: there the next block begins */
	bool ended;
	bool stuck;		/* that line is too long */
	struct block own;
};

/* ---- reading ---- */

struct scan_reader *scan_reader_new(struct stream *s, size_t block_bytes)
{
	struct scan_reader *r = memory_checked(calloc(1, sizeof *r));

	r->stream = s;
	r->block_bytes = block_bytes;
	r->mapped = stream_map(s);
	return r;
}

void scan_reader_free(struct scan_reader *r)
{
	if (r == NULL)
		return;
	mapped_free(r->mapped);
	free(r->own.bytes);
	free(r->tail);
	free(r);
}

static void keep_tail(struct scan_reader *r, const char *bytes, size_t n)
{
	if (n > r->tail_capacity) {
		r->tail_capacity = n + LINE_MOST / 16;
		free(r->tail);
		r->tail = memory_checked(malloc(r->tail_capacity));
	}
	if (n > 0)
		memcpy(r->tail, bytes, n);
	r->tail_bytes = n;
}

/* For n bytes, of which so many are there. */
static void make_room(struct block *b, size_t n, size_t kept)
{
	char *bytes;

	if (b->bytes != NULL && n + SCAN_SLACK <= b->capacity)
		return;
	/* A page's start: vectors then do not lie across two lines of the cache. */
	b->capacity = (n + SCAN_SLACK + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT;
	bytes = memory_checked(aligned_alloc(BLOCK_ALIGNMENT, b->capacity));
	if (b->bytes != NULL)
		memcpy(bytes, b->bytes, kept);
	free(b->bytes);
	b->bytes = bytes;
}

/* More bytes behind the n that are there: how many there are then. */
static size_t read_more(struct scan_reader *r, struct block *b, size_t n, size_t most)
{
	make_room(b, n + most, n);
	while (!r->ended && most > 0) {
		ptrdiff_t got = stream_read_on(r->stream, b->bytes + n, most);

		if (got <= 0) {
			r->ended = true;
			break;
		}
		n += (size_t)got;
		most -= (size_t)got;
	}
	return n;
}

/* To behind the last line feed; 0 when there is none. */
static size_t whole_lines(const char *bytes, size_t n)
{
	size_t at;

	return sv_rfind_char((struct sv){ bytes, n }, '\n', &at) ? at + 1 : 0;
}

/* What is left is read from there on. */
static void read_from(struct scan_reader *r, uint64_t offset)
{
	r->maps = false;
	r->ended = r->stuck = false;
	r->tail_bytes = 0;
	r->offset = offset;
	stream_read_from(r->stream, offset);
}

/* Blocks that follow are mapped, if they can be. */
static void begin_mapped(struct scan_reader *r)
{
	r->maps = r->mapped != NULL && !r->ended && !r->stuck;
}

/* Of what was mapped some is there no more: from there on it is read, which tells how far it goes. */
static void end_mapped(struct scan_reader *r, uint64_t offset)
{
	mapped_free(r->mapped);
	r->mapped = NULL;
	read_from(r, offset);
}

/*
 * A block where it lies. False for the last, behind which nothing may be
 * readable, and where no line ends in so many bytes: that is left to reading.
 */
static bool map_block(struct scan_reader *r, size_t about_bytes, struct scan_text *out)
{
	const char *bytes = (const char *)mapped_bytes(r->mapped) + r->offset;
	size_t whole;

	if (mapped_size(r->mapped) - r->offset < about_bytes + SCAN_SLACK)
		return false;
	whole = whole_lines(bytes, about_bytes);
	*out = (struct scan_text){
		.bytes = bytes, .n = whole, .byte_offset = r->offset, .is_mapped = true, .written = { bytes, whole },
	};
	r->offset += whole;
	return whole > 0;
}

/* Whether the first line, whose CR does not count, is longer than those that are delivered whole. */
static bool first_is_too_long(const char *bytes, size_t n)
{
	const char *feed = n > 0 ? memchr(bytes, '\n', n) : NULL;
	size_t line = feed != NULL ? (size_t)(feed - bytes) : n;

	line -= feed != NULL && line > 0 && bytes[line - 1] == '\r';
	return line > LINE_BYTES_MAX;
}

/* False at the end, and when the next line is too long: then it is in the tail. */
static bool read_block(struct scan_reader *r, size_t about_bytes, struct block *b, struct scan_text *out)
{
	size_t n = r->tail_bytes, whole;

	if (r->ended || r->stuck)
		return false;
	make_room(b, n, 0);
	if (n > 0)
		memcpy(b->bytes, r->tail, n);
	n = read_more(r, b, n, about_bytes);
	/* For the end of a long line as much again each time, so that it is looked for a few times only. */
	while ((whole = whole_lines(b->bytes, n)) == 0 && !r->ended && n <= LINE_MOST)
		n = read_more(r, b, n, n > about_bytes ? n : about_bytes);
	if (r->ended)
		whole = n;
	r->stuck = first_is_too_long(b->bytes, n);
	if (whole == 0 || r->stuck) {
		keep_tail(r, b->bytes, n);
		return false;
	}
	memset(b->bytes + n, 0, SCAN_SLACK);
	*out = (struct scan_text){
		.bytes = b->bytes, .n = whole, .byte_offset = r->offset, .unended = b->bytes[whole - 1] != '\n', .written = { b->bytes, whole },
	};
	keep_tail(r, b->bytes + whole, n - whole);
	r->offset += whole;
	return true;
}

/* The next block, mapped or read. */
static bool next_block(struct scan_reader *r, struct block *b, struct scan_text *out)
{
	if (r->maps && map_block(r, r->block_bytes, out))
		return true;
	if (r->maps)
		read_from(r, r->offset);
	return read_block(r, r->block_bytes, b, out);
}

bool scan_reader_next(struct scan_reader *r, size_t about_bytes, struct scan_text *out)
{
	return read_block(r, about_bytes, &r->own, out);
}

struct sv scan_reader_rest(const struct scan_reader *r, uint64_t *byte_offset)
{
	*byte_offset = r->offset;
	return (struct sv){ r->tail_bytes > 0 ? r->tail : "", r->tail_bytes };
}

/* ---- threads ---- */

/* Who reads next, and whose block is taken next. */
struct run {
	struct scan_reader *reader;
	const struct scan_plan *plan;
	struct scan_run_sink sink;
	pthread_mutex_t reading, taking;
	pthread_cond_t taken;
	uint64_t next_read;
	atomic_ullong next_taken;
	/* Under taking: */
	bool failed;
	bool lost;		/* a block was mapped and is there no more, nor are those behind it */
	uint64_t lost_at;
};

/* The next block and its number. */
static bool read_next(struct run *run, struct block *b, struct scan_text *out, uint64_t *number)
{
	bool read;

	pthread_mutex_lock(&run->reading);
	read = next_block(run->reader, b, out);
	*number = run->next_read;
	run->next_read += read;
	pthread_mutex_unlock(&run->reading);
	return read;
}

/* Whether the block, or one before it, was there no more when it was looked at. */
static bool is_lost(struct run *run, const struct scan_text *text)
{
	if (!run->lost && run->reader->mapped != NULL && mapped_is_lost(run->reader->mapped)) {
		run->lost = true;
		run->lost_at = text->byte_offset;
	}
	return run->lost;
}

/* When all blocks before have been taken. False when none is to be taken any more. */
static bool take_in_turn(struct run *run, uint64_t number, const struct scan_text *text, const struct scan *found)
{
	bool failed, lost;

	for (unsigned i = 0; i < SPIN_LOOKS && atomic_load(&run->next_taken) != number; i++)
		spin_pause();
	pthread_mutex_lock(&run->taking);
	while (run->next_taken != number && !run->failed)
		pthread_cond_wait(&run->taken, &run->taking);
	failed = run->failed;
	pthread_mutex_unlock(&run->taking);
	/* Nobody else's turn comes before this one is over. */
	lost = is_lost(run, text);
	if (!failed && !lost)
		failed = run->sink.take(run->sink.context, text, found) != 0;
	pthread_mutex_lock(&run->taking);
	run->next_taken = number + 1;
	run->failed |= failed;
	pthread_cond_broadcast(&run->taken);
	pthread_mutex_unlock(&run->taking);
	if (text->is_mapped)
		mapped_pass(run->reader->mapped, text->byte_offset + text->written.n);
	return !failed && !lost;
}

/* Where lines are looked at without colours. */
static void take_colours_off(struct scan_text *t, struct block *plain)
{
	if (!colours_in(t->written))
		return;
	make_room(plain, t->n, 0);
	t->n = colours_strip_lines(t->written, plain->bytes);
	memset(plain->bytes + t->n, 0, SCAN_SLACK);
	t->bytes = plain->bytes;
}

static void *work(void *context)
{
	struct run *run = context;
	struct scan found = { .plan = run->plan };
	struct block b = { NULL, 0 }, plain = { NULL, 0 };
	struct scan_text text;
	uint64_t number;

	while (read_next(run, &b, &text, &number)) {
		if (text.is_mapped)
			mapped_expect(run->reader->mapped, text.byte_offset + text.written.n);
		if (run->plan->finds_only)
			take_colours_off(&text, &plain);
		scan_block(&found, text.bytes, text.n, text.unended);
		if (!take_in_turn(run, number, &text, &found))
			break;
	}
	scan_free(&found);
	free(b.bytes);
	free(plain.bytes);
	return NULL;
}

/* All threads at once, to the end or to what is lost. */
static void run_threads(struct run *run, unsigned threads)
{
	pthread_t others[SCAN_THREADS_MAX];
	unsigned started = 0;

	/* One that cannot be started is not missed but for its speed. */
	while (started + 1 < threads && started < SCAN_THREADS_MAX && pthread_create(&others[started], NULL, work, run) == 0)
		started++;
	(void)work(run);
	for (unsigned i = 0; i < started; i++)
		pthread_join(others[i], NULL);
}

int scan_run(struct scan_reader *r, const struct scan_plan *p, unsigned threads, struct scan_run_sink sink)
{
	struct run run = { .reader = r, .plan = p, .sink = sink, .reading = PTHREAD_MUTEX_INITIALIZER,
			   .taking = PTHREAD_MUTEX_INITIALIZER, .taken = PTHREAD_COND_INITIALIZER };

	begin_mapped(r);
	run_threads(&run, threads);
	if (run.lost && !run.failed) {
		end_mapped(r, run.lost_at);
		run.lost = false;
		run.next_read = 0;
		run.next_taken = 0;
		run_threads(&run, threads);
	}
	pthread_mutex_destroy(&run.reading);
	pthread_mutex_destroy(&run.taking);
	pthread_cond_destroy(&run.taken);
	return run.failed ? -1 : 0;
}
