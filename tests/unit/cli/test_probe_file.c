/* SPDX-License-Identifier: MIT */
/* The file of samples keeps what was there, takes whole samples alone, and leaves other files as they are. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/resource.h>

#include "cli/probe_file.h"
#include "probe_kit.h"

#define HEAD PROBE_SIGNATURE "0 host=h\n"

static void assert_holds(const char *path, const char *text)
{
	struct buf b;

	buf_init(&b);
	kit_read(path, &b);
	buf_add_char(&b, '\0');
	assert_string_equal(b.p, text);
	buf_fini(&b);
}

static void a_second_start_adds_to_the_first(void **state)
{
	struct kit k;
	struct probe_file f;
	(void)state;

	kit_init(&k);
	const char *path = kit_path(&k, "a");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(probe_file_open(&f, path, k.diag), 0);
		assert_int_equal(probe_file_write(&f, SV(HEAD "1\n"), k.diag), 0);
		assert_int_equal(probe_file_close(&f, k.diag), 0);
	}
	assert_holds(path, HEAD "1\n" HEAD "1\n");
	kit_fini(&k);
}

static void half_a_line_of_a_killed_probe_is_ended(void **state)
{
	struct kit k;
	struct probe_file f;
	(void)state;

	kit_init(&k);
	const char *path = kit_path(&k, "a");
	kit_write(path, HEAD "Tcp: 1 2");
	assert_int_equal(probe_file_open(&f, path, k.diag), 0);
	assert_int_equal(probe_file_write(&f, SV(HEAD), k.diag), 0);
	assert_int_equal(probe_file_close(&f, k.diag), 0);
	assert_holds(path, HEAD "Tcp: 1 2\n" HEAD);
	kit_fini(&k);
}

static void other_evidence_is_left_alone(void **state)
{
	struct kit k;
	struct probe_file f;
	(void)state;

	kit_init(&k);
	const char *path = kit_path(&k, "server.log");
	kit_write(path, "[2026-11-30 10:00:00,000] INFO started\n");
	assert_int_equal(probe_file_open(&f, path, k.diag), -1);
	assert_true(kit_problem_has(&k, "was not written by a probe"));
	(void)probe_file_close(&f, k.diag);
	assert_holds(path, "[2026-11-30 10:00:00,000] INFO started\n");
	kit_fini(&k);
}

/* A limit on the size of files stands for a full disk: the kernel writes what fits, then refuses. */
static void a_sample_that_does_not_fit_is_taken_back(void **state)
{
	struct rlimit before, small;
	struct kit k;
	struct probe_file f;
	struct buf sample;
	(void)state;

	kit_init(&k);
	buf_init(&sample);
	for (int i = 0; i < 8192; i++)
		buf_add_char(&sample, i % 64 == 63 ? '\n' : 'x');
	const char *path = kit_path(&k, "a");
	assert_int_equal(probe_file_open(&f, path, k.diag), 0);
	assert_int_equal(probe_file_write(&f, SV(HEAD), k.diag), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){ 4096, before.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(probe_file_write(&f, buf_sv(&sample), k.diag), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_true(kit_problem_has(&k, "cannot be written"));
	(void)probe_file_close(&f, k.diag);
	assert_holds(path, HEAD);
	buf_fini(&sample);
	kit_fini(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_second_start_adds_to_the_first),
		cmocka_unit_test(half_a_line_of_a_killed_probe_is_ended),
		cmocka_unit_test(other_evidence_is_left_alone),
		cmocka_unit_test(a_sample_that_does_not_fit_is_taken_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
