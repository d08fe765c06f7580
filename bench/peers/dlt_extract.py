# The same by dlt into a DuckDB file: `dlt_extract.py url folder`. Prints how many rows the tables have.

import json
import os
import sys

url, folder = sys.argv[1:]
os.environ['DLT_DATA_DIR'] = folder
os.environ['RUNTIME__DLTHUB_TELEMETRY'] = 'false'

import dlt  # noqa: E402
from dlt.sources.helpers import requests  # noqa: E402


@dlt.resource(name='items', write_disposition='replace')
def items():
    since = 0
    while True:
        page = requests.get(url, params={'since': since}).json()['items']
        if not page:
            return
        yield page
        since = page[-1]['id']


pipeline = dlt.pipeline('peers', destination=dlt.destinations.duckdb(f'{folder}/peers.duckdb'), dataset_name='data')
pipeline.run(items())
with pipeline.sql_client() as client:
    count = lambda table: client.execute_sql(f'select count(*) from {table}')[0][0]
    print(json.dumps({'items': count('items'), 'lines': count('items__lines')}))
