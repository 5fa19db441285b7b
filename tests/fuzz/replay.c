/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target over files: its corpus, in "make test". With libFuzzer
 * (make fuzz) this file is left out.
 */

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_BYTES_MAX (1024 * 1024)

static int replay_file(const char *path)
{
	static uint8_t bytes[INPUT_BYTES_MAX];
	FILE *f = fopen(path, "rb");
	if (f == NULL) {
		perror(path);
		return -1;
	}
	size_t n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	/* A copy of its own, so that a read past the end is seen by the sanitizer. */
	uint8_t *copy = malloc(n + (n == 0));
	if (copy == NULL)
		return -1;
	memcpy(copy, bytes, n);
	/* Every prefix of a small input too: cut records are the commonest damage. */
	LLVMFuzzerTestOneInput(copy, n);
	if (n <= 2048) {
		for (size_t i = 0; i < n; i++) {
			uint8_t *prefix = malloc(i + 1);
			if (prefix == NULL)
				break;
			memcpy(prefix, copy, i);
			LLVMFuzzerTestOneInput(prefix, i);
			free(prefix);
		}
	}
	free(copy);
	return 0;
}

int main(int argc, char **argv)
{
	int replayed = 0;
	for (int i = 1; i < argc; i++) {
		DIR *d = opendir(argv[i]);
		struct dirent *entry;
		if (d == NULL) {
			perror(argv[i]);
			return 1;
		}
		while ((entry = readdir(d)) != NULL) {
			char path[4096];
			if (entry->d_name[0] == '.')
				continue;
			snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
			if (replay_file(path) < 0)
				return 1;
			replayed++;
		}
		closedir(d);
	}
	printf("%d inputs replayed\n", replayed);
	return replayed > 0 ? 0 : 1;
}
