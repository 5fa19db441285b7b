/* SPDX-License-Identifier: MIT */
/* The aligned times, kept beside the facts for people who query the file. See store/store.h. */

#include "store/store.h"

#include <assert.h>

#include <sqlite3.h>

#include "store/handle.h"

static int write_clock(const struct store *s, const struct store_clock *clock)
{
	static const char sql[] = "INSERT INTO clock (host, since_us, offset_us, drift_ppm, first_us) VALUES (?, ?, ?, ?, ?)";
	struct sqlite3_stmt *statement = NULL;

	if (store_prepare(s, sql, &statement) < 0)
		return -1;
	store_bind_text(statement, 1, clock->host);
	sqlite3_bind_int64(statement, 2, clock->is_later ? clock->since.us : INT64_MIN);
	sqlite3_bind_int64(statement, 3, clock->offset_us);
	sqlite3_bind_double(statement, 4, clock->drift_ppm);
	sqlite3_bind_int64(statement, 5, clock->first.us);
	return store_run(s, statement, "write");
}

static int write_zone(const struct store *s, const struct store_zone *zone)
{
	struct sqlite3_stmt *statement = NULL;

	if (store_prepare(s, "INSERT INTO zone (input, ahead_us) VALUES (?, ?)", &statement) < 0)
		return -1;
	sqlite3_bind_int64(statement, 1, zone->input);
	sqlite3_bind_int64(statement, 2, zone->ahead_us);
	return store_run(s, statement, "write");
}

int store_save_clocks(struct store *s, const struct store_clock *clocks, size_t n, const struct store_zone *zones,
		      size_t zone_count)
{
	int rc;

	assert(s->input == 0);
	if (s->mode == STORE_READ)
		return 0;
	if (store_execute(s, "BEGIN IMMEDIATE", "write") < 0)
		return -1;
	rc = store_make_clock_tables(s);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = write_clock(s, &clocks[i]);
	for (size_t i = 0; i < zone_count && rc == 0; i++)
		rc = write_zone(s, &zones[i]);
	if (rc == 0)
		rc = store_execute(s, "COMMIT", "write");
	store_rollback(s);
	return rc;
}
