/* SPDX-License-Identifier: MIT */
/* Tables of any bytes, under a mapping that asks for little. */

#include "fuzz_kind.h"

#include <stdlib.h>

static const char mapping[] = "table a\nevent effect\ncolumn time t\ncolumn status s\nmaybe business_key k\nmaybe offset o\n"
			      "maybe amount_micros m\nexample t,s\nexpect time=t status=s\n\n"
			      "table b\nevent book.entry\ncolumn time t\ncolumn business_key k\nexample t,k\nexpect time=t business_key=k\n";

static const struct rules *the_rules(void)
{
	static struct rules *rules;

	if (rules == NULL) {
		struct arena *a = arena_new();

		rules = rules_parse(SV("x.rules"), SV(mapping), diag_new(a));
		arena_free(a);
		if (rules == NULL)
			abort();
	}
	return rules;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_kind(&table_kind, (struct sv){ (const char *)data, size }, the_rules());
	return 0;
}
