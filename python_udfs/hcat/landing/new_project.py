"""A dbt project of the user's own: hcat as its package, a place for logs, and gates for what the logs hold."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from hcat.engine.staging import ProjectError, find_project, types_of_seed
from hcat.landing.check import LANGUAGE_MODEL, check_logs, read_catalogue

_PACKAGE = "hcat"
_PLACE_OF_LOGS = "raw_logs"
# measurements that interactions alone allow, beside those of a metric; the others ask for a test set, weeks or ratings
_MEASUREMENTS = ("share_not_failed", "share_records_accepted", "count_leaked_values", "share_passing", "mean_score")
_GATES, _DECISIONS, _METRICS = "threshold_gates", "threshold_decisions", "own_metrics"
_SIGN_OFFS = "sign_offs"

_PROJECT = Template("""\
# Evaluation of an assistant with hcat. `dbt build` evaluates, `hcat report` shows the results.
name: $name
version: 1.0.0
config-version: 2
profile: $name
model-paths: ["models"]
seed-paths: ["seeds"]

vars:
  hcat:
    # folder of the logs; a relative path starts here
    hcat_raw_logs: $logs
    # tables that already stand in the warehouse, instead of files:
    # hcat_raw_relations: {interactions: raw.rag_interactions, retrievals: raw.rag_retrievals}
    # metrics and dimensions of your own: models of this project (docs/own-metrics.md of hcat)
    hcat_own_metrics: []
    hcat_own_dimensions: {}

# Business decisions are yours: these seeds of hcat are switched off, and those in seeds/ take their names. Any other
# seed of hcat can be replaced in the same way.
seeds:
  hcat:
    threshold_gates: {+enabled: false}
    threshold_decisions: {+enabled: false}
    own_metrics: {+enabled: false}
    sign_offs: {+enabled: false}
  $name:
    threshold_gates:
      +column_types: {$types_of_gates}
    threshold_decisions:
      +column_types: {$types_of_decisions}
    own_metrics:
      +column_types: {$types_of_metrics}
    sign_offs:
      +column_types: {$types_of_sign_offs}
""")
_PROFILES = Template("""\
$name:
  target: dev
  outputs:
    dev:
      type: duckdb
      path: "{{ env_var('HCAT_WAREHOUSE', 'warehouse') }}/hcat.duckdb"
      # makes the folder, and says in one line why the file cannot be opened
      plugins: [{module: dbt.adapters.hcatwarehouse}]
      threads: 2
      settings: {TimeZone: UTC, preserve_insertion_order: false}
""")
_PACKAGES = Template("""\
packages:
  # a git package works the same way: `- git: <your mirror of hcat>` with `revision: <commit>`
  - local: $package
""")
_IGNORED = f"""\
# logs may hold personal data, and the warehouse holds their texts
/{_PLACE_OF_LOGS}/*
!/{_PLACE_OF_LOGS}/.gitkeep
/warehouse/
/dbt_packages/
/target/
/logs/
.user.yml
"""


@dataclass(frozen=True, slots=True)
class NewProject:
    """A project that was made.

    Parameters
    ----------
    folder : Path
        Where it lies.
    gates : tuple of str
        Names of its gates.
    count_decisions : int
        Thresholds that it takes over from hcat.
    """

    folder: Path
    gates: tuple[str, ...]
    count_decisions: int


def make_project(folder: Path, start: Path, logs: Path | None = None, package: Path | None = None) -> NewProject:
    """Write a dbt project that has hcat as its package and return what it holds.

    Parameters
    ----------
    folder : Path
        Folder of the project: a new one, or an empty one.
    start : Path
        Folder in which the command runs: relative paths start there.
    logs : Path or None
        Folder of raw logs. The project gets gates and thresholds for what it holds. Without it, the project has an
        empty folder for logs, and gates that only need answers.
    package : Path or None
        Folder of hcat's dbt project; by default the one in ``start``, or that of this code.

    Raises
    ------
    ProjectError
        If hcat's dbt project is not found.
    ValueError
        If the folder is not empty, or if the logs cannot be read or hold no interaction.
    """
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise ValueError(f"{folder} is not empty: name a new folder")
    if package is not None and not (package / "models" / "staging").is_dir():
        raise ProjectError(f"{package} is not the folder of hcat's dbt project")
    source = package or find_project(start)
    catalogue = read_catalogue(source / "seeds" / "metric_catalog.csv")
    if logs is None:
        inputs: Mapping[str, int] = {"interactions": 1, "query": 1, "answer": 1}
        metrics = {metric["metric_name"] for metric in catalogue if LANGUAGE_MODEL not in metric["inputs"]}
    else:
        checked = check_logs(logs, start, source)
        if not checked.count_interactions:
            raise ValueError(f"{logs}: no interaction can be used: `hcat check {logs}` says why")
        inputs, metrics = checked.inputs, set(checked.metrics)
    names = {metric["metric_name"]: metric["inputs"] for metric in catalogue}
    # the demo has a gate of each kind
    possible, shipped = _read_seed(source / "demo" / "seeds", _GATES), _read_seed(source / "seeds", _DECISIONS)
    gates = [row for row in possible if _is_measurable(row, names, inputs)]
    decisions = [row for row in shipped if row["metric_name"] not in names or row["metric_name"] in metrics]
    name = _name_of(folder)
    texts = {
        "dbt_project.yml": _PROJECT.substitute(
            name=name,
            logs=_PLACE_OF_LOGS if logs is None else (start / logs).resolve(),
            types_of_gates=_list_types(types_of_seed(source, _GATES)),
            types_of_decisions=_list_types(types_of_seed(source, _DECISIONS)),
            types_of_metrics=_list_types(types_of_seed(source, _METRICS)),
            types_of_sign_offs=_list_types(types_of_seed(source, _SIGN_OFFS)),
        ),
        "profiles.yml": _PROFILES.substitute(name=name),
        "packages.yml": _PACKAGES.substitute(package=(start / source).resolve()),
        ".gitignore": _IGNORED,
        f"seeds/{_GATES}.csv": _to_csv(gates, list(possible[0])),
        f"seeds/{_DECISIONS}.csv": _to_csv(decisions, list(shipped[0])),
        f"seeds/{_METRICS}.csv": (source / "seeds" / f"{_METRICS}.csv").read_text(encoding="utf-8"),
        f"seeds/{_SIGN_OFFS}.csv": ",".join(_read_header(source / "seeds", _SIGN_OFFS)) + "\n",
        f"{_PLACE_OF_LOGS}/.gitkeep": "",
        "models/.gitkeep": "",
    }
    for relative, text in texts.items():
        path = folder / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return NewProject(folder, tuple(row["gate_name"] for row in gates), len(decisions))


def _is_measurable(gate: Mapping[str, str], metrics: Mapping[str, frozenset[str]], inputs: Mapping[str, int]) -> bool:
    """Return whether the logs hold what a gate measures, and enough of it."""
    is_known = gate["measurement"] in _MEASUREMENTS
    needed = metrics.get(gate["metric_name"], frozenset())
    return is_known and all(map(inputs.get, needed)) and inputs["interactions"] >= int(gate["minimum_n"])


def _name_of(folder: Path) -> str:
    """Return a name that dbt accepts and that is not hcat's own."""
    name = re.sub(r"\W+", "_", folder.resolve().name.casefold(), flags=re.ASCII).strip("_")
    if name[:1].isdigit():
        return f"evaluation_{name}"
    return f"{name}_evaluation".lstrip("_") if name in ("", _PACKAGE) else name


def _read_seed(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def _read_header(folder: Path, name: str) -> list[str]:
    """Return the columns of a seed. What it holds is another project's: nobody here has signed."""
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as handle:
        return next(csv.reader(handle))


def _to_csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _list_types(types: Mapping[str, str]) -> str:
    listed: Iterable[str] = (f"{column}: {kind}" for column, kind in types.items())
    return ", ".join(listed)
