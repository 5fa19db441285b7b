/* SPDX-License-Identifier: MIT */
/*
 * Compares values of a JSON report with facts: facts REPORT.json FACTS. A fact
 * is a line "share.lagged.count = 10"; a path may end in ".#", the length of
 * an array, and hold numbers as indices. Comments start with "#".
 */

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct json_object *step(struct json_object *o, const char *part)
{
	struct json_object *v = NULL;
	if (json_object_is_type(o, json_type_array))
		return json_object_array_get_idx(o, strtoul(part, NULL, 10));
	return json_object_object_get_ex(o, part, &v) ? v : NULL;
}

/* The value as the fact writes it: text bare, the rest as JSON. */
static void value_of(struct json_object *o, char *path, char *out, size_t size)
{
	for (char *part = strtok(path, "."); part != NULL; part = strtok(NULL, ".")) {
		if (strcmp(part, "#") == 0) {
			snprintf(out, size, "%zu", json_object_is_type(o, json_type_array) ? json_object_array_length(o) : 0);
			return;
		}
		o = step(o, part);
	}
	snprintf(out, size, "%s", json_object_is_type(o, json_type_string) ? json_object_get_string(o) : json_object_to_json_string(o));
}

int main(int argc, char **argv)
{
	char line[1024], value[1024];
	int number = 0, checked = 0, wrong = 0;
	struct json_object *report = argc == 3 ? json_object_from_file(argv[1]) : NULL;
	FILE *facts = argc == 3 ? fopen(argv[2], "r") : NULL;
	if (report == NULL || facts == NULL) {
		fputs("usage: facts REPORT.json FACTS\n", stderr);
		return 2;
	}
	while (fgets(line, sizeof line, facts) != NULL) {
		number++;
		line[strcspn(line, "\n")] = '\0';
		char *equals = strstr(line, " = ");
		if (line[0] == '#' || line[0] == '\0')
			continue;
		if (equals == NULL) {
			printf("%s:%d: no \" = \" in it\n", argv[2], number);
			wrong++;
			continue;
		}
		*equals = '\0';
		char path[1024];
		snprintf(path, sizeof path, "%s", line);
		value_of(report, path, value, sizeof value);
		checked++;
		if (strcmp(value, equals + 3) != 0) {
			printf("%s:%d: %s is %s, expected %s\n", argv[2], number, line, value, equals + 3);
			wrong++;
		}
	}
	fclose(facts);
	json_object_put(report);
	printf("%d facts checked, %d wrong\n", checked, wrong);
	return wrong == 0 && checked > 0 ? 0 : 1;
}
