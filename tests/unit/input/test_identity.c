/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "input/identity.h"

#define LARGE (IDENTITY_WHOLE_MOST + 4096)

struct made {
	char path[64];
	int fd;
};

/* A file of so many bytes, all zero but for one x. */
static struct made make_file(uint64_t size, uint64_t x_at)
{
	struct made m = { .path = "/tmp/aftershock-identity-XXXXXX" };

	m.fd = mkstemp(m.path);
	assert_true(m.fd >= 0);
	assert_int_equal(ftruncate(m.fd, (off_t)size), 0);
	assert_int_equal(pwrite(m.fd, "x", 1, (off_t)x_at), 1);
	return m;
}

static void remove_file(struct made *m)
{
	close(m->fd);
	unlink(m->path);
}

static struct identity identity(const struct made *m, struct arena *a)
{
	struct identity i;

	assert_true(identity_of(m->fd, a, &i));
	assert_int_equal(lseek(m->fd, 0, SEEK_CUR), 0);
	return i;
}

static void small_files_are_known_by_all_their_bytes(void **state)
{
	struct arena *a = arena_new();
	struct made m = make_file(300, 299);
	struct identity i = identity(&m, a);
	char bytes[300] = { 0 }, hex[2 * DIGEST_BYTES + 1];
	struct digest d;

	(void)state;
	bytes[299] = 'x';
	digest_init(&d);
	digest_add(&d, bytes, sizeof bytes);
	digest_hex(&d, hex);
	assert_false(i.sampled);
	assert_int_equal(i.size_bytes, 300);
	assert_true(sv_eq(i.digest, sv_of(hex)));
	assert_true(sv_eq(identity_whole(m.fd, 300, a), sv_of(hex)));
	remove_file(&m);
	arena_free(a);
}

/* At the start, at the end and at a sample a byte tells; between samples bytes are compared. */
static void large_files_are_known_by_samples_and_then_compared(void **state)
{
	struct arena *a = arena_new();
	const uint64_t between = LARGE / 256 * 7 + 5000;
	struct made first = make_file(LARGE, between), same = make_file(LARGE, between), other = make_file(LARGE, between + 1);
	struct made start = make_file(LARGE, 0), end = make_file(LARGE, LARGE - 1), longer = make_file(LARGE + 1, between);
	struct identity i = identity(&first, a);

	(void)state;
	assert_true(i.sampled);
	assert_true(sv_starts_with(i.digest, SV("sampled:")));
	assert_true(sv_eq(i.digest, identity(&same, a).digest));
	assert_true(sv_eq(i.digest, identity(&other, a).digest));
	assert_false(sv_eq(i.digest, identity(&start, a).digest));
	assert_false(sv_eq(i.digest, identity(&end, a).digest));
	assert_false(sv_eq(i.digest, identity(&longer, a).digest));
	assert_int_equal(identity_compare(first.fd, LARGE, sv_of(same.path)), IDENTITY_SAME);
	assert_int_equal(identity_compare(first.fd, LARGE, sv_of(other.path)), IDENTITY_DIFFERENT);
	/* Itself, another size, none at all. */
	assert_int_equal(identity_compare(first.fd, LARGE, sv_of(first.path)), IDENTITY_UNKNOWN);
	assert_int_equal(identity_compare(first.fd, LARGE, sv_of(longer.path)), IDENTITY_UNKNOWN);
	assert_int_equal(identity_compare(first.fd, LARGE, SV("/tmp/there/is/none")), IDENTITY_UNKNOWN);
	assert_int_equal(identity_compare(first.fd, LARGE, SV_ABSENT), IDENTITY_UNKNOWN);
	assert_false(sv_eq(identity_whole(first.fd, LARGE, a), identity_whole(other.fd, LARGE, a)));
	remove_file(&first);
	remove_file(&same);
	remove_file(&other);
	remove_file(&start);
	remove_file(&end);
	remove_file(&longer);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_files_are_known_by_all_their_bytes),
		cmocka_unit_test(large_files_are_known_by_samples_and_then_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
