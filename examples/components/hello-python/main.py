"""A component in Python, without any library: input tables, an output table with a manifest, state, and a sync action."""

import csv
import json
import os
import sys

data = os.environ["KBC_DATADIR"]


def read(path, default):
    try:
        with open(os.path.join(data, path), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return default


config = read("config.json", {})

if config.get("action") == "testConnection":
    print(json.dumps({"status": "success"}))
    sys.exit(0)

column = config.get("parameters", {}).get("column")
if not column:
    print('The parameter "column" is missing: which column shall be counted?', file=sys.stderr)
    sys.exit(1)

runs = read("in/state.json", {}).get("runs", 0) + 1
rows = 0
target = os.path.join(data, "out/tables/lengths")
with open(target, "w", newline="", encoding="utf-8") as out:
    writer = csv.writer(out)
    for name in sorted(os.listdir(os.path.join(data, "in/tables"))):
        if name.endswith(".manifest"):
            continue
        with open(os.path.join(data, "in/tables", name), newline="", encoding="utf-8") as source:
            for row in csv.DictReader(source):
                writer.writerow([name, row[column], len(row[column])])
                rows += 1

with open(target + ".manifest", "w", encoding="utf-8") as manifest:
    json.dump({"columns": ["source", "text", "length"]}, manifest)
with open(os.path.join(data, "out/state.json"), "w", encoding="utf-8") as state:
    json.dump({"runs": runs}, state)
print(f"Counted {rows} rows, run number {runs}")
