/* SPDX-License-Identifier: MIT */
/*
 * Captures that libpcap alone knows how to read (Kuznetzov's records, versions
 * of pcap before 2.4), through it. It is not used for the others: it refuses
 * pcapng of mixed interfaces, and copies through stdio.
 */

#define _GNU_SOURCE	/* fopencookie */

#include "input/capture/record.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>

struct record_reader {
	struct intake *in;
	struct arena *arena;
	pcap_t *pcap;
};

static ssize_t read_intake(void *cookie, char *bytes, size_t n)
{
	struct intake *in = cookie;
	const uint8_t *p = intake_look(in, 1);

	if (p == NULL) {
		errno = EIO;
		return in->damaged ? -1 : 0;
	}
	if (n > intake_left(in))
		n = intake_left(in);
	memcpy(bytes, p, n);
	intake_take(in, n);
	return (ssize_t)n;
}

static struct record_reader *libpcap_open(struct intake *in, struct arena *a, const char **why)
{
	static const cookie_io_functions_t functions = { .read = read_intake };
	char error[PCAP_ERRBUF_SIZE] = "";
	FILE *f = fopencookie(in, "rb", functions);
	struct record_reader *r;

	if (f == NULL) {
		*why = arena_strdup(a, sv_of(strerror(errno)));
		return NULL;
	}
	r = arena_alloc(a, sizeof *r);
	*r = (struct record_reader){ in, a, pcap_fopen_offline_with_tstamp_precision(f, PCAP_TSTAMP_PRECISION_MICRO, error) };
	if (r->pcap != NULL)
		return r;
	fclose(f);
	*why = arena_strdup(a, sv_of(error));
	return NULL;
}

static int libpcap_next(struct record_reader *r, struct record *out, const char **why)
{
	struct pcap_pkthdr *header;
	const uint8_t *bytes;
	int got = pcap_next_ex(r->pcap, &header, &bytes);

	if (got != 1) {
		*why = r->in->ended ? record_why_short(r->in) : arena_strdup(r->arena, sv_of(pcap_geterr(r->pcap)));
		return got == PCAP_ERROR ? -1 : 0;
	}
	*out = (struct record){ .is_packet = true, .bytes = bytes, .captured = header->caplen,
				.wire = header->len > header->caplen ? header->len : header->caplen,
				.link = (uint32_t)pcap_datalink(r->pcap) };
	record_set_time(out, header->ts.tv_sec, header->ts.tv_usec);
	return 1;
}

static void libpcap_close(struct record_reader *r)
{
	if (r != NULL)
		pcap_close(r->pcap);
}

const struct record_reader_ops record_libpcap = { libpcap_open, libpcap_next, NULL, NULL, libpcap_close, true };
