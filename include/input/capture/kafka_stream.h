/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_STREAM_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_STREAM_H

/*
 * Segments of one direction in, frames out: put in order, cut by their length
 * fields, found again after what was lost. Of a segment that a snapshot length
 * cut, the bytes at hand are used and the others counted by sequence number.
 * A frame that stands whole in its segment is not copied.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "input/capture/packet_place.h"

/* Of a frame so much is kept at most, while it comes in several segments; of a segment that came too early, too. */
#define KAFKA_BUFFER_BYTES 8192

struct kafka_buffer;
/* The buffers of a whole capture: lazily made, bounded, given back. */
struct kafka_pool {
	struct arena *arena;
	struct kafka_buffer *free;
	size_t made;
};

/* The payload of one segment. */
struct kafka_piece {
	uint32_t sequence;
	const uint8_t *bytes;	/* captured of wire */
	size_t captured, wire;
	int64_t us;
	struct packet_place place;
};

struct kafka_frame {
	const uint8_t *bytes;
	size_t n;		/* at hand, from its start on */
	uint64_t size;		/* of the whole, its length field included */
	uint32_t sequence;	/* of its first byte */
	int64_t us;		/* when the first byte came */
	struct packet_place place;
};

/* What frames are like, and who takes them. */
struct kafka_framing {
	size_t header_bytes;	/* to be at hand before size is asked; no frame is shorter */
	/* Of the frame that begins so, its length field included; 0 when none can begin so. */
	uint64_t (*size)(void *context, const uint8_t *header);
	/* How much of it frame() wants at once. */
	size_t (*wanted)(void *context, const uint8_t *header, uint64_t size);
	/* n may be less than wanted when the rest was lost. True: *follow tells whether rest() wants what comes after. */
	bool (*frame)(void *context, const struct kafka_frame *f, bool *follow);
	/* More of the latest frame; bytes NULL: n bytes of it were lost. */
	void (*rest)(void *context, const uint8_t *bytes, uint64_t n);
	/* Whether a frame seems to begin at the start of this segment: asked while it is not known where one does. */
	bool (*begins)(void *context, const struct kafka_piece *p);
};

struct kafka_stream {
	bool started;		/* next is known */
	bool synced;		/* so is where frames begin */
	bool follows;		/* the frame that is passed over is told of */
	uint32_t next;
	uint64_t over;		/* bytes of the latest frame still to pass over */
	struct kafka_buffer *held;	/* the start of a frame */
	struct kafka_buffer *parked;	/* segments beyond a gap, by sequence */
	unsigned parked_count;
	uint64_t lost;		/* times that sync was lost */
};

/* Most of what passes is the inside of long frames. */
static inline bool kafka_stream_is_inside(const struct kafka_stream *s, uint32_t sequence, uint64_t wire)
{
	return s->over >= wire && sequence == s->next && s->synced && s->parked == NULL;
}

/* Steps over a piece of which that is so: what kafka_stream_take does, if nobody wants to know what it is. */
static inline void kafka_stream_pass_inside(struct kafka_stream *s, uint64_t wire)
{
	s->next += (uint32_t)wire;
	s->over -= wire;
}

/* The next byte will have this sequence number, and a frame begins there. */
void kafka_stream_start(struct kafka_stream *s, uint32_t sequence);
void kafka_stream_take(struct kafka_stream *s, struct kafka_pool *pool, const struct kafka_framing *f, void *context,
		       const struct kafka_piece *p);
/* The peer has acknowledged up to here: what is missing before it passed unseen. */
void kafka_stream_acknowledged(struct kafka_stream *s, struct kafka_pool *pool, const struct kafka_framing *f,
			       void *context, uint32_t ack);
/* Gives back its buffers and forgets where the stream stands. */
void kafka_stream_reset(struct kafka_stream *s, struct kafka_pool *pool);

#endif
