/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_USUALLY_H
#define AFTERSHOCK_INPUT_CAPTURE_USUALLY_H

/*
 * Conditions that hold for nearly all packets. A compiler takes each for the
 * toss of a coin, and what stands behind ten of them for code that hardly ever
 * runs: it makes that small instead of fast (gcc: "rep stos" for a few words,
 * a division for one by a constant).
 */

#define USUALLY(condition) __builtin_expect((condition), 1)
#define SELDOM(condition) __builtin_expect((condition), 0)

#endif
