/* SPDX-License-Identifier: MIT */
/* The lines that "aftershock probe" writes beside its samples. See input/counters/counters_probe.h. */

#include "input/counters/counters_probe.h"

#include "input/counters/counters.h"

#define SIGNATURE SV("# aftershock probe ")
#define HOST SV(" host=")
#define SET_BY SV("# the clock was set by ")
#define SINCE SV(" us since the sample before")
#define CAPTURE SV("# capture: ")
#define WRITTEN SV(" packets written, ")
#define BY_KERNEL SV(" dropped by the kernel, ")
#define BY_INTERFACE SV(" by the interface")
/* A hundred years. */
#define STEP_US_MAX INT64_C(3153600000000000)

bool counters_probe_begins(struct sv text)
{
	return sv_starts_with(text, SIGNATURE);
}

struct sv counters_probe_host(struct sv line)
{
	size_t at;

	if (!counters_probe_begins(line) || !sv_find(line, HOST, &at))
		return SV_ABSENT;
	struct sv rest = sv_sub(line, at + HOST.n, line.n), host = sv_cut(&rest, ' ');
	return host.n > 0 ? host : SV_ABSENT;
}

bool counters_probe_clock_set(struct sv line, int64_t *step_us)
{
	size_t around = SET_BY.n + SINCE.n;

	if (!sv_starts_with(line, SET_BY) || !sv_ends_with(line, SINCE) || line.n < around)
		return false;
	return counter_decimal(sv_sub(line, SET_BY.n, line.n - around), 0, step_us) && *step_us > -STEP_US_MAX &&
	       *step_us < STEP_US_MAX;
}

/* The number before the words; *rest is what stands behind them. */
static bool cut_number(struct sv *rest, struct sv words, uint64_t *out)
{
	size_t at;

	if (!sv_find(*rest, words, &at) || !sv_to_u64(sv_sub(*rest, 0, at), out))
		return false;
	*rest = sv_sub(*rest, at + words.n, rest->n);
	return true;
}

bool counters_probe_dropped(struct sv line, uint64_t *packets)
{
	uint64_t written, by_kernel, by_interface;
	struct sv rest = sv_sub(line, CAPTURE.n, line.n);

	if (!sv_starts_with(line, CAPTURE) || !cut_number(&rest, WRITTEN, &written) ||
	    !cut_number(&rest, BY_KERNEL, &by_kernel) || !cut_number(&rest, BY_INTERFACE, &by_interface))
		return false;
	return !__builtin_add_overflow(by_kernel, by_interface, packets);
}
