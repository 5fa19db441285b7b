/* SPDX-License-Identifier: MIT */
/* What every kind does with what it found: complete the event, keep the input's counts. */

#include "input/kind.h"
#include "model/masked.h"

static void widen(struct input_info *info, int64_t first_us, int64_t last_us)
{
	if (!info->has_times || first_us < info->first.us)
		info->first.us = first_us;
	if (!info->has_times || last_us > info->last.us)
		info->last.us = last_us;
	info->has_times = true;
}

static int64_t end_us(const struct event *e)
{
	int64_t end;

	return __builtin_add_overflow(e->time.us, e->duration_us, &end) ? INT64_MAX : end;
}

static void forget_masked(struct ingest *in, struct event *e)
{
	enum event_field first;

	if (masked_forget(e, &first))
		diag_add(in->diag, SEVERITY_NOTE, "event.masked", &e->place, "its %s is masked: not known", field_infos[first].name);
}

int ingest_put(struct ingest *in, struct event *e)
{
	forget_masked(in, e);
	e->place.input = in->info->id;
	if (sv_is_absent(e->host))
		e->host = in->info->host;
	if (in->sink.put(in->sink.context, e) != 0)
		return -1;
	in->info->events++;
	widen(in->info, e->time.us, end_us(e));
	return 0;
}

int ingest_covered(struct ingest *in, const char *kind, struct host_time start, struct host_time end, uint64_t samples)
{
	struct event e;
	int64_t duration;

	event_init(&e, EVENT_COVERED);
	e.time = start;
	e.duration_us = __builtin_sub_overflow(end.us, start.us, &duration) || duration < 0 ? 0 : duration;
	event_set_text(&e, FIELD_EVIDENCE_KIND, sv_of(kind));
	event_set_int(&e, FIELD_SAMPLES, samples > INT64_MAX ? INT64_MAX : (int64_t)samples);
	return ingest_put(in, &e);
}

void ingest_zone(struct ingest *in, bool zoned)
{
	struct buf name;

	if (zoned) {
		if (sv_is_absent(in->info->zone_source))
			in->info->zone_source = SV("written");
		return;
	}
	if (!sv_is_absent(in->info->zone_name))
		return;
	buf_init(&name);
	zone_format(&name, in->zone);
	in->info->zone_name = arena_copy(in->input, buf_sv(&name));
	in->info->zone_source = in->zone_is_option ? SV("option") : SV("assumed");
	buf_fini(&name);
}
