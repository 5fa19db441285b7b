/* SPDX-License-Identifier: MIT */
/*
 * Counters as people record them: a loop that writes the time and then files
 * of /proc or outputs of commands, round after round (input-formats.md 1.14).
 * Or each row has the time before it, as ts of moreutils puts it there.
 *
 * A clock line serves each format once: a second block of the same file under
 * one clock has a clock of its own that was not understood, and its time is
 * not invented.
 */

#include "input/counters/loop_round.h"

#include <string.h>

#include "input/counters/counters_probe.h"

/* In this order a line is offered: rows of a table that has begun before rows that are known by their shape alone. */
static const struct loop_format loop_formats[] = {
	{ "nf_conntrack_count", conntrack_table_take, NULL, false },
	{ "nf_conntrack", conntrack_take, NULL, false },
	{ "/sys/class/net", sysfs_take, NULL, false },
	{ "softnet_stat", softnet_take, NULL, false },
	{ "netstat -s", netstat_s_take, NULL, false },
	{ "snmp", snmp_take, NULL, false },
	{ "netstat", netstat_take, NULL, false },
	{ "nstat", nstat_take, NULL, false },
	{ "/proc/net/dev", net_dev_take, NULL, false },
	{ "ip -j link", ip_json_take, NULL, true },
	{ "ip link", ip_link_take, NULL, false },
	{ "ethtool", ethtool_take, NULL, true },
	{ "ss", ss_take, ss_close, false },
	{ "pressure", pressure_take, pressure_close, true },
	{ "cpu.stat", cpu_stat_take, NULL, false },
	{ "node_exporter", exposition_take, NULL, true },
	{ "chronyc tracking", tracking_take, tracking_close, true },
};
#define FORMAT_COUNT (sizeof loop_formats / sizeof loop_formats[0])
_Static_assert(FORMAT_COUNT <= LOOP_FORMATS_MAX, "each has a block");

/* Rows with a time each belong to one round when they are no further apart. */
#define ROUND_US (200 * US_PER_MS)
#define SNIFF_LINES 400

/* ---- blocks ---- */

/* Offers a line to each format; *taker is the one that knows it. */
static enum loop_line offer(struct loop_block *blocks, const struct line *line, const char **why, size_t *taker)
{
	enum loop_line answer = LOOP_LINE_OTHER;

	for (size_t i = 0; i < FORMAT_COUNT; i++) {
		struct loop_block *b = &blocks[i];

		if (answer != LOOP_LINE_OTHER) {
			b->in_rows = false;
			continue;
		}
		size_t rows = b->rows;
		answer = loop_formats[i].take(b, line, why);
		if (rows == 0 && b->rows > 0)
			b->first = counter_place(line);
		*taker = i;
	}
	return answer;
}

static void end_tables(struct loop_block *blocks)
{
	for (size_t i = 0; i < FORMAT_COUNT; i++) {
		blocks[i].in_rows = false;
		blocks[i].again = false;
	}
}

static void blocks_init(struct loop *l, struct counters *c, struct ingest *in)
{
	*l = (struct loop){
		.of = c, .in = in, .names = arena_new(), .formats = loop_formats, .format_count = FORMAT_COUNT
	};
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		l->blocks[i] = l->probes[i] = (struct loop_block){ .of = c, .arena = in->input };
}

/* ---- clock lines ---- */

/* The instant of it, by what is known of the days around. */
static bool settle(struct loop *l, const struct tstamp *t, struct host_time *out)
{
	const struct host_time *previous = l->has_clock ? &l->clock : NULL;
	enum dated dated =
		dating_settle(&l->dating, t, l->in->zone, t->lacks == TSTAMP_LACKS_NOTHING ? NULL : previous, out);

	return dated != DATED_NOT;
}

static void set_section(struct loop *l, struct sv section)
{
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		l->blocks[i].section = l->probes[i].section = section;
}

static bool has_rows(const struct loop *l)
{
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		if (l->blocks[i].rows > 0)
			return true;
	return false;
}

/* One and the same moment, by the clock and since the machine was started. */
static void set_boot(struct loop *l, struct host_time clock, int64_t uptime_us)
{
	l->dating.has_boot = true;
	l->dating.boot.us = clock.us - uptime_us;
}

static int take_clock(struct loop *l, const struct tstamp *t)
{
	struct host_time time;
	bool known = settle(l, t, &time), goes_on = l->has_uptime && !has_rows(l);
	int rc = loop_close_round(l, false);

	set_section(l, SV_ABSENT);
	l->has_previous = l->has_clock;
	l->previous = l->clock;
	l->is_dropped_told = false;
	l->has_clock = known;
	l->undated = !known;
	l->counts_from_start = l->is_by_uptime = false;
	l->has_uptime = goes_on;
	if (known && goes_on)
		set_boot(l, time, l->uptime_us);
	if (known) {
		l->clock = time;
		l->dating.has_anchor = true;
		l->dating.anchor = time;
		ingest_zone(l->in, t->zoned);
	}
	return rc;
}

/*
 * A row of /proc/uptime. In a round that a clock line dates it tells when the
 * machine was started, if it stands before all else. Where no clock line stands
 * it begins a round, and dates it if that start is known from another round.
 */
static int take_uptime(struct loop *l, int64_t uptime_us)
{
	bool begins = !l->has_clock || l->is_by_uptime || l->has_uptime;

	if (!begins && has_rows(l))
		return 0;
	/* Started anew. */
	if (uptime_us < l->uptime_us)
		l->dating.has_boot = false;
	l->uptime_us = uptime_us;
	if (!begins) {
		set_boot(l, l->clock, uptime_us);
		l->has_uptime = true;
		return 0;
	}
	int rc = loop_close_round(l, false);
	l->has_clock = l->is_by_uptime = l->dating.has_boot;
	l->clock.us = l->dating.boot.us + uptime_us;
	l->counts_from_start = !l->has_clock;
	l->undated = false;
	l->has_uptime = true;
	set_section(l, SV_ABSENT);
	return rc;
}

/* ---- lines ---- */

static bool is_separator(struct sv text)
{
	static const char doubled[] = "=-*";

	if (text.n == 0 || text.p[0] == '#' || loop_without_ornaments(text).n == 0)
		return true;
	return text.n > 1 && text.p[0] == text.p[1] && memchr(doubled, text.p[0], sizeof doubled - 1) != NULL;
}

/* What the user or the path says of the host outweighs what the probe that ran on it says. */
static void take_host(struct ingest *in, struct sv line)
{
	if (sv_is_absent(in->info->host))
		in->info->host = arena_copy(in->input, counters_probe_host(line));
}

/*
 * The probe saw that the clock was set, at some time between its samples: the
 * event is that interval, by the clock as it was set.
 */
static int take_clock_set(struct loop *l, const struct line *line)
{
	struct event e;
	int64_t step_us, elapsed_us;

	if (!l->has_clock || !l->has_previous || !counters_probe_clock_set(line->text, &step_us))
		return 0;
	elapsed_us = l->clock.us - l->previous.us - step_us;
	if (elapsed_us < 0)
		return 0;
	event_init(&e, EVENT_CLOCK_STEP);
	e.time = (struct host_time){ l->clock.us - elapsed_us };
	e.duration_us = elapsed_us;
	e.place = counter_place(line);
	e.text = line->text;
	event_set_int(&e, FIELD_STEP_MICROS, step_us);
	return ingest_put(l->in, &e);
}

/* Since the line before; the last of a probe that was ended stands below no clock of its own. */
static int put_drops(struct loop *l, const struct line *line)
{
	int64_t length_us = l->clock.us - l->previous.us;
	struct event e;

	if (!l->has_clock || !l->has_previous || length_us <= 0)
		return 0;
	event_init(&e, EVENT_HOLE);
	e.time = l->is_dropped_told ? l->clock : l->previous;
	e.duration_us = length_us;
	e.place = counter_place(line);
	event_set_text(&e, FIELD_EVIDENCE_KIND, SV("capture"));
	event_set_text(&e, FIELD_SCOPE, SV("host"));
	return ingest_put(l->in, &e);
}

/* What the probe's capture dropped is no silence of the network: a hole in the captures of its host. */
static int take_dropped(struct loop *l, const struct line *line)
{
	uint64_t dropped;
	int rc = 0;

	if (counters_probe_begins(line->text))
		l->has_dropped = false;
	if (!counters_probe_dropped(line->text, &dropped))
		return 0;
	if (l->has_dropped && dropped > l->dropped) {
		rc = put_drops(l, line);
		l->dropped_sum += dropped - l->dropped;
	}
	l->has_dropped = l->is_dropped_told = true;
	l->dropped = dropped;
	return rc;
}

static void take_heading(struct loop *l, struct sv text)
{
	struct sv section = loop_without_ornaments(text);

	end_tables(l->blocks);
	if (section.n == 0)
		return;
	arena_reset(l->names);
	set_section(l, arena_copy(l->names, section));
}

static void damaged(struct loop *l, size_t taker, const struct line *line, const char *code, const char *what)
{
	struct place place = counter_place(line);

	place.input = l->in->info->id;
	l->blocks[taker].damaged = true;
	diag_add(l->in->diag, SEVERITY_WARNING, code, &place, "%s", what);
}

static void take_again(struct loop *l, size_t taker, const struct line *line)
{
	struct loop_block *b = &l->blocks[taker];
	bool goes_on = b->again, was_damaged = b->damaged;

	damaged(l, taker, line, "counters.no_clock",
		"the same counters a second time under one line with the time: left out");
	b->again = true;
	b->damaged = was_damaged;
	if (goes_on)
		return;
	l->in->info->records++;
	l->in->info->skipped++;
}

static bool begins_round(const struct loop *l, struct host_time time)
{
	return !l->has_clock || time.us < l->clock.us || time.us - l->clock.us > ROUND_US;
}

static int set_round(struct loop *l, struct host_time time)
{
	int rc = loop_close_round(l, false);

	l->has_clock = true;
	l->clock = time;
	return rc;
}

/* A row with its own time: that of the first row is its round's. */
static int take_prefixed(struct loop *l, const struct line *line, bool *taken)
{
	struct tstamp t;
	struct line row;
	struct host_time time;
	const char *why = "";
	size_t taker;
	int rc = 0;

	*taken = loop_split_prefix(line, &t, &row) && settle(l, &t, &time) &&
		 offer(l->probes, &row, &why, &taker) != LOOP_LINE_OTHER;
	if (!*taken)
		return 0;
	ingest_zone(l->in, t.zoned);
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		l->blocks[i].in_rows = l->were_in_rows[i];
	if (begins_round(l, time))
		rc = set_round(l, time);
	enum loop_line answer = offer(l->blocks, &row, &why, &taker);
	/* The same rows once more: a round of its own, though the clock is too coarse to tell. */
	if (rc == 0 && answer == LOOP_LINE_AGAIN) {
		rc = set_round(l, time);
		answer = offer(l->blocks, &row, &why, &taker);
	}
	if (answer == LOOP_LINE_DAMAGED)
		damaged(l, taker, line, "counters.damaged", why);
	return rc;
}

/* Rows before clocks: a row may look like a time after a label, a time never looks like a row. */
static int take_line(struct loop *l, const struct line *line)
{
	struct line trimmed = { sv_trim(line->text), line->number, line->byte_offset, line->cut };
	struct place place = counter_place(line);
	size_t taker = 0;
	struct tstamp t;
	const char *why = "";
	int64_t uptime_us;
	bool taken;
	int rc;

	if (is_separator(trimmed.text) && !loop_is_clock(trimmed.text, &t)) {
		take_host(l->in, trimmed.text);
		take_heading(l, trimmed.text);
		rc = take_clock_set(l, &trimmed);
		return rc == 0 ? take_dropped(l, &trimmed) : rc;
	}
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		l->were_in_rows[i] = l->blocks[i].in_rows;
	switch (offer(l->blocks, &trimmed, &why, &taker)) {
	case LOOP_LINE_OTHER:
		if (loop_is_clock(trimmed.text, &t))
			return take_clock(l, &t);
		if (loop_is_uptime(trimmed.text, &uptime_us))
			return take_uptime(l, uptime_us);
		rc = take_prefixed(l, &trimmed, &taken);
		if (!taken)
			counters_unrecognized(l->of, &place);
		return rc;
	case LOOP_LINE_TAKEN:
		break;
	case LOOP_LINE_AGAIN:
		take_again(l, taker, line);
		break;
	case LOOP_LINE_DAMAGED:
		damaged(l, taker, line, "counters.damaged", why);
		break;
	}
	return 0;
}

/* ---- the whole ---- */

static void set_dating(struct loop *l)
{
	const struct ingest *in = l->in;

	l->dating = (struct dating){
		.has_anchor = in->has_near,
		.anchor = in->near,
		.has_near = in->has_near,
		.near = in->near,
		.has_modified = in->has_modified,
		.modified = in->modified,
	};
	l->dating.has_name_day = dating_name_day(in->base_name, &l->dating.name_day);
}

int loop_read(struct counters *c, struct ingest *in)
{
	bool is_growth = nstat_is_growth(lines_preview(in->input, stream_head(in->stream)));
	struct lines *lines = lines_new(in->stream, in->diag);
	struct loop *l = arena_alloc(in->input, sizeof *l);
	struct line line;
	int rc = 0;

	blocks_init(l, c, in);
	set_dating(l);
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		l->blocks[i].is_growth = is_growth && loop_formats[i].take == nstat_take;
	/* -1 of lines_next is damage that has been recorded: what came before it is good. */
	while (rc == 0 && lines_next(lines, &line) == 1)
		rc = take_line(l, &line);
	if (rc == 0)
		rc = loop_close_round(l, true);
	if (l->dropped_sum > 0)
		diag_add(in->diag, SEVERITY_WARNING, "capture.drops", NULL,
			 "the capture beside these samples dropped %llu packets by its own account",
			 (unsigned long long)l->dropped_sum);
	lines_free(lines);
	arena_free(l->names);
	return rc;
}

/* How many of its lines are looked at. */
static uint64_t lines_to_sniff(struct sv head)
{
	uint64_t n = 0;

	while (!sv_is_absent(head) && n < SNIFF_LINES) {
		(void)sv_cut(&head, '\n');
		n++;
	}
	return n;
}

bool loop_sniff(struct sv head)
{
	const uint64_t lines = lines_to_sniff(head);
	struct arena *a = arena_new();
	struct input_info info = { .id = 0 };
	struct ingest in = { .info = &info, .diag = diag_new(a), .input = a };
	struct loop *l = arena_alloc(a, sizeof *l);
	size_t known = 0, others = 0, rows = 0;

	blocks_init(l, counters_new(&in), &in);
	/* As soon as those that are left cannot make up for the others, it is none: most logs are found out by half of them. */
	for (uint64_t n = 1; n <= lines && others <= known + (lines - n + 1); n++) {
		struct line row, line = { .text = sv_trim(sv_cut(&head, '\n')), .number = n };
		const char *damage;
		size_t taker;
		struct tstamp t;
		int64_t uptime_us;

		if (is_separator(line.text)) {
			take_heading(l, line.text);
			continue;
		}
		if (offer(l->blocks, &line, &damage, &taker) != LOOP_LINE_OTHER || loop_is_clock(line.text, &t) ||
		    loop_is_uptime(line.text, &uptime_us) ||
		    (loop_split_prefix(&line, &t, &row) && offer(l->blocks, &row, &damage, &taker) != LOOP_LINE_OTHER))
			known++;
		else
			others++;
	}
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		if (l->blocks[i].count > 0 || loop_formats[i].is_plain)
			rows += l->blocks[i].rows;
	arena_free(l->names);
	arena_free(a);
	return rows > 0 && known >= others;
}
