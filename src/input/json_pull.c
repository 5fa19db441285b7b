/* SPDX-License-Identifier: MIT */
/* JSON token by token, with one buffer for bytes and one for a text. */

#include "input/json_pull.h"

#include <string.h>

#include "base/cursor.h"
#include "base/utf8.h"

#define BLOCK_BYTES 16384

struct json_pull {
	struct stream *stream; /* NULL: the block is all */
	char *buffer;
	struct sv block;
	size_t at;
	bool failed;
	uint64_t offset, line; /* of the next byte */
	struct place place;    /* of the last token */
	unsigned depth;
	bool in_object[JSON_PULL_DEPTH_MAX];
	bool wants_key; /* in an object: a name comes next */
	bool is_behind; /* of a document that has ended */
	uint64_t strays;
	struct place first_stray;
	char text[JSON_PULL_TEXT_MAX];
	size_t text_bytes;
};

struct json_pull *json_pull_stream(struct arena *a, struct stream *s)
{
	struct json_pull *p = arena_alloc(a, sizeof *p);

	p->stream = s;
	p->buffer = arena_alloc(a, BLOCK_BYTES);
	p->line = 1;
	return p;
}

struct json_pull *json_pull_of(struct arena *a, struct sv text)
{
	struct json_pull *p = arena_alloc(a, sizeof *p);

	p->block = text;
	p->line = 1;
	return p;
}

/* -1 at the end. */
static int peek(struct json_pull *p)
{
	if (p->at == p->block.n && p->stream != NULL) {
		ptrdiff_t n = stream_read(p->stream, p->buffer, BLOCK_BYTES);

		p->at = 0;
		p->block = (struct sv){ p->buffer, n > 0 ? (size_t)n : 0 };
		if (n <= 0)
			p->stream = NULL;
	}
	return p->at < p->block.n ? (unsigned char)p->block.p[p->at] : -1;
}

static int take(struct json_pull *p)
{
	int c = peek(p);

	if (c < 0)
		return c;
	p->at++;
	p->offset++;
	p->line += c == '\n';
	return c;
}

static void put(struct json_pull *p, unsigned c)
{
	if (p->text_bytes < sizeof p->text)
		p->text[p->text_bytes++] = (char)c;
}

/* The basic plane alone; halves of pairs become two characters that are none. */
static void put_character(struct json_pull *p, unsigned code)
{
	char bytes[UTF8_BYTES_MAX];
	const size_t n = utf8_put(bytes, code);

	for (size_t i = 0; i < n; i++)
		put(p, (unsigned char)bytes[i]);
}

static bool take_escape(struct json_pull *p)
{
	static const char plain[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	int c = take(p);
	char digits[4];
	uint64_t code;

	for (size_t i = 0; i < sizeof plain - 1; i++)
		if (c == plain[i]) {
			put(p, (unsigned char)meant[i]);
			return true;
		}
	if (c != 'u')
		return false;
	for (size_t i = 0; i < 4; i++) {
		c = take(p);
		digits[i] = c < 0 ? ' ' : (char)c;
	}
	if (!sv_to_hex64((struct sv){ digits, 4 }, &code))
		return false;
	put_character(p, (unsigned)code);
	return true;
}

static bool take_string(struct json_pull *p)
{
	int c;

	p->text_bytes = 0;
	while ((c = take(p)) != '"') {
		if (c < 0 || (c == '\\' && !take_escape(p)))
			return false;
		if (c != '\\')
			put(p, (unsigned)c);
	}
	return true;
}

/* Numbers and true, false, null: what stands before a bracket, comma or blank. */
static enum json_token take_plain(struct json_pull *p, int first)
{
	bool number = first == '-' || (first >= '0' && first <= '9');
	int c;

	p->text_bytes = 0;
	put(p, (unsigned)first);
	while ((c = peek(p)) > ' ' && c != ',' && c != ']' && c != '}' && c != ':' && c != '"' && c != '[' && c != '{')
		put(p, (unsigned)take(p));
	return number ? JSON_NUMBER : JSON_WORD;
}

static enum json_token open(struct json_pull *p, bool object)
{
	if (p->depth == JSON_PULL_DEPTH_MAX)
		return JSON_DAMAGED;
	p->is_behind = false;
	p->in_object[p->depth++] = object;
	p->wants_key = object;
	return object ? JSON_OBJECT : JSON_ARRAY;
}

static void after_value(struct json_pull *p)
{
	p->wants_key = p->depth > 0 && p->in_object[p->depth - 1];
}

static enum json_token close(struct json_pull *p, bool object)
{
	if (p->depth == 0 || p->in_object[p->depth - 1] != object)
		return JSON_DAMAGED;
	p->depth--;
	p->is_behind = p->depth == 0;
	after_value(p);
	return object ? JSON_OBJECT_END : JSON_ARRAY_END;
}

static enum json_token string(struct json_pull *p)
{
	bool key = p->wants_key;

	if (!take_string(p))
		return JSON_DAMAGED;
	if (key)
		p->wants_key = false;
	else
		after_value(p);
	return key ? JSON_KEY : JSON_STRING;
}

static struct place place_of(const struct json_pull *p)
{
	return (struct place){ .unit = PLACE_LINE, .number = p->line, .byte_offset = p->offset };
}

/* What may stand between documents; the record separator of RFC 7464 is one of them. */
static bool separates(int c)
{
	static const char separators[] = " \t\r\n,:\x1e";

	return memchr(separators, c, sizeof separators - 1) != NULL;
}

/*
 * To the next token; -1 at the end. Outside of documents whatever else is passed over on the way is told of, and
 * behind one that is all but the beginning of another.
 */
static int pass_blanks(struct json_pull *p)
{
	bool in_stray = false;
	int c;

	while ((c = peek(p)) >= 0 && (p->is_behind ? c != '{' && c != '[' : c <= ' ' || c == ',' || c == ':')) {
		if (p->depth == 0 && !separates(c) && !in_stray) {
			in_stray = true;
			if (p->strays++ == 0)
				p->first_stray = place_of(p);
		}
		(void)take(p);
	}
	return c;
}

static enum json_token next(struct json_pull *p)
{
	int c = pass_blanks(p);

	p->place = place_of(p);
	if (c < 0)
		return p->depth == 0 ? JSON_END : JSON_DAMAGED;
	(void)take(p);
	switch (c) {
	case '{':
		return open(p, true);
	case '}':
		return close(p, true);
	case '[':
		return open(p, false);
	case ']':
		return close(p, false);
	case '"':
		return string(p);
	default:
		if (c != '-' && !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z'))
			return JSON_DAMAGED;
		after_value(p);
		return take_plain(p, c);
	}
}

enum json_token json_pull_next(struct json_pull *p)
{
	enum json_token t = p->failed ? JSON_DAMAGED : next(p);

	p->failed = t == JSON_DAMAGED;
	return t;
}

struct sv json_pull_text(const struct json_pull *p)
{
	return (struct sv){ p->text, p->text_bytes };
}

unsigned json_pull_depth(const struct json_pull *p)
{
	return p->depth;
}

struct place json_pull_place(const struct json_pull *p)
{
	return p->place;
}

uint64_t json_pull_strays(const struct json_pull *p, struct place *first)
{
	*first = p->first_stray;
	return p->strays;
}

bool json_pull_skip(struct json_pull *p, enum json_token began)
{
	unsigned depth = p->depth;
	enum json_token t = began;

	if (began != JSON_OBJECT && began != JSON_ARRAY)
		return began != JSON_DAMAGED && began != JSON_END;
	while (p->depth >= depth && t != JSON_DAMAGED && t != JSON_END)
		t = json_pull_next(p);
	return p->depth < depth;
}
