/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_TESTS_CAPTURE_KIT_H
#define AFTERSHOCK_TESTS_CAPTURE_KIT_H

/* For tests of captures: bytes put together number by number, and files as they lie in the tree. Include cmocka first. */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAKING_BYTES_MAX ((size_t)2 * 1024 * 1024)

struct making {
	uint8_t *bytes;
	size_t n;
	bool big_endian;
};

/* Lives as long as the test program. */
static inline struct making make_begin(bool big_endian)
{
	struct making m = { malloc(MAKING_BYTES_MAX), 0, big_endian };

	assert_non_null(m.bytes);
	return m;
}

static inline void make_end(struct making *m)
{
	free(m->bytes);
	m->bytes = NULL;
}

static inline void make_bytes(struct making *m, const void *bytes, size_t n)
{
	assert_true(m->n + n <= MAKING_BYTES_MAX);
	memcpy(m->bytes + m->n, bytes, n);
	m->n += n;
}

static inline void make_number(struct making *m, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint8_t byte = (uint8_t)(v >> 8 * (m->big_endian ? n - 1 - i : i));

		make_bytes(m, &byte, 1);
	}
}

/* ---- pcap ---- */

static inline void make_pcap_header(struct making *m, uint32_t magic, uint32_t link)
{
	make_number(m, magic, 4);
	make_number(m, 2, 2);
	make_number(m, 4, 2);
	make_number(m, 0, 8);
	make_number(m, 262144, 4);
	make_number(m, link, 4);
}

static inline void make_pcap_record(struct making *m, uint32_t s, uint32_t fraction, const uint8_t *bytes,
				    size_t captured, size_t wire)
{
	make_number(m, s, 4);
	make_number(m, fraction, 4);
	make_number(m, captured, 4);
	make_number(m, wire, 4);
	make_bytes(m, bytes, captured);
}

/* ---- pcapng: a block is begun, filled and ended ---- */

static inline size_t make_block(struct making *m, uint32_t type)
{
	size_t at = m->n;

	make_number(m, type, 4);
	make_number(m, 0, 4);
	return at;
}

static inline void make_padding(struct making *m)
{
	while (m->n % 4 != 0)
		make_number(m, 0, 1);
}

static inline void make_block_end(struct making *m, size_t at)
{
	struct making length = *m;
	size_t total;

	make_padding(m);
	total = m->n - at + 4;
	length.n = at + 4;
	make_number(&length, total, 4);
	make_number(m, total, 4);
}

static inline void make_option(struct making *m, uint16_t code, uint64_t value, unsigned n)
{
	make_number(m, code, 2);
	make_number(m, n, 2);
	make_number(m, value, n);
	make_padding(m);
}

static inline void make_section(struct making *m)
{
	size_t at = make_block(m, 0x0a0d0d0a);

	make_number(m, 0x1a2b3c4d, 4);
	make_number(m, 1, 2);
	make_number(m, 0, 2);
	make_number(m, UINT64_MAX, 8);
	make_block_end(m, at);
}

static inline size_t make_interface(struct making *m, uint16_t link, uint32_t snaplen)
{
	size_t at = make_block(m, 1);

	make_number(m, link, 2);
	make_number(m, 0, 2);
	make_number(m, snaplen, 4);
	return at;
}

/* Up to its options; padded. */
static inline size_t make_packet(struct making *m, uint32_t interface, uint64_t ticks, const void *bytes,
				 size_t captured, size_t wire)
{
	size_t at = make_block(m, 6);

	make_number(m, interface, 4);
	make_number(m, ticks >> 32, 4);
	make_number(m, ticks & UINT32_MAX, 4);
	make_number(m, captured, 4);
	make_number(m, wire, 4);
	make_bytes(m, bytes, captured);
	make_padding(m);
	return at;
}

/* ---- files ---- */

/* Unpacked, when its name ends in .gz. */
static inline struct making make_of_file(const char *path)
{
	struct making m = make_begin(false);
	bool packed = strlen(path) > 3 && strcmp(path + strlen(path) - 3, ".gz") == 0;
	char command[512];
	FILE *f;

	snprintf(command, sizeof command, "gzip -dc '%s'", path);
	f = packed ? popen(command, "r") : fopen(path, "rb");
	if (f == NULL)
		fail_msg("%s cannot be opened", path);
	m.n = fread(m.bytes, 1, MAKING_BYTES_MAX, f);
	assert_true(m.n > 0);
	if (packed)
		pclose(f);
	else
		fclose(f);
	return m;
}

#endif
