/* SPDX-License-Identifier: MIT */
/* The subcommands: each connects inputs, store, analysis and report. */

#include "cli/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/findings.h"
#include "input/log/log_test.h"
#include "input/rules/rules.h"
#include "store/store.h"

/* ---- shared steps ---- */

static void print_problems(const struct diag *d, enum severity least)
{
	for (size_t i = 0; i < diag_count(d); i++) {
		const struct problem *p = diag_at(d, i);
		const char *unit = place_unit_name(p->place.unit);
		struct buf line;
		if (p->severity < least)
			continue;
		buf_init(&line);
		buf_add(&line, SV("aftershock: "));
		if (!sv_is_absent(p->path)) {
			buf_add_plain(&line, p->path);
			if (unit != NULL)
				buf_printf(&line, " %s %" PRIu64, unit, p->place.number);
			buf_add(&line, SV(": "));
		}
		buf_add_plain(&line, p->message);
		if (p->count > 1)
			buf_printf(&line, " (%" PRIu64 " times)", p->count);
		fprintf(stderr, "%.*s\n", SV_ARG(buf_sv(&line)));
		buf_fini(&line);
	}
}

static enum exit_code exit_code_of(const struct diag *d)
{
	enum severity worst;
	if (!diag_worst(d, &worst) || worst == SEVERITY_NOTE)
		return EXIT_DONE;
	return worst == SEVERITY_ERROR ? EXIT_FAILED : EXIT_DAMAGED;
}

static enum exit_code usage(const char *what)
{
	fprintf(stderr, "aftershock: %s\n", what);
	return EXIT_USAGE;
}

static enum exit_code fail(const struct diag *d)
{
	print_problems(d, SEVERITY_ERROR);
	return EXIT_FAILED;
}

/* Says on a terminal which input is being read, and notes which hosts there are; passes everything on. */
struct progress {
	struct input_sink inner;
	const struct ingest_options *options;
	bool show;
	bool *host_is_used, *zone_is_used;	/* of the options' */
};

/* The path may hold anything: an archive's members are named by whoever made it. */
static void show_path(struct sv path)
{
	struct buf line;
	buf_init(&line);
	buf_add_plain(&line, path);
	fprintf(stderr, "\r\033[Kreading %.*s", SV_ARG(buf_sv(&line)));
	buf_fini(&line);
}

static int progress_begin(void *context, struct input_info *info)
{
	struct progress *p = context;
	if (p->show)
		show_path(info->path);
	return p->inner.begin(p->inner.context, info);
}

/* The host is known for sure at the end: log lines may name it. */
static int progress_end(void *context, const struct input_info *info)
{
	struct progress *p = context;
	for (size_t i = 0; i < p->options->host_count; i++)
		p->host_is_used[i] = p->host_is_used[i] || sv_eq(p->options->hosts[i].name, info->host);
	for (size_t i = 0; i < p->options->zone_count; i++)
		p->zone_is_used[i] = p->zone_is_used[i] || sv_eq(p->options->zones[i].host, info->host);
	return p->inner.end(p->inner.context, info);
}

static void progress_abandon(void *context)
{
	struct progress *p = context;
	p->inner.abandon(p->inner.context);
}

/* What the user asked for and nothing answers to is most likely misspelt. */
static void warn_unused(const struct progress *p, struct diag *d)
{
	const struct ingest_options *o = p->options;
	for (size_t i = 0; i < o->host_count; i++)
		if (!p->host_is_used[i])
			diag_add(d, SEVERITY_WARNING, "option.unused", NULL, "--host %s=%.*s: no input's path matches the pattern",
				 o->hosts[i].pattern, SV_ARG(o->hosts[i].name));
	for (size_t i = 0; i < o->zone_count; i++)
		if (!p->zone_is_used[i] && !sv_is_absent(o->zones[i].host))
			diag_add(d, SEVERITY_WARNING, "option.unused", NULL, "--timezone %.*s=...: no input is of that host",
				 SV_ARG(o->zones[i].host));
}

/* The rules that come with the program: loaded when an input needs them. */
struct shipped_rules {
	const char *path;
	struct rules *rules;
	bool asked;
	struct diag *diag;
};

static const struct rules *get_shipped_rules(void *context)
{
	struct shipped_rules *s = context;
	if (!s->asked)
		s->rules = rules_load(s->path, s->diag);
	s->asked = true;
	return s->rules;
}

/* Reads every argument into the store. What fails is in d; the rest is read. */
static int ingest_all(const struct options *o, struct store *s, struct arena *run, struct diag *d)
{
	struct shipped_rules rules = { .path = files_rules(o->rules, run), .diag = d };
	/* Those of the user may be wrong: that is said before anything is read. */
	if (o->rules != NULL && get_shipped_rules(&rules) == NULL)
		return -1;
	struct ingest_options ingest = o->ingest;
	ingest.rules_source = (struct rules_source){ get_shipped_rules, &rules };
	struct progress progress = {
		.inner = store_sink(s),
		.options = &ingest,
		.show = !o->quiet && !o->no_progress && isatty(STDERR_FILENO),
		.host_is_used = arena_array(run, ingest.host_count + 1, sizeof(bool)),
		.zone_is_used = arena_array(run, ingest.zone_count + 1, sizeof(bool)),
	};
	struct input_sink sink = { progress_begin, progress.inner.events, progress_end, progress_abandon, &progress };
	for (size_t i = 0; i < o->argument_count; i++)
		source_ingest(o->arguments[i], &ingest, &sink, d);
	if (progress.show)
		fputs("\r\033[K", stderr);
	bool refused = rules.asked && rules.rules == NULL;
	if (!refused)
		warn_unused(&progress, d);
	rules_free(rules.rules);
	return refused ? -1 : 0;
}

/*
 * The problems that stand in no stored input: those of inputs come back from
 * the store. An error is none of them: the input in which it was met, for want
 * of room for instance, has been taken out again.
 */
static struct diag *problems_of_run(const struct diag *d, struct arena *run)
{
	struct diag *out = diag_new(run);
	for (size_t i = 0; i < diag_count(d); i++) {
		struct problem p = *diag_at(d, i);
		if (p.place.input != 0 && p.severity != SEVERITY_ERROR)
			continue;
		p.place.input = 0;
		diag_restore(out, &p);
	}
	return out;
}

static int write_report(const char *path, enum report_format format, const struct findings *f, bool color, struct diag *d)
{
	struct buf text;
	buf_init(&text);
	report_write(&text, format, f, color);
	int rc = files_write(path, &text, d);
	buf_fini(&text);
	return rc;
}

static bool is_known_host(const struct clocks *c, struct sv host)
{
	for (size_t i = 0; i < c->count; i++)
		if (sv_eq(c->hosts[i].host, host))
			return true;
	return false;
}

#define GROUPS_NAMED 10

/* The groups that there are, for who asked for one that there is not: "refunds, orders", "none". */
static struct sv known_groups(struct store *s, const struct analysis_options *o, const struct findings *f, struct arena *run)
{
	struct analysis_options any = *o;
	struct groups all = { 0 };
	struct sv names = SV("");

	any.group = SV_ABSENT;
	if (groups_find(s, &f->clocks, &any, run, &all) < 0 || all.count == 0)
		return SV("none");
	for (size_t i = 0; i < all.count && i < GROUPS_NAMED; i++)
		names = arena_printf(run, "%.*s%s%.*s", SV_ARG(names), i > 0 ? ", " : "", SV_ARG(all.items[i].name));
	return all.count > GROUPS_NAMED ? arena_printf(run, "%.*s and %zu more", SV_ARG(names), all.count - GROUPS_NAMED) : names;
}

/* As for inputs: what the user asked of the analysis and nothing answers to. Not every command shows problems: it is printed. */
static void warn_unknown(struct store *s, const struct analysis_options *o, const struct findings *f, struct arena *run,
			 struct diag *all)
{
	struct diag *d = diag_new(run);
	for (size_t i = 0; i < o->offset_count; i++)
		if (!is_known_host(&f->clocks, o->offsets[i].host))
			diag_add(d, SEVERITY_WARNING, "option.unused", NULL, "--offset %.*s=...: no event is of that host",
				 SV_ARG(o->offsets[i].host));
	if (!sv_is_absent(o->group) && f->groups.count == 0)
		diag_add(d, SEVERITY_WARNING, "option.unused", NULL,
			 "--group %.*s: nothing in the evidence is of that group; the groups in it: %.*s",
			 SV_ARG(o->group), SV_ARG(known_groups(s, o, f, run)));
	print_problems(d, SEVERITY_WARNING);
	for (size_t i = 0; i < diag_count(d); i++)
		diag_restore(all, diag_at(d, i));
}

/* Opens the database and draws all conclusions. The store is closed again: findings live in run. */
static int find(const char *db, enum store_mode mode, const struct analysis_options *o, struct arena *run, struct diag *d,
		struct findings *f)
{
	struct store *s = store_open(db, mode, d);
	int rc = s == NULL ? -1 : findings_make(s, o, run, d, f);
	if (rc == 0)
		warn_unknown(s, o, f, run, d);
	return store_close(s) < 0 ? -1 : rc;
}

static int findings_of_db(const struct options *o, struct arena *run, struct diag *d, struct findings *f)
{
	if (access(o->db, F_OK) != 0) {
		diag_add(d, SEVERITY_ERROR, "store.missing", NULL,
			 "%s: %s ('aftershock ingest --db %s INPUT' makes an incident database)", o->db,
			 strerror(errno), o->db);
		return -1;
	}
	return find(o->db, STORE_READ, &o->analysis, run, d, f);
}

/* ---- commands ---- */

/*
 * The database of exactly the inputs given: made beside and then put in place,
 * so that a second incident in the same directory is not mixed with the first,
 * and an earlier database stays whole until the new one is. 0 or -1.
 */
static int make_database(const struct options *o, const char *db, struct arena *run, struct diag *d)
{
	const char *part = arena_printf(run, "%s.part", db).p;
	const char *const stale[] = { part, arena_printf(run, "%s-journal", part).p };
	for (size_t i = 0; i < 2; i++)
		unlink(stale[i]);
	struct store *s = store_open(part, STORE_WRITE, d);
	int rc = s == NULL ? -1 : ingest_all(o, s, run, d);
	if (store_close(s) < 0 || rc < 0)
		return -1;
	/* A journal that a killed writer left belongs to the old file: SQLite would play it into the new one. */
	unlink(arena_printf(run, "%s-journal", db).p);
	return files_replace(part, db, d);
}

/* How to follow what the report names, by things that it has. */
static void print_next(const char *db, const struct findings *f)
{
	const struct {
		char letter;
		size_t count;
	} sorts[] = {
		{ 'R', f->rebalances.count },
		{ 'W', f->windows.count },
		{ 'L', f->effects.redelivery_count },
		{ 'D', f->effects.duplicate_count },
	};
	size_t named = 0;

	for (size_t i = 0; i < sizeof sorts / sizeof sorts[0]; i++) {
		if (sorts[i].count == 0)
			continue;
		if (named == 0)
			printf("Next: aftershock explain --db %s %c1", db, sorts[i].letter);
		else
			printf("%s%c1", named == 1 ? " (or " : ", ", sorts[i].letter);
		named++;
	}
	fputs(named > 1 ? ", or any other in the report)\n" : named == 1 ? "\n" : "", stdout);
}

/* Into a directory that is ours. */
static enum exit_code analyze_into(const char *directory, const struct options *o, struct arena *run, struct diag *read)
{
	const char *db = arena_printf(run, "%s/incident.db", directory).p;
	struct findings f;

	if (make_database(o, db, run, read) < 0)
		return fail(read);
	/* Opened anew: the problems of inputs are then those that the store kept, as in every later report. */
	struct diag *all = problems_of_run(read, run);
	if (find(db, STORE_WRITE, &o->analysis, run, all, &f) < 0 ||
	    write_report(arena_printf(run, "%s/report.json", directory).p, REPORT_JSON, &f, false, all) < 0 ||
	    write_report(arena_printf(run, "%s/report.html", directory).p, REPORT_HTML, &f, false, all) < 0)
		return fail(all);
	if (!o->quiet) {
		if (write_report(NULL, REPORT_TEXT, &f, files_color(o->color), all) < 0)
			return fail(all);
		printf("Written: %s/report.html, %s/report.json, %s/incident.db\n", directory, directory, directory);
		print_next(db, &f);
	}
	print_problems(all, SEVERITY_ERROR);
	return exit_code_of(all);
}

enum exit_code command_analyze(const struct options *o, struct arena *run)
{
	const char *directory = o->output != NULL ? o->output : "aftershock-report";
	struct diag *read = diag_new(run);
	enum exit_code code;
	int held;

	if (o->argument_count == 0)
		return usage("analyze needs an INPUT: a file, a directory, an archive, or - (see --help)");
	if (files_make_directory(directory, run, read) < 0 || !files_claim_directory(directory, &held, read))
		return fail(read);
	code = analyze_into(directory, o, run, read);
	files_release(held);
	return code;
}

enum exit_code command_ingest(const struct options *o, struct arena *run)
{
	struct diag *d = diag_new(run);
	if (o->db == NULL || o->argument_count == 0)
		return usage("ingest needs --db FILE and an INPUT (see --help)");
	struct store *s = store_open(o->db, STORE_WRITE, d);
	int rc = s == NULL ? -1 : ingest_all(o, s, run, d);
	if (store_close(s) < 0 || rc < 0)
		return fail(d);
	print_problems(d, SEVERITY_NOTE);
	return exit_code_of(d);
}

enum exit_code command_report(const struct options *o, struct arena *run)
{
	struct diag *d = diag_new(run);
	struct findings f;
	if (o->db == NULL || o->argument_count != 0)
		return usage("report needs --db FILE and no other argument (see --help)");
	if (findings_of_db(o, run, d, &f) < 0)
		return fail(d);
	bool unwanted = o->quiet && o->output == NULL;
	if (!unwanted && write_report(o->output, o->format, &f, o->output == NULL && files_color(o->color), d) < 0)
		return fail(d);
	if (o->has_fail_on && verdict_at_least(f.share.verdict, o->fail_on))
		return EXIT_VERDICT;
	return exit_code_of(d);
}

enum exit_code command_tune(const struct options *o, struct arena *run)
{
	struct diag *d = diag_new(run);
	struct findings f;
	struct buf text;
	if (o->db == NULL || o->argument_count != 0)
		return usage("tune needs --db FILE and no other argument (see --help)");
	if (findings_of_db(o, run, d, &f) < 0)
		return fail(d);
	buf_init(&text);
	report_tuning(&text, o->format, &f, files_color(o->color));
	int rc = o->quiet ? 0 : files_write(NULL, &text, d);
	buf_fini(&text);
	return rc < 0 ? fail(d) : exit_code_of(d);
}

enum exit_code command_explain(const struct options *o, struct arena *run)
{
	struct diag *d = diag_new(run);
	struct findings f;
	struct buf text;
	if (o->db == NULL || o->argument_count != 1)
		return usage("explain needs --db FILE and one ID such as W3, R12, L2 or D7 (see --help)");
	if (findings_of_db(o, run, d, &f) < 0)
		return fail(d);
	buf_init(&text);
	int rc = -1;
	if (report_explain(&text, &f, sv_of(o->arguments[0]), files_color(o->color)))
		rc = o->quiet ? 0 : files_write(NULL, &text, d);
	else
		diag_add(d, SEVERITY_ERROR, "explain.unknown_id", NULL,
			 "there is no %s in this incident: it has %zu windows (W), %zu rebalances (R), %zu redeliveries (L) and "
			 "%zu duplicates (D)",
			 o->arguments[0], f.windows.count, f.rebalances.count, f.effects.redelivery_count,
			 f.effects.duplicate_count);
	buf_fini(&text);
	return rc < 0 ? fail(d) : exit_code_of(d);
}

enum exit_code command_probe(const struct options *o, struct arena *run)
{
	struct diag *d = diag_new(run);
	if (o->output == NULL || o->argument_count != 0)
		return usage("probe needs -o FILE and no other argument (see --help)");
	if (o->probe.interface != NULL && strcmp(o->output, "-") == 0)
		return usage("probe --capture needs -o FILE: packets are written to files beside it");
	if (o->probe.interface == NULL && o->probe.filter != NULL)
		return usage("probe --filter needs --capture IFACE");
	int rc = probe_run(&o->probe, o->output, !o->quiet, run, d);
	if (rc < 0)
		return fail(d);
	print_problems(d, SEVERITY_NOTE);
	return exit_code_of(d);
}

static int list_rules(const struct rules *r, struct diag *d)
{
	(void)d;
	rules_list(r, stdout);
	return 0;
}

static int test_rules(const struct rules *r, struct diag *d)
{
	(void)d;
	if (isatty(STDIN_FILENO))
		fputs("aftershock: reading lines from the terminal; Ctrl-D ends them\n", stderr);
	return log_test(r, stdin, stdout);
}

/* What rules can be asked; max_files more arguments may name files or directories of them, each read by itself. */
static const struct rules_verb {
	const char *name;
	size_t max_files;
	int (*run)(const struct rules *r, struct diag *d);
} rules_verbs[] = {
	{ "list", 0, list_rules },
	{ "check", SIZE_MAX, rules_check },
	{ "test", 1, test_rules },
};

static const struct rules_verb *rules_verb_of(const struct options *o)
{
	for (size_t i = 0; o->argument_count > 0 && i < sizeof rules_verbs / sizeof rules_verbs[0]; i++)
		if (strcmp(rules_verbs[i].name, o->arguments[0]) == 0 && o->argument_count - 1 <= rules_verbs[i].max_files)
			return &rules_verbs[i];
	return NULL;
}

static int run_rules_verb(const struct rules_verb *verb, const char *path, struct diag *d)
{
	struct rules *rules = rules_load(path, d);
	int rc = rules == NULL ? -1 : verb->run(rules, d);
	rules_free(rules);
	return rc;
}

enum exit_code command_rules(const struct options *o, struct arena *run)
{
	struct diag *d = diag_new(run);
	const struct rules_verb *verb = rules_verb_of(o);
	int rc = 0;
	if (verb == NULL)
		return usage("rules needs: list, or check [FILE...], or test [FILE] (see --help)");
	if (o->argument_count == 1)
		rc = run_rules_verb(verb, files_rules(o->rules, run), d);
	/* A broken file hides nothing of the next. */
	for (size_t i = 1; i < o->argument_count; i++)
		rc = run_rules_verb(verb, o->arguments[i], d) < 0 ? -1 : rc;
	print_problems(d, SEVERITY_NOTE);
	return rc < 0 ? EXIT_FAILED : exit_code_of(d);
}

enum exit_code command_thresholds(const struct options *o, struct arena *run)
{
	struct diag *d = diag_new(run);
	struct buf text;
	if (o->argument_count != 0)
		return usage("thresholds takes no argument (see --help)");
	buf_init(&text);
	for (int i = 0; i < THRESHOLD_COUNT; i++) {
		const struct threshold *t = &threshold_infos[i];
		buf_printf(&text, "%s = %" PRId64 " %s (%" PRId64 " to %" PRId64 ")\n    %s\n", t->name, t->value,
			   t->unit, t->least, t->most, t->reason);
	}
	int rc = files_write(NULL, &text, d);
	buf_fini(&text);
	return rc < 0 ? fail(d) : EXIT_DONE;
}
