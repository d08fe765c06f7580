"""Runs one transformation on a Spark cluster (spec platform 1.29).

The stack starts it with the Python of its operator, which has pyspark. It reads `spark.json` in the data folder: the cluster, the catalogue with a
token that lives as long as the job, inputs, scripts and results. It writes `spark-end.json` there: nothing went wrong, or what did. Everything it
prints is the log of the job. Rows go between the cluster and the object store; none come here.
"""

import json
import os
import re
import socket
import sys
import threading
import time
import traceback
import urllib.error
import urllib.request
from datetime import datetime

CATALOGUE = "millrace"
NAMESPACE = "run"
DATA = os.environ["KBC_DATADIR"]
LOOK_SECONDS = 5
GONE_SECONDS = 20
LONGEST_MESSAGE = 2000


class Failed(Exception):
    """What ends the run, in words for people."""

    def __init__(self, kind, message, **place):
        super().__init__(message)
        self.kind, self.message, self.place = kind, message, place


def say(level, text, **fields):
    stamp = datetime.now().strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
    line = " ".join(text.split())
    print(f"{stamp} {level} {line}" + (f" {json.dumps(fields)}" if fields else ""), flush=True)


def end(**what):
    path = os.path.join(DATA, "spark-end.json")
    with open(f"{path}.part", "w") as file:
        json.dump(what, file)
    os.replace(f"{path}.part", path)


def quoted(*names):
    return ".".join("`" + name.replace("`", "``") + "`" for name in names)


def literal(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def first_words(error):
    """What Spark says, without the plan of the query and the stack of the virtual machine."""
    text = str(error)
    for mark in ("\n\nJVM stacktrace", "\n\tat ", ";\n'", "\n== SQL"):
        text = text.split(mark)[0]
    return " ".join(text.split())[:LONGEST_MESSAGE]


def settings_of(plan):
    settings = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.timestampType": "TIMESTAMP_NTZ",
        # As in the SQL of the other transformation: "names" in double quotes, and values that do not fit are errors.
        "spark.sql.ansi.enabled": "true",
        "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    }
    for branch, warehouse in plan["catalogue"]["warehouses"].items():
        settings.update(catalogue_settings(f"spark.sql.catalog.{branch}", plan["catalogue"], warehouse))
    return settings


def catalogue_settings(name, catalogue, warehouse):
    return {
        name: "org.apache.iceberg.spark.SparkCatalog",
        f"{name}.type": "rest",
        f"{name}.uri": catalogue["uri"],
        f"{name}.token": catalogue["token"],
        f"{name}.warehouse": warehouse,
        f"{name}.header.X-Iceberg-Access-Delegation": "vended-credentials",
        f"{name}.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        f"{name}.cache-enabled": "false",
        f"{name}.rest.auth.type": "oauth2",
        f"{name}.oauth2-server-uri": f"{catalogue['uri']}/v1/oauth/tokens",
        f"{name}.rest-metrics-reporting-enabled": "false",
    }


def connect(plan):
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise Failed(
            "setup",
            f"The Python at {sys.executable} has no pyspark ({error}). The operator installs the version of the cluster there (pip install pyspark), or"
            " names another Python with MILLRACE_SPARK_PYTHON.",
        )
    settings, cluster = settings_of(plan), plan["cluster"]
    try:
        if cluster.startswith("sc://"):
            joint = ";" if "/;" in cluster else "/;"
            spark = SparkSession.builder.remote(f"{cluster.rstrip('/')}{joint}session_id={plan['session']}").getOrCreate()
            for name, value in settings.items():
                spark.conf.set(name, value)
            return spark
        builder = SparkSession.builder.master(cluster).appName(plan["name"])
        start = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            **({"spark.driver.host": "127.0.0.1"} if cluster.startswith("local") else {}),
            **plan["conf"],
            **settings,
        }
        for name, value in start.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()
    except Failed:
        raise
    except Exception as error:
        raise Failed("cluster", f"The Spark cluster at {shown(cluster)} does not take the job: {first_words(error)}")


def shown(cluster):
    """Without parameters: one of them may be a token."""
    return cluster.split("/;")[0]


class Watch(threading.Thread):
    """Says how far Spark is, and ends the run when the cluster is gone: Spark itself would wait for it to come back."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.cluster = cluster
        self.spark = None
        self.places = [
            (host, int(port or 15002))
            for host, port in re.findall(r"([\w.-]+)(?::(\d+))?", re.sub(r"^\w+://|/;.*$|/$", "", cluster))
        ]
        self.is_remote = not cluster.startswith("local")
        self.last = None

    def run(self):
        since = None
        while True:
            time.sleep(LOOK_SECONDS)
            if self.is_remote:
                is_gone = not any(answers(place) for place in self.places) and self.executors() == 0
                since = (since or time.monotonic()) if is_gone else None
                if since is not None and time.monotonic() - since >= GONE_SECONDS:
                    message = f"The Spark cluster at {shown(self.cluster)} is gone: nobody answers there, and no executor is left."
                    fail(Failed("cluster", message))
            self.tell()

    def context(self):
        try:
            return self.spark.sparkContext if self.spark is not None else None
        except Exception:  # Spark Connect has none
            return None

    def executors(self):
        try:
            context = self.context()
            return 0 if context is None else context._jsc.sc().statusTracker().getExecutorInfos().__len__() - 1
        except Exception:
            return 0

    def tell(self):
        try:
            context = self.context()
            tracker = context.statusTracker() if context is not None else None
            stages = [tracker.getStageInfo(one) for one in tracker.getActiveStageIds()] if tracker else []
            stages = [stage for stage in stages if stage is not None]
            if not stages:
                return
            done, total = sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages)
            if (done, total) != self.last:
                self.last = (done, total)
                say("INFO", f"Spark: {done} of {total} tasks of the running stages are done.")
        except Exception:
            return  # the log is not worth the run


def answers(place):
    try:
        socket.create_connection(place, timeout=3).close()
        return True
    except OSError:
        return False


def fail(error):
    end(problem={"kind": error.kind, "message": error.message, **error.place})
    print(error.message, file=sys.stderr, flush=True)
    os._exit(1)  # threads of Spark may hold the process for ever


def show_input(spark, entry):
    source = quoted(entry["catalogue"], *entry["table"])
    columns = ", ".join(entry["columns"]) if entry["columns"] else "*"
    where = f" WHERE {entry['where']}" if entry["where"] else ""
    limit = f" LIMIT {entry['limit']}" if entry["limit"] is not None else ""
    select = f"SELECT {columns} FROM {source}{where}{limit}"
    try:
        if entry["isCopied"]:
            spark.sql(f"CREATE TABLE {quoted(CATALOGUE, NAMESPACE, entry['name'])} AS {select}")
        else:
            spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {quoted(entry['name'])} AS {select}")
    except Exception as error:
        raise Failed(kind_of(error), f'Input table "{entry["name"]}": {first_words(error)}', table=entry["name"])


VIEW = re.compile(r"^(\s*CREATE\s+(?:OR\s+REPLACE\s+)?)VIEW\b", re.IGNORECASE)


def run_sql(spark, statement):
    """A view of a script lives as long as the script."""
    spark.sql(VIEW.sub(r"\1TEMPORARY VIEW", statement))


def run_part(spark, part, progress):
    block, code = part["block"], part["code"]
    say("INFO", f'Running block "{block}", code "{code}".')
    scope = {"spark": spark, "__name__": "__main__"}
    for number, script in enumerate(part["statements"], 1):
        try:
            if part["language"] == "python":
                exec(compile(script, f"{block} / {code}", "exec"), scope)
            else:
                run_sql(spark, script)
        except BaseException as error:
            text = python_words(error, f"{block} / {code}") if part["language"] == "python" else first_words(error)
            what = f'Block "{block}", code "{code}", statement {number}: {text}'
            raise Failed(kind_of(error), what, block=block, code=code, statement=number, pointer=part["pointer"])
        progress()


def python_words(error, name):
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
    where = f" (line {lines[-1]})" if lines else ""
    return f"{type(error).__name__}: {first_words(error)}{where}"


CLUSTER_ERRORS = re.compile(r"SparkContext was shut down|Job \d+ cancelled because SparkContext|StatusCode.UNAVAILABLE|Connection refused|stopped SparkContext")
KINDS = [
    (re.compile(r"PARSE_SYNTAX_ERROR|ParseException"), "sql.syntax"),
    (re.compile(r"TABLE_OR_VIEW_NOT_FOUND"), "sql.unknownTable"),
    (re.compile(r"UNRESOLVED_COLUMN"), "sql.unknownColumn"),
    (re.compile(r"CAST_INVALID_INPUT|CAST_OVERFLOW|DIVIDE_BY_ZERO|ARITHMETIC_OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE"), "sql.invalidValue"),
]


def kind_of(error):
    text = str(error)
    if CLUSTER_ERRORS.search(text):
        return "cluster"
    if "org.apache.iceberg.spark.SparkCatalog" in text and "ClassNotFound" in text + type(error).__name__ or "Cannot find catalog plugin class" in text:
        return "iceberg"
    return next((kind for words, kind in KINDS if words.search(text)), "sql.failed")


TYPES = {"string": "STRING", "long": "BIGINT", "double": "DOUBLE", "boolean": "BOOLEAN", "date": "DATE", "timestamp": "TIMESTAMP_NTZ"}


def store(spark, catalogue, result):
    """The rows of a result as files with the columns of the table that takes them."""
    table = result["table"]
    try:
        names = result["columns"] or spark.table(quoted(table)).columns
        made = make_table(catalogue, result["name"], names)
        columns = []
        for name, field in zip(names, made):
            value = f"CAST({quoted(name)} AS {TYPES.get(field['type']) or field['type'].replace(' ', '')})"
            columns.append(f"coalesce({value}, '')" if result["isText"] else value)
        spark.sql(f"INSERT INTO {quoted(CATALOGUE, NAMESPACE, result['name'])} SELECT {', '.join(columns)} FROM {quoted(table)}")
    except Failed:
        raise
    except Exception as error:
        raise Failed(kind_of(error), f'Output table "{table}": {first_words(error)}', table=table)


def make_table(catalogue, name, columns):
    """The catalogue knows which field ids and types they have."""
    fields = [{"id": i, "name": column, "type": "string", "required": False} for i, column in enumerate(columns, 1)]
    body = json.dumps({"name": name, "schema": {"type": "struct", "fields": fields}}).encode()
    address = f"{catalogue['uri']}/v1/{catalogue['prefix']}/namespaces/{NAMESPACE}/tables"
    headers = {"authorization": f"Bearer {catalogue['token']}", "content-type": "application/json"}
    request = urllib.request.Request(address, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["metadata"]["schemas"][-1]["fields"]
    except urllib.error.HTTPError as error:
        answer = json.loads(error.read() or b"{}")
        raise Failed("output", answer.get("error", {}).get("message", str(error)))
    except urllib.error.URLError as error:
        raise Failed("cluster", f"The catalogue at {catalogue['uri']} does not answer: {error.reason}")


def interrupt(plan):
    """Ends what a session of Spark Connect runs; its server would go on for minutes."""
    connect(plan).interruptAll()


def main():
    with open(os.path.join(DATA, "spark.json")) as file:
        plan = json.load(file)
    if sys.argv[1:] == ["interrupt"]:
        return interrupt(plan)
    watch = Watch(plan["cluster"])
    try:
        watch.start()
        spark = connect(plan)
        watch.spark = spark
        say("INFO", f"Spark {spark.version} at {shown(plan['cluster'])} runs the application {plan['name']}.")
        try:
            spark.sql(f"USE {quoted(CATALOGUE, NAMESPACE)}")
        except Exception as error:
            raise Failed(kind_of(error), f"The cluster cannot use the catalogue at {plan['catalogue']['uri']}: {first_words(error)}")
        for entry in plan["inputs"]:
            show_input(spark, entry)
        total = sum(len(part["statements"]) for part in plan["parts"])
        done = 0

        def progress():
            nonlocal done
            done += 1
            say("INFO", f"Statement {done} of {total} is done.", done=done, total=total)

        for part in plan["parts"]:
            run_part(spark, part, progress)
        for result in plan["results"]:
            say("INFO", f'Storing "{result["table"]}".')
            store(spark, plan["catalogue"], result)
        end()
    except Failed as error:
        fail(error)
    except Exception as error:
        fail(Failed(kind_of(error), first_words(error)))
    os._exit(0)  # the application ends with its driver


if __name__ == "__main__":
    main()
