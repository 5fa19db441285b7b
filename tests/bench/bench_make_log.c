/* SPDX-License-Identifier: MIT */
/*
 * bench_make_log MEGABYTES LINES_PER_EVENT SEED
 *
 * Writes the log of a consumer as services write them: lines of the program,
 * lines of Kafka's client that are no event, stack traces, and one line in so
 * many that is an event (events.tsv). Same arguments, same bytes.
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 2048
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* In texts: %s a small number, %n a large one, %m milliseconds, %a an amount, %o an order, %u a UUID, %h hexadecimal digits. */

static const char *const threads[] = {
	"main", "scheduling-1", "http-nio-8080-exec-%s", "consumer-%s-C-1", "orders-worker-%s",
	"kafka-coordinator-heartbeat-thread | grp-%s", "ForkJoinPool.commonPool-worker-%s",
};

static const char *const loggers[] = {
	"c.e.orders.OrderListener", "c.e.billing.ChargeService", "c.e.ledger.OutboxRelay", "c.e.common.http.HttpClient",
	"org.hibernate.SQL", "o.s.web.servlet.DispatcherServlet", "c.z.hikari.pool.HikariPool", "c.e.notify.MailSender",
	"c.e.orders.saga.ReserveStockStep", "c.e.common.cache.RedisCache",
};

static const char *const levels[] = { "INFO ", "INFO ", "DEBUG", "WARN " };

static const char *const own_texts[] = {
	"Processing order %o for customer %n amount=%a currency=EUR items=%s source=web correlationId=%u",
	"HTTP POST http://inventory.svc/api/v2/reservations/%n completed status=200 duration=%mms bytes=%n traceId=%h",
	"Reserved stock for order %o sku=SKU-%n quantity=%s warehouse=wh-%s remaining=%n in %m ms",
	"select o.id, o.version, o.status, o.customer_id, o.total from orders o where o.id=? and o.version=? [params=%n,%s]",
	"Charge accepted provider=psp-%s reference=%u order=%o amount=%a attempt=1 elapsed=%mms",
	"Cache hit key=customer:%n:profile ttl=%ss size=%n region=eu-%s node=cache-%s",
	"Published event OrderReserved id=%u aggregate=%o version=%s to topic orders.events partition=%s in %mms",
	"Outbox relay polled %s rows, published %s, failed 0, lag=%mms, oldest=%n, batch=%u",
	"Completed 200 OK, headers={masked}, request=/api/orders/%o?expand=items,customer&trace=%h",
	"Polled %s records in %mms",
	"Order %o accepted",
	"Cache miss key=customer:%n",
	"Retry %s of 5 for %o in %mms",
	"Entering handle() for %o thread pool size=%s queue=%s",
	"Token refreshed, expires in %n s",
	"Pool stats (total=20, active=%s, idle=%s, waiting=0) after %mms for datasource orders-primary",
	"Mail queued template=order-confirmation recipient=<redacted:%h> order=%o locale=en_GB size=%n",
	"Saga step ReserveStock for %o moved from PENDING to DONE in %m ms; next step=ChargeCard deadline=%n",
	"Scheduled task reconcileLedger started; window=[%n, %n) pages=%s heartbeat=%mms",
	"Consumer record handled topic=orders.commands partition=%s offset=%n key=%o in %mms, group offset lag=%s",
	"{\"event\":\"audit\",\"actor\":\"svc-orders\",\"action\":\"UPDATE\",\"entity\":\"order\",\"id\":\"%o\",\"diff\":{\"status\":[\"NEW\",\"RESERVED\"]},\"at\":%n}",
};

static const char *const client_texts[] = {
	"Fetch READ_UNCOMMITTED at offset %n for partition orders.commands-%s returned fetch data PartitionData(partitionIndex=%s, errorCode=0, highWatermark=%n)",
	"Added READ_UNCOMMITTED fetch request for partition orders.commands-%s at position FetchPosition{offset=%n, offsetEpoch=Optional[%s]} to node broker-%s:9092",
	"Sending READ_UNCOMMITTED IncrementalFetchRequest(toSend=(), toForget=(), toReplace=(), implied=(orders.commands-%s)) to broker broker-%s:9092",
	"Committed offset %n for partition orders.commands-%s",
	"Node %s sent an incremental fetch response with throttleTimeMs = 0 for session %n with %s response partition(s)",
};

static const char *const client_loggers[] = { "o.a.k.c.c.i.Fetcher", "o.a.k.c.c.i.AbstractFetch", "o.a.k.c.c.i.SubscriptionState" };

static const char *const exceptions[] = {
	"java.net.SocketTimeoutException: Read timed out", "org.springframework.dao.CannotAcquireLockException: could not execute batch",
	"java.lang.IllegalStateException: order %o is not in state NEW", "c.e.common.RetryableException: upstream returned 503",
};

static const char *const frames[] = {
	"c.e.orders.OrderListener.handle(OrderListener.java:%s)",
	"org.springframework.kafka.listener.KafkaMessageListenerContainer$ListenerConsumer.doInvokeRecordListener(KafkaMessageListenerContainer.java:%n)",
	"jdk.internal.reflect.GeneratedMethodAccessor%s.invoke(Unknown Source)", "java.base/java.lang.reflect.Method.invoke(Method.java:%s)",
	"org.springframework.aop.framework.CglibAopProxy$DynamicAdvisedInterceptor.intercept(CglibAopProxy.java:%s)",
	"java.base/java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:%n)", "java.base/java.lang.Thread.run(Thread.java:%s)",
};

#define BROKER "broker-%s.example:9092 (id: %n rack: null)"
#define GENERATION "Generation{generationId=%s, memberId='consumer-orders-%s-%u', protocol='range'}"

static const char *const event_texts[] = {
	"(Re-)joining group",
	"Successfully joined group with generation " GENERATION,
	"Successfully synced group in generation " GENERATION,
	"Request joining group due to: group is already rebalancing",
	"Member consumer-orders-%s-%u sending LeaveGroup request to coordinator " BROKER " due to consumer poll timeout has expired.",
	"Attempt to heartbeat with " GENERATION " and group instance id Optional.empty failed due to UNKNOWN_MEMBER_ID, resetting generation",
	"Attempt to heartbeat failed since group is rebalancing",
	"Group coordinator " BROKER " is unavailable or invalid due to cause: session timed out without receiving a heartbeat response. isDisconnected: false. Rediscovery will be attempted.",
	"Discovered group coordinator " BROKER,
	"Resetting generation and member id due to: encountered UNKNOWN_MEMBER_ID from HEARTBEAT response",
	"Requesting disconnect from last known coordinator " BROKER,
	"consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages.",
	"Revoke previously assigned partitions [orders.commands-%s, orders.commands-%s]",
	"Lost previously assigned partitions [orders.commands-%s]",
	"Adding newly assigned partitions: orders.commands-%s, orders.commands-%s, orders.commands-%s",
	"Notifying assignor about the new Assignment(partitions=[orders.commands-%s, orders.commands-%s])",
	"Setting offset for partition orders.commands-%s to the committed offset FetchPosition{offset=%n, offsetEpoch=Optional[%s]}",
	"Sending Heartbeat request with generation %s and member id consumer-orders-%s-%u to coordinator " BROKER,
	"Sending Heartbeat request with generation %s and member id consumer-orders-%s-%u to coordinator " BROKER,
	"Received successful Heartbeat response",
	"Received successful Heartbeat response",
	"Node %n disconnected.",
	"Disconnecting from node %n due to request timeout.",
};

/* By the coordinator, in the layout of brokers. */
static const char *const broker_texts[] = {
	"Preparing to rebalance group orders in state PreparingRebalance with old generation %s (__consumer_offsets-%s) (reason: removing member consumer-orders-%s-%u on heartbeat expiration) (kafka.coordinator.group.GroupCoordinator)",
	"Stabilized group orders generation %s (__consumer_offsets-%s) with %s members (kafka.coordinator.group.GroupCoordinator)",
	"Member consumer-orders-%s-%u in group orders has failed, removing it from the group (kafka.coordinator.group.GroupCoordinator)",
};

/* ---- numbers ---- */

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static unsigned below(uint64_t *state, unsigned n)
{
	return (unsigned)(next_random(state) >> 32) % n;
}

/* ---- text ---- */

struct text {
	char bytes[LINE_MAX_BYTES];
	size_t n;
};

static void add(struct text *t, const char *s)
{
	size_t n = strlen(s);

	if (n > sizeof t->bytes - t->n)
		n = sizeof t->bytes - t->n;
	memcpy(t->bytes + t->n, s, n);
	t->n += n;
}

static void add_value(struct text *t, char sort, uint64_t *r)
{
	char value[64];
	uint64_t x = next_random(r), y = next_random(r);

	switch (sort) {
	case 's':
		snprintf(value, sizeof value, "%u", (unsigned)(x % 40));
		break;
	case 'n':
		snprintf(value, sizeof value, "%u", (unsigned)(10000 + x % 999990000));
		break;
	case 'm':
		snprintf(value, sizeof value, "%u", (unsigned)(1 + x % 32 * (y % 4)));
		break;
	case 'a':
		snprintf(value, sizeof value, "%u.%02u", (unsigned)(x % 500), (unsigned)(y % 100));
		break;
	case 'o':
		snprintf(value, sizeof value, "ORD-%09u", (unsigned)(x % 1000000000));
		break;
	case 'u':
		snprintf(value, sizeof value, "%08x-%04x-%04x-%04x-%012" PRIx64, (unsigned)(x >> 32), (unsigned)(x >> 16 & 0xffff),
			 (unsigned)(x & 0xffff), (unsigned)(y >> 48), y & UINT64_C(0xffffffffffff));
		break;
	default:
		snprintf(value, sizeof value, "%016" PRIx64, x);
		break;
	}
	add(t, value);
}

static void fill(struct text *t, const char *template, uint64_t *r)
{
	char plain[2] = "";

	for (const char *p = template; *p != '\0'; p++) {
		if (p[0] == '%' && p[1] != '\0') {
			add_value(t, *++p, r);
			continue;
		}
		plain[0] = *p;
		add(t, plain);
	}
}

#define FILL_ONE_OF(t, templates, r) fill(t, (templates)[below(r, COUNT(templates))], r)

static void add_head(struct text *t, const char *level, uint64_t *r)
{
	add(t, " ");
	add(t, level);
	add(t, " [");
	FILL_ONE_OF(t, threads, r);
	add(t, "] ");
}

static void add_client(struct text *t, uint64_t *r)
{
	fill(t, " - [Consumer clientId=consumer-orders-%s, groupId=orders] ", r);
}

static void add_trace(struct text *t, uint64_t *r)
{
	unsigned depth = 10 + below(r, 10);

	FILL_ONE_OF(t, exceptions, r);
	for (unsigned i = 0; i < depth; i++) {
		add(t, "\n\tat ");
		FILL_ONE_OF(t, frames, r);
	}
	add(t, "\n");
}

/* What follows the time. */
static void add_own_line(struct text *t, uint64_t *r)
{
	if (below(r, 100) < 12) {
		add_head(t, levels[below(r, 3)], r);
		FILL_ONE_OF(t, client_loggers, r);
		add_client(t, r);
		FILL_ONE_OF(t, client_texts, r);
	} else {
		add_head(t, levels[below(r, COUNT(levels))], r);
		FILL_ONE_OF(t, loggers, r);
		add(t, " - ");
		FILL_ONE_OF(t, own_texts, r);
	}
	add(t, "\n");
	if (below(r, 400) == 0)
		add_trace(t, r);
}

static void add_event_line(struct text *t, uint64_t *r)
{
	add_head(t, "INFO ", r);
	add(t, "o.a.k.c.c.internals.ConsumerCoordinator");
	add_client(t, r);
	FILL_ONE_OF(t, event_texts, r);
	add(t, "\n");
}

static void add_broker_line(struct text *t, uint64_t *r)
{
	fill(t, " INFO [GroupCoordinator %s]: ", r);
	FILL_ONE_OF(t, broker_texts, r);
	add(t, "\n");
}

/* From the first of May on. */
static void put_time(FILE *out, uint64_t ms, bool bracketed)
{
	char time[64];

	snprintf(time, sizeof time, "%s2024-05-%02u %02u:%02u:%02u,%03u%s", bracketed ? "[" : "", (unsigned)(1 + ms / 86400000 % 30),
		 (unsigned)(ms / 3600000 % 24), (unsigned)(ms / 60000 % 60), (unsigned)(ms / 1000 % 60), (unsigned)(ms % 1000),
		 bracketed ? "]" : "");
	fputs(time, out);
}

int main(int argc, char **argv)
{
	static const unsigned gaps[] = { 0, 0, 0, 0, 1, 1, 2, 3, 7, 20 };
	uint64_t bytes = argc == 4 ? strtoull(argv[1], NULL, 10) * 1000000 : 0, random = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
	uint64_t ms = 36000000;
	unsigned lines_per_event = argc == 4 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;

	if (bytes == 0 || lines_per_event == 0) {
		fputs("usage: bench_make_log MEGABYTES LINES_PER_EVENT SEED >LOG\n", stderr);
		return 2;
	}
	for (uint64_t written = 0; written < bytes;) {
		struct text t = { .n = 0 };
		bool event = below(&random, lines_per_event) == 0, broker = event && below(&random, 10) == 0;

		ms += gaps[below(&random, COUNT(gaps))];
		if (broker)
			add_broker_line(&t, &random);
		else if (event)
			add_event_line(&t, &random);
		else
			add_own_line(&t, &random);
		put_time(stdout, ms, broker);
		fwrite(t.bytes, 1, t.n, stdout);
		written += 23 + t.n;
	}
	return ferror(stdout) || fflush(stdout) != 0 ? 1 : 0;
}
