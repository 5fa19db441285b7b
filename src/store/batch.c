/* SPDX-License-Identifier: MIT */
/* Events on their way into the database. See store/batch.h. */

#include "store/batch.h"

#include <assert.h>

#include "base/fold.h"
#include "store/facts.h"

struct batch *batch_new(struct arena *a)
{
	struct batch *b = arena_alloc(a, sizeof *b);

	buf_init(&b->bytes);
	return b;
}

void batch_fini(struct batch *b)
{
	if (b != NULL)
		buf_fini(&b->bytes);
}

static uint64_t host_bit(struct sv host)
{
	return UINT64_C(1) << (sv_is_absent(host) ? 0 : fold_bytes(0, host.p, host.n) % 64);
}

void batch_add(struct batch *b, const struct event *e)
{
	struct batch_event *out = &b->events[b->count];
	struct facts_written written;

	assert(b->count < BATCH_EVENTS);
	b->count++;
	*out = (struct batch_event){ .type = e->type, .time = e->time, .place = e->place, .at = b->bytes.n,
				     .text_n = e->text.n, .has_text = !sv_is_absent(e->text) };
	written = facts_write(&b->bytes, e);
	out->facts_n = written.n;
	out->likeness = repeat_likeness(e, sv_sub(batch_facts(b, out), written.fields, written.n));
	if (out->likeness.kind != LIKENESS_NONE)
		out->host_bit = host_bit(e->host);
	buf_add(&b->bytes, e->text);
}

bool batch_is_full(const struct batch *b)
{
	return b->count == BATCH_EVENTS || b->bytes.n >= BATCH_BYTES;
}

void batch_clear(struct batch *b)
{
	b->count = 0;
	buf_clear(&b->bytes);
}

struct sv batch_facts(const struct batch *b, const struct batch_event *e)
{
	return (struct sv){ b->bytes.p + e->at, e->facts_n };
}

struct sv batch_text(const struct batch *b, const struct batch_event *e)
{
	return e->has_text ? (struct sv){ b->bytes.p + e->at + e->facts_n, e->text_n } : SV_ABSENT;
}
