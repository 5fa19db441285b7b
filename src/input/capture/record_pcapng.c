/* SPDX-License-Identifier: MIT */
/*
 * pcapng (draft-ietf-opsawg-pcapng): blocks that say their length before and
 * behind. Sections may differ in byte order, and each begins its interfaces
 * anew; an interface has a link type, a snapshot length, a unit of time and a
 * shift of its own. Blocks that carry no packet and no statistics are stepped
 * over.
 */

#include "input/capture/record.h"

#include <string.h>

#include "input/capture/scout.h"

enum block {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET_OLD = 2,
	BLOCK_PACKET_SIMPLE = 3,
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
};

#define BYTE_ORDER_MAGIC UINT32_C(0x1a2b3c4d)
/* Type and length before, length behind. */
#define FRAME_BYTES 12
/* A section may list as many as a host has; more than this is damage. */
#define INTERFACES_MAX 4096

/* Codes of options (figures 9 to 16 of the draft). */
enum option { OPTION_END = 0, OPTION_OLD_FLAGS = 2, OPTION_RESOLUTION = 9, OPTION_OFFSET = 14 };
enum { OPTION_DROPCOUNT = 4 };				/* of a packet */
enum { OPTION_STATS_IFDROP = 5, OPTION_STATS_OSDROP = 7 };	/* of statistics */

struct interface {
	uint32_t link, snaplen;
	/* Ticks a second: a power of ten as such, else of two as its exponent. */
	bool is_binary;
	uint8_t exponent;
	uint64_t per_second;
	int64_t offset_s;
	/* For drops: the latest packet's or statistics' time, and the counters then. */
	int64_t last_us;
	int64_t counted_us;
	uint64_t dropped;
};

struct record_reader {
	struct intake *in;
	struct arena *arena;
	bool big_endian;
	struct interface *interfaces;
	size_t interface_count, interface_capacity;
	const char *why;
	uint64_t unread;	/* of the block given last */
	uint32_t unread_length;	/* what stands behind it must be */
};

/* A block's body, as much of it as is there to look at. */
struct body {
	const uint8_t *p;
	size_t n;
};

/* ---- numbers ---- */

static uint16_t u16(const struct record_reader *r, const uint8_t *p)
{
	return record_u16(p, r->big_endian);
}

static uint32_t u32(const struct record_reader *r, const uint8_t *p)
{
	return record_u32(p, r->big_endian);
}

static uint64_t u64(const struct record_reader *r, const uint8_t *p)
{
	return record_u64(p, r->big_endian);
}

static int stop(struct record_reader *r, const char *why)
{
	r->why = why;
	return -1;
}

/* ---- options ---- */

struct option_view {
	uint16_t code;
	const uint8_t *p;
	size_t n;
};

/* The option at *at; 1, 0 at the end, -1 when it is longer than its block. */
static int next_option(struct record_reader *r, const struct body *b, size_t *at, struct option_view *out)
{
	size_t left = b->n > *at ? b->n - *at : 0;
	size_t n;

	if (left < 4)
		return 0;
	out->code = u16(r, b->p + *at);
	n = u16(r, b->p + *at + 2);
	if (out->code == OPTION_END)
		return 0;
	if (n > left - 4)
		return stop(r, "an option is longer than its block");
	out->p = b->p + *at + 4;
	out->n = n;
	*at += 4 + ((n + 3) & ~(size_t)3);
	return 1;
}

/* ---- time ---- */

static bool power_of_ten(unsigned exponent, uint64_t *out)
{
	*out = 1;
	while (exponent-- > 0)
		if (__builtin_mul_overflow(*out, 10, out))
			return false;
	return true;
}

/* 0 for a resolution finer than 64 bits can count seconds by. */
static void set_resolution(struct interface *i, uint8_t resolution)
{
	i->is_binary = (resolution & 0x80) != 0;
	i->exponent = resolution & 0x7f;
	if (i->is_binary)
		i->per_second = i->exponent < 63 ? UINT64_C(1) << i->exponent : 0;
	else if (!power_of_ten(i->exponent, &i->per_second))
		i->per_second = 0;
}

/* A part of a second in microseconds, without an overflow on the way. */
static int64_t micros_of(const struct interface *i, uint64_t ticks)
{
	uint64_t per_second = i->per_second;

	/* 2^44 millionths are the most that 64 bits hold; what is lost is below a microsecond. */
	while (per_second > UINT64_C(1) << 43) {
		per_second /= 2;
		ticks /= 2;
	}
	return (int64_t)(ticks * 1000000 / per_second);
}

static void set_time(struct record *out, const struct interface *i, uint64_t ticks)
{
	uint64_t s;
	int64_t shifted;

	if (i->per_second == 0)
		return;
	s = ticks / i->per_second;
	if (s > INT64_MAX || __builtin_add_overflow((int64_t)s, i->offset_s, &shifted))
		return;
	record_set_time(out, shifted, micros_of(i, ticks % i->per_second));
}

/* ---- sections and interfaces ---- */

static int read_section(struct record_reader *r, const struct body *b)
{
	struct option_view o;
	size_t at = 16;
	int rc;

	if (b->n < 16)
		return stop(r, "its section header is too short");
	if (u16(r, b->p + 4) != 1)
		return stop(r, "its section is of an unknown version");
	while ((rc = next_option(r, b, &at, &o)) == 1)
		;
	r->interface_count = 0;
	return rc;
}

static int read_interface(struct record_reader *r, const struct body *b)
{
	struct interface *i;
	struct option_view o;
	size_t at = 8;
	int rc;

	if (b->n < 8)
		return stop(r, "an interface's description is too short");
	if (r->interface_count == INTERFACES_MAX)
		return stop(r, "more interfaces are described than any host has");
	i = ARENA_PUSH(r->arena, r->interfaces, r->interface_count, r->interface_capacity);
	*i = (struct interface){ .link = u16(r, b->p), .snaplen = u32(r, b->p + 4) };
	set_resolution(i, 6);
	while ((rc = next_option(r, b, &at, &o)) == 1) {
		if (o.code == OPTION_RESOLUTION && o.n == 1)
			set_resolution(i, o.p[0]);
		else if (o.code == OPTION_OFFSET && o.n == 8)
			i->offset_s = (int64_t)u64(r, o.p);
	}
	return rc;
}

static struct interface *interface_of(struct record_reader *r, uint32_t number)
{
	if (number < r->interface_count)
		return &r->interfaces[number];
	r->why = "it is of an interface that was not described";
	return NULL;
}

/* ---- packets ---- */

/* What was lost on the interface since its packet before. */
static void set_drops(struct record *out, const struct interface *i, uint64_t packets)
{
	if (packets == 0 || packets == UINT64_MAX || !out->has_time)
		return;
	out->drops = (struct record_drops){ packets, i->last_us != 0 ? i->last_us : out->time_us, out->time_us };
}

/* Captured bytes at "at" of the body, and what stands behind them. 1, or -1. */
static int set_bytes(struct record_reader *r, const struct body *b, size_t at, uint32_t captured, uint32_t wire,
		     uint64_t block_left, struct record *out)
{
	size_t shown = b->n - at;

	if (captured > block_left || captured > RECORD_CAPTURED_MOST)
		return stop(r, "its length does not fit its block");
	out->is_packet = true;
	out->bytes = b->p + at;
	out->captured = captured < shown ? captured : (uint32_t)shown;
	out->wire = wire > captured ? wire : captured;
	return 1;
}

static int read_packet_options(struct record_reader *r, const struct body *b, size_t at, struct record *out,
			       const struct interface *i)
{
	struct option_view o;
	int rc;

	while ((rc = next_option(r, b, &at, &o)) == 1)
		if (o.code == OPTION_DROPCOUNT && o.n == 8)
			set_drops(out, i, u64(r, o.p));
	return rc;
}

/* Enhanced, and the older one, which has the interface in two bytes and drops in the next. */
static int read_packet(struct record_reader *r, const struct body *b, uint64_t body_bytes, bool old,
		       struct record *out)
{
	struct interface *i;
	uint64_t ticks;
	uint32_t captured;
	uint16_t drops;

	if (b->n < 20)
		return stop(r, "its block is too short");
	i = interface_of(r, old ? u16(r, b->p) : u32(r, b->p));
	if (i == NULL)
		return -1;
	ticks = (uint64_t)u32(r, b->p + 4) << 32 | u32(r, b->p + 8);
	captured = u32(r, b->p + 12);
	out->link = i->link;
	set_time(out, i, ticks);
	if (set_bytes(r, b, 20, captured, u32(r, b->p + 16), body_bytes - 20, out) < 0)
		return -1;
	drops = old ? u16(r, b->p + 2) : 0;
	if (drops != UINT16_MAX)
		set_drops(out, i, drops);
	if (!old && read_packet_options(r, b, 20 + (((size_t)captured + 3) & ~(size_t)3), out, i) < 0)
		return -1;
	if (out->has_time)
		i->last_us = out->time_us;
	return 1;
}

/* Of the first interface, without a time. */
static int read_simple(struct record_reader *r, const struct body *b, uint64_t body_bytes, struct record *out)
{
	const struct interface *i = interface_of(r, 0);
	uint64_t captured = body_bytes - 4;

	if (i == NULL)
		return -1;
	if (b->n < 4)
		return stop(r, "its block is too short");
	out->link = i->link;
	if (captured > u32(r, b->p))
		captured = u32(r, b->p);
	if (i->snaplen != 0 && captured > i->snaplen)
		captured = i->snaplen;
	if (captured > UINT32_MAX)
		captured = UINT32_MAX;
	return set_bytes(r, b, 4, (uint32_t)captured, u32(r, b->p), body_bytes - 4, out);
}

/*
 * Counters since the capture began: what they grew by was dropped since the
 * statistics before. 1 when that is something, 0 when nothing.
 */
static int read_statistics(struct record_reader *r, const struct body *b, struct record *out)
{
	struct interface *i;
	struct option_view o;
	uint64_t dropped = 0, before;
	int64_t before_us;
	size_t at = 12;
	int rc;

	if (b->n < 12)
		return stop(r, "an interface's statistics are too short");
	i = interface_of(r, u32(r, b->p));
	if (i == NULL)
		return -1;
	while ((rc = next_option(r, b, &at, &o)) == 1)
		if ((o.code == OPTION_STATS_IFDROP || o.code == OPTION_STATS_OSDROP) && o.n == 8 &&
		    __builtin_add_overflow(dropped, u64(r, o.p), &dropped))
			return stop(r, "an interface's statistics are beyond any counter");
	if (rc < 0)
		return -1;
	set_time(out, i, (uint64_t)u32(r, b->p + 4) << 32 | u32(r, b->p + 8));
	before = i->dropped;
	before_us = i->counted_us;
	i->dropped = dropped;
	i->counted_us = out->has_time ? out->time_us : i->last_us;
	if (dropped <= before)
		return 0;
	out->drops = (struct record_drops){ dropped - before, before_us, i->counted_us };
	return 1;
}

/* ---- blocks ---- */

/* 1: *out is something to give; 0: it is not; -1: it is damaged. */
static int read_body(struct record_reader *r, uint32_t type, const struct body *b, uint64_t body_bytes,
		     struct record *out)
{
	switch (type) {
	case BLOCK_SECTION:
		return read_section(r, b);
	case BLOCK_INTERFACE:
		return read_interface(r, b);
	case BLOCK_PACKET:
		return read_packet(r, b, body_bytes, false, out);
	case BLOCK_PACKET_OLD:
		return read_packet(r, b, body_bytes, true, out);
	case BLOCK_PACKET_SIMPLE:
		return read_simple(r, b, body_bytes, out);
	case BLOCK_STATISTICS:
		return read_statistics(r, b, out);
	default:
		return 0;
	}
}

/* The byte order of a section stands in its header, and decides on the length before it. */
static bool read_order(struct record_reader *r, const uint8_t *p)
{
	if (record_u32(p + 8, false) == BYTE_ORDER_MAGIC)
		r->big_endian = false;
	else if (record_u32(p + 8, true) == BYTE_ORDER_MAGIC)
		r->big_endian = true;
	else
		return false;
	return true;
}

static int finish_block(struct record_reader *r)
{
	const uint8_t *p;

	if (r->unread_length == 0)
		return 0;
	if (!intake_skip(r->in, r->unread) || (p = intake_look(r->in, 4)) == NULL)
		return stop(r, record_why_short(r->in));
	if (u32(r, p) != r->unread_length)
		return stop(r, "the lengths before and behind its block differ");
	intake_take(r->in, 4);
	r->unread = 0;
	r->unread_length = 0;
	return 0;
}

/* One block: 1 a record, 0 nothing to give, -1 stopped, -2 the end. */
static int next_block(struct record_reader *r, struct record *out)
{
	struct intake *in = r->in;
	const uint8_t *p = intake_look(in, FRAME_BYTES);
	uint32_t type, length, padded;
	struct body b;
	size_t shown;
	int rc;

	if (p == NULL)
		return intake_left(in) == 0 && !in->damaged ? -2 : stop(r, record_why_short(in));
	type = u32(r, p);
	if (type == BLOCK_SECTION && !read_order(r, p))
		return stop(r, "its section has no byte order");
	length = u32(r, p + 4);
	padded = (length + 3) & ~UINT32_C(3);
	if (length < FRAME_BYTES || padded < length)
		return stop(r, "its block is shorter than a block can be");
	shown = padded <= INTAKE_ASK_MOST ? padded - 4 : INTAKE_ASK_MOST;
	p = intake_look(in, padded <= INTAKE_ASK_MOST ? padded : shown);
	if (p == NULL)
		return stop(r, record_why_short(in));
	if (padded <= INTAKE_ASK_MOST && u32(r, p + shown) != length)
		return stop(r, "the lengths before and behind its block differ");
	out->offset = in->offset;
	b = (struct body){ p + 8, shown - 8 };
	rc = read_body(r, type, &b, padded - FRAME_BYTES, out);
	if (rc < 0)
		return rc;
	/* What is left to step over lies behind what the record shows. */
	intake_take(in, shown);
	r->unread = padded - 4 - shown;
	r->unread_length = length;
	return rc;
}

static int pcapng_next(struct record_reader *r, struct record *out, const char **why)
{
	int rc;

	do {
		*out = (struct record){ .is_packet = false };
		rc = finish_block(r);
		if (rc == 0)
			rc = next_block(r, out);
	} while (rc == 0);
	if (rc == -1)
		*why = r->why;
	return rc == -2 ? 0 : rc;
}

/*
 * A packet's block that lies whole in what has been read, with what stands
 * behind the block before it: by far the commonest. False leaves it all, and
 * what is wrong with it, to pcapng_next, which does the same with more looks.
 */
static bool take_whole(struct record_reader *r, struct record *out)
{
	struct intake *in = r->in;
	const uint8_t *p = in->bytes + in->start;
	const size_t behind = r->unread_length != 0 ? 4 : 0;
	size_t left = intake_left(in);
	uint32_t length;

	if (left < behind + FRAME_BYTES || (behind > 0 && u32(r, p) != r->unread_length))
		return false;
	p += behind;
	left -= behind;
	length = u32(r, p + 4);
	if (u32(r, p) != BLOCK_PACKET || length < FRAME_BYTES || length % 4 != 0 || length > left ||
	    length > INTAKE_ASK_MOST || u32(r, p + length - 4) != length)
		return false;
	*out = (struct record){ .offset = in->offset + behind };
	if (read_packet(r, &(struct body){ p + 8, length - FRAME_BYTES }, length - FRAME_BYTES, false, out) != 1)
		return false;
	intake_take(in, behind + length);
	r->unread_length = 0;
	return true;
}

static size_t pcapng_next_whole(struct record_reader *r, struct record *out, size_t most)
{
	size_t n = 0;

	while (n < most && r->unread == 0 && take_whole(r, &out[n]))
		n++;
	return n;
}

static struct record_reader *pcapng_open(struct intake *in, struct arena *a, const char **why)
{
	struct record_reader *r;

	/* The first block is read with the first packet. */
	if (intake_look(in, FRAME_BYTES + 16) == NULL) {
		*why = record_why_short(in);
		return NULL;
	}
	r = arena_alloc(a, sizeof *r);
	*r = (struct record_reader){ .in = in, .arena = a };
	return r;
}

/* ---- ahead ---- */

/* Type and length, interface, time, and two lengths of the packet. */
#define PACKET_HEADER_BYTES 28

static bool may_begin(const void *context, const uint8_t *bytes, size_t at, size_t to)
{
	const struct record_reader *r = context;
	uint32_t length;

	if (at >= to || to - at < PACKET_HEADER_BYTES || u32(r, bytes + at) != BLOCK_PACKET)
		return false;
	length = u32(r, bytes + at + 4);
	return length % 4 == 0 && length >= PACKET_HEADER_BYTES + 4 && u32(r, bytes + at + 20) <= length;
}

static size_t next_at(const void *context, const uint8_t *bytes, size_t at)
{
	const uint32_t length = u32(context, bytes + at + 4);

	return at + (length > FRAME_BYTES ? length : FRAME_BYTES);
}

static void pcapng_scout(const struct record_reader *r, size_t to)
{
	static const struct scout_format format = { may_begin, next_at, PACKET_HEADER_BYTES };
	const struct intake *in = r->in;
	const size_t behind = r->unread_length != 0 ? 4 : 0;

	if (r->unread == 0 && to - in->start >= behind)
		scout(&format, r, in->bytes, in->start + behind, to);
}

const struct record_reader_ops record_pcapng = { pcapng_open, pcapng_next, pcapng_next_whole, pcapng_scout, NULL, false };
