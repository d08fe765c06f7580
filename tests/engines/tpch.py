# The queries of TPC-H on DuckDB and on Spark (a standalone master with two workers), both through the catalogue of a stack. Prints which queries
# have equal results and the processor seconds of each engine, as one JSON object. Called by run.ts.

import json
import math
import os
import resource
import socket
import subprocess
import sys
import time

from readers import open_duckdb
from spark_settings import catalogue_settings

url, token, queries_path, ivy = sys.argv[1:5]
with open(queries_path) as file:
    QUERIES = json.load(file)


def on_duckdb():
    db = open_duckdb(url, token)
    db.execute("SET threads = 2")
    db.execute('USE millrace."in.c-tpch"')
    before = resource.getrusage(resource.RUSAGE_SELF)
    results = [db.execute(query).fetchall() for query in QUERIES]
    after = resource.getrusage(resource.RUSAGE_SELF)
    return results, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start_cluster():
    import pyspark

    home = os.path.dirname(pyspark.__file__)
    environment = {**os.environ, "SPARK_HOME": home, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_NO_DAEMONIZE": "1"}
    port = free_port()

    def start(*args):
        command = [os.path.join(home, "bin", "spark-class"), *args]
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    place = ["--host", "127.0.0.1", "--webui-port", "0"]
    master = start("org.apache.spark.deploy.master.Master", *place, "--port", str(port))
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except OSError:
            assert master.poll() is None, "the master has ended"
            time.sleep(0.2)
    address = f"spark://127.0.0.1:{port}"
    workers = [start("org.apache.spark.deploy.worker.Worker", *place, "-c", "1", "-m", "1500m", address) for _ in range(2)]
    return address, [*workers, master]


def open_spark(address):
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.executor.memory": "1g",
        "spark.executor.cores": "1",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        **catalogue_settings(url, token, ivy),
    }
    builder = SparkSession.builder.master(address).appName("millrace-tpch")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def on_spark():
    address, processes = start_cluster()
    try:
        spark = open_spark(address)
        spark.range(2).repartition(2).count()  # both executors are there
        before = cpu_below(os.getpid())
        spark.sql("USE millrace.in.`c-tpch`")
        results = [[tuple(row) for row in spark.sql(query).collect()] for query in QUERIES]
        used = cpu_below(os.getpid()) - before
        executors = len(spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()) - 1
        spark.stop()
        return results, used, executors
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


def cpu_below(pid):
    """Processor seconds of a process and all that it started, those that have ended included."""
    parents, seconds = {}, {}
    tick = os.sysconf("SC_CLK_TCK")
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(name)] = int(fields[1])
        seconds[int(name)] = sum(int(value) for value in fields[11:15]) / tick

    def is_below(one):
        while one not in (0, pid):
            one = parents.get(one, 0)
        return one == pid

    return sum(value for one, value in seconds.items() if is_below(one))


def same(one, other):
    if isinstance(one, str) or one is None or other is None or hasattr(one, "isoformat"):
        return one == other
    return math.isclose(float(one), float(other), rel_tol=1e-6, abs_tol=1e-5)


def equal(rows, others):
    return len(rows) == len(others) and all(len(a) == len(b) and all(map(same, a, b)) for a, b in zip(rows, others))


duckdb_results, duckdb_seconds = on_duckdb()
spark_results, spark_seconds, executors = on_spark()
found = {
    "different": [i + 1 for i, pair in enumerate(zip(duckdb_results, spark_results)) if not equal(*pair)],
    "rows": sum(map(len, duckdb_results)),
    "empty": [i + 1 for i, rows in enumerate(duckdb_results) if len(rows) == 0],
    "executors": executors,
    "duckdbSeconds": round(duckdb_seconds, 2),
    "sparkSeconds": round(spark_seconds, 2),
}
print(json.dumps(found))
