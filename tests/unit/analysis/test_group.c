/* SPDX-License-Identifier: MIT */
/* Groups: who is a member, on which host, with which settings. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/group.h"
#include "story.h"

#define UUID_1 "-4bbaf2f7-5eda-4610-8060-4f5cc3a92310"
#define UUID_2 "-b0e15080-cd78-4435-b80c-c196ea38e1fc"
#define UUID_3 "-a209bbb2-dfb3-4de2-857a-304c0a7286e4"

static const struct clocks one_clock;

static struct groups find(struct story *st)
{
	struct analysis_options o = analysis_options_default();
	struct groups g;

	assert_int_equal(groups_find(story_store(st), &one_clock, &o, st->arena, &g), 0);
	return g;
}

static void assert_sv(struct sv is, const char *should)
{
	if (!sv_eq(is, sv_of(should)))
		fail_msg("is \"%.*s\", should be \"%s\"", SV_ARG(is), should != NULL ? should : "(absent)");
}

static const struct member *member(const struct groups *g, const char *group, const char *id)
{
	const struct group *of = groups_get(g, sv_of(group));

	assert_non_null(of);
	const struct member *m = group_member(of, sv_of(id));
	assert_non_null(m);
	return m;
}

/* The coordinator writes what it knows of a member that leaves; a member, what it asks for. */
static void test_settings_that_other_lines_state(void **state)
{
	struct story *st = story_new();
	struct groups g;

	(void)state;
	story_event(st, EVENT_MEMBER_LEFT, "broker-1", at("10:00:00"), "group", "g", "member", "m1", "settings",
		    "sessionTimeoutMs=10000, rebalanceTimeoutMs=60000", NULL);
	story_event(st, EVENT_MEMBER_LEFT, "broker-1", at("10:00:01"), "group", "h", "member", "m2", "settings", "rebalanceTimeoutMs=x", NULL);
	story_event(st, EVENT_CLIENT_CONFIG, "app-1", at("10:00:02"), "group", "i", "client", "c-1", "key", "sessionTimeout", "value", "9000",
		    "settings", "sessionTimeoutMs=9000", NULL);
	story_event(st, EVENT_CLIENT_SYNCED, "app-1", at("10:00:03"), "group", "i", "client", "c-1", "generation", "1", NULL);
	g = find(st);
	assert_int_equal(group_session_timeout_ms(groups_get(&g, SV("g"))), 10000);
	assert_int_equal(group_max_poll_interval_ms(groups_get(&g, SV("g"))), 60000);
	assert_int_equal(groups_get(&g, SV("g"))->session_timeout_ms.source.type, EVENT_MEMBER_LEFT);
	assert_false(groups_get(&g, SV("g"))->heartbeat_interval_ms.known);
	assert_false(groups_get(&g, SV("h"))->session_timeout_ms.known);
	assert_false(groups_get(&g, SV("h"))->max_poll_interval_ms.known);
	assert_int_equal(group_session_timeout_ms(groups_get(&g, SV("i"))), 9000);
	story_free(st);
}

static void test_client_id_is_inside_the_member_id(void **state)
{
	(void)state;
	assert_sv(member_id_owner(SV("consumer-refunds-1" UUID_1)), "consumer-refunds-1");
	/* A member id of the consumer protocol is a UUID in base64, and says nothing. */
	assert_sv(member_id_owner(SV("9LNQMqVoTX2w8cXPZ0m6bQ")), NULL);
	assert_sv(member_id_owner(SV("4bbaf2f7-5eda-4610-8060-4f5cc3a92310")), NULL);
	assert_sv(member_id_owner(SV("m1")), NULL);
	assert_sv(member_id_owner(SV_ABSENT), NULL);
}

static void test_the_log_that_names_a_member_is_its_host(void **state)
{
	struct story *st = story_new();

	(void)state;
	/* The same client id on two hosts: only the member id tells them apart. */
	story_event(st, EVENT_CLIENT_JOINED, "app-1", at("10:00:01"), "group", "g", "client", "c", "generation", "1", "member",
		    "c" UUID_1, NULL);
	story_event(st, EVENT_CLIENT_JOINED, "app-2", at("10:00:01"), "group", "g", "client", "c", "generation", "1", "member",
		    "c" UUID_2, NULL);
	story_event(st, EVENT_SESSION_EXPIRED, "broker-1", at("10:01:00"), "group", "g", "member", "c" UUID_2, NULL);
	struct groups g = find(st);
	assert_int_equal(g.count, 1);
	assert_sv(member(&g, "g", "c" UUID_1)->host, "app-1");
	assert_sv(member(&g, "g", "c" UUID_2)->host, "app-2");
	assert_int_equal(member(&g, "g", "c" UUID_2)->first.us, at("10:00:01").us);
	assert_int_equal(member(&g, "g", "c" UUID_2)->last.us, at("10:01:00").us);
	story_free(st);
}

static void test_a_unique_client_id_gives_the_host(void **state)
{
	struct story *st = story_new();

	(void)state;
	story_event(st, EVENT_CLIENT_COORDINATOR_LOST, "app-1", at("10:00:01"), "group", "g", "client", "c-1", NULL);
	story_event(st, EVENT_CLIENT_COORDINATOR_LOST, "app-1", at("10:00:01"), "group", "g", "client", "same", NULL);
	story_event(st, EVENT_CLIENT_COORDINATOR_LOST, "app-2", at("10:00:01"), "group", "g", "client", "same", NULL);
	story_event(st, EVENT_SESSION_EXPIRED, "broker-1", at("10:01:00"), "group", "g", "member", "c-1" UUID_1, NULL);
	story_event(st, EVENT_SESSION_EXPIRED, "broker-1", at("10:01:00"), "group", "g", "member", "same" UUID_2, NULL);
	/* In another group that client id is nobody's. */
	story_event(st, EVENT_SESSION_EXPIRED, "broker-1", at("10:01:00"), "group", "h", "member", "c-1" UUID_3, NULL);
	struct groups g = find(st);
	assert_sv(member(&g, "g", "c-1" UUID_1)->host, "app-1");
	assert_sv(member(&g, "g", "c-1" UUID_1)->client_id, "c-1");
	assert_sv(member(&g, "g", "same" UUID_2)->host, NULL);
	assert_sv(member(&g, "h", "c-1" UUID_3)->host, NULL);
	story_free(st);
}

static void test_a_snapshot_gives_client_and_address(void **state)
{
	struct story *st = story_new();

	(void)state;
	story_event(st, EVENT_PARTITION_STATE, "admin-1", at("10:00:01"), "group", "g", "topic", "t", "partition", "0", "member",
		    "9LNQMqVoTX2w8cXPZ0m6bQ", "client", "c-9", "peer", "/10.77.1.10", NULL);
	struct groups g = find(st);
	assert_sv(member(&g, "g", "9LNQMqVoTX2w8cXPZ0m6bQ")->client_id, "c-9");
	assert_sv(member(&g, "g", "9LNQMqVoTX2w8cXPZ0m6bQ")->peer, "10.77.1.10");
	/* The tool ran on that host, the member did not. */
	assert_sv(member(&g, "g", "9LNQMqVoTX2w8cXPZ0m6bQ")->host, NULL);
	story_free(st);
}

static void test_members_and_states_as_the_tool_prints_them(void **state)
{
	struct story *st = story_new();

	(void)state;
	story_event(st, EVENT_CLIENT_COORDINATOR_LOST, "app-1", at("10:00:01"), "group", "g", "client", "c-9", NULL);
	story_event(st, EVENT_MEMBER_STATE, "admin-1", at("10:00:01"), "group", "g", "member", "9LNQMqVoTX2w8cXPZ0m6bQ", "client", "c-9",
		    "instance", "pod-0", "peer", "10.77.1.10", NULL);
	story_event(st, EVENT_GROUP_STATE, "admin-1", at("10:00:02"), "group", "g", "state", "Stable", "node", "broker-1:9092", NULL);
	/* One that prints no coordinator says nothing of it. */
	story_event(st, EVENT_GROUP_STATE, "admin-1", at("10:00:03"), "group", "g", "state", "Stable", NULL);
	struct groups g = find(st);
	assert_sv(member(&g, "g", "9LNQMqVoTX2w8cXPZ0m6bQ")->client_id, "c-9");
	assert_sv(member(&g, "g", "9LNQMqVoTX2w8cXPZ0m6bQ")->instance_id, "pod-0");
	assert_sv(member(&g, "g", "9LNQMqVoTX2w8cXPZ0m6bQ")->peer, "10.77.1.10");
	/* By the client id, whose log is that host's. */
	assert_sv(member(&g, "g", "9LNQMqVoTX2w8cXPZ0m6bQ")->host, "app-1");
	assert_sv(g.items[0].coordinator, "broker-1:9092");
	assert_false(g.items[0].coordinator_changed);
	story_free(st);
}

static void test_a_static_members_id_is_made_of_its_instance(void **state)
{
	struct story *st = story_new();

	(void)state;
	story_event(st, EVENT_MEMBER_JOINS, "broker-1", at("10:00:01"), "group", "g", "member", "slot-3" UUID_1, "instance",
		    "slot-3", NULL);
	struct groups g = find(st);
	assert_sv(member(&g, "g", "slot-3" UUID_1)->instance_id, "slot-3");
	assert_sv(member(&g, "g", "slot-3" UUID_1)->client_id, NULL);
	story_free(st);
}

static void test_settings_are_the_most_common(void **state)
{
	static const char *const sessions[] = { "6000", "10000", "6000" };
	static const char *const hosts[] = { "app-1", "app-2", "app-3" };
	struct story *st = story_new();

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		story_event(st, EVENT_CLIENT_CONFIG, hosts[i], at("10:00:00"), "group", "g", "key", "session.timeout.ms", "value",
			    sessions[i], NULL);
		story_event(st, EVENT_CLIENT_CONFIG, hosts[i], at("10:00:00"), "group", "g", "key", "enable.auto.commit", "value",
			    "false", NULL);
	}
	/* Another group's setting is none of its business. */
	story_event(st, EVENT_CLIENT_CONFIG, "app-4", at("10:00:00"), "group", "h", "key", "heartbeat.interval.ms", "value", "1",
		    NULL);
	story_event(st, EVENT_GROUP_EMPTY, "broker-1", at("10:00:02"), "group", "g", NULL);
	struct groups g = find(st);
	const struct group *of = groups_get(&g, SV("g"));
	assert_true(of->session_timeout_ms.known);
	assert_int_equal(of->session_timeout_ms.value, 6000);
	assert_int_equal(of->session_timeout_ms.source.type, EVENT_CLIENT_CONFIG);
	assert_sv(of->session_timeout_ms.source.host, "app-1");
	assert_true(of->enable_auto_commit.known);
	assert_int_equal(of->enable_auto_commit.value, 0);
	assert_false(of->heartbeat_interval_ms.known);
	assert_int_equal(group_session_timeout_ms(of), 6000);
	assert_int_equal(group_heartbeat_interval_ms(of), 3000);
	assert_int_equal(group_max_poll_interval_ms(of), 300000);
	assert_int_equal(group_request_timeout_ms(of), 30000);
	story_free(st);
}

/* A dump names no group when it is read line by line: the host's only group is meant, if it has only one. */
static void test_a_session_timeout_that_the_coordinator_stored(void **state)
{
	struct story *st = story_new();

	(void)state;
	story_event(st, EVENT_GROUP_STORED, "broker-1", at("10:00:01"), "group", "g", "generation", "7", "member", "c-1" UUID_1,
		    "client", "c-1", "peer", "10.77.1.10", "limit_ms", "10000", NULL);
	/* A client's own word is better. */
	story_event(st, EVENT_GROUP_STORED, "broker-1", at("10:00:01"), "group", "h", "generation", "7", "limit_ms", "10000", NULL);
	story_event(st, EVENT_CLIENT_CONFIG, "app-1", at("10:00:00"), "group", "h", "key", "session.timeout.ms", "value", "6000", NULL);
	/* Under the consumer protocol it is not the client's to say. */
	story_event(st, EVENT_GROUP_STORED, "broker-1", at("10:00:01"), "group", "k", "generation", "7", "protocol", "consumer",
		    "limit_ms", "10000", NULL);
	struct groups g = find(st);
	assert_true(groups_get(&g, SV("g"))->session_timeout_ms.known);
	assert_int_equal(groups_get(&g, SV("g"))->session_timeout_ms.value, 10000);
	assert_sv(member(&g, "g", "c-1" UUID_1)->peer, "10.77.1.10");
	assert_int_equal(groups_get(&g, SV("h"))->session_timeout_ms.value, 6000);
	assert_false(groups_get(&g, SV("k"))->session_timeout_ms.known);
	story_free(st);
}

static void test_settings_without_a_group_are_those_of_the_hosts_only_one(void **state)
{
	struct story *st = story_new();

	(void)state;
	story_event(st, EVENT_CLIENT_CONFIG, "app-1", at("10:00:00"), "key", "session.timeout.ms", "value", "6000", NULL);
	story_event(st, EVENT_CLIENT_JOINED, "app-1", at("10:00:01"), "group", "g", "client", "c", "generation", "1", NULL);
	story_event(st, EVENT_CLIENT_CONFIG, "app-2", at("10:00:00"), "key", "session.timeout.ms", "value", "7000", NULL);
	story_event(st, EVENT_CLIENT_JOINED, "app-2", at("10:00:01"), "group", "h", "client", "c", "generation", "1", NULL);
	story_event(st, EVENT_CLIENT_JOINED, "app-2", at("10:00:01"), "group", "i", "client", "d", "generation", "1", NULL);
	struct groups g = find(st);
	assert_int_equal(group_session_timeout_ms(groups_get(&g, SV("g"))), 6000);
	assert_false(groups_get(&g, SV("h"))->session_timeout_ms.known);
	assert_false(groups_get(&g, SV("i"))->session_timeout_ms.known);
	story_free(st);
}

/* kafka-log-messages.md 4.1, P24: the client's own values are without effect. */
static void test_the_consumer_protocol_takes_its_timeouts_from_the_broker(void **state)
{
	struct story *st = story_new();

	(void)state;
	story_event(st, EVENT_CLIENT_CONFIG, "app-1", at("10:00:00"), "group", "g", "key", "session.timeout.ms", "value", "6000",
		    NULL);
	story_event(st, EVENT_MEMBER_JOINS, "broker-1", at("10:00:01"), "group", "g", "member", "m", "protocol", "consumer", NULL);
	struct groups g = find(st);
	assert_sv(groups_get(&g, SV("g"))->protocol, "consumer");
	assert_int_equal(group_session_timeout_ms(groups_get(&g, SV("g"))), 45000);
	assert_int_equal(group_heartbeat_interval_ms(groups_get(&g, SV("g"))), 5000);
	story_free(st);
}

/* The broker's own settings are those of the consumer protocol's groups, and of no other. */
static void test_the_brokers_settings_are_for_the_consumer_protocol_alone(void **state)
{
	struct story *st = story_new();

	(void)state;
	story_event(st, EVENT_BROKER_CONFIG, "broker-1", at("09:00:00"), "key", "group.consumer.session.timeout.ms", "value", "6000", NULL);
	story_event(st, EVENT_BROKER_CONFIG, "broker-1", at("09:00:00"), "key", "group.consumer.heartbeat.interval.ms", "value", "2000", NULL);
	story_event(st, EVENT_CLIENT_CONFIG, "app-1", at("10:00:00"), "group", "g", "key", "session.timeout.ms", "value", "45000", NULL);
	story_event(st, EVENT_MEMBER_JOINS, "broker-1", at("10:00:01"), "group", "g", "member", "m", "protocol", "consumer", NULL);
	story_event(st, EVENT_CLIENT_CONFIG, "app-2", at("10:00:00"), "group", "h", "key", "session.timeout.ms", "value", "10000", NULL);
	story_event(st, EVENT_GROUP_STABILIZED, "broker-1", at("10:00:01"), "group", "h", "generation", "1", NULL);
	struct groups g = find(st);
	assert_int_equal(groups_get(&g, SV("g"))->session_timeout_ms.value, 6000);
	assert_int_equal(groups_get(&g, SV("g"))->session_timeout_ms.source.type, EVENT_BROKER_CONFIG);
	assert_int_equal(group_heartbeat_interval_ms(groups_get(&g, SV("g"))), 2000);
	assert_int_equal(groups_get(&g, SV("h"))->session_timeout_ms.value, 10000);
	assert_false(groups_get(&g, SV("h"))->heartbeat_interval_ms.known);
	story_free(st);
}

/* Where no log tells a timeout, the default is that of the client's version (kafka-group-semantics.md 9). */
static void test_defaults_by_version(void **state)
{
	static const struct {
		const char *version;
		int64_t session_ms, request_ms;
	} cases[] = {
		{ "4.1.1", 45000, 30000 }, { "3.0.0", 45000, 30000 }, { "2.8.2", 10000, 30000 }, { "2.0.0", 10000, 30000 },
		{ "1.1.1", 10000, 305000 }, { "0.10.1.0", 10000, 305000 }, { "0.10.0.1", 30000, 40000 }, { "0.9.0.1", 30000, 40000 },
		{ "3.9.0-rc3", 45000, 30000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct story *st = story_new();
		story_event(st, EVENT_CLIENT_VERSION, "app-1", at("10:00:00"), "value", cases[i].version, NULL);
		story_event(st, EVENT_CLIENT_JOINED, "app-1", at("10:00:01"), "group", "g", "generation", "1", NULL);
		struct groups g = find(st);
		const struct group *of = groups_get(&g, SV("g"));
		assert_sv(of->client_version, cases[i].version);
		assert_int_equal(group_session_timeout_ms(of), cases[i].session_ms);
		assert_int_equal(group_request_timeout_ms(of), cases[i].request_ms);
		story_free(st);
	}
}

static void test_coordinator_and_choice_of_group(void **state)
{
	struct analysis_options o = analysis_options_default();
	struct story *st = story_new();
	struct groups g;

	(void)state;
	o.group = SV("g");
	story_event(st, EVENT_CLIENT_COORDINATOR_FOUND, "app-1", at("10:00:00"), "group", "g", "node",
		    "broker-1:9092 (id: 2147483646 rack: null)", NULL);
	story_event(st, EVENT_CLIENT_COORDINATOR_FOUND, "app-1", at("10:00:00"), "group", "h", "node", "broker-2:9092", NULL);
	assert_int_equal(groups_find(story_store(st), &one_clock, &o, st->arena, &g), 0);
	assert_int_equal(g.count, 1);
	assert_sv(g.items[0].coordinator, "broker-1:9092");
	assert_false(g.items[0].coordinator_changed);
	assert_null(groups_get(&g, SV("h")));
	story_free(st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settings_that_other_lines_state),
		cmocka_unit_test(test_client_id_is_inside_the_member_id),
		cmocka_unit_test(test_the_log_that_names_a_member_is_its_host),
		cmocka_unit_test(test_a_unique_client_id_gives_the_host),
		cmocka_unit_test(test_a_snapshot_gives_client_and_address),
		cmocka_unit_test(test_members_and_states_as_the_tool_prints_them),
		cmocka_unit_test(test_a_static_members_id_is_made_of_its_instance),
		cmocka_unit_test(test_settings_are_the_most_common),
		cmocka_unit_test(test_a_session_timeout_that_the_coordinator_stored),
		cmocka_unit_test(test_settings_without_a_group_are_those_of_the_hosts_only_one),
		cmocka_unit_test(test_the_consumer_protocol_takes_its_timeouts_from_the_broker),
		cmocka_unit_test(test_the_brokers_settings_are_for_the_consumer_protocol_alone),
		cmocka_unit_test(test_coordinator_and_choice_of_group),
		cmocka_unit_test(test_defaults_by_version),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
