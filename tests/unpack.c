/* SPDX-License-Identifier: MIT */
/*
 * unpack ARCHIVE DIRECTORY: for tests that take a part of a recording away.
 * The machine that runs them need not have what tar unpacks xz with; libarchive
 * is there in any case. Recordings hold files and directories with plain names.
 */

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <unistd.h>

static int fail(const char *what, struct archive *a)
{
	const char *why = a != NULL ? archive_error_string(a) : NULL;

	fprintf(stderr, "unpack: %s%s%s\n", what, why != NULL ? ": " : "", why != NULL ? why : "");
	return 1;
}

static int unpack(struct archive *from)
{
	const int safe = ARCHIVE_EXTRACT_SECURE_NODOTDOT | ARCHIVE_EXTRACT_SECURE_SYMLINKS |
			 ARCHIVE_EXTRACT_SECURE_NOABSOLUTEPATHS;
	struct archive_entry *entry;
	int rc;

	while ((rc = archive_read_next_header(from, &entry)) == ARCHIVE_OK) {
		if (archive_read_extract(from, entry, safe) != ARCHIVE_OK)
			return fail(archive_entry_pathname(entry), from);
	}
	return rc == ARCHIVE_EOF ? 0 : fail("damaged", from);
}

int main(int argc, char **argv)
{
	struct archive *from = archive_read_new();
	int rc;

	if (argc != 3)
		return fail("wants ARCHIVE DIRECTORY", NULL);
	archive_read_support_filter_xz(from);
	archive_read_support_format_tar(from);
	if (archive_read_open_filename(from, argv[1], 65536) != ARCHIVE_OK)
		rc = fail(argv[1], from);
	else
		rc = chdir(argv[2]) != 0 ? fail(argv[2], NULL) : unpack(from);
	archive_read_free(from);
	return rc;
}
