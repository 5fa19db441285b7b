/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_SPOOL_H
#define AFTERSHOCK_INPUT_SPOOL_H

/* Standard input and pipes, kept in a temporary file, since an input's digest is wanted before it is read. */

#include "base/diag.h"

/*
 * Copies all that from gives to a new file without a name in $TMPDIR, or /tmp,
 * and gives its descriptor, at its start. -1 when it cannot be written or would
 * fill the disk, or from cannot be read: recorded.
 */
int spool(int from, struct diag *diag);

#endif
