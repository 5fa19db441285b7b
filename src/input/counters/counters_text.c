/* SPDX-License-Identifier: MIT */
/* Words and numbers, as the formats of counters write them. */

#include "input/counters/counters.h"

struct sv counter_word(struct sv *rest)
{
	struct sv s = *rest;

	while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t'))
		s = sv_sub(s, 1, s.n);
	size_t n = 0;
	while (n < s.n && s.p[n] != ' ' && s.p[n] != '\t')
		n++;
	*rest = sv_sub(s, n, s.n);
	return n == 0 ? SV_ABSENT : sv_sub(s, 0, n);
}

bool counter_is_hex8(struct sv word, uint64_t *value)
{
	return word.n == 8 && sv_to_hex64(word, value);
}

/* What stands behind e or E; 0 when nothing does. */
static bool split_exponent(struct sv *text, int64_t *exponent)
{
	size_t at;

	*exponent = 0;
	if (!sv_find_char(*text, 'e', &at) && !sv_find_char(*text, 'E', &at))
		return true;
	struct sv digits = sv_sub(*text, at + 1, text->n);
	if (digits.n > 1 && digits.p[0] == '+')
		digits = sv_sub(digits, 1, digits.n);
	*text = sv_sub(*text, 0, at);
	return sv_to_i64(digits, exponent) && *exponent >= -400 && *exponent <= 400;
}

/* mantissa x 10^exponent, rounded half away from zero. */
static bool shift_decimal(int64_t mantissa, int64_t exponent, int64_t *out)
{
	bool up = false;

	for (; exponent > 0 && mantissa != 0; exponent--)
		if (__builtin_mul_overflow(mantissa, 10, &mantissa))
			return false;
	for (; exponent < 0 && (mantissa != 0 || up); exponent++) {
		up = mantissa % 10 >= 5;
		mantissa /= 10;
	}
	*out = mantissa + up;
	return true;
}

bool counter_decimal(struct sv text, int scale, int64_t *out)
{
	bool negative = text.n > 0 && text.p[0] == '-', fraction = false;
	int64_t mantissa = 0, exponent;
	size_t digits = 0;

	if (negative || (text.n > 0 && text.p[0] == '+'))
		text = sv_sub(text, 1, text.n);
	if (text.n > 64 || !split_exponent(&text, &exponent))
		return false;
	exponent += scale;
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if ((c == '.' || c == ',') && !fraction) {
			fraction = true;
			continue;
		}
		if (c < '0' || c > '9')
			return false;
		digits++;
		/* What 64 bits do not hold of a fraction is cut. */
		if (mantissa > INT64_MAX / 10 - 1) {
			exponent += fraction ? 0 : 1;
			continue;
		}
		mantissa = mantissa * 10 + (c - '0');
		exponent -= fraction;
	}
	if (digits == 0 || !shift_decimal(mantissa, exponent, &mantissa))
		return false;
	*out = negative ? -mantissa : mantissa;
	return true;
}

int64_t counter_of_rate(int64_t rate_milli, int64_t interval_us)
{
	int64_t product, ms = (interval_us + US_PER_MS / 2) / US_PER_MS;

	if (rate_milli <= 0 || ms <= 0)
		return 0;
	if (__builtin_mul_overflow(rate_milli, ms, &product))
		return INT64_MAX;
	return product / 1000000 + (product % 1000000 >= 500000);
}

bool counter_by_column(struct sv prefix, struct sv name, enum counter_id *out)
{
	for (unsigned i = 0; i < COUNTER_COUNT; i++) {
		struct sv column = sv_of(counter_infos[i].column);

		if (column.n == prefix.n + 1 + name.n && sv_starts_with(column, prefix) && column.p[prefix.n] == ':' &&
		    sv_ends_with(column, name)) {
			*out = (enum counter_id)i;
			return true;
		}
	}
	return false;
}

struct place counter_place(const struct line *line)
{
	return (struct place){ .unit = PLACE_LINE, .number = line->number, .byte_offset = line->byte_offset };
}
