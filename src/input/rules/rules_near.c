/* SPDX-License-Identifier: MIT */
/* Messages for which a rule may be missing. */

#include "input/rules/rules.h"

#define WORD(literal) { literal, sizeof literal - 1 }

const struct sv rules_near_words[RULES_NEAR_WORDS] = {
	WORD("rebalance"), WORD("rebalancing"), WORD("Rebalance"), WORD("Rebalancing"), WORD("heartbeat"), WORD("Heartbeat"),
	WORD("group coordinator"), WORD("coordinator dead"),
	WORD("joining group"), WORD("joined group"), WORD("rejoin"), WORD("re-join"), WORD("revok"), WORD("Revok"),
	WORD("session timed out"), WORD("session timeout"), WORD("session expired"), WORD("poll interval"), WORD("poll timeout"),
	WORD("consumer group"), WORD("LeaveGroup"), WORD("OffsetCommit"), WORD("member id"), WORD("UNKNOWN_MEMBER_ID"),
	WORD("ILLEGAL_GENERATION"), WORD("max.poll.interval"),
};

bool rules_near_miss(struct sv body)
{
	size_t at;

	for (size_t i = 0; i < RULES_NEAR_WORDS; i++)
		if (sv_find(body, rules_near_words[i], &at))
			return true;
	return false;
}
