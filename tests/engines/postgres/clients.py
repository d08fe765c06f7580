"""Clients of PostgreSQL that are written for Python, each against the port: `clients.py NAME`. See clients.ts beside this file.

Every client reads a table of the project as a token (PORT, TOKEN), and works in a workspace (USER, PASSWORD): reads, writes, transactions with a
savepoint, COPY in both directions and parameters, as far as it has them."""

import asyncio
import io
import os
import sys
from datetime import date, datetime, timedelta
from decimal import Decimal

HOST = "127.0.0.1"
PORT, TOKEN, USER, PASSWORD = (os.environ[f"MILLRACE_{name}"] for name in ("PORT", "TOKEN", "USER", "PASSWORD"))
ORDERS = '"in.c-main".orders'
ALL = [("1", "Praha"), ("2", "Brno"), ("3", "Žďár")]
BYTES = bytes(range(256))


def url(scheme="postgresql", reader=False):
    user, password = ("me", TOKEN) if reader else (USER, PASSWORD)
    return f"{scheme}://{user}:{password}@{HOST}:{PORT}/{'default' if reader else 'workspace'}"


def check(what, seen, wanted):
    if seen != wanted:
        raise AssertionError(f"{what}: {seen!r} is not {wanted!r}")
    print("ok", what)


def psycopg3():
    import psycopg

    with psycopg.connect(url(reader=True)) as reader:
        check("rows", reader.execute(f"SELECT id, city FROM {ORDERS} ORDER BY id").fetchall(), ALL)
        for i in range(8):  # prepared from the sixth execution on
            check("prepared", reader.execute(f"SELECT count(*), %s::INTEGER FROM {ORDERS}", (i,)).fetchone(), (3, i))
        binary = reader.cursor(binary=True)
        binary.execute("SELECT 1.50::DECIMAL(10,2), true, 'ž', 2::BIGINT, 0.5::DOUBLE, NULL, DATE '2026-02-28'")
        check("binary", binary.fetchone(), (Decimal("1.50"), True, "ž", 2, 0.5, None, date(2026, 2, 28)))
        check("list of texts", reader.execute("SELECT 'b' = ANY(%s)", (["a", "b"],)).fetchone(), (True,))
        check("list of numbers", reader.execute(f"SELECT count(*) FROM {ORDERS} WHERE id::INT = ANY(%s)", ([1, 3],)).fetchone(), (2,))
        check("interval", reader.execute("SELECT %b + %b", (timedelta(days=1), timedelta(seconds=1.5))).fetchone(), (timedelta(days=1, seconds=1.5),))
        with reader.cursor().copy(f"COPY (SELECT id, city FROM {ORDERS} ORDER BY id) TO STDOUT") as copy:
            check("copy to", list(copy.rows()), ALL)
        with reader.cursor().copy(f"COPY (SELECT id::INT, city FROM {ORDERS} ORDER BY id) TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["int4", "text"])
            check("binary copy to", list(copy.rows()), [(int(i), city) for i, city in ALL])
        with reader.cursor(name="on_the_server", scrollable=True) as cursor:
            cursor.execute("SELECT i FROM range(3000) t(i)")
            check("cursor on the server", len(cursor.fetchall()), 3000)
        with reader.pipeline() as pipeline:
            first, second = reader.execute("SELECT 1"), reader.execute("SELECT 2")
            pipeline.sync()
            check("pipeline", (first.fetchone(), second.fetchone()), ((1,), (2,)))
        reader.execute("CREATE TEMP TABLE wanted (id TEXT, n INTEGER)")
        reader.cursor().executemany("INSERT INTO wanted VALUES (%s, %s)", [("1", 1), ("3", 3)])
        with reader.cursor().copy("COPY wanted (id, n) FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["text", "int4"])
            copy.write_row(("2", 2))
        reader.commit()
        reader.execute("DELETE FROM wanted WHERE n = 1")
        joined = f"SELECT city FROM {ORDERS} JOIN wanted USING (id) ORDER BY id"
        check("temporary table", reader.execute(joined).fetchall(), [("Brno",), ("Žďár",)])
        reader.rollback()
        check("temporary table, undone", reader.execute(joined).fetchall(), [("Praha",), ("Brno",), ("Žďár",)])
    with psycopg.connect(url()) as writer:
        writer.execute("CREATE TABLE p3 (id SERIAL, name TEXT, data BYTEA, changed TIMESTAMPTZ)")
        writer.commit()
        with writer.transaction():
            writer.execute("INSERT INTO p3 (id, name, data) VALUES (0, %s, %s)", ("kept", BYTES))
            try:
                with writer.transaction():
                    writer.execute("INSERT INTO p3 (name) VALUES ('undone')")
                    raise ValueError
            except ValueError:
                pass
        writer.execute("INSERT INTO p3 (name, data) VALUES (%b, %b)", ("binary", BYTES))
        check("written", writer.execute("SELECT name, data FROM p3 ORDER BY id").fetchall(), [("kept", BYTES), ("binary", BYTES)])
        writer.cursor().executemany("INSERT INTO p3 (name) VALUES (%s)", [(str(i),) for i in range(50)])
        check("returning", writer.execute("INSERT INTO p3 (name) VALUES ('r') RETURNING name").fetchone(), ("r",))
        check("executemany", writer.execute("SELECT count(*) FROM p3").fetchone(), (53,))
        for how in ("", " (FORMAT binary)"):
            writer.execute("CREATE OR REPLACE TABLE copied (id INTEGER, name TEXT)")
            with writer.cursor().copy(f"COPY copied FROM STDIN{how}") as copy:
                copy.set_types(["int4", "text"])
                for i in range(1000):
                    copy.write_row((i, None if i == 7 else f"a\tb\n{i}"))
            check(f"copy from{how}", writer.execute("SELECT count(*), count(name), max(name) FROM copied").fetchone(), (1000, 999, "a\tb\n999"))


def psycopg2():
    import psycopg2
    import psycopg2.extras

    with psycopg2.connect(url(reader=True)) as reader:
        cursor = reader.cursor("on_the_server")
        cursor.itersize = 1000
        cursor.execute("SELECT i FROM range(5000) t(i)")
        check("cursor on the server", sum(row[0] for row in cursor), 12497500)
        cursor = reader.cursor()
        cursor.execute(f"SELECT id, city FROM {ORDERS} WHERE id = ANY(%s) ORDER BY id", (["1", "3"],))
        check("rows", cursor.fetchall(), [ALL[0], ALL[2]])
        out = io.StringIO()
        cursor.copy_expert(f"COPY (SELECT id, city FROM {ORDERS} ORDER BY id) TO STDOUT (FORMAT csv, HEADER)", out)
        check("copy to", out.getvalue(), "id,city\n1,Praha\n2,Brno\n3,Žďár\n")
    with psycopg2.connect(url()) as writer:
        cursor = writer.cursor()
        cursor.execute("CREATE TABLE p2 (id INTEGER, data BYTEA, much INTERVAL)")
        psycopg2.extras.execute_values(cursor, "INSERT INTO p2 VALUES %s", [(i, psycopg2.Binary(BYTES), timedelta(hours=i)) for i in range(5)])
        cursor.execute("SAVEPOINT s")
        cursor.execute("DELETE FROM p2")
        cursor.execute("ROLLBACK TO SAVEPOINT s")
        cursor.execute("SELECT data, much FROM p2 WHERE id = 2")
        data, much = cursor.fetchone()
        check("values", (bytes(data), much), (BYTES, timedelta(hours=2)))
        cursor.execute("CREATE TABLE p2_copied (id INTEGER, name TEXT)")
        cursor.copy_expert("COPY p2_copied FROM STDIN (FORMAT csv)", io.StringIO('1,"a,b"\n2,\n'))
        cursor.copy_from(io.StringIO("3\tc\n"), "p2_copied")
        cursor.execute("SELECT * FROM p2_copied ORDER BY id")
        check("copy from", cursor.fetchall(), [(1, "a,b"), (2, None), (3, "c")])
        out = io.StringIO()
        cursor.copy_to(out, "p2_copied", columns=("name",), sep=";", null="none")
        check("copy to", sorted(out.getvalue().splitlines()), ["a,b", "c", "none"])


def asyncpg():
    import asyncpg as driver

    async def run():
        reader = await driver.connect(url(reader=True))
        check("rows", [tuple(row) for row in await reader.fetch(f"SELECT id, city FROM {ORDERS} ORDER BY id")], ALL)
        check("list", await reader.fetchval(f"SELECT count(*) FROM {ORDERS} WHERE id = ANY($1)", ["1", "3"]), 2)
        check("interval", await reader.fetchval("SELECT $1::INTERVAL", timedelta(days=2, seconds=3)), timedelta(days=2, seconds=3))
        async with reader.transaction():
            check("cursor", len([row async for row in reader.cursor("SELECT i FROM range(500) t(i)")]), 500)
        out = io.BytesIO()
        await reader.copy_from_query(f"SELECT id, city FROM {ORDERS} ORDER BY id", output=out, format="csv")
        check("copy to", out.getvalue().decode(), "1,Praha\n2,Brno\n3,Žďár\n")
        binary = io.BytesIO()
        await reader.copy_from_query(f"SELECT id FROM {ORDERS}", output=binary, format="binary")
        check("binary copy to", binary.getvalue()[:11], b"PGCOPY\n\xff\r\n\0")
        await reader.close()
        writer = await driver.connect(url())
        await writer.execute("CREATE TABLE ap (id INTEGER, name TEXT, data BYTEA, changed TIMESTAMP)")
        at = datetime(2026, 2, 28, 1, 2, 3, 456789)
        async with writer.transaction():
            await writer.execute("INSERT INTO ap VALUES ($1, $2, $3, $4)", 1, "kept", BYTES, at)
            try:
                async with writer.transaction():
                    await writer.execute("INSERT INTO ap (id, name) VALUES (2, 'undone')")
                    raise ValueError
            except ValueError:
                pass
        check("written", tuple(await writer.fetchrow("SELECT * FROM ap")), (1, "kept", BYTES, at))
        await writer.executemany("INSERT INTO ap (id, name) VALUES ($1, $2)", [(i, str(i)) for i in range(2, 50)])
        done = await writer.copy_records_to_table("ap", records=[(i, None, BYTES, at) for i in range(50, 150)])
        check("copy records", (done, await writer.fetchval("SELECT count(data) FROM ap")), ("COPY 100", 101))
        await writer.copy_to_table("ap", source=io.BytesIO(b"1000,x,,\n"), format="csv")
        check("copy from", await writer.fetchval("SELECT name FROM ap WHERE id = 1000"), "x")
        await writer.close()

    asyncio.run(run())


def sqlalchemy():
    import sqlalchemy as sa
    from sqlalchemy.dialects.postgresql import JSONB
    from sqlalchemy.orm import Session, declarative_base

    for driver in ("psycopg", "psycopg2"):
        reader = sa.create_engine(url(f"postgresql+{driver}", reader=True))
        inspector = sa.inspect(reader)
        check("schemas", "in.c-main" in inspector.get_schema_names(), True)
        check("tables", "orders" in inspector.get_table_names("in.c-main"), True)
        check("columns", [column["name"] for column in inspector.get_columns("orders", "in.c-main")], ["id", "city"])
        check("key", inspector.get_pk_constraint("orders", "in.c-main")["constrained_columns"], ["id"])
        with reader.connect() as connection, connection.begin_nested():
            orders = sa.Table("orders", sa.MetaData(), schema="in.c-main", autoload_with=connection)
            found = connection.execute(sa.select(orders.c.id, orders.c.city).where(orders.c.id.in_(["1", "2", "3"])).order_by(orders.c.id))
            check("rows", [tuple(row) for row in found], ALL)
        writer = sa.create_engine(url(f"postgresql+{driver}"))
        base = declarative_base()

        class Item(base):
            __tablename__ = f"items_{driver}"
            id = sa.Column(sa.Integer, primary_key=True)
            name = sa.Column(sa.String(40))
            data = sa.Column(sa.LargeBinary)
            doc = sa.Column(JSONB)

        base.metadata.create_all(writer)
        with Session(writer) as session:
            session.add_all([Item(name=str(i), data=BYTES, doc={"i": i}) for i in range(5)])
            session.commit()
            with session.begin_nested() as nested:
                session.add(Item(name="undone"))
                session.flush()
                nested.rollback()
            session.query(Item).filter(Item.name == "4").update({"name": "four"})
            session.commit()
            found = session.scalars(sa.select(Item).order_by(Item.id)).all()
            check("objects", [(item.name, item.data, item.doc) for item in found][3:], [("3", BYTES, {"i": 3}), ("four", BYTES, {"i": 4})])
        check("exists", sa.inspect(writer).has_table(f"items_{driver}"), True)
        base.metadata.drop_all(writer)
        check("dropped", sa.inspect(writer).has_table(f"items_{driver}"), False)


def pandas():
    import pandas as pd
    import sqlalchemy as sa

    reader, writer = sa.create_engine(url("postgresql+psycopg2", reader=True)), sa.create_engine(url("postgresql+psycopg2"))
    frame = pd.read_sql(f"SELECT * FROM {ORDERS} ORDER BY id", reader)
    check("read_sql", list(frame.itertuples(index=False, name=None)), ALL)
    check("read_sql_table", len(pd.read_sql_table("orders", reader, schema="in.c-main")), 3)
    typed = pd.DataFrame({"n": [1, 2], "x": [0.5, None], "changed": pd.to_datetime(["2026-01-01", "2026-01-02"])})
    for mode, rows in (("fail", 2), ("append", 4), ("replace", 2)):
        typed.to_sql("frame", writer, if_exists=mode, index=False, method="multi")
        check(f"to_sql {mode}", len(pd.read_sql("SELECT * FROM frame", writer)), rows)
    back = pd.read_sql("SELECT * FROM frame ORDER BY n", writer)
    check("types", [str(kind)[:10] for kind in back.dtypes], ["int64", "float64", "datetime64"])


def polars():
    import polars as pl

    check("connectorx", pl.read_database_uri(f"SELECT id, city FROM {ORDERS} ORDER BY id", url(reader=True)).rows(), ALL)
    numbers = pl.read_database_uri("SELECT i::INT AS n, i / 2.0 AS x FROM range(2000) t(i)", url(reader=True))
    check("numbers", (numbers.height, numbers["n"].sum(), numbers["x"].sum()), (2000, 1999000, 999500.0))
    parts = pl.read_database_uri(f"SELECT id::INT AS id FROM {ORDERS}", url(reader=True), partition_on="id", partition_num=2)
    check("in parts", sorted(parts["id"].to_list()), [1, 2, 3])
    check("adbc", pl.read_database_uri(f"SELECT id, city FROM {ORDERS} ORDER BY id", url(reader=True), engine="adbc").rows(), ALL)
    numbers.write_database("pl", url(), engine="adbc")
    check("written", pl.read_database_uri("SELECT count(*) AS n FROM pl", url(), engine="adbc").rows(), [(2000,)])


def adbc():
    import adbc_driver_postgresql.dbapi as driver
    import pyarrow as pa

    with driver.connect(url(reader=True)) as reader, reader.cursor() as cursor:
        cursor.execute(f"SELECT id, city FROM {ORDERS} ORDER BY id")
        check("rows", [tuple(row) for row in cursor.fetchall()], ALL)
        cursor.execute("SELECT $1::BIGINT + 1, $2::TEXT", (41, "x"))
        check("parameters", [tuple(row) for row in cursor.fetchall()], [(42, "x")])
    with driver.connect(url()) as writer, writer.cursor() as cursor:
        table = pa.table({"id": [1, 2, 3], "name": ["a", None, "c"], "x": [0.5, 1.5, None]})
        cursor.adbc_ingest("ingested", table, mode="create")
        cursor.adbc_ingest("ingested", table, mode="append")
        writer.commit()
        cursor.execute("SELECT id, name, x FROM ingested ORDER BY id")
        check("ingested", cursor.fetch_arrow_table().slice(0, 6).column("name").to_pylist(), ["a", "a", None, None, "c", "c"])


def duckdb():
    import importlib

    import duckdb as driver
    from pathlib import Path

    folder = Path(importlib.import_module("duckdb_extension_postgres_scanner").__file__).parent
    file = next(folder.rglob("postgres_scanner.duckdb_extension"))
    con = driver.connect()
    con.execute(f"LOAD '{file}'")
    con.execute(f"ATTACH '{url(reader=True)}' AS project (TYPE postgres, READ_ONLY)")
    check("rows", con.execute('SELECT id, city FROM project."in.c-main".orders ORDER BY id').fetchall(), ALL)
    con.execute(f"ATTACH '{url()}' AS work (TYPE postgres)")
    con.execute("CREATE TABLE work.main.dd AS SELECT i AS id, 'n' || i AS name FROM range(5000) t(i)")
    con.execute("INSERT INTO work.main.dd SELECT -1, NULL")
    check("written", con.execute("SELECT count(*), count(name), min(id) FROM work.main.dd").fetchall(), [(5001, 5000, -1)])
    check("query", con.execute("FROM postgres_query('work', 'SELECT max(id) AS m FROM dd')").fetchall(), [(4999,)])


def ibis():
    import ibis as driver

    con = driver.postgres.connect(host=HOST, port=int(PORT), user=USER, password=PASSWORD, database="workspace")
    con.raw_sql("CREATE TABLE ib AS SELECT 1 AS id, 'x' AS name UNION ALL SELECT 2, 'y'").close()
    table = con.table("ib")
    check("rows", table.order_by("id").execute().values.tolist(), [[1, "x"], [2, "y"]])
    check("aggregate", int(table.id.sum().execute()), 3)
    some = driver.memtable({"id": [2], "n": [20]})
    check("table of the memory in a workspace", table.join(some, "id").select("name", "n").execute().values.tolist(), [["y", 20]])
    own = con.create_table("own", driver.memtable({"a": [1, 2]}), temp=True)
    check("temporary table in a workspace", int(own.a.sum().execute()), 3)
    con.drop_table("own")
    reader = driver.postgres.connect(host=HOST, port=int(PORT), user="me", password=TOKEN, database="default")
    bucket = ("default", "in.c-main")  # a text would be cut at its dot
    check("tables", "orders" in reader.list_tables(database=bucket), True)
    orders = reader.table("orders", database=bucket)
    check("read", orders.filter(orders.id == "3").city.execute().tolist(), ["Žďár"])
    check("query of SQL", reader.sql(f"SELECT city FROM {ORDERS} WHERE id = '2'").city.execute().tolist(), ["Brno"])
    wanted = driver.memtable({"id": ["1", "3"], "n": [10, 30]})
    joined = orders.join(wanted, "id").order_by("id").select("city", "n")
    check("table of the memory", joined.execute().values.tolist(), [["Praha", 10], ["Žďár", 30]])
    made = reader.create_table("made", driver.memtable({"a": [1, 2]}), temp=True)
    check("temporary table", int(made.a.sum().execute()), 3)
    reader.drop_table("made")
    check("temporary tables", "made" in reader.list_tables(), False)


CLIENTS = dict(psycopg3=psycopg3, psycopg2=psycopg2, asyncpg=asyncpg, sqlalchemy=sqlalchemy, pandas=pandas, polars=polars, adbc=adbc, duckdb=duckdb, ibis=ibis)

if __name__ == "__main__":
    CLIENTS[sys.argv[1]]()
