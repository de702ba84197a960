"""Limitations that the evidence shows: missing scores, tests, decisions and marts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.report.inputs import describe_never_given, keep_unmet
from hcat.report.ledger import VOID_DECISIONS, Build
from hcat.report.showing import format_percent, ratio
from hcat.report.weaknesses import TEST_STATUSES, TESTED

COUNT_UNSCORED = """
select
    evaluations.metric_name,
    count(*) as count_evaluations,
    count(*) filter (where evaluations.score_status = 'missing_input') as count_missing_input,
    count(*) filter (where evaluations.score_status = 'failed') as count_failed
from fct_evaluations as evaluations
inner join dim_metrics as metrics on evaluations.metric_name = metrics.metric_name
where metrics.is_primary
group by evaluations.metric_name
order by count_missing_input desc, evaluations.metric_name
"""

COUNT_SMALL = """
select 'marginal' as kind, count(*) as count_cells, count(*) filter (where is_small) as count_small
from fct_marginal_weaknesses
where dimension <> 'all'
union all
select 'bivariate' as kind, count(*) as count_cells, count(*) filter (where is_small) as count_small
from fct_bivariate_weaknesses
order by kind desc
"""

COUNT_TEST_STATUSES = """
with cells as (
    select test_status from fct_marginal_weaknesses where dimension <> 'all'
    union all
    select test_status from fct_bivariate_weaknesses
)

select test_status, count(*) as count_cells
from cells
group by test_status
order by count_cells desc, test_status
"""


def describe_limitations(
    source: Warehouse, build: Build, sections: Mapping[str, Any], titles: Mapping[str, str]
) -> dict[str, Any]:
    """Return the limits of this build, the missing evidence of all sections, and the inputs that were never given."""
    unscored = source.rows(COUNT_UNSCORED, ["fct_evaluations", "dim_metrics"])
    small = source.rows(COUNT_SMALL, ["fct_marginal_weaknesses", "fct_bivariate_weaknesses"])
    gates = sections["outcomes"]["gates"]["rows"]
    return {
        "gaps": [
            {"section": name, "what": gap.what, "supply": gap.supply}
            for name, section in sections.items()
            for gap in keep_unmet(section.get("gaps", ()))
        ],
        "never_given": describe_never_given(source, sections, titles, build.settings),
        "lacks_ratings": bool(sections["calibration"].get("is_empty")),
        "unscored": _gather_unscored(unscored),
        "small": [
            {**row, "share": format_percent(ratio(row["count_small"], row["count_cells"]))}
            for row in small
            if row["count_cells"]
        ],
        "tests": [
            {**row, "words": TEST_STATUSES.get(row["test_status"], row["test_status"])}
            for row in source.rows(COUNT_TEST_STATUSES, TESTED)
        ],
        "gates_not_evaluated": [row["gate_name"] for row in gates if row["verdict"] == "not_evaluated"],
        "gates_undecided": [row["gate_name"] for row in gates if row["verdict"] == "undecided"],
        "provisional": [metric["metric_name"] for metric in build.metrics if metric["is_provisional"]],
        "expired": [metric["metric_name"] for metric in build.metrics if metric["is_decision_expired"]],
        "void": [
            f"{metric['metric_name']} ({VOID_DECISIONS[metric['decision_status']]})"
            for metric in build.metrics
            if metric.get("decision_status") in VOID_DECISIONS
        ],
    }


def _gather_unscored(rows: Sequence[Row]) -> list[Row]:
    """Return the metrics that lack scores; metrics with the same counts share a row."""
    gathered: dict[tuple[int, ...], list[str]] = {}
    for row in rows:
        if row["count_missing_input"] or row["count_failed"]:
            counts = (row["count_missing_input"], row["count_failed"], row["count_evaluations"])
            gathered.setdefault(counts, []).append(row["metric_name"])
    return [
        {"metric_names": names, "count_missing_input": missing, "count_failed": failed, "count_evaluations": count}
        for (missing, failed, count), names in gathered.items()
    ]
