/* SPDX-License-Identifier: MIT */
/* The table of thresholds. See analysis/threshold.h. */

#include "analysis/threshold.h"

const struct threshold threshold_infos[THRESHOLD_COUNT] = {
#define THRESHOLD(id, name, value, unit, least, most, reason) { name, value, unit, least, most, reason },
#include "analysis/threshold.def"
#undef THRESHOLD
};

struct thresholds thresholds_default(void)
{
	struct thresholds t;

	for (int i = 0; i < THRESHOLD_COUNT; i++)
		t.value[i] = threshold_infos[i].value;
	return t;
}

bool threshold_by_name(struct sv name, enum threshold_id *out)
{
	for (int i = 0; i < THRESHOLD_COUNT; i++) {
		if (sv_eq(name, sv_of(threshold_infos[i].name))) {
			*out = (enum threshold_id)i;
			return true;
		}
	}
	return false;
}

bool threshold_set(struct thresholds *t, enum threshold_id id, int64_t value)
{
	if (value < threshold_infos[id].least || value > threshold_infos[id].most)
		return false;
	t->value[id] = value;
	return true;
}

bool threshold_is_changed(const struct thresholds *t, enum threshold_id id)
{
	return t->value[id] != threshold_infos[id].value;
}
