"""What the explorer's page says of a build as a whole: its verdict, maps, findings, drift and versions."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from hcat.engine.warehouse import Row, Warehouse
from hcat.explorer import data, tables
from hcat.explorer.desk import describe_review
from hcat.explorer.reading import Read
from hcat.report.application import Statements, say_owner
from hcat.report.decision import describe_decisions
from hcat.report.ledger import describe_verdict
from hcat.report.outcomes import describe_gates
from hcat.report.showing import format_period, format_time
from hcat.report.weaknesses import describe_claims
from hcat.report.words import QUERIES

#: Worst examples of a finding.
MAXIMUM_EXAMPLES: Final = 10
#: Where the ledger does not tell.
_CONFIDENCE: Final = 0.95


def describe_page(
    source: Warehouse, read: Read, statements: Statements, *, is_unmasked: bool
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return what does not depend on how many interactions the page holds: its words, and blocks."""
    build, names = read.build, read.metric_names
    gates = describe_gates(source, build.run)
    rows = [row | {"owner": say_owner(statements, row)} for row in describe_claims(source)["findings"] or ()]
    decisions = describe_decisions(source)
    counts = source.rows(QUERIES["count_records_evaluated"], ["fct_interactions"])[0]
    segments = {dimension: coded.code_of for dimension, coded in read.dimensions.items()}
    kept = source.rows(data.QUERIES["list_finding_cells"], ["fct_findings.example_interaction_ids"])
    confirmed = {row["finding_id"] for row in kept if row["confirmed"]}
    reads = ["fct_marginal_weaknesses", "fct_bivariate_weaknesses", "fct_failure_rates"]
    cells = [
        cell | {"is_confirmed": cell["cell_id"] in confirmed} for cell in source.rows(data.QUERIES["list_cells"], reads)
    ]
    live = source.rows(data.QUERIES["list_live"], ["fct_interactions"])
    weeks = source.rows(data.QUERIES["list_weeks"], ["fct_metric_weeks"])
    applications, versions = read.applications.code_of, read.versions.code_of
    run = build.run
    page = {
        "title": "hcat explorer",
        "run": None if run is None else {"id": run["run_id"], "startedAt": format_time(run["started_at"])},
        "period": format_period(counts),
        "countClusters": counts["count_clusters"],
        "confidence": build.confidence or _CONFIDENCE,
        "isUnmasked": is_unmasked,
        # the first application that may not go live; a build without one has the verdict of its gates
        "verdict": (
            {"word": decisions[0]["word"], "state": decisions[0]["state"], "text": decisions[0]["lines"][0]}
            if decisions
            else describe_verdict(run, gates)
        ),
        "gates": gates["rows"],
        "lines": [line for number, each in enumerate(decisions) for line in each["lines"][number == 0 :]],
        "withoutFindings": "No release was decided: no application has a candidate.",
        "rates": source.rows(data.QUERIES["list_rates"], ["fct_failure_rates"]),
        "costs": [row["line"] for row in source.rows(data.QUERIES["list_costs"], ["fct_assistant_costs"])],
        "metrics": [_describe_metric(metric) for metric in build.metrics],
        "mainMetric": names.index(read.main["metric_name"]),
        "scoreMetric": names.index(read.score["metric_name"]),
        "live": [read.label_of("system", row["system"]) for row in live],
        "releasedOn": sorted({row["population"] for row in live if row["population"]}),
        "hasUses": bool(read.columns["uses"].any()),
        "review": describe_review(source, read.columns["interaction_id"].tolist()),
        "facets": [{"name": name, "segments": coded.labels} for name, coded in read.facets.items()],
        "dimensions": [{"name": dimension, "segments": coded.labels} for dimension, coded in read.dimensions.items()],
        "applications": read.applications.labels,
        "versions": read.versions.labels,
        "statuses": list(data.SCORE_STATUSES),
        "outcomes": list(data.OUTCOMES),
        "verdicts": list(data.VERDICTS),
        "labels": list(data.LABELS),
        "scales": {
            row["criterion"]: row["points"] for row in source.rows(data.QUERIES["list_scales"], ["rating_scales"])
        },
        "comparisons": _describe_comparisons(source, read),
        "findings": _describe_findings(rows, kept, segments, names),
        "alarms": _describe_alarms(source, read),
        "versionOrder": [
            [applications[row["application"]], versions[row["version"]]]
            for row in source.rows(data.QUERIES["list_versions"], ["fct_interactions"])
        ],
    }
    return page, {
        "cells": tables.write_parquet(tables.tabulate_cells(cells, names, segments)),
        "weeks": tables.write_parquet(_tabulate_weeks(weeks, read)),
    }


#: Names in the page -> columns of dim_metrics.
_METRIC: Final = {
    "name": "metric_name", "family": "family", "unit": "unit", "description": "description", "threshold": "threshold",
    "low": "range_low", "high": "range_high",
}  # fmt: skip


def _describe_metric(metric: Row) -> Row:
    return {name: metric[column] for name, column in _METRIC.items()} | {
        "isHigherBetter": metric["direction"] == "higher_is_better",
        "isPrimary": bool(metric["is_primary"]),
        "isProvisional": bool(metric["is_provisional"]),
    }


def _describe_comparisons(source: Warehouse, read: Read) -> list[Row]:
    applications, versions = read.applications.code_of, read.versions.code_of

    def place(row: Row, version: str) -> list[int]:
        return [applications.get(row["application"], -1), versions.get(row[version], -1)]

    return [
        {
            "baseline": place(row, "baseline_version"),
            "candidate": place(row, "candidate_version"),
            **{name: value for name, value in row.items() if name not in _SYSTEMS},
            "metric": read.metric_names.index(row["metric"]),
        }
        for row in source.rows(data.QUERIES["list_comparisons"], ["fct_version_comparisons"])
        if row["metric"] in read.metric_names
    ]


#: Columns of a comparison that the page has as codes.
_SYSTEMS: Final = ("application", "baseline_version", "candidate_version")


def _describe_findings(
    rows: Sequence[Row], kept: Sequence[Row], segments: Mapping[str, Mapping[str, int]], metric_names: Sequence[str]
) -> list[Row]:
    """Return the findings of the report, each with its cell as filters, examples and history."""
    histories = {row.pop("finding_id"): row for row in kept}
    examples = {finding_id: row.pop("example_interaction_ids") or () for finding_id, row in histories.items()}
    return [
        {
            **{name: row[name] for name in _SHOWN_OF_FINDINGS},
            "metric": metric_names.index(row["metric_name"]),
            "cell": _find_cell(row["segments"], segments),
            "examples": list(map(tables.show_id, examples.get(row["key"], ())[:MAXIMUM_EXAMPLES])),
            "history": histories.get(row["key"]),
        }
        for row in rows
    ]


_SHOWN_OF_FINDINGS: Final = (
    "finding_id", "kind", "confirmation", "segment", "cost", "measurement", "status", "severity", "owner", "note",
    "difference", "interval", "unit", "retest", "page_rank", "labels", "counts",
)  # fmt: skip


def _find_cell(pairs: Sequence[tuple[str, str]], segments: Mapping[str, Mapping[str, int]]) -> list[list[int]]:
    """Return a cell as [dimension, segment] codes; a part of the headline family names two dimensions in one."""
    codes = list(segments)
    cell = []
    for dimension, segment in pairs:
        names, values = dimension.split(" x "), segment.split(" x ")
        # a value may hold the separator itself: then the split does not fit, and the part is no filter
        for name, value in zip(names, values if len(names) > 1 else [segment], strict=False):
            if value in segments.get(name, {}):
                cell.append([codes.index(name), segments[name][value]])
    return cell


def _describe_alarms(source: Warehouse, read: Read) -> list[Row]:
    metric_names = read.metric_names
    return [
        {name: float(f"{value:.6g}") if isinstance(value, float) else value for name, value in row.items()}
        | {
            "metric": -1 if row["metric"] is None else metric_names.index(row["metric"]),
            "segment": read.label_of(row["dimension"], row["segment"]),
            "detail": tables.show(row["detail"], tables.SHORT_CHARACTERS),
        }
        for row in source.rows(data.QUERIES["list_alarms"], ["fct_metric_drift"])
        if row["metric"] is None or row["metric"] in metric_names
    ]


def _tabulate_weeks(weeks: Sequence[Row], read: Read) -> dict[str, Any]:
    kept = [row for row in weeks if row["metric_name"] in read.metric_names]
    numbers = ("mean_score", "mean_lower", "mean_upper", "share_failing", "share_failing_lower", "share_failing_upper")
    return {
        "metric": np.array([read.metric_names.index(row["metric_name"]) for row in kept], np.int32),
        "dimension": [row["dimension"] for row in kept],
        "segment": [read.label_of(row["dimension"], row["segment"]) for row in kept],
        "week": [row["week"] for row in kept],
        "status": [row["status"] for row in kept],
        "count_scored": np.array([row["count_scored"] for row in kept], np.int32),
        **{name: tables.to_numbers(row[name] for row in kept) for name in numbers},
    }
