/* SPDX-License-Identifier: MIT */
/* Files that are looked at where they lie, and what becomes of them meanwhile. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture_kit.h"
#include "input/capture/records.h"
#include "input/mapped.h"
#include "input/stream.h"

#define START_S INT64_C(1700000000)

enum { LINK_RAW = 101 };

/* A file without a name. */
static int file_of(const void *bytes, size_t n)
{
	char path[] = "/tmp/aftershock-mapped-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, bytes, n), n);
	return fd;
}

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Four pages of sevens, and five bytes. */
static int sevens(void)
{
	const size_t n = 4 * page_bytes() + 5;
	char *bytes = malloc(n);
	int fd;

	assert_non_null(bytes);
	memset(bytes, 7, n);
	fd = file_of(bytes, n);
	free(bytes);
	return fd;
}

/* ---- mapped bytes ---- */

static void test_the_bytes_are_those_of_the_file(void **state)
{
	struct arena *a = arena_new();
	int fd = file_of("aftershock", 10);
	struct mapped *m = mapped_new(a, fd, 10);

	(void)state;
	assert_non_null(m);
	assert_int_equal(mapped_size(m), 10);
	assert_memory_equal(mapped_bytes(m), "aftershock", 10);
	assert_false(mapped_is_lost(m));
	mapped_free(m);
	close(fd);
	arena_free(a);
}

static void test_what_is_cut_off_is_zeros_and_lost(void **state)
{
	struct arena *a = arena_new();
	const size_t page = page_bytes();
	int fd = sevens();
	struct mapped *m = mapped_new(a, fd, 4 * page + 5);
	const volatile uint8_t *bytes = mapped_bytes(m);

	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)(2 * page)), 0);
	assert_int_equal(bytes[2 * page - 1], 7);
	assert_false(mapped_is_lost(m));
	assert_int_equal(bytes[3 * page], 0);
	assert_true(mapped_is_lost(m));
	/* All behind it, and nothing before. */
	assert_int_equal(bytes[4 * page + 4], 0);
	assert_int_equal(bytes[2 * page - 1], 7);
	/* Before it, but as little there. */
	assert_int_equal(bytes[2 * page], 0);
	mapped_free(m);
	close(fd);
	arena_free(a);
}

static void test_what_was_passed_can_be_looked_at_all_the_same(void **state)
{
	struct arena *a = arena_new();
	int fd = sevens();
	struct mapped *m = mapped_new(a, fd, 4 * page_bytes() + 5);

	(void)state;
	assert_int_equal(mapped_bytes(m)[0], 7);
	mapped_pass(m, 4 * page_bytes() + 5);
	assert_int_equal(mapped_bytes(m)[0], 7);
	assert_false(mapped_is_lost(m));
	mapped_free(m);
	close(fd);
	arena_free(a);
}

static void test_what_cannot_be_mapped_is_to_be_read(void **state)
{
	struct arena *a = arena_new();
	int fd = file_of("", 0), other = file_of("other", 5), ends[2];
	struct mapped *m;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_null(mapped_new(a, fd, 0));
	assert_null(mapped_new(a, ends[0], 5));
	/* One at a time. */
	m = mapped_new(a, other, 5);
	assert_non_null(m);
	assert_null(mapped_new(a, other, 5));
	mapped_free(m);
	m = mapped_new(a, other, 5);
	assert_non_null(m);
	mapped_free(m);
	mapped_free(NULL);
	close(ends[0]);
	close(ends[1]);
	close(fd);
	close(other);
	arena_free(a);
}

static sigjmp_buf back;

static void jump_back(int signal)
{
	siglongjmp(back, signal);
}

/* Looks at the first byte of a file of which nothing is left: whether whoever handled faults before was asked. */
static bool falls_to_the_other(void)
{
	int fd = sevens();
	const volatile uint8_t *bytes = mmap(NULL, page_bytes(), PROT_READ, MAP_SHARED, fd, 0);
	volatile bool fell = true;

	assert_true(bytes != MAP_FAILED);
	assert_int_equal(ftruncate(fd, 0), 0);
	if (sigsetjmp(back, 1) == 0) {
		(void)bytes[0];
		fell = false;
	}
	munmap((void *)(uintptr_t)bytes, page_bytes());
	close(fd);
	return fell;
}

static void test_other_faults_are_left_to_others(void **state)
{
	struct arena *a = arena_new();
	struct sigaction mine = { .sa_handler = jump_back }, before, after;
	int fd = sevens();
	struct mapped *m;

	(void)state;
	assert_int_equal(sigaction(SIGBUS, &mine, &before), 0);
	m = mapped_new(a, fd, page_bytes());
	assert_non_null(m);
	assert_true(falls_to_the_other());
	assert_false(mapped_is_lost(m));
	mapped_free(m);
	assert_true(falls_to_the_other());
	assert_int_equal(sigaction(SIGBUS, &before, &after), 0);
	assert_ptr_equal(after.sa_handler, jump_back);
	close(fd);
	arena_free(a);
}

/* ---- records of a mapped file ---- */

/* A file as a stream that can be mapped, or can not. */
struct file {
	int fd;
	size_t n, left;
	struct mapped *mapped;
	uint64_t reported_at;
	unsigned reports;
};

/* Less than there was is damage. */
static ptrdiff_t read_file(void *context, void *bytes, size_t n)
{
	struct file *f = context;
	ssize_t got = read(f->fd, bytes, n < f->left ? n : f->left);

	f->left -= (size_t)got;
	return got == 0 && f->left > 0 ? -1 : got;
}

static void seek_file(void *context, uint64_t at)
{
	struct file *f = context;

	assert_int_equal(lseek(f->fd, (off_t)at, SEEK_SET), at);
	f->left = f->n - (size_t)at;
}

static void report(void *context, uint64_t at)
{
	struct file *f = context;

	f->reported_at = at;
	f->reports++;
}

static struct mapped *map_file(void *context, struct arena *a)
{
	struct file *f = context;

	f->mapped = mapped_new(a, f->fd, f->n);
	return f->mapped;
}

/* What was given until it ended, or how far one came. */
struct seen {
	uint64_t count, sum, offset;
	int end;
};

static struct seen see(struct file *f, const struct record_reader_ops *ops, unsigned threads, bool map, size_t cut_to)
{
	const struct stream_source source = { .read = read_file, .report = report, .context = f, .map = map ? map_file : NULL, .seek = seek_file };
	struct arena *a = arena_new();
	struct seen seen = { 0, 0, 0, 1 };
	struct record_run run;
	struct records *records;
	const char *why;

	assert_int_equal(lseek(f->fd, 0, SEEK_SET), 0);
	f->mapped = NULL;
	f->left = f->n;
	assert_true(records_open(stream_new(a, source), ops, threads, &records, &why));
	assert_int_equal(f->mapped != NULL, map);
	while ((seen.end = records_next(records, &run, &why)) == 1) {
		for (size_t i = 0; i < run.count; i++) {
			const struct record *r = &run.record[i];

			seen.sum = (seen.sum * 31 + (uint64_t)r->time_us) * 31 + r->offset + r->wire;
			for (uint32_t k = 0; k < r->captured; k++)
				seen.sum = seen.sum * 31 + r->bytes[k];
		}
		seen.count += run.count;
		if (cut_to > 0)
			assert_int_equal(ftruncate(f->fd, (off_t)cut_to), 0);
	}
	seen.offset = records_offset(records);
	records_close(records);
	arena_free(a);
	return seen;
}

/* Where strands begin stand bytes that look like records and are none. */
static void make_decoys(struct making *m, struct making *inside, const struct record_reader_ops *ops)
{
	for (uint32_t i = 0; inside->n < 1500; i++) {
		if (ops == &record_pcap)
			make_pcap_record(inside, (uint32_t)START_S, i, (const uint8_t *)"0123456789", i % 10, 4000 + i);
		else
			make_block_end(inside, make_packet(inside, 0, (uint64_t)START_S * 1000000, (const uint8_t *)"0123456789", i % 10, 60));
	}
	for (uint32_t i = 0; m->n + 4000 < MAKING_BYTES_MAX; i++) {
		size_t n = i * 7919 % 1500;

		if (ops == &record_pcap)
			make_pcap_record(m, (uint32_t)START_S, i, inside->bytes, n, 1500);
		else
			make_block_end(m, make_packet(m, 0, (uint64_t)START_S * 1000000 + i, inside->bytes, n, 1500));
	}
}

static struct file file_of_decoys(const struct record_reader_ops *ops)
{
	struct making m = make_begin(false), inside = make_begin(false);
	struct file f = { .n = 0 };

	if (ops == &record_pcap) {
		make_pcap_header(&m, 0xa1b2c3d4, LINK_RAW);
	} else {
		make_section(&m);
		make_block_end(&m, make_interface(&m, LINK_RAW, 0));
	}
	make_decoys(&m, &inside, ops);
	f.fd = file_of(m.bytes, m.n);
	f.n = m.n;
	make_end(&m);
	make_end(&inside);
	return f;
}

static void test_mapped_records_are_those_that_are_read(void **state)
{
	const struct record_reader_ops *formats[] = { &record_pcap, &record_pcapng };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct file f = file_of_decoys(formats[i]);
		struct seen read = see(&f, formats[i], 1, false, 0);

		assert_true(read.count > 1000);
		assert_int_equal(read.end, 0);
		for (unsigned threads = 1; threads <= 2; threads++) {
			struct seen mapped = see(&f, formats[i], threads, true, 0);

			assert_int_equal(mapped.end, 0);
			assert_int_equal(mapped.count, read.count);
			assert_int_equal(mapped.sum, read.sum);
			assert_int_equal(mapped.offset, f.n);
		}
		assert_int_equal(f.reports, 0);
		close(f.fd);
	}
}

/* What was given until then stands, and how far it goes is told. */
static void test_records_end_where_the_file_is_cut_meanwhile(void **state)
{
	const struct record_reader_ops *formats[] = { &record_pcap, &record_pcapng };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct file f = file_of_decoys(formats[i]);
		const size_t cut_to = f.n / 2 / page_bytes() * page_bytes();
		struct seen whole = see(&f, formats[i], 1, true, 0), cut = see(&f, formats[i], 1, true, cut_to);

		assert_int_equal(cut.end, -1);
		assert_in_range(cut.count, 1, whole.count / 2 + 1);
		assert_true(cut.offset <= cut_to);
		assert_int_equal(f.reports, 1);
		assert_int_equal(f.reported_at, cut_to);
		close(f.fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_bytes_are_those_of_the_file),
		cmocka_unit_test(test_what_is_cut_off_is_zeros_and_lost),
		cmocka_unit_test(test_what_was_passed_can_be_looked_at_all_the_same),
		cmocka_unit_test(test_what_cannot_be_mapped_is_to_be_read),
		cmocka_unit_test(test_other_faults_are_left_to_others),
		cmocka_unit_test(test_mapped_records_are_those_that_are_read),
		cmocka_unit_test(test_records_end_where_the_file_is_cut_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
