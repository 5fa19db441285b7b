/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_NOEVIDENCE_H
#define AFTERSHOCK_INPUT_NOEVIDENCE_H

/* Words for what no kind of input reads. */

#include <stdbool.h>

#include "base/arena.h"
#include "base/sv.h"

struct rules;

/*
 * Why the input that begins with head is passed over, and, for files that some
 * tool can turn into evidence, by which command. Never absent.
 */
struct sv noevidence_why(struct sv head, const struct rules *rules, struct arena *a);

/*
 * Whether what begins with head, and is nothing as far as that goes, may be a log
 * all the same whose first lines are longer: there is hardly a line in it, and it
 * is text, or zeros that may stand before text.
 */
bool noevidence_is_open(struct sv head);

#endif
