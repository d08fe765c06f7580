# A CSV file into SQLite by the standard library: `plain_load.py csv folder`. Prints how many rows it has.

import csv
import json
import sqlite3
import sys

source, folder = sys.argv[1:]
database = sqlite3.connect(f'{folder}/table.sqlite')
with open(source, newline='') as file:
    rows = csv.reader(file)
    names = next(rows)
    database.execute(f"create table data ({', '.join(names)})")
    database.executemany(f"insert into data values ({', '.join('?' * len(names))})", rows)
database.commit()
print(json.dumps({'rows': database.execute('select count(*) from data').fetchone()[0]}))
