/* SPDX-License-Identifier: MIT */
/* Counters of any bytes: the sniffers, and the reader of the format that they find; the corpus has a seed for each. */

#include "fuzz_kind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_kind(&counters_kind, (struct sv){ (const char *)data, size }, NULL);
	return 0;
}
