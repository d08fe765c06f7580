# Reads and writes tables of a stack with Spark (local, two threads) and prints what it found, as one JSON object. Called by run.ts.

import json
import sys
import threading
import time

from pyspark.sql import SparkSession

from spark_settings import catalogue_settings

url, token, ivy, rounds = sys.argv[1:5]

settings = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    **catalogue_settings(url, token, ivy),
}
builder = SparkSession.builder.master("local[2]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")


if rounds == "insert":  # and nothing else: whoever called ends this process before the commit
    spark.sql("INSERT INTO millrace.in.`c-main`.killed VALUES ('2', 'never')")
    sys.exit(0)


def table(name):
    return f"millrace.in.`c-main`.{name}"


def rows(statement):
    return [[None if value is None else str(value) for value in row] for row in spark.sql(statement).collect()]


def refused(statement):
    try:
        spark.sql(statement)
    except Exception as error:
        return str(error)
    return "nothing"


found = {}
found["rows"] = int(rows(f"SELECT count(*) FROM {table('people')}")[0][0])
found["nulls"] = int(rows(f"SELECT count(*) FROM {table('people')} WHERE note IS NULL")[0][0])
snapshots = [row[0] for row in rows(f"SELECT snapshot_id FROM {table('people')}.snapshots ORDER BY committed_at, snapshot_id")]
found["travelled"] = [int(rows(f"SELECT count(*) FROM {table('people')} VERSION AS OF {one}")[0][0]) for one in snapshots]
found["typed"] = rows(f"SELECT * FROM {table('typed')}")

target = table("spark")
spark.sql(f"INSERT INTO {target} VALUES ('10', 'x'), ('11', 'y')")
found["appended"] = rows(f"SELECT * FROM {target} ORDER BY id")
spark.sql(f"DELETE FROM {target} WHERE id = '2'")
spark.sql(f"UPDATE {target} SET name = 'U' WHERE id = '1'")
merge = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
spark.sql(f"MERGE INTO {target} t USING (SELECT '10' AS id, 'm' AS name UNION ALL SELECT '12', 'n') s ON t.id = s.id {merge}")
found["merged"] = rows(f"SELECT * FROM {target} ORDER BY id")
found["duplicate"] = refused(f"INSERT INTO {target} VALUES ('10', 'again')")
spark.sql(f"ALTER TABLE {target} ADD COLUMN note STRING")
spark.sql(f"INSERT INTO {target} VALUES ('13', 'w', 'n')")
found["widened"] = rows(f"SELECT id, note FROM {target} ORDER BY id")
spark.sql(f"INSERT OVERWRITE {target} SELECT id, name, '' FROM {target} WHERE id < '12'")
found["overwritten"] = rows(f"SELECT id FROM {target} ORDER BY id")
spark.sql(f"CREATE TABLE {table('ctas')} AS SELECT id, 1 AS n, CAST(1.5 AS DECIMAL(9, 2)) AS d, TIMESTAMP_NTZ'2026-01-02 03:04:05' AS t FROM {target}")
found["ctas"] = rows(f"SELECT * FROM {table('ctas')} ORDER BY id LIMIT 1")
spark.sql(f"DROP TABLE {table('ctas')}")
found["zone"] = refused(f"CREATE TABLE {table('zone')} (t TIMESTAMP)")

spark.sql(f"CREATE TABLE {table('race')} (writer STRING, n BIGINT)")
failures = []


def write(writer):
    for n in range(int(rounds)):
        try:
            spark.sql(f"INSERT INTO {table('race')} VALUES ('{writer}', {n})")
        except Exception as error:
            failures.append(str(error)[:300])


began = time.monotonic()
threads = [threading.Thread(target=write, args=(name,)) for name in "ab"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
found["race"] = {
    "failures": failures,
    "rows": rows(f"SELECT writer, count(*), count(DISTINCT n) FROM {table('race')} GROUP BY writer ORDER BY writer"),
    "seconds": round(time.monotonic() - began, 1),
}
print(json.dumps(found))
spark.stop()
