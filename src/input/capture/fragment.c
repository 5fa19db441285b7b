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

void fragments_begin(struct fragments *f, const struct fragment *piece, uint32_t bytes, struct segment *s)
{
	struct fragment_slot *slot = find(f, piece, s);

	if (slot == NULL)
		slot = &f->slot[f->turn++ % FRAGMENT_SLOTS];
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
