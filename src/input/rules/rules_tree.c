/* SPDX-License-Identifier: MIT */
/* The syntax of patterns (pcre2pattern(3)), as far as rules use it. See input/rules/tree.h. */

#include "input/rules/tree.h"

#include <string.h>

#define DEPTH_MAX 32
#define COUNT_MAX 1000

struct parser {
	struct sv source;
	size_t at;
	struct arena *arena;
	unsigned depth;
	bool failed;
};

static char peek(const struct parser *p, size_t ahead)
{
	return p->at + ahead < p->source.n ? p->source.p[p->at + ahead] : '\0';
}

static bool at_end(const struct parser *p)
{
	return p->at >= p->source.n;
}

static struct tree *fail(struct parser *p)
{
	p->failed = true;
	p->at = p->source.n;
	return NULL;
}

static struct tree *node(struct parser *p, enum tree_kind kind)
{
	struct tree *t = arena_alloc(p->arena, sizeof *t);

	t->kind = kind;
	t->least = t->most = 1;
	return t;
}

/* ---- sets ---- */

static void put(uint64_t set[4], unsigned from, unsigned to)
{
	for (unsigned c = from; c <= to; c++)
		set[c / 64] |= UINT64_C(1) << (c % 64);
}

static void invert(uint64_t set[4])
{
	for (size_t i = 0; i < 4; i++)
		set[i] = ~set[i];
}

/* \d, \w and their like; false when the letter names none. */
static bool put_named(uint64_t set[4], char letter)
{
	static const struct named {
		char letter;
		const char *ranges;	/* pairs */
	} names[] = {
		{ 'd', "09" }, { 'w', "09AZaz__" }, { 's', "\t\r  " }, { 'h', "\t\t  \xa0\xa0" },
	};
	uint64_t named[4] = { 0 };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *r = names[i].ranges;

		if ((letter | 0x20) != names[i].letter)
			continue;
		for (; *r != '\0'; r += 2)
			put(named, (unsigned char)r[0], (unsigned char)r[1]);
		if (letter != names[i].letter)
			invert(named);
		for (size_t k = 0; k < 4; k++)
			set[k] |= named[k];
		return true;
	}
	return false;
}

/* What "\" and this character stand for; -1 when it is no single byte. */
static int escaped_byte(char c)
{
	if (c == 't')
		return '\t';
	if (c == 'n')
		return '\n';
	if (c == 'r')
		return '\r';
	return c == '\0' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ? -1 : (unsigned char)c;
}

/* One byte of a class, which may begin a range; -1 when it was a named set, or the pattern failed. */
static int class_byte(struct parser *p, uint64_t set[4])
{
	char c = peek(p, 0);
	int byte;

	if (c == '[' && (peek(p, 1) == ':' || peek(p, 1) == '.' || peek(p, 1) == '=')) {
		fail(p);
		return -1;
	}
	p->at++;
	if (c != '\\')
		return (unsigned char)c;
	c = peek(p, 0);
	p->at++;
	byte = escaped_byte(c);
	if (byte < 0 && !put_named(set, c))
		fail(p);
	return byte;
}

/* From behind "[" to behind its "]". */
static struct tree *take_class(struct parser *p)
{
	struct tree *t = node(p, TREE_SET);
	bool inverted = peek(p, 0) == '^', first = true;

	p->at += inverted;
	while (!at_end(p) && (first || peek(p, 0) != ']')) {
		int from = class_byte(p, t->set), to = from;

		first = false;
		if (from >= 0 && peek(p, 0) == '-' && peek(p, 1) != ']') {
			p->at++;
			to = class_byte(p, t->set);
		}
		if (to < from)
			return fail(p);
		if (from >= 0)
			put(t->set, (unsigned)from, (unsigned)to);
	}
	if (at_end(p))
		return fail(p);
	p->at++;
	if (inverted)
		invert(t->set);
	return t;
}

static struct tree *set_of_byte(struct parser *p, unsigned char c)
{
	struct tree *t = node(p, TREE_SET);

	put(t->set, c, c);
	return t;
}

/* From "\". */
static struct tree *take_escape(struct parser *p)
{
	char c = peek(p, 1);
	int byte = escaped_byte(c);
	struct tree *t;

	p->at += 2;
	if (byte >= 0)
		return set_of_byte(p, (unsigned char)byte);
	if (c == 'b' || c == 'B')
		return node(p, TREE_ASSERTION);
	t = node(p, TREE_SET);
	return put_named(t->set, c) ? t : fail(p);
}

/* ---- groups ---- */

static struct tree *take_either(struct parser *p);

/* From "(?<name>" to behind the ">". */
static struct sv take_name(struct parser *p)
{
	size_t from = p->at;

	while (!at_end(p) && peek(p, 0) != '>')
		p->at++;
	struct sv name = sv_sub(p->source, from, p->at - from);

	p->at++;
	return name;
}

/* From behind "(". */
static struct tree *take_group(struct parser *p)
{
	struct sv name = SV_ABSENT;
	bool assertion = false;
	struct tree *t;

	if (peek(p, 0) == '*')
		return fail(p);
	if (peek(p, 0) == '?') {
		char c = peek(p, 1), next = peek(p, 2);

		p->at += 2;
		assertion = c == '=' || c == '!' || (c == '<' && (next == '=' || next == '!'));
		if (c == '<' && assertion)
			p->at++;
		else if (c == '<')
			name = take_name(p);
		else if (c != ':' && !assertion)
			return fail(p);
	}
	if (++p->depth > DEPTH_MAX)
		return fail(p);
	t = take_either(p);
	p->depth--;
	if (p->failed || peek(p, 0) != ')')
		return fail(p);
	p->at++;
	t->name = name;
	return assertion ? node(p, TREE_ASSERTION) : t;
}

/* ---- quantifiers ---- */

static bool take_number(struct parser *p, uint32_t *out)
{
	uint32_t n = 0;
	size_t from = p->at;

	while (peek(p, 0) >= '0' && peek(p, 0) <= '9' && n <= COUNT_MAX)
		n = n * 10 + (uint32_t)(p->source.p[p->at++] - '0');
	*out = n;
	return p->at > from && n <= COUNT_MAX;
}

/* From behind "{": n} n,} n,m}; false for a brace that is an ordinary byte. */
static bool take_counts(struct parser *p, struct tree *t)
{
	size_t from = p->at;
	uint32_t least, most;

	if (take_number(p, &least)) {
		most = least;
		if (peek(p, 0) == ',') {
			p->at++;
			if (peek(p, 0) == '}')
				most = TREE_NO_END;
			else if (!take_number(p, &most))
				most = 0;
		}
		if (peek(p, 0) == '}' && most >= least) {
			p->at++;
			t->least = least;
			t->most = most;
			return true;
		}
		fail(p);
	}
	p->at = p->failed ? p->source.n : from;
	return false;
}

static void take_quantifier(struct parser *p, struct tree *t)
{
	char c = peek(p, 0);
	size_t brace = p->at;

	if (at_end(p) || strchr("?*+{", c) == NULL)
		return;
	p->at++;
	if (c == '{') {
		if (!take_counts(p, t)) {
			if (!p->failed)
				p->at = brace;
			return;
		}
	} else {
		t->least = c == '+';
		t->most = c == '?' ? 1 : TREE_NO_END;
	}
	t->lazy = peek(p, 0) == '?' && !at_end(p);
	p->at += t->lazy;
	/* Possessive, or a quantifier of a quantifier. */
	if (!at_end(p) && (peek(p, 0) == '+' || peek(p, 0) == '*' || peek(p, 0) == '?'))
		fail(p);
}

/* ---- the whole ---- */

static struct tree *take_one(struct parser *p)
{
	char c = peek(p, 0);
	struct tree *t;

	if (c == '\\')
		return take_escape(p);
	p->at++;
	switch (c) {
	case '[':
		return take_class(p);
	case '(':
		return take_group(p);
	case '^':
		return node(p, TREE_START);
	case '$':
		return node(p, TREE_END);
	case '.':
		t = node(p, TREE_SET);
		put(t->set, '\n', '\n');
		invert(t->set);
		return t;
	case '*':
	case '+':
	case '?':
		return fail(p);
	default:
		return set_of_byte(p, (unsigned char)c);
	}
}

static struct tree *take_sequence(struct parser *p)
{
	struct tree *sequence = node(p, TREE_SEQUENCE), **last = &sequence->child;

	while (!at_end(p) && peek(p, 0) != '|' && peek(p, 0) != ')') {
		struct tree *t = take_one(p);

		if (p->failed)
			return NULL;
		take_quantifier(p, t);
		*last = t;
		last = &t->next;
	}
	return p->failed ? NULL : sequence;
}

static struct tree *take_either(struct parser *p)
{
	struct tree *first = take_sequence(p), *either, **last;

	if (p->failed || peek(p, 0) != '|' || at_end(p))
		return first;
	either = node(p, TREE_EITHER);
	either->child = first;
	last = &first->next;
	while (!at_end(p) && peek(p, 0) == '|') {
		p->at++;
		*last = take_sequence(p);
		if (p->failed)
			return NULL;
		last = &(*last)->next;
	}
	return either;
}

struct tree *tree_of(struct sv pattern, struct arena *a)
{
	struct parser p = { .source = pattern, .arena = a };
	struct tree *t;

	if (sv_find_char(pattern, '\0', &(size_t){ 0 }))
		return NULL;
	t = take_either(&p);
	return p.failed || !at_end(&p) ? NULL : t;
}

int tree_only_byte(const struct tree *t)
{
	int found = -1;

	for (size_t i = 0; i < 4; i++) {
		if (t->set[i] == 0)
			continue;
		if (found >= 0 || (t->set[i] & (t->set[i] - 1)) != 0)
			return -1;
		found = (int)(64 * i) + __builtin_ctzll(t->set[i]);
	}
	return found;
}

static bool first_of_one(const struct tree *t, uint64_t first[4]) /* NOLINT(misc-no-recursion) */
{
	bool consumes = false;

	switch (t->kind) {
	case TREE_SET:
		for (size_t i = 0; i < 4; i++)
			first[i] |= t->set[i];
		return true;
	case TREE_SEQUENCE:
		for (const struct tree *c = t->child; c != NULL && !consumes; c = c->next)
			consumes = tree_first(c, first);
		return consumes;
	case TREE_EITHER:
		consumes = true;
		for (const struct tree *c = t->child; c != NULL; c = c->next)
			consumes &= tree_first(c, first);
		return consumes;
	case TREE_START:
	case TREE_END:
	case TREE_ASSERTION:
		break;
	}
	return false;
}

/* Depth is that of the pattern's groups, which the parser bounds. */
bool tree_first(const struct tree *t, uint64_t first[4]) /* NOLINT(misc-no-recursion) */
{
	return first_of_one(t, first) && t->least > 0;
}
