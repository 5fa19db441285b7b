/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_RECORD_H
#define AFTERSHOCK_INPUT_CAPTURE_RECORD_H

/*
 * The records of a capture file, one after the other: packets as they were
 * written, and what the capture says that it dropped. A format is a row of
 * formats[] in capture.c and one of the readers below.
 */

#include "input/capture/intake.h"

/* Packets the capture dropped, by its own account, between two instants. */
struct record_drops {
	uint64_t packets;	/* 0: none, or nothing was said */
	int64_t from_us, to_us;	/* from_us 0: since the start of the capture */
};

struct record {
	bool is_packet;		/* else it tells of drops alone */
	const uint8_t *bytes;	/* captured ones */
	uint32_t captured;	/* of bytes; INTAKE_ASK_MOST or so of a longer packet */
	uint32_t wire;		/* bytes on the wire; at least captured */
	uint32_t link;		/* link type, as numbered by tcpdump.org/linktypes.html */
	bool has_time;
	int64_t time_us;
	uint64_t offset;	/* of the record in the unpacked file; 0 when the format does not tell */
	struct record_drops drops;
};

/* Longer than any: 65,535 bytes and a header, 512 KiB of a segment before offloading (Linux "BIG TCP"). */
#define RECORD_CAPTURED_MOST (1024 * 1024)
/* 2100-01-01: a time beyond it is a damaged one. */
#define RECORD_TIME_MOST_S INT64_C(4102444800)

struct record_reader;

/*
 * Readers live in the arena. Opening gives NULL, and next gives -1, when the
 * file cannot be read on; *why is then in words that follow "stopped at packet
 * 7: ". why lives in the arena too.
 */
struct record_reader_ops {
	struct record_reader *(*open)(struct intake *in, struct arena *a, const char **why);
	/* 1 a record, 0 the end, -1 stopped. */
	int (*next)(struct record_reader *r, struct record *out, const char **why);
	/*
	 * NULL, or what next would give one by one, of the records that lie
	 * whole in what has been read: how many, which may be 0.
	 */
	size_t (*next_whole)(struct record_reader *r, struct record *out, size_t most);
	/*
	 * NULL, or fetches into the cache what next_whole and the headers of the
	 * packets will look at, of the bytes up to there, when they lie mapped.
	 */
	void (*scout)(const struct record_reader *r, size_t to);
	/* Accepts NULL; NULL when there is nothing to close. */
	void (*close)(struct record_reader *r);
	bool keeps_bytes;	/* of the latest packet alone, by itself; else they stay in the intake's room */
};

extern const struct record_reader_ops record_pcap;	/* pcap 2.4, of micro- and nanoseconds */
extern const struct record_reader_ops record_pcapng;
extern const struct record_reader_ops record_libpcap;	/* what libpcap alone knows */

/* Words for the two ways in which a record may be cut off. */
#define RECORD_WHY_DAMAGED "what holds it is damaged"
#define RECORD_WHY_CUT "the file ends inside it"
static inline const char *record_why_short(const struct intake *i)
{
	return i->damaged ? RECORD_WHY_DAMAGED : RECORD_WHY_CUT;
}

/* Seconds and microseconds as the time of a record, if they can be one. */
static inline void record_set_time(struct record *r, int64_t s, int64_t us)
{
	/* 0 stands for "not known" in what libpcap and others write. A damaged fraction may be of many seconds. */
	r->has_time = s > 0 && s <= RECORD_TIME_MOST_S && us <= (RECORD_TIME_MOST_S - s + 1) * 1000000 - 1;
	r->time_us = r->has_time ? s * 1000000 + us : 0;
}

/* Numbers of a file in its own byte order, which is not always that of this machine. */
static inline uint16_t record_u16(const uint8_t *p, bool big_endian)
{
	unsigned value = big_endian ? (unsigned)p[0] << 8 | p[1] : (unsigned)p[1] << 8 | p[0];

	return (uint16_t)value;
}

static inline uint32_t record_u32(const uint8_t *p, bool big_endian)
{
	uint32_t little = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;

	return big_endian ? __builtin_bswap32(little) : little;
}

static inline uint64_t record_u64(const uint8_t *p, bool big_endian)
{
	uint64_t first = record_u32(p, big_endian), second = record_u32(p + 4, big_endian);

	return big_endian ? first << 32 | second : second << 32 | first;
}

#endif
