# Writes tables of a stack with pyiceberg and prints what came of it, as one JSON object. Called by run.ts.

import json
import sys

import pyarrow as pa
import requests
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.types import DateType, StringType

url, token, reader, foreign = sys.argv[1:5]


def catalog_of(value):
    return RestCatalog("millrace", uri=f"{url}/iceberg", token=value)


def refused(work):
    try:
        work()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def rows_of(table, columns):
    return pa.table(dict(zip([field.name for field in table.schema().fields], columns)), schema=table.schema().as_arrow())


def ids(name):
    table = catalog.load_table(f"in.c-main.{name}")
    return sorted(row["id"] for row in table.scan().to_arrow().to_pylist())


def fresh_keys(table):
    """The rows by keys that were asked for after the first ones."""
    address = f"{url}/iceberg/v1/{project}/namespaces/in.c-main/tables/plain/credentials"
    answer = requests.get(address, headers={"Authorization": f"Bearer {token}"}, timeout=60).json()
    table.io.properties.update(answer["storage-credentials"][0]["config"])
    return table.scan().to_arrow().num_rows


catalog = catalog_of(token)
project = token.split("-")[0]
found = {}

plain = catalog.load_table("in.c-main.plain")
plain.append(rows_of(plain, [["10", "11"], ["x", "y"]]))
found["appended"] = ids("plain")
before = plain.current_snapshot().snapshot_id
plain.delete("id == '2'")
found["deleted"] = ids("plain")
plain.overwrite(rows_of(plain, [["20", "21"], ["p", "q"]]))
found["overwritten"] = ids("plain")
found["travelled"] = plain.scan(snapshot_id=before).to_arrow().num_rows
with plain.update_schema() as update:
    update.add_column("note", StringType())
plain.append(rows_of(plain, [["22"], ["r"], ["n"]]))
found["widened"] = sorted((row["id"], row["note"]) for row in catalog.load_table("in.c-main.plain").scan().to_arrow().to_pylist())
found["refreshed"] = fresh_keys(catalog.load_table("in.c-main.plain"))
found["exactId"] = catalog.load_table("in.c-main.plain").current_snapshot().snapshot_id == plain.current_snapshot().snapshot_id
found["wideId"] = plain.current_snapshot().snapshot_id > 2**53

keyed = catalog.load_table("in.c-main.keyed")
upserted = keyed.upsert(rows_of(keyed, [["1", "9"], ["new", "n"]]), join_cols=["id"])
found["upserted"] = [upserted.rows_updated, upserted.rows_inserted, ids("keyed")]
found["duplicate"] = refused(lambda: keyed.append(rows_of(keyed, [["1"], ["again"]])))

first, second = catalog.load_table("in.c-main.keyed"), catalog.load_table("in.c-main.keyed")
first.append(rows_of(first, [["30"], ["f"]]))
found["conflict"] = refused(lambda: second.append(rows_of(second, [["31"], ["s"]])))
if found["conflict"] != "nothing":
    second = catalog.load_table("in.c-main.keyed")
    second.append(rows_of(second, [["31"], ["s"]]))
found["both"] = ids("keyed")

typed = catalog.create_table(
    "in.c-main.made",
    schema=pa.schema([("id", pa.int64()), ("price", pa.decimal128(18, 4)), ("at", pa.timestamp("us")), ("ok", pa.bool_()), ("f", pa.float64())]),
)
with typed.update_schema() as update:
    update.add_column("day", DateType())
typed.append(rows_of(typed, [[9007199254740993, None], [None, None], [None, None], [True, None], [1.5, None], [None, None]]))
found["made"] = [[None if value is None else str(value) for value in row.values()] for row in catalog.load_table("in.c-main.made").scan().to_arrow().to_pylist()]
with catalog.create_table_transaction("in.c-main.staged", schema=typed.schema()) as staged:
    staged.append(rows_of(typed, [[1], [None], [None], [None], [None], [None]]))
found["staged"] = ids("staged")
catalog.drop_table("in.c-main.staged")
found["dropped"] = catalog.table_exists("in.c-main.staged")

shown = catalog_of(reader).load_table("in.c-main.plain")
found["reader"] = refused(lambda: shown.append(rows_of(shown, [["99"], ["z"], ["n"]])))
found["foreign"] = refused(lambda: catalog_of(foreign).load_table("in.c-main.plain"))
print(json.dumps(found))
