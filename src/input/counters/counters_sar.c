/* SPDX-License-Identifier: MIT */
/*
 * sar as it prints text. The banner has the date, in the order of a locale that
 * is nowhere named; the times are the viewer's, of 12 or 24 hours; the heading of
 * a table begins with the time of the sample before (input-formats.md 1.7).
 */

#include "input/counters/sar.h"

#include <stdlib.h>

#include "base/civil.h"
#include "base/cursor.h"
#include "input/counters/documents.h"

/* ---- what the columns are ---- */

static const struct {
	struct sv name;
	enum counter_id counter;
} columns[] = {
	{ { "rxpck", 5 }, INTERFACE_RX_PACKETS },  { { "txpck", 5 }, INTERFACE_TX_PACKETS },
	{ { "rxerr", 5 }, INTERFACE_RX_ERRORS },   { { "txerr", 5 }, INTERFACE_TX_ERRORS },
	{ { "rxdrop", 6 }, INTERFACE_RX_DROPPED }, { { "txdrop", 6 }, INTERFACE_TX_DROPPED },
	{ { "rxfifo", 6 }, INTERFACE_RX_FIFO },	   { { "txcarr", 6 }, INTERFACE_TX_CARRIER },
	{ { "oseg", 4 }, TCP_OUT_SEGS },	   { { "retrans", 7 }, TCP_RETRANS_SEGS },
	{ { "atmptf", 6 }, TCP_ATTEMPT_FAILS },	   { { "estres", 6 }, TCP_ESTAB_RESETS },
	{ { "isegerr", 7 }, TCP_IN_ERRS },	   { { "dropd", 5 }, SOFTNET_DROPPED },
	{ { "squeezd", 7 }, SOFTNET_TIME_SQUEEZE }, { { "flw_lim", 7 }, SOFTNET_FLOW_LIMIT },
};

static bool counter_of(struct sv name, enum counter_id *out)
{
	if (sv_ends_with(name, SV("/s")))
		name.n -= 2;
	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
		if (sv_eq(columns[i].name, name)) {
			*out = columns[i].counter;
			return true;
		}
	return false;
}

/* False for a CPU's share of a row that was given over all. */
static bool set_cpu(struct sar *s, struct sv cpu, struct reading *r)
{
	if (sv_starts_with(cpu, SV("cpu")))
		cpu = sv_sub(cpu, 3, cpu.n);
	/* sadf -d prints -1 */
	if (sv_eq(cpu, SV("all")) || sv_eq(cpu, SV("-1"))) {
		s->has_all = true;
		return true;
	}
	return !s->has_all && sv_to_i64(cpu, &r->cpu) && r->cpu >= 0;
}

int sar_value(struct sar *s, const struct sar_row *row, struct sv name, struct sv value)
{
	struct reading r = { .cpu = -1, .device = SV_ABSENT, .place = row->place };
	int64_t rate_milli;

	if (!counter_of(name, &r.counter) || !counter_decimal(value, 3, &rate_milli) || row->end.us <= row->start.us)
		return 0;
	enum counter_family family = counter_infos[r.counter].family;
	if (family == FAMILY_SOFTNET) {
		if (!set_cpu(s, row->device, &r))
			return 0;
	} else if (!sv_is_absent(row->device)) {
		r.device = counters_name(s->of, row->device);
	}
	/* A folder that names the host names it for all that lies in it. */
	struct sv host = sv_is_absent(s->in->info->host) ? counters_name(s->of, row->host) : SV_ABSENT;
	struct sampler *sampler = counters_sampler(s->of, host, family);
	r.value = (uint64_t)counter_of_rate(rate_milli, row->end.us - row->start.us);
	int rc = sampler_grown(sampler, &r, row->start, row->end);
	/* Traffic alone tells nothing of trouble. */
	if (r.counter != INTERFACE_RX_PACKETS && r.counter != INTERFACE_TX_PACKETS)
		sampler_covers(sampler, row->start, row->end);
	return rc;
}

/* ---- the banner ---- */

/* The date as written: three numbers, whose order its form tells, or what stands in the rows. */
struct banner {
	int64_t numbers[3];
	size_t digits[3];
	char separator;
	char host[64];
	size_t host_bytes;
};

static bool read_date(struct sv text, struct banner *b)
{
	struct cursor c = { text, 0 };

	for (size_t i = 0; i < 3; i++) {
		b->numbers[i] = 0;
		for (b->digits[i] = 0; cursor_is_digit(cursor_peek(&c)) && b->digits[i] < 4; b->digits[i]++)
			b->numbers[i] = b->numbers[i] * 10 + (c.text.p[c.at++] - '0');
		if (b->digits[i] == 0)
			return false;
		if (i == 0)
			b->separator = cursor_peek(&c);
		if (i < 2 && !(cursor_peek(&c) == b->separator && (b->separator == '/' || b->separator == '.' || b->separator == '-')))
			return false;
		c.at += i < 2;
	}
	/* "30.11.2026." in some */
	(void)cursor_skip(&c, '.');
	return c.at == text.n;
}

/* "Linux 6.18.0 (node-a) <TAB>11/30/26 <TAB>_x86_64_<TAB>(2 CPU)" */
static bool read_banner(struct sv text, struct banner *b)
{
	struct sv rest = text;
	size_t open, shut;

	if (!sv_eq(counter_word(&rest), SV("Linux")) || !sv_find(text, SV(" ("), &open) || !sv_find(text, SV(") "), &shut) ||
	    shut < open + 2)
		return false;
	struct sv host = sv_sub(text, open + 2, shut - open - 2);
	b->host_bytes = host.n < sizeof b->host ? host.n : sizeof b->host;
	for (size_t i = 0; i < b->host_bytes; i++)
		b->host[i] = host.p[i];
	rest = sv_sub(text, shut + 2, text.n);
	return read_date(counter_word(&rest), b);
}

bool sar_sniff(struct sv head)
{
	struct banner b;

	for (size_t n = 0; n < 5 && !sv_is_absent(head); n++)
		if (read_banner(sv_trim(sv_cut(&head, '\n')), &b))
			return true;
	return false;
}

/* ---- times ---- */

struct reader {
	struct sar sar;
	struct banner banner;
	bool has_banner, has_day, assumed;
	int64_t day; /* of the banner, since 1970 */
	/* The table at hand. */
	bool has_table, after_average;
	int64_t table_day, table_s;	/* the heading's day, and its time of day */
	int64_t day_now, row_s;		/* those of the last row */
	struct host_time start, end;	/* of the rows being read */
	struct sv *names;		/* of the columns; the first may be IFACE or CPU */
	size_t name_count, name_capacity;
	struct arena *texts;
};

static int64_t day_of(const struct banner *b, size_t year, size_t month, size_t day)
{
	struct civil c = { .year = (int)b->numbers[year], .month = (int)b->numbers[month], .day = (int)b->numbers[day] };
	int64_t s;

	if (b->digits[year] <= 2)
		c.year += 2000;
	return civil_seconds(&c, &s) ? s / DAY_S : INT64_MIN;
}

/* Which of two days lies nearer to what is known of the time; the first when nothing is. */
static int64_t nearer(const struct ingest *in, int64_t a, int64_t b, bool *known)
{
	int64_t near = (in->has_near ? in->near.us : in->modified.us) / (DAY_S * US_PER_S);

	*known = in->has_near || in->has_modified;
	return *known && llabs(b - near) < llabs(a - near) ? b : a;
}

/*
 * Year first is ISO, dots are day first. Between slashes: what no month can be is
 * the day; else a clock of 12 hours is American, a decimal comma is not, and two
 * digits of the year are the C locale's.
 */
static bool settle_day(struct reader *r, bool twelve_hours, bool comma)
{
	const struct banner *b = &r->banner;
	int64_t month_first, day_first;
	bool known = true;

	if (b->digits[0] == 4) {
		r->day = day_of(b, 0, 1, 2);
		return r->day != INT64_MIN;
	}
	month_first = b->separator == '.' ? INT64_MIN : day_of(b, 2, 0, 1);
	day_first = day_of(b, 2, 1, 0);
	if (month_first == INT64_MIN || day_first == INT64_MIN)
		r->day = month_first == INT64_MIN ? day_first : month_first;
	else if (twelve_hours || comma || month_first == day_first)
		r->day = comma && !twelve_hours ? day_first : month_first;
	else
		r->day = nearer(r->sar.in, month_first, day_first, &known);
	if (!known && !r->assumed)
		diag_add(r->sar.in->diag, SEVERITY_WARNING, "counters.date_order", NULL,
			 "nothing tells whether the date of sar has the month or the day first: month first is assumed "
			 "(S_TIME_FORMAT=ISO sar ... prints one that is plain)");
	r->assumed = r->assumed || !known;
	return r->day != INT64_MIN;
}

/* "11:28:46", "11:28:46 AM"; *rest is what follows. */
static bool read_time(struct sv text, struct sv *rest, int64_t *second, bool *twelve_hours)
{
	int hour, minute, s;

	*rest = text;
	struct sv word = counter_word(rest), after = *rest, half = counter_word(&after);
	struct cursor c = { word, 0 };
	if (!cursor_digits(&c, 2, &hour) || !cursor_skip(&c, ':') || !cursor_digits(&c, 2, &minute) || !cursor_skip(&c, ':') ||
	    !cursor_digits(&c, 2, &s) || c.at != word.n || hour > 23 || minute > 59 || s > 60)
		return false;
	*twelve_hours = sv_eq(half, SV("AM")) || sv_eq(half, SV("PM"));
	if (*twelve_hours) {
		*rest = after;
		if (hour < 1 || hour > 12)
			return false;
		hour = hour % 12 + (sv_eq(half, SV("PM")) ? 12 : 0);
	}
	*second = hour * 3600 + minute * 60 + s;
	return true;
}

static struct host_time instant(const struct reader *r, int64_t day, int64_t second)
{
	int64_t utc[2];

	(void)zone_instants(r->sar.in->zone, day * DAY_S + second, utc);
	return (struct host_time){ utc[0] * US_PER_S };
}

/* ---- tables ---- */

/*
 * The heading has the time of the sample before. A table after averages is the
 * file's next, which begins with the day again; a live one goes on, past midnight.
 */
static void begin_table(struct reader *r, int64_t second, struct sv words)
{
	if (r->after_average || !r->has_table)
		r->table_day = 0;
	else if (second < r->table_s)
		r->table_day++;
	r->after_average = false;
	r->has_table = true;
	r->table_s = r->row_s = second;
	r->day_now = r->table_day;
	r->has_day = r->has_day && r->has_banner;
	r->name_count = 0;
	arena_reset(r->texts);
	r->names = NULL;
	r->name_capacity = 0;
	for (struct sv word = counter_word(&words); !sv_is_absent(word); word = counter_word(&words))
		*ARENA_PUSH(r->texts, r->names, r->name_count, r->name_capacity) = arena_copy(r->texts, word);
	r->start = r->end = (struct host_time){ INT64_MIN };
}

/* The interval of a row; rows with the same time share it. */
static void set_interval(struct reader *r, int64_t second)
{
	bool same = r->end.us != INT64_MIN && second == r->row_s;

	if (same)
		return;
	r->start = instant(r, r->day + r->day_now, r->row_s);
	r->day_now += second < r->row_s;
	r->row_s = second;
	r->end = instant(r, r->day + r->day_now, second);
}

static bool has_comma(struct sv text)
{
	size_t at;

	return sv_find_char(text, ',', &at);
}

static int take_row(struct reader *r, const struct line *line, int64_t second, bool twelve_hours, struct sv words)
{
	struct sar_row row = { .host = { r->banner.host, r->banner.host_bytes }, .place = counter_place(line) };
	int rc = 0;

	if (!r->has_day && !settle_day(r, twelve_hours, has_comma(words)))
		return 0;
	r->has_day = true;
	set_interval(r, second);
	row.start = r->start;
	row.end = r->end;
	r->sar.in->info->records++;
	for (size_t i = 0; i < r->name_count && rc == 0; i++) {
		struct sv word = counter_word(&words);

		if (i == 0 && (sv_eq(r->names[0], SV("IFACE")) || sv_eq(r->names[0], SV("CPU"))))
			row.device = word;
		else if (!sv_is_absent(word))
			rc = sar_value(&r->sar, &row, r->names[i], word);
	}
	return rc;
}

static struct sv last_word(struct sv text)
{
	struct sv last = SV_ABSENT;

	for (struct sv word = counter_word(&text); !sv_is_absent(word); word = counter_word(&text))
		last = word;
	return last;
}

static int take_timed(struct reader *r, const struct line *line, int64_t second, bool twelve_hours, struct sv rest)
{
	int64_t number;
	size_t at;

	if (sv_find(rest, SV("LINUX RESTART"), &at)) {
		r->name_count = 0;
		return 0;
	}
	if (!counter_decimal(last_word(rest), 0, &number)) {
		begin_table(r, second, rest);
		return 0;
	}
	return r->name_count == 0 ? 0 : take_row(r, line, second, twelve_hours, rest);
}

static int take_line(struct reader *r, const struct line *line)
{
	struct sv text = sv_trim(line->text), rest;
	struct banner banner;
	int64_t second;
	bool twelve_hours;

	if (text.n == 0)
		return 0;
	if (read_banner(text, &banner)) {
		r->banner = banner;
		r->has_banner = true;
		r->has_day = r->has_table = r->after_average = false;
		r->name_count = 0;
		return 0;
	}
	if (r->has_banner && read_time(text, &rest, &second, &twelve_hours))
		return take_timed(r, line, second, twelve_hours, rest);
	/* "Average:", in the language of the locale. */
	struct sv first = counter_word(&text);
	if (sv_ends_with(first, SV(":")) || sv_starts_with(sv_trim(text), SV(":")))
		r->after_average = true;
	else if (first.p[0] != '#')
		r->sar.in->info->unrecognized++;
	return 0;
}

int sar_read(struct counters *c, struct ingest *in)
{
	struct reader r = { .sar = { .of = c, .in = in }, .texts = arena_new() };
	struct lines *lines = lines_new(in->stream, in->diag);
	struct line line;
	int rc = 0;

	while (rc == 0 && lines_next(lines, &line) == 1)
		rc = take_line(&r, &line);
	lines_free(lines);
	arena_free(r.texts);
	ingest_zone(in, false);
	return rc;
}
