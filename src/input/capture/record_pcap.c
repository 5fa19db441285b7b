/* SPDX-License-Identifier: MIT */
/*
 * Classic pcap (draft-ietf-opsawg-pcap): a header, then records one after the
 * other. Nothing tells where a record begins but the one before it, so that
 * the first damaged length ends the reading.
 */

#include "input/capture/record.h"
#include "input/capture/scout.h"

#define HEADER_BYTES 24
#define RECORD_HEADER_BYTES 16
/* Of one packet. */
#define SHOWN_MOST (INTAKE_ASK_MOST - RECORD_HEADER_BYTES)
/* Above the link type: bits about frame check sequences. */
#define LINK_MASK 0x03ffffff
#define MAGIC_NANOSECONDS UINT32_C(0xa1b23c4d)

struct record_reader {
	struct intake *in;
	struct arena *arena;
	bool big_endian;
	bool nanoseconds;
	uint32_t link;
	uint64_t unread;	/* of the record given last, beyond what could be shown of it */
};

static struct record_reader *pcap_open(struct intake *in, struct arena *a, const char **why)
{
	const uint8_t *p = intake_look(in, HEADER_BYTES);
	struct record_reader *r;

	if (p == NULL) {
		*why = record_why_short(in);
		return NULL;
	}
	r = arena_alloc(a, sizeof *r);
	*r = (struct record_reader){ .in = in, .arena = a, .big_endian = p[0] == 0xa1 };
	r->nanoseconds = record_u32(p, r->big_endian) == MAGIC_NANOSECONDS;
	r->link = record_u32(p + 20, r->big_endian) & LINK_MASK;
	intake_take(in, HEADER_BYTES);
	return r;
}

static int stop(const struct record_reader *r, const char **why)
{
	*why = record_why_short(r->in);
	return -1;
}

/* From its header and what is shown of it, which follows. */
static inline void set_record(struct record *out, const struct record_reader *r, const uint8_t *p, uint32_t shown,
			      uint64_t offset, bool big_endian)
{
	uint32_t fraction = record_u32(p + 4, big_endian), captured = record_u32(p + 8, big_endian),
		 wire = record_u32(p + 12, big_endian);

	out->is_packet = true;
	out->bytes = p + RECORD_HEADER_BYTES;
	out->captured = shown;
	out->wire = wire > captured ? wire : captured;
	out->link = r->link;
	out->offset = offset;
	out->drops.packets = 0;
	record_set_time(out, record_u32(p, big_endian), r->nanoseconds ? fraction / 1000 : fraction);
}

static int pcap_next(struct record_reader *r, struct record *out, const char **why)
{
	struct intake *in = r->in;
	const uint8_t *p;
	uint32_t captured;
	size_t shown;

	if (r->unread > 0 && !intake_skip(in, r->unread))
		return stop(r, why);
	r->unread = 0;
	p = intake_look(in, RECORD_HEADER_BYTES);
	if (p == NULL)
		return intake_left(in) == 0 && !in->damaged ? 0 : stop(r, why);
	captured = record_u32(p + 8, r->big_endian);
	if (captured > RECORD_CAPTURED_MOST) {
		*why = arena_printf(r->arena, "its length of %u bytes is beyond any packet's", (unsigned)captured).p;
		return -1;
	}
	shown = captured <= SHOWN_MOST ? captured : SHOWN_MOST;
	p = intake_look(in, RECORD_HEADER_BYTES + shown);
	if (p == NULL)
		return stop(r, why);
	set_record(out, r, p, (uint32_t)shown, in->offset, r->big_endian);
	intake_take(in, RECORD_HEADER_BYTES + shown);
	r->unread = captured - shown;
	return 1;
}

/* In line for each of the two byte orders: this is where a thread that reads ahead spends what copying leaves it. */
static inline size_t take_whole(struct record_reader *r, struct record *out, size_t most, bool big_endian)
{
	struct intake *in = r->in;
	size_t n = 0;

	while (n < most && intake_left(in) >= RECORD_HEADER_BYTES) {
		const uint8_t *p = in->bytes + in->start;
		uint32_t captured = record_u32(p + 8, big_endian);

		if (captured > SHOWN_MOST || captured > intake_left(in) - RECORD_HEADER_BYTES)
			break;
		set_record(&out[n++], r, p, captured, in->offset, big_endian);
		intake_take(in, RECORD_HEADER_BYTES + captured);
	}
	return n;
}

static size_t pcap_next_whole(struct record_reader *r, struct record *out, size_t most)
{
	if (r->unread > 0)
		return 0;
	return r->big_endian ? take_whole(r, out, most, true) : take_whole(r, out, most, false);
}

/* ---- ahead ---- */

/* What may be a record is of a time within so many seconds behind the one at hand. */
#define SOON_S 3600

/* What records are told by. */
struct sign {
	uint32_t now_s;
	bool big_endian;
};

static bool may_begin(const void *context, const uint8_t *bytes, size_t at, size_t to)
{
	const struct sign *sign = context;
	const uint8_t *p = bytes + at;
	uint32_t captured, wire;

	if (at >= to || to - at < RECORD_HEADER_BYTES || record_u32(p, sign->big_endian) - sign->now_s > SOON_S)
		return false;
	captured = record_u32(p + 8, sign->big_endian);
	wire = record_u32(p + 12, sign->big_endian);
	return captured > 0 && captured <= wire && wire <= RECORD_CAPTURED_MOST;
}

static size_t next_at(const void *context, const uint8_t *bytes, size_t at)
{
	const struct sign *sign = context;

	return at + RECORD_HEADER_BYTES + record_u32(bytes + at + 8, sign->big_endian);
}

static void pcap_scout(const struct record_reader *r, size_t to)
{
	static const struct scout_format format = { may_begin, next_at, RECORD_HEADER_BYTES };
	const struct intake *in = r->in;
	struct sign sign = { .big_endian = r->big_endian };

	if (r->unread > 0 || to - in->start < RECORD_HEADER_BYTES)
		return;
	sign.now_s = record_u32(in->bytes + in->start, r->big_endian);
	scout(&format, &sign, in->bytes, in->start, to);
}

const struct record_reader_ops record_pcap = { pcap_open, pcap_next, pcap_next_whole, pcap_scout, NULL, false };
