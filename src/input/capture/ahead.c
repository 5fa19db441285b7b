/* SPDX-License-Identifier: MIT */
/* See the header. A ring of blocks: some filled, two at most in the hands of the caller, the rest to be filled. */

#include "input/capture/ahead.h"

#include <pthread.h>

#include "input/stream.h"

#define BLOCKS 4

struct ahead {
	struct stream *stream;
	size_t headroom, block_bytes;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct {
		uint8_t *bytes;
		size_t n;
	} block[BLOCKS];
	/* Of all blocks since the start; those between released and filled are not to be touched. */
	unsigned filled, taken, released;
	bool ended, stop;
};

/* The number of the block to fill; false when there is to be no more. */
static bool wait_for_room(struct ahead *a, unsigned *out)
{
	bool go_on;

	pthread_mutex_lock(&a->mutex);
	while (!a->stop && a->filled - a->released == BLOCKS)
		pthread_cond_wait(&a->changed, &a->mutex);
	go_on = !a->stop;
	*out = a->filled % BLOCKS;
	pthread_mutex_unlock(&a->mutex);
	return go_on;
}

static void say_filled(struct ahead *a, bool ended)
{
	pthread_mutex_lock(&a->mutex);
	a->filled += !ended;
	a->ended = ended;
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->mutex);
}

static void *read_on(void *context)
{
	struct ahead *a = context;
	unsigned at;

	while (wait_for_room(a, &at)) {
		ptrdiff_t got = stream_read_on(a->stream, a->block[at].bytes + a->headroom, a->block_bytes);

		a->block[at].n = got > 0 ? (size_t)got : 0;
		say_filled(a, got <= 0);
		if (got <= 0)
			break;
	}
	return NULL;
}

struct ahead *ahead_new(struct stream *s, size_t headroom, size_t block_bytes, struct arena *arena)
{
	struct ahead *a = arena_alloc(arena, sizeof *a);

	*a = (struct ahead){ .stream = s, .headroom = headroom, .block_bytes = block_bytes };
	for (unsigned i = 0; i < BLOCKS; i++)
		a->block[i].bytes = arena_alloc(arena, headroom + block_bytes);
	pthread_mutex_init(&a->mutex, NULL);
	pthread_cond_init(&a->changed, NULL);
	if (pthread_create(&a->thread, NULL, read_on, a) == 0)
		return a;
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->mutex);
	return NULL;
}

uint8_t *ahead_take(struct ahead *a, size_t *n)
{
	uint8_t *bytes = NULL;

	pthread_mutex_lock(&a->mutex);
	while (a->filled == a->taken && !a->ended)
		pthread_cond_wait(&a->changed, &a->mutex);
	if (a->filled != a->taken) {
		*n = a->block[a->taken % BLOCKS].n;
		bytes = a->block[a->taken % BLOCKS].bytes;
		a->taken++;
	}
	pthread_mutex_unlock(&a->mutex);
	return bytes;
}

void ahead_release(struct ahead *a)
{
	pthread_mutex_lock(&a->mutex);
	a->released = a->taken - 1;
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->mutex);
}

void ahead_free(struct ahead *a)
{
	if (a == NULL)
		return;
	pthread_mutex_lock(&a->mutex);
	a->stop = true;
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->mutex);
	pthread_join(a->thread, NULL);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->mutex);
}
