/* SPDX-License-Identifier: MIT */
/*
 * Metrics of node_exporter and cAdvisor: which of them are counters that are
 * read, and series of their points. Raw counters are told by their names; what
 * rate() gives has no name, so that it has to be declared by the file's
 * (input-formats.md 1.8).
 */

#include "input/counters/metrics.h"

#include <string.h>

#include "input/counters/loop.h"

static const struct {
	const char *name;
	enum counter_id id;
	int scale;
} names[] = {
	{ "node_softnet_processed_total", SOFTNET_PROCESSED, 0 },
	{ "node_softnet_dropped_total", SOFTNET_DROPPED, 0 },
	{ "node_softnet_times_squeezed_total", SOFTNET_TIME_SQUEEZE, 0 },
	{ "node_softnet_flow_limit_count_total", SOFTNET_FLOW_LIMIT, 0 },
	{ "node_nf_conntrack_entries", CONNTRACK_ENTRIES, 0 },
	{ "node_nf_conntrack_entries_limit", CONNTRACK_LIMIT, 0 },
	{ "node_nf_conntrack_stat_drop", CONNTRACK_DROP, 0 },
	{ "node_nf_conntrack_stat_early_drop", CONNTRACK_EARLY_DROP, 0 },
	{ "node_nf_conntrack_stat_insert_failed", CONNTRACK_INSERT_FAILED, 0 },
	{ "node_network_receive_packets_total", INTERFACE_RX_PACKETS, 0 },
	{ "node_network_receive_errs_total", INTERFACE_RX_ERRORS, 0 },
	{ "node_network_receive_drop_total", INTERFACE_RX_DROPPED, 0 },
	{ "node_network_receive_fifo_total", INTERFACE_RX_FIFO, 0 },
	{ "node_network_transmit_packets_total", INTERFACE_TX_PACKETS, 0 },
	{ "node_network_transmit_errs_total", INTERFACE_TX_ERRORS, 0 },
	{ "node_network_transmit_drop_total", INTERFACE_TX_DROPPED, 0 },
	{ "node_network_transmit_carrier_total", INTERFACE_TX_CARRIER, 0 },
	{ "node_network_carrier_changes_total", INTERFACE_CARRIER_CHANGES, 0 },
	{ "node_pressure_cpu_waiting_seconds_total", PRESSURE_CPU_SOME, 6 },
	{ "node_pressure_io_waiting_seconds_total", PRESSURE_IO_SOME, 6 },
	{ "node_pressure_io_stalled_seconds_total", PRESSURE_IO_FULL, 6 },
	{ "node_pressure_memory_waiting_seconds_total", PRESSURE_MEMORY_SOME, 6 },
	{ "node_pressure_memory_stalled_seconds_total", PRESSURE_MEMORY_FULL, 6 },
	{ "container_cpu_cfs_periods_total", CPU_PERIODS, 0 },
	{ "container_cpu_cfs_throttled_periods_total", CPU_THROTTLED_PERIODS, 0 },
	{ "container_cpu_cfs_throttled_seconds_total", CPU_THROTTLED_US, 6 },
	{ "container_pressure_cpu_waiting_seconds_total", PRESSURE_CPU_SOME, 6 },
	{ "container_pressure_cpu_stalled_seconds_total", PRESSURE_CPU_FULL, 6 },
	{ "container_pressure_io_waiting_seconds_total", PRESSURE_IO_SOME, 6 },
	{ "container_pressure_io_stalled_seconds_total", PRESSURE_IO_FULL, 6 },
	{ "container_pressure_memory_waiting_seconds_total", PRESSURE_MEMORY_SOME, 6 },
	{ "container_pressure_memory_stalled_seconds_total", PRESSURE_MEMORY_FULL, 6 },
};
#define NAME_COUNT (sizeof names / sizeof names[0])

static const struct sv netstat_prefix = { "node_netstat_", 13 };
static const struct sv ethtool_prefix = { "node_ethtool_", 13 };

/* ---- names and labels ---- */

struct sv metric_label(const struct metric *m, struct sv name)
{
	for (size_t i = 0; i < m->count; i++)
		if (sv_eq(m->labels[i].name, name))
			return m->labels[i].value;
	return SV_ABSENT;
}

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

static struct sv take_name(struct sv *rest)
{
	size_t n = 0;

	while (n < rest->n && is_name_byte(rest->p[n]))
		n++;
	struct sv name = sv_sub(*rest, 0, n);
	*rest = sv_sub(*rest, n, rest->n);
	return name;
}

static bool skip_char(struct sv *rest, char c)
{
	while (rest->n > 0 && rest->p[0] == ' ')
		*rest = sv_sub(*rest, 1, rest->n);
	if (rest->n == 0 || rest->p[0] != c)
		return false;
	*rest = sv_sub(*rest, 1, rest->n);
	return true;
}

/* "value" with its quotes. */
static bool take_quoted(struct sv *rest, struct sv *value)
{
	size_t n = 0;

	if (!skip_char(rest, '"'))
		return false;
	while (n < rest->n && rest->p[n] != '"')
		n += rest->p[n] == '\\' ? 2 : 1;
	if (n >= rest->n)
		return false;
	*value = sv_sub(*rest, 0, n);
	*rest = sv_sub(*rest, n + 1, rest->n);
	return true;
}

bool metric_read(struct sv text, struct metric *out, struct sv *rest)
{
	struct sv value;

	out->count = 0;
	*rest = text;
	out->name = take_name(rest);
	if (out->name.n == 0 || (out->name.p[0] >= '0' && out->name.p[0] <= '9'))
		return false;
	if (rest->n == 0 || rest->p[0] != '{')
		return true;
	(void)skip_char(rest, '{');
	while (!skip_char(rest, '}')) {
		struct sv name = take_name(rest);

		if (name.n == 0 || !skip_char(rest, '=') || !take_quoted(rest, &value))
			return false;
		if (out->count < LABELS_MAX)
			out->labels[out->count++] = (struct label){ name, value };
		if (!skip_char(rest, ',') && (rest->n == 0 || rest->p[0] != '}'))
			return false;
	}
	return true;
}

/* ---- counters ---- */

bool metric_is_known(struct sv name)
{
	static const struct sv prefixes[] = {
		{ "node_", 5 },	      { "container_", 10 }, { "go_", 3 },	{ "process_", 8 },
		{ "promhttp_", 9 },   { "machine_", 8 },    { "cadvisor_", 9 }, { "scrape_", 7 },
	};

	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (sv_starts_with(name, prefixes[i]))
			return true;
	return false;
}

/* "node_netstat_TcpExt_TCPTimeouts" */
static bool by_netstat(struct sv name, struct metric_counter *out)
{
	if (!sv_starts_with(name, netstat_prefix))
		return false;
	struct sv rest = sv_sub(name, netstat_prefix.n, name.n), prefix = sv_cut(&rest, '_');
	return counter_by_column(prefix, rest, &out->id);
}

static bool by_ethtool(const struct metric *m, struct arena *a, struct metric_counter *out)
{
	struct sv name = m->name;

	if (!sv_starts_with(name, ethtool_prefix))
		return false;
	name = sv_sub(name, ethtool_prefix.n, name.n);
	out->id = ethtool_counter(name);
	out->device = arena_printf(a, "%.*s %.*s", SV_ARG(metric_label(m, SV("device"))), SV_ARG(name));
	return out->id != COUNTER_COUNT;
}

static bool by_name(const struct metric *m, struct metric_counter *out)
{
	for (size_t i = 0; i < NAME_COUNT; i++)
		if (sv_eq(m->name, sv_of(names[i].name))) {
			out->id = names[i].id;
			out->scale = names[i].scale;
			return true;
		}
	return false;
}

/* The cgroup of a container: its pod and name where they are told. */
static struct sv cgroup_of(const struct metric *m, struct arena *a)
{
	struct sv pod = metric_label(m, SV("pod")), container = metric_label(m, SV("container"));

	if (sv_is_absent(pod))
		return metric_label(m, SV("id"));
	return sv_is_absent(container) ? pod : arena_printf(a, "%.*s/%.*s", SV_ARG(pod), SV_ARG(container));
}

bool metric_counter(const struct metric *m, struct arena *a, struct metric_counter *out)
{
	*out = (struct metric_counter){ .cpu = -1, .device = SV_ABSENT };
	if (by_ethtool(m, a, out))
		return true;
	if (!by_netstat(m->name, out) && !by_name(m, out))
		return false;
	if (!sv_to_i64(metric_label(m, SV("cpu")), &out->cpu) || out->cpu < 0)
		out->cpu = -1;
	out->device = sv_starts_with(m->name, SV("container_")) ? cgroup_of(m, a) : metric_label(m, SV("device"));
	return true;
}

/* Pressure is of the machine, or of a container's cgroup. */
static const char *scope_of(const struct metric *m)
{
	return sv_starts_with(m->name, SV("container_")) ? "cgroup" : "host";
}

/* ---- a text exposition in a loop ---- */

enum loop_line exposition_take(struct loop_block *b, const struct line *line, const char **why)
{
	struct metric m;
	struct metric_counter counter;
	struct sv rest;
	int64_t value;

	(void)why;
	if (!metric_read(line->text, &m, &rest) || rest.n == 0 || (rest.p[0] != ' ' && rest.p[0] != '\t') ||
	    (!metric_is_known(m.name) && b->rows == 0))
		return LOOP_LINE_OTHER;
	struct sv number = counter_word(&rest);
	bool is_number = counter_decimal(number, 0, &value) || sv_eq(number, SV("NaN")) || sv_ends_with(number, SV("Inf"));
	(void)counter_word(&rest);
	if (!is_number || sv_trim(rest).n > 0)
		return LOOP_LINE_OTHER;
	b->rows++;
	struct arena *a = arena_new();
	enum loop_line answer = LOOP_LINE_TAKEN;
	if (metric_counter(&m, a, &counter) && counter_decimal(number, counter.scale, &value) && value >= 0) {
		b->device = counter.device;
		/* What a first metric of a second scrape looks like. */
		if (b->count > 0 && counter.id == b->readings[0].counter && counter.cpu == b->readings[0].cpu &&
		    sv_eq(counter.device, b->readings[0].device)) {
			b->rows--;
			answer = LOOP_LINE_AGAIN;
		} else {
			loop_add_device(b, counter.id, (uint64_t)value, line);
			if (counter_infos[counter.id].family == FAMILY_PRESSURE)
				b->scope = scope_of(&m);
			if (b->count > 0)
				b->readings[b->count - 1].cpu = counter.cpu;
		}
		b->device = SV_ABSENT;
	}
	arena_free(a);
	return answer;
}

/* ---- series ---- */

struct gauge_point {
	struct host_time time;
	uint64_t value;
	struct place place;
};

struct series {
	struct series_set *set;
	struct sv key;
	bool wanted;
	struct sv host;
	struct metric_counter counter;
	struct sampler *sampler;
	bool is_rate;
	bool has_before; /* of rates */
	struct host_time before;
	/* Gauges that need another beside them. */
	struct gauge_point *points;
	size_t count, capacity;
};

#define SERIES_MAX 65536

struct series_set {
	struct counters *of;
	struct ingest *in;
	struct arena *record;
	struct series **slots;
	size_t slot_count, count;
	bool unnamed; /* a series without a name was met: said once */
};

struct series_set *series_set_new(struct counters *c, struct ingest *in)
{
	struct series_set *set = arena_alloc(in->input, sizeof *set);

	set->of = c;
	set->in = in;
	set->record = arena_new();
	return set;
}

static struct series **slot_of(struct series **slots, size_t count, struct sv key)
{
	size_t at = (size_t)sv_hash(SV_HASH, key) & (count - 1);

	while (slots[at] != NULL && !sv_eq(slots[at]->key, key))
		at = (at + 1) & (count - 1);
	return &slots[at];
}

static void make_room(struct series_set *set)
{
	size_t count = set->slot_count == 0 ? 64 : 2 * set->slot_count;

	if (2 * set->count < set->slot_count)
		return;
	struct series **slots = arena_array(set->in->input, count, sizeof(struct series *));
	for (size_t i = 0; i < set->slot_count; i++)
		if (set->slots[i] != NULL)
			*slot_of(slots, count, set->slots[i]->key) = set->slots[i];
	set->slots = slots;
	set->slot_count = count;
}

static struct sv key_of(const struct metric *m, struct arena *a)
{
	struct sv key = arena_printf(a, "%.*s", SV_ARG(m->name));

	for (size_t i = 0; i < m->count; i++)
		key = arena_printf(a, "%.*s\n%.*s=%.*s", SV_ARG(key), SV_ARG(m->labels[i].name),
				   SV_ARG(m->labels[i].value));
	return key;
}

/* Whose host: the pod of a container, else the node, else the instance without its port. */
static struct sv host_of(const struct metric *m)
{
	struct sv host = sv_starts_with(m->name, SV("container_")) ? metric_label(m, SV("pod")) : SV_ABSENT;
	size_t colon;

	if (host.n == 0)
		host = metric_label(m, SV("node"));
	if (host.n == 0)
		host = metric_label(m, SV("nodename"));
	if (host.n == 0) {
		host = metric_label(m, SV("instance"));
		if (sv_rfind_char(host, ':', &colon))
			host = sv_sub(host, 0, colon);
	}
	return host.n == 0 ? SV_ABSENT : host;
}

/* What rate() gives has no name, a recording rule has one around the metric's: "instance:node_..._total:rate1m". */
static bool find_rate(struct series_set *set, struct metric *m)
{
	struct sv within = sv_is_absent(m->name) || m->name.n == 0 ? set->in->base_name : m->name;
	struct sv best = SV_ABSENT;
	size_t at;

	if (m->name.n > 0 && !sv_find(m->name, SV("rate"), &at))
		return false;
	for (size_t i = 0; i < NAME_COUNT; i++)
		if (sv_find(within, sv_of(names[i].name), &at) && strlen(names[i].name) > best.n)
			best = sv_of(names[i].name);
	for (unsigned i = 0; i < COUNTER_COUNT && best.n == 0; i++) {
		struct sv rest = sv_of(counter_infos[i].column), prefix = sv_cut(&rest, ':');

		if (sv_is_absent(rest))
			continue;
		struct sv name = arena_printf(set->record, "node_netstat_%.*s_%.*s", SV_ARG(prefix), SV_ARG(rest));
		if (sv_find(within, name, &at))
			best = name;
	}
	m->name = best;
	return best.n > 0;
}

static void begin_series(struct series_set *set, struct series *s, const struct metric *given)
{
	struct metric m = *given;

	s->wanted = metric_counter(&m, set->record, &s->counter);
	if (!s->wanted) {
		s->is_rate = s->wanted = find_rate(set, &m) && metric_counter(&m, set->record, &s->counter);
		if (!s->wanted && given->name.n == 0 && !set->unnamed) {
			set->unnamed = true;
			diag_add(set->in->diag, SEVERITY_WARNING, "counters.unnamed", NULL,
				 "series without a name, as rate() and sums leave them: export the counters themselves, "
				 "or put the metric's name into the file's");
		}
	}
	if (!s->wanted)
		return;
	s->host = set->in->host_is_option ? SV_ABSENT : counters_name(set->of, host_of(&m));
	s->counter.device = counters_name(set->of, s->counter.device);
	enum counter_family family = counter_infos[s->counter.id].family;
	if (family != FAMILY_CONNTRACK_TABLE)
		s->sampler = counters_series(set->of, s->host, family);
	if (family == FAMILY_PRESSURE)
		counters_scope(s->sampler, scope_of(&m));
	counters_format(set->of, sv_starts_with(m.name, SV("container_")) ? "cAdvisor" : "node_exporter");
}

struct series *series_of(struct series_set *set, const struct metric *m)
{
	struct sv key = key_of(m, set->record);

	make_room(set);
	struct series **slot = slot_of(set->slots, set->slot_count, key);
	if (*slot == NULL && set->count == SERIES_MAX) {
		diag_add(set->in->diag, SEVERITY_WARNING, "counters.too_many", NULL,
			 "more than %d series: the others are left out", SERIES_MAX);
		arena_reset(set->record);
		return NULL;
	}
	if (*slot == NULL) {
		struct series *s = arena_alloc(set->in->input, sizeof *s);

		set->count++;
		s->set = set;
		s->key = arena_copy(set->in->input, key);
		begin_series(set, s, m);
		*slot = s;
	}
	arena_reset(set->record);
	return (*slot)->wanted ? *slot : NULL;
}

static int rate_point(struct series *s, struct host_time time, int64_t rate_milli, struct reading *r)
{
	int rc = 0;

	if (s->has_before && time.us > s->before.us) {
		r->value = (uint64_t)counter_of_rate(rate_milli, time.us - s->before.us);
		rc = sampler_grown(s->sampler, r, s->before, time);
		sampler_covers(s->sampler, s->before, time);
	}
	s->has_before = true;
	s->before = time;
	return rc;
}

int series_point(struct series *s, struct host_time time, struct sv value, const struct place *place)
{
	struct reading r = {
		.counter = s->counter.id, .cpu = s->counter.cpu, .device = s->counter.device, .place = *place
	};
	int64_t number;

	if (!counter_decimal(value, s->counter.scale + (s->is_rate ? 3 : 0), &number) || number < 0)
		return 0;
	s->set->in->info->records++;
	if (s->is_rate)
		return rate_point(s, time, number, &r);
	r.value = (uint64_t)number;
	if (s->sampler == NULL) {
		*ARENA_PUSH(s->set->in->input, s->points, s->count, s->capacity) =
			(struct gauge_point){ time, r.value, *place };
		return 0;
	}
	sampler_add(s->sampler, &r);
	return sampler_close(s->sampler, time, 0, place);
}

/* Of the same host; NULL when there is none. */
static const struct series *limit_beside(const struct series_set *set, const struct series *entries)
{
	for (size_t i = 0; i < set->slot_count; i++) {
		const struct series *s = set->slots[i];

		if (s != NULL && s->wanted && s->counter.id == CONNTRACK_LIMIT && sv_eq(s->host, entries->host) &&
		    s->count > 0)
			return s;
	}
	return NULL;
}

/* The limit is a setting: the last before each point holds, before its first the first. */
static int finish_entries(struct series_set *set, const struct series *entries)
{
	const struct series *limit = limit_beside(set, entries);
	struct sampler *sampler = counters_sampler(set->of, entries->host, FAMILY_CONNTRACK_TABLE);
	size_t at = 0;
	int rc = 0;

	for (size_t i = 0; limit != NULL && i < entries->count && rc == 0; i++) {
		struct reading r = { .counter = CONNTRACK_ENTRIES,
				     .cpu = -1,
				     .value = entries->points[i].value,
				     .place = entries->points[i].place };

		while (at + 1 < limit->count && limit->points[at + 1].time.us <= entries->points[i].time.us)
			at++;
		sampler_add(sampler, &r);
		r.counter = CONNTRACK_LIMIT;
		r.value = limit->points[at].value;
		sampler_add(sampler, &r);
		rc = sampler_close(sampler, entries->points[i].time, 0, &r.place);
	}
	return rc;
}

int series_finish(struct series_set *set)
{
	int rc = 0;

	for (size_t i = 0; i < set->slot_count && rc == 0; i++)
		if (set->slots[i] != NULL && set->slots[i]->wanted && set->slots[i]->counter.id == CONNTRACK_ENTRIES)
			rc = finish_entries(set, set->slots[i]);
	arena_free(set->record);
	return rc;
}
