#!/bin/sh
# Clients of PostgreSQL against the port of a stack. See README.md beside this file.
set -eu
: "${PGPASSWORD:?is the token}"
export PGPASSWORD PGHOST="${PGHOST:-127.0.0.1}" PGPORT="${PGPORT:-5433}" PGUSER="${PGUSER:-me}" PGDATABASE="${PGDATABASE:-default}"
here=$(dirname "$0")
python="${PYTHON:-python3}"

if command -v psql >/dev/null; then
  echo '== psql'
  for command in '\l' '\dn' '\dt' '\d' '\d+ "in.c-main".orders' '\du' '\df' '\di' '\dp' '\d "in.c-main".orders' 'SELECT count(*) FROM "in.c-main".orders' 'SELECT count(*) FROM orders' \
    'COPY (SELECT 1 AS a) TO STDOUT (FORMAT csv, HEADER)'; do
    psql -v ON_ERROR_STOP=1 -c "$command"
  done
else
  echo '== psql is not here'
fi

if "$python" -c 'import psycopg, psycopg2, pandas, sqlalchemy' 2>/dev/null; then
  echo '== Python'
  "$python" "$here/postgres-clients.py"
else
  echo '== psycopg, psycopg2, pandas and SQLAlchemy are not here'
fi

if [ -n "${PGJDBC:-}" ] && command -v java >/dev/null; then
  echo '== JDBC'
  java -cp "$PGJDBC" "$here/PostgresClient.java"
else
  echo '== JDBC is not here: set PGJDBC to the jar of the driver'
fi
echo 'all that are here work'
