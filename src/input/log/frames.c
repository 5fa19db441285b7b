/* SPDX-License-Identifier: MIT */
/*
 * Form: syslog over TCP as it was received (RFC 6587 3.4). By octet counting a
 * message is its length in digits, a blank, and so many bytes, line feeds among
 * them; nothing stands between messages. Receivers take messages that end in a
 * line feed (3.4.2) in the same stream: those begin with their priority.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "input/byte_reader.h"
#include "input/log/form.h"

/* Longer messages than 9999999 bytes nobody sends. */
#define LENGTH_DIGITS_MAX 7

struct frames_reader {
	struct arena *arena;
	struct byte_reader bytes;
	struct diag *diag;
	struct buf message;
};

/* ---- where a message begins ---- */

struct header {
	struct place place;
	uint64_t bytes;		/* 0: to the end of the line */
};

static bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

/* What some senders put between messages, or at their ends and do not count. */
static bool is_between(int c)
{
	return c == '\n' || c == '\r' || c == ' ' || c == '\0';
}

/* A length with its blank, and the priority's bracket behind it. False when it is none; what looked like it is passed. */
static bool take_length(struct frames_reader *r, struct header *out)
{
	size_t digits = 0;

	*out = (struct header){ .place = byte_place(&r->bytes) };
	while (is_digit(byte_peek(&r->bytes)) && digits < LENGTH_DIGITS_MAX) {
		out->bytes = out->bytes * 10 + (uint64_t)(byte_peek(&r->bytes) - '0');
		digits++;
		byte_pass(&r->bytes);
	}
	if (out->bytes == 0 || byte_peek(&r->bytes) != ' ')
		return false;
	byte_pass(&r->bytes);
	if (byte_peek(&r->bytes) != '<')
		return false;
	byte_pass(&r->bytes);
	return is_digit(byte_peek(&r->bytes));
}

/*
 * The next one, behind its "<". False at the end. Behind bytes that are no
 * message the next length with a priority is where they go on.
 */
static bool find_message(struct frames_reader *r, struct header *out)
{
	struct place lost = byte_place(&r->bytes);
	uint64_t passed = 0;
	bool begins = true, found = false;
	int c;

	while (!found && (c = byte_peek(&r->bytes)) >= 0) {
		uint64_t from = r->bytes.offset;

		if (passed == 0)
			lost = byte_place(&r->bytes);
		if (c == '<' && begins) {
			*out = (struct header){ .place = byte_place(&r->bytes) };
			byte_pass(&r->bytes);
			found = true;
		} else if (is_digit(c) && c != '0') {
			found = take_length(r, out);
			begins = false;
		} else {
			byte_pass(&r->bytes);
			begins = c == '\n' || (begins && is_between(c));
		}
		if (!found && (passed > 0 || !is_between(c)))
			passed += r->bytes.offset - from;
	}
	if (passed > 0 && !r->bytes.damaged)
		diag_add(r->diag, SEVERITY_WARNING, "syslog.frame", &lost, "bytes that belong to no message are left out");
	return found;
}

/* ---- messages ---- */

/* False when it breaks off before its end. */
static bool read_message(struct frames_reader *r, const struct header *h, bool *cut)
{
	uint64_t n = 1;
	int c = 0;

	buf_clear(&r->message);
	buf_add_char(&r->message, '<');
	while ((h->bytes == 0 || n < h->bytes) && (c = byte_peek(&r->bytes)) >= 0) {
		byte_pass(&r->bytes);
		if (h->bytes == 0 && c == '\n')
			break;
		if (r->message.n < RECORD_BYTES_MAX)
			buf_add_char(&r->message, (char)c);
		else
			*cut = true;
		n++;
	}
	return c >= 0 || (h->bytes == 0 && !r->bytes.damaged);
}

static struct sv without_end(struct sv text)
{
	while (text.n > 0 && is_between((unsigned char)text.p[text.n - 1]) && text.p[text.n - 1] != ' ')
		text.n--;
	return text;
}

static int frames_next(void *context, struct log_piece *out)
{
	struct frames_reader *r = context;
	struct header h;
	bool cut = false;

	if (!find_message(r, &h))
		return r->bytes.damaged ? -1 : 0;
	if (!read_message(r, &h, &cut))
		cut = true;
	out->written = SV_ABSENT;
	out->is_peeled = false;
	out->line = (struct line){
		.text = without_end(buf_sv(&r->message)), .number = h.place.number, .byte_offset = h.place.byte_offset, .cut = cut
	};
	return 1;
}

/* ---- the form ---- */

static void *frames_open(struct stream *s, const struct rules *rules, struct diag *d)
{
	struct arena *a = arena_new();
	struct frames_reader *r = arena_alloc(a, sizeof *r);

	(void)rules;
	r->arena = a;
	r->bytes = byte_reader_of(s, a);
	r->diag = d;
	buf_init(&r->message);
	return r;
}

static void frames_close(void *context)
{
	struct frames_reader *r = context;

	buf_fini(&r->message);
	arena_free(r->arena);
}

/* "123 <34>" at the start; *end is where that message ends. */
static bool begins_message(struct sv text, size_t *end)
{
	struct sv digits, rest = text;
	uint64_t bytes, priority;

	digits = sv_cut(&rest, ' ');
	if (digits.n == 0 || digits.n > LENGTH_DIGITS_MAX || digits.p[0] == '0' || !sv_to_u64(digits, &bytes))
		return false;
	*end = digits.n + 1 + (size_t)bytes;
	if (!sv_starts_with(rest, SV("<")))
		return false;
	rest = sv_sub(rest, 1, 4);
	digits = sv_cut(&rest, '>');
	return !sv_is_absent(rest) && sv_to_u64(digits, &priority) && priority <= 191;
}

/* Two messages one behind the other, or one and nothing else: a line of another log may begin with a number. */
static bool frames_sniff(struct sv head, const struct rules *rules)
{
	size_t end, next;

	(void)rules;
	if (!begins_message(head, &end))
		return false;
	while (end < head.n && is_between((unsigned char)head.p[end]))
		end++;
	return end >= head.n || head.p[end] == '<' || begins_message(sv_sub(head, end, head.n), &next);
}

const struct log_form log_form_frames = { "frames", frames_sniff, frames_open, frames_next, frames_close };
