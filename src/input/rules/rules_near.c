/* SPDX-License-Identifier: MIT */
/* Messages for which a rule may be missing. */

#include "input/rules/rules.h"

static const char *const group_words[] = {
	"rebalanc", "Rebalanc", "eartbeat", "group coordinator", "coordinator dead", "joining group", "joined group",
	"rejoin", "re-join", "revok", "Revok", "session timed out", "session timeout", "session expired",
	"poll interval", "poll timeout", "consumer group", "LeaveGroup", "OffsetCommit", "member id", "UNKNOWN_MEMBER_ID",
	"ILLEGAL_GENERATION", "max.poll.interval",
};

bool rules_near_miss(struct sv body)
{
	size_t at;

	for (size_t i = 0; i < sizeof group_words / sizeof group_words[0]; i++)
		if (sv_find(body, sv_of(group_words[i]), &at))
			return true;
	return false;
}
