/* SPDX-License-Identifier: MIT */
/* From lines to records through their wrappers. See input/log/unwrap.h. */

#include "input/log/unwrap.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/latest.h"
#include "base/memory.h"
#include "input/log/colours.h"
#include "input/log/marks.h"
#include "input/log/object_lines.h"
#include "input/log/seen.h"

/* docker splits lines there: a shorter piece without an end is the last of its writer, or of an export that drops ends. */
#define DOCKER_PIECE_BYTES 16384

/* Longer names of writers are told apart by their first bytes. */
#define KEY_BYTES 512

/* What the layers around a text have said so far, and where it stands. */
struct around {
	const char *wrapper;
	bool has_time, prompt;
	struct tstamp time;
	struct sv host, writer;
	uint64_t id;		/* digest; 0: none */
	struct sv written;	/* the line of the file */
	uint64_t number, byte_offset;
	bool second, unended;
	/* For struct unwrap_way. */
	bool is_roundabout;	/* not straight */
	bool has_pieces;	/* the innermost layer has, and what is pending is its writer's */
	enum wrap_quick last;
	struct wrap_members members;
	size_t number_bytes, number_behind;
	struct sv time_text, time_layout;
};

/* The text of a line as written, and of what was around it; kept until its record is complete. */
struct kept {
	char *bytes;		/* RECORD_BYTES_MAX */
	struct around around;
};

struct key {
	char bytes[KEY_BYTES];
	size_t n, host_n;	/* the host stands first */
};

struct writer {
	bool used;
	struct key key;
	uint64_t serial, last_line;
	struct joiner *joiner;
	uint64_t orphans;	/* the joiner's, when last asked */
	bool begun;		/* the joiner has a record in the making, that of kept */
	bool laid;		/* a layout has fitted: lines that none fits continue records */
	int layout_hint;
	struct kept kept;
	/* A record by the wrapper's time alone. */
	bool bare;
	char *bare_bytes;	/* RECORD_BYTES_MAX */
	size_t bare_n;
	struct joined bare_joined;
};

/* Pieces of a line that has not ended, or lines of an object that has not. */
struct pending {
	bool used, busy, said;
	bool is_object;
	size_t depth;		/* braces that are open */
	struct key key;
	uint64_t last_line;
	char *bytes;		/* RECORD_BYTES_MAX */
	size_t n;
	bool cut;
	unsigned layers;	/* that were peeled before */
	struct kept kept;
};

struct unwrap {
	const struct rules *rules;
	struct zone zone;
	struct unwrap_sink sink;
	struct wrap_memory memory;
	struct writer writers[UNWRAP_WRITERS_MAX];
	struct writer *last;
	uint64_t serial;
	uint64_t orphans;	/* of writers that gave up their place */
	struct pending pending[UNWRAP_WRITERS_MAX];
	size_t open_objects;	/* among them */
	size_t pending_count;	/* in use */
	bool ends_seen;		/* lines of this file end */
	struct latest ids;	/* of entries, by their digests */
	uint64_t repeats;
	uint64_t noise;
	struct place first_noise;
	uint64_t asked;		/* the digest of an id of the next line, which was asked for already; 0: none */
	bool is_late;		/* the ids of the line were */
	struct unwrap_way way;
	struct wrap_members way_members;
};

static char *bytes_once(char **bytes)
{
	if (*bytes == NULL)
		*bytes = memory_checked(malloc(RECORD_BYTES_MAX));
	return *bytes;
}

/* ---- keys ---- */

static void key_add(struct key *k, struct sv s)
{
	s = sv_sub(s, 0, KEY_BYTES - k->n);
	if (s.n > 0)
		memcpy(k->bytes + k->n, s.p, s.n);
	k->n += s.n;
}

static struct key key_of(const struct around *a)
{
	struct key k = { .n = 0 };

	key_add(&k, sv_sub(a->host, 0, KEY_BYTES / 2));
	k.host_n = k.n;
	key_add(&k, (struct sv){ "\n", 1 });
	key_add(&k, a->writer);
	/* What names nobody is of the one writer that the file itself is. */
	if (sv_is_absent(a->host) && sv_is_absent(a->writer))
		k.n = 0;
	return k;
}

static bool key_eq(const struct key *a, const struct key *b)
{
	return a->n == b->n && a->host_n == b->host_n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

/* Keeps what is around a record beyond the line that it stands in. */
static void keep(struct kept *k, const struct around *a)
{
	k->around = *a;
	k->around.host = k->around.writer = k->around.written = k->around.time_text = SV_ABSENT;
	/* A line without wrapper is the record's own first line. */
	if (a->wrapper == NULL || a->written.n == 0)
		return;
	k->around.written = sv_sub(a->written, 0, RECORD_BYTES_MAX);
	k->around.written.p = memcpy(bytes_once(&k->bytes), a->written.p, k->around.written.n);
}

/* ---- records ---- */

static int put(struct unwrap *u, const struct writer *w, const struct joined *joined)
{
	const struct around *a = &w->kept.around;
	struct unwrapped out = {
		.joined = *joined,
		.wrapper = a->wrapper,
		.has_time = a->has_time,
		.time = a->time,
		.prompt = a->prompt,
		.host = w->key.host_n > 0 ? (struct sv){ w->key.bytes, w->key.host_n } : SV_ABSENT,
		.id = a->id,
		.writer = (size_t)(w - u->writers),
		.serial = w->serial,
		.second = a->second,
		.unended = a->unended,
	};

	if (a->wrapper != NULL)
		out.joined.text = a->written;
	return u->sink.put(u->sink.context, &out);
}

static int end_bare(struct unwrap *u, struct writer *w)
{
	if (!w->bare)
		return 0;
	w->bare = false;
	return put(u, w, &w->bare_joined);
}

static int end_writer(struct unwrap *u, struct writer *w)
{
	struct joined joined;

	if (end_bare(u, w) != 0)
		return -1;
	if (w->joiner == NULL || !joiner_end(w->joiner, &joined))
		return 0;
	w->begun = false;
	return put(u, w, &joined);
}

/* ---- writers ---- */

static struct writer *silent_longest(struct unwrap *u)
{
	struct writer *found = &u->writers[0];

	for (size_t i = 0; i < UNWRAP_WRITERS_MAX; i++) {
		if (!u->writers[i].used)
			return &u->writers[i];
		if (u->writers[i].last_line < found->last_line)
			found = &u->writers[i];
	}
	return found;
}

/* NULL when the sink ended the reading. */
static struct writer *begin_writer(struct unwrap *u, const struct key *k)
{
	struct writer *w = silent_longest(u);
	char *kept_bytes, *bare_bytes;

	if (w->used && end_writer(u, w) != 0)
		return NULL;
	if (w->joiner != NULL)
		u->orphans += joiner_orphans(w->joiner);
	joiner_free(w->joiner);
	kept_bytes = w->kept.bytes;
	bare_bytes = w->bare_bytes;
	*w = (struct writer){ .used = true, .key = *k, .serial = ++u->serial, .layout_hint = -1 };
	w->kept.bytes = kept_bytes;
	w->bare_bytes = bare_bytes;
	w->joiner = joiner_new(u->rules, u->zone);
	return w;
}

static struct writer *writer_of(struct unwrap *u, const struct around *a)
{
	struct key k = key_of(a);

	if (u->last != NULL && key_eq(&u->last->key, &k))
		return u->last;
	for (size_t i = 0; i < UNWRAP_WRITERS_MAX; i++)
		if (u->writers[i].used && key_eq(&u->writers[i].key, &k))
			return &u->writers[i];
	return begin_writer(u, &k);
}

/* ---- lines of a writer ---- */

static int add_to_joiner(struct unwrap *u, struct writer *w, struct sv line, const struct around *a)
{
	struct joined joined;

	if (joiner_add(w->joiner, line, a->number, a->byte_offset, &joined)) {
		if (put(u, w, &joined) != 0)
			return -1;
	} else if (w->begun || joiner_orphans(w->joiner) != w->orphans) {
		w->orphans = joiner_orphans(w->joiner);
		return 0;
	}
	w->begun = true;
	keep(&w->kept, a);
	return 0;
}

static void begin_bare(struct writer *w, struct sv line, const struct around *a)
{
	char *bytes = bytes_once(&w->bare_bytes);
	struct sv text = sv_sub(line, 0, RECORD_BYTES_MAX);

	if (text.n > 0)
		memcpy(bytes, text.p, text.n);
	text.p = bytes;
	w->bare = true;
	w->bare_n = text.n;
	w->bare_joined = (struct joined){
		.record = { .layout = a->wrapper, .body = text },
		.text = text,
		.line = a->number,
		.byte_offset = a->byte_offset,
		.cut = text.n < line.n,
	};
	keep(&w->kept, a);
}

static void continue_bare(struct writer *w, struct sv line)
{
	struct sv *more = &w->bare_joined.record.more;

	if (w->bare_joined.cut || w->bare_n + 1 + line.n > RECORD_BYTES_MAX) {
		w->bare_joined.cut = true;
		return;
	}
	w->bare_bytes[w->bare_n++] = '\n';
	if (sv_is_absent(*more))
		*more = (struct sv){ w->bare_bytes + w->bare_n, 0 };
	if (line.n > 0)
		memcpy(w->bare_bytes + w->bare_n, line.p, line.n);
	w->bare_n += line.n;
	more->n = (size_t)(w->bare_bytes + w->bare_n - more->p);
}

/* What stands below a record by its looks: a trace, a block, a blank line. */
static bool looks_continued(struct sv line)
{
	return line.n == 0 || line.p[0] == ' ' || line.p[0] == '\t' || sv_starts_with(line, SV("Caused by: "));
}

/*
 * Until a layout fits, lines with a time of their wrapper are records by
 * themselves: a kernel's, or a program's whose layout is the message alone.
 * first: the line stands right behind the wrapper.
 */
static int add_line(struct unwrap *u, struct writer *w, struct sv line, const struct around *a, bool first)
{
	struct log_record record;

	if (w->laid || (!a->has_time && !w->bare))
		return add_to_joiner(u, w, line, a);
	if (rules_layout(u->rules, line, u->zone, &w->layout_hint, u->memory.record, &record)) {
		w->laid = true;
		return end_bare(u, w) != 0 ? -1 : add_to_joiner(u, w, line, a);
	}
	if (w->bare && (!first || looks_continued(line))) {
		continue_bare(w, line);
		return 0;
	}
	if (looks_continued(line))
		return add_to_joiner(u, w, line, a);
	if (end_bare(u, w) != 0)
		return -1;
	begin_bare(w, line, a);
	return 0;
}

/* What is told of the way that the line went, by what was around its text. */
static void note_way(struct unwrap *u, const struct writer *w, struct sv text, const struct around *a)
{
	size_t feed;

	u->way_members = a->members;
	u->way = (struct unwrap_way){
		.is_straight = !a->is_roundabout && !a->second && !a->unended && !sv_find_char(text, '\n', &feed),
		.last = a->last,
		.members = &u->way_members,
		.id = a->id,
		.number_bytes = a->number_bytes,
		.number_behind = a->number_behind,
		.text = text,
		.time_text = a->time_text,
		.time_layout = a->time_layout,
		.has_time = a->has_time,
		.prompt = a->prompt,
		.time = a->time,
		.has_wrapper = a->wrapper != NULL,
		.writer = (size_t)(w - u->writers),
		.serial = w->serial,
		.host = w->key.host_n > 0 ? (struct sv){ w->key.bytes, w->key.host_n } : SV_ABSENT,
	};
}

/* A wrapper may hold several lines at once: a message with its trace. */
static int add_lines(struct unwrap *u, struct sv text, const struct around *a)
{
	bool continues = a->wrapper == NULL && u->last != NULL && u->last->key.n > 0 && looks_continued(text);
	struct writer *w = continues ? u->last : writer_of(u, a);
	bool first = !continues;

	if (w == NULL)
		return -1;
	u->last = w;
	w->last_line = a->number;
	note_way(u, w, text, a);
	u->way.is_straight &= !continues;
	while (!sv_is_absent(text)) {
		struct sv line = sv_cut(&text, '\n');

		if (sv_ends_with(line, SV("\r")))
			line.n--;
		if (add_line(u, w, line, a, first) != 0)
			return -1;
		first = false;
	}
	return 0;
}

/* ---- pieces ---- */

static int peel(struct unwrap *u, struct sv text, struct around a, unsigned layers);

static struct pending *pending_of(struct unwrap *u, const struct key *k, bool is_object)
{
	for (size_t i = 0; i < UNWRAP_WRITERS_MAX; i++) {
		struct pending *p = &u->pending[i];

		if (p->used && !p->busy && p->is_object == is_object && key_eq(&p->key, k))
			return p;
	}
	return NULL;
}

static void add_piece(struct pending *p, struct sv text)
{
	size_t room = RECORD_BYTES_MAX - p->n;
	struct sv piece = sv_sub(text, 0, room);

	p->cut = p->cut || piece.n < text.n;
	if (piece.n > 0)
		memcpy(p->bytes + p->n, piece.p, piece.n);
	p->n += piece.n;
}

/* The line is what there is of it. */
static int end_pending(struct unwrap *u, struct pending *p, bool ended)
{
	struct around a = p->kept.around;
	struct sv text = { p->bytes, p->n };
	int rc;

	a.unended = a.unended || p->cut || (!ended && p->said);
	a.is_roundabout = true;
	u->open_objects -= p->is_object;
	/* The names were those of the key; they live on while it is busy. */
	a.host = p->key.host_n > 0 ? (struct sv){ p->key.bytes, p->key.host_n } : SV_ABSENT;
	a.writer = p->key.n > 0 ? sv_sub((struct sv){ p->key.bytes, p->key.n }, p->key.host_n + 1, p->key.n) : SV_ABSENT;
	p->busy = true;
	/* An object that never ended is the lines that it was. */
	rc = p->is_object && !ended ? add_lines(u, text, &a) : peel(u, text, a, p->layers);
	p->busy = p->used = p->is_object = false;
	u->pending_count--;
	return rc;
}

/* A place for the pieces of one more line: NULL when all are in use by the callers. */
static struct pending *free_pending(struct unwrap *u)
{
	struct pending *found = NULL;

	for (size_t i = 0; i < UNWRAP_WRITERS_MAX; i++) {
		struct pending *p = &u->pending[i];

		if (p->busy)
			continue;
		if (!p->used)
			return p;
		if (found == NULL || p->last_line < found->last_line)
			found = p;
	}
	return found;
}

static void begin_pending(struct unwrap *u, struct pending *p, const struct key *k, const struct around *a, unsigned layers)
{
	p->used = true;
	u->pending_count++;
	p->said = p->cut = false;
	p->key = *k;
	p->n = 0;
	p->layers = layers;
	(void)bytes_once(&p->bytes);
	keep(&p->kept, a);
}

/* Whether the text goes on from what is pending. */
static bool goes_on(const struct unwrap *u, const struct pending *p, const struct wrap_layer *layer)
{
	return p->said || u->ends_seen || layer->piece == WRAP_LAST || p->n >= DOCKER_PIECE_BYTES;
}

/* layers are those that were peeled to here. */
static int take_piece(struct unwrap *u, const struct wrap_layer *layer, struct around *a, unsigned layers)
{
	struct key k = key_of(a);
	struct pending *p = pending_of(u, &k, false);

	if (p != NULL && !goes_on(u, p, layer)) {
		if (end_pending(u, p, true) != 0)
			return -1;
		p = NULL;
	}
	u->ends_seen = u->ends_seen || layer->piece == WRAP_LAST;
	if (p == NULL) {
		if (layer->piece != WRAP_LAST)
			p = free_pending(u);
		if (p == NULL)
			return peel(u, layer->text, *a, layers);
		if (p->used && end_pending(u, p, false) != 0)
			return -1;
		begin_pending(u, p, &k, a, layers);
	}
	add_piece(p, layer->text);
	p->said = layer->piece == WRAP_OPEN;
	p->last_line = a->number;
	return layer->piece == WRAP_LAST ? end_pending(u, p, true) : 0;
}

/* ---- objects over several lines ---- */

static int begin_object(struct unwrap *u, struct sv line, struct around *a, unsigned layers, size_t depth)
{
	struct key k = key_of(a);
	struct pending *p = free_pending(u);

	if (p == NULL)
		return add_lines(u, line, a);
	if (p->used && end_pending(u, p, false) != 0)
		return -1;
	begin_pending(u, p, &k, a, layers);
	p->is_object = true;
	p->depth = depth;
	p->last_line = a->number;
	u->open_objects++;
	add_piece(p, line);
	return 0;
}

static int take_text(struct unwrap *u, struct sv text, struct around *a, unsigned layers);

/* One more line; the object is read as one line when its last brace is closed. */
static int continue_object(struct unwrap *u, struct pending *p, struct sv line, struct around *a, unsigned layers)
{
	bool goes_on = object_lines_may_go_on(line) && p->n + 1 + line.n <= RECORD_BYTES_MAX;

	if (!goes_on || !object_lines_scan(line, &p->depth))
		return end_pending(u, p, false) != 0 ? -1 : take_text(u, line, a, layers);
	add_piece(p, SV("\n"));
	add_piece(p, line);
	p->last_line = a->number;
	if (p->depth > 0)
		return 0;
	object_lines_join(p->bytes, p->n);
	return end_pending(u, p, true);
}

/* A text without another layer. */
static int take_text(struct unwrap *u, struct sv text, struct around *a, unsigned layers)
{
	size_t depth;

	if (u->open_objects > 0) {
		struct key k = key_of(a);
		struct pending *p = pending_of(u, &k, true);

		if (p != NULL)
			return continue_object(u, p, text, a, layers);
	}
	if (object_lines_are_whole(text)) {
		char *line = arena_strdup(u->memory.record, text);

		object_lines_join(line, text.n);
		a->is_roundabout = true;
		return peel(u, (struct sv){ line, text.n }, *a, layers);
	}
	return object_lines_open(text, &depth) ? begin_object(u, text, a, layers, depth) : add_lines(u, text, a);
}

/* ---- layers ---- */

static bool says_more(const struct tstamp *inner, const struct tstamp *outer)
{
	if (inner->lacks != outer->lacks)
		return inner->lacks < outer->lacks;
	return inner->zoned || !outer->zoned;
}

/* What decides about a layer must stand before the next, and of two times it is not clear which counts. A line is counted once. */
static void note_quick(struct around *a, const struct wrap_layer *layer)
{
	if (layer->quick == WRAP_TAKEN_OFF)
		return;
	a->is_roundabout |= layer->quick == WRAP_SLOW || (a->last != WRAP_SLOW && a->last != WRAP_BY_PREFIX) || (layer->has_time && a->has_time) ||
			    (layer->number_bytes > 0 && a->number_bytes > 0) || (layer->quick == WRAP_BY_OBJECT && a->last != WRAP_SLOW) ||
			    a->has_pieces;
	if (layer->number_bytes > 0) {
		a->number_bytes = layer->number_bytes;
		a->number_behind = 1 + layer->text.n;
	}
	a->has_pieces = layer->piece != WRAP_WHOLE;
	a->last = layer->quick;
	a->members = layer->members;
}

/* What the inner layer says outweighs the outer, where it says as much. */
static void put_around(struct around *a, const struct wrap_layer *layer, struct arena *arena)
{
	a->wrapper = layer->name;
	note_quick(a, layer);
	if (layer->has_time) {
		a->time_text = layer->time_text;
		a->time_layout = layer->time_layout;
	}
	if (layer->has_time && (!a->has_time || says_more(&layer->time, &a->time))) {
		a->has_time = true;
		a->time = layer->time;
		a->prompt = layer->prompt;
	}
	if (!sv_is_absent(layer->id))
		a->id = seen_digest(sv_of(layer->name), layer->id);
	if (!sv_is_absent(layer->host))
		a->host = layer->host;
	if (!sv_is_absent(layer->writer))
		a->writer = sv_is_absent(a->writer) ? layer->writer
						    : arena_printf(arena, "%.*s %.*s", SV_ARG(a->writer), SV_ARG(layer->writer));
}

static bool is_repeat(struct unwrap *u, uint64_t id)
{
	if (u->is_late || id == u->asked || latest_times_before(&u->ids, id) == 0)
		return false;
	u->repeats++;
	return true;
}

/* Goes on with what is inside a layer, unless the same entry has come before. layers are those that were peeled to here. */
static int take_layer(struct unwrap *u, const struct wrap_layer *layer, struct around a, unsigned layers)
{
	put_around(&a, layer, u->memory.record);
	/* A line with colours has one layer more than others like it: there must be room for it in both. */
	a.is_roundabout |= layers + 2 >= WRAP_LAYERS_MAX;
	if (!sv_is_absent(layer->id) && is_repeat(u, a.id))
		return 0;
	if (layer->piece == WRAP_WHOLE)
		return peel(u, layer->text, a, layers + 1);
	return take_piece(u, layer, &a, layers + 1);
}

/* One record, or what is left of the line. */
static int peel_record(struct unwrap *u, struct sv text, struct around a, unsigned layers)
{
	struct wrap_layer layer;

	if (layers >= WRAP_LAYERS_MAX || !wrap_peel(text, &u->memory, &layer))
		return take_text(u, text, &a, layers);
	return take_layer(u, &layer, a, layers);
}

static int peel(struct unwrap *u, struct sv text, struct around a, unsigned layers)
{
	/* What stands before a record that is quoted is not seen before colours are off. */
	size_t n = colours_in(text) ? text.n : wrap_first_record(text);

	while (n < text.n) {
		if (peel_record(u, sv_sub(text, 0, n), a, layers) != 0)
			return -1;
		text = sv_sub(text, n, text.n);
		a.second = true;
		n = wrap_first_record(text);
	}
	return peel_record(u, text, a, layers);
}

/* ---- the whole ---- */

struct unwrap *unwrap_new(const struct rules *r, struct zone z, struct unwrap_sink sink)
{
	struct unwrap *u = memory_checked(calloc(1, sizeof *u));

	u->rules = r;
	u->zone = z;
	u->sink = sink;
	u->memory.input = arena_new();
	u->memory.record = arena_new();
	return u;
}

static struct around around_line(const struct line *line, struct sv written)
{
	return (struct around){ .written = written, .number = line->number, .byte_offset = line->byte_offset, .unended = line->cut };
}

/* ---- noise ---- */

static bool has_noise(struct sv text)
{
	for (size_t i = 0; i < text.n; i++)
		if (marks_is_noise(text.p[i]))
			return true;
	return false;
}

static bool begins_record(struct sv text)
{
	return wrap_stamp_begins(text) || sv_starts_with(text, SV("{\""));
}

/*
 * Where a record begins that noise was joined to, in front. The length when none does: zeros alone are a layer that is
 * peeled, and what stands before noise may be a record too.
 */
static size_t behind_noise(struct sv text)
{
	const size_t zeros = sv_leading_zeros(text);
	bool noisy = zeros > 0;

	if (begins_record(sv_sub(text, zeros, text.n)))
		return text.n;
	for (size_t i = zeros + 1; i < text.n; i++) {
		const char before = text.p[i - 1];

		noisy = noisy || marks_is_noise(before);
		if (noisy && !cursor_is_digit(before) && before != '[' && !wrap_may_quote(before) &&
		    begins_record(sv_sub(text, i, text.n)))
			return i;
	}
	return text.n;
}

/* Zeros behind a record are no part of it, nor is noise before one; what is left of noise stays text. Each such line is told of. */
static int add_noisy(struct unwrap *u, const struct line *line, struct around a)
{
	struct sv text = line->text;
	size_t at;

	if (u->noise++ == 0)
		u->first_noise = (struct place){ .unit = PLACE_LINE, .number = line->number, .byte_offset = line->byte_offset };
	while (text.n > 0 && marks_is_noise(text.p[text.n - 1]))
		text.n--;
	at = behind_noise(text);
	if (at < text.n) {
		if (peel(u, sv_sub(text, 0, at), a, 0) != 0)
			return -1;
		text = sv_sub(text, at, text.n);
	}
	return peel(u, text, a, 0);
}

static int add_text(struct unwrap *u, const struct line *line, struct around a)
{
	return has_noise(line->text) ? add_noisy(u, line, a) : peel(u, line->text, a, 0);
}

static int add(struct unwrap *u, const struct line *line)
{
	const struct around a = around_line(line, line->text);

	arena_reset(u->memory.record);
	u->way.is_straight = false;
	return add_text(u, line, a);
}

int unwrap_add(struct unwrap *u, const struct line *line)
{
	int rc = add(u, line);

	u->asked = 0;
	return rc;
}

int unwrap_add_piece(struct unwrap *u, const struct log_piece *p)
{
	struct around a = around_line(&p->line, sv_is_absent(p->written) ? p->line.text : p->written);

	arena_reset(u->memory.record);
	return p->is_peeled ? take_layer(u, &p->layer, a, 0) : add_text(u, &p->line, a);
}

int unwrap_end(struct unwrap *u)
{
	for (size_t i = 0; i < UNWRAP_WRITERS_MAX; i++)
		if (u->pending[i].used && end_pending(u, &u->pending[i], false) != 0)
			return -1;
	for (size_t i = 0; i < UNWRAP_WRITERS_MAX; i++)
		if (u->writers[i].used && end_writer(u, &u->writers[i]) != 0)
			return -1;
	return 0;
}

bool unwrap_own(const struct unwrap *u, size_t *writer, uint64_t *serial)
{
	for (size_t i = 0; i < UNWRAP_WRITERS_MAX; i++) {
		if (!u->writers[i].used || u->writers[i].key.n > 0)
			continue;
		*writer = i;
		*serial = u->writers[i].serial;
		return true;
	}
	return false;
}

int unwrap_end_own(struct unwrap *u)
{
	struct writer *w;
	uint64_t serial;
	size_t own;

	/* An object that the writer has begun ends where a record does. */
	for (size_t i = 0; u->open_objects > 0 && i < UNWRAP_WRITERS_MAX; i++) {
		struct pending *p = &u->pending[i];

		if (p->used && p->is_object && p->key.n == 0 && end_pending(u, p, false) != 0)
			return -1;
	}
	if (!unwrap_own(u, &own, &serial))
		return 0;
	w = &u->writers[own];
	/* What was taken elsewhere is a record that a layout fits: add_line would have seen it. */
	w->laid = w->laid || w->bare;
	return end_writer(u, w);
}

bool unwrap_passed(struct unwrap *u, uint64_t line, int layout_hint, size_t *writer, uint64_t *serial)
{
	if (!unwrap_own(u, writer, serial))
		return false;
	unwrap_pass(u, *writer, line);
	joiner_expect(u->last->joiner, layout_hint);
	return true;
}

/* ---- lines that were taken elsewhere ---- */

const struct unwrap_way *unwrap_last_way(const struct unwrap *u)
{
	return &u->way;
}

/* Pieces of its last line, or an object that has not ended. */
static bool has_pending(const struct unwrap *u, const struct key *k)
{
	for (size_t i = 0; i < UNWRAP_WRITERS_MAX && u->pending_count > 0; i++)
		if (u->pending[i].used && key_eq(&u->pending[i].key, k))
			return true;
	return false;
}

bool unwrap_is_ready(const struct unwrap *u, size_t writer, uint64_t serial, bool has_time)
{
	const struct writer *w = &u->writers[writer];

	/* Until a layout fits it is asked of each line (add_line). */
	return w->serial == serial && (w->laid || (!has_time && !w->bare)) && !has_pending(u, &w->key);
}

int unwrap_add_late(struct unwrap *u, size_t writer, const struct line *line)
{
	struct writer *last = u->last, *w = &u->writers[writer];
	const uint64_t last_line = w->last_line;
	int rc;

	/* A line without a wrapper may go on with the last of any writer: it was this one's (add_lines). */
	u->last = w;
	u->is_late = true;
	rc = add(u, line);
	u->is_late = false;
	u->last = last;
	w->last_line = last_line;
	return rc;
}

bool unwrap_wrote_last(const struct unwrap *u, size_t writer)
{
	return u->last == &u->writers[writer];
}

bool unwrap_is_repeat(struct unwrap *u, uint64_t id)
{
	u->asked = 0;
	if (is_repeat(u, id))
		return true;
	u->asked = id;
	return false;
}

void unwrap_pass(struct unwrap *u, size_t writer, uint64_t line)
{
	u->asked = 0;
	u->last = &u->writers[writer];
	u->last->last_line = line;
}

int unwrap_pass_record(struct unwrap *u, size_t writer, uint64_t line, int layout_hint)
{
	struct writer *w = &u->writers[writer];

	unwrap_pass(u, writer, line);
	if ((w->begun || w->bare) && end_writer(u, w) != 0)
		return -1;
	joiner_expect(w->joiner, layout_hint);
	return 0;
}

uint64_t unwrap_orphans(const struct unwrap *u)
{
	uint64_t n = u->orphans;

	for (size_t i = 0; i < UNWRAP_WRITERS_MAX; i++)
		if (u->writers[i].used)
			n += joiner_orphans(u->writers[i].joiner);
	return n;
}

uint64_t unwrap_noise(const struct unwrap *u, struct place *first)
{
	*first = u->first_noise;
	return u->noise;
}

uint64_t unwrap_repeats(const struct unwrap *u)
{
	return u->repeats;
}

void unwrap_free(struct unwrap *u)
{
	if (u == NULL)
		return;
	for (size_t i = 0; i < UNWRAP_WRITERS_MAX; i++) {
		joiner_free(u->writers[i].joiner);
		free(u->writers[i].kept.bytes);
		free(u->writers[i].bare_bytes);
		free(u->pending[i].bytes);
		free(u->pending[i].kept.bytes);
	}
	latest_fini(&u->ids);
	arena_free(u->memory.input);
	arena_free(u->memory.record);
	free(u);
}
