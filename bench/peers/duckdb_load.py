# A CSV file into a Parquet file by DuckDB: `duckdb_load.py csv folder`. Prints how many rows it has.

import json
import sys

import duckdb

source, folder = sys.argv[1:]
target = f'{folder}/table.parquet'
duckdb.sql(f"copy (from read_csv('{source}', all_varchar=true, header=true)) to '{target}' (format parquet, compression zstd)")
print(json.dumps({'rows': duckdb.sql(f"select count(*) from '{target}'").fetchall()[0][0]}))
