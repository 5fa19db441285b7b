/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_CLI_PROBE_SOURCES_H
#define AFTERSHOCK_CLI_PROBE_SOURCES_H

/*
 * The kernel's counters that a probe records. Each is opened once, before
 * privileges are dropped, and read from its start for every sample: opening is
 * what costs, and what is not allowed later.
 */

#include "base/arena.h"
#include "base/buf.h"

struct probe_source {
	const char *path;
	const char *says;	/* what will not be seen without it */
	int fd;			/* -1: it cannot be read */
	int error;		/* errno, while it cannot */
};

struct probe_sources {
	struct probe_source *items;
	size_t count, capacity;
};

/* cgroup: the directory of the control group to watch; NULL: the one that this system or container stands in. */
void probe_sources_open(struct probe_sources *s, const char *cgroup, struct arena *a);
/* Tries once more those that could not be opened: a module may have been loaded since. */
void probe_sources_retry(struct probe_sources *s);
void probe_sources_close(struct probe_sources *s);

/*
 * Each source as "==> PATH <==" and its bytes, which end with a line end. One
 * that fails is said to in a comment, once.
 */
void probe_sources_append(struct probe_sources *s, struct buf *sample);

/* The same of any one file descriptor, for which path is but a name. 0, or an errno. */
int probe_source_append(const char *path, int fd, struct buf *sample);

#endif
