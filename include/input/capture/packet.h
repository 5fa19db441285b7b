/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_PACKET_H
#define AFTERSHOCK_INPUT_CAPTURE_PACKET_H

/*
 * Link, tunnel, IP and TCP headers of one packet to a struct segment. No byte
 * is read that was not captured; checksums are not looked at (offloading makes
 * them wrong on the sender's side).
 *
 * What a packet is wrapped in (VLANs, VXLAN, Geneve, GRE, IP in IP; not MPLS,
 * whose labels are of one direction) becomes the segment's domain: the same
 * addresses in two of them are two connections.
 *
 * A packet in fragments is taken piece by piece: the first has the ports, and
 * each that follows in order is more payload of the same segment.
 */

#include <stddef.h>

#include "base/arena.h"
#include "input/capture/tcp.h"

enum packet_link {
	PACKET_ETHERNET,	/* with VLAN tags, or 802.2 SNAP */
	PACKET_SLL,		/* "-i any", older */
	PACKET_SLL2,		/* "-i any", newer */
	PACKET_RAW,		/* IP at once */
	PACKET_FAMILY,		/* four bytes of address family, then IP: BSD loopback */
	PACKET_PPP,		/* with or without address and control */
	PACKET_PPPOE,
};

enum packet_what {
	PACKET_TCP,
	PACKET_OTHER,		/* not TCP, or a piece of it that cannot be placed */
	PACKET_SHORT,		/* the headers were not captured whole */
	PACKET_DAMAGED,		/* the headers contradict themselves */
};

/* By its number at tcpdump.org/linktypes.html; false for one that is not read. */
bool packet_link_of(uint32_t link_type, enum packet_link *out);

/* Remembers the packets that are in pieces; lives as long as the arena. */
struct packet_decoder;
struct packet_decoder *packet_decoder_new(struct arena *a);
/* Pieces of TCP packets that could not be placed: their beginning was not captured. */
uint64_t packet_decoder_fragments_lost(const struct packet_decoder *d);

/*
 * bytes: the captured ones of wire_bytes. Fills in all of *out but time and
 * place when it is TCP; payload points into bytes.
 */
enum packet_what packet_decode(struct packet_decoder *d, enum packet_link link, const uint8_t *bytes,
			       size_t captured_bytes, size_t wire_bytes, struct segment *out);
/* The same without the short cut for by far the commonest packet, for tests to compare the two. */
enum packet_what packet_decode_any(struct packet_decoder *d, enum packet_link link, const uint8_t *bytes,
				   size_t captured_bytes, size_t wire_bytes, struct segment *out);

#endif
