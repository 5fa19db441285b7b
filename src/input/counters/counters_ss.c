/* SPDX-License-Identifier: MIT */
/*
 * "ss -ti" and "ss -tino": two lines a connection, or one with -O, parsed by
 * their keys, which differ by release (input-formats.md 1.6). Segments sent and
 * sent again are counters; a connection whose timer backs off, and on which
 * nothing is heard while data stand out, is silent now: since it last heard,
 * or, when nothing stood out at the sample before, at most since then.
 */

#include "input/counters/loop.h"

/* Connections whose state is kept from one sample to the next. */
#define CONNECTIONS_MAX 4096

struct connection {
	struct sv name;
	bool outstanding;
	int64_t backoff, silent_ms; /* 0: none, or not told */
	struct line line;
};

struct ss_state {
	struct connection *now, *before;
	size_t now_count, before_count, now_capacity, before_capacity;
	struct sv name; /* of the state line that waits for its details; absent: none does */
	uint64_t send_queue;
	bool has_before_time;
	struct host_time before_time;
	bool full; /* there are more connections: it was said */
};

static struct ss_state *state_of(struct loop_block *b)
{
	if (b->state == NULL)
		b->state = arena_alloc(b->arena, sizeof(struct ss_state));
	return b->state;
}

/* ---- addresses ---- */

/* "192.0.2.1:9092", "[::ffff:192.0.2.1]:9092", "[fe80::1]%eth0:9092": without mapping and brackets' interface. */
static bool read_address(struct sv word, struct sv *host, uint64_t *port)
{
	static const struct sv mapped = { "[::ffff:", 8 };
	size_t colon, end;

	if (!sv_rfind_char(word, ':', &colon) || !sv_to_u64(sv_sub(word, colon + 1, word.n), port) || *port > 65535)
		return false;
	*host = sv_sub(word, 0, colon);
	if (sv_find_char(*host, '%', &end))
		*host = sv_sub(*host, 0, end);
	if (sv_starts_with(*host, mapped) && sv_find_char(*host, '.', &end))
		*host = sv_sub(*host, mapped.n, host->n - mapped.n - (sv_ends_with(*host, SV("]")) ? 1 : 0));
	return host->n > 0;
}

/* Ports from here on are given to the side that opens a connection (Linux ip_local_port_range). */
#define EPHEMERAL_LEAST 32768

/*
 * "A B", the side that opened before the side that was called: told by the ports,
 * of which one alone is of those that openers get. With '=' before it when they do not tell.
 */
static struct sv connection_name(struct counters *of, struct sv local, struct sv peer)
{
	struct sv local_host, peer_host;
	uint64_t local_port, peer_port;

	if (!read_address(local, &local_host, &local_port) || !read_address(peer, &peer_host, &peer_port))
		return SV_ABSENT;
	bool opened = local_port >= EPHEMERAL_LEAST, called = peer_port >= EPHEMERAL_LEAST;
	struct arena *a = arena_new();
	struct sv l = arena_printf(a, "%.*s:%u", SV_ARG(local_host), (unsigned)local_port);
	struct sv p = arena_printf(a, "%.*s:%u", SV_ARG(peer_host), (unsigned)peer_port);
	bool swap = called && !opened;
	struct sv name = counters_name(of, arena_printf(a, "%s%.*s %.*s", opened == called ? "=" : "",
							SV_ARG(swap ? p : l), SV_ARG(swap ? l : p)));
	arena_free(a);
	return name;
}

/* ---- lines ---- */

static bool is_header(struct sv text)
{
	size_t at;

	return sv_find(text, SV("Recv-Q"), &at) && sv_find(text, SV("Send-Q"), &at);
}

/* "[tcp] [ESTAB] 0 40 LOCAL PEER [timer:(...)] [details]": the words after the two numbers. */
static bool read_state_line(struct sv text, struct sv *local, struct sv *peer, struct sv *rest, uint64_t *send_queue)
{
	uint64_t port, queue;
	struct sv host;

	*rest = text;
	for (size_t skipped = 0; skipped < 3; skipped++) {
		struct sv word = counter_word(rest), after = *rest;

		if (sv_is_absent(word) || sv_find_char(word, ':', &(size_t){ 0 }))
			return false;
		if (!sv_to_u64(word, &queue))
			continue;
		if (!sv_to_u64(counter_word(&after), send_queue))
			return false;
		*local = counter_word(&after);
		*peer = counter_word(&after);
		*rest = after;
		return read_address(*local, &host, &port) && read_address(*peer, &host, &port);
	}
	return false;
}

/* "rto:204", "retrans:0/3": the text behind the key, or absent. */
static struct sv value_of(struct sv text, struct sv key)
{
	for (struct sv word = counter_word(&text); !sv_is_absent(word); word = counter_word(&text)) {
		struct sv value = word;

		if (sv_eq(sv_cut(&value, ':'), key) && !sv_is_absent(value))
			return value;
	}
	return SV_ABSENT;
}

static int64_t number_of(struct sv text, struct sv key)
{
	int64_t value;

	return sv_to_i64(value_of(text, key), &value) && value > 0 ? value : 0;
}

/* "timer:(on,248ms,2)": how often the retransmission timer has run out. */
static int64_t timer_retries(struct sv text)
{
	struct sv timer = value_of(text, SV("timer"));
	int64_t retries;

	if (!sv_starts_with(timer, SV("(on,")) || !sv_ends_with(timer, SV(")")))
		return 0;
	timer = sv_sub(timer, 4, timer.n - 5);
	(void)sv_cut(&timer, ',');
	return sv_to_i64(timer, &retries) && retries > 0 ? retries : 0;
}

/* The details follow their state line: they are the last connection's. */
static struct connection *connection_of(struct arena *a, struct ss_state *s, const struct line *line)
{
	if (s->now_count > 0 && sv_eq(s->now[s->now_count - 1].name, s->name))
		return &s->now[s->now_count - 1];
	if (s->now_count == CONNECTIONS_MAX) {
		s->full = true;
		return NULL;
	}
	struct connection *c = ARENA_PUSH(a, s->now, s->now_count, s->now_capacity);
	*c = (struct connection){ .name = s->name, .outstanding = s->send_queue > 0, .line = *line };
	c->line.text = SV_ABSENT;
	return c;
}

static void keep_connection(struct arena *a, struct ss_state *s, struct sv details, const struct line *line)
{
	int64_t heard = number_of(details, SV("lastrcv")), acked = number_of(details, SV("lastack"));
	struct connection *c = connection_of(a, s, line);

	if (c == NULL)
		return;
	c->outstanding = c->outstanding || number_of(details, SV("unacked")) > 0;
	if (c->backoff == 0)
		c->backoff = number_of(details, SV("backoff"));
	if (c->backoff == 0)
		c->backoff = timer_retries(details);
	if (!sv_is_absent(value_of(details, SV("lastack"))))
		c->silent_ms = heard < acked ? heard : acked;
}

static enum loop_line take_details(struct loop_block *b, struct ss_state *s, struct sv details, const struct line *line)
{
	struct sv retrans = value_of(details, SV("retrans")), total = retrans;
	uint64_t value;

	keep_connection(b->arena, s, details, line);
	if (sv_is_absent(value_of(details, SV("rto"))))
		return LOOP_LINE_TAKEN;
	b->device = s->name;
	(void)sv_cut(&total, '/');
	if (sv_is_absent(retrans))
		value = 0;
	else if (!sv_to_u64(total, &value))
		return LOOP_LINE_TAKEN;
	loop_add_device(b, SOCKET_RETRANSMITS, value, line);
	if (sv_to_u64(value_of(details, SV("data_segs_out")), &value))
		loop_add_device(b, SOCKET_SEGMENTS, value, line);
	b->rows++;
	return LOOP_LINE_TAKEN;
}

enum loop_line ss_take(struct loop_block *b, const struct line *line, const char **why)
{
	struct ss_state *s = b->state;
	struct sv local, peer, rest;
	uint64_t send_queue = 0;

	(void)why;
	if (is_header(line->text)) {
		if (b->rows > 0)
			return LOOP_LINE_AGAIN;
		s = state_of(b);
		b->in_rows = true;
		s->name = SV_ABSENT;
		return LOOP_LINE_TAKEN;
	}
	if (read_state_line(line->text, &local, &peer, &rest, &send_queue)) {
		s = state_of(b);
		s->name = connection_name(b->of, local, peer);
		s->send_queue = send_queue;
		b->in_rows = true;
		if (sv_is_absent(s->name))
			return LOOP_LINE_TAKEN;
		if (loop_has(b, SOCKET_RETRANSMITS, s->name))
			return LOOP_LINE_AGAIN;
		return take_details(b, s, rest, line);
	}
	if (s == NULL || !b->in_rows)
		return LOOP_LINE_OTHER;
	if (sv_is_absent(value_of(line->text, SV("rto"))) && sv_is_absent(value_of(line->text, SV("cwnd")))) {
		b->in_rows = false;
		return LOOP_LINE_OTHER;
	}
	if (sv_is_absent(s->name))
		return LOOP_LINE_TAKEN;
	return take_details(b, s, line->text, line);
}

/* ---- the end of a round ---- */

static bool was_outstanding(const struct ss_state *s, struct sv name)
{
	for (size_t i = 0; i < s->before_count; i++)
		if (sv_eq(s->before[i].name, name))
			return s->before[i].outstanding;
	return true;
}

static int put_silence(struct loop_block *b, const struct ss_state *s, const struct connection *c,
		       struct host_time time)
{
	struct sampler *sampler = counters_sampler(b->of, SV_ABSENT, FAMILY_SOCKETS);
	int64_t silent_us;

	if (__builtin_mul_overflow(c->silent_ms, US_PER_MS, &silent_us) || silent_us > time.us)
		return 0;
	struct host_time start = { time.us - silent_us };
	if (s->has_before_time && start.us < s->before_time.us && !was_outstanding(s, c->name))
		start = s->before_time;
	struct reading r = { .counter = SOCKET_SILENT_MS,
			     .cpu = -1,
			     .device = c->name,
			     .value = (uint64_t)((time.us - start.us) / US_PER_MS),
			     .place = counter_place(&c->line) };
	if (sampler_grown(sampler, &r, start, time) < 0)
		return -1;
	r.counter = SOCKET_BACKOFF;
	r.value = (uint64_t)c->backoff;
	return sampler_grown(sampler, &r, start, time);
}

int ss_close(struct loop_block *b, struct ingest *in, const struct host_time *time)
{
	struct ss_state *s = b->state;
	int rc = 0;

	if (s == NULL || s->now_count == 0)
		return 0;
	for (size_t i = 0; i < s->now_count && rc == 0 && time != NULL; i++)
		if (s->now[i].outstanding && s->now[i].backoff > 0 && s->now[i].silent_ms > 0)
			rc = put_silence(b, s, &s->now[i], *time);
	if (s->full)
		diag_add(in->diag, SEVERITY_WARNING, "counters.too_many", &b->first,
			 "more than %d connections in a sample: the silence of the others is not read", CONNECTIONS_MAX);
	struct connection *spare = s->before;
	size_t capacity = s->before_capacity;
	s->before = s->now;
	s->before_count = s->now_count;
	s->before_capacity = s->now_capacity;
	s->now = spare;
	s->now_capacity = capacity;
	s->now_count = 0;
	s->name = SV_ABSENT;
	s->full = false;
	s->has_before_time = time != NULL;
	if (time != NULL)
		s->before_time = *time;
	return rc;
}
