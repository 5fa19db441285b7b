/* SPDX-License-Identifier: MIT */
/* One JSON object, read by json-c and laid flat. */

#include "input/json.h"

#include <json-c/json.h>
#include <limits.h>

#include "base/buf.h"

/* Longer integers may not fit 64 bits, to which json-c would bend them: two ids would become one. */
#define SAFE_DIGITS 18

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Where the string that opens at i ends: one past its closing quote. */
static size_t string_end(struct sv text, size_t i)
{
	for (i++; i < text.n && text.p[i] != '"'; i++)
		if (text.p[i] == '\\')
			i++;
	return i < text.n ? i + 1 : text.n;
}

/* Where the number at i ends; *integer when it has neither fraction nor exponent. */
static size_t number_end(struct sv text, size_t i, size_t *digits, bool *integer)
{
	size_t start = i;

	*integer = true;
	if (text.p[i] == '-')
		i++;
	*digits = i;
	while (i < text.n && is_digit(text.p[i]))
		i++;
	*digits = i - *digits;
	while (i < text.n && (is_digit(text.p[i]) || text.p[i] == '.' || text.p[i] == 'e' || text.p[i] == 'E' ||
			      text.p[i] == '+' || text.p[i] == '-')) {
		*integer = false;
		i++;
	}
	return i > start ? i : start + 1;
}

/* The text with long integers made strings, so that their digits survive. */
static void keep_digits(struct sv text, struct buf *out)
{
	size_t i = 0;

	while (i < text.n) {
		size_t end = i + 1, digits = 0;
		bool integer = false;

		if (text.p[i] == '"')
			end = string_end(text, i);
		else if (text.p[i] == '-' || is_digit(text.p[i]))
			end = number_end(text, i, &digits, &integer);
		if (integer && digits > SAFE_DIGITS) {
			buf_add_char(out, '"');
			buf_add(out, sv_sub(text, i, end - i));
			buf_add_char(out, '"');
		} else {
			buf_add(out, sv_sub(text, i, end - i));
		}
		i = end;
	}
}

static bool has_long_number(struct sv text)
{
	size_t run = 0;

	for (size_t i = 0; i < text.n; i++) {
		run = is_digit(text.p[i]) ? run + 1 : 0;
		if (run > SAFE_DIGITS)
			return true;
	}
	return false;
}

static struct sv value_of(struct json_object *value, struct arena *a)
{
	size_t n = 0;
	const char *p;

	if (json_object_is_type(value, json_type_null))
		return SV_ABSENT;
	if (json_object_is_type(value, json_type_string))
		return arena_copy(a, (struct sv){ json_object_get_string(value),
						  (size_t)json_object_get_string_len(value) });
	p = json_object_to_json_string_length(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &n);
	return p != NULL ? arena_copy(a, (struct sv){ p, n }) : SV_ABSENT;
}

/* False when there are too many. */
static bool flatten(struct json_object *object, struct sv prefix, struct arena *a, struct json_record *out)
{
	json_object_object_foreach(object, key, value)
	{
		struct sv name = sv_is_absent(prefix) ? arena_copy(a, sv_of(key))
						      : arena_printf(a, "%.*s.%s", SV_ARG(prefix), key);

		if (json_object_is_type(value, json_type_object)) {
			if (!flatten(value, name, a, out))
				return false;
			continue;
		}
		if (out->count == JSON_MEMBERS_MAX)
			return false;
		*ARENA_PUSH(a, out->members, out->count, out->capacity) =
			(struct json_member){ name, value_of(value, a) };
	}
	return true;
}

static bool read_object(struct json_tokener *tokener, struct sv text, struct arena *a, struct json_record *out,
			const char **why)
{
	struct json_object *object = json_tokener_parse_ex(tokener, text.p, (int)text.n);
	bool good = false;

	if (object == NULL || json_tokener_get_error(tokener) != json_tokener_success)
		*why = json_tokener_get_error(tokener) == json_tokener_continue
			       ? "ends in the middle"
			       : json_tokener_error_desc(json_tokener_get_error(tokener));
	else if (!json_object_is_type(object, json_type_object))
		*why = "not an object";
	else if (json_tokener_get_parse_end(tokener) != text.n)
		*why = "more than one value";
	else if (!flatten(object, SV_ABSENT, a, out))
		*why = "too many members";
	else
		good = true;
	json_object_put(object);
	return good;
}

bool json_read(struct sv text, struct arena *a, struct json_record *out, const char **why)
{
	struct json_tokener *tokener;
	struct buf kept;
	bool good;

	*out = (struct json_record){ NULL, 0, 0 };
	text = sv_trim(text);
	if (text.n == 0 || text.n > INT_MAX / 2 || text.p[0] != '{') {
		*why = "not an object";
		return false;
	}
	tokener = json_tokener_new_ex(JSON_DEPTH_MAX);
	if (tokener == NULL) {
		*why = "no memory";
		return false;
	}
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	buf_init(&kept);
	if (has_long_number(text)) {
		keep_digits(text, &kept);
		text = buf_sv(&kept);
	}
	good = read_object(tokener, text, a, out, why);
	buf_fini(&kept);
	json_tokener_free(tokener);
	return good;
}

struct sv json_field(const struct json_record *r, struct sv name)
{
	for (size_t i = 0; i < r->count; i++)
		if (sv_eq(r->members[i].name, name))
			return r->members[i].value;
	return SV_ABSENT;
}
