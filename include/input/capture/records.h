/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_RECORDS_H
#define AFTERSHOCK_INPUT_CAPTURE_RECORDS_H

/*
 * The records of a capture by the run, with their packets decoded: as many as
 * lie in one block that was read. With a second thread, that thread reads
 * blocks, finds the records in them and decodes the packets while the caller
 * still looks at those before. Copying from the kernel (or unpacking) is half
 * of what a capture costs; and a record is found by the length of the one
 * before it alone, which is a wait for memory each time on a core that has not
 * copied them itself, as is the look at its headers.
 *
 * What is given does not depend on the number of threads, nor on their timing.
 */

#include "input/capture/packet.h"
#include "input/capture/record.h"

struct records;

/* Reads the file's header. False when it cannot be read: *why says how, until records_close, which is called then too. */
bool records_open(struct stream *s, const struct record_reader_ops *ops, unsigned threads, struct records **out,
		  const char **why);

/* The packet of a record. */
struct record_packet {
	bool is_read;		/* it has a time and is of a link that is read; else the others are not set */
	bool is_plain;		/* TCP, and no drops are told of with it: its record need not be looked at */
	bool may_begin;		/* a frame of Kafka's may begin with its payload, so that somebody will look at it */
	enum packet_what what;
	/* When it is PACKET_TCP; place: by the number of the packet in the capture. */
	struct segment segment;
	struct tcp_key key;
};

/* All of it, and the bytes of the packets, until the next call. */
struct record_run {
	const struct record *record;
	const struct record_packet *packet;	/* of each */
	size_t count;			/* at least one */
};

/* 1 a run, 0 the end, -1 stopped there: *why says how, until records_close. */
int records_next(struct records *r, struct record_run *out, const char **why);
/* Once reading has ended: where in the unpacked file, and whether the stream is damaged there (recorded by it). */
uint64_t records_offset(const struct records *r);
bool records_is_damaged(const struct records *r);
/* Pieces of TCP packets that could not be placed. */
uint64_t records_fragments_lost(const struct records *r);
/* Leaves the stream to others. Accepts NULL. */
void records_close(struct records *r);

#endif
