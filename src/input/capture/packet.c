/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a packet in, its TCP segment out: RFC 791, RFC 8200, RFC 9293;
 * IEEE 802.1Q, RFC 1042 (SNAP), RFC 1661 and 2516 (PPP, PPPoE); around them
 * RFC 3032 (MPLS), 2784 and 2890 (GRE), 7348 (VXLAN), 8926 (Geneve), 2003 and
 * 4213 (IP in IP), and ERSPAN as switches mirror with it.
 */

#include "input/capture/packet.h"

#include <string.h>

#include "input/capture/fragment.h"

enum ether_type {
	TYPE_IPV4 = 0x0800,
	TYPE_IPV6 = 0x86dd,
	TYPE_VLAN = 0x8100,
	TYPE_QINQ = 0x88a8,
	TYPE_QINQ_OLD = 0x9100,
	TYPE_MPLS = 0x8847,
	TYPE_MPLS_MULTICAST = 0x8848,
	TYPE_PPPOE = 0x8864,
	TYPE_ETHERNET = 0x6558,		/* inside of tunnels */
	TYPE_ERSPAN_2 = 0x88be,
	TYPE_ERSPAN_3 = 0x22eb,
};
#define TYPE_LEAST 0x600	/* below it the field is a length (IEEE 802.3) */

enum protocol { PROTOCOL_IPV4 = 4, PROTOCOL_TCP = 6, PROTOCOL_UDP = 17, PROTOCOL_IPV6 = 41, PROTOCOL_GRE = 47 };
enum ppp { PPP_IPV4 = 0x21, PPP_IPV6 = 0x57, PPP_MPLS = 0x281 };
/* Destination ports: RFC 7348, Linux before it, RFC 8926. */
enum { PORT_VXLAN = 4789, PORT_VXLAN_LINUX = 8472, PORT_GENEVE = 6081 };

/* Tags, labels and tunnels around one packet; a sane one has four or five. */
#define LAYERS_MOST 16
#define EXTENSIONS_MOST 8	/* of an IPv6 header; a sane packet has one or two */

/* A header with no option but a timestamp: most are. */
#define OPTIONS_USUAL 32

/*
 * Of eight bytes. To tell copies the start of a payload is enough, which every
 * snapshot length shows: its sequence number tells the most.
 */
#define DIGEST_WORDS 2

struct packet_decoder {
	struct fragments fragments;
};

/* ---- bounded reading ---- */

struct view {
	struct packet_decoder *decoder;
	const uint8_t *bytes;
	size_t captured;
	size_t wire;
	unsigned layers;	/* so far */
};

/* n bytes from "at"; NULL when they were not captured. */
static inline const uint8_t *look(const struct view *v, size_t at, size_t n)
{
	return at <= v->captured && v->captured - at >= n ? v->bytes + at : NULL;
}

static inline uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static size_t wire_after(const struct view *v, size_t at)
{
	return v->wire > at ? v->wire - at : 0;
}

/* ---- domains ---- */

static inline uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

static void enter_vlan(struct segment *out, uint16_t tag)
{
	/* 0 is a priority without a VLAN. */
	if ((tag & 0xfff) != 0)
		out->domain = mix(out->domain + TYPE_VLAN, tag & 0xfff);
}

static uint64_t hash_address(const uint8_t address[16])
{
	uint64_t word[2];

	memcpy(word, address, sizeof word);
	return mix(mix(1, word[0]), word[1]);
}

/* The same for both directions; out holds the outer addresses. */
static void enter_tunnel(struct segment *out, uint32_t kind, uint32_t id)
{
	uint64_t ends = hash_address(out->source) + hash_address(out->destination);

	out->domain = mix(mix(mix(out->domain, kind), id), ends);
}

/* ---- TCP ---- */

static inline uint64_t word_at(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof word);
	return word;
}

static inline uint32_t digest(const uint8_t *bytes, size_t n)
{
	uint64_t h = 0, last = 0;

	if (n >= 8 * DIGEST_WORDS)
		return (uint32_t)mix(mix(mix(0, word_at(bytes)), word_at(bytes + 8)), 0);
	for (; n >= 8; bytes += 8, n -= 8)
		h = mix(h, word_at(bytes));
	memcpy(&last, bytes, n);
	return (uint32_t)mix(h, last);
}

/* RFC 2883 4: the first block names what came twice when it lies below the acknowledgment or within the second block. */
static void read_sack(const struct view *v, size_t at, size_t length, struct segment *out)
{
	const uint8_t *p = look(v, at, 10), *second = look(v, at, 18);
	uint32_t from, to;
	bool below;

	if (p == NULL)
		return;
	from = be32(p + 2);
	to = be32(p + 6);
	below = (int32_t)(from - out->acknowledgment) < 0;
	if (!below && length >= 18 && second != NULL)
		below = (int32_t)(from - be32(second + 10)) >= 0 && (int32_t)(be32(second + 14) - to) >= 0;
	if (!below)
		return;
	out->has_duplicate = true;
	out->duplicate_from = from;
	out->duplicate_to = to;
}

/* RFC 7323 2.2: the window scale option, in a SYN alone. Options that were cut off are not known. */
static void read_options(const struct view *v, size_t at, size_t end, struct segment *out)
{
	while (at < end) {
		const uint8_t *p = look(v, at, 1);
		size_t length = 1;

		if (p == NULL || p[0] == 0)
			return;
		if (p[0] != 1) {
			p = look(v, at, 2);
			if (p == NULL || p[1] < 2 || p[1] > end - at)
				return;
			length = p[1];
		}
		if (p[0] == 5 && length >= 10)
			read_sack(v, at, length, out);
		if (p[0] == 3 && length == 3 && (out->flags & TCP_SYN) != 0 && look(v, at, 3) != NULL) {
			out->window_shift = p[2];
			out->has_window_shift = true;
		}
		at += length;
	}
}

/* What follows the packet in a frame is padding. */
static inline void set_payload(struct segment *out, const uint8_t *bytes, size_t captured)
{
	if (captured > out->payload_bytes)
		captured = out->payload_bytes;
	out->payload = captured > 0 ? bytes : NULL;
	out->payload_captured = (uint32_t)captured;
	out->payload_digest = captured > 0 ? digest(bytes, captured) : 0;
}

static void read_payload(const struct view *v, size_t at, struct segment *out)
{
	set_payload(out, v->bytes + (at < v->captured ? at : 0), v->captured > at ? v->captured - at : 0);
}

/* All of the header but its options. */
static inline void set_tcp(struct segment *out, const uint8_t *p)
{
	out->source_port = be16(p);
	out->destination_port = be16(p + 2);
	out->sequence = be32(p + 4);
	out->acknowledgment = be32(p + 8);
	out->flags = p[13];
	out->window = be16(p + 14);
}

/* ip_payload: bytes of the IP packet from "at" on. */
static enum packet_what read_tcp(const struct view *v, size_t at, size_t ip_payload, struct segment *out)
{
	const uint8_t *p = look(v, at, 16);
	size_t header;

	if (p == NULL)
		return PACKET_SHORT;
	header = (size_t)(p[12] >> 4) * 4;
	if (header < 20 || header > ip_payload || ip_payload - header > UINT32_MAX)
		return PACKET_DAMAGED;
	set_tcp(out, p);
	if ((out->flags & TCP_SYN) != 0 || header > OPTIONS_USUAL)
		read_options(v, at + 20, at + header, out);
	out->payload_bytes = (uint32_t)(ip_payload - header);
	read_payload(v, at + header, out);
	return PACKET_TCP;
}

static enum packet_what read_first_piece(const struct view *v, size_t at, size_t ip_payload,
					 const struct fragment *piece, struct segment *out)
{
	enum packet_what what = read_tcp(v, at, ip_payload, out);

	if (what == PACKET_TCP && piece->more)
		fragments_begin(&v->decoder->fragments, piece, (uint32_t)ip_payload, out);
	return what;
}

static bool is_header_whole(const struct view *v, size_t at, size_t ip_payload)
{
	const uint8_t *p = look(v, at, 16);

	/* When it was not captured, that is what is to be said of it. */
	return ip_payload >= 20 && (p == NULL || (size_t)(p[12] >> 4) * 4 <= ip_payload);
}

/* A header in several pieces; the payload behind it stays where it is. */
static enum packet_what gather(const struct view *v, size_t at, size_t bytes, const struct fragment *piece,
			       struct segment *out)
{
	const uint8_t *p = look(v, at, bytes), *head;
	struct fragment rest = { .id = piece->id, .more = piece->more };
	uint32_t have = 0;
	struct view header = *v;
	enum packet_what what;

	if (p == NULL)
		return PACKET_SHORT;
	head = fragments_gather(&v->decoder->fragments, piece, p, (uint32_t)bytes, out, &have);
	if (head == NULL)
		return PACKET_OTHER;
	header.bytes = head;
	header.captured = header.wire = FRAGMENT_HEAD_BYTES;
	what = read_first_piece(&header, 0, have, &rest, out);
	out->payload = NULL;
	out->payload_captured = 0;
	out->payload_digest = 0;
	return what;
}

static enum packet_what read_tcp_piece(const struct view *v, size_t at, size_t ip_payload,
				       const struct fragment *piece, struct segment *out)
{
	struct fragments *f = &v->decoder->fragments;

	if (piece->offset == 0 && is_header_whole(v, at, ip_payload))
		return read_first_piece(v, at, ip_payload, piece, out);
	if (piece->offset == 0 || fragments_is_gathering(f, piece, out))
		return gather(v, at, ip_payload, piece, out);
	if (!fragments_go_on(f, piece, (uint32_t)ip_payload, out))
		return PACKET_OTHER;
	read_payload(v, at, out);
	return PACKET_TCP;
}

/* ---- tunnels ---- */

static enum packet_what read_type(struct view *v, size_t at, uint32_t type, struct segment *out);
static enum packet_what read_ip(struct view *v, size_t at, struct segment *out);
static enum packet_what read_ethernet(struct view *v, size_t at, struct segment *out);

static enum packet_what read_vxlan(struct view *v, size_t at, struct segment *out)
{
	const uint8_t *p = look(v, at, 8);

	if (p == NULL)
		return PACKET_SHORT;
	/* Others may use the port. */
	if ((p[0] & 0x08) == 0)
		return PACKET_OTHER;
	enter_tunnel(out, PORT_VXLAN, be32(p + 4) >> 8);
	return read_ethernet(v, at + 8, out);
}

static enum packet_what read_geneve(struct view *v, size_t at, struct segment *out)
{
	const uint8_t *p = look(v, at, 8);

	if (p == NULL)
		return PACKET_SHORT;
	if ((p[0] & 0xc0) != 0)
		return PACKET_OTHER;
	enter_tunnel(out, PORT_GENEVE, be32(p + 4) >> 8);
	return read_type(v, at + 8 + (size_t)(p[0] & 0x3f) * 4, be16(p + 2), out);
}

static enum packet_what read_udp(struct view *v, size_t at, struct segment *out)
{
	const uint8_t *p = look(v, at, 4);

	if (p == NULL)
		return PACKET_OTHER;
	switch (be16(p + 2)) {
	case PORT_VXLAN:
	case PORT_VXLAN_LINUX:
		return read_vxlan(v, at + 8, out);
	case PORT_GENEVE:
		return read_geneve(v, at + 8, out);
	default:
		return PACKET_OTHER;
	}
}

/* What a switch mirrors: bytes of its own header behind that of GRE. Type I has neither a header nor sequence numbers. */
static size_t erspan_bytes(uint16_t type, bool has_sequence)
{
	if (type == TYPE_ERSPAN_3)
		return 12;
	return type == TYPE_ERSPAN_2 && has_sequence ? 8 : 0;
}

static enum packet_what read_gre(struct view *v, size_t at, struct segment *out)
{
	const uint8_t *p = look(v, at, 4);
	uint16_t flags, type;
	uint32_t key = 0;

	if (p == NULL)
		return PACKET_SHORT;
	flags = be16(p);
	type = be16(p + 2);
	/* Version 0 without source routes; version 1 carries PPTP. */
	if ((flags & 0x4007) != 0)
		return PACKET_OTHER;
	at += (flags & 0x8000) != 0 ? 8U : 4U;
	if ((flags & 0x2000) != 0) {
		p = look(v, at, 4);
		if (p == NULL)
			return PACKET_SHORT;
		key = be32(p);
		at += 4;
	}
	at += (flags & 0x1000) != 0 ? 4U : 0U;
	if (type == TYPE_ERSPAN_2 || type == TYPE_ERSPAN_3) {
		/* A mirror shows what flows elsewhere, and both directions may come by different ways. */
		out->domain = 0;
		return read_ethernet(v, at + erspan_bytes(type, (flags & 0x1000) != 0), out);
	}
	enter_tunnel(out, PROTOCOL_GRE, key);
	return read_type(v, at, type, out);
}

/* Labels are of one direction, so that they tell no connection apart. */
static enum packet_what read_mpls(struct view *v, size_t at, struct segment *out)
{
	const uint8_t *p;

	for (int i = 0; i < LAYERS_MOST; i++, at += 4) {
		p = look(v, at, 4);
		if (p == NULL)
			return PACKET_SHORT;
		if ((p[2] & 1) == 0)
			continue;
		p = look(v, at + 4, 1);
		/* RFC 4385: a nibble of 0 begins the control word of a pseudowire. */
		if (p != NULL && p[0] >> 4 == 0)
			return read_ethernet(v, at + 8, out);
		return read_ip(v, at + 4, out);
	}
	return PACKET_OTHER;
}

static enum packet_what read_ppp(struct view *v, size_t at, struct segment *out)
{
	const uint8_t *p = look(v, at, 4);
	uint32_t protocol;

	if (p == NULL)
		return PACKET_SHORT;
	/* RFC 1662: address and control, unless they are compressed away; the protocol may be one byte. */
	if (p[0] == 0xff && p[1] == 0x03) {
		p += 2;
		at += 2;
	}
	protocol = (p[0] & 1) != 0 ? p[0] : be16(p);
	at += (p[0] & 1) != 0 ? 1 : 2;
	if (protocol == PPP_IPV4 || protocol == PPP_IPV6)
		return read_ip(v, at, out);
	return protocol == PPP_MPLS ? read_mpls(v, at, out) : PACKET_OTHER;
}

/* ---- IP ---- */

static enum packet_what read_protocol(struct view *v, size_t at, uint32_t protocol, size_t ip_payload,
				      const struct fragment *piece, struct segment *out)
{
	if (protocol == PROTOCOL_TCP && fragment_is_whole(piece))
		return read_tcp(v, at, ip_payload, out);
	if (protocol == PROTOCOL_TCP)
		return read_tcp_piece(v, at, ip_payload, piece, out);
	/* Later pieces of a tunnel's packet: its beginning told how long it is. */
	if (piece->offset != 0 || ++v->layers > LAYERS_MOST)
		return PACKET_OTHER;
	switch (protocol) {
	case PROTOCOL_UDP:
		return read_udp(v, at, out);
	case PROTOCOL_GRE:
		return read_gre(v, at, out);
	case PROTOCOL_IPV4:
	case PROTOCOL_IPV6:
		enter_tunnel(out, PROTOCOL_IPV4, 0);
		return read_ip(v, at, out);
	default:
		return PACKET_OTHER;
	}
}

/* In two words: what is stored in pieces cannot be read in one until it has left the core (tcp_hash does, at once). */
static inline void set_address(uint8_t to[16], const uint8_t *from)
{
	uint64_t word[2] = { 0, 0 };

	memcpy(word, from, 4);
	memcpy(to, word, sizeof word);
}

static inline void set_ipv4(struct segment *out, const uint8_t *p)
{
	out->ip_version = 4;
	out->has_ip_id = true;
	out->ip_id = be16(p + 4);
	set_address(out->source, p + 12);
	set_address(out->destination, p + 16);
}

/*
 * A length of 0 stands for a packet too large for the field: segmentation
 * offload (Linux "BIG TCP") as the sender's capture sees it.
 */
static enum packet_what read_ipv4(struct view *v, size_t at, struct segment *out)
{
	const uint8_t *p = look(v, at, 20);
	size_t header, total;
	struct fragment piece;

	if (p == NULL)
		return PACKET_SHORT;
	header = (size_t)(p[0] & 15) * 4;
	total = be16(p + 2);
	set_ipv4(out, p);
	if (total == 0)
		total = wire_after(v, at);
	if (header < 20 || total < header)
		return PACKET_DAMAGED;
	piece = (struct fragment){ .id = out->ip_id, .offset = (be16(p + 6) & 0x1fffU) * 8,
				   .more = (p[6] & 0x20) != 0 };
	return read_protocol(v, at + header, p[9], total - header, &piece, out);
}

enum extension { EXTENSION_SKIPPED, EXTENSION_LAST, EXTENSION_SHORT };

/* Steps over one extension header, if *next names one. */
static enum extension skip_extension(const struct view *v, size_t *at, uint32_t *next, struct fragment *piece)
{
	const uint8_t *p = look(v, *at, 8);
	uint32_t type = *next;

	if (type != 0 && type != 43 && type != 44 && type != 51 && type != 60)
		return EXTENSION_LAST;
	if (p == NULL)
		return EXTENSION_SHORT;
	*next = p[0];
	switch (type) {
	case 44:	/* fragment */
		*piece = (struct fragment){ .id = be32(p + 4), .offset = be16(p + 2) & 0xfff8U, .more = (p[3] & 1) != 0 };
		*at += 8;
		break;
	case 51:	/* authentication */
		*at += ((size_t)p[1] + 2) * 4;
		break;
	default:	/* hop by hop, routing, destination options */
		*at += ((size_t)p[1] + 1) * 8;
		break;
	}
	/* What follows in a later piece is no header. */
	return piece->offset != 0 ? EXTENSION_LAST : EXTENSION_SKIPPED;
}

static enum packet_what read_ipv6(struct view *v, size_t at, struct segment *out)
{
	const uint8_t *p = look(v, at, 40);
	size_t payload, start = at + 40, header = start;
	struct fragment piece = { .offset = 0 };
	enum extension step = EXTENSION_SKIPPED;
	uint32_t next;

	if (p == NULL)
		return PACKET_SHORT;
	payload = be16(p + 4);
	next = p[6];
	out->ip_version = 6;
	out->has_ip_id = false;
	out->ip_id = 0;
	memcpy(out->source, p + 8, 16);
	memcpy(out->destination, p + 24, 16);
	if (payload == 0)
		payload = wire_after(v, start);
	for (int i = 0; step == EXTENSION_SKIPPED && i < EXTENSIONS_MOST; i++)
		step = skip_extension(v, &header, &next, &piece);
	if (step == EXTENSION_SHORT)
		return PACKET_SHORT;
	if (step == EXTENSION_SKIPPED)
		return PACKET_OTHER;
	if (header - start > payload)
		return next == PROTOCOL_TCP ? PACKET_DAMAGED : PACKET_OTHER;
	return read_protocol(v, header, next, payload - (header - start), &piece, out);
}

static enum packet_what read_ip(struct view *v, size_t at, struct segment *out)
{
	const uint8_t *p = look(v, at, 1);

	if (p == NULL)
		return PACKET_SHORT;
	if (p[0] >> 4 == 4)
		return read_ipv4(v, at, out);
	if (p[0] >> 4 == 6)
		return read_ipv6(v, at, out);
	return PACKET_OTHER;
}

/* ---- the link ---- */

/* 802.2 with SNAP and an EtherType in it (RFC 1042); else it is no IP. */
static enum packet_what read_snap(struct view *v, size_t at, struct segment *out)
{
	static const uint8_t snap[6] = { 0xaa, 0xaa, 0x03 };
	const uint8_t *p = look(v, at, 8);

	if (p == NULL)
		return PACKET_SHORT;
	if (memcmp(p, snap, sizeof snap) != 0 || be16(p + 6) < TYPE_LEAST)
		return PACKET_OTHER;
	return read_type(v, at + 8, be16(p + 6), out);
}

static enum packet_what read_vlan(struct view *v, size_t at, struct segment *out)
{
	const uint8_t *p = look(v, at, 4);

	if (p == NULL)
		return PACKET_SHORT;
	enter_vlan(out, be16(p));
	return read_type(v, at + 4, be16(p + 2), out);
}

/* What an EtherType says stands at "at". */
static enum packet_what read_type(struct view *v, size_t at, uint32_t type, struct segment *out)
{
	if (++v->layers > LAYERS_MOST)
		return PACKET_OTHER;
	switch (type) {
	case TYPE_IPV4:
	case TYPE_IPV6:
		return read_ip(v, at, out);
	case TYPE_VLAN:
	case TYPE_QINQ:
	case TYPE_QINQ_OLD:
		return read_vlan(v, at, out);
	case TYPE_MPLS:
	case TYPE_MPLS_MULTICAST:
		return read_mpls(v, at, out);
	case TYPE_PPPOE:
		return read_ppp(v, at + 6, out);
	case TYPE_ETHERNET:
		return read_ethernet(v, at, out);
	default:
		return type < TYPE_LEAST ? read_snap(v, at, out) : PACKET_OTHER;
	}
}

static enum packet_what read_ethernet(struct view *v, size_t at, struct segment *out)
{
	const uint8_t *p = look(v, at + 12, 2);

	return p != NULL ? read_type(v, at + 14, be16(p), out) : PACKET_SHORT;
}

static enum packet_what read_cooked(struct view *v, size_t type_at, size_t header, struct segment *out)
{
	const uint8_t *p = look(v, type_at, 2);

	return p != NULL ? read_type(v, header, be16(p), out) : PACKET_SHORT;
}

/* ---- public ---- */

bool packet_link_of(uint32_t link_type, enum packet_link *out)
{
	static const struct {
		uint32_t link_type;
		enum packet_link link;
	} links[] = {
		{ 1, PACKET_ETHERNET },	{ 113, PACKET_SLL },   { 276, PACKET_SLL2 },  { 101, PACKET_RAW },
		{ 228, PACKET_RAW },	{ 229, PACKET_RAW },   { 12, PACKET_RAW },    { 14, PACKET_RAW },
		{ 0, PACKET_FAMILY },	{ 108, PACKET_FAMILY }, { 9, PACKET_PPP },     { 50, PACKET_PPP },
		{ 51, PACKET_PPPOE },
	};

	for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
		if (links[i].link_type == link_type) {
			*out = links[i].link;
			return true;
		}
	}
	return false;
}

/* What not every TCP packet has. (All of it at once is many stores, of which most are made again.) */
static inline void begin(struct segment *out)
{
	out->domain = 0;
	out->has_window_shift = false;
	out->window_shift = 0;
	out->has_duplicate = false;
	out->duplicate_from = out->duplicate_to = 0;
	out->payload = NULL;
	out->payload_captured = 0;
	out->payload_digest = 0;
	out->time_us = 0;
	out->place = (struct packet_place){ .number = 0 };
}

struct packet_decoder *packet_decoder_new(struct arena *a)
{
	return arena_alloc(a, sizeof(struct packet_decoder));
}

uint64_t packet_decoder_fragments_lost(const struct packet_decoder *d)
{
	return d->fragments.lost;
}

enum packet_what packet_decode_any(struct packet_decoder *d, enum packet_link link, const uint8_t *bytes,
				   size_t captured_bytes, size_t wire_bytes, struct segment *out)
{
	struct view v = { d, bytes, captured_bytes, wire_bytes, 0 };

	begin(out);
	switch (link) {
	case PACKET_ETHERNET:
		return read_ethernet(&v, 0, out);
	case PACKET_SLL:
		return read_cooked(&v, 14, 16, out);
	case PACKET_SLL2:
		return read_cooked(&v, 0, 20, out);
	case PACKET_FAMILY:
		return read_ip(&v, 4, out);
	case PACKET_PPP:
		return read_ppp(&v, 0, out);
	case PACKET_PPPOE:
		return read_ppp(&v, 6, out);
	case PACKET_RAW:
		break;
	}
	return read_ip(&v, 0, out);
}

/* ---- by far the commonest packet ---- */

enum { PLAIN_IP = 14, PLAIN_TCP = PLAIN_IP + 20, PLAIN_BYTES = PLAIN_TCP + 20 };

/*
 * Ethernet, IPv4 without options, whole, and TCP with no option but a
 * timestamp, and no SYN: of such a packet read_ethernet, read_type, read_ipv4
 * and read_tcp do no more than read_plain.
 */
static bool is_plain(const uint8_t *p, size_t captured)
{
	size_t total, header;

	if (captured < PLAIN_BYTES || be16(p + 12) != TYPE_IPV4 || p[PLAIN_IP] != 0x45 || p[PLAIN_IP + 9] != PROTOCOL_TCP ||
	    (be16(p + PLAIN_IP + 6) & 0x3fff) != 0 || (p[PLAIN_TCP + 13] & TCP_SYN) != 0)
		return false;
	total = be16(p + PLAIN_IP + 2);
	header = (size_t)(p[PLAIN_TCP + 12] >> 4) * 4;
	return header >= 20 && header <= OPTIONS_USUAL && total >= 20 + header;
}

static void read_plain(const uint8_t *p, size_t captured, struct segment *out)
{
	const uint8_t *ip = p + PLAIN_IP, *tcp = p + PLAIN_TCP;
	size_t header = (size_t)(tcp[12] >> 4) * 4, payload = be16(ip + 2) - 20 - header;
	size_t payload_at = PLAIN_TCP + header, shown = captured > payload_at ? captured - payload_at : 0;

	begin(out);
	set_ipv4(out, ip);
	set_tcp(out, tcp);
	out->payload_bytes = (uint32_t)payload;
	set_payload(out, p + payload_at, shown);
}

enum packet_what packet_decode(struct packet_decoder *d, enum packet_link link, const uint8_t *bytes,
			       size_t captured_bytes, size_t wire_bytes, struct segment *out)
{
	if (link != PACKET_ETHERNET || !is_plain(bytes, captured_bytes))
		return packet_decode_any(d, link, bytes, captured_bytes, wire_bytes, out);
	read_plain(bytes, captured_bytes, out);
	return PACKET_TCP;
}
