/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_CLI_PROBE_RING_H
#define AFTERSHOCK_CLI_PROBE_RING_H

/*
 * A ring of pcap files: when one is full the next is begun, and after the last
 * the oldest is begun anew. All are opened at the start, while that is still
 * allowed. Packets are collected and written together, whole ones only.
 */

#include "base/buf.h"
#include "base/diag.h"
#include "base/tstamp.h"

#define PROBE_RING_FILES_MAX 1000

struct probe_ring_options {
	const char *prefix;	/* PREFIX.0.pcap, PREFIX.1.pcap ... */
	unsigned files;		/* 1..PROBE_RING_FILES_MAX */
	int64_t file_bytes;	/* one is full before it is longer */
	uint32_t snap_bytes;
	uint32_t link_type;	/* as pcap files number them */
};

struct probe_packet {
	int64_t time_us;	/* since 1970 */
	const uint8_t *bytes;
	uint32_t captured, length;
};

struct probe_ring {
	struct probe_ring_options options;
	int *fds;
	unsigned current;
	int64_t size_bytes;	/* of the current file, written */
	struct buf pending;	/* packets to be written to it */
};

/*
 * Begins with the file that was written to longest ago, so that a probe that is
 * started again destroys the least. 0, or -1 (recorded).
 */
int probe_ring_open(struct probe_ring *r, const struct probe_ring_options *o, struct arena *a, struct diag *d);
/* May write what is pending, and turn to the next file. 0, or -1 (recorded). */
int probe_ring_add(struct probe_ring *r, const struct probe_packet *p, struct diag *d);
/* Writes what is pending. 0, or -1 (recorded). */
int probe_ring_flush(struct probe_ring *r, struct diag *d);
/* Accepts one that was never opened. */
void probe_ring_close(struct probe_ring *r);

/* The name of file number i, with a NUL. */
void probe_ring_name(struct buf *to, const struct probe_ring_options *o, unsigned i);

#endif
