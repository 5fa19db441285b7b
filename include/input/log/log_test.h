/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_TEST_H
#define AFTERSHOCK_INPUT_LOG_TEST_H

/* What "rules test" does: lines tried as a log is read, through whatever is wrapped around them. */

#include <stdio.h>

#include "input/rules/rules.h"

/*
 * For each record of in: its layout, rule and events, or that no rule knows it.
 * Lines that belong to no record are tried as messages alone, as people paste
 * them. 0, or -1 when in or out failed.
 */
int log_test(const struct rules *r, FILE *in, FILE *out);

#endif
