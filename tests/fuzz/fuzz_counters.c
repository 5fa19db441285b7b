/* SPDX-License-Identifier: MIT */
/* Counter loops of any bytes: the sniffer and the reader. */

#include "fuzz_kind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input_info info = { .id = 1 };

	/* Its records are samples, and what is skipped are rows of them: one may be more than the other. */
	fuzz_read(&counters_kind, (struct sv){ (const char *)data, size }, NULL, &info);
	return 0;
}
