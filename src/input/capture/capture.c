/* SPDX-License-Identifier: MIT */
/*
 * kind: packet captures. Takes the records of a capture one by one (record.h),
 * decodes each packet (packet.h), gives its segment to tcp (tcp.h), and says
 * which time the capture covers (method.md 1) and where it has holes
 * (method.md 3).
 */

#include <string.h>

#include "input/kind.h"
#include "input/capture/cache_line.h"
#include "input/capture/kafka.h"
#include "input/capture/records.h"
#include "input/capture/tcp.h"

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
/*
 * Drops that the capture reports within so short an interval are a hole in its
 * coverage: no longer than the lag of a session timeout, over which evidence
 * is weighed anyhow. Those of a longer one may lie anywhere in it.
 */
#define DROPS_PLACED_US (60 * US_PER_S)
/* Of all packets: where a capture dropped more, its losses are no losses of the network (method.md 3, loss above 1 %). */
#define DROPS_MOST_PERCENT 1
/* Drops closer together are one hole. */
#define DROPS_APART_US (1 * US_PER_S)

/* ---- formats and link types ---- */

/* First bytes as they stand in the file. */
static const struct format {
	uint8_t magic[4];
	const char *name;
	uint8_t header_bytes;
	const struct record_reader_ops *reader;
} formats[] = {
	{ { 0xa1, 0xb2, 0xc3, 0xd4 }, "pcap", 24, &record_pcap },	/* microseconds, big-endian */
	{ { 0xd4, 0xc3, 0xb2, 0xa1 }, "pcap", 24, &record_pcap },	/* little-endian */
	{ { 0xa1, 0xb2, 0x3c, 0x4d }, "pcap", 24, &record_pcap },	/* nanoseconds */
	{ { 0x4d, 0x3c, 0xb2, 0xa1 }, "pcap", 24, &record_pcap },
	{ { 0xa1, 0xb2, 0xcd, 0x34 }, "pcap", 24, &record_libpcap },	/* Kuznetzov's patch, 1990s */
	{ { 0x34, 0xcd, 0xb2, 0xa1 }, "pcap", 24, &record_libpcap },
	{ { 0x0a, 0x0d, 0x0d, 0x0a }, "pcapng", 28, &record_pcapng },
};
#define FORMAT_COUNT (sizeof formats / sizeof formats[0])

static const struct format *format_of(struct sv head)
{
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		if (head.n >= 4 && memcmp(head.p, formats[i].magic, 4) == 0)
			return &formats[i];
	return NULL;
}

/* Versions before 2.4 have their lengths in either order, which libpcap knows to tell. */
static const struct record_reader_ops *reader_of(const struct format *f, struct sv head)
{
	const uint8_t *p = (const uint8_t *)head.p;
	bool big_endian = p[0] == 0xa1;

	if (f->reader == &record_pcap && head.n >= f->header_bytes &&
	    (record_u16(p + 4, big_endian) != 2 || record_u16(p + 6, big_endian) < 4))
		return &record_libpcap;
	return f->reader;
}

/* ---- one input ---- */

/* Link types that are not read, of which each is said once. */
#define LINKS_SAID_MAX 8

struct capture {
	struct ingest *in;
	struct records *records;
	struct tcp *tcp;
	uint32_t links_said[LINKS_SAID_MAX];
	unsigned links_said_count;
	struct place place;	/* of the packet at hand */
	uint64_t readable, segments;	/* packets of known links; those of TCP */
	/* Since the start, or the latest hole. */
	uint64_t run_packets;
	int64_t run_start_us, last_us, first_us;
	/* A silence of which it is not yet known what it was. */
	bool has_silence;
	int64_t silence_start_us, silence_end_us;
	/* Drops by the capture's own account. */
	uint64_t dropped;
	bool has_drops, drops_grew;	/* a hole of them that may go on; it did since tcp was told */
	int64_t drops_from_us, drops_to_us;
	struct record_drops unplaced;
};

static int put_event(void *context, const struct event *e)
{
	struct capture *c = context;
	struct event copy;

	event_copy(&copy, e);
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
		if (c->first_us == 0)
			c->first_us = now_us;
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

/* ---- drops that the capture reports ---- */

/* The hole that drops made is over. */
static int end_drops(struct capture *c)
{
	int rc;

	if (!c->has_drops)
		return 0;
	c->has_drops = false;
	rc = put_hole(c, c->drops_from_us, c->drops_to_us);
	if (rc == 0 && c->drops_grew)
		rc = tcp_hole(c->tcp, c->last_us, c->last_us);
	return rc;
}

/* Between two packets: what was seen before says nothing about what comes after. */
static int take_drops_before(struct capture *c, const struct record_drops *d)
{
	if (c->has_drops && d->from_us - c->drops_to_us <= DROPS_APART_US) {
		c->drops_to_us = d->to_us > c->drops_to_us ? d->to_us : c->drops_to_us;
		c->drops_grew = true;
		return 0;
	}
	if (end_drops(c) != 0)
		return -1;
	c->has_drops = true;
	c->drops_grew = false;
	c->drops_from_us = d->from_us;
	c->drops_to_us = d->to_us;
	return tcp_hole(c->tcp, d->from_us, d->to_us > c->last_us ? d->to_us : c->last_us);
}

static void widen(struct record_drops *all, const struct record_drops *d)
{
	if (all->packets == 0 || d->from_us < all->from_us)
		all->from_us = d->from_us;
	if (d->to_us > all->to_us)
		all->to_us = d->to_us;
	all->packets += d->packets;
}

/* Told afterwards: what tcp made of it stands, but the time counts as not covered. */
static int take_drops_since(struct capture *c, const struct record_drops *d)
{
	struct record_drops placed = *d;

	/* Of an interface without a packet, or statistics without a time. */
	if (placed.to_us == 0 || c->run_packets == 0)
		return 0;
	if (placed.from_us == 0)
		placed.from_us = c->first_us;
	if (placed.to_us - placed.from_us <= DROPS_PLACED_US)
		return put_hole(c, placed.from_us, placed.to_us);
	widen(&c->unplaced, &placed);
	return 0;
}

static int take_drops(struct capture *c, const struct record *r)
{
	if (r->drops.packets == 0)
		return 0;
	if (__builtin_add_overflow(c->dropped, r->drops.packets, &c->dropped))
		c->dropped = UINT64_MAX;
	return r->is_packet ? take_drops_before(c, &r->drops) : take_drops_since(c, &r->drops);
}

static int finish_drops(struct capture *c)
{
	int rc = end_drops(c);

	if (rc == 0 && c->unplaced.packets > c->in->info->records / 100 * DROPS_MOST_PERCENT)
		rc = put_hole(c, c->unplaced.from_us, c->unplaced.to_us);
	if (c->dropped > 0)
		diag_add(c->in->diag, SEVERITY_WARNING, "capture.drops", NULL,
			 "the capture dropped %llu packets by its own account%s", (unsigned long long)c->dropped,
			 c->unplaced.packets > 0 ? "; when, it does not tell to the minute" : "");
	return rc;
}

/* ---- packets ---- */

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

static int take_segment(struct capture *c, const struct record_packet *p, struct tcp_conn *likely)
{
	c->segments++;
	if (explain_silence(c, &p->segment) != 0)
		return -1;
	return tcp_segment_expected(c->tcp, &p->segment, &p->key, likely);
}

static void skip(struct capture *c, const char *code, const char *why)
{
	c->in->info->skipped++;
	diag_add(c->in->diag, SEVERITY_WARNING, code, &c->place, "%s", why);
}

static void note_link(struct capture *c, uint32_t type)
{
	for (unsigned i = 0; i < c->links_said_count; i++)
		if (c->links_said[i] == type)
			return;
	if (c->links_said_count == LINKS_SAID_MAX)
		return;
	c->links_said[c->links_said_count++] = type;
	diag_add(c->in->diag, SEVERITY_WARNING, "capture.link_type", &c->place,
		 "packets of link type %u are not read; Ethernet, Linux cooked, raw IP, PPP and loopback are",
		 (unsigned)type);
}

static int take_decoded(struct capture *c, const struct record_packet *p, struct tcp_conn *likely)
{
	switch (p->what) {
	case PACKET_TCP:
		return take_segment(c, p, likely);
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

static int take_packet(struct capture *c, const struct record *r, const struct record_packet *p,
		       struct tcp_conn *likely)
{
	enum packet_link link;

	if (!p->is_read && !packet_link_of(r->link, &link)) {
		note_link(c, r->link);
		return 0;
	}
	c->readable++;
	if (!r->has_time) {
		skip(c, "capture.no_time", "the packet has no time");
		return 0;
	}
	if (take_drops(c, r) != 0)
		return -1;
	if (c->has_drops && r->time_us - c->drops_to_us > DROPS_APART_US && end_drops(c) != 0)
		return -1;
	if (take_time(c, r->time_us) != 0)
		return -1;
	return take_decoded(c, p, likely);
}

static int take_record(struct capture *c, const struct record *r, const struct record_packet *p,
		       struct tcp_conn *likely)
{
	if (!r->is_packet)
		return take_drops(c, r);
	c->place.number = ++c->in->info->records;
	c->place.byte_offset = r->offset;
	return take_packet(c, r, p, likely);
}

/* ---- runs ---- */

/*
 * What a packet needs is fetched so many packets before it is taken; where that
 * is found, so many before that; and so many before that what is told of the
 * packet itself, by another core.
 */
#define AHEAD 8

static void fetch(const void *from, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += CACHE_LINE)
		__builtin_prefetch((const char *)from + at);
}

/*
 * Nearly always: TCP, a little later than the one before, no drops and no
 * silence. Then take_record does no more than count it.
 */
static bool takes_at_once(const struct capture *c, const struct record_packet *p)
{
	return p->is_plain && p->segment.time_us >= c->last_us && p->segment.time_us - c->last_us <= SILENCE_US &&
	       c->run_packets > 0 && !c->has_drops && !c->has_silence;
}

static int take_at_once(struct capture *c, const struct record_packet *p, struct tcp_conn *likely)
{
	c->place.number = ++c->in->info->records;
	c->place.byte_offset = p->segment.place.byte_offset;
	c->readable++;
	c->run_packets++;
	c->segments++;
	c->last_us = p->segment.time_us;
	return tcp_segment_expected(c->tcp, &p->segment, &p->key, likely);
}

static int take(struct capture *c, const struct record *r, const struct record_packet *p, struct tcp_conn *likely)
{
	return takes_at_once(c, p) ? take_at_once(c, p, likely) : take_record(c, r, p, likely);
}

static struct tcp_conn *expect(const struct capture *c, const struct record_packet *p)
{
	if (!p->is_plain)
		return NULL;
	/* The head of a frame. Others would have to come from the core that has copied them, and to go back there. */
	if (p->may_begin)
		fetch(p->segment.payload, 2 * CACHE_LINE);
	return tcp_expect(c->tcp, &p->key);
}

static int take_run(struct capture *c, const struct record_run *run)
{
	const size_t count = run->count, first = count < 2 * AHEAD ? count : 2 * AHEAD;
	struct tcp_conn *likely[2 * AHEAD] = { NULL };

	for (size_t i = 0; i < first; i++)
		likely[i] = expect(c, &run->packet[i]);
	for (size_t i = 0; i < count; i++) {
		if (take(c, &run->record[i], &run->packet[i], likely[i % (2 * AHEAD)]) != 0)
			return -1;
		if (i + AHEAD < count)
			tcp_prepare(likely[(i + AHEAD) % (2 * AHEAD)], &run->packet[i + AHEAD].segment);
		if (i + 2 * AHEAD < count)
			likely[i % (2 * AHEAD)] = expect(c, &run->packet[i + 2 * AHEAD]);
		if (i + 3 * AHEAD < count)
			fetch(&run->packet[i + 3 * AHEAD], sizeof run->packet[0]);
	}
	return 0;
}

/* What stopped the reading before the end; what the stream stumbled over it has recorded itself. */
static void note_end(struct capture *c, const char *why)
{
	bool cut = strcmp(why, RECORD_WHY_CUT) == 0;

	c->place.number = c->in->info->records + 1;
	c->place.byte_offset = records_offset(c->records);
	if (!records_is_damaged(c->records))
		diag_add(c->in->diag, SEVERITY_WARNING, cut ? "capture.truncated" : "capture.damaged", &c->place,
			 "stopped at packet %llu: %s; what comes before is kept", (unsigned long long)c->place.number,
			 why);
}

static int read_records(struct capture *c)
{
	struct record_run run;
	const char *why = NULL;
	int got;

	while ((got = records_next(c->records, &run, &why)) == 1)
		if (take_run(c, &run) != 0)
			return -1;
	if (got < 0)
		note_end(c, why);
	return 0;
}

/* ---- the kind ---- */

/* Of what Kafka's clients and brokers said. */
static void note_unread_requests(struct capture *c)
{
	const struct kafka_counts n = tcp_kafka_counts(c->tcp);
	const struct {
		uint64_t count;
		const char *code, *what;
	} notes[] = {
		{ n.newer, "capture.kafka_newer", "requests are of versions newer than the ones known; of them the headers alone were read" },
		{ n.damaged, "capture.kafka_damaged", "requests or answers of Kafka contradict their own lengths; they are ignored" },
		{ n.dropped, "capture.kafka_waiting", "requests of Kafka were given up before their answers: too many at once" },
		{ n.tls, "capture.encrypted", "connections are encrypted; heartbeats in them are inferred from sizes and rhythm" },
	};

	for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
		if (notes[i].count > 0)
			diag_add(c->in->diag, SEVERITY_NOTE, notes[i].code, NULL, "%llu %s",
				 (unsigned long long)notes[i].count, notes[i].what);
}

static void note_what_was_left_out(struct capture *c)
{
	uint64_t copies = tcp_copies(c->tcp), evicted = tcp_evicted(c->tcp);
	uint64_t fragments = records_fragments_lost(c->records);

	if (c->readable > 0 && c->segments == 0)
		diag_add(c->in->diag, SEVERITY_NOTE, "capture.no_tcp", NULL, "none of its packets is TCP");
	if (fragments > 0)
		diag_add(c->in->diag, SEVERITY_WARNING, "capture.fragments", NULL,
			 "%llu fragments of packets are not read: what comes before them was not captured",
			 (unsigned long long)fragments);
	if (copies > 0)
		diag_add(c->in->diag, SEVERITY_NOTE, "capture.copies", NULL,
			 "%llu packets were recorded more than once; the copies are ignored",
			 (unsigned long long)copies);
	if (evicted > 0)
		diag_add(c->in->diag, SEVERITY_WARNING, "capture.connections", NULL,
			 "%llu connections were given up before their end: too many at once",
			 (unsigned long long)evicted);
	note_unread_requests(c);
}

static int read_opened(struct capture *c)
{
	int rc;

	c->tcp = tcp_new((struct event_sink){ put_event, c });
	rc = read_records(c);
	if (rc == 0)
		rc = finish_drops(c);
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
	struct sv head = stream_head(in->stream);
	const struct format *format = format_of(head);
	struct capture c = { .in = in, .place = { .unit = PLACE_PACKET } };
	const char *why;
	int rc = 0;

	/* With --as the content was not asked. */
	if (format == NULL) {
		diag_add(in->diag, SEVERITY_WARNING, "capture.damaged", NULL, "is no pcap or pcapng file");
		return 0;
	}
	in->info->format = sv_of(format->name);
	in->info->zone_name = SV("UTC");
	in->info->zone_source = SV("written");
	if (records_open(in->stream, reader_of(format, head), in->threads, &c.records, &why))
		rc = read_opened(&c);
	else if (!records_is_damaged(c.records))
		diag_add(in->diag, SEVERITY_WARNING, "capture.damaged", NULL, "its header cannot be read: %s", why);
	records_close(c.records);
	return rc;
}

static enum sniffed capture_sniff(struct sv head, struct sv base_name, const struct rules *rules, const char **why)
{
	const struct format *format = format_of(head);

	(void)base_name;
	(void)rules;
	if (format == NULL)
		return SNIFF_NOT_MINE;
	if (head.n >= format->header_bytes)
		return SNIFF_MINE;
	*why = "the capture ends inside its file header";
	return SNIFF_BROKEN;
}

const struct kind capture_kind = { "capture", capture_sniff, capture_read };
