/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_NOEVIDENCE_H
#define AFTERSHOCK_INPUT_NOEVIDENCE_H

/* Words for what no kind of input reads. */

#include "base/arena.h"
#include "base/sv.h"

struct rules;

/*
 * Why the input that begins with head is passed over, and, for files that some
 * tool can turn into evidence, by which command. Never absent.
 */
struct sv noevidence_why(struct sv head, const struct rules *rules, struct arena *a);

#endif
