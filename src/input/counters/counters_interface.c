/* SPDX-License-Identifier: MIT */
/*
 * Counters of network interfaces: /proc/net/dev, files of /sys/class/net, "ip -s
 * link" and "ip -j -s link". The figures are those of the network namespace.
 * What a received packet was dropped for is not told: rx_dropped holds packets
 * that nobody wanted too (net/core/dev.c, dev_get_stats).
 */

#include "input/counters/loop.h"
#include "input/json_pull.h"

/* ---- /proc/net/dev ---- */

/* rx: bytes packets errs drop fifo frame compressed multicast; tx: bytes packets errs drop fifo colls carrier compressed. */
#define NET_DEV_COLUMNS 16
static const struct {
	size_t column;
	enum counter_id counter;
} net_dev_columns[] = {
	{ 1, INTERFACE_RX_PACKETS }, { 2, INTERFACE_RX_ERRORS },  { 3, INTERFACE_RX_DROPPED },	{ 4, INTERFACE_RX_FIFO },
	{ 9, INTERFACE_TX_PACKETS }, { 10, INTERFACE_TX_ERRORS }, { 11, INTERFACE_TX_DROPPED }, { 14, INTERFACE_TX_CARRIER },
};

static bool net_dev_header(struct sv text)
{
	return sv_starts_with(text, SV("Inter-|")) || sv_starts_with(text, SV("face |"));
}

/* As many numbers as there are columns, and nothing more. */
static bool read_numbers(struct sv text, uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!sv_to_u64(counter_word(&text), &values[i]))
			return false;
	return sv_is_absent(counter_word(&text));
}

enum loop_line net_dev_take(struct loop_block *b, const struct line *line, const char **why)
{
	uint64_t values[NET_DEV_COLUMNS];
	struct sv numbers = line->text, name = sv_trim(sv_cut(&numbers, ':')), word = name;

	if (net_dev_header(line->text)) {
		if (b->rows > 0 && !b->in_rows)
			return LOOP_LINE_AGAIN;
		b->in_rows = true;
		return LOOP_LINE_TAKEN;
	}
	if (sv_is_absent(numbers) || name.n == 0 || !sv_eq(counter_word(&word), name)) {
		b->in_rows = false;
		return LOOP_LINE_OTHER;
	}
	if (!read_numbers(numbers, values, NET_DEV_COLUMNS)) {
		/* A row that was cut; "time: 1796045689" is none. */
		bool cut = b->in_rows && sv_to_u64(counter_word(&numbers), values) &&
			   sv_to_u64(counter_word(&numbers), values);

		*why = "a row of /proc/net/dev is a name and 16 numbers";
		b->in_rows = cut;
		return cut ? LOOP_LINE_DAMAGED : LOOP_LINE_OTHER;
	}
	b->device = name;
	if (loop_has(b, INTERFACE_RX_PACKETS, name))
		return LOOP_LINE_AGAIN;
	for (size_t i = 0; i < sizeof net_dev_columns / sizeof net_dev_columns[0]; i++)
		loop_add_device(b, net_dev_columns[i].counter, values[net_dev_columns[i].column], line);
	b->in_rows = true;
	b->rows++;
	return LOOP_LINE_TAKEN;
}

/* ---- names of counters, as ip and the kernel's files have them ---- */

static const struct named {
	struct sv rx, tx;  /* as a column of "ip -s link" and a member of "ip -j" */
	struct sv file;	   /* below statistics/ of the interface */
	enum counter_id counter;
} nameds[] = {
	{ { "packets", 7 }, { NULL, 0 }, { "rx_packets", 10 }, INTERFACE_RX_PACKETS },
	{ { "errors", 6 }, { NULL, 0 }, { "rx_errors", 9 }, INTERFACE_RX_ERRORS },
	{ { "dropped", 7 }, { NULL, 0 }, { "rx_dropped", 10 }, INTERFACE_RX_DROPPED },
	{ { "fifo_errors", 11 }, { NULL, 0 }, { "rx_fifo_errors", 14 }, INTERFACE_RX_FIFO },
	{ { NULL, 0 }, { "packets", 7 }, { "tx_packets", 10 }, INTERFACE_TX_PACKETS },
	{ { NULL, 0 }, { "errors", 6 }, { "tx_errors", 9 }, INTERFACE_TX_ERRORS },
	{ { NULL, 0 }, { "dropped", 7 }, { "tx_dropped", 10 }, INTERFACE_TX_DROPPED },
	{ { NULL, 0 }, { "carrier", 7 }, { "tx_carrier_errors", 17 }, INTERFACE_TX_CARRIER },
	{ { NULL, 0 }, { "carrier_errors", 14 }, { "tx_carrier_errors", 17 }, INTERFACE_TX_CARRIER },
	{ { NULL, 0 }, { NULL, 0 }, { "carrier_changes", 15 }, INTERFACE_CARRIER_CHANGES },
};

/* direction: "rx" or "tx". */
static bool counter_named(struct sv direction, struct sv name, enum counter_id *out)
{
	bool rx = sv_eq(direction, SV("rx"));

	for (size_t i = 0; i < sizeof nameds / sizeof nameds[0]; i++)
		if (sv_eq(rx ? nameds[i].rx : nameds[i].tx, name)) {
			*out = nameds[i].counter;
			return true;
		}
	return false;
}

/* ---- /sys/class/net ---- */

/* A bare number below "==> /sys/class/net/eth0/statistics/rx_dropped <==". */
enum loop_line sysfs_take(struct loop_block *b, const struct line *line, const char **why)
{
	static const struct sv root = { "/sys/class/net/", 15 };
	struct sv file = loop_section_file(b);
	uint64_t value;

	(void)why;
	if (!sv_starts_with(b->section, root) || !sv_to_u64(line->text, &value))
		return LOOP_LINE_OTHER;
	struct sv rest = sv_sub(b->section, root.n, b->section.n);
	b->device = sv_cut(&rest, '/');
	for (size_t i = 0; i < sizeof nameds / sizeof nameds[0]; i++) {
		if (!sv_eq(file, nameds[i].file))
			continue;
		if (loop_has(b, nameds[i].counter, b->device))
			return LOOP_LINE_AGAIN;
		loop_add_device(b, nameds[i].counter, value, line);
		b->rows++;
		break;
	}
	return LOOP_LINE_TAKEN;
}

/* ---- ip -s link ---- */

#define IP_COLUMNS_MAX 16

/* What "ip -s link" tells line by line: whose it is, and the header that waits for its numbers. */
struct ip_state {
	char name[64];
	size_t name_bytes;
	struct sv direction;  /* of the header above; absent: none waits */
	bool is_more;	      /* "RX errors: length crc ...": parts of the errors, which are not read */
	size_t count;
	enum counter_id columns[IP_COLUMNS_MAX];
};

static struct ip_state *ip_state_of(struct loop_block *b)
{
	if (b->state == NULL)
		b->state = arena_alloc(b->arena, sizeof(struct ip_state));
	return b->state;
}

/* "2: eth0@if2: <BROADCAST,...> mtu 1500 ..." */
static bool ip_device(struct sv text, struct ip_state *s)
{
	struct sv rest = text, number = sv_cut(&rest, ':'), name = sv_trim(sv_cut(&rest, ':'));
	uint64_t index;

	if (!sv_to_u64(number, &index) || sv_is_absent(rest) || !sv_starts_with(sv_trim(rest), SV("<")))
		return false;
	name = sv_cut(&name, '@');
	s->direction = SV_ABSENT;
	s->name_bytes = name.n < sizeof s->name ? name.n : sizeof s->name;
	for (size_t i = 0; i < s->name_bytes; i++)
		s->name[i] = name.p[i];
	return true;
}

/* "RX:  bytes packets errors dropped  missed   mcast" */
static bool ip_header(struct sv text, struct ip_state *s)
{
	struct sv rest = text, first = sv_cut(&rest, ':'), words = rest;

	if (sv_is_absent(rest) || (!sv_starts_with(first, SV("RX")) && !sv_starts_with(first, SV("TX"))))
		return false;
	s->direction = sv_starts_with(first, SV("RX")) ? SV("rx") : SV("tx");
	s->is_more = first.n > 2;
	s->count = 0;
	for (struct sv word = counter_word(&words); !sv_is_absent(word) && s->count < IP_COLUMNS_MAX;
	     word = counter_word(&words))
		if (!counter_named(s->direction, word, &s->columns[s->count++]))
			s->columns[s->count - 1] = COUNTER_COUNT;
	return true;
}

static enum loop_line ip_numbers(struct loop_block *b, struct ip_state *s, const struct line *line, const char **why)
{
	uint64_t values[IP_COLUMNS_MAX];

	s->direction = SV_ABSENT;
	if (!read_numbers(line->text, values, s->count)) {
		*why = "below RX: and TX: of ip stand as many numbers as names";
		return LOOP_LINE_DAMAGED;
	}
	b->device = (struct sv){ s->name, s->name_bytes };
	for (size_t i = 0; i < s->count && !s->is_more; i++) {
		if (s->columns[i] == COUNTER_COUNT)
			continue;
		if (loop_has(b, s->columns[i], b->device))
			return LOOP_LINE_AGAIN;
		loop_add_device(b, s->columns[i], values[i], line);
	}
	b->rows++;
	return LOOP_LINE_TAKEN;
}

enum loop_line ip_link_take(struct loop_block *b, const struct line *line, const char **why)
{
	struct ip_state *s = ip_state_of(b);
	struct sv rest = line->text, first = counter_word(&rest);
	uint64_t value;

	if (ip_device(line->text, s) || (s->name_bytes > 0 && ip_header(line->text, s)) ||
	    (s->name_bytes > 0 && sv_starts_with(first, SV("link/"))))
		return LOOP_LINE_TAKEN;
	if (sv_is_absent(s->direction) || !sv_to_u64(first, &value))
		return LOOP_LINE_OTHER;
	return ip_numbers(b, s, line, why);
}

/* ---- ip -j -s link ---- */

/* The value of a member of "rx" or "tx". */
static void take_json_number(struct loop_block *b, struct sv direction, struct sv name, struct sv number,
			     const struct line *line)
{
	enum counter_id id;
	uint64_t value;

	if (counter_named(direction, name, &id) && sv_to_u64(number, &value) && b->device.n > 0)
		loop_add_device(b, id, value, line);
}

struct ip_json {
	char name[64], key[64];
	struct sv direction, member;
	bool names_device;
};

static void take_json_key(struct ip_json *j, struct sv key, unsigned depth)
{
	j->names_device = depth == 2 && sv_eq(key, SV("ifname"));
	if (sv_eq(key, SV("rx")))
		j->direction = SV("rx");
	else if (sv_eq(key, SV("tx")))
		j->direction = SV("tx");
	size_t n = key.n < sizeof j->key ? key.n : sizeof j->key;
	for (size_t i = 0; i < n; i++)
		j->key[i] = key.p[i];
	j->member = (struct sv){ j->key, n };
}

static void take_json_name(struct loop_block *b, struct ip_json *j, struct sv name)
{
	size_t n = name.n < sizeof j->name ? name.n : sizeof j->name;

	for (size_t i = 0; i < n; i++)
		j->name[i] = name.p[i];
	b->device = (struct sv){ j->name, n };
	j->direction = SV_ABSENT;
}

enum loop_line ip_json_take(struct loop_block *b, const struct line *line, const char **why)
{
	struct ip_json j = { .direction = SV_ABSENT, .member = SV_ABSENT };
	enum json_token t;

	if (!sv_starts_with(line->text, SV("[{\"ifindex\":")))
		return LOOP_LINE_OTHER;
	if (b->rows > 0)
		return LOOP_LINE_AGAIN;
	struct arena *a = arena_new();
	struct json_pull *p = json_pull_of(a, line->text);
	size_t before = b->count;
	while ((t = json_pull_next(p)) != JSON_END && t != JSON_DAMAGED) {
		if (t == JSON_KEY)
			take_json_key(&j, json_pull_text(p), json_pull_depth(p));
		else if (t == JSON_STRING && j.names_device)
			take_json_name(b, &j, json_pull_text(p));
		else if (t == JSON_NUMBER && json_pull_depth(p) == 4)
			take_json_number(b, j.direction, j.member, json_pull_text(p), line);
	}
	struct place stray;
	bool is_whole = t == JSON_END && json_pull_strays(p, &stray) == 0;
	b->device = SV_ABSENT;
	arena_free(a);
	if (!is_whole) {
		b->count = before;
		*why = "the array that ip -j prints is not whole, or other bytes follow it";
		return LOOP_LINE_DAMAGED;
	}
	b->rows++;
	return LOOP_LINE_TAKEN;
}
