/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_BASE_MEMORY_H
#define AFTERSHOCK_BASE_MEMORY_H

/* What every place that allocates does when there is no memory: one line on standard error, and the end. */

_Noreturn void memory_exhausted(void);
/* What malloc, calloc, realloc or the like gave; does not return when it is NULL. */
void *memory_checked(void *p) __attribute__((returns_nonnull));

#endif
