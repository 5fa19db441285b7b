/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_CLI_PROBE_USER_H
#define AFTERSHOCK_CLI_PROBE_USER_H

#include "base/diag.h"

/*
 * Gives up all privileges for good, once everything is open: root becomes the
 * user (NULL: nobody), and capabilities of the program's file are dropped. It is
 * verified that there is no way back. Who is not root stays who he is. 0, or -1
 * (recorded): then the caller must not go on.
 */
int probe_user_drop(const char *user, struct diag *d);

#endif
