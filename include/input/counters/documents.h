/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_DOCUMENTS_H
#define AFTERSHOCK_INPUT_DOCUMENTS_H

/* Formats of counters that carry their own times; counters.c has the table of them. */

#include "input/counters/counters.h"

struct counter_document {
	const char *format; /* NULL: its rows tell */
	bool (*sniff)(struct sv head);
	/* Reads to the end. 0, -1 when the sink failed. */
	int (*read)(struct counters *c, struct ingest *in);
};

bool prometheus_sniff(struct sv head);
int prometheus_read(struct counters *c, struct ingest *in);
bool promtool_sniff(struct sv head);
bool exposition_sniff(struct sv head);
int prometheus_text_read(struct counters *c, struct ingest *in);
bool sar_sniff(struct sv head);
/* Tables of sar without the line that has the host and the date. */
bool sar_lacks_banner(struct sv head);
int sar_read(struct counters *c, struct ingest *in);
bool sadf_json_sniff(struct sv head);
int sadf_json_read(struct counters *c, struct ingest *in);
bool sadf_xml_sniff(struct sv head);
int sadf_xml_read(struct counters *c, struct ingest *in);
bool sadf_text_sniff(struct sv head);
int sadf_text_read(struct counters *c, struct ingest *in);
bool clock_log_sniff(struct sv head);
int clock_log_read(struct counters *c, struct ingest *in);

#endif
