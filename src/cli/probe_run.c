/* SPDX-License-Identifier: MIT */
/*
 * The loop of the recorder: one thread that waits for its timer, for packets,
 * and for the signal that ends it. See cli/probe.h.
 *
 * The timer is an absolute, periodic one on the monotonic clock, as
 * clock_nanosleep(TIMER_ABSTIME) would be, but it can be waited for together
 * with packets, and it counts the ticks that were missed: samples do not drift,
 * a late one is late and is not made up for, and a missed one is written down.
 */

#include "cli/probe.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/probe_file.h"
#include "cli/probe_sources.h"
#include "cli/probe_user.h"
#include "report/report.h"	/* the version */

/* What could not be opened is tried again that often: connection tracking comes with its first rule. */
#define RETRY_EVERY_S 60
/* Two clocks of one machine run apart by less between two samples; more is a clock that was set. */
#define CLOCK_SET_US (50 * US_PER_MS)

struct probe {
	const struct probe_options *o;
	struct diag *d;
	struct probe_file file;
	struct probe_sources sources;
	struct probe_sockets sockets;
	struct probe_capture *capture;	/* NULL: none was asked for */
	int timer, signals;
	struct buf sample;
	int64_t begun_us, retried_us;	/* monotonic */
	int64_t ahead_us;		/* wall clock less time since boot, at the sample before */
	uint64_t samples, missed;
};

struct probe_options probe_options_default(void)
{
	return (struct probe_options){
		.interval_us = US_PER_S,
		.snap_bytes = 200, /* link, IP and TCP headers with all options, and the head of a Kafka request */
		.capture_bytes = 64 * 1024 * 1024,
		.capture_files = 16, /* of 64 MiB: 1 GiB, some 80 minutes at 1000 packets a second */
	};
}

static int64_t now_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * US_PER_S + t.tv_nsec / 1000;
}

/* ---- what is written ---- */

/* The first line of a file of the kernel's, without its end; empty when it cannot be read. */
static void read_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "r");

	line[0] = '\0';
	if (f == NULL)
		return;
	if (fgets(line, (int)size, f) == NULL)
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	fclose(f);
}

/* host= is what an input's host is taken from when nothing else names it. */
static void begin_text(struct buf *b, const struct probe *p)
{
	struct utsname u;
	char boot[64];

	if (uname(&u) != 0)
		memset(&u, 0, sizeof u);
	read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
	buf_printf(b, PROBE_SIGNATURE AFTERSHOCK_VERSION " host=%s interval_ms=%" PRId64 " boot=%s kernel=%s\n", u.nodename,
		   p->o->interval_us / US_PER_MS, boot[0] != '\0' ? boot : "unknown", u.release);
	for (size_t i = 0; i < p->sources.count; i++)
		if (p->sources.items[i].fd < 0)
			buf_printf(b, "# not read: %s: %s\n", p->sources.items[i].path, strerror(p->sources.items[i].error));
	if (p->sockets.fd < 0)
		buf_printf(b, "# not read: connections: %s\n", strerror(p->sockets.error));
	if (p->capture != NULL)
		buf_printf(b,
			   "# capture of %s: %s.0.pcap to .%" PRId64 ".pcap, a ring; %" PRId64 " bytes each, %" PRId64
			   " of a packet, %s%s\n",
			   p->o->interface, p->file.path, p->o->capture_files - 1, p->o->capture_bytes, p->o->snap_bytes,
			   p->o->filter != NULL ? "filter " : "no filter", p->o->filter != NULL ? p->o->filter : "");
}

/* The times at which the wall clock was set are evidence as well (method.md 2). */
static void append_clock(struct probe *p)
{
	int64_t wall_us = now_us(CLOCK_REALTIME), ahead_us = wall_us - now_us(CLOCK_BOOTTIME);
	int64_t set_us = ahead_us - p->ahead_us;

	tstamp_format(&p->sample, wall_us);
	buf_add_char(&p->sample, '\n');
	if (p->samples > 0 && (set_us > CLOCK_SET_US || set_us < -CLOCK_SET_US))
		buf_printf(&p->sample, "# the clock was set by %+" PRId64 " us since the sample before\n", set_us);
	p->ahead_us = ahead_us;
}

static int take_sample(struct probe *p, uint64_t missed)
{
	buf_clear(&p->sample);
	append_clock(p);
	if (missed > 0)
		buf_printf(&p->sample, "# %" PRIu64 " samples were missed before this one\n", missed);
	if (p->capture != NULL)
		probe_capture_append(p->capture, &p->sample);
	probe_sources_append(&p->sources, &p->sample);
	probe_sockets_append(&p->sockets, &p->sample);
	p->samples++;
	p->missed += missed;
	return probe_file_write(&p->file, buf_sv(&p->sample), p->d);
}

/* Tells a probe that was ended from one that was killed. */
static int end_text(struct probe *p)
{
	buf_clear(&p->sample);
	if (p->capture != NULL)
		probe_capture_append(p->capture, &p->sample);
	buf_printf(&p->sample, "# ended: %" PRIu64 " samples, %" PRIu64 " missed\n", p->samples, p->missed);
	return probe_file_write(&p->file, buf_sv(&p->sample), p->d);
}

/* ---- the loop ---- */

static int fail(struct probe *p, const char *what)
{
	diag_add(p->d, SEVERITY_ERROR, "probe.system", NULL, "%s: %s", what, strerror(errno));
	return -1;
}

static struct timespec timespec_of(int64_t us)
{
	return (struct timespec){ .tv_sec = us / US_PER_S, .tv_nsec = us % US_PER_S * 1000 };
}

static int start_timer(struct probe *p)
{
	p->begun_us = p->retried_us = now_us(CLOCK_MONOTONIC);
	const struct itimerspec when = { timespec_of(p->o->interval_us), timespec_of(p->begun_us + p->o->interval_us) };

	p->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (p->timer < 0 || timerfd_settime(p->timer, TFD_TIMER_ABSTIME, &when, NULL) != 0)
		return fail(p, "no timer");
	return 0;
}

/* Blocked signals would be read also when they are to be ignored. */
static bool is_ignored(int signal_number)
{
	struct sigaction now;

	return sigaction(signal_number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

/* From here on the signals that end a probe are read, not delivered: nothing is cut off. */
static int start_signals(struct probe *p)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	if (!is_ignored(SIGHUP)) /* nohup */
		sigaddset(&ends, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &ends, NULL) != 0)
		return fail(p, "signals");
	p->signals = signalfd(-1, &ends, SFD_NONBLOCK | SFD_CLOEXEC);
	return p->signals < 0 ? fail(p, "signals") : 0;
}

static bool is_over(const struct probe *p)
{
	return p->o->has_duration && now_us(CLOCK_MONOTONIC) - p->begun_us >= p->o->duration_us;
}

static void retry_sources(struct probe *p)
{
	int64_t now = now_us(CLOCK_MONOTONIC);

	if (now - p->retried_us < RETRY_EVERY_S * US_PER_S)
		return;
	probe_sources_retry(&p->sources);
	if (p->sockets.fd < 0)
		probe_sockets_open(&p->sockets, &p->o->ports);
	p->retried_us = now;
}

/* 1: a sample was taken; 0: it was not time; -1. */
static int take_tick(struct probe *p)
{
	uint64_t ticks;

	if (read(p->timer, &ticks, sizeof ticks) != (ssize_t)sizeof ticks)
		return errno == EAGAIN || errno == EINTR ? 0 : fail(p, "timer");
	retry_sources(p);
	return take_sample(p, ticks - 1) < 0 ? -1 : 1;
}

/* Until a signal, with a last sample of what grew since the one before, or the end of the duration. */
static int loop(struct probe *p)
{
	struct pollfd wait[] = {
		{ .fd = p->signals, .events = POLLIN },
		{ .fd = p->timer, .events = POLLIN },
		{ .fd = -1, .events = POLLIN },
	};

	for (;;) {
		wait[2].fd = p->capture != NULL ? probe_capture_fd(p->capture) : -1;
		if (poll(wait, sizeof wait / sizeof wait[0], -1) < 0) {
			if (errno == EINTR)
				continue;
			return fail(p, "poll");
		}
		if (wait[2].fd >= 0 && wait[2].revents != 0 && probe_capture_take(p->capture, p->d) < 0)
			return -1;
		if (wait[0].revents != 0)
			return take_sample(p, 0);
		int taken = take_tick(p);
		if (taken < 0)
			return -1;
		if (taken == 1 && is_over(p))
			return 0;
	}
}

/* ---- before and after ---- */

static void say_beginning(const struct probe *p)
{
	size_t readable = 0;

	for (size_t i = 0; i < p->sources.count; i++) {
		const struct probe_source *s = &p->sources.items[i];
		readable += s->fd >= 0;
		if (s->fd < 0)
			fprintf(stderr, "aftershock: %s cannot be read (%s): not recorded: %s\n", s->path, strerror(s->error),
				s->says);
	}
	if (p->sockets.fd < 0)
		fprintf(stderr, "aftershock: connections cannot be listed (%s): not recorded: which of them stall\n",
			strerror(p->sockets.error));
	fprintf(stderr, "aftershock: recording %zu sources every %" PRId64 " ms to %s%s%s; interrupt it to end\n", readable,
		p->o->interval_us / US_PER_MS, p->file.path, p->capture != NULL ? ", and packets of " : "",
		p->capture != NULL ? p->o->interface : "");
}

static int64_t cpu_us(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u) != 0)
		return 0;
	return ((int64_t)u.ru_utime.tv_sec + u.ru_stime.tv_sec) * US_PER_S + u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

static void say_end(const struct probe *p)
{
	int64_t lasted_us = now_us(CLOCK_MONOTONIC) - p->begun_us;

	fprintf(stderr, "aftershock: %" PRIu64 " samples, %" PRIu64 " missed; %.3f %% of one core\n", p->samples, p->missed,
		lasted_us > 0 ? 100.0 * (double)cpu_us() / (double)lasted_us : 0.0);
}

/* Everything that needs privileges, then their end. */
static int open_all(struct probe *p, const char *output, struct arena *run)
{
	probe_sources_open(&p->sources, p->o->cgroup, run);
	probe_sockets_open(&p->sockets, &p->o->ports);
	if (probe_file_open(&p->file, output, p->d) < 0)
		return -1;
	if (p->o->interface != NULL) {
		p->capture = probe_capture_open(p->o, output, run, p->d);
		if (p->capture == NULL)
			return -1;
	}
	return probe_user_drop(p->o->user, p->d);
}

static int begin(struct probe *p)
{
	begin_text(&p->sample, p);
	if (start_signals(p) < 0 || start_timer(p) < 0)
		return -1;
	return probe_file_write(&p->file, buf_sv(&p->sample), p->d) < 0 ? -1 : take_sample(p, 0);
}

int probe_run(const struct probe_options *o, const char *output, bool say, struct arena *run, struct diag *d)
{
	struct probe p = { .o = o, .d = d, .file = { .fd = -1 }, .sockets = { .fd = -1 }, .timer = -1, .signals = -1 };
	int rc = open_all(&p, output, run);

	buf_init(&p.sample);
	if (rc == 0 && say)
		say_beginning(&p);
	if (rc == 0)
		rc = begin(&p);
	if (rc == 0)
		rc = loop(&p);
	if (rc == 0 && p.capture != NULL)
		rc = probe_capture_finish(p.capture, d);
	if (rc == 0)
		rc = end_text(&p);
	if (say && p.samples > 0)
		say_end(&p);
	if (probe_file_close(&p.file, d) < 0)
		rc = -1;
	probe_capture_close(p.capture);
	probe_sources_close(&p.sources);
	probe_sockets_close(&p.sockets);
	if (p.timer >= 0)
		close(p.timer);
	if (p.signals >= 0)
		close(p.signals);
	buf_fini(&p.sample);
	return rc;
}
