/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_PACKET_H
#define AFTERSHOCK_INPUT_CAPTURE_PACKET_H

/*
 * Link, IP and TCP headers of one packet to a struct segment. No byte is read
 * that was not captured; checksums are not looked at (offloading makes them
 * wrong on the sender's side).
 */

#include <stddef.h>

#include "input/capture/tcp.h"

enum packet_link {
	PACKET_ETHERNET,	/* with VLAN tags, or 802.2 SNAP */
	PACKET_SLL,		/* "-i any", older */
	PACKET_SLL2,		/* "-i any", newer */
	PACKET_RAW,		/* IP at once */
	PACKET_FAMILY,		/* four bytes of address family, then IP: BSD loopback */
};

enum packet_what {
	PACKET_TCP,
	PACKET_OTHER,		/* not TCP, or a later fragment */
	PACKET_SHORT,		/* the headers were not captured whole */
	PACKET_DAMAGED,		/* the headers contradict themselves */
};

/*
 * bytes: the captured ones of wire_bytes. Fills in all of *out but time and
 * place when it is TCP; payload points into bytes.
 */
enum packet_what packet_decode(enum packet_link link, const uint8_t *bytes, size_t captured_bytes, size_t wire_bytes,
			       struct segment *out);

#endif
