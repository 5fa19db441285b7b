/* SPDX-License-Identifier: MIT */
/* The counters of this host, read again and again. See cli/probe_sources.h; what each says: method.md 3. */

#include "cli/probe_sources.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATHS_MAX 3

/* Of several paths the first that can be read counts: the versions of control groups name one file differently. */
static const struct {
	const char *paths[PATHS_MAX];
	const char *says;
} system_sources[] = {
	{ { "/proc/net/softnet_stat" }, "packets that the kernel received and lost" },
	{ { "/proc/net/stat/nf_conntrack" }, "packets refused by connection tracking" },
	{ { "/proc/sys/net/netfilter/nf_conntrack_count" }, "how full the connection table is" },
	{ { "/proc/sys/net/netfilter/nf_conntrack_max" }, "how full the connection table may be" },
	{ { "/proc/net/snmp" }, "segments sent again" },
	{ { "/proc/net/netstat" }, "timeouts of TCP" },
	{ { "/proc/net/dev" }, "errors and drops of interfaces" },
	{ { "/proc/pressure/cpu" }, "waiting for a processor" },
	{ { "/proc/pressure/io" }, "waiting for disks" },
	{ { "/proc/pressure/memory" }, "waiting for memory" },
};

static const struct {
	const char *paths[PATHS_MAX];
	const char *says;
} cgroup_sources[] = {
	{ { "/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat", "/sys/fs/cgroup/cpu,cpuacct/cpu.stat" },
	  "processor time withheld by the control group" },
	{ { "/sys/fs/cgroup/cpu.pressure" }, "waiting for a processor in the control group" },
};

/* A node of many containers has an interface for each. */
#define INTERFACES_MAX 64

#define COUNT_OF(a) (sizeof(a) / sizeof(a)[0])

/* More than the kernel gives of the longest, softnet_stat with 8192 CPUs of 15 columns. */
#define SOURCE_BYTES_MAX (2 * 1024 * 1024)
/* The kernel fills a page at a time for tables of rows, and all that fits for the others. */
#define BLOCK_BYTES 65536

/* ---- one source ---- */

/* A table is given in pieces, each from where the last ended; sequential offsets cost no second walk. */
static int read_whole(int fd, struct buf *to)
{
	char block[BLOCK_BYTES];
	size_t total = 0;

	for (;;) {
		ssize_t n = pread(fd, block, sizeof block, (off_t)total);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0)
			return 0;
		buf_add(to, (struct sv){ block, (size_t)n });
		total += (size_t)n;
		if (total > SOURCE_BYTES_MAX)
			return EFBIG;
	}
}

int probe_source_append(const char *path, int fd, struct buf *sample)
{
	size_t before = sample->n;

	buf_printf(sample, "==> %s <==\n", path);
	int error = read_whole(fd, sample);
	if (error != 0)
		sample->n = before;
	else if (sample->p[sample->n - 1] != '\n')
		buf_add_char(sample, '\n');
	return error;
}

static void fail(struct probe_source *s, int error)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->error = error;
}

/* Some can be opened and not read (/proc/pressure without psi=1): so a trial. */
static void open_source(struct probe_source *s)
{
	char byte;

	s->fd = open(s->path, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0 || pread(s->fd, &byte, 1, 0) < 0)
		fail(s, errno);
	else
		s->error = 0;
}

/* ---- all sources ---- */

static void add(struct probe_sources *s, struct arena *a, const char *const *paths, const char *says)
{
	struct probe_source found = { 0 };

	for (size_t i = 0; i < PATHS_MAX && paths[i] != NULL; i++) {
		struct probe_source this = { .path = paths[i], .says = says };
		open_source(&this);
		if (i == 0 || this.fd >= 0)
			found = this;
		if (this.fd >= 0)
			break;
	}
	*ARENA_PUSH(a, s->items, s->count, s->capacity) = found;
}

static void add_cgroup(struct probe_sources *s, struct arena *a, const char *directory)
{
	const char *const stat[PATHS_MAX] = { arena_printf(a, "%s/cpu.stat", directory).p };
	const char *const pressure[PATHS_MAX] = { arena_printf(a, "%s/cpu.pressure", directory).p };

	add(s, a, stat, "processor time withheld by the control group");
	add(s, a, pressure, "waiting for a processor in the control group");
}

/* "." and "..", and what hides. */
static int is_name(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

/* How often each link has gone down or come up. Those made later are not seen. */
static void add_interfaces(struct probe_sources *s, struct arena *a)
{
	struct dirent **names = NULL;
	int n = scandir("/sys/class/net", &names, is_name, alphasort);

	for (int i = 0; i < n; i++) {
		const char *const paths[PATHS_MAX] = {
			arena_printf(a, "/sys/class/net/%s/carrier_changes", names[i]->d_name).p
		};
		if (i < INTERFACES_MAX)
			add(s, a, paths, "links that go down and up");
		free(names[i]);
	}
	free(names);
}

void probe_sources_open(struct probe_sources *s, const char *cgroup, struct arena *a)
{
	*s = (struct probe_sources){ 0 };
	for (size_t i = 0; i < COUNT_OF(system_sources); i++)
		add(s, a, system_sources[i].paths, system_sources[i].says);
	add_interfaces(s, a);
	if (cgroup != NULL) {
		add_cgroup(s, a, cgroup);
		return;
	}
	for (size_t i = 0; i < COUNT_OF(cgroup_sources); i++)
		add(s, a, cgroup_sources[i].paths, cgroup_sources[i].says);
}

void probe_sources_retry(struct probe_sources *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->items[i].fd < 0)
			open_source(&s->items[i]);
}

void probe_sources_close(struct probe_sources *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->items[i].fd >= 0)
			close(s->items[i].fd);
	s->count = 0;
}

void probe_sources_append(struct probe_sources *s, struct buf *sample)
{
	for (size_t i = 0; i < s->count; i++) {
		struct probe_source *source = &s->items[i];
		if (source->fd < 0)
			continue;
		int error = probe_source_append(source->path, source->fd, sample);
		if (error == 0)
			continue;
		buf_printf(sample, "# %s can no longer be read: %s\n", source->path, strerror(error));
		fail(source, error);
	}
}
