/* SPDX-License-Identifier: MIT */
/* From a stream to its kind: sniffing, host, zone, and the sink's begin and end around it. */

#include "input/item.h"

#include <fnmatch.h>
#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "input/identity.h"
#include "input/kind.h"
#include "input/noevidence.h"

/*
 * KIND(name, host by path, by rules, behind zeros), in the order in which they
 * are asked: what is certain by its first bytes before what is likely by its
 * words. Where the host is not taken from the path's directory, the rows say
 * themselves whose clock wrote them. The rules are got when a kind is asked that
 * reads by them. Zeros at the start are left where a file was truncated below its
 * writer: some kinds read what stands behind them, however many they are.
 */
#define KINDS                            \
	KIND(capture, true, false, false)  \
	KIND(counters, true, true, true)   \
	KIND(snapshot, true, true, true)   \
	KIND(table, false, true, true)     \
	KIND(log, true, true, false)

static const struct kind_row {
	const struct kind *kind;
	bool host_by_path;
	bool by_rules;
	bool behind_zeros;
} kinds[] = {
#define KIND(name, host_by_path, by_rules, behind_zeros) { &name##_kind, host_by_path, by_rules, behind_zeros },
	KINDS
#undef KIND
};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

/* What an item is: a kind, or why it is none. */
struct verdict {
	const struct kind_row *row;	/* NULL when it is passed over */
	struct sv why;
	const char *code;
	const struct rules *rules;	/* if the kind reads by them */
	bool refused;		/* they are needed and refused, which is recorded */
};

const char *const *source_kind_names(void)
{
	static const char *const names[] = {
#define KIND(name, host_by_path, by_rules, behind_zeros) #name,
		KINDS
#undef KIND
		NULL
	};

	return names;
}

static const struct kind_row *row_by_name(const char *name)
{
	for (size_t i = 0; i < KIND_COUNT; i++)
		if (strcmp(kinds[i].kind->name, name) == 0)
			return &kinds[i];
	return NULL;
}

/* ---- names ---- */

static struct sv base_name_of(struct sv path)
{
	size_t at;

	if (sv_rfind_char(path, '/', &at))
		path = sv_sub(path, at + 1, path.n);
	/* A member that lies at the top of its archive. */
	if (sv_rfind_char(path, '!', &at))
		path = sv_sub(path, at + 1, path.n);
	return path;
}

/* The last directory of a path; absent when it has none. "." is no name. */
static struct sv last_directory(struct sv path)
{
	size_t slash;

	while (sv_rfind_char(path, '/', &slash)) {
		struct sv name;

		path.n = slash;
		name = base_name_of(path);
		if (name.n > 0 && !sv_eq(name, SV(".")) && !sv_eq(name, SV("..")))
			return name;
	}
	return SV_ABSENT;
}

/* The name that --host gives to the path, which ends in NUL; absent when no pattern matches. */
static struct sv host_by_option(const struct ingest_options *o, const char *path)
{
	for (size_t i = 0; i < o->host_count; i++)
		if (fnmatch(o->hosts[i].pattern, path, 0) == 0)
			return o->hosts[i].name;
	return SV_ABSENT;
}

/* The zone of the host, else the one for all; of several the last given. False when none was. */
static bool zone_by_option(const struct ingest_options *o, struct sv host, struct zone *out)
{
	bool found = false, of_host = false;

	for (size_t i = 0; i < o->zone_count; i++) {
		bool for_all = sv_is_absent(o->zones[i].host);

		if (for_all ? of_host : sv_is_absent(host) || !sv_eq(o->zones[i].host, host))
			continue;
		of_host = !for_all;
		found = true;
		*out = o->zones[i].zone;
	}
	return found;
}

/* ---- what it is ---- */

static struct verdict passed_over(struct sv why, const char *code)
{
	return (struct verdict){ .why = why, .code = code };
}

/* False when they are refused. */
static bool get_rules(const struct ingest_options *o, const struct rules **rules)
{
	*rules = o->rules;
	if (*rules != NULL || o->rules_source.get == NULL)
		return true;
	*rules = o->rules_source.get(o->rules_source.context);
	return *rules != NULL;
}

/*
 * A log may begin with a line that no look ahead holds: what is known by lines is asked again, with more of them.
 * preview: of the first look.
 */
static bool is_log_further(const struct item_context *c, const struct item *item, struct sv preview, const struct rules *rules)
{
	struct sv base_name = base_name_of(item->path), head = stream_head(item->stream);
	const char *why;
	size_t at;

	if (head.n < STREAM_HEAD_BYTES || !noevidence_is_open(preview))
		return false;
	head = stream_head_further(item->stream);
	if (log_kind.sniff(lines_preview(c->input, head), base_name, rules, &why) == SNIFF_MINE)
		return true;
	return head.n == STREAM_FURTHER_BYTES && !lines_are_decoded(head) &&
	       !sv_find_char(sv_sub(head, 0, LINE_BYTES_MAX), '\n', &at) &&
	       log_kind.sniff(stream_head_behind(item->stream), base_name, rules, &why) == SNIFF_MINE;
}

static struct verdict sniff(const struct item_context *c, const struct item *item)
{
	struct sv head = lines_preview(c->input, stream_head(item->stream)), base_name = base_name_of(item->path);
	struct sv text = sv_leading_zeros(head) > 0 ? lines_first_text(c->input, item->stream) : head;
	struct verdict v = { .row = NULL };

	for (size_t i = 0; i < KIND_COUNT; i++) {
		const char *why = "damaged";
		enum sniffed s;

		if (kinds[i].by_rules && v.rules == NULL && !get_rules(c->options, &v.rules))
			return (struct verdict){ .refused = true };
		s = kinds[i].kind->sniff(kinds[i].behind_zeros ? text : head, base_name, v.rules, &why);
		if (s == SNIFF_MINE) {
			v.row = &kinds[i];
			return v;
		}
		if (s == SNIFF_BROKEN)
			return passed_over(arena_copy(c->input, sv_of(why)), "input.damaged");
	}
	if (is_log_further(c, item, head, v.rules)) {
		v.row = row_by_name(log_kind.name);
		return v;
	}
	return passed_over(noevidence_why(head, v.rules, c->input), "input.skipped");
}

static struct verdict named_kind(const struct item_context *c)
{
	struct verdict v = { .row = row_by_name(c->options->as_kind) };

	assert(v.row != NULL);
	if (v.row->by_rules)
		v.refused = !get_rules(c->options, &v.rules);
	return v;
}

static struct verdict judge(const struct item_context *c, const struct item *item)
{
	struct sv head = stream_head(item->stream);

	if (head.n == 0 && stream_is_damaged(item->stream))
		return passed_over(SV("damaged before its first byte"), "input.damaged");
	if (head.n == 0)
		return passed_over(SV("empty"), "input.skipped");
	if (c->options->as_kind != NULL)
		return named_kind(c);
	return sniff(c, item);
}

/* ---- begin to end ---- */

static struct input_info info_of(const struct item *item)
{
	return (struct input_info){ .path = item->path, .digest = item->digest, .size_bytes = item->size_bytes };
}

static void note_repeated(const struct item_context *c, const struct input_info *info, bool compared)
{
	/* The same input once more is what a second run gives it, and nothing to tell. */
	if (sv_eq(info->same_as, info->path))
		return;
	if (compared)
		diag_add(c->diag, SEVERITY_NOTE, "input.repeated", NULL, "passed over: the same bytes as %.*s", SV_ARG(info->same_as));
	else
		diag_add(c->diag, SEVERITY_NOTE, "input.repeated", NULL,
			 "passed over: the size and all samples of %.*s, which is not there any more to be compared",
			 SV_ARG(info->same_as));
}

/* As the sink's begin: 1, 0, -1. From 1 on problems are those of the input. */
static int begin(const struct item_context *c, struct input_info *info, const struct item *item)
{
	enum identity_sameness same = IDENTITY_SAME;
	int rc;

	diag_set_input(c->diag, info->path, 0);
	rc = c->sink->begin(c->sink->context, info);
	if (rc == 0 && item->sampled_fd >= 0)
		same = identity_compare(item->sampled_fd, info->size_bytes, arena_copy(c->input, info->same_as));
	if (same == IDENTITY_DIFFERENT) {
		info->digest = identity_whole(item->sampled_fd, info->size_bytes, c->input);
		same = IDENTITY_SAME;
		rc = c->sink->begin(c->sink->context, info);
	}
	if (rc == 0)
		note_repeated(c, info, same == IDENTITY_SAME);
	if (rc == 1)
		diag_set_input(c->diag, info->path, info->id);
	return rc;
}

static int end(const struct item_context *c, struct input_info *info, const struct item *item)
{
	if (!item->has_size && item->stream != NULL)
		info->size_bytes = stream_position(item->stream);
	if (item->stream != NULL)
		info->lines = stream_lines(item->stream);
	return c->sink->end(c->sink->context, info);
}

/* So that damage which the look ahead has met is told. */
static void read_what_is_left(struct stream *s)
{
	char nowhere[4096];

	if (s == NULL || !stream_is_damaged(s))
		return;
	while (stream_read(s, nowhere, sizeof nowhere) > 0)
		;
}

int item_skip(const struct item_context *c, const struct item *item, const char *code, struct sv why)
{
	struct input_info info = info_of(item);
	bool skipped;
	int rc;

	assert(code != NULL);
	skipped = strcmp(code, "input.skipped") == 0;
	info.kind = SV("skipped");
	info.why_skipped = why;
	rc = begin(c, &info, item);
	if (rc != 1)
		return rc;
	diag_add(c->diag, skipped && !item->named ? SEVERITY_NOTE : SEVERITY_WARNING, code, NULL, "passed over: %.*s",
		 SV_ARG(why));
	read_what_is_left(item->stream);
	return end(c, &info, item);
}

static unsigned threads_for(const struct ingest_options *o)
{
	long cores = o->threads == 0 ? sysconf(_SC_NPROCESSORS_ONLN) : (long)o->threads;

	return cores < 1 ? 1 : cores > INGEST_THREADS_MAX ? INGEST_THREADS_MAX : (unsigned)cores;
}

static struct ingest ingest_of(const struct item_context *c, const struct item *item, const struct rules *rules,
			       struct input_info *info)
{
	struct ingest in = {
		.stream = item->stream,
		.info = info,
		.rules = rules,
		.sink = c->sink->events,
		.diag = c->diag,
		.record = c->record,
		.input = c->input,
		.base_name = base_name_of(item->path),
		.has_modified = item->has_modified,
		.modified = { item->modified_s * US_PER_S },
		.threads = threads_for(c->options),
		.has_near = c->options->has_near,
		.near = c->options->near,
	};

	in.zone_is_option = zone_by_option(c->options, info->host, &in.zone);
	return in;
}

/* It begins as its kind does, and nothing was found in it or said of it: no row was exported, or its line ends are lost. */
static void note_nothing(const struct item_context *c, const struct input_info *info, size_t problems_before)
{
	if (info->records == 0 && info->unrecognized == 0 && diag_count(c->diag) == problems_before)
		diag_add(c->diag, SEVERITY_NOTE, "input.nothing", NULL, "begins as %.*s does, and no record is found in it",
			 SV_ARG(sv_is_absent(info->format) ? info->kind : info->format));
}

static int read_through(const struct item_context *c, const struct item *item, const struct verdict *v)
{
	const struct kind_row *row = v->row;
	struct input_info info = info_of(item);
	struct sv named_host = host_by_option(c->options, arena_strdup(c->input, item->path));
	struct ingest in;
	size_t problems_before;
	int rc;

	info.kind = sv_of(row->kind->name);
	info.host = !sv_is_absent(named_host) ? named_host : row->host_by_path ? last_directory(item->below) : SV_ABSENT;
	rc = begin(c, &info, item);
	if (rc != 1)
		return rc;
	problems_before = diag_count(c->diag);
	in = ingest_of(c, item, v->rules, &info);
	in.host_is_option = !sv_is_absent(named_host);
	if (row->kind->read(&in) != 0) {
		c->sink->abandon(c->sink->context);
		return -1;
	}
	note_nothing(c, &info, problems_before);
	return end(c, &info, item);
}

int item_ingest(const struct item_context *c, const struct item *item)
{
	struct verdict v;

	arena_reset(c->input);
	arena_reset(c->record);
	v = judge(c, item);
	if (v.refused)
		return -1;
	if (v.row == NULL)
		return item_skip(c, item, v.code, v.why);
	return read_through(c, item, &v);
}
