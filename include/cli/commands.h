/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_CLI_COMMANDS_H
#define AFTERSHOCK_CLI_COMMANDS_H

/* The subcommands. Each returns an exit code. */

#include "cli/opts.h"

enum exit_code command_analyze(const struct options *o, struct arena *run);
enum exit_code command_ingest(const struct options *o, struct arena *run);
enum exit_code command_report(const struct options *o, struct arena *run);
enum exit_code command_tune(const struct options *o, struct arena *run);
enum exit_code command_explain(const struct options *o, struct arena *run);
enum exit_code command_probe(const struct options *o, struct arena *run);
enum exit_code command_rules(const struct options *o, struct arena *run);
enum exit_code command_thresholds(const struct options *o, struct arena *run);

#endif
