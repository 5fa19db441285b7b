/* SPDX-License-Identifier: MIT */
/*
 * Records to events by rules. What a message begins with (its prefixes) is
 * taken off first; its next byte names the few rules that are looked at.
 */

#include "input/rules/rules_set.h"

/* More than any message has; what is beyond is left in the message. */
#define PREFIXES_MAX 4

/* ---- prefixes ---- */

/* What stands before a message proper. */
struct heading {
	size_t count;
	enum rule_from from;
	struct sv message;	/* what follows them */
};

/* What costs less to look at than to run the pattern, which is asked of every message. */
static bool may_begin(const struct rules *r, const struct pattern *p, struct sv message)
{
	if (p->first_bytes != NULL)
		return message.n > 0 && p->first_bytes[(unsigned char)message.p[0]];
	return pattern_may_match(p, message) &&
	       (p->literal_first || cover_may_match(pattern_cover(p, r->arena), message));
}

/* Its fields go to the event, if there is one. */
static bool take_prefix(const struct rules *r, struct heading *h, struct event *e)
{
	for (size_t i = 0; i < r->prefix_count; i++) {
		const struct prefix *p = r->prefixes[i];
		struct sv whole;

		if (!may_begin(r, &p->match, h->message) || !pattern_match(&p->match, h->message, 0))
			continue;
		whole = regex_group(p->match.regex, 0);
		if (whole.n == 0)
			continue;
		if (e != NULL)
			pattern_fill(&p->match, e);
		h->count++;
		h->message = sv_sub(h->message, whole.n, h->message.n);
		if (p->from != FROM_ANY)
			h->from = p->from;
		return true;
	}
	return false;
}

static struct heading take_heading(const struct rules *r, struct sv text, struct event *e)
{
	struct heading h = { .message = text };

	while (h.count < PREFIXES_MAX && take_prefix(r, &h, e))
		;
	return h;
}

/* What a layout found beside the message: the message's own words win over it. */
static void fill_beside(const struct log_record *record, struct event *e)
{
	for (size_t i = record->field_count; i > 0; i--)
		pattern_set(e, record->fields[i - 1].field, record->fields[i - 1].text);
}

/* ---- rules ---- */

static const struct bucket *bucket_of(const struct rules *r, const struct heading *h)
{
	return &r->buckets[h->message.n > 0 ? (unsigned char)h->message.p[0] : 0];
}

static struct sv beside(const struct log_record *record, enum event_field field)
{
	for (size_t i = 0; i < record->field_count; i++) {
		if (record->fields[i].field == field)
			return record->fields[i].text;
	}
	return SV_ABSENT;
}

/* A message without lines below it is as one with empty ones: their absence may be asked for. */
static struct sv asked_of(const struct within *where, const struct log_record *record)
{
	if (where->what == WITHIN_FIELD)
		return beside(record, where->source);
	return sv_is_absent(record->more) ? SV("") : record->more;
}

/* What stands beside the message and below it is as the rule wants it. */
static bool wheres_hold(const struct rule *rule, const struct log_record *record)
{
	for (size_t i = 0; i < rule->where_count; i++) {
		struct sv text = asked_of(&rule->wheres[i], record);

		if (sv_is_absent(text) || !pattern_match(&rule->wheres[i].pattern, text, 0))
			return false;
	}
	return true;
}

static bool rule_fits(const struct rule *rule, const struct heading *h, const struct log_record *record)
{
	if (rule->from != FROM_ANY && h->from != FROM_ANY && rule->from != h->from)
		return false;
	return wheres_hold(rule, record) && pattern_match(&rule->match, h->message, 0);
}

static struct sv source_of(const struct within *w, const struct log_record *record, const struct event *e)
{
	switch (w->what) {
	case WITHIN_LINES:
		return record->more;
	case WITHIN_BODY:
		return record->body;
	case WITHIN_FIELD:
		break;
	}
	return event_text(e, w->source);
}

static void fill_within(const struct within *w, const struct log_record *record, struct event *e)
{
	struct sv source = source_of(w, record, e);

	if (!sv_is_absent(source) && pattern_may_match(&w->pattern, source) && pattern_match(&w->pattern, source, 0))
		pattern_fill(&w->pattern, e);
}

static void fill_constants(const struct rule *rule, struct event *e)
{
	for (size_t i = 0; i < rule->constant_count; i++) {
		const struct constant *c = &rule->constants[i];

		if (field_infos[c->field].type == FIELD_INT)
			event_set_int(e, c->field, c->number);
		else
			event_set_text(e, c->field, c->text);
	}
}

/*
 * The rule's match is still in its regex. What stands beside the message and
 * before it has been filled in.
 */
static void fill_common(const struct rule *rule, const struct log_record *record, struct event *e)
{
	e->type = rule->event;
	e->strength = rule->strength;
	pattern_fill(&rule->match, e);
	for (size_t i = 0; i < rule->within_count; i++)
		fill_within(&rule->withins[i], record, e);
	fill_constants(rule, e);
}

size_t rules_fit(const struct rules *r, const struct log_record *record, const struct rule **out, size_t max)
{
	struct heading h = take_heading(r, record->body, NULL);
	const struct bucket *b = bucket_of(r, &h);
	size_t n = 0;

	for (size_t i = 0; i < b->count && n < max; i++) {
		if (pattern_may_match(&b->rules[i]->match, h.message) && rule_fits(b->rules[i], &h, record))
			out[n++] = b->rules[i];
	}
	return n;
}

/* What all rules have to do with a record. */
static struct heading begin(struct rules_events *it, const struct rules *r, const struct log_record *record)
{
	it->record = record;
	it->rule = NULL;
	it->at = 0;
	it->found = 0;
	it->ended = true;
	event_init(&it->common, (enum event_type)0);
	fill_beside(record, &it->common);
	return take_heading(r, record->body, &it->common);
}

/* When it fits, it is the record's. */
static void try_rule(struct rules_events *it, const struct rule *rule, const struct heading *h)
{
	if (!rule_fits(rule, h, it->record))
		return;
	it->rule = rule;
	it->ended = rule->says_nothing;
	if (!it->ended)
		fill_common(rule, it->record, &it->common);
}

static const char *name_of(const struct rule *rule)
{
	return rule != NULL ? rule->section.name.p : NULL;
}

void rules_events_init(struct rules_events *it, const struct rules *r, const struct log_record *record,
		       const char **rule)
{
	struct heading h = begin(it, r, record);
	const struct bucket *b = bucket_of(r, &h);

	for (size_t i = 0; i < b->count && it->rule == NULL; i++)
		if (pattern_may_match(&b->rules[i]->match, h.message))
			try_rule(it, b->rules[i], &h);
	*rule = name_of(it->rule);
}

void rules_events_among(struct rules_events *it, const struct rules *r, const struct log_record *record,
			const uint32_t *numbers, size_t count, const char **rule)
{
	struct heading h = begin(it, r, record);

	/* Their literals are there already: to look for them once more would cost as much as the pattern. */
	for (size_t i = 0; i < count && it->rule == NULL; i++)
		try_rule(it, r->rules[numbers[i]], &h);
	*rule = name_of(it->rule);
}

/* The next match of the rule's "each". */
static bool next_each(struct rules_events *it, struct event *e)
{
	const struct pattern *each = &it->rule->each.pattern;
	struct sv source = source_of(&it->rule->each, it->record, &it->common), whole;

	if (sv_is_absent(source) || !pattern_match(each, source, it->at))
		return false;
	whole = regex_group(each->regex, 0);
	if (sv_is_absent(whole))
		return false;
	/* An empty match must not be found for ever. */
	it->at = (size_t)(whole.p - source.p) + whole.n + (whole.n == 0);
	event_copy(e, &it->common);
	pattern_fill(each, e);
	return true;
}

bool rules_is_cut(const struct rule *rule)
{
	return rule != NULL && rule->is_cut;
}

bool rules_events_is_silent(const struct rules_events *it)
{
	return it->rule != NULL && it->rule->says_nothing && !it->rule->is_cut;
}

bool rules_looks_beside(const struct rules *r, uint32_t number)
{
	return r->rules[number]->where_count > 0;
}

bool rules_names_speaker(const struct rule *rule)
{
	return !rule->whose_thread;
}

/* Whether a required field is missing that nobody else can fill. */
static bool is_lacking(const struct rule *rule, const struct event *e)
{
	field_set missing = event_missing(e);

	if (rule->whose_thread)
		missing &= ~RULES_SPEAKER_FIELDS;
	return missing != 0;
}

bool rules_events_next(struct rules_events *it, struct event *e)
{

	while (!it->ended) {
		if (!it->rule->has_each || !next_each(it, e)) {
			it->ended = true;
			/* Where there is nothing to take one by one, the record is one event. */
			if (it->found > 0)
				return false;
			event_copy(e, &it->common);
		}
		it->found++;
		if (!is_lacking(it->rule, e))
			return true;
	}
	return false;
}

bool rules_match(const struct rules *r, const struct log_record *record, struct event *e, const char **rule)
{
	struct rules_events it;

	rules_events_init(&it, r, record, rule);
	return rules_events_next(&it, e);
}
