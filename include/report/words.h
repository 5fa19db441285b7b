/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_REPORT_WORDS_H
#define AFTERSHOCK_REPORT_WORDS_H

/* Figures as people read them: amounts, durations, shares, times, places. */

#include <stdbool.h>
#include <stdint.h>

#include "analysis/findings.h"
#include "base/arena.h"
#include "base/buf.h"

/* "1234.50": at least two decimals, no more than it has. */
void words_amount(struct buf *b, int64_t micros);
/* "1234.50 CNY"; "unknown" when there is none. */
struct sv words_money(struct arena *a, bool known, int64_t micros, struct sv currency);
/* What is of one step, in all currencies: "16.17 CNY and 3.00 USD"; empty for none. */
struct sv words_amounts_of_step(struct arena *a, const struct amount_total *totals, size_t n, struct sv step);
/* "notice 16.17 CNY and 3.00 USD; reversal 16.17 CNY": steps are not added up; a dash for none. Totals stand by step. */
struct sv words_amounts(struct arena *a, const struct amount_total *totals, size_t n);
/* "7.100 s", "350 ms", "2 min 5 s", "30 d". */
struct sv words_duration(struct arena *a, int64_t us);
/* "6 of 7 (86 %)"; "none to count" when the total is 0. */
struct sv words_proportion(struct arena *a, const struct proportion *p);
struct sv words_percent(struct arena *a, double share);
/* "13:45:10.123"; with the date when the report spans more than one day. */
struct sv words_time(struct arena *a, const struct findings *f, struct ref_time t);
/* "R12"; empty for 0. */
struct sv words_id(struct arena *a, char letter, unsigned id);
/* Whose doing a rebalance was: the host, else the client, else the member; a dash when it is not known. */
struct sv words_doer(const struct rebalance *r);
/* "session_timeout", "member_join (suggested)". */
struct sv words_trigger(struct arena *a, const struct rebalance *r);
/* "W1,W3"; empty for none. */
struct sv words_windows(struct arena *a, const struct window *const *windows, size_t n);
/* Those that meet a rebalance's exposure: of jitter, or, where there is none, the pauses. */
struct sv words_windows_behind(struct arena *a, const struct rebalance *r);
/* "consumer-1/app.log:1841", "eth0.pcap packet 12". */
struct sv words_place(struct arena *a, const struct findings *f, const struct place *p);
/* "record was" for one, "records were" else. */
const char *words_for(size_t n, const char *one, const char *more);
/* The text, or a dash when it is absent. */
struct sv words_or_dash(struct sv text);
/* ... or "unknown". */
struct sv words_or_unknown(struct sv text);

#endif
