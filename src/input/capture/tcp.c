/* SPDX-License-Identifier: MIT */
/*
 * The connections: each segment finds its own, or begins one; what it says is
 * taken there (tcp_take.h). Ends them when the evidence ends, or has a hole.
 */

#include "input/capture/tcp.h"

#include <string.h>

#include "input/capture/cache_line.h"
#include "input/capture/kafka.h"
#include "input/capture/tcp_key.h"
#include "input/capture/tcp_opening.h"
#include "input/capture/tcp_sight.h"
#include "input/capture/tcp_stall.h"
#include "input/capture/tcp_state.h"
#include "input/capture/tcp_take.h"

/* Open at once; the least recently active gives way. About 2.5 KB each. */
#define CONNECTIONS_MAX 16384

/* What every segment goes through is one function, though tests have it in another form as well. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* The ends of a segment's connection, the sender first. */
struct ends {
	struct tcp_address address[2];
	uint16_t port[2];
};

static struct ends ends_of(const struct segment *s)
{
	struct ends e = { .address = { { .version = s->ip_version }, { .version = s->ip_version } },
			  .port = { s->source_port, s->destination_port } };
	size_t n = s->ip_version == 6 ? 16 : 4;

	memcpy(e.address[0].bytes, s->source, n);
	memcpy(e.address[1].bytes, s->destination, n);
	return e;
}

/* ---- the end of a connection ---- */

/* All that is in progress on the connection ends with the evidence. */
static void cut(struct tcp *t, struct tcp_conn *c)
{
	tcp_opening_cut(t, c);
	for (unsigned side = TCP_A; side <= TCP_B; side++) {
		tcp_stall_cut(&c->flow[side], t->now_us, &t->report);
		tcp_report_seconds(&t->report, &c->flow[side]);
		tcp_take_window_end(t, &c->flow[side], !c->closed);
	}
}

static void forget(struct tcp *t, struct tcp_conn *c)
{
	cut(t, c);
	kafka_end(t->kafka, c, t->now_us, true);
	tcp_report_connection(&t->report, c);
	tcp_conn_leave(c);
	tcp_table_remove(&t->table, c);
	tcp_activity_remove(&t->activity, c->number);
	c->in_table = false;
	tcp_pairs_release(t->pairs, c->pair);
	c->next = t->free;
	t->free = c;
	t->connections--;
}

/* ---- the start of a connection ---- */

/* With its number. */
static struct tcp_conn *take_free(struct tcp *t)
{
	struct tcp_conn *c = t->free;

	if (c != NULL) {
		t->free = c->next;
		return c;
	}
	c = cache_lines(t->arena, sizeof *c);
	c->number = tcp_activity_number(&t->activity, c);
	return c;
}

/*
 * Whether the sender is side a. A SYN tells; else a service known to be called
 * at one of the ends; else the higher port, as ephemeral ports are (RFC 6335).
 */
static bool is_caller(const struct tcp *t, const struct segment *s, const struct ends *e)
{
	const struct tcp_pair *calls, *called;

	if ((s->flags & TCP_SYN) != 0)
		return (s->flags & TCP_ACK) == 0;
	calls = tcp_pairs_find(t->pairs, s->domain, &e->address[0], &e->address[1], e->port[1]);
	called = tcp_pairs_find(t->pairs, s->domain, &e->address[1], &e->address[0], e->port[0]);
	if ((calls != NULL && calls->certain) != (called != NULL && called->certain))
		return calls != NULL && calls->certain;
	return e->port[0] >= e->port[1];
}

static struct tcp_conn *open_connection(struct tcp *t, const struct segment *s, const struct ends *e, unsigned *side)
{
	unsigned a = is_caller(t, s, e) ? 0 : 1;
	struct tcp_conn *c;

	if (t->connections == CONNECTIONS_MAX) {
		forget(t, tcp_activity_oldest(&t->activity));
		t->evicted++;
	}
	c = take_free(t);
	*c = (struct tcp_conn){ .address = { e->address[a], e->address[!a] }, .port = { e->port[a], e->port[!a] },
				.domain = s->domain, .hash = tcp_hash(s), .first = { t->now_us, s->place },
				.in_table = true, .number = c->number };
	for (unsigned i = TCP_A; i <= TCP_B; i++) {
		c->flow[i].conn = c;
		c->flow[i].side = (uint8_t)i;
	}
	c->pair = tcp_pairs_hold(t->pairs, c->domain, &c->address[TCP_A], &c->address[TCP_B], c->port[TCP_B]);
	c->pair->caller_port = c->port[TCP_A];
	c->pair->certain = c->pair->certain || (s->flags & TCP_SYN) != 0;
	tcp_table_add(&t->table, c);
	t->connections++;
	tcp_activity_add(&t->activity, c->number);
	*side = a;
	return c;
}

/* A SYN of another sequence number than that which opened the connection: the ports are used again. */
static bool is_reuse(const struct tcp_conn *c, const struct segment *s, unsigned side)
{
	if ((s->flags & (TCP_SYN | TCP_ACK)) != TCP_SYN)
		return false;
	return side != TCP_A || !c->opening.seen || c->opening.isn != s->sequence;
}

/*
 * Tunnels and VLANs may differ by direction (Geneve's and GRE's numbers do, as
 * some virtual switches set them). So the first answer from one domain to what
 * was sent in another shows that the two are one: of this side nothing has been
 * seen there, and what it acknowledges is what was sent there.
 */
static struct tcp_conn *find_elsewhere(struct tcp *t, const struct segment *s, uint64_t hash, unsigned *side)
{
	struct tcp_conn *c;

	if (!t->copies->has_domains)
		return NULL;
	c = tcp_table_find_elsewhere(&t->table, s, hash, side);
	/* Its domain has become one with that of the segment since. */
	if (c != NULL && tcp_copies_domain(t->copies, c->domain) == s->domain) {
		c->domain = s->domain;
		return c;
	}
	if (c == NULL || (s->flags & (TCP_ACK | TCP_RST)) != TCP_ACK || c->spoke[*side] || !c->flow[!*side].synced)
		return NULL;
	if (!tcp_is_near(s->acknowledgment, c->flow[!*side].next + (c->opening.seen && !c->opening.answered)))
		return NULL;
	tcp_copies_alias(t->copies, s->domain, c->domain);
	return c;
}

/* NULL: a reset of a connection that is not known says nothing. */
static __attribute__((noinline)) struct tcp_conn *find_connection(struct tcp *t, const struct segment *s, uint64_t hash,
								  unsigned *side)
{
	struct tcp_conn *c = tcp_table_find(&t->table, s, hash, side);
	struct ends e;

	if (c != NULL && is_reuse(c, s, *side)) {
		forget(t, c);
		c = NULL;
	} else if (c == NULL) {
		c = find_elsewhere(t, s, hash, side);
	}
	if (c != NULL) {
		tcp_activity_touch(&t->activity, c->number);
		return c;
	}
	if ((s->flags & TCP_RST) != 0)
		return NULL;
	e = ends_of(s);
	return open_connection(t, s, &e, side);
}

/* Nearly always the likely one; a SYN may open another in its place. */
ALWAYS_INLINE struct tcp_conn *connection_of(struct tcp *t, const struct segment *s, uint64_t hash,
					     struct tcp_conn *likely, unsigned *side)
{
	if (SELDOM(likely == NULL || (s->flags & TCP_SYN) != 0 || !tcp_table_is(likely, s, side)))
		return find_connection(t, s, hash, side);
	tcp_activity_touch(&t->activity, likely->number);
	return likely;
}

/* ---- public ---- */

struct tcp *tcp_new(struct event_sink sink)
{
	struct arena *a = arena_new();
	struct tcp *t = arena_alloc(a, sizeof *t);

	t->arena = a;
	t->report.sink = sink;
	t->copies = arena_alloc(a, sizeof *t->copies);
	t->pairs = tcp_pairs_new(a);
	t->kafka = kafka_new(a, &t->report);
	tcp_table_init(&t->table, a);
	tcp_activity_init(&t->activity, a);
	t->now_us = INT64_MIN;
	return t;
}

static int result(const struct tcp *t)
{
	return t->report.failed ? -1 : 0;
}

/* Only the connection that has it is told. */
static void count_copy(struct tcp *t, const struct segment *s, uint64_t hash)
{
	unsigned side;
	struct tcp_conn *c = tcp_table_find(&t->table, s, hash, &side);

	t->copy_count++;
	if (c != NULL)
		c->copies++;
}

/* Of the domain that it was first seen in. */
static struct segment in_its_domain(const struct tcp *t, const struct segment *s)
{
	struct segment inside = *s;

	inside.domain = tcp_copies_domain(t->copies, s->domain);
	return inside;
}

struct tcp_conn *tcp_expect(const struct tcp *t, const struct tcp_key *key)
{
	struct tcp_conn *likely = tcp_table_guess(&t->table, key->hash);

	tcp_copies_fetch(t->copies, key->digest);
	if (likely != NULL)
		tcp_conn_fetch(likely);
	return likely;
}

void tcp_prepare(const struct tcp_conn *likely, const struct segment *s)
{
	unsigned side;

	if (likely == NULL || !likely->in_table)
		return;
	side = likely->port[TCP_A] == s->source_port ? TCP_A : TCP_B;
	tcp_flow_fetch_sender(&likely->flow[side]);
	tcp_flow_fetch_receiver(&likely->flow[!side]);
	tcp_pair_fetch(likely->pair, side);
	if (likely->kafka != NULL)
		kafka_fetch_conn(likely->kafka);
}

/* any: without the short ways. */
ALWAYS_INLINE int take_segment(struct tcp *t, const struct segment *s, const struct tcp_key *key,
			       struct tcp_conn *likely, bool any)
{
	struct tcp_conn *c;
	int64_t before_us;
	unsigned side;

	c = connection_of(t, s, key->hash, likely, &side);
	if (c == NULL)
		return result(t);
	c->last_us = t->now_us;
	/*
	 * Nearly always that is known. All of c->state is read in a moment, and on x86-64 a load waits for a
	 * narrower store to the same bytes until that has left the core.
	 */
	if (SELDOM(!c->spoke[side]))
		c->spoke[side] = true;
	before_us = c->pair->side[side].heard_us;
	tcp_sight_see(&t->sights, &t->report, c, side, s);
	tcp_stall_host_heard(c->pair, side, c, t->now_us, &t->report);
	if (s->payload_bytes > 0 && c->kafka != NULL)
		kafka_fetch_frame(c->kafka);
	if (USUALLY(!c->closed))
		(any ? tcp_take_any : tcp_take)(t, c, s, side, before_us);
	if (USUALLY(!c->closed && !c->is_foreign) && (s->payload_bytes > 0 || c->kafka != NULL))
		(any ? kafka_segment_any : kafka_segment)(t->kafka, c, side, s, t->now_us);
	return result(t);
}

/* Takes its time, and remembers it among the frames that may come again. */
ALWAYS_INLINE bool is_copy(struct tcp *t, const struct segment *s, const struct tcp_key *key)
{
	/* Packets of several queues may be recorded slightly out of order. */
	if (s->time_us > t->now_us)
		t->now_us = s->time_us;
	return tcp_copies_see(t->copies, s, key->digest, t->now_us);
}

/* Of a capture in which domains are one, or a copy. */
static __attribute__((noinline)) int take_odd(struct tcp *t, const struct segment *s, const struct tcp_key *key,
					      struct tcp_conn *likely, bool copy, bool any)
{
	struct segment inside = in_its_domain(t, s);

	if (!copy)
		return take_segment(t, &inside, key, likely, any);
	count_copy(t, &inside, key->hash);
	return 0;
}

int tcp_segment_any(struct tcp *t, const struct segment *s)
{
	const struct tcp_key key = tcp_key_of(s);

	return take_odd(t, s, &key, NULL, is_copy(t, s, &key), true);
}

int tcp_segment(struct tcp *t, const struct segment *s)
{
	const struct tcp_key key = tcp_key_of(s);

	return tcp_segment_expected(t, s, &key, tcp_table_guess(&t->table, key.hash));
}

int tcp_segment_expected(struct tcp *t, const struct segment *s, const struct tcp_key *key, struct tcp_conn *likely)
{
	const bool copy = is_copy(t, s, key);

	if (SELDOM(copy || t->copies->alias_count > 0))
		return take_odd(t, s, key, likely, copy, false);
	return take_segment(t, s, key, likely, false);
}

enum tcp_continuity tcp_continuity(const struct tcp *t, const struct segment *s)
{
	struct segment inside = in_its_domain(t, s);
	unsigned side;
	const struct tcp_conn *c = tcp_table_find(&t->table, &inside, tcp_hash(s), &side);

	if (c == NULL || c->closed || (s->flags & (TCP_SYN | TCP_RST)) != 0)
		return TCP_CANNOT_TELL;
	if (!c->flow[side].synced || !c->flow[!side].synced)
		return TCP_CANNOT_TELL;
	if ((s->flags & TCP_ACK) != 0 && tcp_ahead(s->acknowledgment, c->flow[!side].next) > 0)
		return TCP_JUMPS;
	return tcp_ahead(s->sequence, c->flow[side].next) > 0 ? TCP_CANNOT_TELL : TCP_CONTINUES;
}

static void cut_pair(void *context, struct tcp_pair *pair)
{
	struct tcp *t = context;
	struct tcp_quiet quiet;

	for (unsigned side = TCP_A; side <= TCP_B; side++)
		if (tcp_pair_quiet(pair, side, t->now_us, &quiet))
			tcp_report_quiet(&t->report, pair, &quiet, true);
	tcp_pair_restart(pair);
}

int tcp_hole(struct tcp *t, int64_t from_us, int64_t to_us)
{
	if (from_us > t->now_us)
		t->now_us = from_us;
	tcp_pairs_each(t->pairs, cut_pair, t);
	/* At those that were not active since the hole before, nothing has changed. */
	for (struct tcp_conn *c = tcp_activity_since_hole(&t->activity); c != NULL;
	     c = tcp_activity_next(&t->activity, c->number)) {
		cut(t, c);
		kafka_cut(t->kafka, c);
		tcp_flow_unsync(&c->flow[TCP_A]);
		tcp_flow_unsync(&c->flow[TCP_B]);
		memset(c->numbers, 0, sizeof c->numbers);
	}
	tcp_activity_hole(&t->activity);
	tcp_copies_forget(t->copies);
	t->now_us = to_us;
	return result(t);
}

int tcp_finish(struct tcp *t)
{
	tcp_pairs_each(t->pairs, cut_pair, t);
	while (tcp_activity_oldest(&t->activity) != NULL)
		forget(t, tcp_activity_oldest(&t->activity));
	kafka_finish(t->kafka);
	return result(t);
}

uint64_t tcp_copies(const struct tcp *t)
{
	return t->copy_count;
}

uint64_t tcp_overtaken(const struct tcp *t)
{
	return t->late_count;
}

struct kafka_counts tcp_kafka_counts(const struct tcp *t)
{
	return kafka_counts(t->kafka);
}

uint64_t tcp_evicted(const struct tcp *t)
{
	return t->evicted;
}

void tcp_free(struct tcp *t)
{
	if (t != NULL)
		arena_free(t->arena);
}
