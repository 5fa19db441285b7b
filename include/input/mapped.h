/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_MAPPED_H
#define AFTERSHOCK_INPUT_MAPPED_H

/*
 * The bytes of a file where they lie in the kernel's cache: for readers that
 * look at few of them, to whom copying costs more than all else.
 *
 * A file may be cut short by somebody else while it is looked at, or a disk
 * may fail: then the kernel has no bytes to show and sends SIGBUS. What cannot
 * be shown, and all behind it, is zeros from then on, and the file counts as
 * lost. The handler stands from mapped_new to mapped_free; of other causes it
 * keeps its hands. One file at a time is mapped.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct mapped;

/* n bytes of the file from its start on. NULL when they cannot be mapped: then they are to be read. It lives as long as the arena. */
struct mapped *mapped_new(struct arena *a, int fd, uint64_t n);
const uint8_t *mapped_bytes(const struct mapped *m);
size_t mapped_size(const struct mapped *m);
/* Whether some bytes that were looked at were none. Asked after looking, by any thread. */
bool mapped_is_lost(const struct mapped *m);
/* All of those before will be looked at, and soon: the kernel is asked for many at once. By any thread. */
void mapped_expect(struct mapped *m, size_t before);
/* Those before are not looked at again, and take no memory. By any thread. */
void mapped_pass(struct mapped *m, size_t before);
/* No byte is looked at after it; whether some were lost can be asked. Accepts NULL. */
void mapped_free(struct mapped *m);

#endif
