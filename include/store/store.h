/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_STORE_STORE_H
#define AFTERSHOCK_STORE_STORE_H

/*
 * The incident database: inputs, their events, their problems. One SQLite
 * file, one transaction an input: after a kill or on a full disk it holds
 * whole inputs only. Facts alone are kept; what is concluded from them is made
 * anew by analysis (the aligned times are kept beside, for people who query
 * the file: tables clock and zone, view aligned_event; view event has the
 * events with a column for each field).
 *
 * Several processes may write to it: an input comes in whole, and the next one
 * waits for it. In whichever order inputs come, there are the same events, but
 * for what store/repeat.h says of lines far apart. What depends on the order is
 * the ids, and of two that are the same which one it is that counts: of inputs
 * of the same bytes the later one is no input, though its path, and so its host,
 * may be another; and a line of two logs is an event of the earlier one, so
 * that their counts differ while their sum does not.
 */

#include "base/arena.h"
#include "base/diag.h"
#include "model/event.h"
#include "model/input_info.h"

struct store;

enum store_mode {
	STORE_READ,	/* must exist and be an incident database */
	STORE_WRITE,	/* created when absent */
};

/*
 * path ":memory:" makes one that lives in memory (tests). NULL on failure,
 * which is recorded in diag: not found, not ours, of another version of
 * this program, locked (for some seconds, of one that is read; for minutes, of
 * one that is written), not writable.
 */
struct store *store_open(const char *path, enum store_mode mode, struct diag *diag);
/*
 * Abandons an input that has not ended. Accepts NULL. 0, or -1 when a database
 * that was made by this open may not be whole on the disk, which is recorded.
 */
int store_close(struct store *s);

/*
 * The sink that input writes to. Keeps, at end, the problems that diag recorded
 * for the input. Events are gathered: what cannot be written is told by the put
 * of a later one, or by end.
 */
struct input_sink store_sink(struct store *s);

/* The offset of a host's clock against the reference: ref = host time - (offset + drift * (t - first)). */
struct store_clock {
	struct sv host;
	int64_t offset_us;
	double drift_ppm;
	struct host_time first;
	bool is_later;		/* the host's clock was set: holds from since on, by that clock */
	struct host_time since;
};

/* An input whose times are so far east of the zone that they were read in. */
struct store_zone {
	int64_t input;
	int64_t ahead_us;
};

/* Replaces the aligned times. Does nothing on a database opened for reading. 0 or -1. */
int store_save_clocks(struct store *s, const struct store_clock *clocks, size_t n, const struct store_zone *zones,
		      size_t zone_count);

#endif
