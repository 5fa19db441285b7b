/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_BASE_ZONE_PLACE_H
#define AFTERSHOCK_BASE_ZONE_PLACE_H

/* What zone.c asks of the rules of a place. */

#include <stdbool.h>
#include <stdint.h>

#include "base/sv.h"

struct zone_rules;

struct sv zone_place_name(const struct zone_rules *r);
int32_t zone_place_offset_at(const struct zone_rules *r, int64_t utc_s);
bool zone_place_abbreviation(const struct zone_rules *r, struct sv name, int32_t *offset_s);

#endif
