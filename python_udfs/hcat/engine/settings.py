"""Settings that do not exist: a mistyped var or environment variable is refused, with the nearest name that does."""

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from hcat import __version__
from hcat.engine.staging import ProjectError, find_project, read_project_file, read_variables

#: Settings that stand outside of the vars of hcat's own project, each because dbt reads it where those are not known.
_OTHER_VARIABLES: Final = ("hcat_schema", "hcat_unit_tests")

#: Environment variables that hcat reads, with what each is for.
ENVIRONMENT: Final[Mapping[str, str]] = {
    "HCAT_DEMO": "1 = build the demo: its logs and its decisions",
    "HCAT_RAW_LOGS": "folder of the raw logs; wins over hcat_raw_logs",
    "HCAT_WAREHOUSE": "folder of the warehouse, the reports and the published copies; wins over hcat_warehouse",
    "HCAT_ENCODER": "wins over hcat_encoder",
    "HCAT_CLASSIFIER": "wins over hcat_classifier",
    "HCAT_TAGGER": "wins over hcat_tagger",
    "HCAT_DEVICE": "wins over hcat_device",
    "HCAT_PICKLED_WEIGHTS": "1 = weights that are pickles are read too; a pickle can run code",
    "HCAT_TARGET": "target of hcat's own profile: duckdb or spark",
    "HCAT_THREADS": "threads of hcat's own profile",
    "HCAT_MEMORY_LIMIT": "memory that DuckDB may use, for instance 4GB; by default half of the machine's",
    "HCAT_CUT_SMALLER": "slices or buckets = work is cut small, so that tests meet many borders; no row changes",
    "HCAT_PROCESSES": "processes for work in Python; by default the number of cores",
    "HCAT_LLM_BASE_URL": "address of a language model, https://host/v1; wins over hcat_language_model_url",
    "HCAT_LLM_MODEL": "wins over hcat_language_model",
    "HCAT_LLM_API_KEY": "key of the language model; it is read from here alone and written nowhere",
    "HCAT_ALERT_WEBHOOK": "address to which alerts are sent; it is a secret",
    "HCAT_ALERT_REMINDER_DAYS": "days after which an unchanged alert is sent again",
    "HCAT_ALERT_MAXIMUM_AGE_HOURS": "an alert is sent if the last build is older than this",
    "HCAT_ALERT_HIDE_SEGMENTS": "1 = hashes take the place of segments in alerts",
    "HCAT_SPARK_MASTER": "master of Spark in hcat's own profile",
    "HCAT_SPARK_MEMORY": "memory of Spark's driver",
    "HCAT_SPARK_WAREHOUSE": "folder of Spark's warehouse",
    "HCAT_SPARK_PARTITIONS": "partitions of a shuffle",
    "HCAT_SPARK_PACKAGES": "Maven coordinates that Spark loads",
    "HCAT_SPARK_CONF": "further settings of Spark, key=value;key=value",
    "HCAT_BENCHMARK_DATA": "folder of the labelled data of the benchmarks",
}
#: Likeness, 0 to 1, from which an environment variable that hcat does not read is taken for a mistyped one. A variable
#: of somebody else may start with HCAT_ too.
_LIKENESS: Final = 0.9


class SettingError(ValueError):
    """A setting does not exist; the message is one line that names the nearest one that does."""


def check_settings(start: Path, given: Iterable[str], environment: Mapping[str, str]) -> None:
    """Raise an error if a project, a command line or the environment sets something that hcat does not have."""
    try:
        project = find_project(start)
    except ProjectError:
        return
    found = read_project_file(project).get("version")
    if found != __version__:
        raise SettingError(
            f"the dbt package is version {found} and the Python package hcat-eval is {__version__}, and each needs the"
            f" other at its own version: install hcat-eval {found}, or let packages.yml name hcat {__version__}"
        )
    known = known_variables(project)
    for name in [*given, *read_variables(project, start)]:
        # vars of others are none of hcat's business
        if name.startswith("hcat_") and name not in known:
            (near,) = difflib.get_close_matches(name, sorted(known), 1, 0)
            raise SettingError(f"the var {name} does not exist: did you mean {near}?")
    for name in environment:
        if name.startswith("HCAT_") and name not in ENVIRONMENT:
            for near in difflib.get_close_matches(name, ENVIRONMENT, 1, _LIKENESS):
                raise SettingError(f"the environment variable {name} does not exist: did you mean {near}?")


def known_variables(project: Path) -> frozenset[str]:
    """Return the names of all vars of hcat, read from its own project."""
    return frozenset([*read_variables(project, project), *_OTHER_VARIABLES])


def read_vars(text: str | None) -> dict[str, Any]:
    """Return vars of a command line."""
    import yaml

    try:
        found = yaml.safe_load(text or "{}")
    except yaml.YAMLError as error:
        raise ValueError(f"--vars is no YAML: {' '.join(str(error).split())}") from error
    if not isinstance(found, dict):
        raise ValueError(f"--vars must be names and values, as {{hcat_schema: evaluation}}, got {text}")
    return found
