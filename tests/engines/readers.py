# Reads the tables of a stack with pyiceberg and DuckDB and prints what each found, as one JSON object. Called by run.ts.

import glob
import json
import os
import site
import sys

import duckdb
from pyiceberg.catalog.rest import RestCatalog


def open_duckdb(url, token):
    db = duckdb.connect()
    extensions = glob.glob(os.path.join(site.getsitepackages()[0], "**", "*.duckdb_extension"), recursive=True)
    for name in ["avro", "httpfs", "iceberg"]:
        [path] = [path for path in extensions if os.path.basename(path).startswith(name)]
        db.execute(f"INSTALL '{path}'")
        db.execute(f"LOAD {name}")
    db.execute(f"CREATE SECRET millrace (TYPE iceberg, TOKEN '{token}')")
    db.execute(f"ATTACH 'flat' AS millrace (TYPE iceberg, SECRET millrace, ENDPOINT '{url}/iceberg')")
    return db


def refused(work):
    try:
        work()
    except Exception as error:
        return type(error).__name__
    return "nothing"


def by_pyiceberg(url, token, foreign):
    catalog = RestCatalog("millrace", uri=f"{url}/iceberg", token=token)
    people = catalog.load_table("in.c-main.people")
    rows = people.scan().to_arrow()
    return {
        "rows": rows.num_rows,
        "nulls": sum(value is None for value in rows["note"].to_pylist()),
        "filtered": people.scan(row_filter="id == '7'").to_arrow().to_pylist(),
        "travelled": [people.scan(snapshot_id=one.snapshot_id).to_arrow().num_rows for one in people.snapshots()],
        "typed": [[text(value) for value in row.values()] for row in catalog.load_table("in.c-main.typed").scan().to_arrow().to_pylist()],
        "foreign": refused(lambda: RestCatalog("foreign", uri=f"{url}/iceberg", token=foreign).load_table("in.c-main.people")),
        "wrong": refused(lambda: RestCatalog("wrong", uri=f"{url}/iceberg", token="wrong").list_namespaces()),
    }


def by_duckdb(url, token):
    db = open_duckdb(url, token)
    people = 'millrace."in.c-main".people'
    [rows, nulls] = db.execute(f"SELECT count(*), count(*) FILTER (note IS NULL) FROM {people}").fetchone()
    snapshots = [one.snapshot_id for one in RestCatalog("m", uri=f"{url}/iceberg", token=token).load_table("in.c-main.people").snapshots()]
    return {
        "rows": rows,
        "nulls": nulls,
        "travelled": [db.execute(f"SELECT count(*) FROM {people} AT (VERSION => {one})").fetchone()[0] for one in snapshots],
        "typed": [[text(value) for value in row] for row in db.execute('SELECT * FROM millrace."in.c-main".typed').fetchall()],
        "joined": db.execute(f'SELECT count(*) FROM {people} JOIN millrace."in.c-main".other USING (id)').fetchone()[0],
    }


def text(value):
    return None if value is None else str(value)


if __name__ == "__main__":
    url, token, foreign = sys.argv[1:4]
    # DuckDB first: the files that it requests are rewritten while its transaction runs.
    print(json.dumps({"duckdb": by_duckdb(url, token), "pyiceberg": by_pyiceberg(url, token, foreign)}))
