/* SPDX-License-Identifier: MIT */
/* Captures of any bytes: the sniffer and the reader, down to the events of tcp. */

#include "fuzz_kind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_kind(&capture_kind, (struct sv){ (const char *)data, size }, NULL);
	return 0;
}
