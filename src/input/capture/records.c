/* SPDX-License-Identifier: MIT */
/*
 * See the header. A ring of slots, each with the room of one block and the
 * records in it. The reader of records asks the intake for bytes, and when
 * that needs the next room the slot is full: it is handed over, and the next
 * one is taken.
 */

#include "input/capture/records.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/spin.h"
#include "input/capture/cache_line.h"
#include "input/capture/tcp_key.h"
#include "input/stream.h"

/* Some filled, one in the hands of the caller, one being filled. */
#define SLOTS_AHEAD 8
/* Without a thread: one in the hands of the caller, and what is left of it goes to the other. */
#define SLOTS_ALONE 2
/* More, in a block, are of less than 128 bytes: then what is left of the block goes on in the next slot. */
#define RECORDS_MOST 1024
/*
 * Of what lies mapped: so few that their headers stay in the second-level
 * cache, with those that are scouted.
 */
#define MAPPED_MOST 256
#define SCOUT_BYTES ((size_t)512 * 1024)
/* Of a length that stands in four bytes and is below 100 MB (kafka_request.h). */
#define FIRST_BYTE_MOST 6

/* Each in a line of its own: with every record the one writes there, while the other reads the slot before. */
struct slot {
	_Alignas(CACHE_LINE) uint8_t *room;	/* NULL until it is needed first */
	struct record *record;
	struct record_packet *packet;
	size_t count;
};

struct records {
	struct arena *arena;	/* of whoever reads */
	const struct record_reader_ops *ops;
	struct record_reader *reader;
	struct intake intake;
	struct mapped *mapped;	/* instead of rooms; NULL when there is none */
	size_t scouted;		/* of its bytes */
	struct packet_decoder *decoder;
	uint64_t packets;	/* so far */
	struct {
		bool is_known, is_read;
		uint32_t type;
		enum packet_link link;
	} link;			/* the latest; interfaces of one file may differ in it */
	struct slot slot[SLOTS_AHEAD];
	unsigned slots;
	size_t most;		/* records in a slot */
	/* How it ended; settled before "ended" is. */
	int end;
	const char *why;
	/* The caller's own. */
	_Alignas(CACHE_LINE) unsigned taken;	/* slots */
	bool is_settled;	/* damage of the stream is recorded */
	bool has_thread;
	pthread_t thread;
	/*
	 * Of all slots since the start: those from released to filled are the caller's. Who waits looks at one of these
	 * all the time: nothing that is written with every record may stand beside them.
	 */
	_Alignas(CACHE_LINE) atomic_uint filled;
	_Alignas(CACHE_LINE) atomic_uint released;
	_Alignas(CACHE_LINE) atomic_bool ended;
	atomic_bool stop;
	/* For when one of the two has waited for long. */
	atomic_bool reader_sleeps, caller_sleeps;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
};

/* ---- waiting ---- */

/* Who sleeps says so before it looks once more, and who changes something looks for sleepers after that. */
static void wait_until(struct records *r, bool (*is_so)(struct records *), atomic_bool *sleeps)
{
	for (unsigned i = 0; i < SPIN_LOOKS; i++) {
		if (is_so(r))
			return;
		spin_pause();
	}
	pthread_mutex_lock(&r->mutex);
	atomic_store(sleeps, true);
	while (!is_so(r))
		pthread_cond_wait(&r->changed, &r->mutex);
	atomic_store(sleeps, false);
	pthread_mutex_unlock(&r->mutex);
}

static void wake(struct records *r, atomic_bool *sleeps)
{
	if (!atomic_load(sleeps))
		return;
	pthread_mutex_lock(&r->mutex);
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->mutex);
}

static bool has_room(struct records *r)
{
	return atomic_load(&r->filled) - atomic_load(&r->released) < r->slots || atomic_load(&r->stop);
}

static bool has_run(struct records *r)
{
	return atomic_load(&r->filled) != r->taken || atomic_load(&r->ended);
}

/* ---- reading ---- */

static struct slot *slot_at_hand(struct records *r)
{
	return &r->slot[atomic_load_explicit(&r->filled, memory_order_relaxed) % r->slots];
}

/* What lies before all that the caller may look at. */
static void pass_mapped(struct records *r)
{
	const unsigned released = atomic_load(&r->released);
	const struct slot *oldest = &r->slot[released % r->slots];

	if (r->mapped != NULL)
		mapped_pass(r->mapped, oldest->record[0].offset);
}

static void hand_over(struct records *r)
{
	pass_mapped(r);
	atomic_fetch_add(&r->filled, 1);
	wake(r, &r->caller_sleeps);
	wait_until(r, has_room, &r->reader_sleeps);
	slot_at_hand(r)->count = 0;
}

/* Small files never need but the first. */
static struct slot *slot_to_fill(struct records *r)
{
	struct slot *slot = slot_at_hand(r);

	if (slot->record == NULL) {
		slot->room = r->mapped == NULL ? arena_alloc(r->arena, INTAKE_ROOM_BYTES) : NULL;
		slot->record = arena_array(r->arena, r->most, sizeof *slot->record);
		slot->packet = arena_array(r->arena, r->most, sizeof *slot->packet);
	}
	return slot;
}

/* A slot without a record is of no use to the caller: its room is used again. */
static uint8_t *next_room(void *context)
{
	struct records *r = context;

	if (slot_at_hand(r)->count > 0)
		hand_over(r);
	return atomic_load(&r->stop) ? NULL : slot_to_fill(r)->room;
}

static bool is_lost(const struct records *r)
{
	return r->mapped != NULL && mapped_is_lost(r->mapped);
}

static void end(struct records *r, int how, const char *why)
{
	if (slot_at_hand(r)->count > 0)
		hand_over(r);
	r->end = how;
	r->why = why;
	atomic_store(&r->ended, true);
	wake(r, &r->caller_sleeps);
}

/* Records may have been looked at that were there no more: what was handed over stands. */
static void lose(struct records *r)
{
	struct slot *slot = slot_at_hand(r);

	if (slot->count > 0)
		r->intake.offset = slot->record[0].offset;
	slot->count = 0;
	r->intake.damaged = true;
	end(r, -1, RECORD_WHY_DAMAGED);
}

static bool is_read(struct records *r, uint32_t type)
{
	if (!r->link.is_known || r->link.type != type)
		r->link.is_read = packet_link_of(type, &r->link.link);
	r->link.is_known = true;
	r->link.type = type;
	return r->link.is_read;
}

static void decode(struct records *r, const struct record *record, struct record_packet *out)
{
	r->packets += record->is_packet;
	out->is_read = record->is_packet && record->has_time && is_read(r, record->link);
	out->is_plain = false;
	if (!out->is_read)
		return;
	out->what = packet_decode(r->decoder, r->link.link, record->bytes, record->captured, record->wire, &out->segment);
	if (out->what != PACKET_TCP)
		return;
	out->segment.time_us = record->time_us;
	out->segment.place = (struct packet_place){ .number = r->packets, .byte_offset = record->offset };
	out->key = tcp_key_of(&out->segment);
	out->is_plain = record->drops.packets == 0;
	out->may_begin = out->segment.payload_captured > 0 && out->segment.payload[0] <= FIRST_BYTE_MOST;
}

/* It may lie in the next block, and then belongs to the next slot. */
static int read_record(struct records *r, const char **why)
{
	struct slot *before = slot_to_fill(r), *slot;
	struct record *out = &before->record[before->count];
	int got = r->ops->next(r->reader, out, why);

	if (got != 1)
		return got;
	slot = slot_at_hand(r);
	if (slot != before)
		slot->record[0] = *out;
	decode(r, &slot->record[slot->count], &slot->packet[slot->count]);
	slot->count++;
	return 1;
}

/* Of what is looked at next, if it lies mapped. */
static void scout(struct records *r)
{
	const size_t at = r->intake.start, left = intake_left(&r->intake);

	if (r->mapped == NULL || at < r->scouted)
		return;
	r->scouted = at + (left < SCOUT_BYTES ? left : SCOUT_BYTES);
	r->ops->scout(r->reader, r->scouted);
}

/* Those that need no more to be read. */
static void read_whole(struct records *r)
{
	struct slot *slot = slot_to_fill(r);
	size_t n;

	scout(r);
	if (r->ops->next_whole == NULL)
		return;
	n = r->ops->next_whole(r->reader, slot->record + slot->count, r->most - slot->count);
	for (; n > 0; n--, slot->count++)
		decode(r, &slot->record[slot->count], &slot->packet[slot->count]);
}

static void turn(struct records *r)
{
	if (r->ops->keeps_bytes || r->mapped != NULL)
		hand_over(r);
	else
		intake_turn(&r->intake);
}

/* Until one was handed over, and no more than one: without a thread there is no room for a second. Or until the end. */
static void read_slot(struct records *r)
{
	const struct slot *first = slot_at_hand(r);
	const char *why = NULL;

	while (slot_at_hand(r) == first && !atomic_load_explicit(&r->stop, memory_order_relaxed)) {
		int got = 1;

		read_whole(r);
		if (first->count < r->most)
			got = read_record(r, &why);
		if (is_lost(r)) {
			lose(r);
			return;
		}
		if (got != 1) {
			end(r, got, why);
			return;
		}
		if (slot_at_hand(r)->count == r->most)
			turn(r);
	}
}

static void *read_on(void *context)
{
	struct records *r = context;

	while (!atomic_load(&r->ended) && !atomic_load(&r->stop))
		read_slot(r);
	return NULL;
}

/* ---- the caller's side ---- */

/* What the stream stumbled over it records itself, for whoever asks it alone: of what is lost when it is read so far. */
static void settle_damage(struct records *r)
{
	uint8_t bytes[4096];

	if (r->mapped != NULL && r->intake.damaged && !r->is_settled)
		stream_read_from(r->intake.stream, r->intake.offset);
	while (r->intake.damaged && !r->is_settled)
		r->is_settled = stream_read(r->intake.stream, bytes, sizeof bytes) <= 0;
	r->is_settled = true;
}

static void stop_thread(struct records *r)
{
	if (!r->has_thread)
		return;
	atomic_store(&r->stop, true);
	wake(r, &r->reader_sleeps);
	pthread_join(r->thread, NULL);
	r->has_thread = false;
}

/* It is woken when there is room for some blocks, not for one: waking is dear. */
static void release(struct records *r)
{
	atomic_store(&r->released, r->taken);
	if (atomic_load(&r->filled) - r->taken <= r->slots / 2)
		wake(r, &r->reader_sleeps);
}

/* ---- public ---- */

/* What a stream has looked ahead at is read before a thread has begun. */
static bool is_short(struct stream *s)
{
	return stream_head(s).n < STREAM_HEAD_BYTES;
}

bool records_open(struct stream *s, const struct record_reader_ops *ops, unsigned threads, struct records **out,
		  const char **why)
{
	struct arena *a = arena_new();
	struct records *r = cache_lines(a, sizeof *r);

	*out = r;
	r->arena = a;
	r->ops = ops;
	r->slots = threads > 1 && !ops->keeps_bytes && !is_short(s) ? SLOTS_AHEAD : SLOTS_ALONE;
	pthread_mutex_init(&r->mutex, NULL);
	pthread_cond_init(&r->changed, NULL);
	r->decoder = packet_decoder_new(a);
	if (ops->scout != NULL)
		r->mapped = stream_map(s);
	if (r->mapped != NULL)
		intake_init_mapped(&r->intake, s, r->mapped);
	else
		intake_init_rooms(&r->intake, s, (struct intake_rooms){ next_room, r });
	r->most = ops->keeps_bytes ? 1 : r->mapped != NULL ? MAPPED_MOST : RECORDS_MOST;
	r->reader = ops->open(&r->intake, a, why);
	if (r->reader == NULL) {
		settle_damage(r);
		return false;
	}
	if (r->slots == SLOTS_AHEAD)
		r->has_thread = pthread_create(&r->thread, NULL, read_on, r) == 0;
	return true;
}

int records_next(struct records *r, struct record_run *out, const char **why)
{
	const struct slot *slot = &r->slot[r->taken % r->slots];

	release(r);
	if (r->has_thread)
		wait_until(r, has_run, &r->caller_sleeps);
	else if (!has_run(r))
		read_slot(r);
	if (atomic_load(&r->filled) != r->taken) {
		*out = (struct record_run){ slot->record, slot->packet, slot->count };
		r->taken++;
		return 1;
	}
	stop_thread(r);
	/* By the caller, who looked at the last of them later. */
	if (r->end == 0 && is_lost(r))
		lose(r);
	settle_damage(r);
	*why = r->why;
	return r->end;
}

uint64_t records_offset(const struct records *r)
{
	return r->intake.offset;
}

bool records_is_damaged(const struct records *r)
{
	return r->intake.damaged;
}

uint64_t records_fragments_lost(const struct records *r)
{
	return packet_decoder_fragments_lost(r->decoder);
}

void records_close(struct records *r)
{
	if (r == NULL)
		return;
	stop_thread(r);
	if (r->reader != NULL && r->ops->close != NULL)
		r->ops->close(r->reader);
	mapped_free(r->mapped);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->mutex);
	arena_free(r->arena);
}
