/* SPDX-License-Identifier: MIT */
/*
 * Has the kernel write ahead what an input has put into the file so far. A
 * commit waits until all of it is on the disk; left alone, Linux begins with it
 * only then, and the program stands still for as long as a tenth of the time
 * that the reading of a large log takes. This promises nothing: that a commit
 * is on the disk is for SQLite to see to, and it does; for a file that is new,
 * store_ahead_finish does (store.c).
 */

#define _GNU_SOURCE /* sync_file_range */

#include <fcntl.h>
#include <unistd.h>

#include "store/handle.h"

/* Of events: enough that asking costs nothing, little enough that little is left at the end. */
#define AHEAD_BYTES ((uint64_t)4 * 1024 * 1024)

/*
 * A descriptor of its own, since SQLite shows none. POSIX drops the locks of a
 * process on a file when it closes any descriptor of it, so this one is closed
 * after SQLite's.
 */
void store_ahead_open(struct store *s)
{
	s->ahead = open(s->path, O_RDONLY | O_CLOEXEC);
}

int store_ahead_finish(struct store *s)
{
	return fdatasync(s->ahead);
}

void store_ahead_close(struct store *s)
{
	if (s->ahead >= 0)
		close(s->ahead);
}

void store_ahead(struct store *s, uint64_t bytes)
{
	s->ahead_bytes += bytes;
	if (s->ahead < 0 || s->ahead_bytes < AHEAD_BYTES)
		return;
	s->ahead_bytes = 0;
#ifdef __linux__
	(void)sync_file_range(s->ahead, 0, 0, SYNC_FILE_RANGE_WRITE);
#endif
}
