/* SPDX-License-Identifier: MIT */
/* XML of any bytes, tag by tag: it ends, and what opens closes. */

#include "input/stream.h"
#include "input/xml_pull.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct xml_pull *p = xml_pull_stream(a, stream_of(a, (struct sv){ (const char *)data, size }));
	size_t opened = 0, closed = 0;
	enum xml_token t;

	while ((t = xml_pull_next(p)) != XML_END && t != XML_DAMAGED) {
		opened += t == XML_OPEN;
		closed += t == XML_CLOSE;
		if (opened > size || closed > opened || xml_pull_attribute_count(p) > XML_PULL_ATTRIBUTES_MAX)
			__builtin_trap();
		for (size_t i = 0; i < xml_pull_attribute_count(p); i++)
			if (sv_is_absent(xml_pull_attribute(p, xml_pull_attribute_at(p, i).name)))
				__builtin_trap();
	}
	if (t == XML_END && opened != closed)
		__builtin_trap();
	arena_free(a);
	return 0;
}
