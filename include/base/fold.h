/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_BASE_FOLD_H
#define AFTERSHOCK_BASE_FOLD_H

/*
 * A number of 64 bits that stands for bytes, some twenty times as fast as
 * base/digest.h and the same on every machine. Two texts share theirs by chance
 * once in 2^64; who knows this file can make two that do. So it may say that
 * two log lines are one, and it may place texts in a table, but it is no proof
 * of what a file holds.
 */

#include <stddef.h>
#include <stdint.h>

/* Of n bytes that follow what start stands for; start is any number, and another gives another result. */
uint64_t fold_bytes(uint64_t start, const void *bytes, size_t n);
/* The same of one number. */
uint64_t fold_number(uint64_t start, uint64_t number);

#endif
