/* SPDX-License-Identifier: MIT */
/*
 * Patterns of rules: a regex, what its groups fill, and a literal that any match
 * must contain. Looking for the literal first is what keeps some hundred
 * patterns from being run on each line (a search for bytes is some ten times cheaper).
 */

#include "input/rules/rules_set.h"

#include <string.h>

/* ---- the literal ---- */

/* A walk over a pattern outside all groups, collecting runs of literal bytes. */
struct walk {
	struct sv source;
	size_t at;
	char *run;		/* the run in progress */
	size_t run_n;
	bool run_first;		/* it began at the start of the pattern */
	char *best;
	size_t best_n;
	bool best_first;
};

static char peek(const struct walk *w, size_t ahead)
{
	return w->at + ahead < w->source.n ? w->source.p[w->at + ahead] : '\0';
}

static void end_run(struct walk *w)
{
	/* A literal at the start beats a longer one elsewhere: a comparison instead of a search. */
	if (w->run_n > 0 && (w->run_first || (w->run_n > w->best_n && !w->best_first))) {
		memcpy(w->best, w->run, w->run_n);
		w->best_n = w->run_n;
		w->best_first = w->run_first;
	}
	w->run_n = 0;
	w->run_first = false;
}

static void add(struct walk *w, char c)
{
	w->run[w->run_n++] = c;
}

/* A quantifier that allows none: the byte before it is not required. */
static void drop_last(struct walk *w)
{
	if (w->run_n > 0)
		w->run_n--;
	end_run(w);
}

/* From "[" to behind its "]", which is an ordinary byte right at the start. */
static bool skip_class(struct walk *w)
{
	w->at++;
	if (peek(w, 0) == '^')
		w->at++;
	if (peek(w, 0) == ']')
		w->at++;
	while (w->at < w->source.n) {
		char c = peek(w, 0);

		if (c == '\\' || (c == '[' && peek(w, 1) == ':'))
			w->at++;
		w->at++;
		if (c == ']')
			return true;
	}
	return false;
}

/* From "(" to behind the ")" that closes it. */
static bool skip_group(struct walk *w)
{
	size_t depth = 0;

	while (w->at < w->source.n) {
		char c = peek(w, 0);

		if (c == '[') {
			if (!skip_class(w))
				return false;
			continue;
		}
		w->at += c == '\\' ? 2 : 1;
		if (c == '(')
			depth++;
		else if (c == ')' && --depth == 0)
			return true;
	}
	return false;
}

/* Groups that leave the meaning of what follows alone; (?i) and (*VERB) do not. */
static bool is_plain_group(const struct walk *w)
{
	if (peek(w, 1) == '*')
		return false;
	return peek(w, 1) != '?' || (peek(w, 2) != '\0' && strchr(":=!<>|P", peek(w, 2)) != NULL);
}

/* False for an escape whose extent this walk does not know (\Q, \x, \p ...). */
static bool take_escape(struct walk *w)
{
	static const char controls[][2] = { { 't', '\t' }, { 'n', '\n' }, { 'r', '\r' } };
	char c = peek(w, 1);

	w->at += 2;
	for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++) {
		if (controls[i][0] == c) {
			add(w, controls[i][1]);
			return true;
		}
	}
	if (c != '\0' && strchr("dDsSwWbBhHvVRAzZ", c) != NULL) {
		end_run(w);
		return true;
	}
	if (c == '\0' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
		return false;
	add(w, c);
	return true;
}

static bool skip_braces(struct walk *w)
{
	while (w->at < w->source.n && peek(w, 0) != '}')
		w->at++;
	w->at++;
	return w->at <= w->source.n;
}

/* One element; false when the pattern is beyond this walk, so that no literal can be promised. */
static bool step(struct walk *w)
{
	char c = peek(w, 0), next = peek(w, 1);

	switch (c) {
	case '\\':
		return take_escape(w);
	case '(':
		end_run(w);
		return is_plain_group(w) && skip_group(w);
	case '[':
		end_run(w);
		return skip_class(w);
	case '|':
	case ')':
		return false;
	case '?':
	case '*':
		drop_last(w);
		break;
	case '{':
		if ((next < '0' || next > '9') && next != ',' && next != ' ') {
			add(w, c);
			break;
		}
		drop_last(w);
		return skip_braces(w);
	case '+':
	case '.':
	case '^':
	case '$':
		end_run(w);
		break;
	default:
		add(w, c);
		break;
	}
	w->at++;
	return true;
}

static void find_literal(struct pattern *p, struct arena *a, struct sv source)
{
	struct walk w = { .source = source };

	w.run = arena_alloc(a, source.n + 1);
	w.best = arena_alloc(a, source.n + 1);
	p->literal = (struct sv){ w.best, 0 };
	p->anchored = source.n > 0 && source.p[0] == '^';
	w.run_first = p->anchored;
	w.at = p->anchored;
	while (w.at < w.source.n) {
		if (!step(&w)) {
			p->anchored = false;
			return;
		}
	}
	end_run(&w);
	p->literal.n = w.best_n;
	p->literal_first = w.best_first;
}

/* ---- the first byte ---- */

static bool is_quantifier(char c)
{
	return c == '?' || c == '*' || c == '{';
}

static bool is_lookaround(const struct walk *w)
{
	return peek(w, 1) == '?' && (peek(w, 2) == '=' || peek(w, 2) == '!' ||
				     (peek(w, 2) == '<' && (peek(w, 3) == '=' || peek(w, 3) == '!')));
}

/* From "(" into its alternatives: behind "(?:" or "(?<name>". False for groups of another sort. */
static bool enter_group(struct walk *w)
{
	if (peek(w, 1) != '?') {
		w->at++;
		return peek(w, 0) != '*';
	}
	if (peek(w, 2) == ':') {
		w->at += 3;
		return true;
	}
	if (peek(w, 2) != '<')
		return false;
	while (w->at < w->source.n && peek(w, 0) != '>')
		w->at++;
	w->at++;
	return w->at <= w->source.n;
}

/* Behind the rest of this alternative: at its "|", or the ")" or the end that closes it. */
static bool skip_alternative(struct walk *w)
{
	while (w->at < w->source.n) {
		char c = peek(w, 0);

		if (c == '|' || c == ')')
			return true;
		if (c == '(' ? !skip_group(w) : c == '[' ? !skip_class(w) : false)
			return false;
		if (c != '(' && c != '[')
			w->at += c == '\\' ? 2 : 1;
	}
	return true;
}

/*
 * Adds the first bytes of the alternatives from here to the ")" or the end that
 * closes them. False where they are beyond this walk. Depth is that of the pattern's own groups.
 */
static bool add_first(struct walk *w, bool *set) /* NOLINT(misc-no-recursion) */
{
	for (;;) {
		struct walk group;

		while (peek(w, 0) == '(' && is_lookaround(w)) {
			if (!skip_group(w))
				return false;
		}
		char c = peek(w, 0);

		if (c == '(') {
			group = *w;
			if (!enter_group(&group) || !add_first(&group, set) || !skip_group(w) ||
			    is_quantifier(peek(w, 0)))
				return false;
		} else if (c == '\\') {
			if (peek(w, 1) == '\0' || strchr("[](){}.*+?|^$\\/-%\"'` ", peek(w, 1)) == NULL ||
			    is_quantifier(peek(w, 2)))
				return false;
			set[(unsigned char)peek(w, 1)] = true;
		} else if (c == '\0' || strchr("[.|)^$*+?", c) != NULL || is_quantifier(peek(w, 1))) {
			return false;
		} else {
			set[(unsigned char)c] = true;
		}
		if (!skip_alternative(w))
			return false;
		if (peek(w, 0) != '|')
			return true;
		w->at++;
	}
}

/* For an anchored pattern without a literal at its start: all its messages begin with one of a few bytes. */
static void find_first_bytes(struct pattern *p, struct arena *a, struct sv source)
{
	struct walk w = { .source = source, .at = 1 };

	if (!p->anchored || p->literal_first)
		return;
	p->first_bytes = arena_array(a, 256, sizeof *p->first_bytes);
	if (!add_first(&w, p->first_bytes) || w.at < source.n)
		p->first_bytes = NULL;
}

const struct cover *pattern_cover(const struct pattern *p, struct arena *a)
{
	struct lazy_cover *c = p->cover;
	const struct tree *t;

	if (c->known)
		return &c->cover;
	c->known = true;
	/* Where ^ and $ are the ends of lines, what stands next to them may be a line feed. */
	t = c->mode == REGEX_TEXT ? tree_of(c->source, a) : NULL;
	if (t != NULL)
		tree_cover(t, a, &c->cover);
	return &c->cover;
}

/* ---- the pattern ---- */

/* Where a group's name stands in the pattern. */
static size_t name_at(struct sv source, struct sv name)
{
	for (size_t i = 1; i + name.n < source.n; i++) {
		if (source.p[i - 1] == '<' && sv_eq(sv_sub(source, i, name.n), name))
			return i;
	}
	return 0;
}

static const char *map_groups(struct pattern *p, struct arena *a, struct sv source, size_t *at)
{
	size_t n = regex_name_count(p->regex);

	p->groups = arena_array(a, n, sizeof *p->groups);
	for (size_t i = 0; i < n; i++) {
		struct pattern_group *g = &p->groups[p->group_count];
		struct sv name = regex_name(p->regex, i, &g->number);

		if (!field_by_name(name, &g->field)) {
			*at = name_at(source, name);
			return arena_printf(a, "group \"%.*s\" is no field", SV_ARG(name)).p;
		}
		p->fields |= FIELD_BIT(g->field);
		p->group_count++;
	}
	return NULL;
}

const char *pattern_make(struct pattern *p, struct arena *a, struct sv source, enum regex_mode mode, size_t *at)
{
	struct regex_error error;

	*p = (struct pattern){ .regex = regex_new(source, mode, &error) };
	if (p->regex == NULL) {
		*at = error.at;
		return arena_strdup(a, sv_of(error.message));
	}
	find_literal(p, a, source);
	p->cover = arena_alloc(a, sizeof *p->cover);
	p->cover->source = source;
	p->cover->mode = mode;
	/* In a text of several lines ^ is no fixed place. */
	if (mode == REGEX_LINES)
		p->literal_first = false;
	else
		find_first_bytes(p, a, source);
	return map_groups(p, a, source, at);
}

void pattern_fini(struct pattern *p)
{
	regex_free(p->regex);
	p->regex = NULL;
}

bool pattern_may_match(const struct pattern *p, struct sv subject)
{
	if (subject.n < p->literal.n)
		return false;
	if (p->literal.n == 0)
		return true;
	if (p->literal_first)
		return memcmp(subject.p, p->literal.p, p->literal.n) == 0;
	size_t at;

	return sv_find(subject, p->literal, &at);
}

bool pattern_match(const struct pattern *p, struct sv subject, size_t from)
{
	return regex_match(p->regex, subject, from);
}

void pattern_set(struct event *e, enum event_field f, struct sv text)
{
	int64_t number;

	if (field_infos[f].type == FIELD_TEXT)
		event_set_text(e, f, text);
	else if (field_number(f, text, &number))
		event_set_int(e, f, number);
}

void pattern_fill(const struct pattern *p, struct event *e)
{
	for (size_t i = 0; i < p->group_count; i++) {
		struct sv text = regex_group(p->regex, p->groups[i].number);

		if (!sv_is_absent(text))
			pattern_set(e, p->groups[i].field, text);
	}
}
