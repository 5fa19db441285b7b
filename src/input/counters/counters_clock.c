/* SPDX-License-Identifier: MIT */
/*
 * How far off a host's clock was, as its time daemon tells: "chronyc tracking"
 * in a loop or alone, tracking.log and measurements.log of chronyd, loopstats and
 * peerstats of ntpd. Their signs differ (chrony.conf(5), log; ntpd's monitoring
 * files): offset_us is positive where the host's clock is fast.
 */

#include "input/counters/loop.h"

#include <string.h>

#include "input/counters/documents.h"

#define UNKNOWN INT64_MIN

/* uncertainty_us: UNKNOWN when nothing tells. */
static int put_offset(struct ingest *in, struct host_time time, int64_t offset_us, int64_t uncertainty_us,
		      const struct place *place)
{
	struct event e;

	event_init(&e, EVENT_CLOCK_OFFSET);
	e.time = time;
	e.place = *place;
	event_set_int(&e, FIELD_OFFSET_US, offset_us);
	if (uncertainty_us != UNKNOWN)
		event_set_int(&e, FIELD_UNCERTAINTY_US, uncertainty_us);
	return ingest_put(in, &e);
}

/* Seconds as microseconds, at most ten years; UNKNOWN else. */
static int64_t seconds_us(struct sv text)
{
	int64_t us;

	return counter_decimal(text, 6, &us) && us > -INT64_C(315360000000000) && us < INT64_C(315360000000000) ? us : UNKNOWN;
}

static int64_t half_and(int64_t delay_us, int64_t dispersion_us)
{
	return delay_us == UNKNOWN || dispersion_us == UNKNOWN ? UNKNOWN : delay_us / 2 + dispersion_us;
}

/* ---- chronyc tracking ---- */

struct tracking {
	bool local; /* the host is its own reference, or follows none: it says nothing of true time */
	bool has_reference_time;
	struct host_time reference_time;
	int64_t offset_us, delay_us, dispersion_us;
};

static struct tracking *tracking_of(struct loop_block *b)
{
	if (b->state == NULL) {
		struct tracking *t = arena_alloc(b->arena, sizeof *t);

		*t = (struct tracking){ .offset_us = UNKNOWN, .delay_us = UNKNOWN, .dispersion_us = UNKNOWN };
		b->state = t;
	}
	return b->state;
}

/* The reference of "local stratum": 127.127.1.1 */
static bool is_local(struct sv reference)
{
	return sv_starts_with(reference, SV("7F7F0101")) || sv_starts_with(reference, SV("00000000"));
}

static void take_system_time(struct tracking *t, struct sv value)
{
	struct sv rest = value;
	int64_t us = seconds_us(counter_word(&rest));
	size_t at;

	t->offset_us = us == UNKNOWN ? us : sv_find(rest, SV(" slow of"), &at) ? -us : us;
}

static void take_reference_time(struct tracking *t, struct sv value)
{
	struct tstamp parts;
	struct host_time instants[2];
	enum zone_local local;

	t->has_reference_time = tstamp_guess_parts(value, &parts) && parts.lacks == TSTAMP_LACKS_NOTHING &&
				tstamp_resolve(&parts, (struct zone){ 0 }, instants, &local);
	if (t->has_reference_time)
		t->reference_time = instants[0];
}

/* 7F7F0101,,8,1796039441.057282808,0.000000000,... */
static bool take_csv(struct loop_block *b, struct sv text)
{
	struct sv fields[14];
	uint64_t reference;

	for (size_t i = 0; i < 14; i++) {
		if (sv_is_absent(text))
			return false;
		fields[i] = sv_cut(&text, ',');
	}
	if (!sv_is_absent(text) || !counter_is_hex8(fields[0], &reference) || seconds_us(fields[4]) == UNKNOWN)
		return false;
	struct tracking *t = tracking_of(b);
	t->local = is_local(fields[0]) || sv_eq(fields[13], SV("Not synchronised"));
	t->has_reference_time = counter_decimal(fields[3], 6, &t->reference_time.us);
	/* "System time" of the text has its sign in words, fast or slow; here fast is negative: slow of NTP time is positive. */
	t->offset_us = -seconds_us(fields[4]);
	t->delay_us = seconds_us(fields[10]);
	t->dispersion_us = seconds_us(fields[11]);
	return true;
}

enum loop_line tracking_take(struct loop_block *b, const struct line *line, const char **why)
{
	static const struct sv known[] = {
		{ "Reference ID", 12 }, { "Stratum", 7 },    { "Ref time (UTC)", 14 },	{ "System time", 11 },
		{ "Last offset", 11 },	{ "RMS offset", 10 }, { "Frequency", 9 },	{ "Residual freq", 13 },
		{ "Skew", 4 },		{ "Root delay", 10 }, { "Root dispersion", 15 }, { "Update interval", 15 },
		{ "Leap status", 11 },
	};
	struct sv value = line->text, name = sv_trim(sv_cut(&value, ':'));
	size_t i = 0;

	(void)why;
	if (take_csv(b, line->text)) {
		b->rows++;
		return LOOP_LINE_TAKEN;
	}
	while (i < sizeof known / sizeof known[0] && !sv_eq(name, known[i]))
		i++;
	if (sv_is_absent(value) || i == sizeof known / sizeof known[0])
		return LOOP_LINE_OTHER;
	if (i == 0 && b->rows > 0)
		return LOOP_LINE_AGAIN;
	struct tracking *t = tracking_of(b);
	value = sv_trim(value);
	b->rows++;
	if (sv_eq(name, SV("Reference ID")))
		t->local = is_local(value);
	else if (sv_eq(name, SV("Ref time (UTC)")))
		take_reference_time(t, value);
	else if (sv_eq(name, SV("System time")))
		take_system_time(t, value);
	else if (sv_eq(name, SV("Root delay")))
		t->delay_us = seconds_us(counter_word(&value));
	else if (sv_eq(name, SV("Root dispersion")))
		t->dispersion_us = seconds_us(counter_word(&value));
	else if (sv_eq(name, SV("Leap status")))
		t->local = t->local || sv_starts_with(value, SV("Not synchronised"));
	return LOOP_LINE_TAKEN;
}

/* Without a clock line its own last update is its time. */
int tracking_close(struct loop_block *b, struct ingest *in, const struct host_time *time)
{
	if (b->rows == 0)
		return 0;
	const struct tracking *t = tracking_of(b);
	struct host_time at = time != NULL ? *time : t->reference_time;
	bool timed = time != NULL || t->has_reference_time;

	b->self_timed = time == NULL && t->has_reference_time;
	b->state = NULL;
	if (!timed || t->local || t->offset_us == UNKNOWN)
		return 0;
	return put_offset(in, at, t->offset_us, half_and(t->delay_us, t->dispersion_us), &b->first);
}

/* ---- logs of the daemons ---- */

#define FIELDS_MAX 24

/*
 * Columns from 0. sign: 1 where a positive offset is a fast clock, -1 where it is a slow one. The uncertainty
 * is half the delay and the dispersion, and where there is one what was left to correct.
 */
static const struct clock_log {
	const char *format;
	size_t fields_least, fields_most;
	bool mjd; /* modified Julian day and seconds of it, else date and time of day; UTC both */
	int sign;
	size_t offset, delay, dispersion, remaining; /* 0: there is none */
	/* What tells the forms apart, and from logs of others: columns that hold an address, and the leap status. 0: none. */
	size_t address, leap;
} clock_logs[] = {
	{ "chrony tracking.log", 12, 14, false, 1, 6, 11, 12, 10, 2, 7 },
	{ "chrony measurements.log", 16, 20, false, -1, 11, 12, 13, 0, 2, 3 },
	{ "ntp peerstats", 7, 8, true, -1, 4, 5, 6, 0, 2, 0 },
	{ "ntp loopstats", 6, 7, true, -1, 2, 0, 0, 0, 0, 0 },
};

static size_t split(struct sv text, struct sv fields[FIELDS_MAX])
{
	size_t n = 0;

	for (struct sv word = counter_word(&text); !sv_is_absent(word); word = counter_word(&text)) {
		if (n == FIELDS_MAX)
			return 0;
		fields[n++] = word;
	}
	return n;
}

/* The day 40587 is 1970-01-01. */
static bool read_mjd(struct sv day, struct sv second, struct host_time *out)
{
	int64_t days, us;

	if (!sv_to_i64(day, &days) || days < 40587 || days > 88069 || !counter_decimal(second, 6, &us) || us < 0 ||
	    us > (DAY_S + 1) * US_PER_S)
		return false;
	out->us = (days - 40587) * DAY_S * US_PER_S + us;
	return true;
}

static bool read_date(struct sv date, struct sv time, struct host_time *out)
{
	struct sv whole = { date.p, (size_t)(time.p + time.n - date.p) };
	bool zoned;

	return date.n == 10 && tstamp_guess(whole, (struct zone){ 0 }, out, &zoned);
}

static bool is_address(struct sv text)
{
	size_t at;
	int64_t number;

	return (sv_find_char(text, '.', &at) || sv_find_char(text, ':', &at)) && !counter_decimal(text, 0, &number);
}

/* N, +, -, or ? when the clock follows none. */
static bool is_leap(struct sv text)
{
	static const char marks[] = "N+-?";

	return text.n == 1 && memchr(marks, text.p[0], sizeof marks - 1) != NULL;
}

/* NULL when it is a row of none. */
static const struct clock_log *log_of(const struct sv *fields, size_t n, struct host_time *time)
{
	for (size_t i = 0; i < sizeof clock_logs / sizeof clock_logs[0]; i++) {
		const struct clock_log *l = &clock_logs[i];

		if (n < l->fields_least || n > l->fields_most || (l->address > 0 && !is_address(fields[l->address])) ||
		    (l->leap > 0 && !is_leap(fields[l->leap])) || seconds_us(fields[l->offset]) == UNKNOWN)
			continue;
		if (l->mjd ? read_mjd(fields[0], fields[1], time) : read_date(fields[0], fields[1], time))
			return l;
	}
	return NULL;
}

static bool is_ornament(struct sv text)
{
	size_t at;

	return text.n == 0 || sv_starts_with(text, SV("=====")) || sv_find(text, SV("Date (UTC) Time"), &at);
}

bool clock_log_sniff(struct sv head)
{
	size_t known = 0, others = 0;
	struct sv fields[FIELDS_MAX] = { SV_ABSENT };
	struct host_time time;

	for (size_t n = 0; n < 50 && !sv_is_absent(head); n++) {
		struct sv line = sv_trim(sv_cut(&head, '\n'));

		if (is_ornament(line) || sv_is_absent(head))
			continue;
		if (log_of(fields, split(line, fields), &time) != NULL)
			known++;
		else
			others++;
	}
	return known > others;
}

static int take_row(struct counters *c, struct ingest *in, const struct line *line)
{
	struct sv text = sv_trim(line->text), fields[FIELDS_MAX] = { SV_ABSENT };
	struct place place = counter_place(line);
	struct host_time time;

	if (is_ornament(text))
		return 0;
	if (line->unended) {
		counters_unended(c, line);
		return 0;
	}
	const struct clock_log *l = log_of(fields, split(text, fields), &time);
	if (l == NULL) {
		counters_unrecognized(c, &place);
		return 0;
	}
	in->info->records++;
	counters_format(c, l->format);
	if (l->leap > 0 && sv_eq(fields[l->leap], SV("?")))
		return 0;
	int64_t uncertainty_us = UNKNOWN;
	if (l->delay > 0)
		uncertainty_us = half_and(seconds_us(fields[l->delay]), seconds_us(fields[l->dispersion]));
	int64_t remaining_us = l->remaining > 0 ? seconds_us(fields[l->remaining]) : 0;
	if (uncertainty_us != UNKNOWN && remaining_us != UNKNOWN)
		uncertainty_us += remaining_us < 0 ? -remaining_us : remaining_us;
	return put_offset(in, time, l->sign * seconds_us(fields[l->offset]), uncertainty_us, &place);
}

int clock_log_read(struct counters *c, struct ingest *in)
{
	struct lines *lines = lines_without_zeros(lines_new(in->stream, in->diag));
	struct line line;
	int rc = 0;

	while (rc == 0 && lines_next(lines, &line) == 1)
		rc = take_row(c, in, &line);
	lines_free(lines);
	ingest_zone(in, true);
	return rc;
}
