"""The build that the report describes, and the section that lists everything that it depends on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report.showing import EXCERPT_CHARACTERS, format_time, read_json
from hcat.report.verdict import passes_gates

MAXIMUM_BUILDS = 10
#: Reason why a decision is void.
VOID_DECISIONS = {
    "void_encoder": "made on scores of another encoder",
    "void_classifier": "made on scores of another classifier",
    "void_scoring": "made on scores of another scoring revision",
}

LIST_RUNS = "select * from dim_runs order by build_number desc"
LIST_METRICS = "select * from dim_metrics order by is_primary desc, family, metric_name"


@dataclass(frozen=True, slots=True)
class Build:
    """The last build of a warehouse.

    Parameters
    ----------
    runs : sequence of dict
        Rows of dim_runs, the last one first.
    settings : mapping
        Settings of the last build.
    metrics : sequence of dict
        Rows of dim_metrics.
    """

    runs: Sequence[Row]
    settings: Mapping[str, Any]
    metrics: Sequence[Row]

    @property
    def run(self) -> Row | None:
        """Return the ledger row of the last build."""
        return self.runs[0] if self.runs else None

    @property
    def confidence(self) -> float | None:
        """Return the confidence of the intervals, inside (0, 1); None when the ledger does not tell."""
        value = self.settings.get("hcat_confidence")
        return float(value) if isinstance(value, int | float) and 0 < value < 1 else None

    @property
    def primary(self) -> dict[str, Row]:
        """Return the primary metrics by name."""
        return {metric["metric_name"]: metric for metric in self.metrics if metric["is_primary"]}


def read_build(source: Warehouse) -> Build:
    """Return the last build of ``source``."""
    runs = source.rows(LIST_RUNS, ["dim_runs"])
    settings = read_json(runs[0]["settings"] if runs else None)
    return Build(runs, settings, source.rows(LIST_METRICS, ["dim_metrics"]))


def _name_result(run: Row) -> str:
    if run["is_passing"]:
        return "published" if run["count_gates_not_passing"] else "passed"
    return "not published" if passes_gates(run) else "failed"


def describe_ledger(build: Build) -> dict[str, Any]:
    """Return what the run ledger shows."""
    runs, settings = build.runs, build.settings
    if not runs:
        return {"facts": [], "libraries": [], "settings": [], "seeds": [], "builds": [], "count_builds": 0}
    run = runs[0]
    hidden = {"settings", "library_versions", "seed_checksums"}
    return {
        "facts": [
            (name, format_time(value) if name == "started_at" else clean_label(value, EXCERPT_CHARACTERS))
            for name, value in run.items()
            if name not in hidden and value is not None
        ],
        "run_id": clean_label(run["run_id"]),
        "code": clean_label(run["code_hash"])[:16],
        "random_seed": run["random_seed"],
        "seeds": sorted(
            (clean_label(name), str(checksum)[:16]) for name, checksum in read_json(run.get("seed_checksums")).items()
        ),
        "libraries": sorted(
            (clean_label(name), clean_label(version)) for name, version in read_json(run["library_versions"]).items()
        ),
        "settings": sorted((clean_label(name), clean_label(json.dumps(value))) for name, value in settings.items()),
        "builds": [
            {
                "run_id": clean_label(one["run_id"]),
                "started_at": format_time(one["started_at"]),
                "input_hash": clean_label(one["input_hash"]),
                "settings_hash": clean_label(one["settings_hash"]),
                "code_hash": clean_label(one["code_hash"])[:16],
                "gates": f"{one['count_gates'] - one['count_gates_not_passing']} of {one['count_gates']}",
                # as the first page has it: a build passes when every gate does
                "word": _name_result(one),
            }
            for one in runs[:MAXIMUM_BUILDS]
        ],
        "count_builds": len(runs),
    }
