/* SPDX-License-Identifier: MIT */
/* See the header. */

#include "input/capture/fragment.h"

#include <string.h>

static bool is_same(const struct fragment_slot *slot, const struct fragment *piece, const struct segment *s)
{
	return slot->used && slot->id == piece->id && slot->segment.ip_version == s->ip_version &&
	       slot->segment.domain == s->domain &&
	       memcmp(slot->segment.source, s->source, sizeof s->source) == 0 &&
	       memcmp(slot->segment.destination, s->destination, sizeof s->destination) == 0;
}

/* NULL when it is not known. */
static struct fragment_slot *find(struct fragments *f, const struct fragment *piece, const struct segment *s)
{
	for (unsigned i = 0; i < FRAGMENT_SLOTS; i++)
		if (is_same(&f->slot[i], piece, s))
			return &f->slot[i];
	return NULL;
}

static struct fragment_slot *find_or_take(struct fragments *f, const struct fragment *piece, const struct segment *s)
{
	struct fragment_slot *slot = find(f, piece, s);

	return slot != NULL ? slot : &f->slot[f->turn++ % FRAGMENT_SLOTS];
}

static bool is_header_whole(const struct fragment_slot *slot)
{
	return slot->next >= 20 && slot->next >= (uint32_t)(slot->head[12] >> 4) * 4;
}

bool fragments_is_gathering(struct fragments *f, const struct fragment *piece, const struct segment *s)
{
	const struct fragment_slot *slot = find(f, piece, s);

	return slot != NULL && slot->gathering;
}

const uint8_t *fragments_gather(struct fragments *f, const struct fragment *piece, const uint8_t *bytes, uint32_t n,
				const struct segment *s, uint32_t *have)
{
	struct fragment_slot *slot = find_or_take(f, piece, s);

	if (piece->offset == 0)
		*slot = (struct fragment_slot){ .used = true, .id = piece->id, .segment = *s, .gathering = true };
	if (piece->offset != slot->next)
		return NULL;
	for (uint32_t i = 0; i < n && slot->next + i < FRAGMENT_HEAD_BYTES; i++)
		slot->head[slot->next + i] = bytes[i];
	slot->next += n;
	slot->used = piece->more;
	if (!is_header_whole(slot))
		return NULL;
	slot->gathering = false;
	*have = slot->next;
	return slot->head;
}

void fragments_begin(struct fragments *f, const struct fragment *piece, uint32_t bytes, struct segment *s)
{
	struct fragment_slot *slot = find_or_take(f, piece, s);

	*slot = (struct fragment_slot){ .used = true, .id = piece->id, .next = bytes, .segment = *s };
	slot->fin = (s->flags & TCP_FIN) != 0;
	s->flags &= (uint8_t)~TCP_FIN;
	slot->segment.flags = s->flags & (uint8_t)~TCP_SYN;
	slot->segment.sequence += s->payload_bytes + ((s->flags & TCP_SYN) != 0);
}

bool fragments_go_on(struct fragments *f, const struct fragment *piece, uint32_t bytes, struct segment *s)
{
	struct fragment_slot *slot = find(f, piece, s);

	/* One that was seen before is a copy, or sent again whole. */
	if (slot != NULL && piece->offset < slot->next)
		return false;
	if (slot == NULL || piece->offset != slot->next) {
		f->lost++;
		return false;
	}
	*s = slot->segment;
	s->payload_bytes = bytes;
	slot->next += bytes;
	slot->segment.sequence += bytes;
	if (!piece->more && slot->fin)
		s->flags |= TCP_FIN;
	slot->used = piece->more;
	return true;
}
