/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "input_kit.h"

/* 2026-11-30T13:00:00Z */
#define T0 INT64_C(1796043600000000)
#define M1 "app-1-00000000-0000-4000-8000-000000000001"
#define M2 "app-2-00000000-0000-4000-8000-000000000002"
#define CLOCK "2026-11-30T13:00:00.000Z\n"
#define HEADER "GROUP  TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST  CLIENT-ID\n"
#define ROW "refunds refunds 0 10 12 2 " M1 " /192.0.2.11 app-1\n"

static struct kit *read_it(const char *text)
{
	struct kit *k = kit_new();

	kit_read(k, &snapshot_kind, sv_of(text), "groups.txt", NULL);
	return k;
}

static size_t count(const struct kit *k, enum event_type type)
{
	size_t n = 0;

	for (size_t i = 0; i < k->event_count; i++)
		n += k->events[i].type == type;
	return n;
}

struct row {
	const char *group, *topic;
	int64_t partition;
	int64_t offset, end;	/* -1: not known */
	const char *member, *peer, *client;	/* NULL: not known */
};

static void check_text(const struct event *e, enum event_field f, const char *expected)
{
	if (expected == NULL)
		assert_false(event_has(e, f));
	else
		assert_sv_equal(event_text(e, f), expected);
}

static void check_row(const struct event *e, const struct row *r)
{
	assert_int_equal(e->type, EVENT_PARTITION_STATE);
	check_text(e, FIELD_GROUP, r->group);
	check_text(e, FIELD_TOPIC, r->topic);
	assert_int_equal(event_int_or(e, FIELD_PARTITION, -1), r->partition);
	assert_int_equal(event_int_or(e, FIELD_OFFSET, -1), r->offset);
	assert_int_equal(event_int_or(e, FIELD_END_OFFSET, -1), r->end);
	check_text(e, FIELD_MEMBER, r->member);
	check_text(e, FIELD_PEER, r->peer);
	check_text(e, FIELD_CLIENT, r->client);
}

/* Every shape that a release prints, with the rows that it must give. */
static const struct shape {
	const char *release;
	const char *text;
	struct row rows[4];
	size_t count;
} shapes[] = {
	{ "0.9",
	  "GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET, LAG, OWNER\n"
	  "orders-svc, orders, 0, 1042, 1050, 8, app-1_/192.0.2.11\n"
	  "orders-svc, orders, 2, unknown, 310, unknown, none\n",
	  { { "orders-svc", "orders", 0, 1042, 1050, NULL, "192.0.2.11", "app-1" },
	    { "orders-svc", "orders", 2, -1, 310, NULL, NULL, NULL } },
	  2 },
	{ "0.10.0",
	  "GROUP                          TOPIC                          PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             OWNER\n"
	  "orders-svc                     orders                         0          1042            1050            8               app-1_/192.0.2.11\n"
	  "orders-svc                     orders                         2          unknown         310             unknown         none\n",
	  { { "orders-svc", "orders", 0, 1042, 1050, NULL, "192.0.2.11", "app-1" },
	    { "orders-svc", "orders", 2, -1, 310, NULL, NULL, NULL } },
	  2 },
	{ "1.0, the group named by a message, an id of 50 bytes glued to its host",
	  "Consumer group 'orders-svc' has no active members.\n\n"
	  "TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID   HOST   CLIENT-ID\n"
	  "orders  0          1042            1050            8    payments-worker-00000000-0000-4000-8000-000000000001/192.0.2.11      payments-worker\n"
	  "orders  1          977             977             0    payments-worker-00000000-0000-4000-8000-000000000001db-7/192.0.2.12  payments-worker\n",
	  { { "orders-svc", "orders", 0, 1042, 1050, "payments-worker-00000000-0000-4000-8000-000000000001", "192.0.2.11", "payments-worker" },
	    { "orders-svc", "orders", 1, 977, 977, "payments-worker-00000000-0000-4000-8000-000000000001", "192.0.2.12", "payments-worker" } },
	  2 },
	{ "0.10.2 to 1.0, of a Java consumer: columns by fixed widths",
	  "Note: This will not show information about old Zookeeper-based consumers.\n\n"
	  "Warning: Consumer group 'orders-svc' is rebalancing.\n\n"
	  "TOPIC                          PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG        CONSUMER-ID                                       HOST                           CLIENT-ID\n"
	  "orders                         0          1042            1050            8          " M1 "        /192.0.2.11                    app-1\n"
	  "orders                         2          -               310             -          " M2 "        /192.0.2.12                    app-2\n"
	  "orders                         3          8812            8990            178        -                                                 -                              -\n",
	  { { "orders-svc", "orders", 0, 1042, 1050, M1, "192.0.2.11", "app-1" },
	    { "orders-svc", "orders", 2, -1, 310, M2, "192.0.2.12", "app-2" },
	    { "orders-svc", "orders", 3, 8812, 8990, NULL, NULL, NULL } },
	  3 },
	{ "0.10.2 to 1.0, of an old consumer, whose offsets are in ZooKeeper: neither host nor client",
	  "Consumer group `orders-svc` is rebalancing.\n"
	  "TOPIC                          PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG        CONSUMER-ID\n"
	  "orders                         0          1042            1050            8          orders-svc_node-a-1796038384220-5f2c\n"
	  "orders                         1          -               -               -          -\n",
	  { { "orders-svc", "orders", 0, 1042, 1050, "orders-svc_node-a-1796038384220-5f2c", NULL, NULL },
	    { "orders-svc", "orders", 1, -1, -1, NULL, NULL, NULL } },
	  2 },
	{ "1.1 to 2.2, widths by the longest value",
	  "Consumer group 'orders-svc' has no active members.\n\n"
	  "TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID                                HOST            CLIENT-ID\n"
	  "orders          1          977             977             0               " M1 " /192.0.2.11     app-1\n"
	  "orders          3          8812            8990            178             -                                          -               -\n",
	  { { "orders-svc", "orders", 1, 977, 977, M1, "192.0.2.11", "app-1" },
	    { "orders-svc", "orders", 3, 8812, 8990, NULL, NULL, NULL } },
	  2 },
	{ "2.3, two groups, a table each",
	  "\nGROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID                                HOST            CLIENT-ID\n"
	  "orders-svc      orders          0          1042            1050            8               " M1 " /192.0.2.11     app-1\n"
	  "\nGROUP                   TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     HOST            CLIENT-ID\n"
	  "a-much-longer-group-id  refunds         7          1               2               1               -               -               -\n",
	  { { "orders-svc", "orders", 0, 1042, 1050, M1, "192.0.2.11", "app-1" },
	    { "a-much-longer-group-id", "refunds", 7, 1, 2, NULL, NULL, NULL } },
	  2 },
	{ "2.3",
	  "\nGROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID                                HOST            CLIENT-ID\n"
	  "orders-svc      orders          0          1042            1050            8               " M1 " /192.0.2.11     app-1\n"
	  "orders-svc      orders          2          -               310             -               " M2 " pod-7/192.0.2.12  app-2\n"
	  "orders-svc      orders          3          8812            8990            178             -                                          -               -\n"
	  "orders-svc      -               -          -               -               -               " M1 " /192.0.2.11     app-1\n",
	  { { "orders-svc", "orders", 0, 1042, 1050, M1, "192.0.2.11", "app-1" },
	    { "orders-svc", "orders", 2, -1, 310, M2, "192.0.2.12", "app-2" },
	    { "orders-svc", "orders", 3, 8812, 8990, NULL, NULL, NULL } },
	  3 },
	{ "4.x --verbose, and client ids with blanks and slashes",
	  "GROUP       TOPIC   PARTITION  LEADER-EPOCH    CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID   HOST            CLIENT-ID\n"
	  "orders-svc  orders  0          7               1042            1050            8    my app/1-00000000-0000-4000-8000-000000000001 /192.0.2.11     my app/1\n"
	  "orders-svc  orders  3          -               8812            8990            178  bmFtZWQtYnktYS1jbGllbnQ /2001:db8::7 app-2\n",
	  { { "orders-svc", "orders", 0, 1042, 1050, "my app/1-00000000-0000-4000-8000-000000000001", "192.0.2.11", "my app/1" },
	    { "orders-svc", "orders", 3, 8812, 8990, "bmFtZWQtYnktYS1jbGllbnQ", "2001:db8::7", "app-2" } },
	  2 },
};

static void test_every_shape(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		struct kit *k = kit_new();
		struct buf text;

		buf_init(&text);
		buf_printf(&text, "%s%s", CLOCK, shapes[i].text);
		kit_read(k, &snapshot_kind, buf_sv(&text), "g", NULL);
		if (count(k, EVENT_PARTITION_STATE) != shapes[i].count)
			fail_msg("rows of %s", shapes[i].release);
		for (size_t r = 0; r < shapes[i].count; r++) {
			check_row(&k->events[r], &shapes[i].rows[r]);
			assert_int_equal(k->events[r].time.us, T0);
		}
		assert_int_equal(diag_count(k->diag), 0);
		assert_int_equal(k->info.skipped, 0);
		buf_fini(&text);
		kit_free(k);
	}
}

/* ---- members and states ---- */

struct member_row {
	const char *group, *member, *instance, *peer, *client, *partitions;
};

static const struct member_shape {
	const char *release, *text;
	struct member_row rows[3];
	size_t count;
} member_shapes[] = {
	{ "1.1 to 2.2: no group, which a message names",
	  "Warning: Consumer group 'orders-svc' is rebalancing.\n\n"
	  "CONSUMER-ID                                HOST            CLIENT-ID       #PARTITIONS\n"
	  M1 " /192.0.2.11     app-1           2\n",
	  { { "orders-svc", M1, NULL, "192.0.2.11", "app-1", "2" } },
	  1 },
	{ "2.3 to 2.5 --verbose",
	  "GROUP           CONSUMER-ID                                HOST            CLIENT-ID       #PARTITIONS     ASSIGNMENT\n"
	  "orders-svc      " M1 " /192.0.2.11     app-1           2               orders(0,1)\n"
	  "orders-svc      " M2 " /192.0.2.12     app 2           0               -\n",
	  { { "orders-svc", M1, NULL, "192.0.2.11", "app-1", "orders(0,1)" },
	    { "orders-svc", M2, NULL, "192.0.2.12", "app 2", "0" } },
	  2 },
	{ "2.6 to 3.7 --verbose, one static member and one that is not",
	  "GROUP           CONSUMER-ID                                GROUP-INSTANCE-ID HOST            CLIENT-ID       #PARTITIONS     ASSIGNMENT\n"
	  "orders-svc      " M1 " pod-0             /192.0.2.11     app-1           3               orders(0,1), refunds(3)\n"
	  "orders-svc      " M2 "                   node-b/192.0.2.12 app-2           1               orders(2)\n",
	  { { "orders-svc", M1, "pod-0", "192.0.2.11", "app-1", "orders(0,1), refunds(3)" },
	    { "orders-svc", M2, NULL, "192.0.2.12", "app-2", "orders(2)" } },
	  2 },
	{ "3.8 --verbose: topics are missing; a client called by a number",
	  "GROUP           CONSUMER-ID                                HOST            CLIENT-ID       #PARTITIONS     ASSIGNMENT\n"
	  "orders-svc      " M1 " /192.0.2.11     7               3               (0,1), (3)\n",
	  { { "orders-svc", M1, NULL, "192.0.2.11", "7", "(0,1), (3)" } },
	  1 },
	{ "4.x --verbose",
	  "GROUP           CONSUMER-ID                                HOST            CLIENT-ID       #PARTITIONS     CURRENT-EPOCH   CURRENT-ASSIGNMENT     TARGET-EPOCH    TARGET-ASSIGNMENT     \n"
	  "orders-svc      " M1 " /192.0.2.11     app-1           3               7               orders:0,1;refunds:3   8               orders:0;refunds:3    \n"
	  "orders-svc      GmFtZWQtYnktYS1jbGllbnQ                    /2001:db8::7    app-2           0               8               -                      8               orders:1              \n",
	  { { "orders-svc", M1, NULL, "192.0.2.11", "app-1", "orders:0,1;refunds:3" },
	    { "orders-svc", "GmFtZWQtYnktYS1jbGllbnQ", NULL, "2001:db8::7", "app-2", "0" } },
	  2 },
	{ "4.x --verbose, while members go over to the new protocol",
	  "GROUP           CONSUMER-ID                                GROUP-INSTANCE-ID HOST            CLIENT-ID       #PARTITIONS     CURRENT-EPOCH   CURRENT-ASSIGNMENT   TARGET-EPOCH    TARGET-ASSIGNMENT    UPGRADED\n"
	  "orders-svc      " M1 " pod-0             /192.0.2.11     app-1           1               8               orders:0             8               orders:0             true\n",
	  { { "orders-svc", M1, "pod-0", "192.0.2.11", "app-1", "orders:0" } },
	  1 },
};

static void check_member(const struct event *e, const struct member_row *r)
{
	assert_int_equal(e->type, EVENT_MEMBER_STATE);
	check_text(e, FIELD_GROUP, r->group);
	check_text(e, FIELD_MEMBER, r->member);
	check_text(e, FIELD_INSTANCE, r->instance);
	check_text(e, FIELD_PEER, r->peer);
	check_text(e, FIELD_CLIENT, r->client);
	check_text(e, FIELD_PARTITIONS, r->partitions);
	assert_int_equal(e->time.us, T0);
}

static void test_every_shape_of_members(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof member_shapes / sizeof member_shapes[0]; i++) {
		const struct member_shape *shape = &member_shapes[i];
		struct kit *k = kit_new();
		struct buf text;

		buf_init(&text);
		buf_printf(&text, "%s%s", CLOCK, shape->text);
		kit_read(k, &snapshot_kind, buf_sv(&text), "g", NULL);
		if (count(k, EVENT_MEMBER_STATE) != shape->count || k->event_count != shape->count + 1)
			fail_msg("rows of %s", shape->release);
		for (size_t r = 0; r < shape->count; r++)
			check_member(&k->events[r], &shape->rows[r]);
		assert_int_equal(k->info.skipped + k->info.unrecognized, 0);
		buf_fini(&text);
		kit_free(k);
	}
}

static const struct state_shape {
	const char *release, *text;
	const char *group, *node, *protocol, *state;	/* NULL: not known */
	int64_t members, epoch;				/* -1: not known */
} state_shapes[] = {
	{ "1.1 to 2.2: no group, which a message names",
	  "Consumer group 'orders-svc' has no active members.\n\nCOORDINATOR (ID)          ASSIGNMENT-STRATEGY       STATE                #MEMBERS\n"
	  "192.0.2.21:9092 (1)                                 Empty                0\n",
	  "orders-svc", "192.0.2.21:9092", NULL, "Empty", 0, -1 },
	{ "2.3 to 3.9: the row is shifted against its header",
	  "GROUP                     COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE           #MEMBERS\n"
	  "orders-svc                192.0.2.21:9092 (1)       range                PreparingRebalance 2\n",
	  "orders-svc", "192.0.2.21:9092", "range", "PreparingRebalance", 2, -1 },
	{ "4.x: an empty strategy is a hyphen, two blanks before the id",
	  "GROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                #MEMBERS\n"
	  "orders-svc      broker-1.shop:9092  (1)   -                    Empty                0\n",
	  "orders-svc", "broker-1.shop:9092", NULL, "Empty", 0, -1 },
	{ "4.x --verbose",
	  "GROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                GROUP-EPOCH     TARGET-ASSIGNMENT-EPOCH   #MEMBERS\n"
	  "orders-svc      192.0.2.21:9092  (1)      uniform              Reconciling          8               7                         2\n",
	  "orders-svc", "192.0.2.21:9092", "uniform", "Reconciling", 2, 8 },
	{ "--list --state", "GROUP           STATE\norders-svc      PreparingRebalance\n", "orders-svc", NULL, NULL, "PreparingRebalance", -1, -1 },
	{ "--list --type --state", "GROUP           TYPE            STATE\norders-svc      Classic         Stable\n", "orders-svc", NULL, NULL, "Stable", -1, -1 },
};

static void test_every_shape_of_states(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof state_shapes / sizeof state_shapes[0]; i++) {
		const struct state_shape *shape = &state_shapes[i];
		struct kit *k = kit_new();
		struct buf text;

		buf_init(&text);
		buf_printf(&text, "%s%s", CLOCK, shape->text);
		kit_read(k, &snapshot_kind, buf_sv(&text), "g", NULL);
		if (count(k, EVENT_GROUP_STATE) != 1 || k->event_count != 2)
			fail_msg("rows of %s", shape->release);
		check_text(&k->events[0], FIELD_GROUP, shape->group);
		check_text(&k->events[0], FIELD_NODE, shape->node);
		check_text(&k->events[0], FIELD_PROTOCOL, shape->protocol);
		check_text(&k->events[0], FIELD_STATE, shape->state);
		assert_int_equal(event_int_or(&k->events[0], FIELD_MEMBERS, -1), shape->members);
		assert_int_equal(event_int_or(&k->events[0], FIELD_GENERATION, -1), shape->epoch);
		assert_int_equal(k->info.skipped + k->info.unrecognized, 0);
		buf_fini(&text);
		kit_free(k);
	}
}

static void test_rows_of_members_and_states_that_do_not_fit(void **state)
{
	struct kit *k = read_it(CLOCK "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS\n"
				"refunds " M1 " /192.0.2.11 app-1\n"
				"refunds " M1 " /192.0.2.11 app-1 two\n"
				"GROUP COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE #MEMBERS\n"
				"refunds 192.0.2.21:9092 (1) range Stable many\n"
				/* Of an older release, and no message names the group. */
				"COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE #MEMBERS\n"
				"192.0.2.21:9092 (1) range Stable 2\n");

	(void)state;
	assert_int_equal(count(k, EVENT_MEMBER_STATE) + count(k, EVENT_GROUP_STATE), 0);
	assert_int_equal(kit_problems(k, "snapshot.row"), 3);
	assert_int_equal(kit_problems(k, "snapshot.no_group"), 1);
	assert_int_equal(k->info.skipped, 4);
	kit_free(k);
}

static void test_place_and_text(void **state)
{
	struct kit *k = read_it(CLOCK "\n" HEADER ROW);

	(void)state;
	assert_int_equal(k->events[0].place.unit, PLACE_LINE);
	assert_int_equal(k->events[0].place.number, 4);
	assert_int_equal(k->events[0].place.byte_offset, strlen(CLOCK "\n" HEADER));
	assert_int_equal(k->events[0].place.input, 7);
	assert_sv_equal(k->events[0].text, "refunds refunds 0 10 12 2 " M1 " /192.0.2.11 app-1");
	assert_int_equal(k->info.records, 1);
	assert_sv_equal(k->info.zone_source, "written");
	kit_free(k);
}

static void test_rebalancing_is_a_state(void **state)
{
	struct kit *k = read_it(CLOCK "\nWarning: Consumer group 'refunds' is rebalancing.\n\n" HEADER
				"refunds refunds 0 10 12 2 - - -\n"
				"other   refunds 0 10 12 2 - - -\n"
				"2026-11-30T13:00:05.000Z\n" HEADER ROW);

	(void)state;
	assert_int_equal(count(k, EVENT_PARTITION_STATE), 3);
	assert_sv_equal(event_text(&k->events[0], FIELD_STATE), "rebalancing");
	/* Neither another group, nor the same one later. */
	assert_false(event_has(&k->events[1], FIELD_STATE));
	assert_false(event_has(&k->events[2], FIELD_STATE));
	kit_free(k);
}

static void test_without_a_clock_nothing_is_invented(void **state)
{
	struct kit *k = read_it(HEADER ROW ROW);

	(void)state;
	assert_int_equal(k->event_count, 0);
	assert_int_equal(k->info.records, 2);
	assert_int_equal(k->info.skipped, 2);
	assert_int_equal(kit_problems(k, "snapshot.no_clock"), 2);
	assert_int_equal(kit_problem(k, "snapshot.no_clock")->place.number, 2);
	kit_free(k);
}

static void test_without_a_group_nothing_is_guessed(void **state)
{
	struct kit *k = read_it(CLOCK "TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"
				"orders 0 1 2 1 " M1 " /192.0.2.11 app-1\n");

	(void)state;
	assert_int_equal(count(k, EVENT_PARTITION_STATE), 0);
	assert_int_equal(kit_problems(k, "snapshot.no_group"), 1);
	kit_free(k);
}

static void test_clock_lines(void **state)
{
	static const char *const clocks[] = {
		"2026-11-30T13:00:00Z", "Mon Nov 30 13:00:00 UTC 2026", "1796043600", "1796043600.000",
		"### 2026-11-30 13:00:00 ###", "DATE: 2026-11-30T13:00:00+00:00", "  2026-11-30 13:00:00,000  ",
	};

	(void)state;
	for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
		struct kit *k = kit_new();
		struct buf text;

		buf_init(&text);
		buf_printf(&text, "%s\n%s%s", clocks[i], HEADER, ROW);
		kit_read(k, &snapshot_kind, buf_sv(&text), "g", NULL);
		if (k->event_count == 0)
			fail_msg("no clock: %s", clocks[i]);
		assert_int_equal(k->events[0].time.us, T0);
		buf_fini(&text);
		kit_free(k);
	}
}

static void test_zone_of_the_input(void **state)
{
	struct kit *k = kit_new();
	struct ingest in = kit_ingest(k, SV("2026-11-30 21:00:00\n" HEADER ROW), "g", NULL);

	(void)state;
	in.zone = (struct zone){ .offset_s = 8 * 3600 };
	in.zone_is_option = true;
	assert_int_equal(snapshot_kind.read(&in), 0);
	assert_int_equal(k->events[0].time.us, T0);
	assert_sv_equal(k->info.zone_name, "+08:00");
	assert_sv_equal(k->info.zone_source, "option");
	arena_free(in.record);
	kit_free(k);
}

static void test_damaged_rows(void **state)
{
	struct kit *k = read_it(CLOCK HEADER "refunds refunds 0 1x 12 2 " M1 " /192.0.2.11 app-1\n" ROW "refunds refunds 1 1");

	(void)state;
	assert_int_equal(count(k, EVENT_PARTITION_STATE), 1);
	assert_int_equal(k->info.records, 3);
	assert_int_equal(k->info.skipped, 2);
	assert_int_equal(kit_problems(k, "snapshot.row"), 2);
	kit_free(k);
}

static void test_other_words_are_not_rows(void **state)
{
	struct kit *k = read_it(CLOCK HEADER ROW "Error: Executing consumer group command failed due to a timeout\n" CLOCK
				"GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS\n"
				"Error: Executing consumer group command failed due to a timeout\n" CLOCK
				"GROUP STATE\n"
				"Error: Executing consumer group command failed due to a timeout\n");

	(void)state;
	assert_int_equal(count(k, EVENT_PARTITION_STATE), 1);
	assert_int_equal(k->info.unrecognized, 3);
	assert_int_equal(k->info.skipped, 0);
	/* Said once, with the place of the first. */
	assert_int_equal(diag_count(k->diag), 1);
	assert_int_equal(kit_problem(k, "snapshot.no_row")->severity, SEVERITY_NOTE);
	assert_int_equal(kit_problem(k, "snapshot.no_row")->place.number, 4);
	assert_true(sv_starts_with(kit_problem(k, "snapshot.no_row")->message, SV("3 lines ")));
	kit_free(k);
}

static void test_a_cut_row_is_told_with_its_place(void **state)
{
	struct kit *k = read_it(CLOCK "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS\nrefunds " M1 " /192.0.2.11 app-1 3\nrefunds " M1 "\n");

	(void)state;
	assert_int_equal(count(k, EVENT_MEMBER_STATE), 1);
	assert_int_equal(k->info.unrecognized, 1);
	assert_int_equal(kit_problem(k, "snapshot.no_row")->place.number, 4);
	assert_true(sv_starts_with(kit_problem(k, "snapshot.no_row")->message, SV("1 line ")));
	kit_free(k);
}

/* "app-1" cut off app-12 is a client as well. */
static void test_a_last_row_without_its_end_is_left_out(void **state)
{
	struct kit *k = read_it(CLOCK HEADER ROW "refunds refunds 1 10 12 2 " M1 " /192.0.2.11 app-1");

	(void)state;
	assert_int_equal(count(k, EVENT_PARTITION_STATE), 1);
	assert_int_equal(k->info.skipped, 1);
	assert_int_equal(kit_problem(k, "snapshot.unended")->severity, SEVERITY_WARNING);
	assert_int_equal(kit_problem(k, "snapshot.unended")->place.number, 4);
	kit_free(k);
	k = read_it(CLOCK HEADER ROW "refunds refunds 1 10 12 2 " M1 " /192.0.2.11 app-1\n");
	assert_int_equal(count(k, EVENT_PARTITION_STATE), 2);
	assert_int_equal(diag_count(k->diag), 0);
	kit_free(k);
}

static void test_coverage_splits_at_gaps(void **state)
{
	/* Every 5 s, then 16 s of nothing (more than three intervals), and 15 s, which is not. */
	struct kit *k = read_it("2026-11-30T13:00:00Z\n" HEADER ROW "2026-11-30T13:00:05Z\n" HEADER ROW
				"2026-11-30T13:00:10Z\n" HEADER ROW "2026-11-30T13:00:26Z\n" HEADER ROW
				"2026-11-30T13:00:31Z\n" HEADER ROW "2026-11-30T13:00:46Z\n" HEADER ROW
				/* The tool gave no answer here. */
				"2026-11-30T13:00:51Z\n");
	const struct event *c = &k->events[6];

	(void)state;
	assert_int_equal(k->event_count, 8);
	assert_int_equal(count(k, EVENT_COVERED), 2);
	assert_sv_equal(event_text(&c[0], FIELD_EVIDENCE_KIND), "snapshot");
	assert_int_equal(c[0].time.us, T0);
	assert_int_equal(c[0].duration_us, 10 * US_PER_S);
	assert_int_equal(event_int_or(&c[0], FIELD_SAMPLES, 0), 3);
	assert_int_equal(c[1].time.us, T0 + 26 * US_PER_S);
	assert_int_equal(c[1].duration_us, 20 * US_PER_S);
	assert_int_equal(event_int_or(&c[1], FIELD_SAMPLES, 0), 3);
	kit_free(k);
}

static void test_coverage_does_not_span_a_step_back(void **state)
{
	struct kit *k = read_it("2026-11-30T13:00:00Z\n" HEADER ROW "2026-11-30T13:00:05Z\n" HEADER ROW
				"2026-11-30T12:59:58Z\n" HEADER ROW "2026-11-30T13:00:03Z\n" HEADER ROW);

	(void)state;
	assert_int_equal(count(k, EVENT_COVERED), 2);
	assert_int_equal(k->events[4].duration_us, 5 * US_PER_S);
	assert_int_equal(k->events[5].time.us, T0 - 2 * US_PER_S);
	kit_free(k);
}

static void test_sink_failure_ends_it(void **state)
{
	struct kit *k = kit_new();
	struct ingest in = kit_ingest(k, SV(CLOCK HEADER ROW ROW), "g", NULL);

	(void)state;
	k->fail_after = 1;
	assert_int_equal(snapshot_kind.read(&in), -1);
	assert_int_equal(k->info.events, 1);
	arena_free(in.record);
	kit_free(k);
}

static void test_sniff(void **state)
{
	const char *why = NULL;

	(void)state;
	assert_int_equal(snapshot_kind.sniff(SV(CLOCK "\n" HEADER ROW), SV("x"), NULL, &why), SNIFF_MINE);
	assert_int_equal(snapshot_kind.sniff(SV("GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET, LAG, OWNER\n"), SV("x"), NULL, &why),
			 SNIFF_MINE);
	assert_int_equal(snapshot_kind.sniff(SV("GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS\n"), SV("x"), NULL, &why), SNIFF_MINE);
	assert_int_equal(snapshot_kind.sniff(SV("COORDINATOR (ID)  ASSIGNMENT-STRATEGY  STATE  #MEMBERS\n"), SV("x"), NULL, &why), SNIFF_MINE);
	assert_int_equal(snapshot_kind.sniff(SV("GROUP      STATE\n"), SV("x"), NULL, &why), SNIFF_MINE);
	/* An export with columns of such names, a log that speaks of them, words alone. */
	assert_int_equal(snapshot_kind.sniff(SV("time,topic,partition,offset\n"), SV("x"), NULL, &why), SNIFF_NOT_MINE);
	assert_int_equal(snapshot_kind.sniff(SV("INFO GROUP TOPIC PARTITION CURRENT-OFFSET\n"), SV("x"), NULL, &why), SNIFF_NOT_MINE);
	assert_int_equal(snapshot_kind.sniff(SV("GROUP CONSUMER-ID HOST CLIENT-ID\n"), SV("x"), NULL, &why), SNIFF_NOT_MINE);
	assert_int_equal(snapshot_kind.sniff(SV("GROUP STATE OF THE COORDINATOR AND ITS STATE\n"), SV("x"), NULL, &why), SNIFF_NOT_MINE);
	assert_int_equal(snapshot_kind.sniff(SV(""), SV("x"), NULL, &why), SNIFF_NOT_MINE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_shape),
		cmocka_unit_test(test_every_shape_of_members),
		cmocka_unit_test(test_every_shape_of_states),
		cmocka_unit_test(test_rows_of_members_and_states_that_do_not_fit),
		cmocka_unit_test(test_place_and_text),
		cmocka_unit_test(test_rebalancing_is_a_state),
		cmocka_unit_test(test_without_a_clock_nothing_is_invented),
		cmocka_unit_test(test_without_a_group_nothing_is_guessed),
		cmocka_unit_test(test_clock_lines),
		cmocka_unit_test(test_zone_of_the_input),
		cmocka_unit_test(test_damaged_rows),
		cmocka_unit_test(test_other_words_are_not_rows),
		cmocka_unit_test(test_a_cut_row_is_told_with_its_place),
		cmocka_unit_test(test_a_last_row_without_its_end_is_left_out),
		cmocka_unit_test(test_coverage_splits_at_gaps),
		cmocka_unit_test(test_coverage_does_not_span_a_step_back),
		cmocka_unit_test(test_sink_failure_ends_it),
		cmocka_unit_test(test_sniff),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
