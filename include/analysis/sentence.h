/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_SENTENCE_H
#define AFTERSHOCK_ANALYSIS_SENTENCE_H

/* A verdict in two sentences: one that a manager can read, one that an engineer can check. For share.c. */

#include "analysis/share.h"

/* Sets manager and engineer from the verdict and the figures. */
void sentences_write(struct share *s, struct arena *a);

#endif
