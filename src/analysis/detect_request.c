/* SPDX-License-Identifier: MIT */
/*
 * Heartbeats that their coordinator did not answer within an interval
 * (method.md 3, request), as far as the way there is at fault: those that had to
 * be sent again, or that nobody acknowledged. One that the broker's kernel had
 * at once and its process did not answer is a matter of detect_pause.c.
 */

#include "analysis/detect.h"

static bool is_heartbeat(const struct event *e)
{
	/* Heartbeat, ConsumerGroupHeartbeat, ShareGroupHeartbeat, StreamsGroupHeartbeat */
	return e->type == EVENT_WIRE_HEARTBEAT || sv_ends_with(event_text(e, FIELD_API), SV("Heartbeat"));
}

static bool is_lost_on_the_way(const struct event *e)
{
	return detect_number(e, FIELD_RETRANSMITS) > 0 || !event_has(e, FIELD_RECEIVED_AT_US);
}

/* Until it arrived: the way of the answer is not what a session hangs on. */
static struct span way_of(const struct detect_context *ctx, const struct event *e)
{
	struct span s = detect_event_span(ctx, e);
	int64_t us;

	if (event_int(e, FIELD_RECEIVED_AT_US, &us) && us > e->time.us && us - e->time.us < e->duration_us)
		s = detect_span(ctx, e->host, e->time.us, us);
	return s;
}

/* What is inferred under TLS has no answers. */
static void take_heartbeat(const struct detect_context *ctx, const struct event *e)
{
	int64_t limit_us = ctx->heartbeat_ms * detect_threshold(ctx, THRESHOLD_REQUEST_HEARTBEATS) * US_PER_MS;

	if (e->strength != STRENGTH_PROVES || e->duration_us <= limit_us || !is_heartbeat(e) || !is_lost_on_the_way(e))
		return;
	struct window *w = detect_add(ctx, WINDOW_REQUEST, "capture", SV_ABSENT, detect_path(ctx, e), way_of(ctx, e));
	w->censored = detect_number(e, FIELD_CENSORED) != 0;
	detect_measure(w, MEASURE_HEARTBEATS, 1);
	detect_evidence(ctx, w, e, "a heartbeat had no answer for longer than the interval, and had not arrived");
}

int detect_request(const struct detect_context *ctx)
{
	const enum event_type types[] = { EVENT_WIRE_HEARTBEAT, EVENT_WIRE_UNANSWERED };
	struct query *q = query_events(ctx->store, types, sizeof types / sizeof types[0]);
	struct event e;
	int rc;

	while ((rc = query_next(q, &e)) == 1)
		take_heartbeat(ctx, &e);
	query_free(q);
	return rc;
}
