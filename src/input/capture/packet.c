/* SPDX-License-Identifier: MIT */
/* The bytes of a packet in, its TCP segment out: RFC 791, RFC 8200, RFC 9293; IEEE 802.1Q; pcap-linktype(7). */

#include "input/capture/packet.h"

#include <string.h>

enum { TYPE_IPV4 = 0x0800, TYPE_IPV6 = 0x86dd, TYPE_VLAN = 0x8100, TYPE_QINQ = 0x88a8, TYPE_QINQ_OLD = 0x9100 };
#define TYPE_LEAST 0x600	/* below it the field is a length (IEEE 802.3) */
#define VLAN_TAGS_MOST 4

enum { PROTOCOL_TCP = 6 };
#define EXTENSIONS_MOST 8	/* of an IPv6 header; a sane packet has one or two */

/* A header with no option but a timestamp: most are. */
#define OPTIONS_USUAL 32

/* To tell copies the start of a payload is enough. */
#define DIGEST_BYTES_MOST 256

/* ---- bounded reading ---- */

struct view {
	const uint8_t *bytes;
	size_t captured;
	size_t wire;
	bool cut;	/* something was wanted that had not been captured */
};

/* n bytes from "at" as a big-endian number; 0, and cut, when they are not there. */
static uint32_t number_at(struct view *v, size_t at, unsigned n)
{
	uint32_t value = 0;

	if (at > v->captured || v->captured - at < n) {
		v->cut = true;
		return 0;
	}
	for (unsigned i = 0; i < n; i++)
		value = value << 8 | v->bytes[at + i];
	return value;
}

static void copy_at(struct view *v, size_t at, uint8_t *to, size_t n)
{
	if (at > v->captured || v->captured - at < n)
		v->cut = true;
	else
		memcpy(to, v->bytes + at, n);
}

static size_t wire_after(const struct view *v, size_t at)
{
	return v->wire > at ? v->wire - at : 0;
}

/* ---- TCP ---- */

static uint32_t digest(const uint8_t *bytes, size_t n)
{
	uint64_t h = n;

	if (n > DIGEST_BYTES_MOST)
		n = DIGEST_BYTES_MOST;
	for (size_t at = 0; at < n; at += 8) {
		uint64_t word = 0;

		memcpy(&word, bytes + at, n - at < 8 ? n - at : 8);
		h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
	}
	return (uint32_t)h;
}

/* RFC 2883 4: the first block names what came twice when it lies below the acknowledgment or within the second block. */
static void read_sack(struct view *v, size_t at, uint32_t length, struct segment *out)
{
	uint32_t from = number_at(v, at + 2, 4), to = number_at(v, at + 6, 4);
	bool below = (int32_t)(from - out->acknowledgment) < 0;

	if (!below && length >= 18) {
		uint32_t second_from = number_at(v, at + 10, 4), second_to = number_at(v, at + 14, 4);

		below = (int32_t)(from - second_from) >= 0 && (int32_t)(second_to - to) >= 0;
	}
	if (v->cut || !below)
		return;
	out->has_duplicate = true;
	out->duplicate_from = from;
	out->duplicate_to = to;
}

/* RFC 7323 2.2: the window scale option, in a SYN alone. Options that were cut off are not known. */
static void read_options(struct view *v, size_t at, size_t end, struct segment *out)
{
	while (at < end) {
		uint32_t kind = number_at(v, at, 1), length;

		if (v->cut || kind == 0)
			break;
		length = kind == 1 ? 1 : number_at(v, at + 1, 1);
		if (v->cut || length == 0 || (kind != 1 && length < 2))
			break;
		if (kind == 5 && length >= 10)
			read_sack(v, at, length, out);
		if (kind == 3 && length == 3 && (out->flags & TCP_SYN) != 0) {
			out->window_shift = (uint8_t)number_at(v, at + 2, 1);
			out->has_window_shift = !v->cut;
		}
		at += length;
	}
	v->cut = false;
}

static void read_payload(const struct view *v, size_t at, struct segment *out)
{
	size_t captured = v->captured > at ? v->captured - at : 0;

	/* What follows the packet in a frame is padding. */
	if (captured > out->payload_bytes)
		captured = out->payload_bytes;
	out->payload = captured > 0 ? v->bytes + at : NULL;
	out->payload_captured = (uint32_t)captured;
	out->payload_digest = captured > 0 ? digest(v->bytes + at, captured) : 0;
}

/* ip_payload: bytes of the IP packet from "at" on. */
static enum packet_what read_tcp(struct view *v, size_t at, size_t ip_payload, struct segment *out)
{
	size_t header;

	out->source_port = (uint16_t)number_at(v, at, 2);
	out->destination_port = (uint16_t)number_at(v, at + 2, 2);
	out->sequence = number_at(v, at + 4, 4);
	out->acknowledgment = number_at(v, at + 8, 4);
	header = (number_at(v, at + 12, 1) >> 4) * 4;
	out->flags = (uint8_t)number_at(v, at + 13, 1);
	out->window = (uint16_t)number_at(v, at + 14, 2);
	if (v->cut)
		return PACKET_SHORT;
	if (header < 20 || header > ip_payload || ip_payload - header > UINT32_MAX)
		return PACKET_DAMAGED;
	if ((out->flags & TCP_SYN) != 0 || header > OPTIONS_USUAL)
		read_options(v, at + 20, at + header, out);
	out->payload_bytes = (uint32_t)(ip_payload - header);
	read_payload(v, at + header, out);
	return PACKET_TCP;
}

/* ---- IP ---- */

/*
 * A length of 0 stands for a packet too large for the field: segmentation
 * offload (Linux "BIG TCP") as the sender's capture sees it.
 */
static enum packet_what read_ipv4(struct view *v, size_t at, struct segment *out)
{
	size_t header = (number_at(v, at, 1) & 15) * 4;
	size_t total = number_at(v, at + 2, 2);
	uint32_t fragment = number_at(v, at + 6, 2);
	uint32_t protocol = number_at(v, at + 9, 1);

	out->ip_version = 4;
	out->has_ip_id = true;
	out->ip_id = (uint16_t)number_at(v, at + 4, 2);
	copy_at(v, at + 12, out->source, 4);
	copy_at(v, at + 16, out->destination, 4);
	if (v->cut)
		return PACKET_SHORT;
	if (total == 0)
		total = wire_after(v, at);
	if (header < 20 || total < header)
		return PACKET_DAMAGED;
	if (protocol != PROTOCOL_TCP || (fragment & 0x1fff) != 0)
		return PACKET_OTHER;
	return read_tcp(v, at + header, total - header, out);
}

enum extension { EXTENSION_SKIPPED, EXTENSION_LAST, EXTENSION_NOT_TCP };

/* Steps over one extension header, if *next names one that can stand before TCP. */
static enum extension skip_extension(struct view *v, size_t *at, uint32_t *next)
{
	uint32_t type = *next, length = number_at(v, *at + 1, 1);
	size_t bytes;

	switch (type) {
	case PROTOCOL_TCP:
		return EXTENSION_LAST;
	case 0:		/* hop by hop */
	case 43:	/* routing */
	case 60:	/* destination options */
		bytes = (length + 1) * 8;
		break;
	case 44:	/* fragment: only the first has the TCP header */
		if ((number_at(v, *at + 2, 2) & 0xfff8) != 0)
			return EXTENSION_NOT_TCP;
		bytes = 8;
		break;
	case 51:	/* authentication */
		bytes = (length + 2) * 4;
		break;
	default:
		return EXTENSION_NOT_TCP;
	}
	*next = number_at(v, *at, 1);
	*at += bytes;
	return v->cut ? EXTENSION_NOT_TCP : EXTENSION_SKIPPED;
}

static enum packet_what read_ipv6(struct view *v, size_t at, struct segment *out)
{
	size_t payload = number_at(v, at + 4, 2), start = at + 40, header = start;
	uint32_t next = number_at(v, at + 6, 1);

	out->ip_version = 6;
	copy_at(v, at + 8, out->source, 16);
	copy_at(v, at + 24, out->destination, 16);
	if (v->cut)
		return PACKET_SHORT;
	if (payload == 0)
		payload = wire_after(v, start);
	for (int i = 0; i < EXTENSIONS_MOST; i++) {
		switch (skip_extension(v, &header, &next)) {
		case EXTENSION_SKIPPED:
			break;
		case EXTENSION_NOT_TCP:
			return v->cut ? PACKET_SHORT : PACKET_OTHER;
		case EXTENSION_LAST:
			if (header - start > payload)
				return PACKET_DAMAGED;
			return read_tcp(v, header, payload - (header - start), out);
		}
	}
	return PACKET_OTHER;
}

static enum packet_what read_ip(struct view *v, size_t at, struct segment *out)
{
	uint32_t version = number_at(v, at, 1) >> 4;

	if (v->cut)
		return PACKET_SHORT;
	if (version == 4)
		return read_ipv4(v, at, out);
	if (version == 6)
		return read_ipv6(v, at, out);
	return PACKET_OTHER;
}

/* ---- the link ---- */

static const struct {
	uint8_t header_bytes;
	int8_t type_at;		/* of the protocol's number; -1: none, it is IP */
} links[] = {
	[PACKET_ETHERNET] = { 14, 12 },
	[PACKET_SLL] = { 16, 14 },
	[PACKET_SLL2] = { 20, 0 },
	[PACKET_RAW] = { 0, -1 },
	[PACKET_FAMILY] = { 4, -1 },
};

/* 802.2 with SNAP and an EtherType in it (RFC 1042); else it is no IP. */
static uint32_t read_snap(struct view *v, size_t *at)
{
	if (number_at(v, *at, 3) != 0xaaaa03 || number_at(v, *at + 3, 3) != 0)
		return 0;
	*at += 8;
	return number_at(v, *at - 2, 2);
}

static bool is_vlan(uint32_t type)
{
	return type == TYPE_VLAN || type == TYPE_QINQ || type == TYPE_QINQ_OLD;
}

enum packet_what packet_decode(enum packet_link link, const uint8_t *bytes, size_t captured_bytes, size_t wire_bytes,
			       struct segment *out)
{
	struct view v = { bytes, captured_bytes, wire_bytes, false };
	size_t at = links[link].header_bytes;
	uint32_t type;

	*out = (struct segment){ 0 };
	if (links[link].type_at < 0)
		return read_ip(&v, at, out);
	type = number_at(&v, (size_t)links[link].type_at, 2);
	for (int tags = 0; is_vlan(type) && tags < VLAN_TAGS_MOST; tags++) {
		type = number_at(&v, at + 2, 2);
		at += 4;
	}
	if (!v.cut && type < TYPE_LEAST)
		type = read_snap(&v, &at);
	if (v.cut)
		return PACKET_SHORT;
	if (type != TYPE_IPV4 && type != TYPE_IPV6)
		return PACKET_OTHER;
	return read_ip(&v, at, out);
}
