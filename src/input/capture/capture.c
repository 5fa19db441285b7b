/* SPDX-License-Identifier: MIT */
/*
 * kind: packet captures. Reads pcap and pcapng through libpcap out of a stream,
 * decodes each packet (packet.h), gives its segment to tcp (tcp.h), and says
 * which time the capture covers (method.md 1) and where it has holes
 * (method.md 3).
 */

#define _GNU_SOURCE	/* fopencookie */

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>

#include "input/kind.h"
#include "input/capture/packet.h"
#include "input/capture/tcp.h"

/* libpcap reads through stdio; its usual 4 KiB cost a call for every few packets. */
#define BUFFER_BYTES (256 * 1024)

/* Times of several queues or CPUs interleave by far less than this; a step of more is another capture or a set clock. */
#define STEP_BACK_US (1 * US_PER_S)
/*
 * After a silence of all packets for longer than this it is asked whether
 * connections go on where they stood. Silence alone is no hole: a paused or an
 * idle host records nothing either.
 */
#define SILENCE_US (2 * US_PER_S)
/*
 * A silence that nothing can be said about (the next segment is of no known
 * connection) is taken for a hole when it is longer than TCP waits at most
 * before it sends again (Linux: TCP_RTO_MAX, 120 s): merged files, mostly.
 */
#define SILENCE_UNEXPLAINED_US (130 * US_PER_S)
/* 2100-01-01: beyond is a damaged record. */
#define TIME_MOST_S INT64_C(4102444800)

/* ---- formats and link types ---- */

/* First bytes as they stand in the file; record headers of 0 bytes: not known, so that no offset can be told. */
static const struct format {
	uint8_t magic[4];
	const char *name;
	uint8_t file_header_bytes, record_header_bytes;
} formats[] = {
	{ { 0xa1, 0xb2, 0xc3, 0xd4 }, "pcap", 24, 16 },		/* microseconds, big-endian */
	{ { 0xd4, 0xc3, 0xb2, 0xa1 }, "pcap", 24, 16 },		/* little-endian */
	{ { 0xa1, 0xb2, 0x3c, 0x4d }, "pcap", 24, 16 },		/* nanoseconds */
	{ { 0x4d, 0x3c, 0xb2, 0xa1 }, "pcap", 24, 16 },
	{ { 0xa1, 0xb2, 0xcd, 0x34 }, "pcap", 24, 24 },		/* Kuznetzov's patch, 1990s */
	{ { 0x34, 0xcd, 0xb2, 0xa1 }, "pcap", 24, 24 },
	{ { 0x0a, 0x0d, 0x0d, 0x0a }, "pcapng", 28, 0 },
};
#define FORMAT_COUNT (sizeof formats / sizeof formats[0])

static const struct {
	int dlt;
	enum packet_link link;
} link_types[] = {
	{ DLT_EN10MB, PACKET_ETHERNET },
	{ DLT_LINUX_SLL, PACKET_SLL },
	{ DLT_LINUX_SLL2, PACKET_SLL2 },
	{ DLT_RAW, PACKET_RAW },
	{ DLT_IPV4, PACKET_RAW },
	{ DLT_IPV6, PACKET_RAW },
	{ DLT_NULL, PACKET_FAMILY },
	{ DLT_LOOP, PACKET_FAMILY },
};

static const struct format *format_of(struct sv head)
{
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		if (head.n >= 4 && memcmp(head.p, formats[i].magic, 4) == 0)
			return &formats[i];
	return NULL;
}

static bool link_of(int dlt, enum packet_link *out)
{
	for (size_t i = 0; i < sizeof link_types / sizeof link_types[0]; i++) {
		if (link_types[i].dlt == dlt) {
			*out = link_types[i].link;
			return true;
		}
	}
	return false;
}

/* ---- one input ---- */

struct capture {
	struct ingest *in;
	const struct format *format;
	pcap_t *pcap;
	struct tcp *tcp;
	bool has_link;		/* link is one that is read */
	enum packet_link link;
	bool stream_damaged, stream_ended;
	uint64_t offset;	/* of the next record */
	struct place place;	/* of the packet at hand */
	uint64_t segments;
	/* Since the start, or the latest hole. */
	uint64_t run_packets;
	int64_t run_start_us, last_us;
	/* A silence of which it is not yet known what it was. */
	bool has_silence;
	int64_t silence_start_us, silence_end_us;
};

static ssize_t read_stream(void *cookie, char *bytes, size_t n)
{
	struct capture *c = cookie;
	ptrdiff_t got = stream_read(c->in->stream, bytes, n);

	c->stream_ended = c->stream_ended || got == 0;
	c->stream_damaged = c->stream_damaged || got < 0;
	if (got < 0)
		errno = EIO;
	return got;
}

/* 0; or 1 when it cannot be read, which is recorded. */
static int open_capture(struct capture *c)
{
	static const cookie_io_functions_t functions = { .read = read_stream };
	char why[PCAP_ERRBUF_SIZE] = "";
	FILE *f = fopencookie(c, "rb", functions);

	if (f == NULL) {
		diag_add(c->in->diag, SEVERITY_WARNING, "capture.unreadable", NULL, "cannot be read: %s",
			 strerror(errno));
		return 1;
	}
	setvbuf(f, NULL, _IOFBF, BUFFER_BYTES);
	c->pcap = pcap_fopen_offline_with_tstamp_precision(f, PCAP_TSTAMP_PRECISION_MICRO, why);
	if (c->pcap != NULL)
		return 0;
	fclose(f);
	if (!c->stream_damaged)
		diag_add(c->in->diag, SEVERITY_WARNING, "capture.damaged", NULL, "its header cannot be read: %s", why);
	return 1;
}

static int put_event(void *context, const struct event *e)
{
	struct capture *c = context;
	struct event copy = *e;

	return ingest_put(c->in, &copy);
}

/* ---- coverage and holes ---- */

static int end_run(struct capture *c)
{
	struct host_time start = { c->run_start_us }, end = { c->last_us };
	uint64_t packets = c->run_packets;

	c->run_packets = 0;
	/* Without any TCP no jitter could have been seen. */
	if (packets == 0 || c->segments == 0)
		return 0;
	return ingest_covered(c->in, "capture", start, end, packets);
}

static int put_hole(struct capture *c, int64_t from_us, int64_t to_us)
{
	struct event e;

	event_init(&e, EVENT_HOLE);
	e.place = c->place;
	e.time.us = from_us;
	e.duration_us = to_us > from_us ? to_us - from_us : 0;
	event_set_text(&e, FIELD_EVIDENCE_KIND, SV("capture"));
	return ingest_put(c->in, &e);
}

/* Nothing is concluded across it, and the coverage ends before and begins after. */
static int take_hole(struct capture *c, int64_t from_us, int64_t to_us)
{
	int64_t last_us = c->last_us;
	int rc;

	c->last_us = from_us;
	rc = end_run(c);
	c->last_us = last_us;
	if (rc == 0)
		rc = put_hole(c, from_us, to_us);
	if (rc == 0)
		rc = tcp_hole(c->tcp, from_us, to_us);
	c->run_start_us = to_us;
	return rc;
}

static int take_step_back(struct capture *c, int64_t now_us)
{
	diag_add(c->in->diag, SEVERITY_WARNING, "capture.time_step", &c->place,
		 "time goes back by %.1f s: another capture, or a clock that was set",
		 (double)(c->last_us - now_us) / (double)US_PER_S);
	c->has_silence = false;
	return take_hole(c, c->last_us, now_us);
}

/* Keeps the longest of the silences that are not yet explained. */
static void note_silence(struct capture *c, int64_t now_us)
{
	int64_t silence_us = now_us - c->last_us;

	if (silence_us <= SILENCE_US)
		return;
	if (c->has_silence && silence_us <= c->silence_end_us - c->silence_start_us)
		return;
	c->has_silence = true;
	c->silence_start_us = c->last_us;
	c->silence_end_us = now_us;
}

static int take_time(struct capture *c, int64_t now_us)
{
	int rc = 0;

	if (c->run_packets == 0) {
		c->run_start_us = now_us;
		c->last_us = now_us;
	} else if (now_us < c->last_us - STEP_BACK_US) {
		rc = take_step_back(c, now_us);
		c->last_us = now_us;
	} else if (now_us > c->last_us) {
		note_silence(c, now_us);
		c->last_us = now_us;
	}
	c->run_packets++;
	return rc;
}

/* The first segment after a silence tells what it was. */
static int explain_silence(struct capture *c, const struct segment *s)
{
	int64_t start_us = c->silence_start_us, end_us = c->silence_end_us;
	enum tcp_continuity continuity;

	if (!c->has_silence)
		return 0;
	c->has_silence = false;
	continuity = tcp_continuity(c->tcp, s);
	if (continuity == TCP_CONTINUES)
		return 0;
	if (continuity == TCP_CANNOT_TELL && end_us - start_us <= SILENCE_UNEXPLAINED_US)
		return 0;
	diag_add(c->in->diag, SEVERITY_WARNING, "capture.hole", &c->place,
		 continuity == TCP_JUMPS ? "no packet for %.1f s before, and traffic went on unseen"
					 : "no packet for %.1f s before, and nothing known goes on: another capture",
		 (double)(end_us - start_us) / (double)US_PER_S);
	/* The packet at hand belongs to what comes after. */
	c->run_packets--;
	if (take_hole(c, start_us, end_us) != 0)
		return -1;
	c->run_packets++;
	return 0;
}

/* ---- packets ---- */

static int take_segment(struct capture *c, struct segment *s, int64_t now_us)
{
	s->time_us = now_us;
	s->place = c->place;
	c->segments++;
	if (explain_silence(c, s) != 0)
		return -1;
	return tcp_segment(c->tcp, s);
}

static void skip(struct capture *c, const char *code, const char *why)
{
	c->in->info->skipped++;
	diag_add(c->in->diag, SEVERITY_WARNING, code, &c->place, "%s", why);
}

/* False: no time that can be one. */
static bool time_of(const struct pcap_pkthdr *header, int64_t *us)
{
	int64_t s = header->ts.tv_sec;

	/* libpcap gives 0 for the packets of pcapng that have none. */
	if (s <= 0 || s > TIME_MOST_S)
		return false;
	*us = s * US_PER_S + header->ts.tv_usec;
	return true;
}

static int take_packet(struct capture *c, const struct pcap_pkthdr *header, const uint8_t *bytes)
{
	struct segment s;
	int64_t now_us;

	if (!c->has_link)
		return 0;
	if (!time_of(header, &now_us)) {
		skip(c, "capture.no_time", "the packet has no time");
		return 0;
	}
	if (take_time(c, now_us) != 0)
		return -1;
	switch (packet_decode(c->link, bytes, header->caplen, header->len, &s)) {
	case PACKET_TCP:
		return take_segment(c, &s, now_us);
	case PACKET_OTHER:
		break;
	case PACKET_SHORT:
		skip(c, "capture.header_cut", "the headers were not captured whole: the snapshot length is too short");
		break;
	case PACKET_DAMAGED:
		skip(c, "capture.packet_damaged", "the headers contradict themselves");
		break;
	}
	return 0;
}

static void begin_packet(struct capture *c)
{
	c->in->info->records++;
	c->place = (struct place){ .unit = PLACE_PACKET, .number = c->in->info->records,
				   .byte_offset = c->format->record_header_bytes != 0 ? c->offset : 0 };
}

/* What stopped the reading before the end. */
static void note_end(struct capture *c)
{
	begin_packet(c);
	c->in->info->records--;
	if (c->stream_damaged)
		return;	/* recorded by the stream */
	if (c->stream_ended)
		diag_add(c->in->diag, SEVERITY_WARNING, "capture.truncated", &c->place,
			 "the file ends inside this packet; those before it are kept");
	else
		diag_add(c->in->diag, SEVERITY_WARNING, "capture.damaged", &c->place,
			 "reading stops here, what comes before is kept: %s", pcap_geterr(c->pcap));
}

static int read_packets(struct capture *c)
{
	struct pcap_pkthdr *header;
	const uint8_t *bytes;
	int got;

	c->offset = c->format->file_header_bytes;
	while ((got = pcap_next_ex(c->pcap, &header, &bytes)) == 1) {
		begin_packet(c);
		c->offset += c->format->record_header_bytes + (uint64_t)header->caplen;
		if (take_packet(c, header, bytes) != 0)
			return -1;
	}
	if (got == PCAP_ERROR)
		note_end(c);
	return 0;
}

/* ---- the kind ---- */

static void note_link(struct capture *c)
{
	int dlt = pcap_datalink(c->pcap);
	const char *name = pcap_datalink_val_to_name(dlt);

	c->has_link = link_of(dlt, &c->link);
	if (!c->has_link)
		diag_add(c->in->diag, SEVERITY_WARNING, "capture.link_type", NULL,
			 "packets of link type %d (%s) are not read; Ethernet, Linux cooked, raw IP and loopback are", dlt,
			 name != NULL ? name : "unknown");
}

static void note_what_was_left_out(struct capture *c)
{
	uint64_t copies = tcp_copies(c->tcp), evicted = tcp_evicted(c->tcp);

	if (c->has_link && c->in->info->records > 0 && c->segments == 0)
		diag_add(c->in->diag, SEVERITY_NOTE, "capture.no_tcp", NULL, "none of its packets is TCP");
	if (copies > 0)
		diag_add(c->in->diag, SEVERITY_NOTE, "capture.copies", NULL,
			 "%llu packets were recorded more than once; the copies are ignored",
			 (unsigned long long)copies);
	if (evicted > 0)
		diag_add(c->in->diag, SEVERITY_WARNING, "capture.connections", NULL,
			 "%llu connections were given up before their end: too many at once",
			 (unsigned long long)evicted);
}

static int read_opened(struct capture *c)
{
	int rc;

	note_link(c);
	c->tcp = tcp_new((struct event_sink){ put_event, c });
	rc = read_packets(c);
	if (rc == 0)
		rc = tcp_finish(c->tcp);
	if (rc == 0)
		rc = end_run(c);
	note_what_was_left_out(c);
	tcp_free(c->tcp);
	return rc;
}

static int capture_read(struct ingest *in)
{
	struct capture c = { .in = in, .format = format_of(stream_head(in->stream)) };
	int rc;

	/* With --as the content was not asked. */
	if (c.format == NULL) {
		diag_add(in->diag, SEVERITY_WARNING, "capture.damaged", NULL, "is no pcap or pcapng file");
		return 0;
	}
	in->info->format = sv_of(c.format->name);
	in->info->zone_name = SV("UTC");
	in->info->zone_source = SV("written");
	if (open_capture(&c) != 0)
		return 0;
	rc = read_opened(&c);
	pcap_close(c.pcap);
	return rc;
}

static enum sniffed capture_sniff(struct sv head, struct sv base_name, const struct rules *rules, const char **why)
{
	const struct format *format = format_of(head);

	(void)base_name;
	(void)rules;
	if (format == NULL)
		return SNIFF_NOT_MINE;
	if (head.n >= format->file_header_bytes)
		return SNIFF_MINE;
	*why = "the capture ends inside its file header";
	return SNIFF_BROKEN;
}

const struct kind capture_kind = { "capture", capture_sniff, capture_read };
