/* SPDX-License-Identifier: MIT */
/* See input/capture/kafka_tls.h. */

#include "input/capture/kafka_tls.h"

#include <stddef.h>

#include "base/tstamp.h"

/*
 * A record adds 22 to 29 bytes to 23 and the lengths of client, group and
 * member; Kafka's ids make 100 to 400 of that. The answer is 10 to 49 bytes.
 */
#define BEAT_BYTES_LEAST 45
#define BEAT_BYTES_MOST 800
#define ANSWER_BYTES_MOST 140
/* heartbeat.interval.ms is 1 to 15 s in practice; a fetch comes every half second. */
#define GAP_LEAST_US (900 * US_PER_MS)
#define GAP_MOST_US (20 * US_PER_S)
/* Gaps differ by so many percent at most, and so many in a row make a rhythm. */
#define GAP_PERCENT 25
#define REGULAR_LEAST 3

static struct kafka_tls_size *size_of(struct kafka_tls *t, uint32_t bytes)
{
	struct kafka_tls_size *oldest = &t->sizes[0];
	int64_t oldest_us = INT64_MAX;

	for (size_t i = 0; i < KAFKA_TLS_SIZES; i++) {
		struct kafka_tls_size *s = &t->sizes[i];
		int64_t us = s->beat_count > 0 ? s->beats[(s->beat_count - 1) % KAFKA_TLS_BEATS].us : INT64_MIN;

		if (s->bytes == bytes)
			return s;
		if (us < oldest_us) {
			oldest = s;
			oldest_us = us;
		}
	}
	if (t->asked == oldest)
		t->asked = NULL;
	*oldest = (struct kafka_tls_size){ .bytes = bytes };
	return oldest;
}

static bool is_alike(int64_t gap_us, int64_t before_us)
{
	int64_t slack_us = before_us / 100 * GAP_PERCENT;

	return gap_us >= GAP_LEAST_US && gap_us <= GAP_MOST_US && gap_us >= before_us - slack_us &&
	       gap_us <= before_us + slack_us;
}

static void note_beat(struct kafka_tls_size *s, int64_t us, const struct packet_place *place)
{
	if (s->beat_count > 0) {
		int64_t gap_us = us - s->beats[(s->beat_count - 1) % KAFKA_TLS_BEATS].us;

		s->regular = is_alike(gap_us, s->gap_us) ? s->regular + 1 : 0;
		s->gap_us = gap_us;
	}
	s->beats[s->beat_count++ % KAFKA_TLS_BEATS] = (struct kafka_tls_beat){ us, *place };
	if (s->beat_count == UINT32_MAX)
		s->beat_count = KAFKA_TLS_BEATS;
}

/* Those before it that were not told, when it is the first that is sure. */
static void tell(struct kafka_tls_size *s, void (*told)(void *context, const struct kafka_tls_beat *beat), void *context)
{
	unsigned from = s->is_told || s->beat_count < KAFKA_TLS_BEATS ? s->beat_count - 1 : s->beat_count - KAFKA_TLS_BEATS;

	s->is_told = true;
	for (unsigned i = from; i < s->beat_count; i++)
		told(context, &s->beats[i % KAFKA_TLS_BEATS]);
}

static void take_answer(struct kafka_tls *t, uint32_t bytes)
{
	struct kafka_tls_size *s = t->asked;

	t->asked = NULL;
	if (s == NULL)
		return;
	if (bytes > ANSWER_BYTES_MOST || (s->answer_bytes != 0 && s->answer_bytes != bytes))
		s->regular = 0;
	s->answer_bytes = bytes;
	s->is_answered = true;
}

/* Once the rhythm is known, one that misses a beat or comes late is a heartbeat still. */
static void take_question(struct kafka_tls *t, uint32_t bytes, int64_t us, const struct packet_place *place,
			  void (*told)(void *context, const struct kafka_tls_beat *beat), void *context)
{
	struct kafka_tls_size *s;

	t->asked = NULL;
	if (bytes < BEAT_BYTES_LEAST || bytes > BEAT_BYTES_MOST)
		return;
	s = size_of(t, bytes);
	t->asked = s;
	note_beat(s, us, place);
	if (s->is_told || (s->regular >= REGULAR_LEAST - 1 && s->is_answered && s->beat_count >= KAFKA_TLS_BEATS))
		tell(s, told, context);
}

void kafka_tls_record(struct kafka_tls *t, bool from_client, uint64_t bytes, int64_t us, const struct packet_place *place,
		      void (*told)(void *context, const struct kafka_tls_beat *beat), void *context)
{
	uint32_t size = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;

	if (from_client)
		take_question(t, size, us, place, told, context);
	else
		take_answer(t, size);
}
