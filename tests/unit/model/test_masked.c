/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/masked.h"

static void masks_are_told_from_names(void **state)
{
	static const char *const masks[] = {
		"***", "c-1-***", "****1234", "consumer-1-4bbaf2f7-5eda\xe2\x80\xa6", "consumer-1-4bba...", "<redacted>", "[REDACTED]",
		"REDACTED", "(masked)", "<Hidden>", "xxxx", "XXX", "####", "\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2", " *** ", "{filtered}",
	};
	static const char *const names[] = {
		"", "c-1", "consumer-1-4bbaf2f7-5eda-4610-8060-4f5cc3a92310", "hidden", "masked-consumer", "a*b", "**", "x", "v1.2..3",
		"ORD-2024-XXL", "<b>", "redacted", "10.0.0.1:9092",
	};

	(void)state;
	for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++)
		if (!masked_is(sv_of(masks[i])))
			fail_msg("'%s' is a mask", masks[i]);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (masked_is(sv_of(names[i])))
			fail_msg("'%s' is a name", names[i]);
	assert_false(masked_is(SV_ABSENT));
}

static void what_is_masked_is_not_known(void **state)
{
	enum event_field first = FIELD_COUNT;
	struct event e;

	(void)state;
	event_init(&e, EVENT_EFFECT);
	event_set_text(&e, FIELD_STATUS, SV("success"));
	event_set_text(&e, FIELD_BUSINESS_KEY, SV("****1234"));
	event_set_text(&e, FIELD_CONSUMER, SV("c-1"));
	assert_true(masked_forget(&e, &first));
	assert_int_equal(first, FIELD_BUSINESS_KEY);
	assert_false(event_has(&e, FIELD_BUSINESS_KEY));
	assert_true(sv_eq(event_text(&e, FIELD_CONSUMER), SV("c-1")));
	assert_false(masked_forget(&e, &first));

	/* That a member was removed stays told. One group's name is as good as another. */
	event_init(&e, EVENT_SESSION_EXPIRED);
	event_set_text(&e, FIELD_GROUP, SV("***"));
	event_set_text(&e, FIELD_MEMBER, SV("<redacted>"));
	assert_true(masked_forget(&e, &first));
	assert_true(event_has(&e, FIELD_MEMBER));
	assert_int_equal(event_text(&e, FIELD_MEMBER).n, 0);
	assert_true(sv_eq(event_text(&e, FIELD_GROUP), SV("***")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(masks_are_told_from_names),
		cmocka_unit_test(what_is_masked_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
