"""Outcomes analysis: gates, scores and failure rates by system, distributions, and retrieval quality."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report import charts
from hcat.report.context_orders import describe_context_orders
from hcat.report.data import DESCRIBE_SYSTEMS
from hcat.report.ledger import Build
from hcat.report.showing import (
    MAXIMUM_SYSTEMS,
    SENTENCE_CHARACTERS,
    Gap,
    as_markup,
    describe_cell,
    distinct_labels,
    format_interval,
    format_number,
    group_by,
    to_anchor,
)

MAXIMUM_GATES = 120
#: Scores per violin: a seeded hash order chooses them, so that the shape does not depend on the order of rows.
MAXIMUM_VIOLIN_SCORES = 1000
MAXIMUM_VIOLINS = 16
#: Points and topics of the figure with one point per query.
MAXIMUM_POINTS = 80
MAXIMUM_POINT_TOPICS = 16

#: Dimensions by which distributions are drawn; columns of fct_interactions.
VIOLIN_DIMENSIONS = ("topic", "system")
#: Metrics whose distribution is drawn, in order of preference; other primary metrics fill up where these are missing.
VIOLIN_METRICS = (
    "groundedness",
    "groundedness_similarity__mean",
    "support_words",
    "answer_relevancy__mean",
    "semantic_similarity",
)

#: Quantities drawn per query (Sudjianto et al. 2024, figures 5 to 7), with the metrics that measure them in order of
#: preference. Sentence recall and sentence precision are figure 6: they need no judgement of relevance.
POINT_METRICS = (
    ("recall", ("recall_at_5", "recall_at_10", "recall_at_3")),
    ("precision", ("precision_at_5", "precision_at_10", "precision_at_3")),
    ("sentence recall", ("context_relevancy__mean",)),
    (
        "sentence precision",
        ("context_precision_similarity__share_relevant", "context_precision_similarity__mean"),
    ),
    ("groundedness", ("groundedness", "groundedness_entailment__mean", "groundedness_similarity__mean")),
    ("answer relevancy", ("answer_relevancy__mean",)),
)

MEASURE_SYSTEMS = """
select weaknesses.*, metrics.direction, metrics.range_low, metrics.range_high, metrics.family, metrics.is_provisional
from fct_marginal_weaknesses as weaknesses
inner join dim_metrics as metrics on weaknesses.metric_name = metrics.metric_name
where weaknesses.dimension in ('all', 'system') and metrics.is_primary
order by metrics.family, weaknesses.metric_name, weaknesses.dimension, weaknesses.segment
"""

LIST_GATES = """
select *
from fct_threshold_gates
where run_id = $run_id
order by is_passing, severity, verdict, gate_name
"""

FIND_LAST_GATE_RUN = "select run_id from fct_threshold_gates order by build_number desc limit 1"

DESCRIBE_DISTRIBUTIONS = """
select segment, count_scored, quantile_25, quantile_50, quantile_75
from fct_marginal_weaknesses
where metric_name = $metric_name and dimension = $dimension and count_scored > 0
order by count_scored desc, segment
"""

# {dimension} comes from the closed list VIOLIN_DIMENSIONS, never from data.
SAMPLE_SCORES = """
select interactions.{dimension} as segment, evaluations.raw_score
from fct_evaluations as evaluations
inner join fct_interactions as interactions on evaluations.interaction_id = interactions.interaction_id
where evaluations.metric_name = $metric_name and evaluations.raw_score is not null
qualify row_number() over (
    partition by interactions.{dimension}
    order by md5('violin' || evaluations.interaction_id), evaluations.interaction_id
) <= $maximum
order by segment, evaluations.raw_score
"""

# One score per query: the mean over its interactions (systems, repetitions), so that each query counts once.
SAMPLE_QUERIES = """
with queries as (
    select
        interactions.topic,
        coalesce(interactions.query_id, interactions.interaction_id) as query_key,
        avg(evaluations.raw_score) as score
    from fct_evaluations as evaluations
    inner join fct_interactions as interactions on evaluations.interaction_id = interactions.interaction_id
    where evaluations.metric_name = $metric_name and evaluations.raw_score is not null
    group by interactions.topic, query_key
)

select
    topic,
    score,
    count(*) over (partition by topic) as count_queries,
    quantile_cont(score, 0.25) over (partition by topic) as quantile_25,
    quantile_cont(score, 0.5) over (partition by topic) as quantile_50,
    quantile_cont(score, 0.75) over (partition by topic) as quantile_75
from queries
qualify row_number() over (partition by topic order by md5('points' || query_key), query_key) <= $maximum
order by topic, score, query_key
"""

MEASURE_RETRIEVAL = """
with by_cluster as (
    select system, metric_name, k, cluster_id, count(score) as count_scored
    from fct_retrieval_quality
    group by system, metric_name, k, cluster_id
),

effective as (
    select
        system,
        metric_name,
        k,
        count(*) as count_clusters,
        sum(count_scored) * sum(count_scored) / nullif(sum(count_scored * count_scored), 0)::double as count_effective
    from by_cluster
    group by system, metric_name, k
),

described as (
    select system, metric_name, k, count(score) as count_scored, avg(score) as mean, stddev_samp(score) as deviation
    from fct_retrieval_quality
    group by system, metric_name, k
)

select described.*, effective.count_clusters, effective.count_effective
from described
inner join effective
    on
        described.system = effective.system
        and described.metric_name = effective.metric_name
        and described.k is not distinct from effective.k
order by described.metric_name, described.k nulls last, described.system
"""


def describe_outcomes(source: Warehouse, build: Build) -> dict[str, Any]:
    """Return scores and failure rates, gates, distributions and retrieval quality of the last build."""
    retrieval = _describe_retrieval(source, build.confidence)
    points = _describe_points(source, build)
    gaps = []
    if points["absent"]:
        gaps.append(
            Gap(
                f"scores of {', '.join(points['absent'])} per query",
                "logged retrievals with the relevant chunks of each query, contexts and answers; sentence precision"
                " also needs the decision context_sentence_relevance in the seed threshold_decisions",
                "relevance",
            )
        )
    if not retrieval["rows"]:
        gaps.append(
            Gap(
                "quality of retrieval by rank",
                "logged retrievals and the relevant chunks of each query (source chunks or relevance judgements)",
                "relevance",
            )
        )
    return {
        "overview": _describe_overview(source),
        "gates": describe_gates(source, build.run),
        "violins": [_describe_violins(source, build, dimension) for dimension in VIOLIN_DIMENSIONS],
        "points": points,
        "retrieval": retrieval,
        "context_orders": describe_context_orders(source),
        "gaps": gaps,
    }


def _describe_overview(source: Warehouse) -> dict[str, Any]:
    systems = source.rows(DESCRIBE_SYSTEMS, ["fct_interactions"])
    shown = [row["system"] for row in systems[:MAXIMUM_SYSTEMS]]
    labels = distinct_labels(shown)
    measured = source.rows(MEASURE_SYSTEMS, ["fct_marginal_weaknesses", "dim_metrics"])
    groups: dict[str, list[Row]] = {}
    for row in measured:
        if row["dimension"] == "system" and row["segment"] not in labels:
            continue
        # with one system, the row of all interactions would repeat its row
        if row["dimension"] == "all" and len(systems) == 1:
            continue
        name = "all systems" if row["dimension"] == "all" else labels[row["segment"]]
        groups.setdefault(row["metric_name"], []).append(
            {**describe_cell(row), "name": name, "is_all": row["dimension"] == "all"}
        )
    return {
        "count_systems": len(systems),
        "maximum_series": len(charts.SERIES_COLOURS),
        "metrics": [{"metric_name": name, "rows": rows} for name, rows in groups.items()],
        "chart": _draw_failure_shares(measured, labels),
    }


def _draw_failure_shares(measured: Sequence[Row], labels: Mapping[str, str]) -> Any:
    """Return the shares failing of the largest systems, as many as colours and shapes can tell apart."""
    series = list(labels.values())[: len(charts.SERIES_COLOURS)]
    estimates = [
        charts.Estimate(
            row["metric_name"],
            labels[row["segment"]],
            row["share_failing"],
            row["share_failing_lower"],
            row["share_failing_upper"],
        )
        for row in measured
        if row["dimension"] == "system" and row["share_failing"] is not None and labels.get(row["segment"]) in series
    ]
    if not estimates:
        return None
    rows = list(dict.fromkeys(estimate.position for estimate in estimates))
    label = "Share failing with interval, by metric and system; see the table below"
    return as_markup(charts.draw_estimates(estimates, rows, series, "share of scored interactions that fail", label))


def describe_gates(source: Warehouse, run: Row | None) -> dict[str, Any]:
    """Return the gates of the last build; gates that do not pass come first."""
    last = source.rows(FIND_LAST_GATE_RUN, ["fct_threshold_gates"])
    run_id = run["run_id"] if run else last[0]["run_id"] if last else None
    rows = [] if run_id is None else source.rows(LIST_GATES, ["fct_threshold_gates"], run_id=run_id)
    shown = []
    for row in rows[:MAXIMUM_GATES]:
        unit = "share" if str(row["measurement"]).startswith("share") else None
        sign = {"at_least": "≥", "at_most": "≤"}.get(row["comparison"], row["comparison"])
        shown.append(
            {
                "anchor": to_anchor("gate", row["gate_name"]),
                "formula": find_formula(row),
                "gate_name": clean_label(row["gate_name"]),
                "verdict": row["verdict"],
                "severity": row["severity"],
                "is_passing": row["is_passing"],
                "measurement": row["measurement"],
                "subject": row["metric_name"] or "",
                "segment": ""
                if row["dimension"] in (None, "all")
                else f"{row['dimension']} = {clean_label(row['segment'])}",
                "value": show_measured(row["measured_value"], row["measurement"]),
                # a count of all rows is exact
                "interval": ""
                if row["lower_bound"] == row["upper_bound"] == row["measured_value"]
                else format_interval(row["lower_bound"], row["upper_bound"], unit),
                "n": row["n"],
                "minimum_n": row["minimum_n"],
                "limit": f"{sign} {show_measured(row['threshold'], row['measurement'])}",
                "burden": str(row["burden"]).replace("_", " "),
                "reason": clean_label(row["reason"], SENTENCE_CHARACTERS),
                # what stands behind the figures: why there is no verdict, or what the decision lacks
                "cause": clean_label(cause, SENTENCE_CHARACTERS) if (cause := cause_of(row)) else "",
                "rationale": clean_label(row["rationale"], SENTENCE_CHARACTERS) if row["rationale"] else "",
            }
        )
    return {
        "rows": shown,
        "count_left_out": max(0, len(rows) - MAXIMUM_GATES),
        "count_passing": sum(1 for row in rows if row["is_passing"]),
        "count_by_verdict": Counter(row["verdict"] for row in rows if not row["is_passing"]),
        "count_all": len(rows),
    }


def cause_of(row: Row) -> str:
    """Return what the reason of a gate says beside its figures; empty where the figures say all."""
    # the sentence with the figures ends with the burden of proof in brackets; names before it may hold anything
    _, _, cause = str(row["reason"]).rpartition(f"): {row['verdict']}")
    return cause.lstrip(",; ")


#: What a gate measures without a metric, by how its name begins -> the part of the page that explains it.
_EXPLAINED_IN = {
    "count_drifting": "monitoring",
    "count_bias": "bias",
    "version": "robustness",
    "robustness": "robustness",
    "system_overconfidence": "calibration",
    "share_records": "data",
    "share_not_failed": "data",
}


def find_formula(row: Row) -> str:
    """Return the id of what explains the measurement of a gate: its metric, or the section that measures it."""
    if row["metric_name"]:
        return to_anchor("metric", row["metric_name"])
    return next((name for start, name in _EXPLAINED_IN.items() if str(row["measurement"]).startswith(start)), "safety")


def show_measured(value: float | None, measurement: str) -> str:
    """Return a measured value: a share in percent, a count without decimals."""
    if measurement.startswith("count") and value is not None and value.is_integer():
        return format_number(int(value))
    return format_number(value, "share" if measurement.startswith("share") else None)


def _describe_violins(source: Warehouse, build: Build, dimension: str) -> dict[str, Any]:
    """Return violins by the segments of ``dimension``, one panel per metric, and the table behind them."""
    names = [name for name, metric in build.primary.items() if metric["unit"] != "indicator"]
    ordered = [
        *(name for name in VIOLIN_METRICS if name in names),
        *(name for name in names if name not in VIOLIN_METRICS),
    ]
    panels: list[Row] = []
    table: dict[str, dict[str, str]] = {}
    for name in ordered:
        if len(panels) == len(VIOLIN_METRICS):
            break
        # the quantiles stand in the marts of cells, but only where the module of distributions is on
        reads = ["fct_marginal_weaknesses", "fct_score_distributions"]
        groups = source.rows(DESCRIBE_DISTRIBUTIONS, reads, metric_name=name, dimension=dimension)
        scores: dict[str, list[float]] = {}
        for row in source.rows(
            SAMPLE_SCORES.format(dimension=dimension),
            ["fct_evaluations", "fct_interactions"],
            metric_name=name,
            maximum=MAXIMUM_VIOLIN_SCORES,
        ):
            scores.setdefault(row["segment"], []).append(row["raw_score"])
        drawn = [group for group in groups if group["segment"] in scores][:MAXIMUM_VIOLINS]
        if not drawn:
            continue
        drawn.sort(key=lambda group: str(group["segment"]))
        labels = distinct_labels([group["segment"] for group in drawn])
        violins = [
            charts.Violin(
                labels[group["segment"]],
                scores[group["segment"]],
                group["quantile_25"],
                group["quantile_50"],
                group["quantile_75"],
                group["count_scored"],
            )
            for group in drawn
        ]
        for group in drawn:
            table.setdefault(labels[group["segment"]], {})[name] = _show_quartiles(group, group["count_scored"])
        metric = build.primary[name]
        domain = _score_domain(metric, [score for violin in violins for score in violin.scores])
        label = f"Distribution of {name} by {dimension}: density, points, quartiles, median and number of scores"
        better = "higher is better" if metric["direction"] == "higher_is_better" else "lower is better"
        chart = charts.draw_violins(violins, metric["threshold"], domain, f"{metric['unit']}, {better}", label)
        panels.append({"metric_name": name, "chart": as_markup(chart), "count_left_out": len(groups) - len(drawn)})
    return {"dimension": dimension, "panels": panels, "table": _lay_out([one["metric_name"] for one in panels], table)}


def _describe_points(source: Warehouse, build: Build) -> dict[str, Any]:
    """Return one point per query by topic, one panel per quantity of :data:`POINT_METRICS` that has scores."""
    chosen: list[tuple[str, list[Row]]] = []
    titles: dict[str, str] = {}
    absent = []
    needed = ["fct_evaluations", "fct_interactions"]
    known = {metric["metric_name"]: metric for metric in build.metrics}
    for words, candidates in POINT_METRICS:
        for name in candidates:
            rows = source.rows(SAMPLE_QUERIES, needed, metric_name=name, maximum=MAXIMUM_POINTS)
            if rows and name in known:
                chosen.append((name, rows))
                # recall_at_5 says itself that it is a recall
                titles[name] = name if words in name.replace("_", " ") else f"{words}: {name}"
                break
        else:
            absent.append(words)
    sizes: dict[str, int] = {}
    for _, rows in chosen:
        for row in rows:
            sizes[row["topic"]] = max(sizes.get(row["topic"], 0), row["count_queries"])
    topics = sorted(sorted(sizes, key=lambda topic: (-sizes[topic], str(topic)))[:MAXIMUM_POINT_TOPICS], key=str)
    labels = distinct_labels(topics)
    table: dict[str, dict[str, str]] = {label: {} for label in labels.values()}
    panels = []
    for name, rows in chosen:
        by_topic = {topic: group for topic, group in group_by(rows, "topic").items() if topic in labels}
        for topic, group in by_topic.items():
            table[labels[topic]][name] = _show_quartiles(group[0], group[0]["count_queries"])
        panels.append(
            charts.PointPanel(
                titles[name],
                [
                    (labels[topic], [row["score"] for row in group], group[0]["quantile_50"])
                    for topic, group in by_topic.items()
                ],
                known[name]["threshold"],
                _score_domain(known[name], [row["score"] for row in rows]),
            )
        )
    names = [name for name, _ in chosen]
    label = f"One point per query by topic for {', '.join(names)}; see the table for quartiles and counts"
    return {
        "chart": as_markup(charts.draw_points(panels, list(labels.values()), label)) if panels else None,
        "table": _lay_out(names, table),
        "absent": absent,
        "maximum": MAXIMUM_POINTS,
        "is_sampled": any(row["count_queries"] > MAXIMUM_POINTS for _, rows in chosen for row in rows),
        "count_left_out": len(sizes) - len(topics),
    }


def _lay_out(names: Sequence[str], table: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Return a table of metrics by group."""
    return {
        "columns": list(names),
        "rows": [{"name": group, "cells": [cells.get(name, "–") for name in names]} for group, cells in table.items()],
    }


def _show_quartiles(row: Row, count: int) -> str:
    quartiles = format_interval(row["quantile_25"], row["quantile_75"])
    return f"{format_number(row['quantile_50'])} {quartiles} n {count:,}"


def _score_domain(metric: Row, scores: Sequence[float]) -> tuple[float, float]:
    """Return the ends of a score axis: from 0 or below; a metric that ends at 1 shows all of its upper half."""
    ends = [0.0, min(scores), max(scores), *([metric["threshold"]] if metric["threshold"] is not None else [])]
    return min(ends), max([*ends, 1.0] if metric["range_high"] == 1 else ends) or 1.0


def _describe_retrieval(source: Warehouse, confidence: float | None) -> dict[str, Any]:
    rows = source.rows(MEASURE_RETRIEVAL, ["fct_retrieval_quality"])
    sizes = dict.fromkeys(row["system"] for row in sorted(rows, key=lambda row: (-row["count_scored"], row["system"])))
    labels = distinct_labels(list(sizes)[:MAXIMUM_SYSTEMS])
    measured = []
    for row in rows:
        if row["system"] not in labels:
            continue
        lower = upper = None
        if confidence is not None and row["deviation"] is not None and row["count_effective"]:
            # the same interval as in the weakness marts: normal, on the effective number of clusters
            half = NormalDist().inv_cdf(0.5 + confidence / 2) * row["deviation"] / math.sqrt(row["count_effective"])
            lower, upper = max(0.0, row["mean"] - half), min(1.0, row["mean"] + half)
        measured.append({**row, "system": labels[row["system"]], "lower": lower, "upper": upper})
    return {
        "rows": [
            {
                "metric_name": row["metric_name"],
                "k": "all ranks" if row["k"] is None else f"{row['k']}",
                "system": row["system"],
                "mean": format_number(row["mean"]),
                "interval": format_interval(row["lower"], row["upper"]),
                "count_scored": row["count_scored"],
                "count_clusters": row["count_clusters"],
            }
            for row in measured
        ],
        "count_systems": len(sizes),
        "chart": _draw_retrieval(measured, list(labels.values())),
    }


def _draw_retrieval(measured: Sequence[Row], labels: Sequence[str]) -> Any:
    series = labels[: len(charts.SERIES_COLOURS)]
    panels: dict[str, list[charts.Estimate]] = {}
    for row in measured:
        if row["k"] is not None and row["mean"] is not None and row["system"] in series:
            estimate = charts.Estimate(str(row["k"]), row["system"], row["mean"], row["lower"], row["upper"])
            panels.setdefault(row["metric_name"], []).append(estimate)
    if not panels:
        return None
    named = [(f"{name} at k", estimates) for name, estimates in sorted(panels.items())]
    label = "Retrieval quality by number of retrieved chunks k and by system; see the table"
    return as_markup(charts.draw_by_rank(named, series, label))
