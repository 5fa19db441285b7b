/* SPDX-License-Identifier: MIT */
/*
 * sar as it prints text. The banner has the date, in the order of a locale that
 * is nowhere named; the times are the viewer's, of 12 or 24 hours; the heading of
 * a table begins with the time of the sample before (input-formats.md 1.7).
 */

#include "input/counters/sar.h"

#include "base/buf.h"
#include "base/civil.h"
#include "base/cursor.h"
#include "input/counters/documents.h"

#define SNIFF_LINES 200

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

bool sar_is_device(struct sv name)
{
	return sv_eq(name, SV("IFACE")) || sv_eq(name, SV("CPU"));
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

bool sar_ends_whole(struct sv text)
{
	const char *end = text.p + text.n;

	if (sv_ends_with(text, SV(")")))
		return true;
	return text.n >= 4 && cursor_is_digit(end[-1]) && cursor_is_digit(end[-2]) && (end[-3] == '.' || end[-3] == ',') &&
	       cursor_is_digit(end[-4]);
}

/* ---- what it is ---- */

bool sar_sniff(struct sv head)
{
	struct sar_banner b;

	for (size_t n = 0; n < 5 && !sv_is_absent(head); n++)
		if (sar_banner_read(sv_trim(sv_cut(&head, '\n')), &b))
			return true;
	return false;
}

/* A heading of a table whose columns are read. */
static bool is_heading(struct sv text)
{
	enum counter_id counter;
	struct sar_time t;

	if (!sar_time_read(text, &t))
		return false;
	for (struct sv word = counter_word(&t.rest); !sv_is_absent(word); word = counter_word(&t.rest))
		if (sv_ends_with(word, SV("/s")) && counter_of(word, &counter))
			return true;
	return false;
}

bool sar_lacks_banner(struct sv head)
{
	if (sar_sniff(head))
		return false;
	for (size_t n = 0; n < SNIFF_LINES && !sv_is_absent(head); n++)
		if (is_heading(sv_trim(sv_cut(&head, '\n'))))
			return true;
	return false;
}

/* ---- times ---- */

struct reader {
	struct sar sar;
	struct sar_banner banner;
	bool has_banner, has_day;
	bool told_date, told_half; /* said so, once */
	int64_t day;		   /* of the banner, since 1970 */
	struct sar_hours hours;
	/* The table at hand. */
	bool has_table, after_average;
	bool after_blank;		/* an empty line stands before the line at hand, as before each heading */
	bool is_wanted;			/* some column of it is read */
	bool is_shaped;			/* each of its rows has a word for each column */
	bool has_zone, is_utc;		/* behind its times */
	int64_t table_day, table_s;	/* the heading's day, and its time of day */
	int64_t day_now, row_s;		/* those of the last row */
	struct host_time start, end;	/* of the rows being read */
	struct host_time read_to;	/* end of the latest row of the print that was read; INT64_MIN: none was */
	struct sv *names;		/* of the columns; the first may be IFACE or CPU */
	size_t name_count, name_capacity;
	struct arena *texts;
};

static struct host_time instant(const struct reader *r, int64_t day, int64_t second)
{
	const struct zone utc_zone = { 0 };
	int64_t utc[2];

	(void)zone_instants(r->is_utc ? utc_zone : r->sar.in->zone, day * DAY_S + second, utc);
	return (struct host_time){ utc[0] * US_PER_S };
}

/* ---- tables ---- */

static size_t count_words(struct sv text)
{
	size_t n = 0;

	while (!sv_is_absent(counter_word(&text)))
		n++;
	return n;
}

/* The column that holds the device: the first, or with --pretty the last. name_count when none does. */
static size_t device_column(const struct reader *r)
{
	size_t n = r->name_count;

	if (n == 0 || sar_is_device(r->names[0]))
		return 0;
	return sar_is_device(r->names[n - 1]) ? n - 1 : n;
}

/*
 * The heading has the time of the sample before. A table after averages is the
 * file's next, which begins with the day again; a live one goes on, past midnight.
 */
static void begin_table(struct reader *r, const struct sar_time *t)
{
	struct sv words = t->may_have_zone ? t->behind_zone : t->rest, zone = t->rest;
	enum counter_id counter;

	if (r->after_average || !r->has_table)
		r->table_day = 0;
	else if (t->second < r->table_s)
		r->table_day++;
	r->after_average = false;
	r->has_table = true;
	r->has_zone = t->may_have_zone;
	r->is_utc = t->may_have_zone && sv_eq(counter_word(&zone), SV("UTC"));
	r->table_s = r->row_s = t->second;
	r->day_now = r->table_day;
	r->name_count = 0;
	arena_reset(r->texts);
	r->names = NULL;
	r->name_capacity = 0;
	r->is_wanted = r->is_shaped = false;
	for (struct sv word = counter_word(&words); !sv_is_absent(word); word = counter_word(&words)) {
		*ARENA_PUSH(r->texts, r->names, r->name_count, r->name_capacity) = arena_copy(r->texts, word);
		r->is_wanted = r->is_wanted || counter_of(word, &counter);
		r->is_shaped = r->is_shaped || sar_is_device(word) || sv_ends_with(word, SV("/s"));
	}
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
	r->end = r->read_to = instant(r, r->day + r->day_now, second);
}

static bool has_comma(struct sv text)
{
	size_t at;

	return sv_find_char(text, ',', &at);
}

static void leave_out(struct reader *r)
{
	r->sar.in->info->records++;
	r->sar.in->info->skipped++;
}

/* The word may be of any encoding. */
static void tell_half(struct reader *r, const struct place *place, struct sv word)
{
	struct buf plain;

	if (r->told_half)
		return;
	r->told_half = true;
	buf_init(&plain);
	buf_add_plain(&plain, word);
	diag_add(r->sar.in->diag, SEVERITY_WARNING, "counters.half_day", place,
		 "behind the time stands \"%.*s\", in no language that is known for a half of the day: the rows are left out "
		 "(LC_ALL=C sar ... prints 24 hours)",
		 SV_ARG(buf_sv(&plain)));
	buf_fini(&plain);
}

static void tell_untold(struct reader *r, const struct place *place)
{
	if (!r->told_half)
		diag_add(r->sar.in->diag, SEVERITY_WARNING, "counters.half_day", place,
			 "the times are of 12 hours, and nothing beside them tells the half of the day: the rows are left out "
			 "(LC_ALL=C sar ... prints 24 hours)");
	r->told_half = true;
}

static bool settle_day(struct reader *r, const struct place *place, bool has_half, bool comma)
{
	const struct sar_signs signs = { .has_half = has_half, .has_zone = r->has_zone, .has_comma = comma };

	r->day = sar_day(&r->banner, &signs, r->sar.in, place);
	return r->day != INT64_MIN;
}

/* Whether the row can be read, and placed in time; says why not. */
static bool is_readable(struct reader *r, const struct place *place, const struct sar_time *t, struct sv words)
{
	struct sv rest = words, first = counter_word(&rest);
	int64_t number;

	if (r->name_count == 0 || count_words(words) != r->name_count) {
		counters_torn(r->sar.of, place);
		return false;
	}
	if (device_column(r) != 0 && !counter_decimal(first, 0, &number)) {
		tell_half(r, place, first);
		return false;
	}
	if (r->hours.is_untold) {
		tell_untold(r, place);
		return false;
	}
	r->has_day = r->has_day || (r->banner.has_date && settle_day(r, place, t->has_half, has_comma(words)));
	if (r->has_day)
		return true;
	if (!r->told_date)
		diag_add(r->sar.in->diag, SEVERITY_WARNING, "counters.date", place,
			 "the first line has the date in no form that is known: the rows are left out (LC_ALL=C sar ... prints "
			 "one that is)");
	r->told_date = true;
	return false;
}

static struct sv last_word(struct sv text)
{
	struct sv last = SV_ABSENT;

	for (struct sv word = counter_word(&text); !sv_is_absent(word); word = counter_word(&text))
		last = word;
	return last;
}

/* What stands behind the time of a row of the table at hand. */
static struct sv words_of(const struct reader *r, const struct sar_time *t)
{
	return r->has_zone && t->may_have_zone ? t->behind_zone : t->rest;
}

static int take_row(struct reader *r, const struct line *line, const struct sar_time *t)
{
	struct sar_row row = { .host = { r->banner.host, r->banner.host_bytes }, .place = counter_place(line) };
	struct sv words = words_of(r, t);
	const size_t device = device_column(r);
	int rc = 0;

	if (!is_readable(r, &row.place, t, words)) {
		leave_out(r);
		return 0;
	}
	set_interval(r, t->second);
	row.start = r->start;
	row.end = r->end;
	r->sar.in->info->records++;
	if (device > 0 && device < r->name_count)
		row.device = last_word(words);
	for (size_t i = 0; i < r->name_count && rc == 0; i++) {
		struct sv word = counter_word(&words);

		if (device == 0 && i == 0)
			row.device = word;
		else if (i != device)
			rc = sar_value(&r->sar, &row, r->names[i], word);
	}
	return rc;
}

/* A row ends with a figure, or with --pretty with its device. */
static bool is_row(const struct reader *r, const struct sar_time *t)
{
	const struct sv words = words_of(r, t);
	struct sv rest = words;
	int64_t number;

	if (counter_decimal(last_word(t->rest), 0, &number))
		return true;
	return r->name_count > 1 && device_column(r) == r->name_count - 1 && count_words(words) == r->name_count &&
	       counter_decimal(counter_word(&rest), 0, &number);
}

/*
 * What is neither a row nor the heading of a table: a row that is cut down to its device or its time, or a heading cut
 * down to one word; or, where rows end otherwise, a row that another line was written into.
 */
static bool is_fragment(const struct reader *r, const struct sar_time *t)
{
	struct sv words = words_of(r, t);
	size_t n = 0, figures = 0, rates = 0;
	int64_t number;

	for (struct sv word = counter_word(&words); !sv_is_absent(word); word = counter_word(&words), n++) {
		figures += counter_decimal(word, 0, &number);
		rates += sv_ends_with(word, SV("/s"));
	}
	return (n < 2 && rates == 0) || (r->is_wanted && figures > 0);
}

/* The rows below what is left of a heading are of no table: their columns are not known. */
static void take_fragment(struct reader *r, const struct line *line, const struct sar_time *t)
{
	const struct place place = counter_place(line);
	const bool is_heading = r->after_blank || t->second < r->row_s;

	leave_out(r);
	counters_torn(r->sar.of, &place);
	if (!is_heading)
		return;
	begin_table(r, t);
	r->name_count = 0;
	r->is_wanted = false;
}

/* "10:00:00  COM before the deployment", which sar -C prints between rows. */
static bool is_comment(struct sv rest)
{
	return sv_eq(counter_word(&rest), SV("COM"));
}

static int take_timed(struct reader *r, const struct line *line, const struct sar_time *t)
{
	size_t at;

	if (is_comment(t->rest))
		return 0;
	if (sv_find(t->rest, SV("LINUX RESTART"), &at)) {
		r->name_count = 0;
		r->is_wanted = false;
	} else if (is_row(r, t)) {
		/* Of what is not read it matters whether it fits: below a heading that is cut nothing does. */
		if (r->is_wanted || r->name_count == 0 || (r->is_shaped && count_words(words_of(r, t)) != r->name_count))
			return take_row(r, line, t);
	} else if (is_fragment(r, t)) {
		take_fragment(r, line, t);
	} else {
		begin_table(r, t);
	}
	return 0;
}

/* The next print begins. */
static void take_banner(struct reader *r, const struct sar_banner *banner)
{
	sar_hours_begin(&r->hours, banner);
	r->banner = *banner;
	r->has_banner = true;
	r->read_to = (struct host_time){ INT64_MIN };
	r->has_day = r->has_table = r->after_average = r->is_wanted = false;
	r->name_count = 0;
}

/* Any but a banner. */
static int take_line(struct reader *r, const struct line *line)
{
	struct sv text = sv_trim(line->text);
	struct place place = counter_place(line);
	struct sar_time t;
	int rc = 0;

	if (line->unended && text.n > 0 && !sar_ends_whole(text))
		counters_unended(r->sar.of, line);
	else if (r->has_banner && sar_time_read(text, &t))
		rc = take_timed(r, line, &t);
	else if (sar_is_average(text))
		r->after_average = true;
	else if (text.n > 0 && text.p[0] != '#')
		counters_unrecognized(r->sar.of, &place);
	r->after_blank = text.n == 0;
	return rc;
}

/* The lines that were held back, now that their hours are known, or nothing more can tell. */
static int release(struct reader *r)
{
	int rc = 0;

	for (size_t i = 0; i < r->hours.count && rc == 0; i++)
		rc = take_line(r, &r->hours.lines[i]);
	if (r->hours.count > 0)
		sar_hours_note(&r->hours, &r->banner, r->sar.in, r->read_to);
	sar_hours_forget(&r->hours);
	return rc;
}

static int hold_or_take(struct reader *r, const struct line *line)
{
	struct sar_banner banner;
	bool is_banner = sar_banner_read(sv_trim(line->text), &banner);
	int rc;

	if (!is_banner && sar_hours_hold(&r->hours, line))
		return 0;
	rc = release(r);
	if (is_banner)
		take_banner(r, &banner);
	else if (rc == 0)
		rc = take_line(r, line);
	return rc;
}

int sar_read(struct counters *c, struct ingest *in)
{
	struct reader r = { .sar = { .of = c, .in = in }, .texts = arena_new() };
	struct lines *lines = lines_without_zeros(lines_new(in->stream, in->diag));
	struct line line;
	int rc = 0;

	sar_hours_init(&r.hours);
	while (rc == 0 && lines_next(lines, &line) == 1)
		rc = hold_or_take(&r, &line);
	if (rc == 0)
		rc = release(&r);
	sar_hours_fini(&r.hours);
	if (in->info->records == 0 && in->info->unrecognized > 0)
		diag_add(in->diag, SEVERITY_WARNING, "counters.date", NULL,
			 "its rows have times in no form that is known: left out (LC_ALL=C sar ... prints one that is)");
	lines_free(lines);
	arena_free(r.texts);
	ingest_zone(in, r.is_utc);
	return rc;
}
