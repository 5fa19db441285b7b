/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_NAMES_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_NAMES_H

/*
 * Names that outlive their frame: groups, members, clients, topics. Each is
 * kept once, so that equal ones stand at one address; there are few in a
 * capture, and a hostile one is cut off.
 */

#include "base/arena.h"

struct kafka_names;

struct kafka_names *kafka_names_new(struct arena *a);
/* The kept copy; absent when it was absent, is too long, or there is no room for more. */
struct sv kafka_names_keep(struct kafka_names *n, struct sv name);
/* The same, told what it probably is: another kept copy, or absent. */
struct sv kafka_names_again(struct kafka_names *n, struct sv name, struct sv before);

/* Topics by their id, as Metadata responses told. */
void kafka_names_topic(struct kafka_names *n, struct sv id, struct sv topic);
/* The name; without one the id as Kafka writes it: 22 characters of URL-safe base64. */
struct sv kafka_names_topic_of(struct kafka_names *n, struct sv id);

#endif
