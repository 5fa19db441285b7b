/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_SECONDS_H
#define AFTERSHOCK_ANALYSIS_SECONDS_H

/*
 * The seconds of connections (net.second), in order of time. Those of which an
 * event tells several together come one by one: what it counts is shared out
 * evenly among them, and its round trips are those of each.
 */

#include "base/arena.h"
#include "store/query.h"

struct seconds;

struct seconds *seconds_new(struct store *s, struct arena *a);
/* 1 (an item), 0 (the end), -1 (failure). Views in *e live until the next call. */
int seconds_next(struct seconds *s, struct event *e);
/* Accepts NULL. */
void seconds_free(struct seconds *s);

#endif
