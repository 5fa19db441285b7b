/* SPDX-License-Identifier: MIT */
/*
 * Packets of any bytes. The first byte picks the link type; then packets of the
 * length that two bytes tell, of which the next tells how much was captured (in
 * 255ths), so that what fragments leave behind meets the packets after it.
 */

#include <stdlib.h>
#include <string.h>

#include "input/capture/packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEADER_BYTES 3

static const uint32_t links[] = { 1, 113, 276, 101, 0, 9, 51 };

static void check(const struct segment *s, const uint8_t *bytes, size_t captured)
{
	if (s->payload_captured > s->payload_bytes || (s->payload == NULL) != (s->payload_captured == 0))
		abort();
	if (s->payload != NULL && (s->payload < bytes || s->payload + s->payload_captured > bytes + captured))
		abort();
	if (s->ip_version != 4 && s->ip_version != 6)
		abort();
}

/* From a copy of its own, so that a read past the end is seen by the sanitizer. */
static void decode(struct packet_decoder *d, enum packet_link link, const uint8_t *data, size_t wire, size_t captured)
{
	uint8_t *bytes = malloc(captured + (captured == 0));
	struct segment s;

	if (bytes == NULL)
		abort();
	memcpy(bytes, data, captured);
	if (packet_decode(d, link, bytes, captured, wire, &s) == PACKET_TCP)
		check(&s, bytes, captured);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct packet_decoder *d = packet_decoder_new(a);
	enum packet_link link;

	if (size > 0 && packet_link_of(links[data[0] % (sizeof links / sizeof links[0])], &link)) {
		data++;
		size--;
		while (size > HEADER_BYTES) {
			size_t wire = (size_t)(data[0] << 8 | data[1]), left = size - HEADER_BYTES;
			size_t captured = wire * data[2] / 255;

			if (captured > left)
				captured = left;
			decode(d, link, data + HEADER_BYTES, wire, captured);
			data += HEADER_BYTES + captured;
			size -= HEADER_BYTES + captured;
		}
	}
	arena_free(a);
	return 0;
}
