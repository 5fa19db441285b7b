/* SPDX-License-Identifier: MIT */
/* aftershock: from what an incident left behind to what happened, why, and what would have held. */

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

static const struct subcommand {
	enum command command;
	enum exit_code (*run)(const struct options *o, struct arena *run);
	const char *usage, *what, *example;
} subcommands[] = {
	{ COMMAND_ANALYZE, command_analyze, "INPUT... [-o DIR]",
	  "the whole job: read everything, align, correlate, and report",
	  "aftershock analyze samples/refund-incident -o /tmp/refunds" },
	{ COMMAND_INGEST, command_ingest, "--db FILE INPUT...",
	  "add evidence to an incident database; the same input again adds nothing",
	  "aftershock ingest --db /tmp/refunds.db samples/refund-incident" },
	{ COMMAND_REPORT, command_report, "--db FILE [--format NAME] [-o FILE]", "correlate and report",
	  "aftershock report --db /tmp/refunds.db --format markdown" },
	{ COMMAND_TUNE, command_tune, "--db FILE [--session-timeout LIST]",
	  "what each session timeout would have avoided and cost, and the dedupe TTL",
	  "aftershock tune --db /tmp/refunds.db --session-timeout 10s,20s,30s --reconciliation 30d" },
	{ COMMAND_EXPLAIN, command_explain, "--db FILE ID",
	  "the chain of evidence behind a window, rebalance, redelivery or duplicate, down to line and packet",
	  "aftershock explain --db /tmp/refunds.db R2" },
	{ COMMAND_PROBE, command_probe, "[--interval 1s] [--capture IFACE] -o FILE",
	  "record the counters (and packets) of this host until interrupted, in a form that ingest reads",
	  "aftershock probe --interval 1s --duration 10s -o /tmp/this-host.probe" },
	{ COMMAND_RULES, command_rules, "list | check [FILE...] | test [FILE] < LINES",
	  "show the rules; run their examples; show what matches each line of standard input",
	  "aftershock rules test < samples/refund-incident/broker-1/server.log" },
	{ COMMAND_THRESHOLDS, command_thresholds, "",
	  "list the thresholds of the detectors: default, unit, range, and why; --set of other commands changes them",
	  "aftershock thresholds" },
};
#define SUBCOMMAND_COUNT (sizeof subcommands / sizeof subcommands[0])

static void overview(FILE *f)
{
	fputs("aftershock " AFTERSHOCK_VERSION ": did the network cause those rebalances, and what was executed twice?\n\n"
	      "usage: aftershock COMMAND ...\n\n",
	      f);
	for (size_t i = 0; i < SUBCOMMAND_COUNT; i++)
		fprintf(f, "  %-10s %s\n", command_name(subcommands[i].command), subcommands[i].what);
	fputs("\n'aftershock COMMAND --help' has the options and an example.\n\n"
	      "exit codes: 0 done, 1 failed, 2 wrong usage, 3 done but some input was damaged, 4 report --fail-on\n",
	      f);
}

static void help(const struct subcommand *s)
{
	printf("usage: aftershock %s%s%s\n\n%s\n", command_name(s->command), s->usage[0] != '\0' ? " " : "", s->usage, s->what);
	opts_help(s->command);
	printf("\nexample:\n  %s\n", s->example);
}

static const struct subcommand *find_subcommand(const char *name)
{
	for (size_t i = 0; i < SUBCOMMAND_COUNT; i++)
		if (strcmp(command_name(subcommands[i].command), name) == 0)
			return &subcommands[i];
	return NULL;
}

static bool is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

/* What people type before they know better: "aftershock help report". */
static int help_on(const char *name)
{
	const struct subcommand *s = name == NULL ? NULL : find_subcommand(name);
	if (s != NULL)
		help(s);
	else
		overview(stdout);
	return EXIT_DONE;
}

int main(int argc, char **argv)
{
	if (argc >= 2 && is_help(argv[1]))
		return help_on(argc > 2 ? argv[2] : NULL);
	if (argc >= 2 && strcmp(argv[1], "--version") == 0) {
		puts("aftershock " AFTERSHOCK_VERSION);
		return EXIT_DONE;
	}
	const struct subcommand *s = argc >= 2 ? find_subcommand(argv[1]) : NULL;
	if (s == NULL) {
		if (argc >= 2)
			fprintf(stderr, "aftershock: there is no command %s\n\n", argv[1]);
		overview(stderr);
		return EXIT_USAGE;
	}
	/* A reader that goes away (| head) is a failed write with a message, not a silent end. */
	signal(SIGPIPE, SIG_IGN);
	struct arena *run = arena_new();
	struct options o = { 0 };
	enum exit_code code = EXIT_USAGE;
	if (opts_parse(s->command, argc - 1, argv + 1, run, &o)) {
		code = EXIT_DONE;
		if (o.help)
			help(s);
		else
			code = s->run(&o, run);
	}
	arena_free(run);
	return (int)code;
}
