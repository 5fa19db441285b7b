/* SPDX-License-Identifier: MIT */
/* The ring keeps the newest packets, whole, in files of the pcap format that are no longer than asked. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "cli/probe_ring.h"
#include "probe_kit.h"

#define FILE_HEADER 24
#define PACKET_HEADER 16
#define BODY 100

static uint32_t u32_at(const struct buf *b, size_t at)
{
	uint32_t v;

	assert_true(at + sizeof v <= b->n);
	memcpy(&v, b->p + at, sizeof v);
	return v;
}

static void add(struct probe_ring *r, struct kit *k, uint8_t number)
{
	uint8_t bytes[BODY];

	memset(bytes, number, sizeof bytes);
	const struct probe_packet p = { 1796045689 * US_PER_S + number, bytes, BODY, 1500 };
	assert_int_equal(probe_ring_add(r, &p, k->diag), 0);
}

/* The bytes that stand for packets in the file: "123". */
static void assert_packets(const char *prefix, unsigned i, const char *numbers)
{
	struct buf name, b;
	const struct probe_ring_options o = { .prefix = prefix };
	char found[32] = "";
	size_t n = 0;

	buf_init(&name);
	buf_init(&b);
	probe_ring_name(&name, &o, i);
	kit_read(name.p, &b);
	for (size_t at = FILE_HEADER; at < b.n; at += PACKET_HEADER + BODY) {
		assert_true(at + PACKET_HEADER + BODY <= b.n);
		found[n++] = (char)('0' + b.p[at + PACKET_HEADER]);
	}
	assert_string_equal(found, numbers);
	buf_fini(&name);
	buf_fini(&b);
}

/* Room for two packets, not for three. */
static struct probe_ring_options two_each(const char *prefix, unsigned files)
{
	return (struct probe_ring_options){
		.prefix = prefix,
		.files = files,
		.file_bytes = FILE_HEADER + 3 * (PACKET_HEADER + BODY) - 1,
		.snap_bytes = 200,
		.link_type = 1,
	};
}

static void names_tell_the_number(void **state)
{
	struct buf name;
	const struct probe_ring_options o = { .prefix = "a/host.probe", .files = 12 };
	(void)state;

	buf_init(&name);
	probe_ring_name(&name, &o, 11);
	assert_string_equal(name.p, "a/host.probe.11.pcap");
	buf_fini(&name);
}

static void a_file_is_as_the_format_says(void **state)
{
	struct kit k;
	struct probe_ring r;
	struct buf b;
	(void)state;

	kit_init(&k);
	buf_init(&b);
	const struct probe_ring_options o = two_each(kit_path(&k, "p"), 1);
	assert_int_equal(probe_ring_open(&r, &o, k.arena, k.diag), 0);
	add(&r, &k, 7);
	assert_int_equal(probe_ring_flush(&r, k.diag), 0);
	kit_read(kit_path(&k, "p.0.pcap"), &b);
	assert_int_equal(b.n, FILE_HEADER + PACKET_HEADER + BODY);
	assert_int_equal(u32_at(&b, 0), 0xa1b2c3d4U);
	assert_int_equal(u32_at(&b, 16), 200);
	assert_int_equal(u32_at(&b, 20), 1);
	assert_int_equal(u32_at(&b, 24), 1796045689);
	assert_int_equal(u32_at(&b, 28), 7);
	assert_int_equal(u32_at(&b, 32), BODY);
	assert_int_equal(u32_at(&b, 36), 1500);
	probe_ring_close(&r);
	buf_fini(&b);
	kit_fini(&k);
}

static void the_oldest_are_overwritten(void **state)
{
	struct kit k;
	struct probe_ring r;
	(void)state;

	kit_init(&k);
	const char *prefix = kit_path(&k, "p");
	const struct probe_ring_options o = two_each(prefix, 3);
	assert_int_equal(probe_ring_open(&r, &o, k.arena, k.diag), 0);
	for (uint8_t i = 1; i <= 5; i++)
		add(&r, &k, i);
	assert_int_equal(probe_ring_flush(&r, k.diag), 0);
	assert_packets(prefix, 0, "12");
	assert_packets(prefix, 1, "34");
	assert_packets(prefix, 2, "5");
	for (uint8_t i = 6; i <= 8; i++)
		add(&r, &k, i);
	assert_int_equal(probe_ring_flush(&r, k.diag), 0);
	assert_packets(prefix, 0, "78");
	assert_packets(prefix, 1, "34");
	assert_packets(prefix, 2, "56");
	probe_ring_close(&r);
	kit_fini(&k);
}

static void a_packet_larger_than_a_file_is_kept(void **state)
{
	struct kit k;
	struct probe_ring r;
	(void)state;

	kit_init(&k);
	const char *prefix = kit_path(&k, "p");
	struct probe_ring_options o = two_each(prefix, 2);
	o.file_bytes = 1;
	assert_int_equal(probe_ring_open(&r, &o, k.arena, k.diag), 0);
	add(&r, &k, 1);
	add(&r, &k, 2);
	assert_int_equal(probe_ring_flush(&r, k.diag), 0);
	assert_packets(prefix, 0, "1");
	assert_packets(prefix, 1, "2");
	probe_ring_close(&r);
	kit_fini(&k);
}

static void set_time(const char *prefix, unsigned i, time_t when)
{
	struct buf name;
	const struct probe_ring_options o = { .prefix = prefix };
	const struct timespec times[2] = { { .tv_sec = when }, { .tv_sec = when } };

	buf_init(&name);
	probe_ring_name(&name, &o, i);
	assert_int_equal(utimensat(AT_FDCWD, name.p, times, 0), 0);
	buf_fini(&name);
}

static void a_second_start_begins_with_the_oldest(void **state)
{
	struct kit k;
	struct probe_ring r;
	(void)state;

	kit_init(&k);
	const char *prefix = kit_path(&k, "p");
	const struct probe_ring_options o = two_each(prefix, 3);
	assert_int_equal(probe_ring_open(&r, &o, k.arena, k.diag), 0);
	for (uint8_t i = 1; i <= 3; i++)
		add(&r, &k, i);
	assert_int_equal(probe_ring_flush(&r, k.diag), 0);
	probe_ring_close(&r);

	/* An empty one before the oldest. */
	assert_int_equal(probe_ring_open(&r, &o, k.arena, k.diag), 0);
	add(&r, &k, 4);
	assert_int_equal(probe_ring_flush(&r, k.diag), 0);
	probe_ring_close(&r);
	assert_packets(prefix, 0, "12");
	assert_packets(prefix, 1, "3");
	assert_packets(prefix, 2, "4");

	set_time(prefix, 0, 3000);
	set_time(prefix, 1, 1000);
	set_time(prefix, 2, 2000);
	assert_int_equal(probe_ring_open(&r, &o, k.arena, k.diag), 0);
	add(&r, &k, 5);
	assert_int_equal(probe_ring_flush(&r, k.diag), 0);
	probe_ring_close(&r);
	assert_packets(prefix, 0, "12");
	assert_packets(prefix, 1, "5");
	assert_packets(prefix, 2, "4");
	kit_fini(&k);
}

static void where_nothing_can_be_made_it_is_said(void **state)
{
	struct kit k;
	struct probe_ring r;
	(void)state;

	kit_init(&k);
	const struct probe_ring_options o = two_each(kit_path(&k, "none/p"), 2);
	assert_int_equal(probe_ring_open(&r, &o, k.arena, k.diag), -1);
	assert_true(kit_problem_has(&k, "none/p.0.pcap cannot be opened for writing"));
	probe_ring_close(&r);
	kit_fini(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_tell_the_number),
		cmocka_unit_test(a_file_is_as_the_format_says),
		cmocka_unit_test(the_oldest_are_overwritten),
		cmocka_unit_test(a_packet_larger_than_a_file_is_kept),
		cmocka_unit_test(a_second_start_begins_with_the_oldest),
		cmocka_unit_test(where_nothing_can_be_made_it_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
