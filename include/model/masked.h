/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_MODEL_MASKED_H
#define AFTERSHOCK_MODEL_MASKED_H

/*
 * Identifiers that were made unreadable before the evidence was handed on: "***",
 * "c-1-****", "c-1-4bba...", "<redacted>". Two that look alike need not be the
 * same, so such an identifier is not known.
 */

#include "model/event.h"

bool masked_is(struct sv text);

/*
 * Takes the masked identifiers out of an event: what tells whom or what it is
 * about, not the group's name, of which there is one for many. One that the event
 * requires becomes empty: it is said, and not known. *first is a field that was
 * masked. False when none was.
 */
bool masked_forget(struct event *e, enum event_field *first);

#endif
