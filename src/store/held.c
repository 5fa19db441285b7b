/* SPDX-License-Identifier: MIT */
/*
 * Which events of a batch the database has already, by their likeness (see
 * store/repeat.h).
 *
 * What is known of the lines of logs stands in tables held and held_lines, a
 * row for the lines of a batch: it says of which times and hosts they are, so
 * that only those are looked through that can be of the same. That is
 * sequential work on few bytes: a table with a row and a key for each line cost
 * twice what the event itself costs.
 */

#include "store/handle.h"

#include <assert.h>
#include <string.h>

#include <sqlite3.h>

#include "base/little.h"

#define LINE_BYTES 16	/* a digest and the line's number */
#define SLOTS (2 * BATCH_EVENTS)
#define FILTER_BITS 65536	/* as many as 16 bits tell apart */

/*
 * The events of the batch by their digests, each in a slot of its own: two of
 * one digest stand behind one another. Of what is held hardly any line is
 * wanted: a bit for each digest, by its highest bits, says so of most.
 */
struct wanted {
	uint64_t bits[FILTER_BITS / 64];
	struct {
		uint64_t digest;
		struct batch_event *event;	/* NULL: free */
	} slots[SLOTS];
};

/* What a row of held says, and what is asked of it. */
struct extent {
	size_t lines;
	int64_t from_us, to_us;
	uint64_t hosts;
};

/* The events of the batch that are repeats. */
struct repeats {
	uint64_t count;
	const struct batch_event *first;	/* NULL: none yet */
	int64_t input;		/* where the first stands already */
	uint64_t number;
};

/* ---- floods ---- */

/* The table of lines alike is large: its slots are fetched so many events before they are used. */
#define EXPECTED_AHEAD 16

static void leave_out_flood(struct store *s, struct batch_event *e)
{
	e->is_left_out = true;
	if (s->flooded++ == 0)
		s->first_flooded = e->place;
}

/* Tells lines alike in this input apart. Effects are kept whatever their number. */
static void count_lines(struct store *s)
{
	for (size_t i = 0; i < s->batch->count; i++) {
		struct batch_event *e = &s->batch->events[i];
		uint64_t before;

		if (i + EXPECTED_AHEAD < s->batch->count)
			latest_expect(&s->lines, e[EXPECTED_AHEAD].likeness.digest);
		if (e->likeness.kind != LIKENESS_LINE)
			continue;
		before = latest_times_before(&s->lines, e->likeness.digest);
		if (before >= REPEAT_FLOOD && event_infos[e->type].side != SIDE_BUSINESS)
			leave_out_flood(s, e);
		e->likeness.digest = repeat_digest_behind(e->likeness.digest, before);
	}
}

/* ---- repeats ---- */

static void leave_out_repeat(struct batch_event *e, int64_t input, uint64_t number, struct repeats *r)
{
	e->is_left_out = true;
	r->count++;
	if (r->first != NULL && r->first < e)
		return;
	r->first = e;
	r->input = input;
	r->number = number;
}

static uint64_t *filter_word(struct wanted *w, uint64_t digest)
{
	return &w->bits[digest >> 48 >> 6];
}

static uint64_t filter_bit(uint64_t digest)
{
	return UINT64_C(1) << (digest >> 48 & 63);
}

/* Of entries that a collector gave an id the second is a repeat in the same input, too. */
static void want(struct store *s, struct wanted *w, struct batch_event *e, struct repeats *r)
{
	size_t at = e->likeness.digest % SLOTS;

	for (; w->slots[at].event != NULL; at = (at + 1) % SLOTS) {
		if (w->slots[at].digest != e->likeness.digest || e->likeness.kind != LIKENESS_ID)
			continue;
		leave_out_repeat(e, s->input, w->slots[at].event->place.number, r);
		return;
	}
	w->slots[at].digest = e->likeness.digest;
	w->slots[at].event = e;
	*filter_word(w, e->likeness.digest) |= filter_bit(e->likeness.digest);
}

static struct wanted *want_all(struct store *s, struct arena *a, struct repeats *r)
{
	struct wanted *w = arena_alloc(a, sizeof *w);

	for (size_t i = 0; i < s->batch->count; i++) {
		struct batch_event *e = &s->batch->events[i];

		if (e->likeness.kind != LIKENESS_NONE && !e->is_left_out)
			want(s, w, e, r);
	}
	return w;
}

static void compare(struct wanted *w, const unsigned char *lines, size_t n, int64_t input, struct repeats *r)
{
	for (size_t i = 0; i < n; i++, lines += LINE_BYTES) {
		uint64_t digest = little_get64(lines);

		if ((*filter_word(w, digest) & filter_bit(digest)) == 0)
			continue;
		for (size_t at = digest % SLOTS; w->slots[at].event != NULL; at = (at + 1) % SLOTS) {
			if (w->slots[at].digest == digest && !w->slots[at].event->is_left_out)
				leave_out_repeat(w->slots[at].event, input, little_get64(lines + 8), r);
		}
	}
}

/* The extent of the batch's events that are not left out. */
static struct extent extent_of(const struct batch *b, enum likeness_kind kind)
{
	struct extent x = { .from_us = INT64_MAX, .to_us = INT64_MIN };

	for (size_t i = 0; i < b->count; i++) {
		const struct batch_event *e = &b->events[i];

		if (e->likeness.kind != kind || e->is_left_out)
			continue;
		x.lines++;
		x.hosts |= e->host_bit;
		x.from_us = e->time.us < x.from_us ? e->time.us : x.from_us;
		x.to_us = e->time.us > x.to_us ? e->time.us : x.to_us;
	}
	return x;
}

/*
 * All that may hold an event of the batch. Lines of the input in progress are
 * so far apart there that they were forgotten: they are two still. Entries with
 * an id may stand in any export, whatever its times.
 */
static struct sqlite3_stmt *find_held(struct store *s, const struct extent *lines, const struct extent *ids)
{
	static const char sql[] =
		"SELECT input, lines FROM held CROSS JOIN held_lines ON held_lines.id = held.id"
		" WHERE CASE WHEN by_id THEN ?1 ELSE from_us <= ?2 AND to_us >= ?3 AND (hosts & ?4) <> 0 AND input <> ?5 END"
		" ORDER BY held.id";
	struct sqlite3_stmt *find = store_statement(s, STATEMENT_FIND_HELD, sql);
	int64_t hosts;

	if (find == NULL)
		return NULL;
	memcpy(&hosts, &lines->hosts, sizeof hosts);
	sqlite3_bind_int64(find, 1, ids->lines > 0);
	sqlite3_bind_int64(find, 2, lines->to_us);
	sqlite3_bind_int64(find, 3, lines->from_us);
	sqlite3_bind_int64(find, 4, hosts);
	sqlite3_bind_int64(find, 5, s->input);
	return find;
}

static int leave_out_repeats(struct store *s, struct arena *a, struct repeats *r)
{
	struct extent lines = extent_of(s->batch, LIKENESS_LINE), ids = extent_of(s->batch, LIKENESS_ID);
	/* Made when something is to be compared: most logs are alone with their host and time. */
	struct wanted *w = ids.lines > 0 ? want_all(s, a, r) : NULL;
	struct sqlite3_stmt *find;
	int result;

	if (lines.lines == 0 && ids.lines == 0)
		return 0;
	find = find_held(s, &lines, &ids);
	if (find == NULL)
		return -1;
	while ((result = sqlite3_step(find)) == SQLITE_ROW) {
		const unsigned char *held = sqlite3_column_blob(find, 1);

		if (w == NULL)
			w = want_all(s, a, r);
		compare(w, held, (size_t)sqlite3_column_bytes(find, 1) / LINE_BYTES, sqlite3_column_int64(find, 0), r);
	}
	result = result == SQLITE_DONE ? 0 : store_fail(s, "read");
	sqlite3_reset(find);
	return result;
}

/* Where the first of the input's repeats stands already, in words. */
static int note_first(struct store *s, const struct repeats *r)
{
	struct sqlite3_stmt *statement = NULL;
	int rc = 0;

	if (store_prepare(s, "SELECT path FROM input WHERE id = ?", &statement) < 0)
		return -1;
	sqlite3_bind_int64(statement, 1, r->input);
	if (sqlite3_step(statement) == SQLITE_ROW) {
		s->first_repeated = r->first->place;
		s->first_held = arena_printf(s->arena, "line %llu of %.*s", (unsigned long long)r->number,
					     SV_ARG(store_column_text(statement, 0)));
	} else {
		rc = store_fail(s, "read");
	}
	sqlite3_finalize(statement);
	return rc;
}

static int note_repeats(struct store *s, const struct repeats *r)
{
	if (r->first == NULL)
		return 0;
	if (s->repeated == 0 && note_first(s, r) < 0)
		return -1;
	s->repeated += r->count;
	return 0;
}

/* ---- keeping ---- */

static unsigned char *write_lines(const struct batch *b, enum likeness_kind kind, size_t n, struct arena *a)
{
	unsigned char *bytes = arena_array(a, n, LINE_BYTES), *out = bytes;

	for (size_t i = 0; i < b->count; i++) {
		const struct batch_event *e = &b->events[i];

		if (e->likeness.kind != kind || e->is_left_out)
			continue;
		little_put64(out, e->likeness.digest);
		little_put64(out + 8, e->place.number);
		out += LINE_BYTES;
	}
	return bytes;
}

static int put_held(struct store *s, enum likeness_kind kind, const struct extent *x)
{
	static const char sql[] = "INSERT INTO held (input, by_id, from_us, to_us, hosts) VALUES (?, ?, ?, ?, ?)";
	struct sqlite3_stmt *put = store_statement(s, STATEMENT_PUT_HELD, sql);
	int64_t hosts;

	if (put == NULL)
		return -1;
	memcpy(&hosts, &x->hosts, sizeof hosts);
	sqlite3_bind_int64(put, 1, s->input);
	sqlite3_bind_int64(put, 2, kind == LIKENESS_ID);
	sqlite3_bind_int64(put, 3, x->from_us);
	sqlite3_bind_int64(put, 4, x->to_us);
	sqlite3_bind_int64(put, 5, hosts);
	return store_run_kept(s, put, "write");
}

static int keep(struct store *s, enum likeness_kind kind, struct arena *a)
{
	static const char sql[] = "INSERT INTO held_lines (id, lines) VALUES (last_insert_rowid(), ?)";
	const struct extent x = extent_of(s->batch, kind);
	struct sqlite3_stmt *put;

	if (x.lines == 0)
		return 0;
	if (put_held(s, kind, &x) < 0 || (put = store_statement(s, STATEMENT_PUT_HELD_LINES, sql)) == NULL)
		return -1;
	sqlite3_bind_blob64(put, 1, write_lines(s->batch, kind, x.lines, a), x.lines * LINE_BYTES, SQLITE_STATIC);
	return store_run_kept(s, put, "write");
}

int held_sort_out(struct store *s)
{
	struct arena *scratch = arena_new();
	struct repeats r = { .first = NULL };
	int rc;

	assert(s->input != 0);
	count_lines(s);
	rc = leave_out_repeats(s, scratch, &r) < 0 || note_repeats(s, &r) < 0 || keep(s, LIKENESS_LINE, scratch) < 0 ||
			     keep(s, LIKENESS_ID, scratch) < 0
		     ? -1 : 0;
	arena_free(scratch);
	return rc;
}
