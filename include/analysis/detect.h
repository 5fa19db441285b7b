/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_DETECT_H
#define AFTERSHOCK_ANALYSIS_DETECT_H

/*
 * The detectors: each turns events into windows of one kind. A new detector is
 * one function and one row of detectors[].
 */

#include "analysis/own_address.h"
#include "analysis/path.h"
#include "analysis/threshold.h"
#include "analysis/window.h"

struct detect_context {
	struct store *store;
	const struct clocks *clocks;
	const struct thresholds *thresholds;
	int64_t heartbeat_ms;
	struct arena *arena;
	struct paths *paths;
	struct own_addresses *own;	/* of the hosts that captured */
	struct windows *out;	/* with its coverage; windows of the detectors before stand in it unmerged */
};

struct detector {
	enum window_kind kind;
	const char *evidence;	/* what it reads: "capture", "softnet" ... */
	int (*find)(const struct detect_context *ctx);	/* appends to ctx->out; 0 or -1 */
	const struct threshold *thresholds;
	size_t threshold_count;
};

/* In the order in which they run: those that ask for a second sign come after those that give it. */
extern const struct detector detectors[];
extern const size_t detector_count;

/* ---- for the detectors ---- */

int detect_blackout(const struct detect_context *ctx);
int detect_loss(const struct detect_context *ctx);
int detect_delay(const struct detect_context *ctx);
int detect_reset(const struct detect_context *ctx);
int detect_counter_loss(const struct detect_context *ctx);
int detect_link(const struct detect_context *ctx);
int detect_softnet(const struct detect_context *ctx);
int detect_conntrack(const struct detect_context *ctx);
int detect_request(const struct detect_context *ctx);
int detect_interface(const struct detect_context *ctx);
int detect_socket_loss(const struct detect_context *ctx);
int detect_socket_silence(const struct detect_context *ctx);
int detect_starved(const struct detect_context *ctx);
int detect_log_link(const struct detect_context *ctx);
int detect_log_conntrack(const struct detect_context *ctx);
int detect_log_pause(const struct detect_context *ctx);
int detect_process_pause(const struct detect_context *ctx);
int detect_server_pause(const struct detect_context *ctx);

/* As it holds in this analysis. */
int64_t detect_threshold(const struct detect_context *ctx, enum threshold_id id);
/* Whether so many are no chance: at least as many as one threshold says, and more of all of them, in per cent, than the other. */
bool detect_is_many(const struct detect_context *ctx, int64_t count, enum threshold_id least, int64_t all,
		    enum threshold_id percent);
/* An interval of a host's clock. */
struct span detect_span(const struct detect_context *ctx, struct sv host, int64_t start_us, int64_t end_us);
/* That of the event. */
struct span detect_event_span(const struct detect_context *ctx, const struct event *e);
/* The path of a net.* event. */
const struct path *detect_path(const struct detect_context *ctx, const struct event *e);
/*
 * A new window of ctx->out, good until the next is added. Of a path, or, with
 * path NULL, of a host whose name must outlive it. source is a literal.
 */
struct window *detect_add(const struct detect_context *ctx, enum window_kind kind, const char *source, struct sv host,
			  const struct path *path, struct span span);
/* Adds to the measure, as measure.def says how. */
void detect_measure(struct window *w, enum measure_id id, int64_t value);
/* The event's number; 0 when it is not set. */
int64_t detect_number(const struct event *e, enum event_field f);
/* A copy whose texts are the arena's. */
void detect_keep(struct arena *a, const struct event *e, struct event *kept);
/* items with room for one of this index, zeroed. */
void *detect_room(struct arena *a, void *items, size_t size, size_t index, size_t *capacity);
/* As the window's evidence, or counted as left out when it has enough. role is a literal. */
void detect_evidence(const struct detect_context *ctx, struct window *w, const struct event *e, const char *role);
/* Evidence that a window keeps of one kind. */
#define DETECT_EVIDENCE_MAX 24
/* Makes w cover what other covers, with its kinds, measures and evidence. */
void detect_merge(struct arena *a, struct window *w, const struct window *other);
/* The same of two views of one thing, as from both ends of a path: what both count does not add up. */
void detect_merge_views(struct arena *a, struct window *w, const struct window *other);
/* Measures that follow from the window's times. */
void detect_measure_spans(struct window *w);

/* ---- after the detectors ---- */

/* Merges the windows of one path or host, and cuts pauses that jitter accounts for. Numbers them. */
void windows_merge(const struct detect_context *ctx);
/* Finds whose address each window's caller has. */
void windows_find_callers(const struct detect_context *ctx);
/* Where a sign of life was followed by a loss, the outage ends with an exchange. After windows_find_callers. 0 or -1. */
int windows_doubt_signs(const struct detect_context *ctx);
/* Makes one of what captures at both ends of a path show of it. After windows_find_callers; numbers the windows anew. */
void windows_join_ends(const struct detect_context *ctx);
/* Makes one of a pause that its process logged and one that a capture shows of it. Numbers the windows anew. */
void windows_join_pauses(const struct detect_context *ctx);
/* No shorter pause of the kind is one. */
int64_t detect_pause_limit_us(const struct detect_context *ctx, enum window_kind kind);

#endif
