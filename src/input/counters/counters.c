/* SPDX-License-Identifier: MIT */
/*
 * The kind: counters of kernels and hosts. What carries its own times is one of
 * documents[]; all else is a loop, in which a clock stands beside the files.
 */

#include "input/counters/counters.h"

#include "input/counters/counters_probe.h"
#include "input/counters/documents.h"
#include "input/counters/loop.h"

static const struct counter_document documents[] = {
	{ "prometheus", prometheus_sniff, prometheus_read },
	{ "promtool", promtool_sniff, prometheus_text_read },
	{ "exposition", exposition_sniff, prometheus_text_read },
	{ "sar", sar_sniff, sar_read },
	{ "sadf -j", sadf_json_sniff, sadf_json_read },
	{ "sadf -x", sadf_xml_sniff, sadf_xml_read },
	{ "sadf", sadf_text_sniff, sadf_text_read },
	{ NULL, clock_log_sniff, clock_log_read }, /* its rows say which */
};

static const struct counter_document *document_of(struct sv head)
{
	for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++)
		if (documents[i].sniff(head))
			return &documents[i];
	return NULL;
}

/* A screen that was drawn cell by cell keeps no rows. */
static bool is_watch_output(struct sv head)
{
	size_t at;

	return sv_find(head, SV("\033["), &at) && (sv_find(sv_sub(head, 0, 4096), SV("Every "), &at) ||
						   sv_find(sv_sub(head, 0, 4096), SV("/proc/net/"), &at));
}

static enum sniffed sniff(struct sv head, struct sv base_name, const struct rules *rules, const char **why)
{
	(void)base_name;
	(void)rules;
	if (is_watch_output(head)) {
		*why = "output of watch, which keeps no history: record with \"while sleep 1; do date; cat FILE; "
		       "done\"";
		return SNIFF_BROKEN;
	}
	if (counters_probe_begins(head) || document_of(head) != NULL || loop_sniff(head))
		return SNIFF_MINE;
	if (!sar_lacks_banner(head))
		return SNIFF_NOT_MINE;
	*why = "output of sar without its first line, which has the host and the date: it is needed";
	return SNIFF_BROKEN;
}

static int read_counters(struct ingest *in)
{
	const struct counter_document *document = document_of(lines_first_text(in->input, in->stream));
	struct counters *c = counters_new(in);
	int rc;

	if (document != NULL && document->format != NULL)
		counters_format(c, document->format);
	rc = document != NULL ? document->read(c, in) : loop_read(c, in);
	return rc == 0 ? counters_finish(c) : rc;
}

const struct kind counters_kind = {
	.name = "counters",
	.sniff = sniff,
	.read = read_counters,
};
