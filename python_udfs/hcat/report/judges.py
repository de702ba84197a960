"""Judges: how far a language model and the other metrics agree with raters, and what the judge costs."""

from __future__ import annotations

from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report.showing import format_interval, format_number, format_percent, ratio

LIST_AGREEMENT = """
select metric_name, method, criterion, reference, statistic, status, interval_status, language_model, value,
    low, high, count_compared, count_clusters, count_interactions, count_scored, count_failed, count_no_verdict,
    count_calls, prompt_tokens, completion_tokens
from fct_judge_agreement
order by criterion nulls last, method, metric_name, reference, statistic
"""

SHOWN = ("percent_agreement", "cohen_kappa", "ranking_accuracy")

STATUSES = {
    "no_threshold": "no threshold has been decided",
    "no_criterion": "no matching criterion is rated",
    "no_labels": "no labels",
    "no_scores": "no scores",
    "no_variation": "all labels are equal",
    "no_pairs": "no pairs",
}


def describe_judges(source: Warehouse) -> dict[str, Any] | None:
    """Return one row per (metric, reference) with agreement and calls; None where this warehouse has no judge."""
    rows = source.rows(LIST_AGREEMENT, ["fct_judge_agreement"])
    if not rows:
        return None
    by_metric: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_metric.setdefault((row["metric_name"], row["reference"]), []).append(row)
    models = sorted({row["language_model"] for row in rows if row["language_model"]})
    return {
        "language_model": clean_label(", ".join(models)),
        "metrics": [_describe(members) for members in by_metric.values()],
        "count_interactions": max(row["count_interactions"] for row in rows),
    }


def _describe(members: list[Row]) -> Row:
    first = members[0]
    figures = {row["statistic"]: row for row in members}
    return {
        "metric_name": first["metric_name"],
        "is_judged": first["method"] == "language_model",
        "against": "rule" if first["reference"] == "rule" else (first["criterion"] or "–"),
        "figures": [_figure(figures.get(statistic)) for statistic in SHOWN],
        "count_compared": max(row["count_compared"] for row in members),
        "scored": format_percent(ratio(first["count_scored"], first["count_interactions"])),
        "count_no_verdict": first["count_no_verdict"],
        "count_failed": first["count_failed"],
        "count_calls": first["count_calls"],
        "count_tokens": first["prompt_tokens"] + first["completion_tokens"],
    }


def _figure(row: Row | None) -> dict[str, str]:
    if row is None or row["value"] is None:
        return {"value": "–", "interval": STATUSES.get(row["status"], str(row["status"])) if row else ""}
    interval = (
        format_interval(row["low"], row["high"]) if row["low"] is not None else "too few clusters for an interval"
    )
    return {"value": format_number(row["value"]), "interval": interval}
