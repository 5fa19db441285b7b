/* SPDX-License-Identifier: MIT */
/*
 * Grades a report against the truth of a recorded run:
 *
 * lab_check REPORT.json TRUTH.json              a line for each aspect
 * lab_check --raw RUN REPORT.json TRUTH.json    for check.sh, fields by TAB:
 *     grade RUN ASPECT RIGHT EXPECTED WRONG DETAIL
 *     edge RUN START_MS END_MS      of a window against its fault, late is positive
 *     trigger RUN TRUTH REPORTED    "none" for one that has no counterpart
 * lab_check --weaker REPORT.json TRUTH.json     of a report on a part of the evidence: what it says and is
 *                                               not true. What it does not say, or leaves open, is fine
 *
 * So what is not right is either false (said, and not so) or missing (so, and
 * not said). The rules are those of README.md beside this file. Exit code 0
 * when every line is right, 1 when one is not, 2 when a file cannot be read.
 */

#include <json-c/json.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS INT64_C(1000)
#define S INT64_C(1000000)

/* How far a window may stand from its fault. */
#define START_EARLY (1 * S)
#define START_LATE (2 * S)
#define END_EARLY (1 * S)
#define END_LATE (4 * S)
#define UNCERTAINTY_MOST (200 * MS)

typedef struct json_object *json;

/* ---- reading ---- */

static json get(json o, const char *key)
{
	json v = NULL;
	return json_object_object_get_ex(o, key, &v) ? v : NULL;
}

/* A path such as "share.lagged.count". */
static json dig(json o, const char *path)
{
	char part[64];
	while (o != NULL && *path != '\0') {
		size_t n = strcspn(path, ".");
		snprintf(part, sizeof part, "%.*s", (int)n, path);
		o = get(o, part);
		path += n + (path[n] == '.');
	}
	return o;
}

static const char *text(json o, const char *path)
{
	json v = dig(o, path);
	return v != NULL && json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";
}

static int64_t number(json o, const char *path)
{
	json v = dig(o, path);
	return v == NULL ? INT64_MIN : json_object_get_int64(v);
}

static bool flag(json o, const char *path)
{
	json v = dig(o, path);
	return v != NULL && json_object_get_boolean(v);
}

static size_t length(json list)
{
	return list == NULL ? 0 : json_object_array_length(list);
}

static json item(json list, size_t i)
{
	return json_object_array_get_idx(list, i);
}

/* RFC 3339 in UTC, to microseconds; INT64_MIN when it is none. */
static int64_t instant(json o, const char *path)
{
	struct tm tm = { 0 };
	char fraction[7] = "000000";
	int digits = 0;
	const char *t = text(o, path);
	if (sscanf(t, "%4d-%2d-%2dT%2d:%2d:%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6)
		return INT64_MIN;
	const char *dot = strchr(t, '.');
	for (; dot != NULL && digits < 6 && dot[1 + digits] >= '0' && dot[1 + digits] <= '9'; digits++)
		fraction[digits] = dot[1 + digits];
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	return (int64_t)timegm(&tm) * S + strtoll(fraction, NULL, 10);
}

/* ---- grading ---- */

/* The run's name in --raw, else NULL: then only the grades are printed. */
static const char *raw_run;
/* How far the report's reference clock is ahead: without the broker's log it is another host's. */
static int64_t ahead_us;
/* A clock is off by a second or more, and the report says that nothing bounds it: what rests on times is said with that doubt. */
static bool is_clock_open;

struct grade {
	const char *aspect;
	bool is_timeless;	/* does not rest on times */
	size_t right, expected;
	size_t wrong;	/* false or missing */
	size_t untrue;
	char first_wrong[256], first_untrue[256];
};

__attribute__((format(printf, 3, 0))) static void keep_first(char to[256], size_t earlier, const char *format, va_list list)
{
	if (earlier == 0)
		vsnprintf(to, 256, format, list);
}

/* The report says what is not so. */
__attribute__((format(printf, 2, 3))) static void untrue(struct grade *g, const char *format, ...)
{
	va_list list, again;
	va_start(list, format);
	va_copy(again, list);
	keep_first(g->first_wrong, g->wrong++, format, list);
	keep_first(g->first_untrue, g->untrue++, format, again);
	va_end(again);
	va_end(list);
}

/* The report does not say what is so. */
__attribute__((format(printf, 2, 3))) static void missing(struct grade *g, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	keep_first(g->first_wrong, g->wrong++, format, list);
	va_end(list);
}

static bool print_grade(const struct grade *g)
{
	bool good = g->wrong == 0 && g->right == g->expected;
	if (raw_run != NULL) {
		printf("grade\t%s\t%s\t%zu\t%zu\t%zu\t%s\n", raw_run, g->aspect, g->right, g->expected, g->wrong, g->first_wrong);
		return good;
	}
	printf("%-14s %4zu of %4zu right, %zu wrong  %s%s%s\n", g->aspect, g->right, g->expected, g->wrong, good ? "RIGHT" : "WRONG",
	       g->wrong > 0 ? ": " : "", g->first_wrong);
	return good;
}

static bool print_untrue(const struct grade *g)
{
	bool is_doubted = is_clock_open && !g->is_timeless;
	printf("%-14s %4zu of %4zu said, %zu %s%s%s\n", g->aspect, g->right, g->expected, g->untrue, is_doubted ? "doubted" : "untrue",
	       g->untrue > 0 ? ": " : "", g->first_untrue);
	return g->untrue == 0 || is_doubted;
}

static bool is_kind(json fault, const char *kind)
{
	return strcmp(text(fault, "kind"), kind) == 0;
}

static bool is_jitter_fault(json fault)
{
	return flag(fault, "network");
}

static bool is_pause_fault(json fault)
{
	return is_kind(fault, "process_pause") || is_kind(fault, "server_pause");
}

/* ---- windows ---- */

#define WINDOWS_MOST 4096
#define FAULTS_MOST 1024

/*
 * Faults of a sort on one host that lie closer than a heartbeat interval: one
 * window meets them, since windows that close are one (method.md 3).
 */
struct episode {
	const char *host;
	size_t faults;
	const char *id;	/* of the first */
	const char *kind;
	int64_t start, end;
	int64_t start_seen;	/* as late as it can show: a path is not seen to fail while the process or the broker is paused */
	bool is_partial;	/* what gets through shows the path, or the process, well for a while */
	const char *called;	/* at the path's other end; "" when it is about no path */
	bool met;
};

/* When a window began and ended: the outage where the report knows it, else the whole silence. */
struct extent {
	int64_t start, end;
	int64_t end_least;	/* the last known loss; end where it is not told */
	int64_t resolution;	/* of its source: counters are read every so often */
};

static struct extent extent_of(json w)
{
	int64_t start = instant(w, "outage_start"), end = instant(w, "outage_end"), least = number(w, "measures.outage_least_ms");
	if (start == INT64_MIN || end == INT64_MIN) {
		start = instant(w, "start");
		end = instant(w, "end");
		least = INT64_MIN;
	}
	return (struct extent){ start - ahead_us, end - ahead_us, (least == INT64_MIN ? end : start + least * MS) - ahead_us,
				number(w, "resolution_ms") * MS };
}

/* consumer-N is 10.77.N.10 (labkit/plan.py). */
static bool is_address_of(const char *address, const char *host)
{
	char own[64];

	snprintf(own, sizeof own, "10.77.%s.10", strncmp(host, "consumer-", 9) == 0 ? host + 9 : "");
	return strcmp(address, own) == 0;
}

/* What the host at the path's other end counts, or captures of this path. */
static bool is_seen_at_other_end(json w, const struct episode *e)
{
	const char *caller = text(w, "path.a");

	return e->called[0] != '\0' && strcmp(text(w, "host"), e->called) == 0 && (caller[0] == '\0' || is_address_of(caller, e->host));
}

/* On the fault's host, or at the other end of its path; a broker's fault is seen on the paths to it, from any host. */
static bool is_place_of(json w, const struct episode *e)
{
	return strcmp(text(w, "host"), e->host) == 0 || strncmp(e->host, "broker", 6) == 0 || is_seen_at_other_end(w, e);
}

/*
 * "Backoff apart" (lab.md): after the last loss TCP waits for as long as the
 * outage has lasted by then, and what is not sent does not show that the path
 * is well again. So the end may lie anywhere between the last loss and the
 * first sign, which may come as late as doubling explains.
 */
static bool ends_with(struct extent x, const struct episode *e, int64_t slack)
{
	if (x.end < e->end - END_EARLY - slack)
		return false;
	return x.end <= e->end + END_LATE + x.resolution ||
	       (x.end_least <= e->end + END_EARLY && x.end - x.start <= 2 * (x.end_least - x.start) + END_LATE + x.resolution);
}

static bool starts_with(struct extent x, const struct episode *e, int64_t slack)
{
	return x.start >= e->start - START_EARLY - x.resolution && x.start <= e->start_seen + START_LATE + slack;
}

/* Lies in the fault's time and is no window without a fault. */
static bool is_within(struct extent x, const struct episode *e)
{
	return x.start >= e->start - START_EARLY - x.resolution && x.start <= e->end + END_LATE &&
	       (x.end <= e->end + END_LATE || ends_with(x, e, 0));
}

static void print_edge(struct extent x, const struct episode *e)
{
	int64_t end = x.end > e->end && x.end_least < e->end ? 0 : x.end_least > e->end ? x.end_least - e->end : x.end - e->end;
	int64_t start = x.start < e->start ? x.start - e->start : x.start > e->start_seen ? x.start - e->start_seen : 0;
	if (raw_run != NULL)
		printf("edge\t%s\t%lld\t%lld\n", raw_run, (long long)start / 1000, (long long)end / 1000);
}

/* The windows of the sort in the fault's time are used up; one of them meets it, or all together where it is partial. */
static bool meet(json windows, const struct episode *e, bool jitter, int64_t heartbeat, bool *used)
{
	struct extent all = { INT64_MAX, INT64_MIN, INT64_MIN, 0 };
	bool met = false;
	for (size_t i = 0; i < length(windows) && i < WINDOWS_MOST; i++) {
		json w = item(windows, i);
		struct extent x = extent_of(w);
		if (flag(w, "jitter") != jitter || used[i] || !is_place_of(w, e) || !is_within(x, e))
			continue;
		used[i] = true;
		if (!met && starts_with(x, e, 0) && ends_with(x, e, 0)) {
			met = true;
			print_edge(x, e);
		}
		all.start = x.start < all.start ? x.start : all.start;
		all.end = x.end > all.end ? x.end : all.end;
		all.end_least = x.end_least > all.end_least ? x.end_least : all.end_least;
	}
	/* The first and the last loss come by chance, the sooner the more is sent: a heartbeat at least. */
	if (!met && e->is_partial && all.end != INT64_MIN && starts_with(all, e, heartbeat) && ends_with(all, e, heartbeat)) {
		met = true;
		print_edge(all, e);
	}
	return met;
}

static bool is_of_sort(json fault, bool jitter)
{
	return jitter ? is_jitter_fault(fault) : is_pause_fault(fault);
}

static bool is_partial(json fault)
{
	int64_t percent = number(fault, "percent");
	return is_kind(fault, "delay") || is_kind(fault, "congestion") || (is_kind(fault, "loss") && percent > 0 && percent < 100) ||
	       strcmp(text(fault, "sub"), "throttled") == 0;
}

static int64_t start_seen(json faults, json fault)
{
	int64_t start = instant(fault, "start"), seen = start;
	for (size_t i = 0; i < length(faults); i++) {
		json p = item(faults, i);
		bool hides = is_kind(p, "server_pause") || (is_kind(p, "process_pause") && strcmp(text(p, "host"), text(fault, "host")) == 0);
		if (hides && is_jitter_fault(fault) && instant(p, "start") <= start && instant(p, "end") > seen)
			seen = instant(p, "end");
	}
	return seen;
}

static bool joins(const struct episode *e, json fault, int64_t heartbeat)
{
	return strcmp(e->host, text(fault, "host")) == 0 && instant(fault, "start") - e->end < heartbeat &&
	       e->start - instant(fault, "end") < heartbeat &&
	       (is_jitter_fault(fault) || strcmp(e->kind, text(fault, "kind")) == 0);
}

static void add_fault(struct episode *e, json faults, json fault)
{
	int64_t start = instant(fault, "start"), end = instant(fault, "end"), seen = start_seen(faults, fault);
	if (e->faults++ == 0) {
		*e = (struct episode){ text(fault, "host"), 1, text(fault, "id"), text(fault, "kind"), start, end, seen, is_partial(fault),
				       text(fault, "path.b"), false };
		return;
	}
	if (start < e->start) {
		e->start = start;
		e->start_seen = seen;
	}
	e->end = end > e->end ? end : e->end;
	e->is_partial = e->is_partial || is_partial(fault);
}

static size_t find_episodes(json faults, bool jitter, int64_t heartbeat, struct episode *out)
{
	size_t n = 0;
	for (size_t f = 0; f < length(faults); f++) {
		json fault = item(faults, f);
		size_t i = 0;
		if (!is_of_sort(fault, jitter))
			continue;
		while (i < n && !joins(&out[i], fault, heartbeat))
			i++;
		if (i == FAULTS_MOST)
			continue;
		if (i == n)
			out[n++].faults = 0;
		add_fault(&out[i], faults, fault);
	}
	return n;
}

/*
 * A window is the silence: from up to a heartbeat before the fault, for its path to as long after it as doubling
 * explains. Such that lie closer than an interval are one.
 */
static bool may_be_one(const struct episode *e, const struct episode *later, bool jitter, int64_t heartbeat)
{
	int64_t silent_until = e->end + (jitter ? e->end - e->start : 0);

	return later->start - heartbeat - silent_until < heartbeat;
}

/* The next on that host; NULL when there is none. */
static struct episode *next_of(struct episode *episodes, size_t n, const struct episode *e)
{
	struct episode *next = NULL;

	for (size_t i = 0; i < n; i++)
		if (strcmp(episodes[i].host, e->host) == 0 && episodes[i].start > e->start &&
		    (next == NULL || episodes[i].start < next->start))
			next = &episodes[i];
	return next;
}

/* The window begins with this one and ends with a later one, and all between may be one with it: it meets them all. */
static bool meets_row(json w, struct episode *episodes, size_t n, struct episode *first, bool jitter, int64_t heartbeat)
{
	struct extent x = extent_of(w);
	struct episode *last = first, *next;

	if (!is_place_of(w, first) || !starts_with(x, first, 0))
		return false;
	while ((next = next_of(episodes, n, last)) != NULL && may_be_one(last, next, jitter, heartbeat)) {
		last = next;
		if (!ends_with(x, last, 0))
			continue;
		for (next = first; next != NULL && next->start <= last->start; next = next_of(episodes, n, next))
			next->met = true;
		return true;
	}
	return false;
}

static void meet_rows(json windows, struct episode *episodes, size_t n, bool jitter, int64_t heartbeat, bool *used)
{
	for (size_t k = 0; k < length(windows) && k < WINDOWS_MOST; k++)
		for (size_t i = 0; i < n && flag(item(windows, k), "jitter") == jitter && !used[k]; i++)
			used[k] = meets_row(item(windows, k), episodes, n, &episodes[i], jitter, heartbeat);
}

/* From one fault into a later one: where settings are not known, closeness is judged by defaults. */
static bool is_of_several(json w, const struct episode *episodes, size_t n)
{
	struct extent x = extent_of(w);
	bool starts = false, ends = false;
	for (size_t i = 0; i < n; i++) {
		const struct episode *e = &episodes[i];
		if (!is_place_of(w, e))
			continue;
		starts = starts || (x.start >= e->start - START_EARLY - x.resolution && x.start <= e->end);
		ends = ends || (x.end >= e->start && x.end <= e->end + END_LATE + x.resolution);
	}
	return starts && ends;
}

/* A lone timer that ran out after the fault: what it had waited for was lost in it, as far as doubling explains. */
static bool is_of_timer(json w, const struct episode *episodes, size_t n)
{
	struct extent x = extent_of(w);
	for (size_t i = 0; i < n && strcmp(text(w, "kind"), "loss") == 0 && get(w, "outage_start") == NULL; i++) {
		const struct episode *e = &episodes[i];
		if (is_place_of(w, e) && x.start >= e->end && x.end - e->start <= 2 * (e->end - e->start) + END_LATE)
			return true;
	}
	return false;
}

/* A member that overran its poll interval sends no heartbeats: without its log that looks like a pause. */
static bool is_of_overrun(json w, json truth)
{
	json faults = get(truth, "faults");
	struct extent x = extent_of(w);
	for (size_t i = 0; i < length(faults); i++) {
		json f = item(faults, i);
		if (is_kind(f, "slow_handler") && strcmp(text(f, "host"), text(w, "host")) == 0 &&
		    x.start < instant(f, "end") && x.end > instant(f, "start"))
			return true;
	}
	return false;
}

/*
 * A client that sends heartbeats between polls and stands still cannot be told from one whose handler is at work, unless
 * it stopped while it had nothing to handle (method.md 4).
 */
static bool is_told_from_handling(const struct episode *e, json truth)
{
	json client = get(dig(truth, "settings.clients"), e->host);
	return client == NULL || strcmp(json_object_get_string(client), "kafkajs") != 0;
}

/* The machine was too busy for the broker, which the lab's administrator felt as well: nobody's fault, and true. */
static bool is_of_strain(json w, json truth)
{
	json list = get(truth, "strained");
	struct extent x = extent_of(w);
	for (size_t i = 0; i < length(list) && strcmp(text(w, "kind"), "server_pause") == 0; i++) {
		json s = item(list, i);
		if (x.start >= instant(s, "start") - START_EARLY && x.end <= instant(s, "end") + END_LATE)
			return true;
	}
	return false;
}

/* Each fault of the sort is met by a window of the sort, and each window of the sort lies in a fault. */
static struct grade grade_windows(json report, json truth, const char *aspect, bool jitter)
{
	static struct episode episodes[FAULTS_MOST];
	struct grade g = { .aspect = aspect };
	json windows = get(report, "windows");
	int64_t heartbeat = number(truth, "settings.heartbeat_interval_ms") * MS;
	size_t n = find_episodes(get(truth, "faults"), jitter, heartbeat, episodes);
	bool used[WINDOWS_MOST] = { false };
	for (size_t i = 0; i < n; i++)
		episodes[i].met = meet(windows, &episodes[i], jitter, heartbeat, used);
	meet_rows(windows, episodes, n, jitter, heartbeat, used);
	for (size_t i = 0; i < n; i++) {
		const struct episode *e = &episodes[i];
		bool met = e->met;
		/* A pause in which at most one heartbeat was due, and half an interval late, endangers nobody. */
		if (!met && !jitter && (2 * (e->end - e->start) < 3 * heartbeat || !is_told_from_handling(e, truth)))
			continue;
		g.expected += e->faults;
		if (met)
			g.right += e->faults;
		else
			missing(&g, "no window for fault %s (%s on %s, %.3f s)", e->id, e->kind, e->host, (double)(e->end - e->start) / 1e6);
	}
	for (size_t k = 0; k < length(windows) && k < WINDOWS_MOST; k++) {
		json w = item(windows, k);
		if (flag(w, "jitter") != jitter || used[k] || is_of_strain(w, truth))
			continue;
		if (is_of_several(w, episodes, n) || (jitter ? is_of_timer(w, episodes, n) : is_of_overrun(w, truth)))
			missing(&g, "%s (%s on %s) is not told apart", text(w, "id"), text(w, "kind"), text(w, "host"));
		else
			untrue(&g, "%s (%s on %s, %s to %s) meets no fault", text(w, "id"), text(w, "kind"), text(w, "host"),
			       text(w, "start"), text(w, "end"));
	}
	return g;
}

static json rebalance_by_id(json report, const char *id)
{
	json list = get(report, "rebalances");
	for (size_t i = 0; i < length(list); i++)
		if (strcmp(text(item(list, i), "id"), id) == 0)
			return item(list, i);
	return NULL;
}

/* How far from the true moment a rebalance may lie whose generation the report does not know. */
#define UNNUMBERED_AWAY (10 * S)

static bool is_same_rebalance(json told, json t)
{
	int64_t generation = number(told, "generation"), away = instant(told, "trigger_time") - ahead_us - instant(t, "time");
	if (strcmp(text(told, "group"), text(t, "group")) != 0)
		return false;
	if (get(told, "generation") == NULL)
		return away <= UNNUMBERED_AWAY && -away <= UNNUMBERED_AWAY &&
		       (get(told, "host") == NULL || get(t, "host") == NULL || strcmp(text(told, "host"), text(t, "host")) == 0);
	return generation == number(t, "generation");
}

/* The report's rebalance for one of the truth; one with its generation before one without any. */
static json rebalance_of(json report, json t)
{
	json list = get(report, "rebalances"), unnumbered = NULL;
	for (size_t i = 0; i < length(list); i++) {
		if (!is_same_rebalance(item(list, i), t))
			continue;
		if (get(item(list, i), "generation") != NULL)
			return item(list, i);
		unnumbered = unnumbered == NULL ? item(list, i) : unnumbered;
	}
	return unnumbered;
}

static json true_rebalance_of(json truth, json told)
{
	json list = get(truth, "rebalances");
	for (size_t i = 0; i < length(list); i++)
		if (is_same_rebalance(told, item(list, i)))
			return item(list, i);
	return NULL;
}

/* Says of itself that what came before is not in the evidence. */
static bool is_root_for_want_of_one(json told)
{
	const char *trigger = text(told, "trigger");
	return flag(told, "is_root") && (strcmp(trigger, "unknown") == 0 || strcmp(trigger, "member_rejoin") == 0 ||
					 strcmp(trigger, "protocol_followup") == 0);
}

static bool grade_root(struct grade *g, json report, json told, json t)
{
	long long generation = (long long)number(t, "generation");
	int64_t root = number(rebalance_by_id(report, text(told, "root")), "generation");
	if (flag(told, "is_root") != flag(t, "root")) {
		if (is_root_for_want_of_one(told))
			missing(g, "generation %lld: its root was not found", generation);
		else
			untrue(g, "generation %lld: root or not", generation);
		return false;
	}
	if (!flag(t, "root") && root != number(t, "root_generation")) {
		untrue(g, "generation %lld: root is generation %lld, in truth %lld", generation, (long long)root,
		       (long long)number(t, "root_generation"));
		return false;
	}
	return true;
}

/*
 * What a broker sees alike, and the report calls suggested: LeaveGroup without
 * a reason, sent by a member that closes or that overran its poll interval; a
 * member that joins where one of its name has gone, back or started anew. A
 * static member that overruns its interval does reach the broker as an expired session.
 */
static bool is_open_suggestion(json told, json t)
{
	static const struct {
		const char *told, *truth;
		bool is_suggested;
	} pairs[] = {
		{ "member_leave", "poll_timeout", true }, { "member_rejoin", "member_join", true },
		{ "member_join", "member_rejoin", true }, { "session_timeout", "poll_timeout", false },
	};
	bool is_suggested = strcmp(text(told, "trigger_evidence.strength"), "suggests") == 0;
	bool is_from_client = strcmp(text(told, "trigger_evidence.basis"), "client log") == 0;
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		if (strcmp(text(told, "trigger"), pairs[i].told) == 0 && strcmp(text(t, "trigger"), pairs[i].truth) == 0)
			return pairs[i].is_suggested ? is_suggested : !is_from_client;
	return false;
}

static bool grade_rebalance(struct grade *g, json report, json told, json t)
{
	long long generation = (long long)number(t, "generation");
	const char *trigger = text(told, "trigger"), *host = text(told, "host");
	if (told == NULL || get(told, "generation") == NULL) {
		missing(g, "generation %lld was not found", generation);
		return false;
	}
	if (strcmp(trigger, "unknown") == 0 && strcmp(text(t, "trigger"), "unknown") != 0) {
		missing(g, "generation %lld: trigger unknown, in truth %s", generation, text(t, "trigger"));
		return false;
	}
	if (is_open_suggestion(told, t)) {
		missing(g, "generation %lld: trigger %s is suggested, in truth %s", generation, trigger, text(t, "trigger"));
		return false;
	}
	if (strcmp(trigger, text(t, "trigger")) != 0) {
		untrue(g, "generation %lld: trigger %s, in truth %s", generation, trigger, text(t, "trigger"));
		return false;
	}
	if (get(t, "host") != NULL && host[0] == '\0') {
		missing(g, "generation %lld: host unknown, in truth %s", generation, text(t, "host"));
		return false;
	}
	if (get(t, "host") != NULL && strcmp(host, text(t, "host")) != 0) {
		untrue(g, "generation %lld: host %s, in truth %s", generation, host, text(t, "host"));
		return false;
	}
	return grade_root(g, report, told, t);
}

static struct grade grade_rebalances(json report, json truth)
{
	struct grade g = { .aspect = "rebalances" };
	json list = get(truth, "rebalances"), told = get(report, "rebalances");
	g.expected = length(list);
	for (size_t i = 0; i < length(list); i++) {
		json t = item(list, i), r = rebalance_of(report, t);
		if (raw_run != NULL)
			printf("trigger\t%s\t%s\t%s\n", raw_run, text(t, "trigger"), r == NULL ? "none" : text(r, "trigger"));
		g.right += grade_rebalance(&g, report, r, t);
	}
	for (size_t i = 0; i < length(told); i++)
		if (true_rebalance_of(truth, item(told, i)) == NULL)
			untrue(&g, "%s (generation %lld, %s) is none in truth", text(item(told, i), "id"),
			       (long long)number(item(told, i), "generation"), text(item(told, i), "trigger"));
	if (length(told) > g.expected)
		untrue(&g, "%zu rebalances reported, %zu in truth", length(told), g.expected);
	return g;
}

static json fault_by_id(json truth, const char *id)
{
	json list = get(truth, "faults");
	for (size_t i = 0; i < length(list); i++)
		if (strcmp(text(item(list, i), "id"), id) == 0)
			return item(list, i);
	return NULL;
}

static bool is_by_network(json truth, json t)
{
	json fault = fault_by_id(truth, text(t, "fault"));
	return fault != NULL && is_jitter_fault(fault);
}

static json true_generation(json truth, int64_t generation)
{
	json list = get(truth, "rebalances");
	for (size_t i = 0; i < length(list); i++)
		if (number(item(list, i), "generation") == generation)
			return item(list, i);
	return NULL;
}

/* Something else caused it, or its root, and a network fault could have (also_faults). */
static bool is_perhaps_by_network(json truth, json t)
{
	json also = get(flag(t, "root") ? t : true_generation(truth, number(t, "root_generation")), "also_faults");
	for (size_t i = 0; i < length(also); i++) {
		json fault = fault_by_id(truth, json_object_get_string(item(also, i)));
		if (fault != NULL && is_jitter_fault(fault))
			return true;
	}
	return false;
}

static struct grade grade_attribution(json report, json truth)
{
	struct grade g = { .aspect = "attribution" };
	json list = get(truth, "rebalances");
	g.expected = length(list);
	for (size_t i = 0; i < length(list); i++) {
		json t = item(list, i), r = rebalance_of(report, t);
		bool network = is_by_network(truth, t);
		const char *a = text(r, "attribution");
		bool said = strcmp(a, "lagged") == 0 || strcmp(a, "explained") == 0;
		bool denied = strcmp(a, "none") == 0 || strcmp(a, "not_network") == 0;
		if (said == network)
			g.right++;
		else if (said && is_perhaps_by_network(truth, t))
			missing(&g, "generation %lld: %s, in truth something else as well", (long long)number(t, "generation"), a);
		else if (said || denied)
			untrue(&g, "generation %lld: %s, in truth %s", (long long)number(t, "generation"), a,
			       network ? "the network" : "not the network");
		else
			missing(&g, "generation %lld: %s, in truth the network", (long long)number(t, "generation"), a);
	}
	return g;
}

static bool same_cause(const char *reported, const char *truth)
{
	if (strcmp(truth, "redelivery") == 0)
		return strcmp(reported, "proven") == 0 || strcmp(reported, "strong") == 0 || strcmp(reported, "weak") == 0;
	/* Called again after an unknown outcome, within one assignment: neither redelivered nor sent twice. */
	if (strcmp(truth, "retry") == 0)
		return strcmp(reported, "unrelated") == 0;
	return strcmp(reported, truth) == 0;
}

static int64_t true_root(json truth, int64_t generation)
{
	json t = true_generation(truth, generation);
	if (t == NULL)
		return INT64_MIN;
	return flag(t, "root") ? generation : number(t, "root_generation");
}

/* After another rebalance than in truth, but one that has the same root: one incident. */
static bool is_of_same_root(json report, json truth, json told, json t)
{
	int64_t said = number(rebalance_by_id(report, text(told, "rebalance")), "generation"), is = number(t, "generation");
	return said != INT64_MIN && said != is && true_root(truth, said) == true_root(truth, is);
}

static struct grade grade_duplicates(json report, json truth)
{
	struct grade g = { .aspect = "duplicates" };
	json told = dig(report, "side_effects.duplicates"), list = get(truth, "duplicates");
	bool *used = calloc(length(told) + 1, sizeof *used);
	g.expected = length(list);
	for (size_t i = 0; used != NULL && i < length(list); i++) {
		json t = item(list, i), d = NULL;
		for (size_t k = 0; k < length(told) && d == NULL; k++) {
			if (used[k] || strcmp(text(item(told, k), "business_key"), text(t, "business_key")) != 0 ||
			    strcmp(text(item(told, k), "step"), text(t, "step")) != 0)
				continue;
			used[k] = true;
			d = item(told, k);
		}
		int64_t generation = number(rebalance_by_id(report, text(d, "rebalance")), "generation");
		if (d == NULL)
			missing(&g, "%s %s was not found", text(t, "business_key"), text(t, "step"));
		else if (!same_cause(text(d, "cause"), text(t, "cause")))
			untrue(&g, "%s %s: cause %s, in truth %s", text(t, "business_key"), text(t, "step"), text(d, "cause"),
			       text(t, "cause"));
		else if (number(d, "effects") > number(t, "effects"))
			untrue(&g, "%s %s: %lld effects, in truth %lld", text(t, "business_key"), text(t, "step"),
			       (long long)number(d, "effects"), (long long)number(t, "effects"));
		else if (number(d, "effects") != number(t, "effects"))
			missing(&g, "%s %s: %lld effects, in truth %lld", text(t, "business_key"), text(t, "step"),
				(long long)number(d, "effects"), (long long)number(t, "effects"));
		else if (strcmp(text(t, "cause"), "redelivery") == 0 && (generation == INT64_MIN || is_of_same_root(report, truth, d, t)))
			missing(&g, "%s %s: after one of several generations", text(t, "business_key"), text(t, "step"));
		else if (strcmp(text(t, "cause"), "redelivery") == 0 && generation != number(t, "generation"))
			untrue(&g, "%s %s: after generation %lld, in truth %lld", text(t, "business_key"), text(t, "step"),
			       (long long)generation, (long long)number(t, "generation"));
		else
			g.right++;
	}
	for (size_t k = 0; used != NULL && k < length(told); k++)
		if (!used[k])
			untrue(&g, "%s %s is no duplicate in truth", text(item(told, k), "business_key"), text(item(told, k), "step"));
	free(used);
	return g;
}

/* Of one partition and generation; where the report knows none, or another of the same root, of offsets that overlap. */
static bool is_same_redelivery(json report, json truth, json told, json t)
{
	int64_t generation = number(rebalance_by_id(report, text(told, "rebalance")), "generation");
	if (number(told, "partition") != number(t, "partition") || strcmp(text(told, "topic"), text(t, "topic")) != 0)
		return false;
	if (generation == number(t, "generation"))
		return true;
	if (generation != INT64_MIN && !is_of_same_root(report, truth, told, t))
		return false;
	return number(told, "committed_offset") < number(t, "to") && number(told, "processed_offset") > number(t, "from");
}

/*
 * Ranges of one partition that follow one another in an incident: who told them to one of its rebalances said nothing
 * that is not so. [*from, *to) grows to all of them.
 */
static void widen_range(json truth, json t, long long *from, long long *to)
{
	json list = get(truth, "redeliveries");
	for (size_t i = 0; i < length(list); i++) {
		json other = item(list, i);
		if (number(other, "partition") != number(t, "partition") || strcmp(text(other, "topic"), text(t, "topic")) != 0 ||
		    true_root(truth, number(other, "generation")) != true_root(truth, number(t, "generation")))
			continue;
		if (number(other, "from") <= *to && number(other, "to") > *to)
			*to = (long long)number(other, "to");
		if (number(other, "to") >= *from && number(other, "from") < *from)
			*from = (long long)number(other, "from");
	}
}

static struct grade grade_redeliveries(json report, json truth)
{
	struct grade g = { .aspect = "redeliveries" };
	json told = get(report, "redeliveries"), list = get(truth, "redeliveries");
	bool *used = calloc(length(told) + 1, sizeof *used);
	g.expected = length(list);
	for (size_t i = 0; used != NULL && i < length(list); i++) {
		json t = item(list, i), found = NULL;
		for (size_t k = 0; k < length(told); k++) {
			int64_t generation = number(rebalance_by_id(report, text(item(told, k), "rebalance")), "generation");
			if (!is_same_redelivery(report, truth, item(told, k), t))
				continue;
			used[k] = true;
			found = found == NULL || generation == number(t, "generation") ? item(told, k) : found;
		}
		long long generation = (long long)number(t, "generation"), partition = (long long)number(t, "partition");
		long long from = (long long)number(t, "from"), to = (long long)number(t, "to");
		long long said_from = (long long)number(found, "committed_offset"), said_to = (long long)number(found, "processed_offset");
		long long least = from, most = to;
		widen_range(truth, t, &least, &most);
		if (found == NULL || number(rebalance_by_id(report, text(found, "rebalance")), "generation") != number(t, "generation"))
			missing(&g, "generation %lld, partition %lld was not found", generation, partition);
		else if (said_from < least || said_to > most)
			untrue(&g, "generation %lld, partition %lld: [%lld, %lld), in truth [%lld, %lld)", generation, partition,
			       said_from, said_to, from, to);
		else if (said_from != from || said_to != to)
			missing(&g, "generation %lld, partition %lld: [%lld, %lld), in truth [%lld, %lld)", generation, partition,
				said_from, said_to, from, to);
		else
			g.right++;
	}
	for (size_t k = 0; used != NULL && k < length(told); k++)
		if (!used[k])
			untrue(&g, "%s (partition %lld from %lld, after %s) is none in truth", text(item(told, k), "id"),
			       (long long)number(item(told, k), "partition"), (long long)number(item(told, k), "committed_offset"),
			       text(item(told, k), "rebalance"));
	if (length(told) > g.expected)
		missing(&g, "%zu redeliveries reported, %zu in truth", length(told), g.expected);
	free(used);
	return g;
}

static json true_clock_of(json truth, json told)
{
	json list = get(truth, "clocks");
	for (size_t i = 0; i < length(list); i++)
		if (strcmp(text(told, "host"), text(item(list, i), "host")) == 0)
			return item(list, i);
	return NULL;
}

/* Sets ahead_us and is_clock_open. */
static void look_at_clocks(json report, json truth)
{
	json told = get(report, "clocks"), reference = NULL;
	for (size_t k = 0; k < length(told); k++)
		if (strcmp(text(item(told, k), "method"), "reference") == 0)
			reference = true_clock_of(truth, item(told, k));
	ahead_us = reference == NULL ? 0 : number(reference, "offset_us");
	for (size_t k = 0; k < length(told) && reference != NULL; k++) {
		json t = true_clock_of(truth, item(told, k));
		int64_t off = t == NULL ? 0 : number(t, "offset_us") - ahead_us;
		bool is_bounded = t == NULL || get(item(told, k), "uncertainty_us") != NULL;
		if (!is_bounded && (off >= S || -off >= S || strcmp(text(t, "timezone"), text(reference, "timezone")) != 0))
			is_clock_open = true;
	}
}

static struct grade grade_clocks(json report, json truth)
{
	struct grade g = { .aspect = "clocks", .is_timeless = true };
	json told = get(report, "clocks"), list = get(truth, "clocks");
	for (size_t i = 0; i < length(list); i++) {
		json t = item(list, i), c = NULL;
		for (size_t k = 0; k < length(told); k++)
			if (strcmp(text(item(told, k), "host"), text(t, "host")) == 0)
				c = item(told, k);
		/* Without links in both directions nothing bounds a clock, and the report says so. */
		if (c == NULL || dig(c, "uncertainty_us") == NULL)
			continue;
		g.expected++;
		int64_t off = number(c, "offset_us") - (number(t, "offset_us") - ahead_us), uncertainty = number(c, "uncertainty_us");
		if (off > uncertainty || -off > uncertainty)
			untrue(&g, "%s: %lld us off, uncertainty %lld us", text(t, "host"), (long long)off, (long long)uncertainty);
		else if (uncertainty > UNCERTAINTY_MOST)
			missing(&g, "%s: %lld us off, uncertainty %lld us", text(t, "host"), (long long)off, (long long)uncertainty);
		else
			g.right++;
	}
	return g;
}

/* How many of some roots the network caused: at least, and with those that it may have caused as well (also_faults). */
struct by_network {
	int64_t roots, least, most;
};

static void count_root(struct by_network *n, json truth, json t)
{
	bool is = is_by_network(truth, t);
	n->roots++;
	n->least += is;
	n->most += is || is_perhaps_by_network(truth, t);
}

static bool lies_between(struct by_network n, json report)
{
	double low = json_object_get_double(dig(report, "share.interval.low"));
	double high = json_object_get_double(dig(report, "share.interval.high"));
	return low <= (double)n.most / (double)n.roots + 1e-5 && (double)n.least / (double)n.roots <= high + 1e-5;
}

/* Of the roots that the report counts: a part of the evidence shows a part of them. */
static struct by_network counted_by_network(json report, json truth)
{
	json list = get(report, "rebalances");
	struct by_network n = { 0, 0, 0 };
	for (size_t i = 0; i < length(list); i++) {
		json r = item(list, i), t = true_rebalance_of(truth, r);
		if (flag(r, "is_root") && flag(r, "observed") && t != NULL)
			count_root(&n, truth, t);
	}
	return n;
}

static struct by_network true_by_network(json truth)
{
	json list = get(truth, "rebalances");
	struct by_network n = { 0, 0, 0 };
	for (size_t i = 0; i < length(list); i++)
		if (flag(item(list, i), "root"))
			count_root(&n, truth, item(list, i));
	return n;
}

static struct grade grade_share(json report, json truth)
{
	struct grade g = { .aspect = "share", .expected = 3 };
	struct by_network all = true_by_network(truth), counted = counted_by_network(report, truth);
	int64_t lagged = number(report, "share.lagged.count");
	if (number(report, "share.roots") == all.roots)
		g.right++;
	else
		missing(&g, "%lld roots, in truth %lld", (long long)number(report, "share.roots"), (long long)all.roots);
	if (lagged >= all.least && lagged <= all.most && number(report, "share.lagged.total") == all.roots)
		g.right++;
	else
		missing(&g, "lagged %lld of %lld, in truth %lld of %lld", (long long)lagged,
			(long long)number(report, "share.lagged.total"), (long long)all.least, (long long)all.roots);
	if (counted.roots > 0 && !lies_between(counted, report))
		untrue(&g, "%.3f of those counted lies outside [%.3f, %.3f]", (double)counted.least / (double)counted.roots,
		       json_object_get_double(dig(report, "share.interval.low")),
		       json_object_get_double(dig(report, "share.interval.high")));
	else if (!lies_between(all, report))
		missing(&g, "%.3f lies outside the interval", (double)all.least / (double)all.roots);
	else
		g.right++;
	return g;
}

/* Nothing is said to be the network's doing that was not; what was is not said to be refuted. */
static struct grade grade_verdict(json report, json truth)
{
	struct grade g = { .aspect = "verdict", .expected = 1, .is_timeless = true };
	const char *verdict = text(report, "share.verdict");
	double line = (double)number(report, "share.threshold") / 100;
	struct by_network n = counted_by_network(report, truth);
	double least = (double)n.least / (double)n.roots, most = (double)n.most / (double)n.roots;
	bool too_strong = (strcmp(verdict, "confirmed") == 0 && most < line) || (strcmp(verdict, "partial") == 0 && most < 0.5);
	bool denied = strcmp(verdict, "rejected") == 0 && least >= 0.5;
	if (n.roots > 0 && (too_strong || denied))
		untrue(&g, "%s, and the true share of those counted is %.2f", verdict, least);
	else
		g.right++;
	return g;
}

/* A decimal with a fraction, compared as a number of millionths. */
static int64_t amount(const char *decimal)
{
	char *end;
	int64_t micros = strtoll(decimal, &end, 10) * S;
	if (*end == '.') {
		int64_t unit = S;
		while (*++end >= '0' && *end <= '9' && unit > 1) {
			unit /= 10;
			micros += (*end - '0') * unit;
		}
	}
	return micros;
}

/* The first step moves the money: its duplicates are what was paid too much. */
static struct grade grade_amounts(json report, json truth)
{
	struct grade g = { .aspect = "amounts", .is_timeless = true };
	json told = dig(report, "side_effects.totals.amounts");
	json_object_object_foreach(dig(truth, "totals.duplicate_amounts"), currency, expected)
	{
		int64_t sum = 0;
		for (size_t i = 0; i < length(told); i++)
			if (strcmp(text(item(told, i), "step"), "reversal") == 0 && strcmp(text(item(told, i), "currency"), currency) == 0)
				sum += amount(text(item(told, i), "amount"));
		g.expected++;
		if (sum == amount(json_object_get_string(expected)))
			g.right++;
		else if (sum < amount(json_object_get_string(expected)))
			missing(&g, "%s: %lld millionths, in truth %s", currency, (long long)sum, json_object_get_string(expected));
		else
			untrue(&g, "%s: %lld millionths, in truth %s", currency, (long long)sum, json_object_get_string(expected));
	}
	json_object_object_foreach(dig(truth, "totals.by_step"), step, count)
	{
		json duplicates = dig(report, "side_effects.duplicates");
		int64_t said = 0; /* effects beyond the first */
		for (size_t i = 0; i < length(duplicates); i++)
			if (strcmp(text(item(duplicates, i), "step"), step) == 0)
				said += number(item(duplicates, i), "effects") - 1;
		g.expected++;
		if (said == json_object_get_int64(count))
			g.right++;
		else if (said < json_object_get_int64(count))
			missing(&g, "%s: %lld effects too many, in truth %lld", step, (long long)said, (long long)json_object_get_int64(count));
		else
			untrue(&g, "%s: %lld effects too many, in truth %lld", step, (long long)said, (long long)json_object_get_int64(count));
	}
	return g;
}

static struct grade grade_lost(json report, json truth)
{
	struct grade g = { .aspect = "lost", .expected = length(get(truth, "lost")) };
	json told = dig(report, "side_effects.lost"), list = get(truth, "lost");
	for (size_t k = 0; k < length(told); k++) {
		json said = item(told, k);
		bool found = false;
		for (size_t i = 0; i < length(list); i++)
			found |= strcmp(text(said, "business_key"), text(item(list, i), "business_key")) == 0 &&
				 strcmp(text(said, "step"), text(item(list, i), "step")) == 0;
		g.right += found;
		if (!found)
			untrue(&g, "%s %s was not lost in truth", text(said, "business_key"), text(said, "step"));
	}
	if (g.right < g.expected)
		missing(&g, "%zu found, %zu in truth", g.right, g.expected);
	return g;
}

/* Whether an input's path holds the word. */
static bool has_input(json report, const char *word)
{
	json inputs = get(report, "inputs");
	for (size_t i = 0; i < length(inputs); i++)
		if (strstr(text(item(inputs, i), "path"), word) != NULL)
			return true;
	return false;
}

/* The books of the run: reversals at the channel against rows of the ledger. */
static struct grade grade_books(json report, json truth)
{
	struct grade g = { .aspect = "books" };
	json books = dig(report, "side_effects.books");
	int64_t more = number(truth, "totals.reversals") - number(truth, "totals.ledger_rows");
	if (number(truth, "totals.reversals") == INT64_MIN || !has_input(report, "channel") || !has_input(report, "ledger"))
		return g;
	g.expected = 1;
	int64_t said = 0;
	for (size_t i = 0; i < length(books); i++) {
		json differences = get(item(books, i), "differences");
		bool forward = strcmp(text(item(books, i), "system_a"), "channel") == 0;
		for (size_t k = 0; k < length(differences); k++) {
			int64_t d = number(item(differences, k), "count_a") - number(item(differences, k), "count_b");
			said += forward ? d : -d;
		}
	}
	if (said == more)
		g.right++;
	else
		untrue(&g, "the channel has %lld more than the ledger, in truth %lld", (long long)said, (long long)more);
	return g;
}

static json load(const char *path)
{
	json o = json_object_from_file(path);
	if (o == NULL) {
		fprintf(stderr, "lab_check: %s cannot be read as JSON\n", path);
		exit(2);
	}
	return o;
}

int main(int argc, char **argv)
{
	bool weaker = argc == 4 && strcmp(argv[1], "--weaker") == 0;
	if (argc == 5 && strcmp(argv[1], "--raw") == 0)
		raw_run = argv[2];
	else if (argc != 3 && !weaker) {
		fputs("usage: lab_check [--raw RUN | --weaker] REPORT.json TRUTH.json\n", stderr);
		return 2;
	}
	json report = load(argv[argc - 2]), truth = load(argv[argc - 1]);
	look_at_clocks(report, truth);
	const struct grade grades[] = {
		grade_windows(report, truth, "windows", true),
		grade_windows(report, truth, "pauses", false),
		grade_rebalances(report, truth),
		grade_attribution(report, truth),
		grade_redeliveries(report, truth),
		grade_duplicates(report, truth),
		grade_amounts(report, truth),
		grade_books(report, truth),
		grade_lost(report, truth),
		grade_clocks(report, truth),
		grade_share(report, truth),
		grade_verdict(report, truth),
	};
	bool good = true;
	for (size_t i = 0; i < sizeof grades / sizeof grades[0]; i++)
		good = (weaker ? print_untrue(&grades[i]) : print_grade(&grades[i])) && good;
	json_object_put(report);
	json_object_put(truth);
	return good ? 0 : 1;
}
