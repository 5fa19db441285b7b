/* SPDX-License-Identifier: MIT */
/* A sample holds each source whole, under its name, as it stands now. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>

#include "cli/probe_sources.h"
#include "probe_kit.h"

static const char *text_of(struct buf *b)
{
	buf_add_char(b, '\0');
	b->n--;
	return b->p;
}

static void each_sample_reads_from_the_start(void **state)
{
	struct kit k;
	struct buf sample;
	(void)state;

	kit_init(&k);
	buf_init(&sample);
	const char *path = kit_path(&k, "count");
	kit_write(path, "7\n");
	int fd = open(path, O_RDONLY);
	assert_int_equal(probe_source_append("/proc/count", fd, &sample), 0);
	kit_write(path, "8");
	assert_int_equal(probe_source_append("/proc/count", fd, &sample), 0);
	/* The last has no line end of its own: the next header still stands on its own line. */
	assert_string_equal(text_of(&sample), "==> /proc/count <==\n7\n==> /proc/count <==\n8\n");
	close(fd);
	buf_fini(&sample);
	kit_fini(&k);
}

/* Longer than the block that is read at once. */
static void a_long_source_is_whole(void **state)
{
	struct kit k;
	struct buf text, sample;
	(void)state;

	kit_init(&k);
	buf_init(&text);
	buf_init(&sample);
	for (int i = 0; i < 40000; i++)
		buf_printf(&text, "%08x\n", (unsigned)i);
	const char *path = kit_path(&k, "long");
	kit_write(path, text_of(&text));
	int fd = open(path, O_RDONLY);
	assert_int_equal(probe_source_append("long", fd, &sample), 0);
	struct sv body = sv_sub(buf_sv(&sample), strlen("==> long <==\n"), sample.n);
	assert_true(sv_eq(body, buf_sv(&text)));
	close(fd);
	buf_fini(&text);
	buf_fini(&sample);
	kit_fini(&k);
}

static void a_source_that_fails_leaves_no_half(void **state)
{
	struct buf sample;
	(void)state;

	buf_init(&sample);
	buf_add(&sample, SV("before\n"));
	assert_int_equal(probe_source_append("none", -1, &sample), EBADF);
	assert_string_equal(text_of(&sample), "before\n");
	buf_fini(&sample);
}

static void a_source_that_is_gone_is_said_once(void **state)
{
	struct kit k;
	struct buf sample;
	(void)state;

	kit_init(&k);
	buf_init(&sample);
	struct probe_source items[] = {
		{ .path = kit_path(&k, "gone"), .fd = open(k.directory, O_RDONLY) }, /* reading a directory fails */
		{ .path = kit_path(&k, "stays"), .fd = -1, .error = ENOENT },
	};
	kit_write(items[1].path, "1\n");
	struct probe_sources s = { items, 2, 2 };
	probe_sources_append(&s, &sample);
	char expected[256];
	snprintf(expected, sizeof expected, "# %s can no longer be read: %s\n", items[0].path, strerror(EISDIR));
	assert_string_equal(text_of(&sample), expected);
	assert_int_equal(items[0].fd, -1);

	/* What was not there at the start is found when it is looked for again. */
	buf_clear(&sample);
	probe_sources_retry(&s);
	probe_sources_append(&s, &sample);
	snprintf(expected, sizeof expected, "==> %s <==\n1\n", items[1].path);
	assert_string_equal(text_of(&sample), expected);
	probe_sources_close(&s);
	buf_fini(&sample);
	kit_fini(&k);
}

static void a_cgroup_is_that_of_the_caller(void **state)
{
	struct kit k;
	struct probe_sources s;
	size_t at;
	bool found = false, others = false;
	(void)state;

	kit_init(&k);
	kit_write(kit_path(&k, "cpu.stat"), "nr_throttled 3\n");
	probe_sources_open(&s, k.directory, k.arena);
	for (size_t i = 0; i < s.count; i++) {
		struct sv path = sv_of(s.items[i].path);
		if (sv_starts_with(path, sv_of(k.directory)) && sv_ends_with(path, SV("/cpu.stat")))
			found = s.items[i].fd >= 0;
		others = others || sv_find(path, SV("/sys/fs/cgroup"), &at);
	}
	assert_true(found);
	assert_false(others);
	probe_sources_close(&s);
	kit_fini(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_sample_reads_from_the_start),
		cmocka_unit_test(a_long_source_is_whole),
		cmocka_unit_test(a_source_that_fails_leaves_no_half),
		cmocka_unit_test(a_source_that_is_gone_is_said_once),
		cmocka_unit_test(a_cgroup_is_that_of_the_caller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
