/* SPDX-License-Identifier: MIT */
/* Segments in, whether each is a copy out. */

#include "input/capture/tcp_copy.h"

/* With an IP identification: well under the least retransmission timeout (method.md 3). */
#define COPY_WITH_ID_US (20 * US_PER_MS)
/*
 * Without one (IPv6, or IPv4 with 0, as Linux sends with "don't fragment" on
 * some packets) nothing tells a copy from the same sent again but the time.
 */
#define COPY_WITHOUT_ID_US (1 * US_PER_MS)

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

static uint64_t mix_address(uint64_t h, const uint8_t bytes[16])
{
	for (int word = 0; word < 4; word++) {
		uint64_t v = 0;

		for (int i = 0; i < 4; i++)
			v = v << 8 | bytes[4 * word + i];
		h = mix(h, v);
	}
	return h;
}

/* Not the time to live: a router's capture of both its sides shows one packet twice. */
static uint64_t digest_of(const struct segment *s)
{
	uint64_t h = mix(s->ip_version, s->has_ip_id ? s->ip_id : 0);

	h = mix_address(h, s->source);
	h = mix_address(h, s->destination);
	h = mix(h, (uint64_t)s->source_port << 16 | s->destination_port);
	h = mix(h, (uint64_t)s->sequence << 32 | s->acknowledgment);
	h = mix(h, (uint64_t)s->flags << 16 | s->window);
	return mix(h, (uint64_t)s->payload_bytes << 32 | s->payload_digest);
}

bool tcp_copies_see(struct tcp_copies *c, const struct segment *s, int64_t now_us)
{
	uint64_t digest = digest_of(s);
	size_t at = (size_t)(digest % TCP_COPY_SLOTS);
	int64_t limit_us = s->has_ip_id && s->ip_id != 0 ? COPY_WITH_ID_US : COPY_WITHOUT_ID_US;
	bool is_copy = c->slot[at].used && c->slot[at].digest == digest && now_us - c->slot[at].us <= limit_us;

	c->slot[at].used = true;
	c->slot[at].digest = digest;
	c->slot[at].us = now_us;
	return is_copy;
}
