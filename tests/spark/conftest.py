"""One Spark session for all tests of this folder, with the settings of profiles.yml; without Spark they are skipped."""

import gc
import importlib.util
import os
import shutil
from pathlib import Path

import jinja2
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("pyspark", "dbt.adapters.spark", "dbt.adapters.sparksession")
#: Tables here have a few rows, so that nearly all time goes into compiling and planning: Java stops at its quick
#: compiler, whose default room these tests fill, a plan is interpreted and not compiled, and the catalogue is not
#: written through to the disk.
SWIFT = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
    " -Dderby.system.durability=test -Dderby.stream.error.file={}/derby.log",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}


def find_missing() -> str | None:
    """Return what Spark lacks here, in words; None when it can run."""
    for name in NEEDED:
        if importlib.util.find_spec(name) is None:
            return f"{name} is not installed (pip install '.[spark]')"
    return None if shutil.which("java") or os.environ.get("JAVA_HOME") else "Java is not on the path"


def pytest_collection_modifyitems(items):
    missing = find_missing()
    for item in items:
        if missing and Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=f"Spark: {missing}"))


@pytest.fixture(scope="session")
def spark_folder(tmp_path_factory):
    """Folder of the warehouse; the settings of the session point to it."""
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="session")
def spark_target(spark_folder):
    """The target `spark` of profiles.yml, rendered for the folder."""
    environment = jinja2.Environment()
    environment.filters["as_number"] = int
    settings = {"HCAT_SPARK_WAREHOUSE": str(spark_folder), "HCAT_SPARK_MEMORY": "1g"}
    text = (ROOT / "profiles.yml").read_text()
    rendered = environment.from_string(text).render(env_var=lambda name, default: settings.get(name, default))
    target = yaml.safe_load(rendered)["hcat"]["outputs"]["spark"]
    target["server_side_parameters"] |= {key: value.format(spark_folder) for key, value in SWIFT.items()}
    return {**target, "threads": int(target["threads"])}


@pytest.fixture(scope="session")
def spark(spark_target):
    from dbt.adapters.sparksession import SparkSessionCredentials, open_session

    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "python_udfs"), os.environ.get("PYTHONPATH", "")])
    credentials = SparkSessionCredentials(schema="hcat", server_side_parameters=spark_target["server_side_parameters"])
    # as hcat.engine.project.DBT does: dbt runs in this process
    gc.freeze()
    gc.set_threshold(50_000)
    session = open_session(credentials.server_side_parameters)
    session.sql("create schema if not exists hcat")
    yield session
    session.stop()
