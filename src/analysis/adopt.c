/* SPDX-License-Identifier: MIT */
/* Groups for the lines of clients that name none. See analysis/adopt.h. */

#include "analysis/adopt.h"

#include "base/order.h"

static int membership_cmp(const void *x, const void *y)
{
	const struct membership *a = x, *b = y;
	int order = sv_cmp(a->client, b->client);

	return order != 0 ? order : sv_cmp(a->group, b->group);
}

void memberships_add(struct memberships *m, struct arena *a, struct sv client, struct sv group)
{
	struct membership one = { client, group };

	if (client.n == 0 || group.n == 0)
		return;
	m->count = order_unique_at(m->items, m->count, sizeof *m->items, membership_cmp, &m->sort_at);
	*ARENA_PUSH(a, m->items, m->count, m->capacity) = one;
}

void memberships_sort(struct memberships *m)
{
	m->count = order_unique(m->items, m->count, sizeof *m->items, membership_cmp);
}

const struct event *memberships_adopt(const struct memberships *m, const struct event *e, struct arena *a)
{
	struct sv client = event_text(e, FIELD_CLIENT);
	const struct membership before_all = { client, SV_ABSENT };
	struct event adopted;
	size_t at;

	if (event_infos[e->type].side != SIDE_CLIENT || client.n == 0 || event_has(e, FIELD_GROUP))
		return e;
	at = order_lower_bound(&before_all, m->items, m->count, sizeof *m->items, membership_cmp);
	if (at == m->count || !sv_eq(m->items[at].client, client))
		return e;
	if (at + 1 < m->count && sv_eq(m->items[at + 1].client, client))
		return e;
	event_copy(&adopted, e);
	event_set_text(&adopted, FIELD_GROUP, m->items[at].group);
	return event_compact(&adopted, a);
}
