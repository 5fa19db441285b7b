/* SPDX-License-Identifier: MIT */
/* Ids of entries. See input/log/seen.h. */

#include "input/log/seen.h"

#include "base/digest.h"

uint64_t seen_digest(struct sv wrapper, struct sv id)
{
	struct digest d;
	char hex[2 * DIGEST_BYTES + 1];
	uint64_t out = 0;

	digest_init(&d);
	digest_add(&d, wrapper.p, wrapper.n);
	digest_add(&d, "\n", 1);
	digest_add(&d, id.p, id.n);
	digest_hex(&d, hex);
	(void)sv_to_hex64((struct sv){ hex, 16 }, &out);
	return out != 0 ? out : 1;
}
