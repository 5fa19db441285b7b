/* SPDX-License-Identifier: MIT */
/* Rules in memory, the refusals of tests/bad, and the rules that are shipped, against lines of real programs. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "input/rules/rules.h"
#include "input/rules/rules_set.h"

struct bench {
	struct arena *arena;
	struct diag *diag;
	struct rules *rules;
};

static struct bench bench_of(const char *text)
{
	struct bench b = { .arena = arena_new() };

	b.diag = diag_new(b.arena);
	b.rules = rules_parse(SV("test.rules"), sv_of(text), b.diag);
	return b;
}

static struct bench bench_loaded(const char *path)
{
	struct bench b = { .arena = arena_new() };

	b.diag = diag_new(b.arena);
	b.rules = rules_load(path, b.diag);
	return b;
}

static void bench_end(struct bench *b)
{
	rules_free(b->rules);
	arena_free(b->arena);
}

static struct bench shipped(void)
{
	struct bench b = bench_loaded("rules");

	assert_non_null(b.rules);
	return b;
}

/* "event.name field=value ..." of the first event of a line, or "-". */
static const char *told(const struct bench *b, const char *line)
{
	struct log_record record;
	struct event e;
	const char *rule;
	struct buf text;
	int hint = -1;

	if (!rules_layout(b->rules, sv_of(line), (struct zone){ 0 }, &hint, b->arena, &record))
		record = (struct log_record){ .body = sv_of(line) };
	if (!rules_match(b->rules, &record, &e, &rule))
		return "-";
	buf_init(&text);
	buf_printf(&text, "%s", event_infos[e.type].name);
	for (unsigned f = 0; f < FIELD_COUNT; f++) {
		if (!event_has(&e, f))
			continue;
		if (field_infos[f].type == FIELD_TEXT)
			buf_printf(&text, " %s=%.*s", field_infos[f].name, SV_ARG(event_text(&e, f)));
		else
			buf_printf(&text, " %s=%" PRId64, field_infos[f].name, event_int_or(&e, f, -1));
	}
	const char *copy = arena_strdup(b->arena, buf_sv(&text));

	buf_fini(&text);
	return copy;
}

/* ---- literals ---- */

static void check_literal(const char *source, const char *literal, bool first)
{
	struct arena *a = arena_new();
	struct pattern p;
	size_t at;

	assert_null(pattern_make(&p, a, sv_of(source), REGEX_TEXT, &at));
	if (!sv_eq(p.literal, sv_of(literal)) || p.literal_first != first)
		fail_msg("%s: literal \"%.*s\", first %d", source, SV_ARG(p.literal), p.literal_first);
	pattern_fini(&p);
	arena_free(a);
}

static void a_literal_is_what_every_match_contains(void **state)
{
	(void)state;
	check_literal("^Member (?<member>\\S+) left", "Member ", true);
	check_literal("(?<member>\\S+) left (?<group>\\S+)", " left ", false);
	check_literal("abc.*longer than that", "longer than that", false);
	check_literal("^\\[Consumer ", "[Consumer ", true);
	check_literal("a\\.b\\tc", "a.b\tc", false);
	check_literal("x Generation\\{n", "x Generation{n", false);
	check_literal("x{generation", "x{generation", false);
}

static void what_may_be_missing_is_no_literal(void **state)
{
	(void)state;
	check_literal("abcd?", "abc", false);
	check_literal("abcd*", "abc", false);
	check_literal("abcd+", "abcd", false);
	check_literal("abc{0,2}xy", "ab", false);
	check_literal("^a?bcd", "bcd", false);
	check_literal("(?:long words)?ab", "ab", false);
	check_literal("[long words]ab", "ab", false);
	check_literal("[]long words]ab", "ab", false);
	check_literal("(a[)]b\\)c)de", "de", false);
	check_literal("one|other", "", false);
	check_literal("^one|other", "", false);
	check_literal("(one|other) x", " x", false);
	check_literal("(?i)words", "", false);
	check_literal("\\Qa?\\E", "", false);
	check_literal("\\x41bc", "", false);
	check_literal("", "", false);
}

/* ---- rules in memory ---- */

static const char two_prefixes[] = "prefix who\n"
				   "from client\n"
				   "match ^\\[(?<client>[^ \\]]+)(?: of (?<group>[^\\]]+))?\\][ ]\n"
				   "example [c-1 of refunds] x\n"
				   "expect client=c-1 group=refunds\n"
				   "\n"
				   "prefix broker\n"
				   "from broker\n"
				   "match ^<broker>[ ]\n"
				   "example <broker> x\n"
				   "expect -\n"
				   "\n"
				   "rule left\n"
				   "event member.left\n"
				   "evidence suggests\n"
				   "match ^(?<member>\\S+) left(?: (?<group>\\S+))?(?: after (?<elapsed_ms>\\S+))?(?: for (?<reason>.*))?$\n"
				   "within reason ^(?<error>[A-Z]+) from (?<api>\\w+)\n"
				   "within lines ^at (?<node>\\S+)$\n"
				   "set state=gone\n"
				   "example m-1 left refunds\n"
				   "expect member=m-1 group=refunds state=gone\n"
				   "\n"
				   "rule born\n"
				   "event broker.started\n"
				   "from broker\n"
				   "match ^started\n"
				   "example started\n"
				   "expect -\n";

static void fields_come_from_prefix_message_and_constants(void **state)
{
	struct bench b = bench_of(two_prefixes);

	(void)state;
	assert_non_null(b.rules);
	assert_int_equal(rules_check(b.rules, b.diag), 0);
	assert_string_equal(told(&b, "[c-1 of refunds] m-1 left"), "member.left group=refunds member=m-1 client=c-1 state=gone");
	/* The message knows better than its prefix. */
	assert_string_equal(told(&b, "[c-1 of refunds] m-1 left orders"),
			    "member.left group=orders member=m-1 client=c-1 state=gone");
	/* No group anywhere: a required field is missing. */
	assert_string_equal(told(&b, "[c-1] m-1 left"), "-");
	bench_end(&b);
}

static void a_field_can_be_looked_into(void **state)
{
	struct bench b = bench_of(two_prefixes);

	(void)state;
	assert_string_equal(told(&b, "m left g for FENCED from JOIN"),
			    "member.left group=g member=m state=gone reason=FENCED from JOIN error=FENCED api=JOIN");
	assert_string_equal(told(&b, "m left g for good"), "member.left group=g member=m state=gone reason=good");
	bench_end(&b);
}

static void a_number_that_is_none_is_not_known(void **state)
{
	struct bench b = bench_of(two_prefixes);

	(void)state;
	assert_string_equal(told(&b, "m left g after 12"), "member.left group=g member=m state=gone elapsed_ms=12");
	assert_string_equal(told(&b, "m left g after 12x"), "member.left group=g member=m state=gone");
	assert_string_equal(told(&b, "m left g after 99999999999999999999"), "member.left group=g member=m state=gone");
	bench_end(&b);
}

static void who_speaks_decides_which_rules_are_looked_at(void **state)
{
	struct bench b = bench_of(two_prefixes);

	(void)state;
	assert_string_equal(told(&b, "<broker> started"), "broker.started");
	assert_string_equal(told(&b, "started"), "broker.started");
	assert_string_equal(told(&b, "[c-1 of refunds] started"), "-");
	bench_end(&b);
}

static void joined_lines_are_searched_by_line(void **state)
{
	struct bench b = bench_of(two_prefixes);
	struct log_record record = { .body = SV("m left g"), .more = SV("\nat first at\nat n-1\nat n-2") };
	struct event e;
	const char *rule;

	(void)state;
	assert_true(rules_match(b.rules, &record, &e, &rule));
	assert_string_equal(rule, "left");
	assert_true(sv_eq(event_text(&e, FIELD_NODE), SV("n-1")));
	assert_int_equal(e.strength, STRENGTH_SUGGESTS);
	bench_end(&b);
}

/* Of three rules for one message the lines below it choose one; that there are none may be asked for. */
static void lines_below_may_choose_the_rule(void **state)
{
	struct bench b = bench_of("rule long\nevent process.pauses\nmatch ^pause\nwhere lines ^(?:\\d{3,}) ms$\nwithin lines ^(?<elapsed_ms>\\d+) ms$\n"
				  "example pause\n|1203 ms\nexpect elapsed_ms=1203\n\n"
				  "rule short\nevent nothing\nmatch ^pause\nwhere lines ^\\d{1,2} ms$\nexample pause\n|12 ms\nexpect -\n\n"
				  "rule torn\nevent cut\nmatch ^pause\nwhere lines \\A(?![\\s\\S]*^\\d+ ms$)\nexample pause\nexpect -\n");
	static const struct {
		struct sv more;
		const char *rule;
	} cases[] = {
		{ { "\nages\n1203 ms", 13 }, "long" },
		{ { "\nages\n12 ms", 11 }, "short" },
		{ { "\nages\n12", 8 }, "torn" },
		{ { NULL, 0 }, "torn" },
	};

	(void)state;
	assert_int_equal(rules_check(b.rules, b.diag), 0);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct log_record record = { .body = SV("pause of the day"), .more = cases[i].more };
		struct event e;
		const char *rule;

		assert_int_equal(rules_match(b.rules, &record, &e, &rule), i == 0);
		assert_string_equal(rule, cases[i].rule);
	}
	bench_end(&b);
}

static void several_events_come_of_one_record(void **state)
{
	struct bench b = bench_of("rule config\n"
				  "event client.config\n"
				  "match ^values:\n"
				  "within lines ^client = (?<client>.*)$\n"
				  "each lines ^(?<key>[ab]) = (?<value>\\d*)$\n"
				  "example values:\n"
				  "|a = 1\n"
				  "|c = 2\n"
				  "|b = 3\n"
				  "|client = c-1\n"
				  "expect key=a value=1 client=c-1\n"
				  "expect key=b value=3 client=c-1\n");
	struct log_record record = { .body = SV("values: "), .more = SV("c = 1") };
	struct rules_events it;
	struct event e;
	const char *rule;

	(void)state;
	assert_non_null(b.rules);
	assert_int_equal(rules_check(b.rules, b.diag), 0);
	/* Known, and without anything to tell: no event, as client.config needs a key. */
	rules_events_init(&it, b.rules, &record, &rule);
	assert_string_equal(rule, "config");
	assert_false(rules_events_next(&it, &e));
	assert_false(rules_events_next(&it, &e));
	bench_end(&b);
}

static void a_rule_is_looked_for_among_those_that_can_fit(void **state)
{
	struct bench b = bench_of("prefix p\nfrom client\nmatch ^\\[(?<client>\\w+)\\][ ]\nexample [c] x\nexpect client=c\n\n"
				  "rule one\nfrom broker\nevent broker.started\nmatch started\nexample is started\nexpect -\n\n"
				  "rule two\nevent member.left\nmatch (?<member>\\w+) left (?<group>\\w+)\nexample m left g\nexpect member=m group=g\n\n"
				  "rule three\nevent broker.started\nmatch left\nexample left\nexpect -\n");
	struct log_record record = { .body = SV("[c] m left g, and started") };
	const uint32_t all[] = { 0, 1, 2 }, last[] = { 2 };
	struct rules_events it;
	struct event e;
	const char *rule;

	(void)state;
	assert_non_null(b.rules);
	/* The first is a broker's; of the two that fit the first is meant. */
	rules_events_among(&it, b.rules, &record, all, 3, &rule);
	assert_string_equal(rule, "two");
	assert_true(rules_events_next(&it, &e));
	assert_int_equal(e.type, EVENT_MEMBER_LEFT);
	assert_int_equal(e.strength, event_infos[EVENT_MEMBER_LEFT].strength);
	assert_true(sv_eq(event_text(&e, FIELD_CLIENT), SV("c")));
	assert_true(sv_eq(event_text(&e, FIELD_GROUP), SV("g")));
	assert_false(rules_events_next(&it, &e));
	rules_events_among(&it, b.rules, &record, last, 1, &rule);
	assert_string_equal(rule, "three");
	rules_events_among(&it, b.rules, &record, all, 1, &rule);
	assert_null(rule);
	assert_false(rules_events_next(&it, &e));
	rules_events_among(&it, b.rules, &record, NULL, 0, &rule);
	assert_null(rule);
	bench_end(&b);
}

static void empty_matches_come_to_an_end(void **state)
{
	struct bench b = bench_of("rule config\n"
				  "event client.config\n"
				  "match ^values\n"
				  "set key=x\n"
				  "each lines (?<value>z*)\n"
				  "example values\n"
				  "expect key=x\n");
	struct log_record record = { .body = SV("values"), .more = SV("ab") };
	struct rules_events it;
	struct event e;
	const char *rule;
	size_t n = 0;

	(void)state;
	rules_events_init(&it, b.rules, &record, &rule);
	while (rules_events_next(&it, &e))
		n++;
	/* Before a, before b, and at the end. */
	assert_int_equal(n, 3);
	bench_end(&b);
}

/* ---- what is refused ---- */

static struct sv file_text(struct arena *a, const char *path)
{
	FILE *f = fopen(path, "rb");
	char *text = arena_alloc(a, 65536);

	if (f == NULL)
		fail_msg("%s cannot be read", path);
	size_t n = fread(text, 1, 65535, f);

	fclose(f);
	return (struct sv){ text, n };
}

/* The first problem of the file as "LINE: MESSAGE". */
static void check_bad(const char *path)
{
	struct bench b = bench_loaded(path);
	size_t stem = strlen(path) - strlen(".rules");
	struct sv expected =
		file_text(b.arena, arena_printf(b.arena, "%.*s.expected", (int)stem, path).p);

	if (b.rules != NULL)
		assert_int_equal(rules_check(b.rules, b.diag), -1);
	assert_true(diag_count(b.diag) > 0);
	const struct problem *p = diag_at(b.diag, 0);
	struct sv got = arena_printf(b.arena, "%" PRIu64 ": %.*s", p->place.number, SV_ARG(p->message));

	assert_int_equal(p->severity, SEVERITY_ERROR);
	assert_int_equal(p->place.unit, PLACE_LINE);
	assert_true(sv_eq(p->path, sv_of(path)));
	if (!sv_eq(got, sv_trim(expected)))
		fail_msg("%s: \"%.*s\" instead of \"%.*s\"", path, SV_ARG(got), SV_ARG(expected));
	bench_end(&b);
}

static void each_mistake_is_refused_with_line_column_and_reason(void **state)
{
	DIR *d = opendir("tests/bad");
	struct dirent *entry;
	size_t n = 0;

	(void)state;
	assert_non_null(d);
	while ((entry = readdir(d)) != NULL) {
		char path[512];

		if (!sv_ends_with(sv_of(entry->d_name), SV(".rules")))
			continue;
		snprintf(path, sizeof path, "tests/bad/%s", entry->d_name);
		check_bad(path);
		n++;
	}
	closedir(d);
	assert_true(n >= 41);
}

static void a_directory_without_rules_is_refused(void **state)
{
	struct bench b = bench_loaded("tests/unit");

	(void)state;
	assert_null(b.rules);
	assert_true(sv_eq(diag_at(b.diag, 0)->code, SV("rules.refused")));
	bench_end(&b);
	b = bench_loaded("tests/bad/there-is-no-such.rules");
	assert_null(b.rules);
	bench_end(&b);
}

/* ---- the rules that are shipped ---- */

static void all_examples_hold(void **state)
{
	struct bench b = shipped();

	(void)state;
	if (rules_check(b.rules, b.diag) != 0)
		fail_msg("%.*s: %.*s", SV_ARG(diag_at(b.diag, 0)->path), SV_ARG(diag_at(b.diag, 0)->message));
	bench_end(&b);
}

/* The events that analysis reads from logs: each is made by some rule, in its own side's files. */
static void each_event_of_logs_has_a_rule(void **state)
{
	struct bench b = shipped();

	(void)state;
	for (unsigned type = 0; type < EVENT_COUNT; type++) {
		bool made = event_infos[type].side != SIDE_CLIENT && event_infos[type].side != SIDE_BROKER &&
			    event_infos[type].side != SIDE_BUSINESS;

		for (size_t i = 0; i < b.rules->rule_count; i++)
			made = made || b.rules->rules[i]->event == type;
		for (size_t i = 0; i < b.rules->table_count; i++)
			made = made || b.rules->tables[i]->event == type;
		if (!made)
			fail_msg("no rule makes %s", event_infos[type].name);
	}
	bench_end(&b);
}

#define CONSUMER "[Consumer clientId=c-1, groupId=refunds] "

/* kafka-log-messages.md 4.1 and 4.2: lines that look like trouble, and are not, or not that. */
static void lines_that_mislead_make_no_event_of_trouble(void **state)
{
	static const char *const silent[] = {
		/* The answer to a heartbeat of a generation that is given up. */
		CONSUMER "Attempt to heartbeat with stale Generation{generationId=9, memberId='c-1-7f', protocol='range'} and group "
			 "instance id Optional.empty failed due to UNKNOWN_MEMBER_ID, ignoring the error",
		CONSUMER "Resetting generation and member id due to: consumer pro-actively leaving the group",
		CONSUMER "Request joining group due to: consumer pro-actively leaving the group",
		CONSUMER "Giving away all assigned partitions as lost since generation/memberID has been reset,indicating that "
			 "consumer is in old state or no longer part of the group",
		CONSUMER "Requesting disconnect from last known coordinator broker-1:9092 (id: 2147483646 rack: null isFenced: false)",
		CONSUMER "(Re-)joining group",
		CONSUMER "Notifying assignor about the new Assignment(partitions=[refunds-0])",
		CONSUMER "Found no committed offset for partition refunds-0",
		CONSUMER "Seeking to offset 17 for partition refunds-0",
		CONSUMER "Node -1 disconnected.",
		/* The same words of others. */
		"[Producer clientId=producer-1] Node 1 disconnected.",
		"[AdminClient clientId=adminclient-1] Node 1 disconnected.",
		"[NodeToControllerChannelManager id=1 name=registration] Node 1 disconnected.",
		/* Someone who never became a member. */
		"[GroupCoordinator 1]: Pending member c-1-7f in group refunds has been removed after session timeout expiration.",
		"[GroupCoordinator id=1] Scheduling loading of metadata from __consumer_offsets-31 with epoch 0",
		"[GroupCoordinator id=1] Startup complete.",
		/* The answer as it came, before the line that says what follows from it; a member that stays one. */
		CONSUMER "ConsumerGroupHeartbeatRequest failed because of UNKNOWN_MEMBER_ID: ConsumerGroupHeartbeatResponse(data=x)",
		CONSUMER "ConsumerGroupHeartbeatRequest failed for member mDMX9n3bQ2i5UkSCjJ4uTQ with state STABLE due to "
			 "TOPIC_AUTHORIZATION_FAILED: Topic authorization failed.",
		CONSUMER "Topology description push failed with retriable exception; will retry on next poll",
		CONSUMER "Member mDMX9n3bQ2i5UkSCjJ4uTQ won't send leave group request because it is already out of the group.",
		"[GroupCoordinator id=1 topic=__consumer_offsets partition=31] [GroupId refunds][MemberId m-1] Member joined with stale topology epoch 1",
		/* A member that waits for its answer is kept; a group that lies dead expires nobody. */
		"TRACE 2024-06-18 10:00:31,207 [shard 0:main] kafka - [N:refunds S:Stable G:7] group.cc:1318 - Heartbeat expired for keep_alive=true member {c-1-7f}",
		"TRACE 2024-06-18 10:00:31,207 [shard 0:main] kafka - [N:refunds S:Dead G:7] group.cc:1296 - Ignoring heartbeat expiration for group state Dead",
		/* What is tried again, or only told. */
		"2024-06-18T10:00:31.207Z [INFO] offset commit got stale member epoch, retrying with updated epoch; group: refunds, old_epoch: 7, "
		"new_epoch: 8, lost_partitions_filtered: 0",
		"2024-06-18 10:00:31,207 - aiokafka.consumer.group_coordinator - INFO - OffsetCommit failed for group refunds because group is "
		"initializing (GroupLoadInProgressError), will retry",
		"%7|1718704831.207|COMMIT|c-1#consumer-1| [thrd:main]: Group \"refunds\": unable to OffsetCommit in state up: revoke: coordinator "
		"(none) is unavailable: retrying later",
		"2024-06-18 10:00:31,207 WARN  [io.smallrye.reactive.messaging.kafka] (x) SRMSG18242: A failure has been reported during a rebalance - "
		"the operation will be retried: 'x'",
		"2024-05-01 10:00:00.123 WARN  [x-1] org.apache.pekko.kafka.internal.KafkaConsumerActor - Kafka commit took longer than "
		"`commit-time-warning`: 1204 ms, commitsInProgress=0",
		"[Consumer] Received rebalance event with message: 'Local: Revoke partitions' and 2 partition(s), isLost: false",
		/* A JVM's own lock, and a pause of which nobody knows how long it was. */
		"[2024-06-18T10:00:31.207+0000][safepoint] Entering safepoint region: RevokeBias",
		"2024-06-18T10:00:31.207+0000: 0.111: [GC (Allocation Failure) [PSYoungGen: 33169K->50",
		"2024-06-18T10:00:31.207+0000: 4.039: [GC (Allocation Fail2024-06-18T10:00:31.307+0000: 5.112: [GC (Allocation Failure) "
		"[PSYoungGen: 33169K->5039K(38400K)] 33169K->32385K(125952K), 0.5211353 secs]",
		/* Talk about the events, by an application. */
		"Failed to commit the order, it will be re-attempted",
		"Commit failed, retries remaining 3",
		"leaving next-gen group of products",
		"Saw 'Member c-1 in group refunds has failed, removing it from the group' in the log",
	};
	struct bench b = shipped();

	(void)state;
	for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++) {
		if (strcmp(told(&b, silent[i]), "-") != 0)
			fail_msg("%s: %s", silent[i], told(&b, silent[i]));
	}
	bench_end(&b);
}

struct said {
	const char *line, *event;
};

static void check_said(const struct said *rows, size_t n)
{
	struct bench b = shipped();

	for (size_t i = 0; i < n; i++) {
		if (strcmp(told(&b, rows[i].line), rows[i].event) != 0)
			fail_msg("%s\n%s\ninstead of %s", rows[i].line, told(&b, rows[i].line), rows[i].event);
	}
	bench_end(&b);
}

#define SHARD "[GroupCoordinator id=1 topic=__consumer_offsets partition=31] [GroupId refunds]"
#define STREAM "stream-thread [refunds-7f-StreamThread-1] "

/* KIP-848, KIP-932 and KIP-1071 share their client's code: each has a request of its own. */
static void a_heartbeat_is_named_by_the_protocol_it_is_of(void **state)
{
	static const struct said rows[] = {
		{ CONSUMER "ConsumerGroupHeartbeatRequest failed because member m-1 is unknown. in 3ms: gone",
		  "client.membership_lost group=refunds member=m-1 client=c-1 reason=unknown error=unknown api=ConsumerGroupHeartbeat" },
		{ CONSUMER "ShareGroupHeartbeatRequest failed because member m-1 is unknown. in 3ms: gone",
		  "client.membership_lost group=refunds member=m-1 client=c-1 reason=unknown error=unknown api=ShareGroupHeartbeat" },
		{ CONSUMER "StreamsGroupHeartbeatRequest failed due to fatal error: no",
		  "client.membership_lost group=refunds client=c-1 error=fatal error api=StreamsGroupHeartbeat" },
		/* 3.7 had one protocol, and named none. */
		{ CONSUMER "GroupHeartbeatRequest failed due to UNSUPPORTED_ASSIGNOR: no",
		  "client.membership_lost group=refunds client=c-1 error=UNSUPPORTED_ASSIGNOR api=GroupHeartbeat" },
		{ "%7|1718704831.207|HEARTBEAT|c-1#consumer-1| [thrd:main]: ShareGroupHeartbeat failed due to: Broker: Unknown member: "
		  "will rejoin the group",
		  "client.membership_lost client=c-1 error=Broker: Unknown member api=ShareGroupHeartbeat" },
		{ "2024-06-18T10:00:31.207Z [INFO] share group heartbeat lost membership, resetting epoch; group: refunds, member_id: m-1, "
		  "generation: 7, err: UNKNOWN_MEMBER_ID: no",
		  "client.membership_lost group=refunds member=m-1 generation=7 error=UNKNOWN_MEMBER_ID: no api=ShareGroupHeartbeat" },
	};

	(void)state;
	check_said(rows, sizeof rows / sizeof rows[0]);
}

static void the_epoch_of_a_streams_group_is_a_rebalance_as_well(void **state)
{
	static const struct said rows[] = {
		{ SHARD "[MemberId m-1] Bumped streams group epoch to 7 with metadata hash -40564 and validated topic epoch 2.",
		  "group.bumped group=refunds member=m-1 generation=7" },
		{ SHARD "[MemberId m-1] Bumped streams group epoch to 7 with metadata hash 40564.",
		  "group.bumped group=refunds member=m-1 generation=7" },
		{ SHARD " Bumped group epoch to 7 with metadata hash 40564.", "group.bumped group=refunds generation=7" },
		/* What makes an epoch, or follows from it, is none. */
		{ SHARD " Computed new metadata hash: 40564.", "-" },
		{ SHARD "[MemberId m-1] Member initialized the topology with epoch 7.", "-" },
		/* Nobody came or went: the coordinator could not store who would have. */
		{ "[GroupCoordinator 1]: Failed to persist metadata for group refunds static member m-2 with group instance id pod-0 due to "
		  "no. Reverting to old member id m-1.",
		  "-" },
	};

	(void)state;
	check_said(rows, sizeof rows / sizeof rows[0]);
}

/* What a framework says of a commit that its client does not. */
static void what_is_revoked_uncommitted_comes_again(void **state)
{
	static const struct said rows[] = {
		{ STREAM "Timed out while trying to commit all tasks during revocation, these will be cleaned and revived",
		  "client.commit_failed error=Timed out while trying to commit all tasks during revocation" },
		{ STREAM "Exception caught while committing those revoked tasks [0_1]",
		  "client.commit_failed error=Exception caught while committing those revoked tasks" },
		{ STREAM "Exception caught while preparing to commit revoked tasks [0_1] and commit-needed tasks []",
		  "client.commit_failed error=Exception caught while preparing to commit revoked tasks" },
		{ STREAM "Exception caught while committing tasks [0_1]",
		  "client.commit_failed error=Exception caught while committing tasks" },
		/* The checkpoint of the local state, after the commit. */
		{ STREAM "Exception caught while post-committing task 0_1", "-" },
		{ STREAM "State transition from RUNNING to PARTITIONS_REVOKED", "-" },
		/* The consumer below tells of its leave itself; of one that was fenced there is none. */
		{ "[a1b2c] Exception when polling from consumer, stopping actor: org.apache.kafka.common.errors.TimeoutException: no", "-" },
		{ "[a1b2c] Exception when polling from consumer, stopping actor: "
		  "org.apache.kafka.common.errors.FencedInstanceIdException: no",
		  "client.membership_lost error=org.apache.kafka.common.errors.FencedInstanceIdException" },
	};

	(void)state;
	check_said(rows, sizeof rows / sizeof rows[0]);
}

/* Frameworks, beside what they say of other things in much the same words. */
static void frameworks_say_what_their_client_does_not(void **state)
{
	static const struct said rows[] = {
		{ "Consumer [m-1] error (Local_MaxPollExceeded): Application maximum poll interval (300000ms) exceeded by 86ms on refunds. "
		  "IsFatal(False)",
		  "client.poll_timeout member=m-1 reason=Application maximum poll interval elapsed_ms=86 limit_ms=300000" },
		{ "Consumer [m-1] error (UnknownMemberId): Broker: Unknown member on refunds. IsFatal(False)",
		  "client.membership_lost member=m-1 error=UnknownMemberId" },
		/* An error of a topic, none of the membership. */
		{ "Consumer [m-1] error (UnknownTopicOrPart): Broker: Unknown topic or partition on refunds. IsFatal(False)", "-" },
		{ "Partition: refunds [[3]] checkpoint failed with offset: 122 on m-1",
		  "client.commit_failed member=m-1 topic=refunds partition=3 offset=122" },
		{ "Partition: refunds [[3]] updating checkpoint with offset: 122 on m-1", "-" },
		{ "Error in Kafka consumer: 'Broker: Unknown member' (25) | ConsumerName: a",
		  "client.membership_lost process=a error=Broker: Unknown member" },
		{ "Error in Kafka consumer: 'Local: All broker connections are down' (-187) | ConsumerName: a", "-" },
		{ "Revoked partition refunds[3]@122 | ConsumerName: a", "client.partitions_revoked process=a partitions=refunds[3]" },
		/* Somebody set it, no group gave it. */
		{ "Assigned partition refunds[3]@122 | ConsumerName: a", "-" },
		{ "Unable to update consumer offset. error=no error_code=\"kafka_offset_update\"", "client.commit_failed error=no" },
		{ "Failed to read message. error=no error_code=\"reading_message\"", "-" },
		{ "Error committing Kafka offsets on shutdown: no", "client.commit_failed error=no" },
		{ "% AssignedPartitions: [refunds[0]@unset]", "client.partitions_assigned partitions=refunds[0]@unset" },
		/* The library's own line stands before it. */
		{ "consumer error: Application maximum poll interval (300000ms) exceeded by 86ms", "-" },
		{ "librdkafka: Global error: PollExceeded (Local: Maximum application poll interval (max.poll.interval.ms) exceeded): x", "-" },
		{ "librdkafka: MAXPOLL [thrd:main]: Application maximum poll interval (300000ms) exceeded by 86ms (adjust "
		  "max.poll.interval.ms for long-running message processing): leaving group",
		  "client.poll_timeout reason=Application maximum poll interval elapsed_ms=86 limit_ms=300000" },
		{ "Reconciliation #5(timer) Kafka(payments/my-cluster): Rolling Pod my-cluster-kafka-0/0 due to [Pod has old revision]",
		  "broker.rolled node=0 process=my-cluster-kafka-0 reason=Pod has old revision" },
		/* Said of any pod; the brokers among them have the line above. */
		{ "Reconciliation #5(timer) KafkaConnect(payments/my-connect): Rolling pod my-connect-0", "-" },
	};

	(void)state;
	check_said(rows, sizeof rows / sizeof rows[0]);
}

static void a_host_says_what_stood_still_and_what_was_killed(void **state)
{
	static const struct said rows[] = {
		{ "ixgbe 0000:04:00.0 ens2: Detected Tx Unit Hang", "host.link_stalled device=ens2" },
		{ "ixgbe 0000:04:00.0 ens2: initiating reset to clear Tx work after link loss", "-" },
		{ "gve 0000:00:04.0 ens4: Device link is down.", "host.link_down device=ens4" },
		/* Links of other things. */
		{ "ata1: SATA link down (SStatus 0 SControl 300)", "-" },
		{ "mlx5_core 0000:03:00.0: PCI Link up", "-" },
		{ "bond0: (slave eth1): link status down for active interface, disabling it in 200 ms", "host.link_spare device=eth1" },
		{ "clocksource: Long readout interval, skipping watchdog check: cs_nsec: 5503456789 wd_nsec: 5503451111",
		  "host.stalled reason=Long readout interval elapsed_ms=5503" },
		{ "clocksource: timekeeping watchdog on CPU1: hpet wd-wd read-back delay of 133422ns", "-" },
		{ "watchdog: CPU3: Watchdog detected hard LOCKUP on cpu 4", "host.stalled reason=hard LOCKUP" },
		{ "BUG: workqueue lockup - pool cpus=1 node=0 flags=0x0 nice=0 stuck for 33s!",
		  "host.stalled reason=workqueue lockup elapsed_ms=33000" },
		{ "rcu: rcu_sched kthread starved for 2500 jiffies! g1 f0x0", "host.stalled process=rcu_sched reason=kthread starved for" },
		/* Every busy machine has it. */
		{ "perf: interrupt took too long (2503 > 2500), lowering kernel.perf_event_max_sample_rate to 79750", "-" },
		{ "A thread timer expired 12.034512 seconds ago", "host.stalled reason=A thread timer expired elapsed_ms=12034" },
		{ "(VI_1) Receive advertisement timeout", "-" },
		{ "Netlink reports eth0 down", "host.link_down device=eth0" },
		{ "Netlink reports veth7f31 down", "-" },
		{ "CT_MAP_INSERTION_FAILED", "host.conntrack_full reason=CT_MAP_INSERTION_FAILED" },
		{ "POLICY_DENIED", "-" },
		{ "System time set from RTC", "host.clock_step reason=System time set from RTC" },
		{ "RTC wrong by -3600.123 seconds (step)", "-" },
		{ "refunds.service: Watchdog timeout (limit 3min)!", "process.killed process=refunds.service reason=Watchdog timeout" },
		{ "refunds.service: State 'stop-sigterm' timed out. Killing.",
		  "process.killed process=refunds.service reason=State 'stop-sigterm' timed out" },
		{ "refunds.service: State 'stop-sigterm' timed out. Skipping SIGKILL.", "-" },
		{ "refunds.service: Reload operation timed out. Killing reload process.", "-" },
		{ "Stop container \\\"4f5e6a\\\" with signal terminated", "process.killed process=4f5e6a reason=signal terminated" },
		{ "Kill container \\\"4f5e6a\\\"", "process.killed process=4f5e6a" },
		{ "StopContainer for \\\"4f5e6a\\\" returns successfully", "-" },
		{ "\"Killing container with a grace period\" pod=\"payments/refunds-1\" podUID=\"2\" containerName=\"refunds\" "
		  "containerID=\"containerd://4f5e6a\" gracePeriod=30",
		  "process.killed process=refunds reason=Killing container with a grace period" },
		/* That it did not answer a probe is no end of it. */
		{ "\"Probe failed\" probeType=\"Liveness\" pod=\"payments/refunds-1\" containerName=\"refunds\" probeResult=\"failure\"", "-" },
		{ "\"Skipping pod synchronization\" err=\"PLEG is not healthy: pleg was last seen active 3m7.6s ago; threshold is 3m0s\"",
		  "host.stalled reason=PLEG is not healthy" },
		{ "\"Skipping pod synchronization\" err=\"PLEG is not healthy: pleg has yet to be successful\"", "-" },
	};

	(void)state;
	check_said(rows, sizeof rows / sizeof rows[0]);
}

/* What stands behind a message is none of it. */
static void keys_behind_a_message_are_no_part_of_it(void **state)
{
	static const struct {
		const char *line, *layout, *body;
	} rows[] = {
		{ "time=\"2024-06-18T10:00:31Z\" level=error msg=\"a: b\" app_id=x ver=1.14", "go-keys", "a: b" },
		{ "time=\"2024-06-18T10:00:31Z\" level=error msg=\"a \\\"b\\\" c\" path=root.input", "go-keys", "a \\\"b\\\" c" },
		{ "time=2024-06-18T10:00:31Z level=info msg=joined group=refunds", "go-keys", "joined" },
		{ "2024-06-18T10:00:31.207Z\tERROR\tkafka/c.go:12\ta: b\t{\"k\": 1}", "go-zap-console", "a: b" },
		{ "[2024-06-18T10:00:31Z WARN  librdkafka] a: b", "rust-env-logger", "a: b" },
		{ "2024-06-18T10:00:31.207123Z  WARN source{id=\"x{}\"}: a::b: c: d", "rust-tracing", "c: d" },
		{ "2024-06-18 10:00:31.207 +02:00 [WRN] a: b", "serilog-file", "a: b" },
		{ "Warning|2024-06-18 10:00:31.207|rdkafka#consumer-1|MAXPOLL| x", "librdkafka-net-named", "rdkafka#consumer-1|MAXPOLL| x" },
		{ "2024-06-18 10:00:31.2070|WARN|a.B|c: d", "nlog", "c: d" },
		{ "2024-06-18T10:00:31Z E! [inputs.kafka_consumer] a: b", "telegraf", "a: b" },
		{ "[2024/06/18 10:00:31] [ warn] [input:kafka:kafka.0] a: b", "fluent-bit", "a: b" },
	};
	struct bench b = shipped();

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct log_record record;
		int hint = -1;

		if (!rules_layout(b.rules, sv_of(rows[i].line), (struct zone){ 0 }, &hint, b.arena, &record))
			fail_msg("no layout fits %s", rows[i].line);
		assert_string_equal(record.layout, rows[i].layout);
		if (!sv_eq(record.body, sv_of(rows[i].body)))
			fail_msg("%s: %.*s", rows[i].line, SV_ARG(record.body));
		assert_true(record.has_time);
	}
	bench_end(&b);
}

/* Two rules for one message, of which the first asks for more. */
static void the_rule_that_asks_for_more_stands_first(void **state)
{
#define BEATS(message, error) "{\"log.level\":\"error\",\"@timestamp\":\"2024-06-18T10:00:31.207Z\",\"message\":\"" message "\",\"error\":{\"message\":\"" error "\"}}"
	static const struct said rows[] = {
		{ BEATS("Error initializing kafka consumer group", "kafka server: The provided member is not known in the current generation"),
		  "client.membership_lost error=kafka server: The provided member is not known in the current generation" },
		{ BEATS("Error initializing kafka consumer group", "dial tcp: i/o timeout"), "-" },
		{ "container die 4f5e6a (execDuration=7423, exitCode=137, image=refunds:7, name=refunds-1)",
		  "process.killed process=refunds-1 reason=exitCode=137" },
		{ "container die 4f5e6a (execDuration=7423, exitCode=143, image=refunds:7, name=refunds-1)", "-" },
		{ "container die 4f5e6a (execDuration=7423, exitCode=1370, image=refunds:7, name=refunds-1)", "-" },
	};

	(void)state;
	check_said(rows, sizeof rows / sizeof rows[0]);
}

/* P1: whatever happened, the exception blames max.poll.interval.ms. */
static void a_failed_commit_is_no_poll_timeout(void **state)
{
	struct bench b = shipped();
	const char *got = told(&b, CONSUMER "Asynchronous auto-commit of offsets {refunds-5=OffsetAndMetadata{offset=122, leaderEpoch=0, "
					    "metadata=''}} failed: Commit cannot be completed since the group has already rebalanced "
					    "and assigned the partitions to another member. This means that the time between "
					    "subsequent calls to poll() was longer than the configured max.poll.interval.ms");

	(void)state;
	assert_true(sv_starts_with(sv_of(got), SV("client.commit_failed group=refunds client=c-1")));
	bench_end(&b);
}

static enum strength strength_of(const struct bench *b, const char *line)
{
	struct log_record record = { .body = sv_of(line) };
	struct event e;
	const char *rule;

	assert_true(rules_match(b->rules, &record, &e, &rule));
	return e.strength;
}

/* P2: the client suspects, the broker knows. */
static void a_suspicion_suggests_and_the_broker_proves(void **state)
{
	struct bench b = shipped();

	(void)state;
	assert_int_equal(strength_of(&b, CONSUMER "Group coordinator broker-1:9092 (id: 2147483646 rack: null isFenced: false) is "
						  "unavailable or invalid due to cause: session timed out without receiving a "
						  "heartbeat response. isDisconnected: false. Rediscovery will be attempted."),
			 STRENGTH_SUGGESTS);
	assert_int_equal(strength_of(&b, "[GroupCoordinator id=1 topic=__consumer_offsets partition=31] Member c-1-7f in group refunds "
					 "has failed, removing it from the group."),
			 STRENGTH_PROVES);
	assert_int_equal(strength_of(&b, CONSUMER "consumer poll timeout has expired. This means the time between"), STRENGTH_PROVES);
	assert_int_equal(strength_of(&b, CONSUMER "Node 2147483646 disconnected."), STRENGTH_SUGGESTS);
	bench_end(&b);
}

static void a_layout_is_found_and_kept(void **state)
{
	struct bench b = shipped();
	struct log_record record;
	int hint = -1;

	(void)state;
	assert_true(rules_layout(b.rules, SV("2026-11-30T21:47:14.839+08:00  INFO 1 --- [t] a.b.C : text"), (struct zone){ 0 }, &hint,
				 b.arena, &record));
	assert_string_equal(record.layout, "spring-boot-3");
	assert_true(record.zoned);
	assert_int_equal(record.zone.offset_s, 8 * 3600);
	assert_int_equal(record.time.us, INT64_C(1796046434839000));
	/* Lines that belong to it, and lines of no log. */
	assert_false(rules_layout(b.rules, SV("\tat java.base/java.lang.Thread.run(Thread.java:840)"), (struct zone){ 0 }, &hint, b.arena, &record));
	assert_false(rules_layout(b.rules, SV("time,consumer,business_key"), (struct zone){ 0 }, &hint, b.arena, &record));
	assert_false(rules_layout(b.rules, SV(""), (struct zone){ 0 }, &hint, b.arena, &record));
	/* Another layout in the same input. */
	assert_true(rules_layout(b.rules, SV("[2026-11-30 13:47:14,839] INFO text (a.b.C)"), (struct zone){ .offset_s = 3600 }, &hint, b.arena, &record));
	assert_string_equal(record.layout, "kafka");
	assert_false(record.zoned);
	assert_int_equal(record.time.us, INT64_C(1796046434839000) - INT64_C(3600000000));
	/* A date that there is not: a record, without a time. */
	assert_true(rules_layout(b.rules, SV("[2026-02-30 13:47:14,839] INFO text (a.b.C)"), (struct zone){ 0 }, &hint, b.arena, &record));
	assert_false(record.has_time);
	bench_end(&b);
}

/* ---- tables ---- */

static void the_table_with_most_columns_is_taken(void **state)
{
	static const struct sv effects[] = { { "Created At", 10 }, { "orderNo", 7 }, { "STATUS", 6 }, { "note", 4 } };
	static const struct sv books[] = { { "amount", 6 }, { "time", 4 }, { "order_no", 8 } };
	static const struct sv neither[] = { { "time", 4 }, { "value", 5 } };
	struct bench b = shipped();
	const struct table_map *map = rules_table(b.rules, effects, 4, b.arena);

	(void)state;
	assert_non_null(map);
	assert_int_equal(map->event, EVENT_EFFECT);
	assert_int_equal(map->time_column, 0);
	assert_int_equal(map->columns[FIELD_BUSINESS_KEY], 1);
	assert_int_equal(map->columns[FIELD_STATUS], 2);
	assert_int_equal(map->columns[FIELD_STEP], -1);
	assert_int_equal(map->column_count, 3);
	map = rules_table(b.rules, books, 3, b.arena);
	assert_non_null(map);
	assert_int_equal(map->event, EVENT_BOOK_ENTRY);
	assert_int_equal(map->columns[FIELD_AMOUNT_MICROS], 0);
	assert_null(rules_table(b.rules, neither, 2, b.arena));
	assert_null(rules_table(b.rules, neither, 0, b.arena));
	bench_end(&b);
}

static void words_of_a_status_column_have_a_meaning(void **state)
{
	struct bench b = shipped();

	(void)state;
	assert_true(sv_eq(rules_status(b.rules, SV("OK")), SV("success")));
	assert_true(sv_eq(rules_status(b.rules, SV("1")), SV("success")));
	assert_true(sv_eq(rules_status(b.rules, SV("already_exists")), SV("duplicate")));
	/* Not known: as it is written, for 2 is "failed" to some and "done" to others. */
	assert_true(sv_eq(rules_status(b.rules, SV("2")), SV("2")));
	bench_end(&b);
}

/* ---- records ---- */

static void lines_without_a_layout_belong_to_the_record_before(void **state)
{
	struct bench b = shipped();
	struct joiner *j = joiner_new(b.rules, (struct zone){ 0 });
	struct joined joined;

	(void)state;
	assert_false(joiner_add(j, SV("\tat nowhere"), 1, 0, &joined));
	assert_int_equal(joiner_orphans(j), 1);
	assert_false(joiner_add(j, SV("[2026-11-30 13:47:14,839] INFO one (a.B)"), 2, 12, &joined));
	assert_false(joiner_add(j, SV("java.lang.IllegalStateException: x"), 3, 60, &joined));
	assert_false(joiner_add(j, SV(""), 4, 90, &joined));
	assert_false(joiner_add(j, SV("\tat a.B"), 5, 91, &joined));
	assert_true(joiner_add(j, SV("[2026-11-30 13:47:14,840] INFO two (a.B)"), 6, 100, &joined));
	assert_true(sv_eq(joined.record.body, SV("one")));
	assert_true(sv_eq(joined.record.more, SV("java.lang.IllegalStateException: x\n\n\tat a.B")));
	assert_true(sv_eq(joined.text, SV("[2026-11-30 13:47:14,839] INFO one (a.B)")));
	assert_int_equal(joined.line, 2);
	assert_int_equal(joined.byte_offset, 12);
	assert_false(joined.cut);
	assert_true(joiner_end(j, &joined));
	assert_true(sv_eq(joined.record.body, SV("two")));
	assert_true(sv_is_absent(joined.record.more));
	assert_false(joiner_end(j, &joined));
	joiner_free(j);
	bench_end(&b);
}

/* java.util.logging, in English and Chinese; a line that is no message leaves the record without one. */
static void a_message_may_stand_below_its_time(void **state)
{
	struct bench b = shipped();
	struct joiner *j = joiner_new(b.rules, (struct zone){ 0 });
	struct joined joined;

	(void)state;
	assert_false(joiner_add(j, SV("Nov 30, 2026 1:47:14 PM a.b.C log"), 1, 0, &joined));
	assert_false(joiner_add(j, SV("WARNING: [Consumer clientId=c-1, groupId=g] lost: it"), 2, 34, &joined));
	assert_false(joiner_add(j, SV("java.lang.IllegalStateException: x"), 3, 80, &joined));
	assert_true(joiner_add(j, SV("11\xe6\x9c\x88 30, 2026 1:47:15 \xe4\xb8\x8b\xe5\x8d\x88 a.b.C log"), 4, 120, &joined));
	assert_true(sv_eq(joined.record.body, SV("[Consumer clientId=c-1, groupId=g] lost: it")));
	assert_true(sv_eq(joined.record.level, SV("WARNING")));
	assert_true(sv_eq(joined.record.more, SV("java.lang.IllegalStateException: x")));
	assert_true(sv_eq(joined.text, SV("Nov 30, 2026 1:47:14 PM a.b.C log\nWARNING: [Consumer clientId=c-1, groupId=g] lost: it")));
	assert_int_equal(joined.line, 1);
	assert_false(joiner_add(j, SV("\xe4\xbf\xa1\xe6\x81\xaf: two"), 5, 160, &joined));
	assert_true(joiner_add(j, SV("Nov 30, 2026 1:47:16 PM a.b.C log"), 6, 170, &joined));
	assert_true(sv_eq(joined.record.body, SV("two")));
	/* 2026-11-30T13:47:15Z */
	assert_int_equal(joined.record.time.us, INT64_C(1796046435000000));
	assert_false(joiner_add(j, SV("no message at all: of any level"), 7, 200, &joined));
	assert_true(joiner_end(j, &joined));
	assert_int_equal(joined.record.body.n, 0);
	assert_true(sv_eq(joined.record.more, SV("no message at all: of any level")));
	joiner_free(j);
	bench_end(&b);
}

/* ASP.NET's console: the level and who speaks, and below them the message, six blanks in. */
static void a_message_may_stand_below_its_level(void **state)
{
	struct bench b = shipped();
	struct joiner *j = joiner_new(b.rules, (struct zone){ 0 });
	struct joined joined;

	(void)state;
	assert_false(joiner_add(j, SV("warn: MassTransit[0]"), 1, 0, &joined));
	assert_false(joiner_add(j, SV("      Consumer [c-1-7f] error"), 2, 21, &joined));
	assert_false(joiner_add(j, SV("      Confluent.Kafka.KafkaException: no"), 3, 50, &joined));
	assert_true(joiner_add(j, SV("2026-11-30 13:47:14 fail: Shop.Refunds[7]"), 4, 80, &joined));
	assert_true(sv_eq(joined.record.body, SV("Consumer [c-1-7f] error")));
	assert_true(sv_eq(joined.record.level, SV("warn")));
	assert_true(sv_eq(joined.record.logger, SV("MassTransit")));
	assert_true(sv_eq(joined.record.more, SV("      Confluent.Kafka.KafkaException: no")));
	assert_true(sv_eq(joined.text, SV("warn: MassTransit[0]\n      Consumer [c-1-7f] error")));
	/* Not set in: a trace of a message that is empty. */
	assert_false(joiner_add(j, SV("System.Exception: no"), 5, 120, &joined));
	assert_true(joiner_end(j, &joined));
	assert_int_equal(joined.record.body.n, 0);
	assert_true(sv_eq(joined.record.more, SV("System.Exception: no")));
	/* 2026-11-30T13:47:14Z */
	assert_int_equal(joined.record.time.us, INT64_C(1796046434000000));
	joiner_free(j);
	bench_end(&b);
}

static void a_record_is_bounded(void **state)
{
	struct bench b = shipped();
	struct joiner *j = joiner_new(b.rules, (struct zone){ 0 });
	struct sv line = { arena_alloc(b.arena, 100000), 100000 };
	struct joined joined;

	(void)state;
	assert_false(joiner_add(j, SV("[2026-11-30 13:47:14,839] INFO one (a.B)"), 1, 0, &joined));
	for (unsigned i = 2; i < 10; i++)
		assert_false(joiner_add(j, line, i, 0, &joined));
	assert_true(joiner_end(j, &joined));
	assert_true(joined.cut);
	/* Two whole lines of 100,000 fit into 256 KiB, and none in part. */
	assert_int_equal(joined.record.more.n, 200001);
	joiner_free(j);
	bench_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_literal_is_what_every_match_contains),
		cmocka_unit_test(what_may_be_missing_is_no_literal),
		cmocka_unit_test(fields_come_from_prefix_message_and_constants),
		cmocka_unit_test(a_field_can_be_looked_into),
		cmocka_unit_test(a_number_that_is_none_is_not_known),
		cmocka_unit_test(who_speaks_decides_which_rules_are_looked_at),
		cmocka_unit_test(joined_lines_are_searched_by_line),
		cmocka_unit_test(lines_below_may_choose_the_rule),
		cmocka_unit_test(several_events_come_of_one_record),
		cmocka_unit_test(a_rule_is_looked_for_among_those_that_can_fit),
		cmocka_unit_test(empty_matches_come_to_an_end),
		cmocka_unit_test(each_mistake_is_refused_with_line_column_and_reason),
		cmocka_unit_test(a_directory_without_rules_is_refused),
		cmocka_unit_test(all_examples_hold),
		cmocka_unit_test(each_event_of_logs_has_a_rule),
		cmocka_unit_test(lines_that_mislead_make_no_event_of_trouble),
		cmocka_unit_test(a_heartbeat_is_named_by_the_protocol_it_is_of),
		cmocka_unit_test(the_epoch_of_a_streams_group_is_a_rebalance_as_well),
		cmocka_unit_test(what_is_revoked_uncommitted_comes_again),
		cmocka_unit_test(frameworks_say_what_their_client_does_not),
		cmocka_unit_test(a_host_says_what_stood_still_and_what_was_killed),
		cmocka_unit_test(keys_behind_a_message_are_no_part_of_it),
		cmocka_unit_test(the_rule_that_asks_for_more_stands_first),
		cmocka_unit_test(a_failed_commit_is_no_poll_timeout),
		cmocka_unit_test(a_suspicion_suggests_and_the_broker_proves),
		cmocka_unit_test(a_layout_is_found_and_kept),
		cmocka_unit_test(the_table_with_most_columns_is_taken),
		cmocka_unit_test(words_of_a_status_column_have_a_meaning),
		cmocka_unit_test(lines_without_a_layout_belong_to_the_record_before),
		cmocka_unit_test(a_message_may_stand_below_its_time),
		cmocka_unit_test(a_message_may_stand_below_its_level),
		cmocka_unit_test(a_record_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
