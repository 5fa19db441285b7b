/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/digest.h"
#include "input/kind.h"
#include "input/source.h"
#include "input_kit.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char rules_text[] =
	"layout   plain\n"
	"line     ^(?<time>\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d) (?<level>[A-Z]+) (?<body>.*)$\n"
	"time     yyyy-MM-dd HH:mm:ss\n"
	"example  2026-11-30 13:00:00 INFO up\n"
	"expect   time=2026-11-30T13:00:00.000000Z level=INFO body=up\n"
	"\n"
	"rule     up\n"
	"event    broker.started\n"
	"match    ^up$\n"
	"example  2026-11-30 13:00:00 INFO up\n"
	"expect   event=broker.started\n"
	"\n"
	"table    attempts\n"
	"event    effect\n"
	"column   time            time\n"
	"column   business_key    business_key\n"
	"column   status          status\n"
	"maybe    consumer        consumer\n"
	"maybe    offset          offset\n"
	"maybe    amount_micros   amount\n"
	"example  time,business_key,status\n"
	"expect   time=time business_key=business_key status=status\n";

#define BAD_INPUTS "tests/bad/inputs"

#define LOG(second) "2026-11-30 13:00:0" second " INFO up\n"
/* 2026-11-30T13:00:00Z */
#define T0 INT64_C(1796043600000000)

/* Stands in for captures: "CAP!" is one, "CAP?" is one that is broken. */
static enum sniffed double_sniff(struct sv head, struct sv base_name, const struct rules *rules, const char **why)
{
	(void)base_name;
	(void)rules;
	if (sv_starts_with(head, SV("CAP?"))) {
		*why = "its header is cut";
		return SNIFF_BROKEN;
	}
	return sv_starts_with(head, SV("CAP!")) ? SNIFF_MINE : SNIFF_NOT_MINE;
}

static int double_read(struct ingest *in)
{
	char bytes[4096];

	while (stream_read(in->stream, bytes, sizeof bytes) > 0)
		;
	in->info->records = stream_position(in->stream);
	return 0;
}

const struct kind capture_kind = { "capture", double_sniff, double_read };

/* ---- a directory of its own for each test ---- */

struct place_for_files {
	struct kit *kit;
	struct rules *rules;
	struct ingest_options options;
	char root[64];
};

static struct place_for_files *setup_files(void)
{
	struct kit *k = kit_new();
	struct place_for_files *p = arena_alloc(k->arena, sizeof *p);

	p->kit = k;
	p->rules = rules_parse(SV("test.rules"), SV(rules_text), k->diag);
	if (p->rules == NULL)
		fail_msg("rules: %.*s", SV_ARG(diag_at(k->diag, 0)->message));
	p->options.rules = p->rules;
	snprintf(p->root, sizeof p->root, "/tmp/aftershock-test-XXXXXX");
	assert_non_null(mkdtemp(p->root));
	return p;
}

static void teardown_files(struct place_for_files *p)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf '%s'", p->root);
	assert_int_equal(system(command), 0);
	rules_free(p->rules);
	kit_free(p->kit);
}

static const char *path_of(struct place_for_files *p, const char *name)
{
	return arena_printf(p->kit->arena, "%s/%s", p->root, name).p;
}

static void make_directory(struct place_for_files *p, const char *name)
{
	assert_int_equal(mkdir(path_of(p, name), 0700), 0);
}

static void write_bytes(struct place_for_files *p, const char *name, const void *bytes, size_t n)
{
	FILE *f = fopen(path_of(p, name), "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void write_text(struct place_for_files *p, const char *name, const char *text)
{
	write_bytes(p, name, text, strlen(text));
}

static int ingest(struct place_for_files *p, const char *argument)
{
	struct input_sink sink = kit_sink(p->kit);

	return source_ingest(argument, &p->options, &sink, p->kit->diag);
}

static const struct input_info *input_at(struct place_for_files *p, const char *name)
{
	return kit_input(p->kit, path_of(p, name));
}

/* The problem of a code that stands at a path. */
static const struct problem *problem_at(struct place_for_files *p, const char *code, const char *path)
{
	static const struct problem none;

	for (size_t i = 0; i < diag_count(p->kit->diag); i++) {
		const struct problem *q = diag_at(p->kit->diag, i);

		if (sv_eq(q->code, sv_of(code)) && sv_eq(q->path, sv_of(path)))
			return q;
	}
	fail_msg("no problem %s at %s", code, path);
	return &none;
}

static bool says(struct sv text, const char *words)
{
	size_t at;

	return sv_find(text, sv_of(words), &at);
}

/* ---- archives ---- */

enum packing { TAR_GZ, TAR, ZIP, GZ, XZ, BZ2, ZSTD, LZ4 };

struct file {
	const char *name;
	const char *text;
	size_t n;	/* 0: as long as the text is */
};

static void pack(struct place_for_files *p, const char *name, enum packing how, const struct file *files, size_t count)
{
	struct archive *a = archive_write_new();
	struct archive_entry *e = archive_entry_new();

	switch (how) {
	case TAR_GZ:
	case GZ: archive_write_add_filter_gzip(a); break;
	case XZ: archive_write_add_filter_xz(a); break;
	case BZ2: archive_write_add_filter_bzip2(a); break;
	case ZSTD: archive_write_add_filter_zstd(a); break;
	case LZ4: archive_write_add_filter_lz4(a); break;
	case TAR:
	case ZIP: break;
	}
	if (how == TAR || how == TAR_GZ)
		archive_write_set_format_ustar(a);
	else if (how == ZIP)
		archive_write_set_format_zip(a);
	else
		archive_write_set_format_raw(a);
	assert_int_equal(archive_write_open_filename(a, path_of(p, name)), ARCHIVE_OK);
	for (size_t i = 0; i < count; i++) {
		size_t n = files[i].n > 0 ? files[i].n : strlen(files[i].text);

		archive_entry_clear(e);
		archive_entry_set_pathname(e, files[i].name);
		archive_entry_set_filetype(e, AE_IFREG);
		archive_entry_set_perm(e, 0644);
		archive_entry_set_size(e, (la_int64_t)n);
		assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
		assert_int_equal(archive_write_data(a, files[i].text, n), n);
	}
	archive_entry_free(e);
	assert_int_equal(archive_write_close(a), ARCHIVE_OK);
	archive_write_free(a);
}

#define PACK(p, name, how, ...) \
	pack(p, name, how, (const struct file[]){ __VA_ARGS__ }, sizeof (const struct file[]){ __VA_ARGS__ } / sizeof(struct file))

static char *slurp(struct place_for_files *p, const char *name, size_t *n)
{
	FILE *f = fopen(path_of(p, name), "rb");
	char *bytes = arena_alloc(p->kit->arena, 4 << 20);

	assert_non_null(f);
	*n = fread(bytes, 1, 4 << 20, f);
	fclose(f);
	return bytes;
}

/* ---- files ---- */

static void test_one_file(void **state)
{
	struct place_for_files *p = setup_files();
	const struct input_info *i;
	char hex[2 * DIGEST_BYTES + 1];
	struct digest d;

	(void)state;
	make_directory(p, "consumer-1");
	write_text(p, "consumer-1/app.log", LOG("0") LOG("5"));
	assert_int_equal(ingest(p, path_of(p, "consumer-1/app.log")), 0);
	assert_int_equal(p->kit->input_count, 1);
	i = input_at(p, "consumer-1/app.log");
	assert_sv_equal(i->kind, "log");
	assert_sv_equal(i->format, "plain");
	/* Nothing lies below an argument that is a file. */
	assert_absent(i->host);
	assert_absent(i->why_skipped);
	assert_int_equal(i->size_bytes, 56);
	assert_int_equal(i->records, 2);
	/* Two, and what the log covers. */
	assert_int_equal(i->events, 3);
	assert_true(i->has_times);
	assert_int_equal(i->first.us, T0);
	assert_int_equal(i->last.us, T0 + 5 * US_PER_S);
	digest_init(&d);
	digest_add(&d, LOG("0") LOG("5"), 56);
	digest_hex(&d, hex);
	assert_sv_equal(i->digest, hex);
	assert_int_equal(p->kit->events[0].place.input, 1);
	assert_int_equal(diag_count(p->kit->diag), 0);
	teardown_files(p);
}

static void test_a_walk(void **state)
{
	static const char *const order[] = { "B.log", "a-b/x.log", "a.log", "a/deep/c.log", "a/z.log", "b.csv" };
	struct place_for_files *p = setup_files();

	(void)state;
	make_directory(p, "a");
	make_directory(p, "a/deep");
	make_directory(p, "a-b");
	write_text(p, "a/z.log", LOG("1"));
	write_text(p, "a/deep/c.log", LOG("2"));
	write_text(p, "a-b/x.log", LOG("3"));
	write_text(p, "a.log", LOG("4"));
	write_text(p, "B.log", LOG("5"));
	write_text(p, "b.csv", "time,business_key,status,consumer\n2026-11-30 13:00:00,R,ok,c-9\n");
	assert_int_equal(ingest(p, arena_printf(p->kit->arena, "%s/", p->root).p), 0);
	/* Byte by byte: capitals first, "-" before "." before the end of the name "a". */
	assert_int_equal(p->kit->input_count, 6);
	assert_sv_equal(p->kit->inputs[0].path, path_of(p, order[0]));
	assert_sv_equal(p->kit->inputs[1].path, path_of(p, order[3]));
	assert_sv_equal(p->kit->inputs[2].path, path_of(p, order[4]));
	assert_sv_equal(p->kit->inputs[3].path, path_of(p, order[1]));
	assert_sv_equal(p->kit->inputs[4].path, path_of(p, order[2]));
	assert_sv_equal(p->kit->inputs[5].path, path_of(p, order[5]));
	assert_absent(input_at(p, "B.log")->host);
	assert_sv_equal(input_at(p, "a/deep/c.log")->host, "deep");
	assert_sv_equal(input_at(p, "a/z.log")->host, "a");
	assert_sv_equal(p->kit->events[p->kit->event_count - 2].host, "c-9");
	assert_absent(input_at(p, "b.csv")->host);
	teardown_files(p);
}

static void test_the_directory_of_a_table_is_no_host(void **state)
{
	struct place_for_files *p = setup_files();

	(void)state;
	make_directory(p, "exports");
	write_text(p, "exports/x.csv", "time,business_key,status\n2026-11-30 13:00:00,R,ok\n");
	assert_int_equal(ingest(p, p->root), 0);
	assert_absent(input_at(p, "exports/x.csv")->host);
	assert_absent(p->kit->events[0].host);
	teardown_files(p);
}

static void check_skipped(struct place_for_files *p, const char *name, enum severity severity, const char *why)
{
	const struct input_info *i = input_at(p, name);
	const struct problem *q = problem_at(p, "input.skipped", path_of(p, name));

	assert_sv_equal(i->kind, "skipped");
	if (!says(i->why_skipped, why))
		fail_msg("%s: \"%.*s\" does not say \"%s\"", name, SV_ARG(i->why_skipped), why);
	assert_int_equal(i->events, 0);
	assert_int_equal(q->severity, severity);
	assert_int_equal(q->place.input, i->id);
}

static void test_what_is_no_evidence(void **state)
{
	struct place_for_files *p = setup_files();

	(void)state;
	write_text(p, "README", "These logs, of Monday,\nare from the second cluster.\n");
	write_text(p, "truth.json", "{\n  \"schema\": \"x\",\n  \"runs\": []\n}\n");
	write_text(p, "list.json", "[ {\"a\": 1} ]");
	write_bytes(p, "core", "\177ELF\2\1\1\0\0\0", 10);
	write_bytes(p, "noise", "\1\2\3\4\5\6\7\0\1\2\3\4abc", 15);
	write_text(p, "empty", "");
	write_text(p, "empty-too", "");
	write_bytes(p, "x.db", "SQLite format 3\0rest of it", 26);
	write_bytes(p, "sa30", "\x96\xd5\x75\x21more", 8);
	write_bytes(p, "system.journal", "LPKSHHRH\0\0\0\0\0\0\0\0", 16);
	write_text(p, "other.csv", "id,business_key,status\n1,R-1,ok\n");
	write_text(p, "blank", " \n\n");
	write_text(p, "cols.json", "{\"preview\":false,\"init_offset\":0,\"messages\":[],\"fields\":[\"_raw\",\"host\"],\"columns\":[[\"x\"],[\"broker-1\"]]}\n");
	write_text(p, "results.xml", "<?xml version='1.0' encoding='UTF-8'?>\n<results preview='0'>\n<meta>\n<fieldOrder>\n<field>_raw</field>\n"
				     "</fieldOrder>\n</meta>\n<result offset='0'>\n<field k='_raw'><v xml:space='preserve' trunc='0'>x</v></field>\n"
				     "</result>\n</results>\n");
	write_text(p, "other.xml", "<?xml version='1.0'?>\n<orders><field>x</field></orders>\n");
	assert_int_equal(ingest(p, p->root), 0);
	assert_int_equal(p->kit->input_count, 15);
	check_skipped(p, "cols.json", SEVERITY_NOTE, "(output_mode=json_cols): export them with output_mode=json or csv");
	check_skipped(p, "results.xml", SEVERITY_NOTE, "(output_mode=xml): export them with output_mode=json or csv");
	check_skipped(p, "other.xml", SEVERITY_NOTE, "an XML document");
	check_skipped(p, "system.journal", SEVERITY_NOTE, "journalctl --file FILE -o json");
	check_skipped(p, "README", SEVERITY_NOTE, "text");
	check_skipped(p, "truth.json", SEVERITY_NOTE, "a JSON document of no known kind");
	check_skipped(p, "list.json", SEVERITY_NOTE, "a JSON document of no known kind");
	check_skipped(p, "core", SEVERITY_NOTE, "a program");
	check_skipped(p, "noise", SEVERITY_NOTE, "binary");
	check_skipped(p, "empty", SEVERITY_NOTE, "empty");
	check_skipped(p, "empty-too", SEVERITY_NOTE, "empty");
	check_skipped(p, "x.db", SEVERITY_NOTE, "SQLite");
	check_skipped(p, "sa30", SEVERITY_NOTE, "sadf");
	check_skipped(p, "other.csv", SEVERITY_NOTE, "id, business_key, status");
	check_skipped(p, "blank", SEVERITY_NOTE, "white space");
	teardown_files(p);
}

static void test_no_evidence_that_was_named(void **state)
{
	struct place_for_files *p = setup_files();

	(void)state;
	write_text(p, "README", "These logs\n");
	write_text(p, "empty", "");
	/* The job was done all the same. */
	assert_int_equal(ingest(p, path_of(p, "README")), 0);
	assert_int_equal(ingest(p, path_of(p, "empty")), 0);
	check_skipped(p, "README", SEVERITY_WARNING, "text");
	check_skipped(p, "empty", SEVERITY_WARNING, "empty");
	teardown_files(p);
}

static void test_links_and_pipes_in_a_walk(void **state)
{
	struct place_for_files *p = setup_files();

	(void)state;
	make_directory(p, "in");
	write_text(p, "outside.log", LOG("1"));
	write_text(p, "in/a.log", LOG("2"));
	assert_int_equal(symlink("../outside.log", path_of(p, "in/link.log")), 0);
	assert_int_equal(symlink(".", path_of(p, "in/loop")), 0);
	assert_int_equal(mkfifo(path_of(p, "in/pipe"), 0600), 0);
	assert_int_equal(ingest(p, path_of(p, "in")), 0);
	assert_int_equal(p->kit->input_count, 1);
	assert_int_equal(problem_at(p, "input.skipped", path_of(p, "in/link.log"))->severity, SEVERITY_NOTE);
	assert_int_equal(problem_at(p, "input.skipped", path_of(p, "in/loop"))->severity, SEVERITY_NOTE);
	assert_int_equal(problem_at(p, "input.skipped", path_of(p, "in/pipe"))->severity, SEVERITY_NOTE);
	/* A link that the user named is what it leads to. */
	assert_int_equal(ingest(p, path_of(p, "in/link.log")), 0);
	assert_sv_equal(input_at(p, "in/link.log")->kind, "log");
	teardown_files(p);
}

static void test_missing(void **state)
{
	struct place_for_files *p = setup_files();
	const struct problem *q;

	(void)state;
	assert_int_equal(ingest(p, path_of(p, "nothing")), -1);
	q = problem_at(p, "input.unreadable", path_of(p, "nothing"));
	assert_int_equal(q->severity, SEVERITY_ERROR);
	assert_true(says(q->message, "No such file or directory"));
	assert_int_equal(p->kit->input_count, 0);
	teardown_files(p);
}

static void test_empty_directory(void **state)
{
	struct place_for_files *p = setup_files();

	(void)state;
	assert_int_equal(ingest(p, p->root), 0);
	assert_int_equal(problem_at(p, "input.empty", p->root)->severity, SEVERITY_WARNING);
	/* One that a walk comes upon takes nothing from the user. */
	make_directory(p, "tmp");
	assert_int_equal(ingest(p, p->root), 0);
	assert_int_equal(problem_at(p, "input.empty", path_of(p, "tmp"))->severity, SEVERITY_NOTE);
	teardown_files(p);
}

static void test_the_same_again_adds_nothing(void **state)
{
	struct place_for_files *p = setup_files();

	(void)state;
	write_text(p, "a.log", LOG("1"));
	write_text(p, "b.log", LOG("1"));
	write_text(p, "c.log", LOG("2"));
	assert_int_equal(ingest(p, p->root), 0);
	assert_int_equal(p->kit->input_count, 2);
	assert_int_equal(problem_at(p, "input.repeated", path_of(p, "b.log"))->severity, SEVERITY_NOTE);
	assert_int_equal(p->kit->event_count, 4);
	assert_int_equal(ingest(p, p->root), 0);
	assert_int_equal(p->kit->input_count, 2);
	assert_int_equal(p->kit->event_count, 4);
	teardown_files(p);
}

static void test_broken_evidence(void **state)
{
	struct place_for_files *p = setup_files();
	const struct problem *q;

	(void)state;
	write_text(p, "a.pcap", "CAP?");
	write_text(p, "b.pcap", "CAP!12");
	assert_int_equal(ingest(p, p->root), 0);
	assert_sv_equal(input_at(p, "a.pcap")->kind, "skipped");
	assert_sv_equal(input_at(p, "a.pcap")->why_skipped, "its header is cut");
	q = problem_at(p, "input.damaged", path_of(p, "a.pcap"));
	assert_int_equal(q->severity, SEVERITY_WARNING);
	assert_sv_equal(input_at(p, "b.pcap")->kind, "capture");
	/* The bytes that were sniffed are read as well. */
	assert_int_equal(input_at(p, "b.pcap")->records, 6);
	teardown_files(p);
}

static void test_forced_kind(void **state)
{
	struct place_for_files *p = setup_files();

	(void)state;
	write_text(p, "a.log", LOG("1"));
	p->options.as_kind = "capture";
	assert_int_equal(ingest(p, path_of(p, "a.log")), 0);
	assert_sv_equal(input_at(p, "a.log")->kind, "capture");
	p->options.as_kind = "picture";
	assert_int_equal(ingest(p, path_of(p, "a.log")), -1);
	assert_int_equal(kit_problems(p->kit, "input.kind"), 1);
	teardown_files(p);
}

static void test_every_kind_can_be_forced(void **state)
{
	(void)state;
	for (const char *const *name = source_kind_names(); *name != NULL; name++) {
		struct place_for_files *p = setup_files();

		write_text(p, "a", "neither this nor that\n");
		p->options.as_kind = *name;
		assert_int_equal(ingest(p, path_of(p, "a")), 0);
		assert_sv_equal(input_at(p, "a")->kind, *name);
		teardown_files(p);
	}
}

static void test_hosts_and_zones_by_option(void **state)
{
	static const struct host_pattern hosts[] = {
		{ "*/app?.log", { "web-1", 5 } },
		{ "*.log", { "web-2", 5 } },
	};
	const struct host_zone zones[] = {
		{ SV_ABSENT, { .offset_s = 3600 } },
		{ SV("web-1"), { .offset_s = 8 * 3600 } },
		{ SV("web-3"), { .offset_s = -3600 } },
	};
	struct place_for_files *p = setup_files();

	(void)state;
	make_directory(p, "x");
	write_text(p, "x/app1.log", LOG("1"));
	write_text(p, "x/other.log", LOG("1") LOG("2"));
	write_text(p, "x/other.txt", LOG("1") LOG("3"));
	p->options.hosts = hosts;
	p->options.host_count = 2;
	p->options.zones = zones;
	p->options.zone_count = 3;
	assert_int_equal(ingest(p, p->root), 0);
	assert_sv_equal(input_at(p, "x/app1.log")->host, "web-1");
	assert_int_equal(input_at(p, "x/app1.log")->first.us, T0 + US_PER_S - 8 * 3600 * US_PER_S);
	assert_sv_equal(input_at(p, "x/app1.log")->zone_source, "option");
	assert_sv_equal(input_at(p, "x/other.log")->host, "web-2");
	assert_int_equal(input_at(p, "x/other.log")->first.us, T0 + US_PER_S - 3600 * US_PER_S);
	assert_sv_equal(input_at(p, "x/other.txt")->host, "x");
	teardown_files(p);
}

static void test_zone_is_assumed_without_option(void **state)
{
	const struct host_zone zones[] = { { SV("web-1"), { .offset_s = 8 * 3600 } } };
	struct place_for_files *p = setup_files();

	(void)state;
	write_text(p, "a.log", LOG("1"));
	p->options.zones = zones;
	p->options.zone_count = 1;
	assert_int_equal(ingest(p, path_of(p, "a.log")), 0);
	assert_int_equal(input_at(p, "a.log")->first.us, T0 + US_PER_S);
	assert_sv_equal(input_at(p, "a.log")->zone_source, "assumed");
	assert_sv_equal(input_at(p, "a.log")->zone_name, "UTC");
	teardown_files(p);
}

/* Who gives the rules when they are asked for, and counts that. */
struct giver {
	const struct rules *rules;	/* NULL: refused */
	unsigned asked;
};

static const struct rules *give(void *context)
{
	struct giver *g = context;

	g->asked++;
	return g->rules;
}

static void test_rules_are_got_when_they_are_needed(void **state)
{
	struct place_for_files *p = setup_files();
	struct giver g = { .rules = p->rules };

	(void)state;
	p->options.rules = NULL;
	p->options.rules_source = (struct rules_source){ give, &g };
	write_text(p, "a.pcap", "CAP!12");
	assert_int_equal(ingest(p, path_of(p, "a.pcap")), 0);
	assert_int_equal(g.asked, 0);
	p->options.as_kind = "capture";
	write_text(p, "b.pcap", "CAP!123");
	assert_int_equal(ingest(p, path_of(p, "b.pcap")), 0);
	assert_int_equal(g.asked, 0);
	p->options.as_kind = NULL;
	write_text(p, "c.log", "2026-11-30 13:00:00 INFO up\n");
	assert_int_equal(ingest(p, path_of(p, "c.log")), 0);
	assert_int_equal(g.asked, 1);
	assert_sv_equal(input_at(p, "c.log")->kind, "log");
	teardown_files(p);
}

static void test_refused_rules_end_what_needs_them(void **state)
{
	struct place_for_files *p = setup_files();
	struct giver g = { .rules = NULL };

	(void)state;
	p->options.rules = NULL;
	p->options.rules_source = (struct rules_source){ give, &g };
	write_text(p, "a.pcap", "CAP!12");
	write_text(p, "c.log", "2026-11-30 13:00:00 INFO up\n");
	assert_int_equal(ingest(p, path_of(p, "a.pcap")), 0);
	assert_int_equal(ingest(p, path_of(p, "c.log")), -1);
	assert_int_equal(p->kit->input_count, 1);
	p->options.as_kind = "log";
	assert_int_equal(ingest(p, path_of(p, "c.log")), -1);
	assert_int_equal(p->kit->input_count, 1);
	teardown_files(p);
}

static void test_sink_failure(void **state)
{
	struct place_for_files *p = setup_files();

	(void)state;
	write_text(p, "a.log", LOG("1") LOG("2"));
	write_text(p, "b.log", LOG("3"));
	p->kit->fail_after = 1;
	assert_int_equal(ingest(p, p->root), -1);
	assert_int_equal(p->kit->abandoned, 1);
	/* Nothing more is tried. */
	assert_int_equal(p->kit->input_count, 1);
	teardown_files(p);
}

static void test_utf16(void **state)
{
	struct place_for_files *p = setup_files();
	const char *text = LOG("1");
	char wide[128] = { '\xff', '\xfe' };

	(void)state;
	for (size_t i = 0; text[i] != '\0'; i++)
		wide[2 + 2 * i] = text[i];
	write_bytes(p, "a.log", wide, 2 + 2 * strlen(text));
	assert_int_equal(ingest(p, p->root), 0);
	assert_sv_equal(input_at(p, "a.log")->kind, "log");
	assert_int_equal(input_at(p, "a.log")->records, 1);
	teardown_files(p);
}

static void test_utf16_without_a_mark(void **state)
{
	struct place_for_files *p = setup_files();
	const char *text = LOG("1");
	char wide[128];

	(void)state;
	memset(wide, 0, sizeof wide);
	for (size_t i = 0; text[i] != '\0'; i++)
		wide[2 * i] = text[i];
	write_bytes(p, "little.log", wide, 2 * strlen(text));
	memmove(wide + 1, wide, sizeof wide - 1);
	wide[0] = '\0';
	write_bytes(p, "big.log", wide, 2 * strlen(text));
	assert_int_equal(ingest(p, p->root), 0);
	assert_sv_equal(input_at(p, "little.log")->kind, "log");
	assert_int_equal(input_at(p, "little.log")->records, 1);
	assert_sv_equal(input_at(p, "big.log")->kind, "log");
	assert_int_equal(input_at(p, "big.log")->records, 1);
	teardown_files(p);
}

/* ---- long first lines ---- */

/* A file of n bytes c, and what follows them. */
static void write_after(struct place_for_files *p, const char *name, char c, size_t n, const char *text)
{
	char *bytes = malloc(n + strlen(text));

	assert_non_null(bytes);
	memset(bytes, c, n);
	memcpy(bytes + n, text, strlen(text));
	write_bytes(p, name, bytes, n + strlen(text));
	free(bytes);
}

static void check_first_line(size_t n, uint64_t too_long)
{
	struct place_for_files *p = setup_files();

	write_after(p, "a.log", 'x', n, "\n" LOG("1") LOG("2"));
	assert_int_equal(ingest(p, p->root), 0);
	assert_sv_equal(input_at(p, "a.log")->kind, "log");
	assert_int_equal(input_at(p, "a.log")->records, 2);
	assert_int_equal(input_at(p, "a.log")->lines, 3);
	assert_int_equal(input_at(p, "a.log")->size_bytes, n + 1 + 2 * strlen(LOG("1")));
	assert_int_equal(p->kit->events[0].place.number, 2);
	assert_int_equal(p->kit->events[0].place.byte_offset, n + 1);
	assert_int_equal(kit_problems(p->kit, "line.too_long"), too_long);
	assert_int_equal(kit_problems(p->kit, "input.skipped"), 0);
	teardown_files(p);
}

/* Around all sizes at which something else is done: the head, what a line may hold, a look further, twice that. */
static void test_a_log_may_begin_with_a_long_line(void **state)
{
	static const size_t sizes[] = { STREAM_HEAD_BYTES, LINE_BYTES_MAX, STREAM_FURTHER_BYTES, 2 * STREAM_FURTHER_BYTES, 5000000 };

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		for (size_t n = sizes[i] - 2; n <= sizes[i] + 2; n++)
			check_first_line(n, n > LINE_BYTES_MAX);
}

/* What a writer that keeps its place leaves where its log was truncated (logrotate's copytruncate): a hole. */
static void test_a_log_may_begin_with_zeros(void **state)
{
	static const size_t sizes[] = { 70000, LINE_BYTES_MAX - 8, STREAM_FURTHER_BYTES, 3000000 };

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		struct place_for_files *p = setup_files();

		write_after(p, "a.log", '\0', sizes[i], LOG("1") LOG("2"));
		assert_int_equal(ingest(p, p->root), 0);
		assert_sv_equal(input_at(p, "a.log")->kind, "log");
		assert_int_equal(input_at(p, "a.log")->records, 2);
		assert_int_equal(kit_problems(p->kit, "line.too_long"), 0);
		teardown_files(p);
	}
}

#define ROUND(second, retrans) "Mon Nov 30 13:00:0" second " UTC 2026\nTcp: OutSegs RetransSegs\nTcp: 100 " retrans "\n"
#define SAR "Linux 6.18.0 (node-a) \t2026-11-30 \t_x86_64_\t(2 CPU)\n\n13:00:00  IFACE  rxerr/s\n13:00:01  eth0  4.00\n"
#define ANSWER "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[{\"metric\":{\"__name__\":" \
	       "\"node_netstat_Tcp_RetransSegs\",\"instance\":\"node-a:9100\"},\"values\":[[1796043600,\"3\"],[1796043601,\"7\"]]}]}}"

/* The same is done to what a loop writes to, and to tables. */
static void test_other_inputs_may_begin_with_zeros(void **state)
{
	static const size_t sizes[] = { 0, 1, 40, STREAM_HEAD_BYTES, 70000, LINE_BYTES_MAX + 1, STREAM_FURTHER_BYTES, 3000000 };
	static const struct {
		const char *name, *kind, *text;
		enum event_type event;
		bool by_lines;
	} files[] = {
		{ "loop.txt", "counters", ROUND("0", "3") ROUND("1", "7"), EVENT_COUNTER_DELTA, true },
		{ "sar.txt", "counters", SAR, EVENT_COUNTER_DELTA, true },
		{ "answer.json", "counters", ANSWER, EVENT_COUNTER_DELTA, false },
		{ "groups.txt", "snapshot", "Mon Nov 30 13:00:00 UTC 2026\nGROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"
					    "g t 0 1 2 1 c-1 /192.0.2.1 c\n", EVENT_PARTITION_STATE, true },
		{ "table.csv", "table", "time,business_key,status\n2026-11-30 13:00:00,R-1,ok\n", EVENT_EFFECT, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
			struct place_for_files *p = setup_files();
			const bool is_told = files[f].by_lines && sizes[i] > 0;
			size_t found = 0;

			write_after(p, files[f].name, '\0', sizes[i], files[f].text);
			assert_int_equal(ingest(p, p->root), 0);
			assert_sv_equal(input_at(p, files[f].name)->kind, files[f].kind);
			if (input_at(p, files[f].name)->skipped != 0)
				fail_msg("%s behind %zu zeros", files[f].name, sizes[i]);
			for (size_t e = 0; e < p->kit->event_count; e++)
				found += p->kit->events[e].type == files[f].event;
			assert_int_equal(found, 1);
			assert_int_equal(kit_problems(p->kit, "line.zeros"), is_told);
			if (is_told) {
				assert_int_equal(kit_problem(p->kit, "line.zeros")->severity, SEVERITY_NOTE);
				assert_int_equal(kit_problem(p->kit, "line.zeros")->place.byte_offset, 0);
			}
			assert_int_equal(kit_problems(p->kit, "line.too_long"), 0);
			teardown_files(p);
		}
}

static void test_a_long_line_before_nothing_is_no_log(void **state)
{
	struct place_for_files *p = setup_files();

	(void)state;
	write_after(p, "only.log", 'x', 3000000, "");
	write_after(p, "prose.log", 'x', 3000000, "\nno time here\n");
	write_after(p, "zeros.log", '\0', 3000000, "");
	write_after(p, "zeros_prose.log", '\0', 3000000, "no time here\n");
	/* A binary file in which a line of a log stands somewhere. */
	write_after(p, "noise.log", '\1', 100000, "\n" LOG("1"));
	assert_int_equal(ingest(p, p->root), 0);
	assert_int_equal(p->kit->input_count, 5);
	for (size_t i = 0; i < p->kit->input_count; i++)
		assert_sv_equal(p->kit->inputs[i].kind, "skipped");
	teardown_files(p);
}

/* ---- files that others write to ---- */

/* As the kit's sink, but when the input begins, so that its digest is known, the file gets another size. */
struct resizing {
	struct input_sink sink;
	const char *path;
	off_t bytes;
};

static int resize_and_begin(void *context, struct input_info *info)
{
	const struct resizing *r = context;

	assert_int_equal(truncate(r->path, r->bytes), 0);
	return r->sink.begin(r->sink.context, info);
}

static int end_of_resized(void *context, const struct input_info *info)
{
	const struct resizing *r = context;

	return r->sink.end(r->sink.context, info);
}

/* 10,000 lines of 28 bytes, of which that many bytes are left. */
static struct place_for_files *ingest_resized(off_t bytes)
{
	struct place_for_files *p = setup_files();
	struct resizing r = { kit_sink(p->kit), path_of(p, "a.log"), bytes };
	struct input_sink sink = { resize_and_begin, r.sink.events, end_of_resized, r.sink.abandon, &r };
	struct buf text;

	buf_init(&text);
	for (size_t i = 0; i < 10000; i++)
		buf_add(&text, SV(LOG("1")));
	write_bytes(p, "a.log", buf_sv(&text).p, buf_sv(&text).n);
	buf_fini(&text);
	assert_int_equal(source_ingest(r.path, &p->options, &sink, p->kit->diag), 0);
	return p;
}

static void test_a_file_that_becomes_shorter_is_told(void **state)
{
	struct place_for_files *p = ingest_resized(140000);

	(void)state;
	assert_int_equal(input_at(p, "a.log")->records, 5000);
	assert_int_equal(problem_at(p, "input.damaged", path_of(p, "a.log"))->place.byte_offset, 140000);
	teardown_files(p);
}

/* What was not digested is not read. */
static void test_a_file_that_grows_is_read_as_it_was(void **state)
{
	struct place_for_files *p = ingest_resized(300000);

	(void)state;
	assert_int_equal(input_at(p, "a.log")->records, 10000);
	assert_int_equal(kit_problems(p->kit, "input.damaged"), 0);
	teardown_files(p);
}

/* ---- pipes ---- */

static int pipe_with(const char *text)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
	close(ends[1]);
	return ends[0];
}

static void test_standard_input(void **state)
{
	struct place_for_files *p = setup_files();
	int from = pipe_with(LOG("1")), kept = dup(STDIN_FILENO);

	(void)state;
	assert_int_equal(dup2(from, STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(ingest(p, "-"), 0);
	assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
	close(kept);
	close(from);
	assert_int_equal(p->kit->input_count, 1);
	assert_sv_equal(p->kit->inputs[0].path, "-");
	assert_sv_equal(p->kit->inputs[0].kind, "log");
	assert_int_equal(p->kit->inputs[0].size_bytes, 28);
	teardown_files(p);
}

/* Its writer may come later than its reader. */
static void test_a_named_pipe_waits_for_its_writer(void **state)
{
	struct place_for_files *p = setup_files();
	pid_t writer;

	(void)state;
	assert_int_equal(mkfifo(path_of(p, "pipe"), 0600), 0);
	writer = fork();
	assert_true(writer >= 0);
	if (writer == 0) {
		int to;

		usleep(100000);
		to = open(path_of(p, "pipe"), O_WRONLY);
		_exit(write(to, LOG("1"), sizeof LOG("1") - 1) == sizeof LOG("1") - 1 ? 0 : 1);
	}
	assert_int_equal(ingest(p, path_of(p, "pipe")), 0);
	assert_int_equal(waitpid(writer, NULL, 0), writer);
	assert_int_equal(input_at(p, "pipe")->records, 1);
	teardown_files(p);
}

/* Runs write_to on the pipe in a process of its own, which the caller ends. */
static pid_t start_writer(const char *path, void (*write_to)(int to))
{
	pid_t writer = fork();

	assert_true(writer >= 0);
	if (writer == 0) {
		write_to(open(path, O_WRONLY));
		_exit(0);
	}
	return writer;
}

static void end_writer(pid_t writer)
{
	assert_int_equal(kill(writer, SIGKILL), 0);
	assert_int_equal(waitpid(writer, NULL, 0), writer);
}

static int64_t now_ms(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &t), 0);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* After the wait it is an error, and not before. Ten seconds are the wait when nobody chose one. */
static void check_nobody_writes(struct place_for_files *p)
{
	const int64_t start_ms = now_ms();

	p->options.pipe_wait_ms = 200;
	assert_int_equal(ingest(p, path_of(p, "pipe")), -1);
	assert_in_range(now_ms() - start_ms, 200, PIPE_WAIT_MS - 1000);
	assert_int_equal(p->kit->input_count, 0);
	assert_int_equal(problem_at(p, "input.unreadable", path_of(p, "pipe"))->severity, SEVERITY_ERROR);
	assert_sv_equal(problem_at(p, "input.unreadable", path_of(p, "pipe"))->message, "cannot be read: nobody writes to this pipe");
}

static void test_a_named_pipe_without_a_writer(void **state)
{
	struct place_for_files *p = setup_files();

	(void)state;
	assert_int_equal(mkfifo(path_of(p, "pipe"), 0600), 0);
	check_nobody_writes(p);
	teardown_files(p);
}

static void keep_open(int to)
{
	(void)to;
	pause();
}

/* Whoever opens a pipe and writes nothing keeps nobody waiting. */
static void test_a_named_pipe_whose_writer_writes_nothing(void **state)
{
	struct place_for_files *p = setup_files();
	pid_t writer;

	(void)state;
	assert_int_equal(mkfifo(path_of(p, "pipe"), 0600), 0);
	writer = start_writer(path_of(p, "pipe"), keep_open);
	check_nobody_writes(p);
	end_writer(writer);
	teardown_files(p);
}

static void close_it(int to)
{
	close(to);
}

/* And when it closes it, the input is empty as a file may be. */
static void test_a_named_pipe_that_is_closed_empty(void **state)
{
	struct place_for_files *p = setup_files();
	pid_t writer;

	(void)state;
	assert_int_equal(mkfifo(path_of(p, "pipe"), 0600), 0);
	writer = start_writer(path_of(p, "pipe"), close_it);
	assert_int_equal(ingest(p, path_of(p, "pipe")), 0);
	assert_int_equal(waitpid(writer, NULL, 0), writer);
	assert_sv_equal(input_at(p, "pipe")->kind, "skipped");
	assert_sv_equal(input_at(p, "pipe")->why_skipped, "empty");
	assert_int_equal(problem_at(p, "input.skipped", path_of(p, "pipe"))->severity, SEVERITY_WARNING);
	teardown_files(p);
}

static void write_late(int to)
{
	usleep(100000);
	if (write(to, LOG("1"), sizeof LOG("1") - 1) < 0)
		_exit(1);
	/* What it writes later is read too. */
	usleep(100000);
	if (write(to, LOG("2"), sizeof LOG("2") - 1) < 0)
		_exit(1);
}

static void test_a_named_pipe_that_is_opened_before_it_is_written_to(void **state)
{
	struct place_for_files *p = setup_files();
	pid_t writer;

	(void)state;
	assert_int_equal(mkfifo(path_of(p, "pipe"), 0600), 0);
	writer = start_writer(path_of(p, "pipe"), write_late);
	p->options.pipe_wait_ms = PIPE_WAIT_MS;
	assert_int_equal(ingest(p, path_of(p, "pipe")), 0);
	assert_int_equal(waitpid(writer, NULL, 0), writer);
	assert_int_equal(input_at(p, "pipe")->records, 2);
	teardown_files(p);
}

static void test_a_pipe_that_was_named(void **state)
{
	struct place_for_files *p = setup_files();
	int from = pipe_with(LOG("1"));
	char path[32];

	(void)state;
	snprintf(path, sizeof path, "/dev/fd/%d", from);
	assert_int_equal(ingest(p, path), 0);
	close(from);
	assert_sv_equal(kit_input(p->kit, path)->kind, "log");
	teardown_files(p);
}

static void test_no_place_to_spool(void **state)
{
	struct place_for_files *p = setup_files();
	const char *kept = getenv("TMPDIR");
	struct sv tmpdir = arena_copy(p->kit->arena, sv_of(kept));
	int from = pipe_with(LOG("1"));
	char path[32];

	(void)state;
	setenv("TMPDIR", path_of(p, "nowhere"), 1);
	snprintf(path, sizeof path, "/dev/fd/%d", from);
	assert_int_equal(ingest(p, path), -1);
	close(from);
	if (kept != NULL)
		setenv("TMPDIR", tmpdir.p, 1);
	else
		unsetenv("TMPDIR");
	assert_int_equal(problem_at(p, "input.spool", path)->severity, SEVERITY_ERROR);
	teardown_files(p);
}

/* ---- packed ---- */

static void test_compressed_files(void **state)
{
	static const enum packing how[] = { GZ, XZ, BZ2, ZSTD, LZ4 };

	(void)state;
	for (size_t i = 0; i < sizeof how / sizeof how[0]; i++) {
		struct place_for_files *p = setup_files();
		struct stat status;

		make_directory(p, "consumer-1");
		/* Known by its first bytes, whatever its name. */
		PACK(p, "consumer-1/app.log.1", how[i], { "data", LOG("1") LOG("2"), 0 });
		assert_int_equal(ingest(p, p->root), 0);
		assert_int_equal(p->kit->input_count, 1);
		assert_int_equal(diag_count(p->kit->diag), 0);
		assert_sv_equal(input_at(p, "consumer-1/app.log.1")->kind, "log");
		assert_sv_equal(input_at(p, "consumer-1/app.log.1")->host, "consumer-1");
		assert_int_equal(input_at(p, "consumer-1/app.log.1")->records, 2);
		assert_int_equal(stat(path_of(p, "consumer-1/app.log.1"), &status), 0);
		assert_int_equal(input_at(p, "consumer-1/app.log.1")->size_bytes, status.st_size);
		/* Offsets are those of the unpacked bytes. */
		assert_int_equal(p->kit->events[1].place.byte_offset, 28);
		teardown_files(p);
	}
}

static void check_archive(enum packing how)
{
	struct place_for_files *p = setup_files();

	make_directory(p, "broker-1");
	PACK(p, "broker-1/logs", how, { "./consumer-1/app.log", LOG("1"), 0 }, { "app.log", LOG("1"), 0 },
	     { "README", "Some words", 0 }, { "empty.log", "", 0 });
	assert_int_equal(ingest(p, p->root), 0);
	assert_int_equal(p->kit->input_count, 4);
	assert_sv_equal(input_at(p, "broker-1/logs!consumer-1/app.log")->host, "consumer-1");
	/* A member that lies at the top is of the directory that the archive lies in. */
	assert_sv_equal(input_at(p, "broker-1/logs!app.log")->host, "broker-1");
	assert_sv_equal(input_at(p, "broker-1/logs!app.log")->kind, "log");
	assert_int_equal(input_at(p, "broker-1/logs!app.log")->size_bytes, 28);
	check_skipped(p, "broker-1/logs!README", SEVERITY_NOTE, "text");
	check_skipped(p, "broker-1/logs!empty.log", SEVERITY_NOTE, "empty");
	/* Two inputs of the same bytes, but the archive again adds nothing. */
	assert_int_equal(ingest(p, p->root), 0);
	assert_int_equal(p->kit->input_count, 4);
	assert_int_equal(kit_problems(p->kit, "input.repeated"), 4);
	teardown_files(p);
}

static void test_archives(void **state)
{
	(void)state;
	check_archive(TAR);
	check_archive(TAR_GZ);
	check_archive(ZIP);
}

static void test_a_named_archive_does_not_warn_of_its_readme(void **state)
{
	struct place_for_files *p = setup_files();

	(void)state;
	PACK(p, "all.tgz", TAR_GZ, { "run/README", "Some words", 0 }, { "run/c-1/a.log", LOG("1"), 0 });
	assert_int_equal(ingest(p, path_of(p, "all.tgz")), 0);
	check_skipped(p, "all.tgz!run/README", SEVERITY_NOTE, "text");
	assert_sv_equal(input_at(p, "all.tgz!run/c-1/a.log")->host, "c-1");
	teardown_files(p);
}

static void test_a_name_twice_in_an_archive(void **state)
{
	struct place_for_files *p = setup_files();

	(void)state;
	PACK(p, "all.tar", TAR, { "a.log", LOG("1"), 0 }, { "a.log", LOG("2"), 0 });
	assert_int_equal(ingest(p, p->root), 0);
	assert_int_equal(p->kit->input_count, 2);
	assert_int_equal(p->kit->event_count, 4);
	teardown_files(p);
}

static void test_nested(void **state)
{
	struct place_for_files *p = setup_files();
	char name[16] = "middle.tar";
	size_t n;
	char *bytes;

	(void)state;
	PACK(p, "inner.gz", GZ, { "data", LOG("1"), 0 });
	bytes = slurp(p, "inner.gz", &n);
	PACK(p, "middle.tar", TAR, { "c-1/app.log.gz", bytes, n }, { "c-1/b.log", LOG("2"), 0 });
	assert_int_equal(ingest(p, path_of(p, "middle.tar")), 0);
	assert_int_equal(p->kit->input_count, 2);
	assert_sv_equal(input_at(p, "middle.tar!c-1/app.log.gz")->kind, "log");
	assert_sv_equal(input_at(p, "middle.tar!c-1/app.log.gz")->host, "c-1");

	/* A bundle as it is attached to a ticket. */
	bytes = slurp(p, "middle.tar", &n);
	PACK(p, "outer.zip", ZIP, { "middle.tar", bytes, n });
	assert_int_equal(ingest(p, path_of(p, "outer.zip")), 0);
	assert_int_equal(p->kit->input_count, 4);
	assert_sv_equal(input_at(p, "outer.zip!middle.tar!c-1/b.log")->kind, "log");
	assert_sv_equal(input_at(p, "outer.zip!middle.tar!c-1/app.log.gz")->kind, "log");
	assert_int_equal(kit_problems(p->kit, "input.nested"), 0);

	/* Much deeper is said, not read. */
	for (char depth = '1'; depth <= '5'; depth++) {
		char inner[sizeof name];

		memcpy(inner, name, sizeof name);
		bytes = slurp(p, inner, &n);
		snprintf(name, sizeof name, "%c.tar", depth);
		PACK(p, name, TAR, { inner, bytes, n });
	}
	assert_int_equal(ingest(p, path_of(p, "5.tar")), 0);
	assert_int_equal(kit_problems(p->kit, "input.nested"), 1);
	teardown_files(p);
}

/* One file packed and appended to another, as logrotate and backups do. */
static void append(struct place_for_files *p, const char *name, const char *first, const char *second, size_t second_bytes)
{
	size_t n, m;
	char *one = slurp(p, first, &n), *two = slurp(p, second, &m), *both;

	if (second_bytes > 0)
		m = second_bytes;
	both = arena_alloc(p->kit->arena, n + m);
	memcpy(both, one, n);
	memcpy(both + n, two, m);
	write_bytes(p, name, both, n + m);
}

static void test_members_appended(void **state)
{
	static const enum packing how[] = { GZ, XZ, BZ2, ZSTD, LZ4 };

	(void)state;
	for (size_t i = 0; i < sizeof how / sizeof how[0]; i++) {
		struct place_for_files *p = setup_files();

		PACK(p, "a", how[i], { "data", LOG("1"), 0 });
		PACK(p, "b", how[i], { "data", LOG("2"), 0 });
		append(p, "both", "a", "b", 0);
		assert_int_equal(ingest(p, path_of(p, "both")), 0);
		assert_int_equal(input_at(p, "both")->records, 2);
		assert_int_equal(diag_count(p->kit->diag), 0);
		teardown_files(p);
	}
}

/* Lines that do not compress well, so that a cut in the middle leaves much before it. */
static struct sv noisy_log(struct place_for_files *p, size_t lines)
{
	struct buf text;
	struct sv copy;
	uint32_t x = 1;

	buf_init(&text);
	for (size_t i = 0; i < lines; i++) {
		buf_add(&text, SV("2026-11-30 13:00:00 INFO "));
		for (int k = 0; k < 10; k++) {
			x = x * 1664525U + 1013904223U;
			buf_printf(&text, "%08x", x);
		}
		buf_add_char(&text, '\n');
	}
	copy = arena_copy(p->kit->arena, buf_sv(&text));
	buf_fini(&text);
	return copy;
}

static void test_a_truncated_file_keeps_what_was_read(void **state)
{
	struct place_for_files *p = setup_files();
	struct sv log = noisy_log(p, 10000);
	const struct problem *q;
	size_t n;
	char *bytes;

	(void)state;
	PACK(p, "whole.gz", GZ, { "data", log.p, log.n });
	bytes = slurp(p, "whole.gz", &n);
	write_bytes(p, "cut.gz", bytes, n / 2);
	assert_int_equal(ingest(p, path_of(p, "cut.gz")), 0);
	assert_sv_equal(input_at(p, "cut.gz")->kind, "log");
	assert_in_range(input_at(p, "cut.gz")->records, 4700, 5300);
	q = problem_at(p, "input.damaged", path_of(p, "cut.gz"));
	assert_int_equal(q->severity, SEVERITY_WARNING);
	assert_int_equal(q->place.input, input_at(p, "cut.gz")->id);
	assert_in_range(q->place.byte_offset, log.n / 3, log.n / 2 + 5000);
	assert_int_equal(kit_problems(p->kit, "input.damaged"), 1);
	teardown_files(p);
}

/* Shorter than a block; an archive in the same case; and in the middle of its last symbols. */
static void test_a_small_truncated_file_is_salvaged(void **state)
{
	struct place_for_files *p = setup_files();
	struct sv log = noisy_log(p, 300);
	size_t n;
	char *bytes;

	(void)state;
	PACK(p, "whole.gz", GZ, { "data", log.p, log.n });
	bytes = slurp(p, "whole.gz", &n);
	write_bytes(p, "half.gz", bytes, n / 2);
	write_bytes(p, "end.gz", bytes, n - 10);
	PACK(p, "whole.tgz", TAR_GZ, { "a.log", LOG("1"), 0 }, { "b.log", log.p, log.n });
	bytes = slurp(p, "whole.tgz", &n);
	write_bytes(p, "cut.tgz", bytes, n / 2);
	assert_int_equal(ingest(p, path_of(p, "half.gz")), 0);
	assert_int_equal(ingest(p, path_of(p, "end.gz")), 0);
	assert_int_equal(ingest(p, path_of(p, "cut.tgz")), 0);
	assert_in_range(input_at(p, "half.gz")->records, 140, 160);
	assert_in_range(input_at(p, "end.gz")->records, 299, 300);
	assert_int_equal(input_at(p, "cut.tgz!a.log")->records, 1);
	assert_in_range(input_at(p, "cut.tgz!b.log")->records, 130, 160);
	assert_int_equal(problem_at(p, "input.damaged", path_of(p, "half.gz"))->severity, SEVERITY_WARNING);
	assert_int_equal(problem_at(p, "input.damaged", path_of(p, "end.gz"))->severity, SEVERITY_WARNING);
	teardown_files(p);
}

/* To the last byte, but for blocks that nobody can read in part: zstd's of up to 128 KiB and bzip2's of 900 kB. */
static void test_each_truncated_file_is_salvaged(void **state)
{
	static const struct {
		enum packing how;
		size_t least, most;	/* records */
	} cases[] = { { GZ, 9600, 10300 }, { XZ, 8000, 10300 }, { BZ2, 7000, 10300 }, { ZSTD, 8500, 10300 }, { LZ4, 9600, 10300 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct place_for_files *p = setup_files();
		struct sv log = noisy_log(p, 20000);
		size_t n;
		char *bytes;

		PACK(p, "whole", cases[i].how, { "data", log.p, log.n });
		bytes = slurp(p, "whole", &n);
		write_bytes(p, "cut", bytes, n / 2);
		assert_int_equal(ingest(p, path_of(p, "cut")), 0);
		assert_in_range(input_at(p, "cut")->records, cases[i].least, cases[i].most);
		assert_int_equal(problem_at(p, "input.damaged", path_of(p, "cut"))->severity, SEVERITY_WARNING);

		/* The second of two. */
		append(p, "second", "whole", "whole", n / 2);
		assert_int_equal(ingest(p, path_of(p, "second")), 0);
		assert_in_range(input_at(p, "second")->records, 20000 + cases[i].least, 30300);
		assert_int_equal(problem_at(p, "input.damaged", path_of(p, "second"))->severity, SEVERITY_WARNING);
		teardown_files(p);
	}
}

static void test_a_truncated_archive_keeps_its_first_members(void **state)
{
	struct place_for_files *p = setup_files();
	struct sv log = noisy_log(p, 10000);
	size_t n;
	char *bytes;

	(void)state;
	PACK(p, "whole.tgz", TAR_GZ, { "a.log", LOG("1"), 0 }, { "b.log", log.p, log.n }, { "c.log", LOG("2"), 0 });
	bytes = slurp(p, "whole.tgz", &n);
	write_bytes(p, "cut.tgz", bytes, n / 2);
	assert_int_equal(ingest(p, path_of(p, "cut.tgz")), 0);
	assert_int_equal(input_at(p, "cut.tgz!a.log")->records, 1);
	assert_in_range(input_at(p, "cut.tgz!b.log")->records, 4700, 5300);
	assert_int_equal(problem_at(p, "input.damaged", path_of(p, "cut.tgz!b.log"))->severity, SEVERITY_WARNING);
	/* And of the archive: what follows is not there. */
	assert_sv_equal(input_at(p, "cut.tgz")->kind, "skipped");
	assert_int_equal(problem_at(p, "input.damaged", path_of(p, "cut.tgz"))->severity, SEVERITY_WARNING);
	assert_int_equal(p->kit->input_count, 3);
	teardown_files(p);
}

/* A bundle that breaks off in a file that was compressed before: what of it can be had is had. */
static void test_a_compressed_file_in_a_truncated_archive_is_salvaged(void **state)
{
	static const struct {
		enum packing how;
		size_t least;
	} cases[] = { { GZ, 4700 }, { XZ, 4300 }, { ZSTD, 2500 }, { LZ4, 4700 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct place_for_files *p = setup_files();
		struct sv log = noisy_log(p, 10000), packed;
		char *bytes;
		size_t n;

		PACK(p, "data", cases[i].how, { "data", log.p, log.n });
		packed.p = slurp(p, "data", &packed.n);
		PACK(p, "whole.tar", TAR, { "a.log", packed.p, packed.n });
		bytes = slurp(p, "whole.tar", &n);
		write_bytes(p, "cut.tar", bytes, 512 + packed.n / 2);
		assert_int_equal(ingest(p, path_of(p, "cut.tar")), 0);
		assert_in_range(input_at(p, "cut.tar!a.log")->records, cases[i].least, 5300);
		assert_int_equal(problem_at(p, "input.damaged", path_of(p, "cut.tar!a.log"))->severity, SEVERITY_WARNING);
		assert_int_equal(problem_at(p, "input.damaged", path_of(p, "cut.tar"))->severity, SEVERITY_WARNING);
		teardown_files(p);
	}
}

/* Nothing of the log is lost by what stands behind it, and the twin without it is sound. */
static void test_other_bytes_behind_what_is_packed_are_told(void **state)
{
	static const enum packing cases[] = { GZ, XZ, ZSTD, LZ4 };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct place_for_files *p = setup_files();
		struct sv log = noisy_log(p, 1000);
		struct buf both;
		size_t n;
		char *bytes;

		PACK(p, "sound", cases[i], { "data", log.p, log.n });
		bytes = slurp(p, "sound", &n);
		buf_init(&both);
		buf_add(&both, (struct sv){ bytes, n });
		buf_add(&both, SV("10:00 the disk is full\n"));
		write_bytes(p, "behind", buf_sv(&both).p, buf_sv(&both).n);
		buf_fini(&both);
		assert_int_equal(ingest(p, path_of(p, "sound")), 0);
		assert_int_equal(kit_problems(p->kit, "input.damaged"), 0);
		assert_int_equal(ingest(p, path_of(p, "behind")), 0);
		assert_int_equal(input_at(p, "behind")->records, 1000);
		assert_int_equal(problem_at(p, "input.damaged", path_of(p, "behind"))->place.byte_offset, log.n);
		teardown_files(p);
	}
}

/* As "cat a.tgz b.tgz" and "cat a.tar b.tar" make them. */
static void test_archives_that_follow_one_another(void **state)
{
	static const enum packing cases[] = { TAR, TAR_GZ };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct place_for_files *p = setup_files();

		PACK(p, "1", cases[i], { "a.log", LOG("1"), 0 });
		PACK(p, "2", cases[i], { "b.log", LOG("2"), 0 });
		append(p, "both", "1", "2", 0);
		assert_int_equal(ingest(p, path_of(p, "both")), 0);
		assert_int_equal(input_at(p, "both!a.log")->records, 1);
		assert_int_equal(input_at(p, "both!b.log")->records, 1);
		assert_int_equal(kit_problems(p->kit, "input.damaged"), 0);
		teardown_files(p);
	}
}

static void test_not_even_a_header(void **state)
{
	struct place_for_files *p = setup_files();

	(void)state;
	write_bytes(p, "a.gz", "\x1f\x8b\x08\0\0\0", 6);
	write_bytes(p, "b.zip", "PK\003\004\024\0", 6);
	assert_int_equal(ingest(p, p->root), 0);
	assert_sv_equal(input_at(p, "a.gz")->kind, "skipped");
	assert_sv_equal(input_at(p, "b.zip")->kind, "skipped");
	assert_int_equal(problem_at(p, "input.damaged", path_of(p, "a.gz"))->severity, SEVERITY_WARNING);
	assert_int_equal(problem_at(p, "input.damaged", path_of(p, "b.zip"))->severity, SEVERITY_WARNING);
	teardown_files(p);
}

static void test_nothing_packed(void **state)
{
	struct place_for_files *p = setup_files();

	(void)state;
	PACK(p, "a.gz", GZ, { "data", "", 0 });
	/* What the lz4 program makes of nothing. */
	write_bytes(p, "a.lz4", "\x04\x22\x4d\x18\x64\x40\xa7\x00\x00\x00\x00\x05\x5d\xcc\x02", 15);
	assert_int_equal(ingest(p, p->root), 0);
	assert_sv_equal(input_at(p, "a.gz")->kind, "skipped");
	assert_sv_equal(input_at(p, "a.lz4")->kind, "skipped");
	assert_int_equal(kit_problems(p->kit, "input.empty"), 2);
	teardown_files(p);
}

static void check_zeros(size_t mebibytes, bool bomb)
{
	struct place_for_files *p = setup_files();
	size_t n = mebibytes << 20;
	char *zeros = calloc(1, n);

	assert_non_null(zeros);
	memcpy(zeros, "CAP!", 4);
	PACK(p, "x.bz2", BZ2, { "data", zeros, n });
	free(zeros);
	assert_int_equal(ingest(p, path_of(p, "x.bz2")), 0);
	assert_int_equal(kit_problems(p->kit, "input.bomb"), bomb);
	if (bomb)
		assert_in_range(input_at(p, "x.bz2")->records, 64 << 20, 65 << 20);
	else
		assert_int_equal(input_at(p, "x.bz2")->records, n);
	teardown_files(p);
}

static void test_decompression_bomb(void **state)
{
	(void)state;
	check_zeros(80, true);
	check_zeros(20, false);
}

/* ---- one broken input for each message ---- */

/* "CODE row 2: words", a line for each problem. */
static struct sv render(struct kit *k)
{
	struct buf text;
	struct sv copy;

	buf_init(&text);
	for (size_t i = 0; i < diag_count(k->diag); i++) {
		const struct problem *q = diag_at(k->diag, i);
		const char *unit = place_unit_name(q->place.unit);

		buf_add(&text, q->code);
		if (unit != NULL)
			buf_printf(&text, " %s %llu", unit, (unsigned long long)q->place.number);
		buf_printf(&text, ": %.*s\n", SV_ARG(q->message));
	}
	copy = arena_copy(k->arena, buf_sv(&text));
	buf_fini(&text);
	return copy;
}

static void check_bad_input(const char *name)
{
	struct place_for_files *p = setup_files();
	const char *path = arena_printf(p->kit->arena, BAD_INPUTS "/%s", name).p;
	FILE *f = fopen(arena_printf(p->kit->arena, "%s.expected", path).p, "rb");
	char expected[4096];
	size_t n;

	if (f == NULL)
		fail_msg("%s has no .expected", path);
	else {
		n = fread(expected, 1, sizeof expected - 1, f);
		expected[n] = '\0';
		fclose(f);
		assert_int_equal(ingest(p, path), 0);
		if (!sv_eq(render(p->kit), sv_of(expected)))
			fail_msg("%s gives:\n%.*snot:\n%s", name, SV_ARG(render(p->kit)), expected);
	}
	teardown_files(p);
}

/* Run from the top of the project, as all tests are. */
static void test_bad_inputs(void **state)
{
	DIR *d = opendir(BAD_INPUTS);
	const struct dirent *e;
	size_t checked = 0;

	(void)state;
	assert_non_null(d);
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.' || sv_ends_with(sv_of(e->d_name), SV(".expected")))
			continue;
		check_bad_input(e->d_name);
		checked++;
	}
	closedir(d);
	assert_true(checked > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_file),
		cmocka_unit_test(test_a_walk),
		cmocka_unit_test(test_the_directory_of_a_table_is_no_host),
		cmocka_unit_test(test_what_is_no_evidence),
		cmocka_unit_test(test_no_evidence_that_was_named),
		cmocka_unit_test(test_links_and_pipes_in_a_walk),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_empty_directory),
		cmocka_unit_test(test_the_same_again_adds_nothing),
		cmocka_unit_test(test_broken_evidence),
		cmocka_unit_test(test_forced_kind),
		cmocka_unit_test(test_every_kind_can_be_forced),
		cmocka_unit_test(test_hosts_and_zones_by_option),
		cmocka_unit_test(test_zone_is_assumed_without_option),
		cmocka_unit_test(test_rules_are_got_when_they_are_needed),
		cmocka_unit_test(test_refused_rules_end_what_needs_them),
		cmocka_unit_test(test_sink_failure),
		cmocka_unit_test(test_utf16),
		cmocka_unit_test(test_utf16_without_a_mark),
		cmocka_unit_test(test_a_log_may_begin_with_a_long_line),
		cmocka_unit_test(test_a_log_may_begin_with_zeros),
		cmocka_unit_test(test_other_inputs_may_begin_with_zeros),
		cmocka_unit_test(test_a_long_line_before_nothing_is_no_log),
		cmocka_unit_test(test_standard_input),
		cmocka_unit_test(test_a_file_that_becomes_shorter_is_told),
		cmocka_unit_test(test_a_file_that_grows_is_read_as_it_was),
		cmocka_unit_test(test_a_named_pipe_waits_for_its_writer),
		cmocka_unit_test(test_a_named_pipe_without_a_writer),
		cmocka_unit_test(test_a_named_pipe_whose_writer_writes_nothing),
		cmocka_unit_test(test_a_named_pipe_that_is_closed_empty),
		cmocka_unit_test(test_a_named_pipe_that_is_opened_before_it_is_written_to),
		cmocka_unit_test(test_a_pipe_that_was_named),
		cmocka_unit_test(test_no_place_to_spool),
		cmocka_unit_test(test_compressed_files),
		cmocka_unit_test(test_archives),
		cmocka_unit_test(test_a_named_archive_does_not_warn_of_its_readme),
		cmocka_unit_test(test_a_name_twice_in_an_archive),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_members_appended),
		cmocka_unit_test(test_a_truncated_file_keeps_what_was_read),
		cmocka_unit_test(test_a_small_truncated_file_is_salvaged),
		cmocka_unit_test(test_each_truncated_file_is_salvaged),
		cmocka_unit_test(test_a_truncated_archive_keeps_its_first_members),
		cmocka_unit_test(test_a_compressed_file_in_a_truncated_archive_is_salvaged),
		cmocka_unit_test(test_other_bytes_behind_what_is_packed_are_told),
		cmocka_unit_test(test_archives_that_follow_one_another),
		cmocka_unit_test(test_not_even_a_header),
		cmocka_unit_test(test_nothing_packed),
		cmocka_unit_test(test_decompression_bomb),
		cmocka_unit_test(test_bad_inputs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
