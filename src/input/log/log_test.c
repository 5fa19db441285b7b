/* SPDX-License-Identifier: MIT */
/* See input/log/log_test.h. */

#include "input/log/log_test.h"

#include <stdlib.h>
#include <sys/types.h>

#include "input/log/unwrap.h"

struct trial {
	const struct rules *rules;
	FILE *out;
};

static int show(void *context, const struct unwrapped *r)
{
	const struct trial *t = context;

	rules_show(t->rules, r->joined.line, &r->joined.record, t->out);
	return 0;
}

static void try_line(const struct trial *t, struct unwrap *u, const struct line *line)
{
	uint64_t orphans = unwrap_orphans(u);

	(void)unwrap_add(u, line);
	if (unwrap_orphans(u) > orphans)
		rules_show(t->rules, line->number, &(struct log_record){ .body = line->text }, t->out);
}

int log_test(const struct rules *r, FILE *in, FILE *out)
{
	struct trial t = { r, out };
	struct unwrap *u = unwrap_new(r, (struct zone){ 0 }, (struct unwrap_sink){ show, &t });
	struct line line = { .number = 0 };
	char *text = NULL;
	size_t capacity = 0;
	ssize_t n;

	while ((n = getline(&text, &capacity, in)) >= 0) {
		line.text = (struct sv){ text, (size_t)n };
		while (line.text.n > 0 && (text[line.text.n - 1] == '\n' || text[line.text.n - 1] == '\r'))
			line.text.n--;
		line.number++;
		try_line(&t, u, &line);
	}
	(void)unwrap_end(u);
	unwrap_free(u);
	free(text);
	return ferror(in) || ferror(out) ? -1 : 0;
}
