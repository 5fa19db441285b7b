/* SPDX-License-Identifier: MIT */
/* Any bytes as a file that the user named: archives, compressed files, and every kind. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Balance of begins and ends. */
struct counter {
	int open;
	int64_t inputs;
};

static int count_begin(void *context, struct input_info *info)
{
	struct counter *c = context;

	if (c->open++ != 0 || sv_is_absent(info->kind) || sv_is_absent(info->digest))
		__builtin_trap();
	info->id = ++c->inputs;
	return 1;
}

static int count_put(void *context, const struct event *e)
{
	const struct counter *c = context;

	if (c->open != 1 || e->place.input != c->inputs)
		__builtin_trap();
	return 0;
}

static int count_end(void *context, const struct input_info *info)
{
	struct counter *c = context;

	(void)info;
	c->open--;
	return 0;
}

static void count_abandon(void *context)
{
	(void)context;
	__builtin_trap();
}

static void ingest(const char *path)
{
	struct arena *a = arena_new();
	struct ingest_options o = { .rules = NULL };
	struct counter c = { 0, 0 };
	struct input_sink sink = { count_begin, { count_put, &c }, count_end, count_abandon, &c };

	if (source_ingest(path, &o, &sink, diag_new(a)) != 0 || c.open != 0)
		__builtin_trap();
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/aftershock-fuzz-XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0)
		abort();
	if (write(fd, data, size) == (ssize_t)size)
		ingest(path);
	close(fd);
	unlink(path);
	return 0;
}
