"""How often the metrics of context relevance put a relevant chunk before another one, beside two baselines."""

from __future__ import annotations

from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report.showing import format_interval, format_percent

#: Rows of the table, four a system.
MAXIMUM_ORDERS = 40
#: Measures in the order of the columns.
MEASURES = ("pairs_ordered", "pairs_against_rank", "pairs_against_words")
STATUSES = {"too_few_groups": "few clusters", "no_pairs": "no such pair"}

LIST_ORDERS = """
select system, metric_name, measure, status, measured_value, value_lower, value_upper, count_answers, count_assumed
from fct_metric_reliability
where measure in ('pairs_ordered', 'pairs_against_rank', 'pairs_against_words')
order by system, metric_name in ('retrieval_rank', 'word_overlap'), metric_name, measure
"""


def describe_context_orders(source: Warehouse) -> dict[str, Any]:
    """Return one row per system and metric or baseline, with a cell per measure; no rows without known relevance."""
    by_scorer: dict[tuple[str, str], dict[str, Row]] = {}
    for row in source.rows(LIST_ORDERS, ["fct_metric_reliability"]):
        by_scorer.setdefault((row["system"], row["metric_name"]), {})[row["measure"]] = row
    rows = [
        {
            "system": clean_label(system),
            "metric_name": metric_name,
            "count_assumed": found["pairs_ordered"]["count_assumed"] if "pairs_ordered" in found else 0,
            "cells": [_show(found.get(measure)) for measure in MEASURES],
        }
        for (system, metric_name), found in by_scorer.items()
    ]
    return {"rows": rows[:MAXIMUM_ORDERS], "count_left_out": max(0, len(rows) - MAXIMUM_ORDERS)}


def _show(row: Row | None) -> dict[str, Any]:
    if row is None:
        return {"value": "–", "interval": "", "count": 0}
    lower, upper = row["value_lower"], row["value_upper"]
    interval = STATUSES.get(row["status"], "") if lower is None else format_interval(lower, upper, "share")
    return {"value": format_percent(row["measured_value"]), "interval": interval, "count": row["count_answers"]}
