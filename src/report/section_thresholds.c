/* SPDX-License-Identifier: MIT */
/* The thresholds by which windows were found: in documents those that the user chose, in the JSON all. */

#include <inttypes.h>

#include "report/sections.h"

static bool any_changed(const struct thresholds *t)
{
	for (int i = 0; i < THRESHOLD_COUNT; i++)
		if (threshold_is_changed(t, (enum threshold_id)i))
			return true;
	return false;
}

void chapter_thresholds(struct out *o, const struct chapter_context *c)
{
	static const struct column columns[] = {
		{ "threshold", ALIGN_LEFT }, { "here", ALIGN_RIGHT }, { "default", ALIGN_RIGHT }, { "unit", ALIGN_LEFT },
		{ "why the default is what it is", ALIGN_LEFT },
	};
	const struct thresholds *t = &c->f->thresholds;

	if (!any_changed(t))
		return;
	out_section(o, "thresholds", SV("Changed thresholds"));
	out_paragraph(o, SV("Windows were not found by the usual thresholds alone. These were set by --set:"));
	out_table(o, columns, sizeof columns / sizeof columns[0]);
	for (int i = 0; i < THRESHOLD_COUNT; i++) {
		const struct threshold *info = &threshold_infos[i];
		if (!threshold_is_changed(t, (enum threshold_id)i))
			continue;
		out_cell(o, sv_of(info->name));
		out_cell_tone(o, TONE_WARN, arena_printf(c->a, "%" PRId64, t->value[i]));
		out_cell(o, arena_printf(c->a, "%" PRId64, info->value));
		out_cell(o, sv_of(info->unit));
		out_cell(o, sv_of(info->reason));
		out_row_end(o);
	}
	out_table_end(o);
}

void members_thresholds(struct json_writer *w, const struct findings *f)
{
	json_array(w, "thresholds");
	for (int i = 0; i < THRESHOLD_COUNT; i++) {
		const struct threshold *info = &threshold_infos[i];
		json_object(w, NULL);
		json_literal(w, "name", info->name);
		json_int(w, "value", f->thresholds.value[i]);
		json_int(w, "default", info->value);
		json_literal(w, "unit", info->unit);
		json_object_end(w);
	}
	json_array_end(w);
}
