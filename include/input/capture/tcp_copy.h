/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_TCP_COPY_H
#define AFTERSHOCK_INPUT_CAPTURE_TCP_COPY_H

/*
 * Frames recorded twice: by a mirror port, a bridge, "-i any". A copy has the
 * same IP identification and all else alike and comes at once; a
 * retransmission has an identification of its own and comes after a timer
 * (method.md 3, "Copies are not retransmissions").
 *
 * Where one frame is recorded in two domains (with its VLAN tag and without,
 * inside its tunnel and beside it, on both sides of a router), the two are one
 * from then on. ("-i any" shows several VLANs without their tags as well: then
 * all of them are one.)
 */

#include <stdbool.h>
#include <stdint.h>

#include "input/capture/cache_line.h"
#include "input/capture/tcp.h"

#define TCP_COPY_SLOTS 4096
#define TCP_ALIASES_MAX 32

struct tcp_copies {
	/* Frames of late, by their digest; a newer one takes the place of an older. Time 0: none. */
	struct {
		uint64_t digest;
		int64_t us;
	} slot[TCP_COPY_SLOTS];
	uint64_t domain[TCP_COPY_SLOTS];	/* of the frame in the slot, once there is any domain */
	bool has_domains;
	struct {
		uint64_t domain, is;	/* which may be an alias itself */
	} alias[TCP_ALIASES_MAX];
	unsigned alias_count;
};

/* From memory, for a frame that comes in a moment. */
static inline void tcp_copies_fetch(const struct tcp_copies *c, uint64_t digest)
{
	__builtin_prefetch(&c->slot[digest % TCP_COPY_SLOTS], 1);
}

/* With an IP identification: well under the least retransmission timeout (method.md 3). */
#define TCP_COPY_WITH_ID_US (20 * US_PER_MS)
/*
 * Without one (IPv6, or IPv4 with 0, as Linux sends with "don't fragment" on
 * some packets) nothing tells a copy from the same sent again but the time.
 */
#define TCP_COPY_WITHOUT_ID_US (1 * US_PER_MS)

/* Apart from the rest, since most captures have but one domain. */
void tcp_copies_see_domain(struct tcp_copies *c, size_t at, uint64_t domain, bool is_copy);
/* Whether s, of that digest, is a copy of a frame seen just before; s is remembered. */
static inline bool tcp_copies_see(struct tcp_copies *c, const struct segment *s, uint64_t digest, int64_t now_us)
{
	size_t at = (size_t)(digest % TCP_COPY_SLOTS);
	int64_t limit_us = s->has_ip_id && s->ip_id != 0 ? TCP_COPY_WITH_ID_US : TCP_COPY_WITHOUT_ID_US;
	bool is_copy = SELDOM(c->slot[at].digest == digest && c->slot[at].us != 0 && now_us - c->slot[at].us <= limit_us);

	if (SELDOM(c->has_domains || s->domain != 0))
		tcp_copies_see_domain(c, at, s->domain, is_copy);
	c->slot[at].digest = digest;
	c->slot[at].us = now_us;
	return is_copy;
}

/* The domain that stands for all that are one with it. */
uint64_t tcp_copies_domain(const struct tcp_copies *c, uint64_t domain);
/* From now on the two are one. */
void tcp_copies_alias(struct tcp_copies *c, uint64_t domain, uint64_t is);
/* Frames from before do not come again. */
void tcp_copies_forget(struct tcp_copies *c);

#endif
