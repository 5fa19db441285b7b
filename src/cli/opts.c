/* SPDX-License-Identifier: MIT */
/* The table of options. A new option is one row here and the member that it fills. */

#include "cli/opts.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/probe_ring.h"

#define ALL_INPUT (COMMAND_ANALYZE | COMMAND_INGEST)
#define ALL_ANALYSIS (COMMAND_ANALYZE | COMMAND_REPORT | COMMAND_TUNE | COMMAND_EXPLAIN)
#define ALL (ALL_INPUT | ALL_ANALYSIS | COMMAND_PROBE | COMMAND_RULES | COMMAND_THRESHOLDS)

static const struct {
	enum command command;
	const char *name;
} commands[] = {
	{ COMMAND_ANALYZE, "analyze" }, { COMMAND_INGEST, "ingest" }, { COMMAND_REPORT, "report" },
	{ COMMAND_TUNE, "tune" },	{ COMMAND_EXPLAIN, "explain" }, { COMMAND_PROBE, "probe" },
	{ COMMAND_RULES, "rules" },	{ COMMAND_THRESHOLDS, "thresholds" },
};
#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

/* For help and for who gets them wrong. */
#define KIND_NAMES "log, capture, counters, snapshot or table"
#define VERDICT_NAMES "confirmed, confirmed_if_clocks_hold, partial, not_above_chance, rejected or insufficient"

struct parse_context {
	struct options *o;
	struct arena *a;
};

/* Sets a member from the option's argument; NULL when it is good, else what was expected. */
typedef const char *set_function(struct parse_context *c, const char *value);

static const char *set_db(struct parse_context *c, const char *value)
{
	c->o->db = value;
	return NULL;
}

static const char *set_output(struct parse_context *c, const char *value)
{
	c->o->output = value;
	return NULL;
}

static const char *set_rules(struct parse_context *c, const char *value)
{
	c->o->rules = value;
	return NULL;
}

static const char *set_as(struct parse_context *c, const char *value)
{
	for (const char *const *name = source_kind_names(); *name != NULL; name++) {
		if (strcmp(*name, value) == 0) {
			c->o->ingest.as_kind = *name;
			return NULL;
		}
	}
	return KIND_NAMES;
}

static const char *set_format(struct parse_context *c, const char *value)
{
	return report_format_by_name(sv_of(value), &c->o->format) ? NULL : "text, json, html or markdown";
}

static const char *set_fail_on(struct parse_context *c, const char *value)
{
	c->o->has_fail_on = true;
	return verdict_by_name(sv_of(value), &c->o->fail_on) ? NULL : VERDICT_NAMES;
}

static const char *set_group(struct parse_context *c, const char *value)
{
	c->o->analysis.group = sv_of(value);
	return NULL;
}

static const char *set_time(struct parse_context *c, const char *value, bool *has, struct ref_time *out)
{
	struct host_time t;
	bool zoned;
	if (!tstamp_guess(sv_of(value), (struct zone){ 0 }, &t, &zoned) &&
	    !tstamp_guess(arena_printf(c->a, "%sT00:00:00Z", value), (struct zone){ 0 }, &t, &zoned))
		return "a time such as 2026-11-30T13:29:36Z (UTC when no zone is written), or a date for its first moment";
	*has = true;
	out->us = t.us;
	return NULL;
}

static const char *set_from(struct parse_context *c, const char *value)
{
	return set_time(c, value, &c->o->analysis.has_from, &c->o->analysis.from);
}

static const char *set_to(struct parse_context *c, const char *value)
{
	return set_time(c, value, &c->o->analysis.has_to, &c->o->analysis.to);
}

/* "NAME=rest" or "rest": the name is absent then. */
static struct sv cut_name(struct sv *value)
{
	size_t at;
	struct sv name = SV_ABSENT;
	if (sv_find_char(*value, '=', &at)) {
		name = sv_sub(*value, 0, at);
		*value = sv_sub(*value, at + 1, value->n);
	}
	return name;
}

static const char *set_timezone(struct parse_context *c, const char *value)
{
	struct sv rest = sv_of(value);
	struct host_zone z = { .host = cut_name(&rest) };
	if (!zone_parse(rest, &z.zone) && !zone_load(rest, c->a, &z.zone))
		return "[HOST=]UTC, [HOST=]+08:00 or the name of a place in the zone database, as Europe/Berlin";
	*ARENA_PUSH(c->a, c->o->zones, c->o->ingest.zone_count, c->o->zone_capacity) = z;
	return NULL;
}

static const char *set_offset(struct parse_context *c, const char *value)
{
	struct sv rest = sv_of(value);
	struct host_offset h = { .host = cut_name(&rest) };
	if (h.host.n == 0 || !duration_parse(rest, &h.offset_us))
		return "HOST=+1.25s: how far that host's clock is ahead";
	*ARENA_PUSH(c->a, c->o->offsets, c->o->analysis.offset_count, c->o->offset_capacity) = h;
	return NULL;
}

static const char *set_host(struct parse_context *c, const char *value)
{
	size_t at;
	struct sv whole = sv_of(value);
	if (!sv_rfind_char(whole, '=', &at) || at == 0 || at + 1 == whole.n)
		return "PATTERN=NAME, such as '*node-3*=consumer-3'";
	*ARENA_PUSH(c->a, c->o->hosts, c->o->ingest.host_count, c->o->host_capacity) =
		(struct host_pattern){ arena_strdup(c->a, sv_sub(whole, 0, at)), sv_sub(whole, at + 1, whole.n) };
	return NULL;
}

static const char *set_threads(struct parse_context *c, const char *value)
{
	int64_t threads;
	if (!sv_to_i64(sv_of(value), &threads) || threads < 1 || threads > INGEST_THREADS_MAX)
		return "a whole number from 1 to 64";
	c->o->ingest.threads = (unsigned)threads;
	return NULL;
}

static const char *set_threshold(struct parse_context *c, const char *value)
{
	int64_t percent;
	if (!sv_to_i64(sv_of(value), &percent) || percent < 1 || percent > 100)
		return "a whole number of percent from 1 to 100";
	c->o->analysis.threshold_percent = (int)percent;
	return NULL;
}

static const char *set_value(struct parse_context *c, const char *value)
{
	struct sv number = sv_of(value), name = cut_name(&number);
	enum threshold_id id;
	int64_t n;

	if (!threshold_by_name(name, &id))
		return "NAME=NUMBER, with a NAME of those that 'aftershock thresholds' lists";
	const struct threshold *t = &threshold_infos[id];
	if (sv_to_i64(number, &n) && threshold_set(&c->o->analysis.thresholds, id, n))
		return NULL;
	return arena_printf(c->a, "%s=NUMBER from %" PRId64 " to %" PRId64 " %s (default %" PRId64 "): %s", t->name, t->least,
			    t->most, t->unit, t->value, t->reason).p;
}

#define SESSION_TIMEOUT_MOST_US (INT64_C(24) * 3600 * US_PER_S)

static const char *set_session_timeout(struct parse_context *c, const char *value)
{
	struct sv rest = sv_of(value);
	while (!sv_is_absent(rest)) {
		int64_t us;
		struct sv one = sv_cut(&rest, ',');
		if (!duration_parse(one, &us) || us < US_PER_MS || us > SESSION_TIMEOUT_MOST_US)
			return "a list of durations such as 10s,30s,45000ms, none above a day";
		*ARENA_PUSH(c->a, c->o->session_timeouts, c->o->analysis.session_timeout_count,
			    c->o->session_timeout_capacity) = us / US_PER_MS;
	}
	return NULL;
}

static const char *set_period(const char *value, bool *has, int64_t *us)
{
	if (!duration_parse(sv_of(value), us) || *us < 0)
		return "a duration such as 36h or 30d";
	*has = true;
	return NULL;
}

static const char *set_reconciliation(struct parse_context *c, const char *value)
{
	return set_period(value, &c->o->analysis.has_reconciliation, &c->o->analysis.reconciliation_us);
}

static const char *set_confirmation(struct parse_context *c, const char *value)
{
	return set_period(value, &c->o->analysis.has_confirmation, &c->o->analysis.confirmation_us);
}

#define INTERVAL_LEAST_US (10 * US_PER_MS)
#define INTERVAL_MOST_US (INT64_C(3600) * US_PER_S)

static const char *set_interval(struct parse_context *c, const char *value)
{
	int64_t *us = &c->o->probe.interval_us;
	if (!duration_parse(sv_of(value), us) || *us < INTERVAL_LEAST_US || *us > INTERVAL_MOST_US)
		return "a duration from 10ms to 1h, such as 1s";
	return NULL;
}

static const char *set_duration(struct parse_context *c, const char *value)
{
	const char *expected = set_period(value, &c->o->probe.has_duration, &c->o->probe.duration_us);
	return expected == NULL && c->o->probe.duration_us == 0 ? "a duration such as 10m or 36h" : expected;
}

static const char *set_cgroup(struct parse_context *c, const char *value)
{
	c->o->probe.cgroup = value;
	return NULL;
}

static const char *set_ports(struct parse_context *c, const char *value)
{
	struct probe_ports *ports = &c->o->probe.ports;
	struct sv rest = sv_of(value);
	int64_t port;
	while (!sv_is_absent(rest)) {
		if (ports->count == PROBE_PORTS_MAX || !sv_to_i64(sv_cut(&rest, ','), &port) || port < 1 || port > 65535)
			return "up to 16 port numbers, such as 9092,9093";
		ports->items[ports->count++] = (uint16_t)port;
	}
	return NULL;
}

static const char *set_user(struct parse_context *c, const char *value)
{
	c->o->probe.user = value;
	return NULL;
}

static const char *set_capture(struct parse_context *c, const char *value)
{
	c->o->probe.interface = value;
	return NULL;
}

static const char *set_filter(struct parse_context *c, const char *value)
{
	c->o->probe.filter = value;
	return NULL;
}

/* A whole number, or false. */
static bool set_whole(const char *value, int64_t least, int64_t most, int64_t *out)
{
	return sv_to_i64(sv_of(value), out) && *out >= least && *out <= most;
}

static const char *set_snaplen(struct parse_context *c, const char *value)
{
	/* Below, TCP headers are cut; above, libpcap gives no more. */
	return set_whole(value, 96, 262144, &c->o->probe.snap_bytes) ? NULL : "a number of bytes from 96 to 262144";
}

static const char *set_capture_files(struct parse_context *c, const char *value)
{
	return set_whole(value, 1, PROBE_RING_FILES_MAX, &c->o->probe.capture_files) ? NULL : "a number from 1 to 1000";
}

static const char *set_capture_size(struct parse_context *c, const char *value)
{
	static const char units[] = "kMG";
	struct sv number = sv_of(value);
	int64_t factor = 1;
	const char *unit = number.n > 0 ? strchr(units, number.p[number.n - 1]) : NULL;
	if (unit != NULL) {
		number.n--;
		factor = INT64_C(1) << 10 * (unit - units + 1);
	}
	if (!sv_to_i64(number, &c->o->probe.capture_bytes) || c->o->probe.capture_bytes < 1 ||
	    __builtin_mul_overflow(c->o->probe.capture_bytes, factor, &c->o->probe.capture_bytes) ||
	    c->o->probe.capture_bytes < INT64_C(1) << 16 || c->o->probe.capture_bytes > INT64_C(1) << 40)
		return "a size such as 500k, 64M or 1G, from 64k to 1024G";
	return NULL;
}

static const char *set_color(struct parse_context *c, const char *value)
{
	static const char *const names[] = { "auto", "always", "never" };
	for (int i = 0; i < 3; i++) {
		if (strcmp(value, names[i]) == 0) {
			c->o->color = (enum when)i;
			return NULL;
		}
	}
	return "auto, always or never";
}

static const char *set_quiet(struct parse_context *c, const char *value)
{
	(void)value;
	c->o->quiet = true;
	return NULL;
}

static const char *set_no_progress(struct parse_context *c, const char *value)
{
	(void)value;
	c->o->no_progress = true;
	return NULL;
}

static const char *set_help(struct parse_context *c, const char *value)
{
	(void)value;
	c->o->help = true;
	return NULL;
}

static const struct option_row {
	const char *name;
	char letter;		/* 0: none */
	const char *argument;	/* NULL: none */
	int commands;
	set_function *set;
	const char *help;
} rows[] = {
	{ "db", 0, "FILE", COMMAND_INGEST | COMMAND_REPORT | COMMAND_TUNE | COMMAND_EXPLAIN, set_db, "the incident database" },
	{ "output", 'o', "DIR", COMMAND_ANALYZE, set_output,
	  "the directory for incident.db, report.html and report.json (aftershock-report)" },
	{ "output", 'o', "FILE", COMMAND_REPORT, set_output, "instead of standard output" },
	{ "output", 'o', "FILE", COMMAND_PROBE, set_output,
	  "added to when a probe wrote it before, else made; - for standard output" },
	{ "interval", 0, "DURATION", COMMAND_PROBE, set_interval, "time between two samples (1s)" },
	{ "duration", 0, "DURATION", COMMAND_PROBE, set_duration, "end by itself after so long" },
	{ "cgroup", 0, "DIR", COMMAND_PROBE, set_cgroup,
	  "control group to watch for withheld processor time, such as a service's" },
	{ "ports", 0, "LIST", COMMAND_PROBE, set_ports, "connections with these ports alone: 9092,9093 (all, 256 at most)" },
	{ "capture", 0, "IFACE", COMMAND_PROBE, set_capture, "packets of this interface too, into FILE.0.pcap, FILE.1.pcap ..." },
	{ "filter", 0, "EXPRESSION", COMMAND_PROBE, set_filter, "of the capture, as tcpdump has them: 'tcp port 9092'" },
	{ "snaplen", 0, "BYTES", COMMAND_PROBE, set_snaplen, "of each packet (200)" },
	{ "capture-size", 0, "SIZE", COMMAND_PROBE, set_capture_size, "of one file of the ring: 500k, 64M, 1G (64M)" },
	{ "capture-files", 0, "COUNT", COMMAND_PROBE, set_capture_files, "of the ring; the oldest is begun anew (16)" },
	{ "user", 0, "NAME", COMMAND_PROBE, set_user, "who to become, when root, once all is open (nobody)" },
	{ "format", 0, "NAME", COMMAND_REPORT | COMMAND_TUNE, set_format, "text, json, html or markdown" },
	{ "fail-on", 0, "VERDICT", COMMAND_REPORT, set_fail_on,
	  "exit with 4 when the verdict is at least that strong: " VERDICT_NAMES },
	{ "as", 0, "KIND", ALL_INPUT, set_as, "take every input for this kind: " KIND_NAMES },
	{ "host", 0, "PATTERN=NAME", ALL_INPUT, set_host, "inputs whose path matches the shell pattern are of this host" },
	{ "timezone", 0, "[HOST=]ZONE", ALL_INPUT, set_timezone, "zone of times that carry none: UTC, +08:00, Europe/Berlin" },
	{ "rules", 0, "DIR", ALL_INPUT | COMMAND_RULES, set_rules, "rules to use instead of those shipped" },
	{ "threads", 0, "N", ALL_INPUT, set_threads,
	  "that read a large log together, with the same result (as many as there are cores)" },
	{ "group", 0, "NAME", ALL_ANALYSIS, set_group, "this consumer group alone" },
	{ "from", 0, "TIME", COMMAND_ANALYZE, set_from, "leave out rebalances before; near it lie times without a year or a date" },
	{ "from", 0, "TIME", ALL_ANALYSIS & ~COMMAND_ANALYZE, set_from, "leave out rebalances before" },
	{ "from", 0, "TIME", COMMAND_INGEST, set_from, "near it lie times that are written without a year or a date" },
	{ "to", 0, "TIME", ALL_ANALYSIS, set_to, "leave out rebalances after" },
	{ "offset", 0, "HOST=SECONDS", ALL_ANALYSIS, set_offset, "how far that host's clock is ahead; wins over every estimate" },
	{ "threshold", 0, "PERCENT", ALL_ANALYSIS, set_threshold, "share from which the chain is established (80)" },
	{ "set", 0, "NAME=NUMBER", ALL_ANALYSIS, set_value,
	  "another threshold of a detector, as blackout.least_ms=2000; 'aftershock thresholds' lists them; may be repeated" },
	{ "session-timeout", 0, "LIST", ALL_ANALYSIS, set_session_timeout, "session timeouts to replay: 10s,30s,45s" },
	{ "reconciliation", 0, "DURATION", ALL_ANALYSIS, set_reconciliation, "how late the books are reconciled: 30d" },
	{ "confirmation", 0, "DURATION", ALL_ANALYSIS, set_confirmation, "how late the other side confirms: 3d" },
	{ "color", 0, "WHEN", ALL_INPUT | ALL_ANALYSIS, set_color, "auto, always or never; NO_COLOR is honoured" },
	{ "quiet", 'q', NULL, COMMAND_ANALYZE, set_quiet, "no text report, no progress" },
	{ "quiet", 'q', NULL, COMMAND_INGEST, set_quiet, "no progress" },
	{ "quiet", 'q', NULL, COMMAND_REPORT, set_quiet, "nothing to standard output: the exit code of --fail-on alone" },
	{ "quiet", 'q', NULL, COMMAND_TUNE | COMMAND_EXPLAIN, set_quiet, "nothing to standard output: the exit code alone" },
	{ "quiet", 'q', NULL, COMMAND_PROBE, set_quiet, "errors alone" },
	{ "no-progress", 0, NULL, ALL_INPUT | ALL_ANALYSIS, set_no_progress, "no progress on standard error" },
	{ "help", 'h', NULL, ALL, set_help, "this text" },
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

const char *command_name(enum command command)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (commands[i].command == command)
			return commands[i].name;
	return "";
}

/* Where the words of help begin, and where they end. */
#define HELP_INDENT 33
#define HELP_WIDTH 110

static bool is_of(const struct option_row *row, enum command command)
{
	return (row->commands & (int)command) != 0;
}

/* getopt_long's own tables, for one command; val is the row's index + 256. */
static void make_tables(enum command command, struct option *longs, char *letters)
{
	size_t n = 0, k = 0;
	letters[k++] = ':';
	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (!is_of(&rows[i], command))
			continue;
		longs[n++] = (struct option){ rows[i].name, rows[i].argument != NULL ? required_argument : no_argument, NULL,
					      (int)i + 256 };
		if (rows[i].letter != 0) {
			letters[k++] = rows[i].letter;
			if (rows[i].argument != NULL)
				letters[k++] = ':';
		}
	}
	longs[n] = (struct option){ NULL, 0, NULL, 0 };
	letters[k] = '\0';
}

static const struct option_row *row_of(enum command command, int found)
{
	if (found >= 256)
		return &rows[found - 256];
	for (size_t i = 0; i < ROW_COUNT; i++)
		if (rows[i].letter == found && is_of(&rows[i], command))
			return &rows[i];
	return NULL;
}

/* Who took an option for this command's is told whose it is. */
static void print_unknown_long(const char *word)
{
	struct sv name = sv_of(word);
	int owners = 0;
	const char *before = ", but of ";
	size_t at;

	if (sv_find_char(name, '=', &at))
		name.n = at;
	for (size_t i = 0; i < ROW_COUNT; i++)
		if (sv_eq(sv_sub(name, 2, name.n), sv_of(rows[i].name)))
			owners |= rows[i].commands;
	fprintf(stderr, "aftershock: %.*s is no option of this command", SV_ARG(name));
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if ((owners & (int)commands[i].command) == 0)
			continue;
		fprintf(stderr, "%s%s", before, commands[i].name);
		before = ", ";
	}
	fputs(" (see --help)\n", stderr);
}

/* getopt says which letter of a word it was, and which option was given a value that it does not take. */
static void print_refused(const char *word)
{
	if (optopt >= 256)
		fprintf(stderr, "aftershock: --%s takes no argument\n", rows[optopt - 256].name);
	else if (optopt != 0)
		fprintf(stderr, "aftershock: -%c is no option of this command (see --help)\n", optopt);
	else
		print_unknown_long(word);
}

bool opts_parse(enum command command, int argc, char **argv, struct arena *a, struct options *out)
{
	struct option longs[ROW_COUNT + 1];
	char letters[2 * ROW_COUNT + 2];
	struct parse_context c = { out, a };

	*out = (struct options){ .analysis = analysis_options_default(), .probe = probe_options_default() };
	make_tables(command, longs, letters);
	optind = 1;
	for (;;) {
		int found = getopt_long(argc, argv, letters, longs, NULL);
		if (found == -1)
			break;
		const struct option_row *row = found == '?' || found == ':' ? NULL : row_of(command, found);
		if (found == ':')
			fprintf(stderr, "aftershock: %s needs an argument\n", argv[optind - 1]);
		else if (row == NULL)
			print_refused(argv[optind - 1]);
		if (row == NULL)
			return false;
		const char *expected = row->set(&c, optarg);
		if (expected != NULL) {
			fprintf(stderr, "aftershock: --%s %s: expected %s\n", row->name, optarg, expected);
			return false;
		}
	}
	if (out->analysis.has_from && out->analysis.has_to && out->analysis.to.us < out->analysis.from.us) {
		fputs("aftershock: --to lies before --from\n", stderr);
		return false;
	}
	out->ingest.hosts = out->hosts;
	out->ingest.zones = out->zones;
	out->ingest.has_near = out->analysis.has_from;
	out->ingest.near.us = out->analysis.from.us;
	out->analysis.offsets = out->offsets;
	out->analysis.session_timeouts_ms = out->session_timeouts;
	out->arguments = argv + optind;
	out->argument_count = (size_t)(argc - optind);
	return true;
}

/* The text in lines of words, those after the first below its start. */
static void print_wrapped(const char *text)
{
	size_t column = HELP_INDENT;
	struct sv rest = sv_of(text);

	while (!sv_is_absent(rest)) {
		struct sv word = sv_cut(&rest, ' ');
		bool first = column == HELP_INDENT;
		if (!first && column + 1 + word.n > HELP_WIDTH) {
			printf("\n%*s", HELP_INDENT, "");
			column = HELP_INDENT;
			first = true;
		}
		printf("%s%.*s", first ? "" : " ", SV_ARG(word));
		column += word.n + !first;
	}
	putchar('\n');
}

void opts_help(enum command command)
{
	puts("\noptions:");
	for (size_t i = 0; i < ROW_COUNT; i++) {
		char name[64];
		if (!is_of(&rows[i], command))
			continue;
		snprintf(name, sizeof name, "%s%c%s--%s%s%s", rows[i].letter != 0 ? "-" : "  ",
			 rows[i].letter != 0 ? rows[i].letter : ' ', rows[i].letter != 0 ? ", " : " ", rows[i].name,
			 rows[i].argument != NULL ? " " : "", rows[i].argument != NULL ? rows[i].argument : "");
		printf("  %-*s", HELP_INDENT - 2, name);
		print_wrapped(rows[i].help);
	}
}
