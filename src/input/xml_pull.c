/* SPDX-License-Identifier: MIT */
/* XML tag by tag, with one buffer for a tag. See input/xml_pull.h. */

#include "input/xml_pull.h"

#include "input/byte_reader.h"

struct xml_pull {
	struct byte_reader bytes;
	struct place place;    /* of the last tag */
	bool failed;
	bool closes_next; /* the last tag opened and closed */
	uint64_t depth;
	bool is_behind; /* an outermost element that has ended */
	bool has_begun; /* with an element */
	uint64_t strays;
	struct place first_stray;
	char tag[XML_PULL_TAG_MAX]; /* without its brackets */
	size_t tag_bytes;
	struct sv name;
	struct xml_attribute attributes[XML_PULL_ATTRIBUTES_MAX];
	size_t count;
};

struct xml_pull *xml_pull_stream(struct arena *a, struct stream *s)
{
	struct xml_pull *p = arena_alloc(a, sizeof *p);

	p->bytes = byte_reader_of(s, a);
	return p;
}

/* ---- bytes ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* To the next tag's first byte; false at the end. Text belongs into elements. */
static bool find_tag(struct xml_pull *p)
{
	bool in_stray = false;
	int c;

	for (;;) {
		p->place = byte_place(&p->bytes);
		c = byte_take(&p->bytes);
		if (c < 0 || c == '<')
			return c >= 0;
		/* Before the first element a byte order mark may stand, and no zeros. */
		if (in_stray || is_blank((char)c) || !(p->is_behind || (!p->has_begun && c < ' ')))
			continue;
		in_stray = true;
		if (p->strays++ == 0)
			p->first_stray = p->place;
	}
}

static bool is_comment(const struct xml_pull *p)
{
	return sv_starts_with((struct sv){ p->tag, p->tag_bytes }, SV("!--"));
}

/* Of a comment, which may be long, the first three bytes and the last two tell what it is, and that it ends. */
static bool keep(struct xml_pull *p, int c)
{
	if (p->tag_bytes == sizeof p->tag && is_comment(p)) {
		p->tag[3] = p->tag[p->tag_bytes - 2];
		p->tag[4] = p->tag[p->tag_bytes - 1];
		p->tag_bytes = 5;
	}
	if (p->tag_bytes == sizeof p->tag)
		return false;
	p->tag[p->tag_bytes++] = (char)c;
	return true;
}

/* "<!-->" is no comment yet. */
static bool ends_tag(const struct xml_pull *p, int c, int quote)
{
	if (c != '>')
		return false;
	if (is_comment(p))
		return p->tag_bytes >= 5 && sv_ends_with((struct sv){ p->tag, p->tag_bytes }, SV("--"));
	return quote == 0;
}

/* What stands between the brackets; a quoted one closes nothing. */
static bool take_tag(struct xml_pull *p)
{
	int c, quote = 0;

	p->tag_bytes = 0;
	while ((c = byte_take(&p->bytes)) >= 0 && !ends_tag(p, c, quote)) {
		if (quote != 0)
			quote = c == quote ? 0 : quote;
		else if (c == '"' || c == '\'')
			quote = c;
		if (!keep(p, c))
			return false;
	}
	return c >= 0;
}

/* ---- a tag ---- */

static struct sv cut_name(struct sv *rest)
{
	size_t n = 0;

	while (n < rest->n && !is_blank(rest->p[n]) && rest->p[n] != '=' && rest->p[n] != '/')
		n++;
	struct sv name = sv_sub(*rest, 0, n);
	*rest = sv_trim(sv_sub(*rest, n, rest->n));
	return name;
}

/* name="value" */
static bool cut_attribute(struct sv *rest, struct xml_attribute *out)
{
	size_t end;

	out->name = cut_name(rest);
	if (out->name.n == 0 || !sv_starts_with(*rest, SV("=")))
		return false;
	struct sv quoted = sv_trim(sv_sub(*rest, 1, rest->n));
	if (quoted.n == 0 || (quoted.p[0] != '"' && quoted.p[0] != '\'') ||
	    !sv_find_char(sv_sub(quoted, 1, quoted.n), quoted.p[0], &end))
		return false;
	out->value = sv_sub(quoted, 1, end);
	*rest = sv_trim(sv_sub(quoted, end + 2, quoted.n));
	return true;
}

static enum xml_token open(struct xml_pull *p, struct sv tag)
{
	p->closes_next = sv_ends_with(tag, SV("/"));
	struct sv rest = sv_trim(sv_sub(tag, 0, tag.n - p->closes_next));
	p->name = cut_name(&rest);
	for (p->count = 0; rest.n > 0; p->count++)
		if (p->count == XML_PULL_ATTRIBUTES_MAX || !cut_attribute(&rest, &p->attributes[p->count]))
			return XML_DAMAGED;
	p->depth++;
	p->is_behind = false;
	p->has_begun = true;
	return p->name.n > 0 ? XML_OPEN : XML_DAMAGED;
}

static enum xml_token close(struct xml_pull *p, struct sv name)
{
	p->name = name;
	p->count = 0;
	p->closes_next = false;
	if (p->depth == 0)
		return XML_DAMAGED;
	p->depth--;
	p->is_behind = p->depth == 0;
	return XML_CLOSE;
}

static enum xml_token next(struct xml_pull *p)
{
	if (p->closes_next)
		return close(p, p->name);
	while (find_tag(p)) {
		if (!take_tag(p))
			return XML_DAMAGED;
		struct sv tag = sv_trim((struct sv){ p->tag, p->tag_bytes });
		if (sv_starts_with(tag, SV("!")) || sv_starts_with(tag, SV("?")))
			continue;
		return sv_starts_with(tag, SV("/")) ? close(p, sv_trim(sv_sub(tag, 1, tag.n))) : open(p, tag);
	}
	return p->depth == 0 ? XML_END : XML_DAMAGED;
}

/* ---- what there is ---- */

enum xml_token xml_pull_next(struct xml_pull *p)
{
	enum xml_token t = p->failed ? XML_DAMAGED : next(p);

	p->failed = t == XML_DAMAGED;
	return t;
}

struct sv xml_pull_name(const struct xml_pull *p)
{
	return p->name;
}

size_t xml_pull_attribute_count(const struct xml_pull *p)
{
	return p->count;
}

struct xml_attribute xml_pull_attribute_at(const struct xml_pull *p, size_t i)
{
	return p->attributes[i];
}

struct sv xml_pull_attribute(const struct xml_pull *p, struct sv name)
{
	for (size_t i = 0; i < p->count; i++)
		if (sv_eq(p->attributes[i].name, name))
			return p->attributes[i].value;
	return SV_ABSENT;
}

uint64_t xml_pull_strays(const struct xml_pull *p, struct place *first)
{
	*first = p->first_stray;
	return p->strays;
}

struct place xml_pull_place(const struct xml_pull *p)
{
	return p->place;
}
