/* SPDX-License-Identifier: MIT */
/*
 * What keeps a process from running: pressure stall information of the machine
 * or of a cgroup ("some avg10=... total=us"), and cpu.stat of a cgroup with a
 * quota (v2 in microseconds, v1 in nanoseconds). They look like network
 * silence from afar (input-formats.md 1.10).
 */

#include "input/counters/loop.h"

enum { CPU, IO, MEMORY, RESOURCES };

static const struct {
	struct sv name;
	enum counter_id some, full;
} resources[RESOURCES] = {
	[CPU] = { { "cpu", 3 }, PRESSURE_CPU_SOME, PRESSURE_CPU_FULL },
	[IO] = { { "io", 2 }, PRESSURE_IO_SOME, PRESSURE_IO_FULL },
	[MEMORY] = { { "memory", 6 }, PRESSURE_MEMORY_SOME, PRESSURE_MEMORY_FULL },
};

/* Rows without a heading: "cat /proc/pressure/?*" prints cpu, io, memory in this order, and nothing that says so. */
struct unnamed {
	size_t count; /* of "some" rows */
	bool has_full[RESOURCES];
	uint64_t some[RESOURCES], full[RESOURCES];
	struct line line[RESOURCES];
};

/* "/proc/pressure/io", "io", "cpu.pressure" of a cgroup. */
static bool resource_of(const struct loop_block *b, size_t *resource)
{
	struct sv name = loop_section_file(b), rest = name, first = sv_cut(&rest, '.');

	if (!sv_is_absent(rest) && !sv_eq(rest, SV("pressure")))
		return false;
	for (*resource = 0; *resource < RESOURCES; (*resource)++)
		if (sv_eq(first, resources[*resource].name))
			return true;
	return false;
}

/* The cgroup's folder; absent: the machine's, or not told. */
static struct sv cgroup_of(const struct loop_block *b)
{
	struct sv folder = loop_section_folder(b);

	return sv_starts_with(folder, SV("/proc/pressure")) ? SV_ABSENT : folder;
}

static bool is_row(struct sv text, bool *full, uint64_t *total)
{
	struct sv rest = text, kind = counter_word(&rest);
	bool has_total = false;

	*full = sv_eq(kind, SV("full"));
	if (!*full && !sv_eq(kind, SV("some")))
		return false;
	for (struct sv word = counter_word(&rest); !sv_is_absent(word); word = counter_word(&rest)) {
		struct sv value = word, name = sv_cut(&value, '=');

		if (sv_is_absent(value))
			return false;
		if (sv_eq(name, SV("total")))
			has_total = sv_to_u64(value, total);
	}
	return has_total;
}

static enum loop_line take_unnamed(struct loop_block *b, const struct line *line, bool full, uint64_t total)
{
	if (b->state == NULL)
		b->state = arena_alloc(b->arena, sizeof(struct unnamed));
	struct unnamed *u = b->state;
	if (!full)
		u->count++;
	if (u->count == 0 || u->count > RESOURCES)
		return LOOP_LINE_TAKEN;
	size_t i = u->count - 1;
	u->line[i] = *line;
	if (full) {
		u->has_full[i] = true;
		u->full[i] = total;
	} else {
		u->some[i] = total;
	}
	b->rows++;
	return LOOP_LINE_TAKEN;
}

enum loop_line pressure_take(struct loop_block *b, const struct line *line, const char **why)
{
	uint64_t total;
	size_t resource;
	bool full;

	(void)why;
	if (!is_row(line->text, &full, &total))
		return LOOP_LINE_OTHER;
	if (!resource_of(b, &resource))
		return take_unnamed(b, line, full, total);
	enum counter_id id = full ? resources[resource].full : resources[resource].some;
	b->device = cgroup_of(b);
	if (!sv_is_absent(b->device))
		b->scope = "cgroup";
	else if (sv_starts_with(b->section, SV("/proc/")))
		b->scope = "host";
	if (loop_has(b, id, b->device))
		return LOOP_LINE_AGAIN;
	loop_add_device(b, id, total, line);
	b->device = SV_ABSENT;
	b->rows++;
	return LOOP_LINE_TAKEN;
}

int pressure_close(struct loop_block *b, struct ingest *in, const struct host_time *time)
{
	struct unnamed *u = b->state;

	(void)time;
	if (u == NULL || u->count == 0)
		return 0;
	b->scope = "host";
	for (size_t i = 0; i < RESOURCES && u->count == RESOURCES; i++) {
		loop_add(b, resources[i].some, -1, u->some[i], &u->line[i]);
		if (u->has_full[i])
			loop_add(b, resources[i].full, -1, u->full[i], &u->line[i]);
	}
	if (u->count != RESOURCES)
		diag_add(in->diag, SEVERITY_NOTE, "counters.unnamed", &b->first,
			 "pressure of what? A line with the file's name, such as head prints it, tells cpu, io and "
			 "memory apart");
	*u = (struct unnamed){ 0 };
	return 0;
}

/* ---- cpu.stat ---- */

static const struct {
	struct sv key;
	enum counter_id counter;
	uint64_t divisor;
} cpu_keys[] = {
	{ { "nr_periods", 10 }, CPU_PERIODS, 1 },
	{ { "nr_throttled", 12 }, CPU_THROTTLED_PERIODS, 1 },
	{ { "throttled_usec", 14 }, CPU_THROTTLED_US, 1 },
	{ { "throttled_time", 14 }, CPU_THROTTLED_US, 1000 },
	{ { "usage_usec", 10 }, COUNTER_COUNT, 1 },
	{ { "user_usec", 9 }, COUNTER_COUNT, 1 },
	{ { "system_usec", 11 }, COUNTER_COUNT, 1 },
	{ { "nice_usec", 9 }, COUNTER_COUNT, 1 },
	{ { "core_sched.force_idle_usec", 26 }, COUNTER_COUNT, 1 },
	{ { "nr_bursts", 9 }, COUNTER_COUNT, 1 },
	{ { "burst_usec", 10 }, COUNTER_COUNT, 1 },
	{ { "burst_time", 10 }, COUNTER_COUNT, 1 },
	{ { "wait_sum", 8 }, COUNTER_COUNT, 1 },
	{ { "current_bw", 10 }, COUNTER_COUNT, 1 },
};

enum loop_line cpu_stat_take(struct loop_block *b, const struct line *line, const char **why)
{
	struct sv rest = line->text, key = counter_word(&rest);
	uint64_t value;
	size_t i = 0;

	while (i < sizeof cpu_keys / sizeof cpu_keys[0] && !sv_eq(cpu_keys[i].key, key))
		i++;
	if (i == sizeof cpu_keys / sizeof cpu_keys[0])
		return LOOP_LINE_OTHER;
	if (!sv_to_u64(counter_word(&rest), &value) || !sv_is_absent(counter_word(&rest))) {
		*why = "a row of cpu.stat is a name and a number";
		return LOOP_LINE_DAMAGED;
	}
	b->rows++;
	if (cpu_keys[i].counter == COUNTER_COUNT)
		return LOOP_LINE_TAKEN;
	b->device = loop_section_folder(b);
	if (loop_has(b, cpu_keys[i].counter, b->device))
		return LOOP_LINE_AGAIN;
	loop_add_device(b, cpu_keys[i].counter, value / cpu_keys[i].divisor, line);
	b->device = SV_ABSENT;
	return LOOP_LINE_TAKEN;
}
