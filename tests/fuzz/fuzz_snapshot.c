/* SPDX-License-Identifier: MIT */
/* Group tables of any bytes. */

#include "fuzz_kind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_kind(&snapshot_kind, (struct sv){ (const char *)data, size }, NULL);
	return 0;
}
