/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_OWN_ADDRESS_H
#define AFTERSHOCK_ANALYSIS_OWN_ADDRESS_H

/*
 * Which address is whose: a host's own address is the one that its capture
 * shows in nearly all connections.
 */

#include "base/arena.h"
#include "store/store.h"

struct own_addresses;

/* 0 or -1. */
int own_addresses_find(struct store *s, struct arena *a, struct own_addresses **out);
/* Absent when it is not known. */
struct sv own_address_of(const struct own_addresses *all, struct sv host);
/* The host whose own address it is; absent when there is none, or when two share it (loopback, bridges). */
struct sv own_address_owner(const struct own_addresses *all, struct sv address);
/* Whether the host is called more often than it calls, or its address is not known. */
bool own_address_is_called(const struct own_addresses *all, struct sv host);

#endif
