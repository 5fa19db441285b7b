/* SPDX-License-Identifier: MIT */
/*
 * What tcp makes of the captures in the tree, against what tshark makes of
 * them. The figures of both stand in the table, each difference with its
 * reason. Ours are checked everywhere; tshark's where it is installed in the
 * version that they were taken from.
 *
 * Theirs, by tshark's fields: streams by tcp.stream; segments by tcp.len > 0
 * less keep-alives and window probes; retransmissions by
 * tcp.analysis.retransmission on those; overtaken by tcp.analysis.out_of_order;
 * zero windows by tcp.analysis.zero_window where the frame of the sender before
 * had none; round trips by tcp.analysis.ack_rtt where the frame that is
 * acknowledged has payload, and nothing of its sender was sent again between it
 * and the acknowledgment (Karn: it may have waited for that).
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "capture_kit.h"
#include "input/capture/packet.h"
#include "input/capture/record.h"
#include "input/stream.h"

#define TSHARK_VERSION "TShark (Wireshark) 4.0."

/* rtt: of all that were measured, the least and the most in microseconds. */
struct figures {
	unsigned streams, segments, retransmissions, overtaken, zero_windows, rtts;
	long rtt_min_us, rtt_max_us;
};

/* ---- the table ---- */

static const struct row {
	const char *path;
	struct figures ours, theirs;
	const char *why;	/* they differ; NULL: they do not */
} rows[] = {
#include "oracle.def"
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

/* ---- ours ---- */

static void add_rtt(struct figures *f, unsigned n, long min_us, long max_us)
{
	if (n > 0 && (f->rtts == 0 || min_us < f->rtt_min_us))
		f->rtt_min_us = min_us;
	if (n > 0 && max_us > f->rtt_max_us)
		f->rtt_max_us = max_us;
	f->rtts += n;
}

static int count_event(void *context, const struct event *e)
{
	struct figures *f = context;

	f->streams += e->type == EVENT_NET_CONNECTION;
	f->zero_windows += e->type == EVENT_NET_ZERO_WINDOW;
	if (e->type != EVENT_NET_SECOND)
		return 0;
	f->segments += (unsigned)event_int_or(e, FIELD_SEGMENTS, 0);
	f->retransmissions += (unsigned)event_int_or(e, FIELD_RETRANSMITS, 0);
	add_rtt(f, (unsigned)event_int_or(e, FIELD_RTT_SAMPLES, 0), (long)event_int_or(e, FIELD_RTT_MIN_US, 0),
		(long)event_int_or(e, FIELD_RTT_MAX_US, 0));
	return 0;
}

/* What no event tells: segments that were overtaken. */
static unsigned overtaken(const struct making *m)
{
	const struct record_reader_ops *ops = m->bytes[0] == 0x0a ? &record_pcapng : &record_pcap;
	struct arena *a = arena_new();
	struct figures unused = { 0 };
	struct tcp *t = tcp_new((struct event_sink){ count_event, &unused });
	struct packet_decoder *d = packet_decoder_new(a);
	enum packet_link link;
	struct intake intake;
	struct record_reader *reader;
	struct record r;
	struct segment s;
	const char *why;
	uint64_t count;

	intake_init(&intake, stream_of(a, (struct sv){ (const char *)m->bytes, m->n }), a);
	reader = ops->open(&intake, a, &why);
	assert_non_null(reader);
	while (ops->next(reader, &r, &why) == 1) {
		if (!r.is_packet || !r.has_time || !packet_link_of(r.link, &link) ||
		    packet_decode(d, link, r.bytes, r.captured, r.wire, &s) != PACKET_TCP)
			continue;
		s.time_us = r.time_us;
		assert_int_equal(tcp_segment(t, &s), 0);
	}
	count = tcp_overtaken(t);
	tcp_free(t);
	arena_free(a);
	return (unsigned)count;
}

static struct figures ours(const char *path)
{
	struct making m = make_of_file(path);
	struct arena *a = arena_new();
	struct figures f = { 0 };
	struct input_info info = { .id = 1 };
	struct ingest in = { .stream = stream_of(a, (struct sv){ (const char *)m.bytes, m.n }), .info = &info,
			     .sink = { count_event, &f }, .diag = diag_new(a), .record = a, .input = a };

	assert_int_equal(capture_kind.read(&in), 0);
	f.overtaken = overtaken(&m);
	arena_free(a);
	make_end(&m);
	return f;
}

/* ---- theirs ---- */

#define FRAMES_MAX 16384
#define STREAMS_MAX 64

enum column { NUMBER, STREAM, PORT, LENGTH, AGAIN, OUT_OF_ORDER, ZERO_WINDOW, KEEP_ALIVE, PROBE, ACKS_FRAME, RTT, COLUMNS };

/* One direction of a stream. */
struct way {
	long port;	/* of its sender */
	bool closed;	/* the frame before had a window of zero */
	long again;	/* the latest frame that was sent again, or overtaken */
};

struct frames {
	bool has_payload[FRAMES_MAX];
	bool stream[STREAMS_MAX];
	struct way way[STREAMS_MAX][2];
};

static struct way *way_of(struct frames *all, long stream, long port)
{
	struct way *w = all->way[stream];

	if (w[0].port != 0 && w[0].port != port)
		w = &w[1];
	w->port = port;
	return w;
}

static struct way *other_way(struct frames *all, long stream, const struct way *w)
{
	return &all->way[stream][w == &all->way[stream][0]];
}

static void take_window(struct figures *f, struct way *w, char *column[COLUMNS])
{
	bool is_zero = column[ZERO_WINDOW][0] != '\0';

	f->zero_windows += is_zero && !w->closed;
	w->closed = is_zero;
}

static void take_frame(struct figures *f, struct frames *all, char *column[COLUMNS])
{
	long number = atol(column[NUMBER]), stream = atol(column[STREAM]), acks = atol(column[ACKS_FRAME]);
	bool payload = atol(column[LENGTH]) > 0 && column[KEEP_ALIVE][0] == '\0' && column[PROBE][0] == '\0';

	struct way *w;

	if (column[STREAM][0] == '\0')
		return;
	assert_in_range(number, 1, FRAMES_MAX - 1);
	assert_in_range(stream, 0, STREAMS_MAX - 1);
	f->streams += !all->stream[stream];
	all->stream[stream] = true;
	f->segments += payload;
	f->retransmissions += payload && column[AGAIN][0] != '\0';
	f->overtaken += column[OUT_OF_ORDER][0] != '\0';
	all->has_payload[number] = payload;
	w = way_of(all, stream, atol(column[PORT]));
	if (column[AGAIN][0] != '\0' || column[OUT_OF_ORDER][0] != '\0')
		w->again = number;
	take_window(f, w, column);
	if (acks > other_way(all, stream, w)->again && all->has_payload[acks])
		add_rtt(f, 1, (long)(atof(column[RTT]) * 1e6 + 0.5), (long)(atof(column[RTT]) * 1e6 + 0.5));
}

/* Cuts a line at its tabs; false when they are not as many as asked for. */
static bool cut_line(char *line, char *column[COLUMNS])
{
	unsigned n = 0;

	line[strcspn(line, "\n")] = '\0';
	for (char *at = line; at != NULL && n < COLUMNS; n++) {
		column[n] = at;
		at = strchr(at, '\t');
		if (at != NULL)
			*at++ = '\0';
	}
	return n == COLUMNS;
}

/* Copies are taken out before, as editcap knows them: the same bytes within 20 ms. */
static struct figures theirs(const char *path)
{
	static const char format[] =
		"t=$(mktemp) && editcap -w 0.02 -F pcapng '%s' $t 2>/dev/null; tshark -n -r $t -T fields -e frame.number"
		" -e tcp.stream -e tcp.srcport -e tcp.len -e tcp.analysis.retransmission -e tcp.analysis.out_of_order"
		" -e tcp.analysis.zero_window -e tcp.analysis.keep_alive -e tcp.analysis.zero_window_probe"
		" -e tcp.analysis.acks_frame -e tcp.analysis.ack_rtt 2>/dev/null; rm -f $t";
	static struct frames all;
	char command[1024], line[1024], *column[COLUMNS];
	struct figures f = { 0 };
	FILE *p;

	memset(&all, 0, sizeof all);
	snprintf(command, sizeof command, format, path);
	p = popen(command, "r");
	assert_non_null(p);
	while (fgets(line, sizeof line, p) != NULL)
		if (cut_line(line, column))
			take_frame(&f, &all, column);
	pclose(p);
	return f;
}

static bool has_tshark(void)
{
	char line[256] = "";
	FILE *p = popen("tshark --version 2>/dev/null", "r");

	assert_non_null(p);
	if (fgets(line, sizeof line, p) == NULL)
		line[0] = '\0';
	pclose(p);
	return strncmp(line, TSHARK_VERSION, strlen(TSHARK_VERSION)) == 0 && system("command -v editcap >/dev/null") == 0;
}

/* ---- the comparison ---- */

static void format_figures(char out[128], const struct figures *f)
{
	snprintf(out, 128, "{ %u, %u, %u, %u, %u, %u, %ld, %ld }", f->streams, f->segments, f->retransmissions,
		 f->overtaken, f->zero_windows, f->rtts, f->rtt_min_us, f->rtt_max_us);
}

static void assert_figures(const char *whose, const struct row *row, const struct figures *expected,
			   const struct figures *got)
{
	char right[128], wrong[128];

	format_figures(right, expected);
	format_figures(wrong, got);
	if (strcmp(right, wrong) != 0)
		fail_msg("%s, %s: %s, not %s", row->path, whose, wrong, right);
}

static void test_ours_are_those_of_the_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROW_COUNT; i++) {
		struct figures f = ours(rows[i].path);

		assert_figures("ours", &rows[i], &rows[i].ours, &f);
	}
}

static void test_each_difference_has_a_reason_and_no_reason_is_idle(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROW_COUNT; i++)
		assert_int_equal(memcmp(&rows[i].ours, &rows[i].theirs, sizeof rows[i].ours) != 0, rows[i].why != NULL);
}

static void test_tsharks_are_those_of_the_table(void **state)
{
	(void)state;
	if (!has_tshark())
		skip();
	for (size_t i = 0; i < ROW_COUNT; i++) {
		struct figures f = theirs(rows[i].path);

		assert_figures("tshark's", &rows[i], &rows[i].theirs, &f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ours_are_those_of_the_table),
		cmocka_unit_test(test_each_difference_has_a_reason_and_no_reason_is_idle),
		cmocka_unit_test(test_tsharks_are_those_of_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
