/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_MODEL_INPUT_INFO_H
#define AFTERSHOCK_MODEL_INPUT_INFO_H

/*
 * What is known of one input, and the sink that takes inputs one after the
 * other: begin, events, end. Text members are borrowed until the call returns.
 */

#include <stdbool.h>
#include <stdint.h>

#include "model/event.h"

/*
 * A record that speaks of consumer groups and that no rule knows is a problem of
 * this code, whose message is these words and the record's beginning.
 */
#define NEAR_MISS_CODE "log.near_miss"
#define NEAR_MISS_WORDS "speaks of consumer groups, and no rule knows it: "

struct input_info {
	int64_t id;		 /* in the store; 0 before */
	struct sv path;		 /* as the user named it; "archive.zip!inner/name" inside an archive */
	struct sv kind;		 /* "log", "capture", "counters", "table", "snapshot"; "skipped" when it is no evidence */
	struct sv format;	 /* "spring-boot-3", "pcap", "softnet": the layout that was recognised; absent when none */
	struct sv host;		 /* whose clock wrote its times; absent when not known */
	struct sv digest;	 /* hexadecimal, of the bytes as stored (before unpacking), or "sampled:" and that of samples */
	struct sv why_skipped;	 /* absent when it was read */
	struct sv same_as;	 /* path of the input with the same bytes; set by begin when it gives 0 */
	uint64_t size_bytes;	 /* as stored */
	uint64_t lines;		 /* of text; 0 when it is none */
	uint64_t records;	 /* log records, packets, rows, samples */
	uint64_t events;	 /* made from them */
	uint64_t skipped;	 /* records that were damaged and left out */
	uint64_t unrecognized;	 /* records that no rule knows: not lost, but not understood */
	bool has_times;		 /* first and last are known */
	struct host_time first;
	struct host_time last;
	struct sv zone_name;	 /* "UTC", "+08:00"; absent when no time had to be read */
	struct sv zone_source;	 /* "written", "wrapper" (its times prove it), "option", "assumed" */
};

/*
 * Where inputs go. For each input: begin once, then put for each event, then
 * end, or abandon when it failed: a whole input is kept or nothing of it.
 */
struct input_sink {
	/*
	 * 1: go on. 0: the same bytes are there already, skip it. -1: failure, recorded.
	 * Sets info->id, and info->same_as with 0.
	 */
	int (*begin)(void *context, struct input_info *info);
	struct event_sink events;
	/* The counts are final now. The problems that diag holds of this input are kept with it. */
	int (*end)(void *context, const struct input_info *info);
	void (*abandon)(void *context);
	void *context;
};

#endif
