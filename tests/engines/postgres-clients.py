"""psycopg 2 and 3, pandas and SQLAlchemy against the PostgreSQL port. See README.md beside this file."""

import os
from decimal import Decimal

import pandas
import psycopg
import psycopg2
import sqlalchemy

host, port, user, password, database = (os.environ[name] for name in ("PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGDATABASE"))
keywords = f"host={host} port={port} user={user} password={password} dbname={database}"
orders = '"in.c-main".orders'


def check(what, seen, wanted):
    assert seen == wanted, f"{what}: {seen!r} is not {wanted!r}"
    print("ok", what)


engine = sqlalchemy.create_engine(sqlalchemy.URL.create("postgresql+psycopg2", user, password, host, int(port), database))
frame = pandas.read_sql(f"SELECT * FROM {orders}", engine)
check("pandas.read_sql", len(frame) > 0, True)
check("pandas.read_sql_table", len(pandas.read_sql_table("orders", engine, schema="in.c-main")), len(frame))
inspector = sqlalchemy.inspect(engine)
check("schemas", "in.c-main" in inspector.get_schema_names(), True)
check("tables", "orders" in inspector.get_table_names("in.c-main"), True)
check("columns", [column["name"] for column in inspector.get_columns("orders", "in.c-main")], list(frame.columns))
inspector.get_pk_constraint("orders", "in.c-main")

with psycopg2.connect(keywords) as connection:
    cursor = connection.cursor("on_the_server")
    cursor.itersize = 1000
    cursor.execute("SELECT i FROM range(5000) t(i)")
    check("psycopg2, cursor on the server", sum(row[0] for row in cursor), 12497500)

with psycopg.connect(keywords) as connection:
    for i in range(8):  # prepared from the sixth execution on
        row = connection.execute(f"SELECT count(*), %s::INTEGER FROM {orders}", (i,)).fetchone()
        check("psycopg, prepared", row, (len(frame), i))
    binary = connection.cursor(binary=True)
    binary.execute("SELECT 1.50::DECIMAL(10,2), true, 'ž', 2::BIGINT, 0.5::DOUBLE, NULL")
    check("psycopg, binary", binary.fetchone(), (Decimal("1.50"), True, "ž", 2, 0.5, None))
    check("psycopg, array", connection.execute("SELECT 'b' = ANY(%s)", (["a", "b"],)).fetchone(), (True,))
    with connection.cursor().copy(f"COPY (SELECT * FROM {orders}) TO STDOUT") as copy:
        check("psycopg, copy", len(list(copy.rows())), len(frame))
    with connection.cursor(name="on_the_server") as cursor:
        cursor.execute("SELECT i FROM range(3000) t(i)")
        check("psycopg, cursor on the server", len(cursor.fetchall()), 3000)
    with connection.pipeline() as pipeline:
        first, second = connection.execute("SELECT 1"), connection.execute("SELECT 2")
        pipeline.sync()
        check("psycopg, pipeline", (first.fetchone(), second.fetchone()), ((1,), (2,)))
