"""Builds of the project on both engines: the same models and logs, each in a folder named after its target."""

import os
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


def write_profile(folder, spark_target, schema):
    """Write a profile of both engines and make the folders of their logs."""
    outputs = {
        "spark": {**spark_target, "schema": schema},
        "duckdb": {
            "type": "duckdb",
            "path": str(folder / "duckdb" / "hcat.duckdb"),
            "threads": 1,
            "settings": {"TimeZone": "UTC"},
        },
    }
    (folder / "profiles.yml").write_text(yaml.safe_dump({"hcat": {"target": "spark", "outputs": outputs}}))
    for target in outputs:
        (folder / target / "logs").mkdir(parents=True)


def build_in_session(folder, selected):
    """Build the selected models on Spark, in the session of this process."""
    words = ["--quiet", "--log-level-file", "none", "--no-write-json", "build"]
    words += ["--select", selected, "--indirect-selection", "cautious"]
    words += ["--exclude-resource-type", "unit_test"]
    words += ["--project-dir", str(ROOT), "--profiles-dir", str(folder)]
    words += ["--target-path", str(folder / "spark"), "--log-path", str(folder / "spark")]
    settings = {
        "HCAT_RAW_LOGS": str(folder / "spark" / "logs"),
        "HCAT_DEMO": "1",
        "HCAT_WAREHOUSE": str(folder / "spark"),
        "HCAT_ENCODER": "hashing:8",
        "HCAT_CLASSIFIER": "hashing",
    }
    run_in_session(words, settings)


def run_in_session(words, settings):
    """Run a command of dbt on Spark, in the session of this process."""
    success, messages = invoke(words, settings)
    assert success, messages


def invoke(words, settings):
    """Run a command in the session of this process and return its success and the messages of failures."""
    from dbt.cli.main import dbtRunner

    here = os.getcwd()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        try:
            outcome = dbtRunner().invoke(words)
        finally:
            os.chdir(here)
    results = getattr(outcome.result, "results", [])
    return outcome.success, " ".join([str(outcome.exception), *(result.message or "" for result in results)])
