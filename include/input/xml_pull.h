/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_XML_PULL_H
#define AFTERSHOCK_INPUT_XML_PULL_H

/*
 * XML tag by tag, for exports that keep their figures in attributes: what stands
 * between tags, comments and declarations are passed over, entities stay as they
 * are written. Memory does not grow with the input. Names of opening and closing
 * tags are not held against each other, their numbers are.
 */

#include "base/arena.h"
#include "input/kind.h"

enum xml_token {
	XML_END,
	XML_OPEN, /* <name a="1"> and, followed by XML_CLOSE, <name a="1"/> */
	XML_CLOSE,
	XML_DAMAGED, /* and nothing more after it */
};

/* A longer tag, or one of more attributes, is damage. */
#define XML_PULL_TAG_MAX 8192
#define XML_PULL_ATTRIBUTES_MAX 64

struct xml_attribute {
	struct sv name, value;
};

struct xml_pull;

struct xml_pull *xml_pull_stream(struct arena *a, struct stream *s);
enum xml_token xml_pull_next(struct xml_pull *p);
/* Of the last tag; all of them are good until the next. */
struct sv xml_pull_name(const struct xml_pull *p);
size_t xml_pull_attribute_count(const struct xml_pull *p);
struct xml_attribute xml_pull_attribute_at(const struct xml_pull *p, size_t i);
/* The value; absent when there is none of that name. */
struct sv xml_pull_attribute(const struct xml_pull *p, struct sv name);
/* How many pieces of text outside of the outermost elements have been passed over, and where the first of them stands. */
uint64_t xml_pull_strays(const struct xml_pull *p, struct place *first);
/* Where the last tag stands. */
struct place xml_pull_place(const struct xml_pull *p);

#endif
