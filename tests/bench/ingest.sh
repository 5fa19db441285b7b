#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ingest.sh PROGRAM DIRECTORY THREADS RULES INPUT: into a new database, which is gone afterwards

rm -f "$2/bench.db"
exec "$1" ingest -q --threads "$3" --rules "$4" --db "$2/bench.db" "$5" 2>/dev/null
