/* SPDX-License-Identifier: MIT */
/* peak COMMAND...: runs it and prints its peak memory in KiB. */

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage used;
	int status, out;
	pid_t child;

	if (argc < 2) {
		fputs("usage: peak COMMAND...\n", stderr);
		return 2;
	}
	child = fork();
	if (child == 0) {
		out = open("/dev/null", O_WRONLY);
		if (out >= 0)
			dup2(out, STDOUT_FILENO);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &used) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) > 3) {
		fprintf(stderr, "peak: %s failed\n", argv[1]);
		return 1;
	}
	printf("%ld\n", used.ru_maxrss);
	return 0;
}
