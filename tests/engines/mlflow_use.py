# What a person does with MLflow: logs a run with a parameter, a metric and a file, finds it again, and reads the file back. Prints what was found
# as one JSON object. Called by run.ts, with the address and the token in the environment.

import json
import os
import tempfile

import mlflow

before = mlflow.search_experiments()
mlflow.set_experiment("demo")
with mlflow.start_run() as run:
    mlflow.log_param("depth", 3)
    mlflow.log_metric("rmse", 0.5)
    path = os.path.join(tempfile.mkdtemp(), "note.txt")
    with open(path, "w") as file:
        file.write("hello")
    mlflow.log_artifact(path)
found = mlflow.search_runs(experiment_names=["demo"], output_format="list")
with open(mlflow.artifacts.download_artifacts(run_id=run.info.run_id, artifact_path="note.txt")) as file:
    note = file.read()
result = {
    "before": sorted(one.name for one in before),
    "runs": [[one.data.params, one.data.metrics] for one in found],
    "note": note,
}
print(json.dumps(result))
