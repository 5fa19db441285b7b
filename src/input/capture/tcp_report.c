/* SPDX-License-Identifier: MIT */
/* Findings in, events out (model/event.def, model/field.def). */

#include "input/capture/tcp_report.h"

#include <arpa/inet.h>
#include <string.h>

#include "input/capture/tcp_calm.h"

static char *put_number(char *at, unsigned number)
{
	char digits[10];
	unsigned n = 0;

	do
		digits[n++] = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	while (n > 0)
		*at++ = digits[--n];
	return at;
}

/* By hand: there are many events, and snprintf would be the greater part of one. */
static char *put_ipv4(char *at, const uint8_t bytes[4])
{
	for (int i = 0; i < 4; i++) {
		if (i > 0)
			*at++ = '.';
		at = put_number(at, bytes[i]);
	}
	return at;
}

static char *put_ipv6(char *at, const uint8_t bytes[16])
{
	char text[INET6_ADDRSTRLEN] = "?";
	size_t n;

	inet_ntop(AF_INET6, bytes, text, sizeof text);
	n = strlen(text);
	memcpy(at, text, n);
	return at + n;
}

/* Zones are written as those of IPv6 are (RFC 4007): 10.0.0.1%2:9092 */
static struct sv format_end(char out[TCP_END_BYTES], const struct tcp_address *address, unsigned zone, uint16_t port)
{
	char *at = out;

	if (address->version == 6)
		*at++ = '[';
	at = address->version == 6 ? put_ipv6(at, address->bytes) : put_ipv4(at, address->bytes);
	if (zone > 0) {
		*at++ = '%';
		at = put_number(at, zone);
	}
	if (address->version == 6)
		*at++ = ']';
	*at++ = ':';
	at = put_number(at, port);
	return (struct sv){ out, (size_t)(at - out) };
}

static void begin(struct event *e, enum event_type type, const struct tcp_mark *mark, int64_t start_us, int64_t end_us)
{
	event_init(e, type);
	e->place = packet_place(&mark->place);
	e->time.us = start_us;
	e->duration_us = end_us > start_us ? end_us - start_us : 0;
}

void tcp_report_path(struct event *e, const struct tcp_conn *c, struct tcp_ends *texts)
{
	const unsigned zone = c->pair != NULL ? c->pair->zone : 0;

	event_set_text(e, FIELD_PATH_A, format_end(texts->a, &c->address[TCP_A], zone, c->port[TCP_A]));
	event_set_text(e, FIELD_PATH_B, format_end(texts->b, &c->address[TCP_B], zone, c->port[TCP_B]));
}

static void set_direction(struct event *e, unsigned side)
{
	event_set_text(e, FIELD_DIRECTION, side == TCP_A ? SV("ab") : SV("ba"));
}

/* Absent, not 0, when no round trip was measured. */
static void set_rtt(struct event *e, const struct tcp_median *rtt)
{
	if (tcp_median_count(rtt) > 0)
		event_set_int(e, FIELD_RTT_MEDIAN_US, tcp_median_us(rtt));
}

static void set_flag(struct event *e, enum event_field f, bool value)
{
	if (value)
		event_set_int(e, f, 1);
}

void tcp_report_put(struct tcp_report *r, const struct event *e)
{
	if (!r->failed && r->sink.put(r->sink.context, e) != 0)
		r->failed = true;
}

/*
 * Seen from the capture one direction is acknowledged by the host at hand and
 * the other across the network: the path is the slower one.
 */
static const struct tcp_median *path_rtt(const struct tcp_pair *p)
{
	const struct tcp_median *ab = &p->side[TCP_A].rtt, *ba = &p->side[TCP_B].rtt;

	return tcp_median_us(ab) >= tcp_median_us(ba) ? ab : ba;
}

void tcp_report_connection(struct tcp_report *r, const struct tcp_conn *c)
{
	struct tcp_ends texts;
	struct event e;

	begin(&e, EVENT_NET_CONNECTION, &c->first, c->first.us, c->last_us);
	tcp_report_path(&e, c, &texts);
	event_set_int(&e, FIELD_SEGMENTS, (int64_t)c->segments);
	event_set_int(&e, FIELD_RETRANSMITS, (int64_t)c->retransmits);
	event_set_int(&e, FIELD_COPIES, (int64_t)c->copies);
	set_rtt(&e, path_rtt(c->pair));
	tcp_report_put(r, &e);
}

static void put_second(struct tcp_report *r, const struct tcp_flow *f)
{
	const struct tcp_second *s = &f->now;
	struct tcp_ends texts;
	struct event e;

	begin(&e, EVENT_NET_SECOND, &s->mark, s->second * US_PER_S, (s->second + 1) * US_PER_S);
	tcp_report_path(&e, f->conn, &texts);
	set_direction(&e, f->side);
	event_set_int(&e, FIELD_SEGMENTS, s->segments);
	event_set_int(&e, FIELD_RETRANSMITS, s->retransmits);
	event_set_int(&e, FIELD_TIMEOUTS, s->timeouts);
	if (s->needless > 0)
		event_set_int(&e, FIELD_NEEDLESS, s->needless);
	event_set_int(&e, FIELD_BYTES, (int64_t)s->bytes);
	if (s->lost_last_us != 0) {
		event_set_int(&e, FIELD_LOSS_AT_US, s->lost_first_us);
		event_set_int(&e, FIELD_LOST_AT_US, s->lost_last_us);
	}
	event_set_int(&e, FIELD_RTT_SAMPLES, s->rtt.total);
	if (s->rtt.total > 0) {
		event_set_int(&e, FIELD_RTT_MIN_US, s->rtt.min_us);
		event_set_int(&e, FIELD_RTT_MEDIAN_US, tcp_samples_median_us(&s->rtt));
		event_set_int(&e, FIELD_RTT_MAX_US, s->rtt.max_us);
	}
	tcp_report_put(r, &e);
}

static void put_calm(struct tcp_report *r, struct tcp_flow *f)
{
	const struct tcp_calm *c = &f->calm;
	struct tcp_ends texts;
	struct event e;

	if (c->count == 0)
		return;
	begin(&e, EVENT_NET_SECOND, &c->mark, c->first * US_PER_S, (c->last + 1) * US_PER_S);
	tcp_report_path(&e, f->conn, &texts);
	set_direction(&e, f->side);
	if (c->count > 1)
		event_set_int(&e, FIELD_SAMPLES, c->count);
	event_set_int(&e, FIELD_SEGMENTS, (int64_t)c->segments);
	event_set_int(&e, FIELD_RETRANSMITS, 0);
	event_set_int(&e, FIELD_TIMEOUTS, 0);
	event_set_int(&e, FIELD_BYTES, (int64_t)c->bytes);
	event_set_int(&e, FIELD_RTT_SAMPLES, (int64_t)c->rtts);
	if (c->medians > 0) {
		event_set_int(&e, FIELD_RTT_MIN_US, c->min_us);
		event_set_int(&e, FIELD_RTT_MEDIAN_US, tcp_calm_median_us(c));
		event_set_int(&e, FIELD_RTT_MAX_US, c->max_us);
	}
	f->calm.count = 0;
	tcp_report_put(r, &e);
}

void tcp_report_second(struct tcp_report *r, struct tcp_flow *f)
{
	bool is_calm;

	if (!f->now.open)
		return;
	is_calm = tcp_calm_is(f);
	if (!is_calm || !tcp_calm_joins(f))
		put_calm(r, f);
	if (is_calm)
		tcp_calm_add(f);
	else
		put_second(r, f);
	f->now.open = false;
}

void tcp_report_seconds(struct tcp_report *r, struct tcp_flow *f)
{
	tcp_report_second(r, f);
	put_calm(r, f);
}

void tcp_report_stall(struct tcp_report *r, const struct tcp_flow *f, const struct tcp_stall *stall)
{
	struct tcp_ends texts;
	struct event e;

	begin(&e, EVENT_NET_STALL, &stall->mark, stall->start_us, stall->end_us);
	tcp_report_path(&e, f->conn, &texts);
	set_direction(&e, f->side);
	if (stall->has_loss)
		event_set_int(&e, FIELD_LOSS_AT_US, stall->mark.us);
	if (stall->lost_us != 0)
		event_set_int(&e, FIELD_LOST_AT_US, stall->lost_us);
	if (stall->sign_us != 0)
		event_set_int(&e, FIELD_SIGN_AT_US, stall->sign_us);
	event_set_int(&e, FIELD_RETRANSMITS, stall->retransmits);
	event_set_int(&e, FIELD_TIMEOUTS, stall->timeouts);
	set_rtt(&e, &f->conn->pair->side[f->side].rtt);
	set_flag(&e, FIELD_ABANDONED, stall->abandoned);
	set_flag(&e, FIELD_CENSORED, stall->censored);
	tcp_report_put(r, &e);
}

void tcp_report_syn(struct tcp_report *r, const struct tcp_conn *c, int64_t end_us, enum tcp_syn_end how)
{
	struct tcp_ends texts;
	struct event e;

	begin(&e, EVENT_NET_SYN_UNANSWERED, &c->opening.first, c->opening.first.us, end_us);
	tcp_report_path(&e, c, &texts);
	event_set_int(&e, FIELD_RETRANSMITS, (int64_t)c->opening.syns - 1);
	/* Of those that were answered, the latest arrived. */
	event_set_int(&e, FIELD_LOST_AT_US,
		      how == TCP_SYN_ANSWERED ? c->opening.last_us - c->opening.last_wait_us : c->opening.last_us);
	set_flag(&e, FIELD_ABANDONED, how == TCP_SYN_ABANDONED);
	set_flag(&e, FIELD_CENSORED, how == TCP_SYN_CENSORED);
	tcp_report_put(r, &e);
}

void tcp_report_reset(struct tcp_report *r, const struct tcp_conn *c, unsigned by, const struct tcp_mark *mark,
		      bool cut)
{
	struct tcp_ends texts;
	struct event e;

	begin(&e, EVENT_NET_RESET, mark, mark->us, mark->us);
	tcp_report_path(&e, c, &texts);
	set_direction(&e, by);
	set_flag(&e, FIELD_ABANDONED, cut);
	tcp_report_put(r, &e);
}

void tcp_report_refused(struct tcp_report *r, const struct tcp_conn *c, const struct tcp_mark *mark)
{
	struct tcp_ends texts;
	struct event e;

	begin(&e, EVENT_NET_REFUSED, mark, mark->us, mark->us);
	tcp_report_path(&e, c, &texts);
	tcp_report_put(r, &e);
}

void tcp_report_zero_window(struct tcp_report *r, const struct tcp_flow *f, int64_t end_us, bool censored)
{
	struct tcp_ends texts;
	struct event e;

	begin(&e, EVENT_NET_ZERO_WINDOW, &f->window_closed_mark, f->window_closed_mark.us, end_us);
	tcp_report_path(&e, f->conn, &texts);
	set_direction(&e, f->side);
	set_flag(&e, FIELD_CENSORED, censored);
	tcp_report_put(r, &e);
}

void tcp_report_unseen(struct tcp_report *r, const struct tcp_conn *c, unsigned side, const struct tcp_mark *mark,
		       const struct tcp_unseen *unseen)
{
	struct tcp_ends texts;
	struct event e;

	begin(&e, EVENT_NET_UNSEEN, mark, unseen->start_us, unseen->end_us);
	tcp_report_path(&e, c, &texts);
	set_direction(&e, side);
	event_set_int(&e, FIELD_RETRANSMITS, unseen->packets);
	set_rtt(&e, path_rtt(c->pair));
	tcp_report_put(r, &e);
}

void tcp_report_quiet(struct tcp_report *r, const struct tcp_pair *p, const struct tcp_quiet *quiet, bool censored)
{
	struct tcp_ends texts;
	struct event e;

	begin(&e, EVENT_NET_QUIET, &quiet->mark, quiet->start_us, quiet->end_us);
	event_set_text(&e, FIELD_PATH_A, format_end(texts.a, &p->caller, p->zone, p->caller_port));
	event_set_text(&e, FIELD_PATH_B, format_end(texts.b, &p->callee, p->zone, p->callee_port));
	set_direction(&e, quiet->side);
	event_set_int(&e, FIELD_ACKS, (int64_t)quiet->kernel_packets);
	set_flag(&e, FIELD_PENDING, quiet->pending);
	if (quiet->has_spoken)
		event_set_int(&e, FIELD_SPOKEN_AT_US, quiet->spoken_us);
	set_flag(&e, FIELD_CENSORED, censored);
	tcp_report_put(r, &e);
}

void tcp_report_sighted(struct tcp_report *r, const struct tcp_conn *c, unsigned by, const struct segment *s, uint64_t digest)
{
	const struct tcp_mark mark = { s->time_us, s->place };
	struct tcp_ends texts;
	struct event e;

	begin(&e, EVENT_NET_SIGHTED, &mark, s->time_us, s->time_us);
	tcp_report_path(&e, c, &texts);
	set_direction(&e, by);
	event_set_int(&e, FIELD_DIGEST, (int64_t)(digest >> 1));
	tcp_report_put(r, &e);
}
