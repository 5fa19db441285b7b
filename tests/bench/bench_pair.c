/* SPDX-License-Identifier: MIT */
/*
 * bench_pair PAIRS DIRECTORY BAR NAME -- COMMAND A ... -- COMMAND B ...
 *
 * Runs A and B in turn, once to warm up and then PAIRS times, and prints the
 * median of time A / time B with the least and the greatest ratio, the same of
 * processor time (on a busy machine the steadier one), and the peak memory of B. Exit code 1 when the median is below
 * BAR (a number, or "-"). What they print goes to files of DIRECTORY. Before each run the database that another has left
 * there, bench.db, is taken away: that is not timed.
 *
 * bench_pair --peak DIRECTORY COMMAND ...
 *
 * Prints the peak memory of a command, in MB.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAIRS_MAX 99
#define PATH_BYTES 4096

struct run {
	double seconds, cpu_seconds;
	long peak_kib;
};

static void fail(const char *what)
{
	fprintf(stderr, "bench_pair: %s: %s\n", what, strerror(errno));
	exit(2);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void path_in(char path[PATH_BYTES], const char *directory, const char *name)
{
	snprintf(path, PATH_BYTES, "%s/%s", directory, name);
}

static void send_to(const char *directory, const char *name, int descriptor)
{
	char path[PATH_BYTES];
	int file;

	path_in(path, directory, name);
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (file < 0 || dup2(file, descriptor) < 0)
		fail(path);
}

static void forget_database(const char *directory)
{
	static const char *const names[] = { "bench.db", "bench.db-journal" };
	char path[PATH_BYTES];

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		path_in(path, directory, names[i]);
		if (unlink(path) != 0 && errno != ENOENT)
			fail(path);
	}
}

static void exec_in(const char *directory, char **command)
{
	send_to(directory, "output", STDOUT_FILENO);
	send_to(directory, "messages", STDERR_FILENO);
	execvp(command[0], command);
	fail(command[0]);
}

/* Exit codes below 4 are results: no match, some damage. */
static struct run run(const char *directory, char **command)
{
	struct rusage used;
	struct run r;
	double start;
	int status;
	pid_t child;

	forget_database(directory);
	start = now();
	child = fork();
	if (child < 0)
		fail("fork");
	if (child == 0)
		exec_in(directory, command);
	if (wait4(child, &status, 0, &used) < 0)
		fail("wait4");
	r.seconds = now() - start;
	r.cpu_seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
	r.peak_kib = used.ru_maxrss;
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 3) {
		fprintf(stderr, "bench_pair: %s failed\n", command[0]);
		exit(2);
	}
	return r;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Ends the command at its "--"; gives the next one. */
static char **next_command(char **words)
{
	while (*words != NULL && strcmp(*words, "--") != 0)
		words++;
	if (*words == NULL)
		return words;
	*words = NULL;
	return words + 1;
}

int main(int argc, char **argv)
{
	double ratios[PAIRS_MAX], cpu_ratios[PAIRS_MAX], bar;
	long peak_kib = 0;
	int pairs = argc > 1 ? atoi(argv[1]) : 0;
	char **a, **b;
	bool held;

	if (argc > 3 && strcmp(argv[1], "--peak") == 0) {
		printf("%ld\n", run(argv[2], argv + 3).peak_kib / 1024);
		return 0;
	}
	if (argc < 8 || pairs < 1 || pairs > PAIRS_MAX || strcmp(argv[5], "--") != 0) {
		fputs("usage: bench_pair PAIRS DIRECTORY BAR NAME -- A... -- B...\n", stderr);
		return 2;
	}
	a = argv + 6;
	b = next_command(a);
	if (*a == NULL || *b == NULL) {
		fputs("bench_pair: two commands are needed\n", stderr);
		return 2;
	}
	(void)run(argv[2], a);
	(void)run(argv[2], b);
	for (int i = 0; i < pairs; i++) {
		struct run of_a = run(argv[2], a), of_b = run(argv[2], b);

		ratios[i] = of_a.seconds / of_b.seconds;
		cpu_ratios[i] = of_a.cpu_seconds / of_b.cpu_seconds;
		if (of_b.peak_kib > peak_kib)
			peak_kib = of_b.peak_kib;
	}
	qsort(ratios, (size_t)pairs, sizeof ratios[0], by_value);
	qsort(cpu_ratios, (size_t)pairs, sizeof cpu_ratios[0], by_value);
	bar = strcmp(argv[3], "-") == 0 ? 0 : atof(argv[3]);
	held = ratios[pairs / 2] >= bar;
	printf("  %-52s %6.2f  (%.2f to %.2f in %d pairs; of processor time %.2f; %ld MB)", argv[4], ratios[pairs / 2], ratios[0],
	       ratios[pairs - 1], pairs, cpu_ratios[pairs / 2], peak_kib / 1024);
	if (bar > 0)
		printf("  bar %s: %s", argv[3], held ? "held" : "NOT HELD");
	putchar('\n');
	return held ? 0 : 1;
}
