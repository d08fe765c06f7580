# A CSV file into a Parquet file by chdb: `chdb_load.py csv folder`. Prints how many rows it has.

import json
import sys

import chdb

source, folder = sys.argv[1:]
target = f'{folder}/table.parquet'
names = open(source).readline().strip().split(',')
columns = ', '.join(f'{name} String' for name in names)
chdb.query(f"insert into function file('{target}', Parquet, '{columns}') select * from file('{source}', CSVWithNames, '{columns}')")
print(json.dumps({'rows': int(str(chdb.query(f"select count() from file('{target}', Parquet)")).strip())}))
