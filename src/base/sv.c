/* SPDX-License-Identifier: MIT */
/* Borrowed views of text, and strict numbers. See base/sv.h. */

#include "base/sv.h"

#include <string.h>

struct sv sv_of(const char *text)
{
	return text == NULL ? SV_ABSENT : (struct sv){ text, strlen(text) };
}

struct sv sv_sub(struct sv s, size_t from, size_t n)
{
	if (s.p == NULL)
		return SV_ABSENT;
	if (from > s.n)
		from = s.n;
	if (n > s.n - from)
		n = s.n - from;
	return (struct sv){ s.p + from, n };
}

bool sv_eq(struct sv a, struct sv b)
{
	if (a.p == NULL || b.p == NULL)
		return a.p == b.p;
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool sv_agree(struct sv a, struct sv b)
{
	return sv_is_absent(a) || sv_is_absent(b) || sv_eq(a, b);
}

static char lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

bool sv_eq_nocase(struct sv a, struct sv b)
{
	if (a.p == NULL || b.p == NULL)
		return a.p == b.p;
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (lower(a.p[i]) != lower(b.p[i]))
			return false;
	return true;
}

int sv_cmp(struct sv a, struct sv b)
{
	if (a.p == NULL || b.p == NULL)
		return (a.p != NULL) - (b.p != NULL);
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n == 0 ? 0 : memcmp(a.p, b.p, n);
	if (order != 0)
		return order < 0 ? -1 : 1;
	return (a.n > b.n) - (a.n < b.n);
}

bool sv_starts_with(struct sv s, struct sv prefix)
{
	return s.p != NULL && s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

bool sv_ends_with(struct sv s, struct sv suffix)
{
	return s.p != NULL && s.n >= suffix.n &&
	       (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

bool sv_find(struct sv s, struct sv needle, size_t *at)
{
	if (s.p == NULL || needle.n > s.n)
		return false;
	if (needle.n == 0) {
		*at = 0;
		return true;
	}
	const char *from = s.p;
	const char *last = s.p + (s.n - needle.n);
	while (from <= last) {
		const char *hit = memchr(from, needle.p[0], (size_t)(last - from) + 1);
		if (hit == NULL)
			return false;
		if (memcmp(hit, needle.p, needle.n) == 0) {
			*at = (size_t)(hit - s.p);
			return true;
		}
		from = hit + 1;
	}
	return false;
}

bool sv_find_char(struct sv s, char c, size_t *at)
{
	const char *hit = s.n == 0 ? NULL : memchr(s.p, c, s.n);
	if (hit == NULL)
		return false;
	*at = (size_t)(hit - s.p);
	return true;
}

size_t sv_leading_zeros(struct sv s)
{
	static const char zeros[4096];
	size_t n = 0;

	while (s.n - n >= sizeof zeros && memcmp(s.p + n, zeros, sizeof zeros) == 0)
		n += sizeof zeros;
	while (n < s.n && s.p[n] == '\0')
		n++;
	return n;
}

bool sv_rfind_char(struct sv s, char c, size_t *at)
{
	for (size_t i = s.n; i > 0; i--) {
		if (s.p[i - 1] == c) {
			*at = i - 1;
			return true;
		}
	}
	return false;
}

uint64_t sv_hash(uint64_t begun, struct sv s)
{
	for (size_t i = 0; i < s.n; i++)
		begun = (begun ^ (unsigned char)s.p[i]) * UINT64_C(1099511628211);
	return begun;
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct sv sv_trim(struct sv s)
{
	while (s.n > 0 && is_space(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && is_space(s.p[s.n - 1]))
		s.n--;
	return s;
}

struct sv sv_cut(struct sv *rest, char sep)
{
	size_t at;
	struct sv piece = *rest;
	if (!sv_find_char(*rest, sep, &at)) {
		*rest = SV_ABSENT;
		return piece;
	}
	piece.n = at;
	rest->p += at + 1;
	rest->n -= at + 1;
	return piece;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

static bool to_unsigned(struct sv s, unsigned base, uint64_t *out)
{
	uint64_t value = 0;
	if (s.n == 0)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		unsigned digit = (unsigned)digit_of(s.p[i]);
		if (digit >= base || value > (UINT64_MAX - digit) / base)
			return false;
		value = value * base + digit;
	}
	*out = value;
	return true;
}

bool sv_to_u64(struct sv s, uint64_t *out)
{
	return to_unsigned(s, 10, out);
}

bool sv_to_hex64(struct sv s, uint64_t *out)
{
	return to_unsigned(s, 16, out);
}

/* sign and magnitude to a signed number, without overflow. */
static bool apply_sign(bool negative, uint64_t magnitude, int64_t *out)
{
	if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0))
		return false;
	if (negative)
		*out = magnitude == 0 ? 0 : -(int64_t)(magnitude - 1) - 1;
	else
		*out = (int64_t)magnitude;
	return true;
}

static bool cut_sign(struct sv *s)
{
	bool negative = s->n > 0 && s->p[0] == '-';
	if (s->n > 0 && (negative || s->p[0] == '+'))
		*s = sv_sub(*s, 1, s->n);
	return negative;
}

bool sv_to_i64(struct sv s, int64_t *out)
{
	uint64_t magnitude;
	bool negative = cut_sign(&s);
	return to_unsigned(s, 10, &magnitude) && apply_sign(negative, magnitude, out);
}

#define DECIMALS 6

bool sv_to_micros(struct sv s, int64_t *out)
{
	bool negative = cut_sign(&s);
	struct sv decimals = s;
	struct sv whole = sv_cut(&decimals, '.');
	uint64_t units, micros = 0;

	if (!to_unsigned(whole, 10, &units))
		return false;
	if (!sv_is_absent(decimals)) {
		while (decimals.n > DECIMALS && decimals.p[decimals.n - 1] == '0')
			decimals.n--;
		if (decimals.n > DECIMALS || !to_unsigned(decimals, 10, &micros))
			return false;
		for (size_t i = decimals.n; i < DECIMALS; i++)
			micros *= 10;
	}
	if (units > (UINT64_MAX - micros) / 1000000)
		return false;
	return apply_sign(negative, units * 1000000 + micros, out);
}
