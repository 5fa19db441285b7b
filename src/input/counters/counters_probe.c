/* SPDX-License-Identifier: MIT */
/* The first line of what "aftershock probe" writes. See input/counters/counters_probe.h. */

#include "input/counters/counters_probe.h"

#define SIGNATURE SV("# aftershock probe ")
#define HOST SV(" host=")

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
