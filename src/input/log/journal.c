/* SPDX-License-Identifier: MIT */
/*
 * Form: the journal's export format (journalctl -o export): KEY=value lines, a
 * blank line between entries; a value that is no plain text is KEY, a line end,
 * its length in eight bytes (least first), the bytes, a line end. It is read
 * by bytes, since such values may hold anything. Of an entry the fields that
 * name it are kept; its place is the line of its MESSAGE.
 *
 * A copy by way of Windows has CR LF for each LF, also inside of lengths and
 * values: one that begins so is read as it was before.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "input/byte_reader.h"
#include "input/log/form.h"

/* What is beyond of a value is left out; of other values than MESSAGE far less is wanted. */
#define MESSAGE_BYTES_MAX RECORD_BYTES_MAX
#define VALUE_BYTES_MAX 4096
/* Names are at most 64 bytes (journald's own limit). */
#define KEY_BYTES_MAX 128
#define LENGTH_BYTES 8

enum field { MESSAGE, WRITTEN_AT, SOURCE_AT, HOSTNAME, IDENTIFIER, PID, CURSOR, FIELDS };

static const char *const field_names[FIELDS] = {
	[MESSAGE] = "MESSAGE",
	[WRITTEN_AT] = "__REALTIME_TIMESTAMP",
	[SOURCE_AT] = "_SOURCE_REALTIME_TIMESTAMP",
	[HOSTNAME] = "_HOSTNAME",
	[IDENTIFIER] = "SYSLOG_IDENTIFIER",
	[PID] = "_PID",
	[CURSOR] = "__CURSOR",
};

struct journal_reader {
	struct arena *arena, *record;
	struct byte_reader bytes;
	struct diag *diag;
	bool has_crlf;			/* for each LF */
	struct buf key;
	struct buf values[FIELDS];
	bool has[FIELDS];
	bool any;			/* the entry has some field */
	bool cut;			/* its MESSAGE is longer than what is kept, or breaks off */
	bool ignored;			/* the same of other values, which nobody asks */
	struct place message;
};

/* ---- bytes ---- */

/* -1 at the end, and on damage. */
static int next_byte(struct journal_reader *r)
{
	int c = byte_take(&r->bytes);

	return c == '\r' && r->has_crlf && byte_peek(&r->bytes) == '\n' ? byte_take(&r->bytes) : c;
}

static void add_byte(struct buf *b, size_t max, int c, bool *cut)
{
	if (b->n < max)
		buf_add_char(b, (char)c);
	else
		*cut = true;
}

/* ---- fields ---- */

static int field_of(struct sv key)
{
	for (int f = 0; f < FIELDS; f++)
		if (sv_eq(key, sv_of(field_names[f])))
			return f;
	return -1;
}

/* Where the value of the key goes; NULL when it is not wanted. */
static struct buf *begin_value(struct journal_reader *r, size_t *max, bool **cut)
{
	int f = field_of(buf_sv(&r->key));

	r->any = true;
	*cut = &r->ignored;
	if (f < 0)
		return NULL;
	/* A field may come more than once: the last is as good. */
	buf_clear(&r->values[f]);
	r->has[f] = true;
	*max = f == MESSAGE ? MESSAGE_BYTES_MAX : VALUE_BYTES_MAX;
	if (f == MESSAGE)
		*cut = &r->cut;
	return &r->values[f];
}

static bool breaks_off(struct journal_reader *r, const struct place *place)
{
	r->cut = true;
	if (!r->bytes.damaged)
		diag_add(r->diag, SEVERITY_WARNING, "journal.cut", place, "the entry breaks off in the middle of a field");
	return false;
}

/* KEY=value: what follows the equals sign. False at the end of the input. */
static bool read_text(struct journal_reader *r)
{
	size_t max = 0;
	bool *cut;
	struct buf *to = begin_value(r, &max, &cut);
	int c;

	while ((c = next_byte(r)) >= 0 && c != '\n')
		if (to != NULL)
			add_byte(to, max, c, cut);
	return c >= 0;
}

/* What follows the line of the key. False when the input ends in it. */
static bool read_binary(struct journal_reader *r, const struct place *place)
{
	uint64_t length = 0;
	size_t max = 0;
	bool *cut;
	struct buf *to = begin_value(r, &max, &cut);
	int c;

	for (int i = 0; i < LENGTH_BYTES; i++) {
		if ((c = next_byte(r)) < 0)
			return breaks_off(r, place);
		length |= (uint64_t)c << (8 * i);
	}
	for (; length > 0; length--) {
		if ((c = next_byte(r)) < 0)
			return breaks_off(r, place);
		if (to != NULL)
			add_byte(to, max, c, cut);
	}
	if ((c = next_byte(r)) < 0)
		return false;
	if (c != '\n')
		diag_add(r->diag, SEVERITY_WARNING, "journal.field", place, "a field is longer than it says");
	return true;
}

enum read_field { FIELD_READ, ENTRY_ENDED, INPUT_ENDED };

static enum read_field read_field(struct journal_reader *r)
{
	struct place place = byte_place(&r->bytes);
	bool long_key = false, goes_on;
	int c;

	buf_clear(&r->key);
	while ((c = next_byte(r)) >= 0 && c != '=' && c != '\n')
		add_byte(&r->key, KEY_BYTES_MAX, c, &long_key);
	if (c < 0)
		return INPUT_ENDED;
	if (c == '\n' && r->key.n == 0)
		return ENTRY_ENDED;
	if (sv_eq(buf_sv(&r->key), sv_of(field_names[MESSAGE])))
		r->message = place;
	goes_on = c == '=' ? read_text(r) : read_binary(r, &place);
	return goes_on ? FIELD_READ : INPUT_ENDED;
}

/* ---- entries ---- */

static void begin_entry(struct journal_reader *r)
{
	for (int f = 0; f < FIELDS; f++) {
		buf_clear(&r->values[f]);
		r->has[f] = false;
	}
	r->any = r->cut = false;
}

static struct sv value_of(const struct journal_reader *r, enum field f)
{
	return r->has[f] ? buf_sv(&r->values[f]) : SV_ABSENT;
}

static struct sv writer_of(const struct journal_reader *r)
{
	return arena_printf(r->record, "%.*s %.*s %.*s", SV_ARG(value_of(r, HOSTNAME)), SV_ARG(value_of(r, IDENTIFIER)),
			    SV_ARG(value_of(r, PID)));
}

static void make_piece(const struct journal_reader *r, struct log_piece *out)
{
	struct wrap_layer *layer = &out->layer;
	struct sv time = value_of(r, r->has[SOURCE_AT] ? SOURCE_AT : WRITTEN_AT);

	*out = (struct log_piece){
		.line = { .text = value_of(r, MESSAGE), .number = r->message.number, .byte_offset = r->message.byte_offset, .cut = r->cut || r->bytes.damaged },
		.is_peeled = true,
	};
	layer->name = "journal";
	layer->text = out->line.text;
	layer->has_time = tstamp_guess_parts(time, &layer->time);
	layer->prompt = true;
	layer->host = value_of(r, HOSTNAME);
	layer->writer = writer_of(r);
	layer->id = value_of(r, CURSOR);
}

static int journal_next(void *context, struct log_piece *out)
{
	struct journal_reader *r = context;
	enum read_field read;

	arena_reset(r->record);
	do {
		begin_entry(r);
		while ((read = read_field(r)) == FIELD_READ)
			;
		if (r->any && r->has[MESSAGE]) {
			make_piece(r, out);
			return 1;
		}
	} while (read != INPUT_ENDED);
	return r->bytes.damaged ? -1 : 0;
}

/* ---- the form ---- */

/* Whether the first line ends in CR LF: no address field of the journal ends in a CR. */
static bool begins_with_crlf(struct sv head)
{
	struct sv line = sv_cut(&head, '\n');

	return !sv_is_absent(head) && sv_ends_with(line, SV("\r"));
}

static void *journal_open(struct stream *s, const struct rules *rules, struct diag *d)
{
	struct arena *a = arena_new();
	struct journal_reader *r = arena_alloc(a, sizeof *r);

	(void)rules;
	r->has_crlf = begins_with_crlf(stream_head(s));
	r->arena = a;
	r->record = arena_new();
	r->bytes = byte_reader_of(s, a);
	r->diag = d;
	buf_init(&r->key);
	for (int f = 0; f < FIELDS; f++)
		buf_init(&r->values[f]);
	return r;
}

static void journal_close(void *context)
{
	struct journal_reader *r = context;

	buf_fini(&r->key);
	for (int f = 0; f < FIELDS; f++)
		buf_fini(&r->values[f]);
	arena_free(r->record);
	arena_free(r->arena);
}

/* An entry begins with the address fields, whose names no text has. */
static bool journal_sniff(struct sv head, const struct rules *rules)
{
	size_t at;

	(void)rules;
	return (sv_starts_with(head, SV("__CURSOR=")) || sv_starts_with(head, SV("__REALTIME_TIMESTAMP="))) &&
	       sv_find(head, SV("MESSAGE"), &at);
}

const struct log_form log_form_journal = { "journal", journal_sniff, journal_open, journal_next, journal_close };
