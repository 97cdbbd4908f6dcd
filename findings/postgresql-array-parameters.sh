#!/usr/bin/env bash
# PostgreSQL 16.2: a prepared statement with a short array as its parameter is planned at each call.
#
# The manual says that a prepared statement gets a plan of its own in its first five executions, and
# from then on one generic plan if that is estimated to cost about as much. So one expects planning
# to end after five calls. For an array of unknown length the generic plan reckons with ten elements;
# the plan for an array that is known reckons with those it has. As long as callers pass fewer than
# nine or so, the generic plan looks more expensive than planning anew, and the statement is planned
# for ever, however long the connection lives. A scalar parameter, and longer arrays, behave as
# expected; `plan_cache_mode = force_generic_plan` ends it, also as a setting of a function, whose
# statements have the same cache.
#
# Counted for 50 executions of each (generic plans, plans of their own):
#
#   scalar          45 5
#   array of 1       0 50
#   array of 8       0 50
#   array of 20     45 5
#   forced, of 1    50 0
#
# Needs Python 3 with venv and the network: pgserver 0.1.4 (which holds PostgreSQL 16.2) and psycopg
# 3.2.10 from PyPI, in a temporary folder. Exits with 0 if the counts are those above, both times.
set -euo pipefail
export LC_ALL=C.UTF-8
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pgserver==0.1.4 'psycopg[binary]==3.2.10'
cat > "$folder/count.py" <<'PROGRAM'
import sys
import pgserver
import psycopg

EXECUTIONS = 50


def array(length):
    return "'{" + ",".join(str(key) for key in range(1, length + 1)) + "}'"


def counts(connection, kind, condition, argument):
    connection.execute("deallocate all")
    connection.execute(f"prepare rows_of ({kind}) as select v from t where k {condition}")
    for _ in range(EXECUTIONS):
        connection.execute(f"execute rows_of ({argument})")
    found = connection.execute("select generic_plans, custom_plans from pg_prepared_statements")
    return "%d %d" % found.fetchone()


server = pgserver.get_server(sys.argv[1])
with psycopg.connect(server.get_uri(), autocommit=True, prepare_threshold=None) as connection:
    print(connection.execute("show server_version").fetchone()[0], file=sys.stderr)
    connection.execute("create table t (k bigint primary key, v text)")
    connection.execute("insert into t select n, 'x' from generate_series(1, 100000) as n")
    connection.execute("analyze t")
    print("scalar", counts(connection, "bigint", "= $1", "7"))
    for length in (1, 8, 20):
        print("array", length, counts(connection, "bigint[]", "= any ($1)", array(length)))
    connection.execute("set plan_cache_mode = force_generic_plan")
    print("forced", 1, counts(connection, "bigint[]", "= any ($1)", array(1)))
server.cleanup()
PROGRAM
cat > "$folder/expected" <<'EXPECTED'
scalar 45 5
array 1 0 50
array 8 0 50
array 20 45 5
forced 1 50 0
EXPECTED
for round in 1 2; do
  "$folder/venv/bin/python" -W ignore "$folder/count.py" "$folder/data$round" > "$folder/counts"
  cat "$folder/counts"
  diff "$folder/expected" "$folder/counts"
done
