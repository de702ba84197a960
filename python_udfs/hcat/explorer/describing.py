"""What the explorer's page says of a build as a whole: its verdict, maps, findings, drift and versions.

Verdict, gates and findings are those of the report, by its own functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from hcat.engine.warehouse import Row, Warehouse
from hcat.explorer import data, tables
from hcat.explorer.reading import Read
from hcat.report.data import COUNT_RECORDS_EVALUATED
from hcat.report.decision import MAXIMUM_FINDINGS, list_findings, say_what_was_tested
from hcat.report.outcomes import describe_gates
from hcat.report.robustness import describe_headlines
from hcat.report.showing import format_period, format_time, group_by
from hcat.report.verdict import describe_verdict
from hcat.report.weaknesses import describe_claims

#: Worst examples of a finding.
MAXIMUM_EXAMPLES: Final = 10
#: Where the ledger does not tell.
_CONFIDENCE: Final = 0.95


def describe_page(source: Warehouse, read: Read, *, is_unmasked: bool) -> dict[str, Any]:
    """Return the blocks that do not depend on how many interactions the page holds."""
    build, names = read.build, read.metric_names
    gates = describe_gates(source, build.run)
    claims = {"weaknesses": describe_claims(source), "robustness": {"pairs": describe_headlines(source)}}
    findings = claims["weaknesses"]["findings"]
    rows = findings["rows"] if findings else []
    lines = list_findings(claims)[:MAXIMUM_FINDINGS]
    counts = source.rows(COUNT_RECORDS_EVALUATED, ["fct_interactions"])[0]
    segments = {dimension: coded.code_of for dimension, coded in read.dimensions.items()}
    kept = source.rows(data.LIST_FINDING_CELLS, ["fct_findings"])
    confirmed = {row["finding_id"] for row in kept if row["confirmed_at"] is not None}
    cells = [
        cell | {"is_confirmed": cell["cell_id"] in confirmed}
        for cell in source.rows(data.LIST_CELLS, ["fct_marginal_weaknesses", "fct_bivariate_weaknesses"])
    ]
    weeks = source.rows(data.LIST_WEEKS, ["fct_metric_weeks"])
    applications, versions = read.applications.code_of, read.versions.code_of
    run = build.run
    page = {
        "title": "hcat explorer",
        "run": None if run is None else {"id": run["run_id"], "startedAt": format_time(run["started_at"])},
        "period": format_period(counts),
        "countClusters": counts["count_clusters"],
        "confidence": build.confidence or _CONFIDENCE,
        "isUnmasked": is_unmasked,
        "verdict": describe_verdict(run, gates),
        "gates": gates["rows"],
        "lines": [{"text": line.text, "finding": line.anchor} for line in lines],
        "withoutFindings": say_what_was_tested(claims),
        "headlines": claims["robustness"]["pairs"],
        "metrics": [_describe_metric(metric) for metric in build.metrics],
        "mainMetric": names.index(read.main["metric_name"]),
        "dimensions": [{"name": dimension, "segments": coded.labels} for dimension, coded in read.dimensions.items()],
        "applications": read.applications.labels,
        "versions": read.versions.labels,
        "statuses": list(data.SCORE_STATUSES),
        "outcomes": list(data.OUTCOMES),
        "verdicts": list(data.VERDICTS),
        "labels": list(data.LABELS),
        "scales": _describe_scales(source),
        "comparisons": _describe_comparisons(source, read),
        "findings": _describe_findings(source, rows, segments, names),
        "alarms": _describe_alarms(source, read),
        "versionOrder": [
            [applications[row["application"]], versions[row["version"]]]
            for row in source.rows(data.LIST_VERSIONS, ["fct_interactions"])
        ],
    }
    return {
        "page": page,
        "cells": tables.write_parquet(tables.tabulate_cells(cells, names, segments)),
        "weeks": tables.write_parquet(_tabulate_weeks(weeks, read)),
    }


def _describe_metric(metric: Row) -> Row:
    return {
        "name": metric["metric_name"],
        "family": metric["family"],
        "unit": metric["unit"],
        "description": metric["description"],
        "isHigherBetter": metric["direction"] == "higher_is_better",
        "isPrimary": bool(metric["is_primary"]),
        "isProvisional": bool(metric["is_provisional"]),
        "threshold": metric["threshold"],
        "low": metric["range_low"],
        "high": metric["range_high"],
    }


def _describe_scales(source: Warehouse) -> dict[str, list[Row]]:
    scales = group_by(source.rows(data.LIST_SCALES, ["rating_scales"]), "criterion")
    return {
        criterion: [
            {"point": row["scale_point"], "label": row["scale_label"], "text": row["guideline_text"]} for row in rows
        ]
        for criterion, rows in scales.items()
    }


def _describe_comparisons(source: Warehouse, read: Read) -> list[Row]:
    metric_names, applications, versions = read.metric_names, read.applications.code_of, read.versions.code_of
    return [
        {
            "baseline": [applications.get(row["application"], -1), versions.get(row["baseline_version"], -1)],
            "candidate": [applications.get(row["application"], -1), versions.get(row["candidate_version"], -1)],
            "metric": metric_names.index(row["metric_name"]),
            "measurement": row["measurement"],
            "verdict": row["verdict"],
            "countPairs": row["count_pairs"],
            "countClusters": row["count_clusters"],
            "before": row["baseline_value"],
            "after": row["candidate_value"],
            "difference": row["difference"],
            "low": row["difference_lower"],
            "high": row["difference_upper"],
            "regressions": row["count_regressions"],
            "improvements": row["count_improvements"],
        }
        for row in source.rows(data.LIST_COMPARISONS, ["fct_version_comparisons"])
        if row["metric_name"] in metric_names
    ]


def _describe_findings(
    source: Warehouse, rows: Sequence[Row], segments: Mapping[str, Mapping[str, int]], metric_names: Sequence[str]
) -> list[Row]:
    """Return the findings of the report, each with its cell as filters, examples and history."""
    ids = {"finding_ids": [row["key"] for row in rows]}
    kept = {row["finding_id"]: row for row in source.rows(data.LIST_FINDING_CELLS, ["fct_findings"])}
    examples = group_by(source.rows(data.LIST_FINDING_EXAMPLES, ["fct_weakness_examples"], **ids), "finding_id")
    described = []
    for row in rows:
        history = kept.get(row["key"])
        described.append(
            {
                **{name: row[name] for name in _SHOWN_OF_FINDINGS},
                "metric": metric_names.index(row["metric_name"]),
                "cell": _find_cell(row["segments"], segments),
                "examples": [
                    tables.show_id(one["interaction_id"]) for one in examples.get(row["key"], [])[:MAXIMUM_EXAMPLES]
                ],
                "history": None if history is None else _describe_history(history),
            }
        )
    return described


_SHOWN_OF_FINDINGS: Final = (
    "finding_id", "anchor", "kind", "confirmation", "segment", "cost", "measurement", "status", "severity", "owner",
    "note", "difference", "interval", "unit", "retest", "first_seen", "last_seen",
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


def _describe_history(row: Row) -> Row:
    def day(value: Any) -> str | None:
        return None if value is None else f"{value:%Y-%m-%d}"

    return {
        "firstSeen": day(row["first_seen_at"]),
        "lastSeen": day(row["last_seen_at"]),
        "confirmed": day(row["confirmed_at"]),
        "retested": day(row["retested_at"]),
        "closed": day(row["closed_at"]),
        "countRuns": row["count_runs_seen"],
        "countNew": row["count_new_interactions"],
        "newDifference": row["new_difference"],
        "retestDifference": row["retest_difference"],
        "retestLow": row["retest_lower"],
        "retestHigh": row["retest_upper"],
    }


def _describe_alarms(source: Warehouse, read: Read) -> list[Row]:
    metric_names = read.metric_names

    def number(value: float | None) -> float | None:
        return None if value is None else float(f"{value:.6g}")

    return [
        {
            "metric": -1 if row["metric_name"] is None else metric_names.index(row["metric_name"]),
            "dimension": row["dimension"],
            "segment": read.label_of(row["dimension"], row["segment"]),
            "test": row["test"],
            "detail": tables.show(row["detail"], tables.SHORT_CHARACTERS),
            "start": f"{row['window_start']:%Y-%m-%d}",
            "end": f"{row['window_end']:%Y-%m-%d}",
            "weeks": row["window_weeks"],
            "referenceStart": f"{row['reference_start']:%Y-%m-%d}",
            "referenceEnd": f"{row['reference_end']:%Y-%m-%d}",
            "reference": number(row["value_reference"]),
            "value": number(row["value_window"]),
            "difference": number(row["difference"]),
            "low": number(row["difference_lower"]),
            "high": number(row["difference_upper"]),
            "bandLow": number(row["band_lower"]),
            "bandHigh": number(row["band_upper"]),
            "q": number(row["q_value"]),
            "isDrifting": row["is_drifting"],
        }
        for row in source.rows(data.LIST_ALARMS, ["fct_metric_drift"])
        if row["metric_name"] is None or row["metric_name"] in metric_names
    ]


def _tabulate_weeks(weeks: Sequence[Row], read: Read) -> dict[str, Any]:
    metric_names = read.metric_names
    kept = [row for row in weeks if row["metric_name"] in metric_names]
    columns: dict[str, Any] = {
        "metric": np.array([metric_names.index(row["metric_name"]) for row in kept], np.int32),
        "dimension": [row["dimension"] for row in kept],
        "segment": [read.label_of(row["dimension"], row["segment"]) for row in kept],
        "week": [f"{row['week_start']:%Y-%m-%d}" for row in kept],
        "status": [row["week_status"] for row in kept],
        "count_scored": np.array([row["count_scored"] for row in kept], np.int32),
    }
    for name in (
        "mean_score",
        "mean_lower",
        "mean_upper",
        "share_failing",
        "share_failing_lower",
        "share_failing_upper",
    ):
        columns[name] = np.array([np.nan if row[name] is None else row[name] for row in kept], np.float32)
    return columns
