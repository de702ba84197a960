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


def describe_build(folder, target, selected):
    """Return the words and the environment of `dbt build` of the selected models on a target."""
    words = ["--quiet", "--log-level-file", "none", "--no-write-json", "build"]
    words += ["--select", selected, "--indirect-selection", "cautious", "--target", target]
    words += ["--exclude-resource-type", "unit_test"]
    words += ["--project-dir", str(ROOT), "--profiles-dir", str(folder)]
    words += ["--target-path", str(folder / target), "--log-path", str(folder / target)]
    settings = {
        "HCAT_RAW_LOGS": str(folder / target / "logs"),
        "HCAT_DEMO": "1",
        "HCAT_WAREHOUSE": str(folder / target),
        "HCAT_ENCODER": "hashing:8",
        "HCAT_CLASSIFIER": "hashing",
    }
    return words, settings


def build_in_session(folder, selected):
    """Build the selected models on Spark, in the session of this process."""
    run_in_session(*describe_build(folder, "spark", selected))


def run_in_session(words, settings):
    """Run a command of dbt on Spark, in the session of this process."""
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
    assert outcome.success, [str(outcome.exception), *(result.message for result in results if result.message)]
