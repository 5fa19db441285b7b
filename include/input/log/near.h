/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_NEAR_H
#define AFTERSHOCK_INPUT_LOG_NEAR_H

/*
 * Words that only consumer groups have. A record that has one and that no rule
 * knows is not noise like the rest: it may be a message that the rules should
 * have known.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/sv.h"

#define NEAR_WORDS 23
extern const struct sv near_words[NEAR_WORDS];

/* Whether one of them stands in a message. */
bool near_miss(struct sv message);

#endif
