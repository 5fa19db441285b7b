/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_CLI_PROBE_FILE_H
#define AFTERSHOCK_CLI_PROBE_FILE_H

/*
 * The file of samples. Samples are appended, each with one write, so that a
 * probe that is killed leaves all but the one it was writing, and one that is
 * started again loses nothing of before.
 */

#include "base/diag.h"

/* With this the file begins, and each start of a probe in it. */
#define PROBE_SIGNATURE "# aftershock probe "

struct probe_file {
	int fd;			/* -1: not open */
	const char *path;
	bool is_regular;
	int64_t size_bytes;	/* of a regular one: of what is whole */
};

/*
 * path "-" is standard output. A file that is there must be empty or a
 * probe's: nothing is appended to other evidence. 0, or -1 (recorded).
 */
int probe_file_open(struct probe_file *f, const char *path, struct diag *d);
/* All of the bytes or, where they can be taken back, none. 0, or -1 (recorded). */
int probe_file_write(struct probe_file *f, struct sv bytes, struct diag *d);
/* Tells what the system held back until now. 0, or -1 (recorded). */
int probe_file_close(struct probe_file *f, struct diag *d);

#endif
