/* SPDX-License-Identifier: MIT */
/*
 * What recording costs: processor time for each sample, as the kernel accounts
 * for it. Time by the clock says nothing on a machine that does other things too.
 */

#define _GNU_SOURCE	/* wait4 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/resource.h>
#include <sys/wait.h>

#include "base/tstamp.h"
#include "cli/probe.h"
#include "probe_kit.h"

/* One percent of one core, at a sample a second. */
#define SAMPLE_US_MAX (US_PER_S / 100)
#define INTERVAL_US (20 * US_PER_MS)
#define SAMPLES 100
/* However few a busy machine lets it take. */
#define SAMPLES_LEAST 10

static int64_t us_of(struct timeval t)
{
	return (int64_t)t.tv_sec * US_PER_S + t.tv_usec;
}

/* Records in a process of its own, which gives its privileges away. The processor time of all that it did. */
static int64_t cpu_us_of_probe(struct kit *k, const char *path)
{
	struct probe_options o = probe_options_default();
	struct rusage used;
	pid_t pid = fork();
	int status;

	o.interval_us = INTERVAL_US;
	o.has_duration = true;
	o.duration_us = SAMPLES * INTERVAL_US;
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(probe_run(&o, path, false, k->arena, k->diag) == 0 ? 0 : 1);
	assert_int_equal(wait4(pid, &status, 0, &used), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	return us_of(used.ru_utime) + us_of(used.ru_stime);
}

/* "# ended: 100 samples, 0 missed" */
static int64_t samples_told(const char *path)
{
	struct buf text;
	size_t at;
	int64_t n;

	buf_init(&text);
	kit_read(path, &text);
	assert_true(sv_find(buf_sv(&text), SV("# ended: "), &at));
	struct sv rest = sv_sub(buf_sv(&text), at + 9, text.n);
	assert_true(sv_to_i64(sv_cut(&rest, ' '), &n));
	buf_fini(&text);
	return n;
}

static void a_sample_a_second_takes_less_than_a_hundredth_of_a_core(void **state)
{
	struct kit k;
	(void)state;

	kit_init(&k);
	const char *path = kit_path(&k, "a.probe");
	int64_t us = cpu_us_of_probe(&k, path), samples = samples_told(path);
	assert_true(samples >= SAMPLES_LEAST);
	if (us >= samples * SAMPLE_US_MAX)
		fail_msg("%lld samples took %lld us", (long long)samples, (long long)us);
	kit_fini(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_a_second_takes_less_than_a_hundredth_of_a_core),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
