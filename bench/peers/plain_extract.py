# A script for one API, written by hand, as bench/support/extractor-script.ts is: `plain_extract.py url folder`.

import csv
import json
import sys
import urllib.request

SCALARS = ['id', 'name', 'email', 'active', 'score', 'created_at', 'country', 'note', 'deleted_at', 'kind']
ADDRESS = ['street', 'city', 'zip']

url, folder = sys.argv[1:]
with open(f'{folder}/items.csv', 'w', newline='') as items_file, open(f'{folder}/lines.csv', 'w', newline='') as lines_file:
    items, lines = csv.writer(items_file, lineterminator='\n'), csv.writer(lines_file, lineterminator='\n')
    items.writerow(SCALARS + [f'address_{key}' for key in ADDRESS])
    lines.writerow(['sku', 'qty', 'item_id'])
    since = 0
    while True:
        page = json.load(urllib.request.urlopen(f'{url}?since={since}'))['items']
        if not page:
            break
        for item in page:
            items.writerow([item[key] for key in SCALARS] + [item['address'][key] for key in ADDRESS])
            lines.writerows([line['sku'], line['qty'], item['id']] for line in item['lines'])
        since = page[-1]['id']
