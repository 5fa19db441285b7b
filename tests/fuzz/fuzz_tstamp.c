/* SPDX-License-Identifier: MIT */
/*
 * The first byte picks a layout, the rest is a time, or a file of the zone
 * database: what is read is within its bounds, and an instant shows the local
 * time that it was made from.
 */

#include "base/tstamp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct sv layouts[] = {
	{ "yyyy-MM-dd HH:mm:ss,SSS", 23 }, { "MMM d, yyyy h:mm:ss a", 21 }, { "EEE dd/MMM/yy:HH:mm:ss z", 24 },
	{ "[uptime_s]", 10 },		   { "epoch_ns XXX", 12 },	    { "MMM d HH:mm:ss.SSS", 18 },
};
#define LAYOUT_COUNT (sizeof layouts / sizeof layouts[0])

static void check(const struct tstamp *t, struct zone z)
{
	struct host_time instants[2];
	enum zone_local local;
	int64_t s;

	if (!tstamp_resolve(t, z, instants, &local) || t->is_epoch)
		return;
	if (instants[0].us > instants[1].us || !civil_seconds(&t->civil, &s))
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct zone z = { 0 };
	struct tstamp t;
	size_t used;

	if (size > 0) {
		struct sv text = { (const char *)data + 1, size - 1 };
		int64_t utc_s[2];

		if (tstamp_read(text, layouts[data[0] % LAYOUT_COUNT], &t, &used)) {
			if (used > text.n)
				__builtin_trap();
			check(&t, z);
		}
		if (tstamp_guess_parts(text, &t))
			check(&t, z);
		if (zone_read(text, SV("X"), a, &z)) {
			for (int64_t local = -4000000000; local < 8000000000; local += 97 * 86400)
				if (zone_instants(z, local, utc_s) == ZONE_TWICE && utc_s[0] >= utc_s[1])
					__builtin_trap();
		}
	}
	arena_free(a);
	return 0;
}
