/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_CLI_PROBE_H
#define AFTERSHOCK_CLI_PROBE_H

/*
 * The recorder: counters of this host at a fixed rate, and packets if asked.
 *
 * The file is text, since that is what people record themselves and can read:
 * a comment that names the host, then for every sample a line with the time (RFC
 * 3339, UTC, microseconds) and each source as "==> PATH <==" and its bytes. Packets
 * go into a ring of pcap files beside it, which bounds what they take of the
 * disk while the counters are kept whole; the file names them.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "cli/probe_sockets.h"

struct probe_options {
	int64_t interval_us;		/* --interval, 1 s */
	bool has_duration;
	int64_t duration_us;		/* --duration; else until interrupted */
	const char *cgroup;		/* --cgroup; NULL: that of this system or container */
	struct probe_ports ports;	/* --ports: of connections to record */
	const char *user;		/* --user; NULL: nobody, when root */
	const char *interface;		/* --capture; NULL: no packets */
	const char *filter;		/* --filter; NULL: all packets */
	int64_t snap_bytes;		/* --snaplen, 200 */
	int64_t capture_bytes;		/* --capture-size, of one file */
	int64_t capture_files;		/* --capture-files */
};

struct probe_options probe_options_default(void);

/* Until interrupted. say: what is recorded, and what cannot be, to standard error. 0, or -1 (recorded). */
int probe_run(const struct probe_options *o, const char *output, bool say, struct arena *run, struct diag *d);

/* ---- packets, for probe_run alone ---- */

struct probe_capture;

/* Opens the interface and the ring beside output. NULL: failed (recorded). */
struct probe_capture *probe_capture_open(const struct probe_options *o, const char *output, struct arena *run, struct diag *d);
/* Poll it for input; -1 when it has failed. */
int probe_capture_fd(const struct probe_capture *c);
/* Writes the packets that wait. 0, or -1 when the ring cannot be written; an interface that fails is recorded and left. */
int probe_capture_take(struct probe_capture *c, struct diag *d);
/* What it has seen so far, as a comment line. */
void probe_capture_append(struct probe_capture *c, struct buf *sample);
/* The last packets, for which the kernel is waited for a little. 0, or -1 as before. */
int probe_capture_finish(struct probe_capture *c, struct diag *d);
/* Accepts NULL. */
void probe_capture_close(struct probe_capture *c);

#endif
