/* SPDX-License-Identifier: MIT */
/* Live packets, through libpcap, into a ring of files. See cli/probe.h. */

#include "cli/probe.h"

#include <inttypes.h>
#include <pcap/pcap.h>
#include <poll.h>

#include "cli/probe_ring.h"

/* The kernel hands packets over so late at most: a wake-up for each would cost more than the packets. */
#define HAND_OVER_MS 200
/* What the kernel keeps meanwhile: at 200 bytes a packet some 100,000 packets a second. */
#define KERNEL_BUFFER_BYTES (8 * 1024 * 1024)
/* So many at once, then the counters have their turn. */
#define PACKETS_AT_ONCE 8192

struct probe_capture {
	pcap_t *live;		/* NULL: it has failed */
	struct probe_ring ring;
	struct diag *d;		/* of the call at hand, for libpcap's callback */
	bool ring_failed;
	uint64_t packets;
	struct pcap_stat seen;
};

static int fail(struct probe_capture *c, struct diag *d, const char *interface, const char *why)
{
	diag_add(d, SEVERITY_ERROR, "probe.capture", NULL, "packets of %s cannot be captured: %s", interface, why);
	probe_capture_close(c);
	return -1;
}

static const char *set_up(pcap_t *p, const struct probe_options *o)
{
	/* Not promiscuous: what is not for this host is no evidence of it. */
	if (pcap_set_snaplen(p, (int)o->snap_bytes) != 0 || pcap_set_promisc(p, 0) != 0 ||
	    pcap_set_timeout(p, HAND_OVER_MS) != 0 || pcap_set_buffer_size(p, KERNEL_BUFFER_BYTES) != 0)
		return pcap_geterr(p);
	int rc = pcap_activate(p);
	if (rc < 0)
		return pcap_geterr(p)[0] != '\0' ? pcap_geterr(p) : pcap_statustostr(rc);
	return NULL;
}

static const char *set_filter(pcap_t *p, const char *filter)
{
	struct bpf_program program;

	if (filter == NULL)
		return NULL;
	if (pcap_compile(p, &program, filter, 1, PCAP_NETMASK_UNKNOWN) != 0)
		return pcap_geterr(p);
	int rc = pcap_setfilter(p, &program);
	pcap_freecode(&program);
	return rc != 0 ? pcap_geterr(p) : NULL;
}

/* Files number link types as libpcap does, but for raw IP, whose number differs by system (LINKTYPE_RAW). */
static uint32_t link_type_of(pcap_t *p)
{
	int dlt = pcap_datalink(p);

	return dlt == DLT_RAW ? 101 : (uint32_t)dlt;
}

struct probe_capture *probe_capture_open(const struct probe_options *o, const char *output, struct arena *run, struct diag *d)
{
	struct probe_capture *c = arena_alloc(run, sizeof *c);
	char error[PCAP_ERRBUF_SIZE] = "";
	const char *why = error;

	c->live = pcap_create(o->interface, error);
	if (c->live != NULL)
		why = set_up(c->live, o);
	if (c->live != NULL && why == NULL)
		why = set_filter(c->live, o->filter);
	if (c->live != NULL && why == NULL && pcap_setnonblock(c->live, 1, error) != 0)
		why = error;
	if (why != NULL) {
		(void)fail(c, d, o->interface, why);
		return NULL;
	}
	struct probe_ring_options ring = {
		.prefix = output,
		.files = (unsigned)o->capture_files,
		.file_bytes = o->capture_bytes,
		.snap_bytes = (uint32_t)pcap_snapshot(c->live),
		.link_type = link_type_of(c->live),
	};
	if (probe_ring_open(&c->ring, &ring, run, d) < 0) {
		probe_capture_close(c);
		return NULL;
	}
	return c;
}

int probe_capture_fd(const struct probe_capture *c)
{
	return c->live != NULL ? pcap_get_selectable_fd(c->live) : -1;
}

static void take_packet(u_char *context, const struct pcap_pkthdr *h, const u_char *bytes)
{
	struct probe_capture *c = (struct probe_capture *)(void *)context;
	const struct probe_packet p = {
		.time_us = (int64_t)h->ts.tv_sec * US_PER_S + h->ts.tv_usec,
		.bytes = bytes,
		.captured = h->caplen,
		.length = h->len,
	};

	c->packets++;
	if (!c->ring_failed && probe_ring_add(&c->ring, &p, c->d) < 0)
		c->ring_failed = true;
}

int probe_capture_take(struct probe_capture *c, struct diag *d)
{
	if (c->live == NULL)
		return 0;
	c->d = d;
	int taken = pcap_dispatch(c->live, PACKETS_AT_ONCE, take_packet, (u_char *)c);
	if (!c->ring_failed && probe_ring_flush(&c->ring, d) < 0)
		c->ring_failed = true;
	if (taken < 0) {
		diag_add(d, SEVERITY_ERROR, "probe.capture", NULL, "the capture has ended, counters go on: %s",
			 pcap_geterr(c->live));
		pcap_close(c->live);
		c->live = NULL;
	}
	return c->ring_failed ? -1 : 0;
}

int probe_capture_finish(struct probe_capture *c, struct diag *d)
{
	struct pollfd wait = { .fd = probe_capture_fd(c), .events = POLLIN };

	if (wait.fd >= 0)
		(void)poll(&wait, 1, HAND_OVER_MS);
	return probe_capture_take(c, d);
}

void probe_capture_append(struct probe_capture *c, struct buf *sample)
{
	if (c->live != NULL)
		(void)pcap_stats(c->live, &c->seen);
	buf_printf(sample, "# capture: %" PRIu64 " packets written, %u dropped by the kernel, %u by the interface%s\n",
		   c->packets, c->seen.ps_drop, c->seen.ps_ifdrop, c->live == NULL ? "; ended" : "");
}

void probe_capture_close(struct probe_capture *c)
{
	if (c == NULL)
		return;
	if (c->live != NULL)
		pcap_close(c->live);
	c->live = NULL;
	probe_ring_close(&c->ring);
}
