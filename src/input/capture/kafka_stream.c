/* SPDX-License-Identifier: MIT */
/* See input/capture/kafka_stream.h. */

#include "input/capture/kafka_stream.h"

#include <string.h>

/* 8 MB in all. */
#define BUFFERS_MOST 1024
/* Of one direction; more, and the gap before them is taken for lost. */
#define PARKED_MOST 16
/* A segment farther off belongs to no gap: the stream goes on elsewhere, or the number is corrupt. */
#define GAP_MOST (1 << 24)

struct kafka_buffer {
	struct kafka_buffer *next;
	struct kafka_frame frame;	/* of a held frame; bytes and n are kept up to date */
	struct kafka_piece piece;	/* of a parked segment */
	uint64_t wanted;
	uint8_t bytes[KAFKA_BUFFER_BYTES];
};

/* Everything that a step needs. */
struct step {
	struct kafka_stream *stream;
	struct kafka_pool *pool;
	const struct kafka_framing *framing;
	void *context;
};

static struct kafka_buffer *take_buffer(struct kafka_pool *pool)
{
	struct kafka_buffer *b = pool->free;

	if (b != NULL) {
		pool->free = b->next;
	} else if (pool->made < BUFFERS_MOST) {
		b = arena_alloc(pool->arena, sizeof *b);
		pool->made++;
	}
	return b;
}

static void give_back(struct kafka_pool *pool, struct kafka_buffer *b)
{
	if (b == NULL)
		return;
	b->next = pool->free;
	pool->free = b;
}

static void release_held(struct step *t)
{
	give_back(t->pool, t->stream->held);
	t->stream->held = NULL;
}

static void lose_sync(struct step *t)
{
	release_held(t);
	t->stream->lost += t->stream->synced;
	t->stream->synced = false;
	t->stream->over = 0;
}

/* ---- frames ---- */

/* A frame, as far as it is at hand; what follows in it is passed over. */
static void put_frame(struct step *t, const struct kafka_frame *f)
{
	struct kafka_stream *s = t->stream;

	s->follows = false;
	s->over = f->size - f->n;
	if (!t->framing->frame(t->context, f, &s->follows))
		lose_sync(t);
}

static size_t least(uint64_t x, uint64_t y)
{
	return (size_t)(x < y ? x : y);
}

/* False: no frame can begin with this header. */
static bool measure(struct step *t, const uint8_t *header, uint64_t *size, uint64_t *wanted)
{
	*size = t->framing->size(t->context, header);
	if (*size < t->framing->header_bytes)
		return false;
	*wanted = least(least(t->framing->wanted(t->context, header, *size), *size), KAFKA_BUFFER_BYTES);
	if (*wanted < t->framing->header_bytes)
		*wanted = t->framing->header_bytes;
	return true;
}

/* Begins to collect a frame; false when there is no room. */
static bool hold(struct step *t, const struct kafka_piece *p, uint32_t sequence)
{
	struct kafka_buffer *b = take_buffer(t->pool);

	if (b == NULL)
		return false;
	b->frame = (struct kafka_frame){ .bytes = b->bytes, .sequence = sequence, .us = p->us, .place = p->place };
	b->wanted = t->framing->header_bytes;
	t->stream->held = b;
	return true;
}

/* Adds to the frame that is held, which goes out when it is as long as wanted. Returns how many bytes it took. */
static size_t add_held(struct step *t, const uint8_t *bytes, size_t n)
{
	struct kafka_buffer *b = t->stream->held;
	size_t taken = least(n, b->wanted - b->frame.n);

	memcpy(b->bytes + b->frame.n, bytes, taken);
	b->frame.n += taken;
	if (b->frame.n < b->wanted)
		return taken;
	if (b->frame.size == 0) {
		if (!measure(t, b->bytes, &b->frame.size, &b->wanted)) {
			lose_sync(t);
			return taken;
		}
		if (b->frame.n < b->wanted)
			return taken;
	}
	t->stream->held = NULL;
	put_frame(t, &b->frame);
	give_back(t->pool, b);
	return taken;
}

/* Bytes at a frame's start; returns how many it took. */
static size_t begin_frame(struct step *t, const struct kafka_piece *p, size_t at)
{
	const size_t n = p->captured - at, header = t->framing->header_bytes;
	const uint32_t sequence = p->sequence + (uint32_t)at;
	struct kafka_frame f = { .bytes = p->bytes + at, .sequence = sequence, .us = p->us, .place = p->place };
	uint64_t wanted;

	if (n >= header) {
		if (!measure(t, f.bytes, &f.size, &wanted)) {
			lose_sync(t);
			return 0;
		}
		if (n >= wanted) {
			f.n = (size_t)wanted;
			put_frame(t, &f);
			return f.n;
		}
	}
	if (hold(t, p, sequence))
		return add_held(t, f.bytes, n);
	/* No room: what is here must do. */
	if (n < header) {
		lose_sync(t);
		return 0;
	}
	f.n = n;
	put_frame(t, &f);
	return n;
}

/* More of the latest frame. Who wanted it may have given way to other framing since (SASL without headers). */
static void tell_rest(struct step *t, const uint8_t *bytes, uint64_t n)
{
	if (t->stream->follows && t->framing->rest != NULL)
		t->framing->rest(t->context, bytes, n);
}

static size_t pass_over(struct step *t, const uint8_t *bytes, size_t n)
{
	struct kafka_stream *s = t->stream;
	size_t passed = least(n, s->over);

	s->over -= passed;
	tell_rest(t, bytes, passed);
	return passed;
}

static void take_bytes(struct step *t, const struct kafka_piece *p)
{
	struct kafka_stream *s = t->stream;

	for (size_t at = 0; at < p->captured && s->synced;) {
		if (s->over > 0)
			at += pass_over(t, p->bytes + at, p->captured - at);
		else if (s->held != NULL)
			at += add_held(t, p->bytes + at, p->captured - at);
		else
			at += begin_frame(t, p, at);
	}
}

/* n bytes went by that are not at hand. */
static void take_loss(struct step *t, uint64_t n)
{
	struct kafka_stream *s = t->stream;

	if (s->held != NULL && s->held->frame.size > 0) {
		struct kafka_buffer *b = s->held;

		s->held = NULL;
		put_frame(t, &b->frame);
		give_back(t->pool, b);
	}
	if (!s->synced || n == 0)
		return;
	if (s->held != NULL || s->over < n) {
		if (s->over > 0)
			tell_rest(t, NULL, s->over);
		/* All that is lost may have been whole frames, and what comes next begins one: begins() is asked. */
		lose_sync(t);
		return;
	}
	s->over -= n;
	tell_rest(t, NULL, n);
}

/* ---- segments in order ---- */

static void consume(struct step *t, const struct kafka_piece *p)
{
	struct kafka_stream *s = t->stream;

	s->next = p->sequence + (uint32_t)p->wire;
	if (!s->synced && p->captured > 0 && t->framing->begins(t->context, p)) {
		s->synced = true;
		s->over = 0;
	}
	if (!s->synced)
		return;
	take_bytes(t, p);
	if (p->wire > p->captured)
		take_loss(t, p->wire - p->captured);
}

/* Without its first n bytes on the wire. */
static struct kafka_piece without(const struct kafka_piece *p, size_t n)
{
	struct kafka_piece rest = *p;
	size_t captured = n < p->captured ? n : p->captured;

	rest.sequence += (uint32_t)n;
	rest.bytes += captured;
	rest.captured -= captured;
	rest.wire -= n;
	return rest;
}

static void consume_new(struct step *t, const struct kafka_piece *p)
{
	int32_t old = (int32_t)(t->stream->next - p->sequence);

	if (old >= 0 && (size_t)old < p->wire) {
		struct kafka_piece rest = without(p, (size_t)old);

		consume(t, &rest);
	}
}

static struct kafka_buffer *pop_parked(struct kafka_stream *s)
{
	struct kafka_buffer *b = s->parked;

	s->parked = b->next;
	s->parked_count--;
	return b;
}

/* Those that the stream has reached. The time at which they can be read is that of what filled the gap. */
static void consume_parked(struct step *t, int64_t us)
{
	struct kafka_stream *s = t->stream;

	while (s->parked != NULL && (int32_t)(s->parked->piece.sequence - s->next) <= 0) {
		struct kafka_buffer *b = pop_parked(s);

		if (b->piece.us < us)
			b->piece.us = us;
		consume_new(t, &b->piece);
		give_back(t->pool, b);
	}
}

/* What the first of those parked waits for will not come. */
static void give_up_gap(struct step *t)
{
	struct kafka_stream *s = t->stream;
	uint32_t gap = s->parked->piece.sequence - s->next;

	s->next += gap;
	take_loss(t, gap);
	consume_parked(t, INT64_MIN);
}

static void park(struct step *t, const struct kafka_piece *p)
{
	struct kafka_stream *s = t->stream;
	struct kafka_buffer **at = &s->parked, *b;

	while (*at != NULL && (int32_t)((*at)->piece.sequence - p->sequence) < 0)
		at = &(*at)->next;
	if (*at != NULL && (*at)->piece.sequence == p->sequence && (*at)->piece.wire >= p->wire)
		return;
	b = take_buffer(t->pool);
	if (b == NULL)
		return;	/* it will show as a gap of its own */
	b->piece = *p;
	b->piece.captured = least(p->captured, KAFKA_BUFFER_BYTES);
	b->piece.bytes = b->bytes;
	if (b->piece.captured > 0)
		memcpy(b->bytes, p->bytes, b->piece.captured);
	b->next = *at;
	*at = b;
	s->parked_count++;
}

void kafka_stream_start(struct kafka_stream *s, uint32_t sequence)
{
	s->started = s->synced = true;
	s->next = sequence;
	s->over = 0;
}

/* The inside of a frame. */
static void pass(struct step *t, const struct kafka_piece *p)
{
	kafka_stream_pass_inside(t->stream, p->wire);
	tell_rest(t, p->bytes, p->captured);
	if (p->wire > p->captured)
		tell_rest(t, NULL, p->wire - p->captured);
}

void kafka_stream_take(struct kafka_stream *s, struct kafka_pool *pool, const struct kafka_framing *f, void *context,
		       const struct kafka_piece *p)
{
	struct step t = { s, pool, f, context };
	int32_t ahead;

	if (kafka_stream_is_inside(s, p->sequence, p->wire)) {
		pass(&t, p);
		return;
	}
	if (!s->started) {
		s->started = true;
		s->next = p->sequence;
	}
	ahead = (int32_t)(p->sequence - s->next);
	if (ahead > GAP_MOST || ahead < -GAP_MOST) {
		kafka_stream_reset(s, pool);
		return;
	}
	if (ahead > 0) {
		park(&t, p);
		if (s->parked_count > PARKED_MOST)
			give_up_gap(&t);
		return;
	}
	if (ahead == 0)
		consume(&t, p);
	else
		consume_new(&t, p);
	if (s->parked != NULL)
		consume_parked(&t, p->us);
}

void kafka_stream_acknowledged(struct kafka_stream *s, struct kafka_pool *pool, const struct kafka_framing *f,
			       void *context, uint32_t ack)
{
	struct step t = { s, pool, f, context };

	while (s->parked != NULL && (int32_t)(ack - s->parked->piece.sequence) > 0)
		give_up_gap(&t);
}

void kafka_stream_reset(struct kafka_stream *s, struct kafka_pool *pool)
{
	while (s->parked != NULL)
		give_back(pool, pop_parked(s));
	give_back(pool, s->held);
	*s = (struct kafka_stream){ .lost = s->lost };
}
