/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_TCP_COPY_H
#define AFTERSHOCK_INPUT_CAPTURE_TCP_COPY_H

/*
 * Frames recorded twice: by a mirror port, a bridge, "-i any". A copy has the
 * same IP identification and all else alike and comes at once; a
 * retransmission has an identification of its own and comes after a timer
 * (method.md 3, "Copies are not retransmissions").
 */

#include <stdbool.h>
#include <stdint.h>

#include "input/capture/tcp.h"

#define TCP_COPY_SLOTS 4096

/* Frames of late, by their digest; a newer one takes the place of an older. */
struct tcp_copies {
	struct {
		uint64_t digest;
		int64_t us;
		bool used;
	} slot[TCP_COPY_SLOTS];
};

/* Whether s is a copy of a frame seen just before; s is remembered. */
bool tcp_copies_see(struct tcp_copies *c, const struct segment *s, int64_t now_us);

#endif
