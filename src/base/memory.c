/* SPDX-License-Identifier: MIT */
/* See base/memory.h. */

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

void memory_exhausted(void)
{
	fputs("aftershock: out of memory\n", stderr);
	exit(1);
}

void *memory_checked(void *p)
{
	if (p == NULL)
		memory_exhausted();
	return p;
}
