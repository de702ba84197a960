"""The explorer of a build: one HTML file beside the report, whose numbers are those of the marts and of the report.

A file of more than :data:`MAXIMUM_BYTES` is not written. What would not fit is left out in this order: texts of other
interactions than the worst ones and a random sample, then the interactions themselves. The page says what was left out,
and weighs what was drawn.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from hcat.engine.warehouse import Place, Row, Warehouse, WarehouseError, check_finished, open_warehouse
from hcat.explorer import data, tables
from hcat.explorer.page import assemble_page
from hcat.report.data import COUNT_RECORDS_EVALUATED
from hcat.report.decision import MAXIMUM_FINDINGS, list_findings, say_what_was_tested
from hcat.report.ledger import Build, read_build
from hcat.report.maps import choose_metric
from hcat.report.outcomes import describe_gates
from hcat.report.robustness import describe_headlines
from hcat.report.showing import format_period, format_time, group_by
from hcat.report.verdict import describe_verdict
from hcat.report.weaknesses import describe_claims

#: Bytes of the largest file: browsers open it in seconds.
MAXIMUM_BYTES: Final = 30_000_000
#: Interactions whose texts are in the file: at first, and at least.
COUNT_TEXTS: Final = 5_000
LEAST_TEXTS: Final = 500
#: Share of a random sample in what is chosen; the rest are the worst.
SHARE_DRAWN: Final = 0.2
#: Sentences and earlier turns of an interaction, and values of a tag that is a facet.
LIMITS: Final = {"sentences": 200, "turns": 20}
MAXIMUM_TAG_VALUES: Final = 30
#: Segments of a facet; the labels of the others would fill the page.
MAXIMUM_EXAMPLES: Final = 10


@dataclass(frozen=True, slots=True)
class _Size:
    """How much of a build the page holds: interactions, and those of them with texts."""

    count_rows: int
    count_texts: int


def write_explorer(warehouse: Path | Place, output: Path, *, is_unmasked: bool = False) -> Path:
    """Write the explorer of the last build as one HTML file and return its path.

    Parameters
    ----------
    warehouse : Path
        Folder that holds ``hcat.duckdb`` (also a published copy), or the file.
    output : Path
        HTML file, replaced atomically; its folder is made when missing.
    is_unmasked : bool
        Whether personal data stays readable. The page says so.

    Raises
    ------
    WarehouseError
        If the warehouse cannot be read, if its last build was killed, or if it has no scored interaction.
    """
    with open_warehouse(warehouse) as source:
        check_finished(source)
        page = render_explorer(source, is_unmasked=is_unmasked)
    output.parent.mkdir(parents=True, exist_ok=True)
    temporary = output.with_name(f".{output.name}.writing")
    temporary.write_text(page, encoding="utf-8", newline="\n")
    os.replace(temporary, output)
    return output


def render_explorer(source: Warehouse, *, is_unmasked: bool = False, maximum_bytes: int = MAXIMUM_BYTES) -> str:
    """Return the explorer as HTML text, of at most ``maximum_bytes``; parameters as of :func:`write_explorer`.

    Raises
    ------
    WarehouseError
        If the warehouse has no scored interaction, or if not even the smallest page fits.
    """
    build = read_build(source)
    main = choose_metric(source, build.metrics, None)
    if main is None:
        raise WarehouseError("the warehouse holds no scored interaction: load logs and run `dbt build`")
    metrics = [metric for metric in build.metrics if metric["metric_name"]]
    names = [metric["metric_name"] for metric in metrics]
    dimensions = data.list_dimensions(source)
    seed = int(build.run["random_seed"]) if build.run else 0
    tags = data.read_tags(source, MAXIMUM_TAG_VALUES)
    read = data.read_interactions(source, dimensions, tags, main["metric_name"], seed)
    scores = data.read_scores(source, names, main["metric_name"])
    rankings = {row["interaction_id"]: row for row in source.rows(data.LIST_RANKINGS, data.RANKING_TABLES)}
    encoded = {name: tables.encode(read[f"dimension_{number}"]) for number, name in enumerate(dimensions)}
    fixed = _describe(source, build, main, metrics, encoded, is_unmasked)
    count = len(read["interaction_id"])
    size = _Size(count, min(count, COUNT_TEXTS))
    while True:
        rows, drawn = tables.choose_rows(read["lot"], size.count_rows, _count_worst(size.count_rows))
        blocks = _write_blocks(source, size, rows, drawn, read, scores, rankings, encoded, names, is_unmasked)
        page = assemble_page("explorer", fixed["page"]["title"], _join(fixed, blocks))
        if len(page.encode("utf-8")) <= maximum_bytes:
            return page
        smaller = _shrink(size)
        if smaller is None:
            raise WarehouseError(
                f"the explorer would be larger than {maximum_bytes / 1e6:g} MB even with {size.count_rows:,}"
                " interactions: build fewer metrics, or read the marts"
            )
        size = smaller


def _shrink(size: _Size) -> _Size | None:
    """Return a smaller size: half the texts, then half the interactions; None where nothing can go."""
    if size.count_texts > LEAST_TEXTS:
        return _Size(size.count_rows, max(LEAST_TEXTS, size.count_texts // 2))
    if size.count_rows > LEAST_TEXTS:
        return _Size(max(LEAST_TEXTS, size.count_rows // 2), size.count_texts)
    return None


def _count_worst(count: int) -> int:
    return count - int(count * SHARE_DRAWN)


def _join(fixed: Mapping[str, Any], blocks: Mapping[str, Any]) -> dict[str, Any]:
    """Return the blocks of the page; what was chosen joins the description."""
    page = {**fixed["page"], **blocks["page"]}
    return {**{name: block for name, block in {**fixed, **blocks}.items() if name != "page"}, "page": page}


def _write_blocks(
    source: Warehouse,
    size: _Size,
    rows: Any,
    drawn: Any,
    read: Mapping[str, Any],
    scores: Mapping[str, Any],
    rankings: Mapping[str, Row],
    encoded: Mapping[str, tuple[Any, list[str]]],
    metric_names: Sequence[str],
    is_unmasked: bool,
) -> dict[str, Any]:
    """Return the blocks that depend on how many interactions the page holds."""
    ids = [str(name) for name in read["interaction_id"][rows]]
    with_texts, texts_drawn = tables.choose_rows(read["lot"][rows], size.count_texts, _count_worst(size.count_texts))
    text_ids = [ids[position] for position in with_texts]
    text_row = np.full(len(rows), -1, dtype=np.int32)
    text_row[with_texts] = np.arange(len(with_texts))
    chunks = tables.Chunks()
    texts = data.read_texts(source, text_ids, is_unmasked=is_unmasked, limits=LIMITS)
    text_block = tables.write_texts(texts, text_ids, chunks)
    count, count_drawn = len(read["interaction_id"]), int(drawn.sum())
    weight = (count - (len(rows) - count_drawn)) / count_drawn if count_drawn else 1.0
    versions, version_names = tables.encode(read["application_version"])
    applications, application_names = tables.encode(read["application"])
    flags, flag_sets = tables.encode(read["flags"])
    tags, tag_sets = tables.encode(read["tags"])
    own_rankings = [rankings.get(name) for name in ids]
    columns = {
        "id": [tables.show_id(name) for name in ids],
        "cluster": tables.number(read["cluster_id"][rows]),
        "query": tables.number(read["query_key"][rows]),
        "application": applications[rows],
        "version": versions[rows],
        "outcome": np.array([data.OUTCOMES.index(word) for word in read["outcome"][rows]], np.int32),
        "label": np.array([data.LABELS.index(word) for word in read["label"][rows]], np.int32),
        "flags": flags[rows],
        "tags": tags[rows],
        "weight": np.where(drawn, weight, 1.0).astype(np.float32),
        "text": text_row,
        "grades": ["" if row is None else row["grades"] for row in own_rankings],
        "missed": np.array([-1 if row is None else row["count_missed"] for row in own_rankings], np.int32),
        **{f"dimension_{number}": codes[rows] for number, (codes, _) in enumerate(encoded.values())},
        **tables.tabulate_scores(scores, len(metric_names), rows),
    }
    return {
        "rows": tables.write_parquet(columns),
        "texts": text_block,
        "chunks": chunks.write(),
        "page": {
            "applications": tables.label_segments(application_names),
            "versions": tables.label_segments(version_names),
            "flagSets": [one.split("|") if one else [] for one in flag_sets],
            "tagSets": [
                [tables.show(tag, tables.SHORT_CHARACTERS) for tag in one.split("|") if tag] for one in tag_sets
            ],
            "sampling": {
                "countAll": count,
                "countRows": len(rows),
                "countDrawn": count_drawn,
                "weight": weight,
                "countTexts": len(text_ids),
                "countTextsDrawn": int(texts_drawn.sum()),
            },
        },
    }


def _describe(
    source: Warehouse,
    build: Build,
    main: Row,
    metrics: Sequence[Row],
    encoded: Mapping[str, tuple[Any, list[str]]],
    is_unmasked: bool,
) -> dict[str, Any]:
    """Return the blocks that do not depend on how many interactions the page holds."""
    names = [metric["metric_name"] for metric in metrics]
    gates = describe_gates(source, build.run)
    claims = {"weaknesses": describe_claims(source), "robustness": {"pairs": describe_headlines(source)}}
    findings = claims["weaknesses"]["findings"]
    rows = findings["rows"] if findings else []
    lines = list_findings(claims)[:MAXIMUM_FINDINGS]
    counts = source.rows(COUNT_RECORDS_EVALUATED, ["fct_interactions"])[0]
    segments = {dimension: {name: code for code, name in enumerate(own)} for dimension, (_, own) in encoded.items()}
    cells = source.rows(data.LIST_CELLS, ["fct_marginal_weaknesses", "fct_bivariate_weaknesses"])
    weeks = source.rows(data.LIST_WEEKS, ["fct_metric_weeks"])
    run = build.run
    page = {
        "title": "hcat explorer",
        "run": None if run is None else {"id": run["run_id"], "startedAt": format_time(run["started_at"])},
        "period": format_period(counts),
        "countClusters": counts["count_clusters"],
        "confidence": build.confidence or 0.95,
        "isUnmasked": is_unmasked,
        "verdict": describe_verdict(run, gates),
        "gates": gates["rows"],
        "lines": [{"text": line.text, "finding": line.anchor} for line in lines],
        "withoutFindings": say_what_was_tested(claims),
        "headlines": claims["robustness"]["pairs"],
        "metrics": [_describe_metric(metric) for metric in metrics],
        "mainMetric": names.index(main["metric_name"]),
        "dimensions": [
            {"name": dimension, "segments": tables.label_segments(own)} for dimension, (_, own) in encoded.items()
        ],
        "statuses": list(data.SCORE_STATUSES),
        "outcomes": list(data.OUTCOMES),
        "labels": list(data.LABELS),
        "scales": _describe_scales(source),
        "comparisons": _describe_comparisons(source, names),
        "findings": _describe_findings(source, rows, segments, names),
        "alarms": _describe_alarms(source, names),
        "versionOrder": [
            {"application": row["application"], "version": row["version"]}
            for row in source.rows(data.LIST_VERSIONS, ["fct_interactions"])
        ],
    }
    return {
        "page": page,
        "cells": tables.write_parquet(tables.tabulate_cells(cells, names, segments)),
        "weeks": tables.write_parquet(_tabulate_weeks(weeks, names)),
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


def _describe_comparisons(source: Warehouse, metric_names: Sequence[str]) -> list[Row]:
    return [
        {
            "application": row["application"],
            "baseline": row["baseline_version"],
            "candidate": row["candidate_version"],
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
    """Return the findings of the report, each with its cell as filters, examples, history and sensitivity."""
    ids = {"finding_ids": [row["key"] for row in rows]}
    kept = {row["finding_id"]: row for row in source.rows(data.LIST_FINDING_CELLS, ["fct_findings"])}
    examples = group_by(source.rows(data.LIST_FINDING_EXAMPLES, ["fct_weakness_examples"], **ids), "finding_id")
    varied = group_by(source.rows(data.LIST_SENSITIVITIES, ["fct_finding_sensitivity"], **ids), "finding_id")
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
                "sensitivity": [
                    {
                        "kind": one["kind"],
                        "variation": tables.show(one["variation"], tables.SHORT_CHARACTERS),
                        "difference": one["difference"],
                        "bound": one["difference_bound"],
                        "isFlagged": one["is_flagged"],
                        "status": one["status"],
                    }
                    for one in varied.get(row["key"], [])
                ],
                "shareSurviving": next((one["share_surviving"] for one in varied.get(row["key"], [])), None),
                "isExplainedByLength": any(one["is_explained_by_length"] for one in varied.get(row["key"], [])),
            }
        )
    return described


_SHOWN_OF_FINDINGS: Final = (
    "finding_id", "anchor", "kind", "confirmation", "segment", "cost", "measurement", "status", "severity", "owner",
    "note", "difference", "interval", "unit", "retest", "first_seen", "last_seen",
)  # fmt: skip


def _find_cell(pairs: Sequence[tuple[str, str]], segments: Mapping[str, Mapping[str, int]]) -> list[list[int]]:
    """Return a cell as [dimension, segment] codes; a part of the headline family names two dimensions in one.

    Examples
    --------
    >>> known = {"system": {"1.0": 0}, "topic": {"fees": 3}, "query_type": {"yes_no": 1}}
    >>> _find_cell([("system", "1.0"), ("topic x query_type", "fees x yes_no")], known)
    [[0, 0], [1, 3], [2, 1]]
    """
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


def _describe_alarms(source: Warehouse, metric_names: Sequence[str]) -> list[Row]:
    def number(value: float | None) -> float | None:
        return None if value is None else float(f"{value:.6g}")

    return [
        {
            "metric": -1 if row["metric_name"] is None else metric_names.index(row["metric_name"]),
            "dimension": row["dimension"],
            "segment": tables.show(row["segment"], tables.SHORT_CHARACTERS),
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


_NUMBERS_OF_WEEKS: Final = (
    "mean_score", "mean_lower", "mean_upper", "share_failing", "share_failing_lower", "share_failing_upper",
)  # fmt: skip


def _tabulate_weeks(weeks: Sequence[Row], metric_names: Sequence[str]) -> dict[str, Any]:
    kept = [row for row in weeks if row["metric_name"] in metric_names]
    columns: dict[str, Any] = {
        "metric": np.array([metric_names.index(row["metric_name"]) for row in kept], np.int32),
        "dimension": [row["dimension"] for row in kept],
        "segment": [tables.show(row["segment"], tables.SHORT_CHARACTERS) for row in kept],
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
